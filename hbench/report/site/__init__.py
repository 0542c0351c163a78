"""A run's scores, figures and records as a static site: a folder that any web server serves, or none.

What pages say is gathered in `content`; `boards`, `figures`, `tasks`, `models` and `worths` give it the shape that the
templates show; `records` writes the chunks that the viewer reads; `build` puts the folder together.
"""

from __future__ import annotations

from hbench.report.site.build import write_site

__all__ = ["write_site"]
