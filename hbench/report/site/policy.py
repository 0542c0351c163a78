"""What a browser may do on these pages: load our own files, and nothing else.

Scripts are files of the site's own, never texts in a page, so that no text of a record or a model can become one.
"""

from __future__ import annotations

DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
POLICY = "; ".join(f"{name} {value}" for name, value in DIRECTIVES.items())
"""In every page; ``hbench view`` sends it as a header too, with `FRAMES`."""
FRAMES = "frame-ancestors 'none'"
"""No other page may frame these; browsers heed it in a header only."""
