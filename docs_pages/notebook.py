"""A notebook as a page: its texts, its code, and no outputs, since notebooks are kept without any."""

from __future__ import annotations

import json


def notebook_page(notebook: str) -> str:
    """Return the page of a notebook.

    Parameters
    ----------
    notebook : str
        The file's content, JSON.

    Returns
    -------
    str
        Markdown; code cells are fenced.
    """
    parts = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(parts) + "\n"
