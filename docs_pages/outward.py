"""Links of pages to files of the repository that are no pages."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


class OutwardLinkError(Exception):
    """A link leads to a file that is not there."""


def without_outward_links(markdown: str, page: str, root: Path, repository: str | None) -> str:
    """Turn links that lead out of the documentation into links to the repository, or into their text alone.

    Parameters
    ----------
    markdown : str
        The page.
    page : str
        Its path below ``docs``.
    root : Path
        The repository.
    repository : str or None
        Address under which the repository's files are shown.

    Raises
    ------
    OutwardLinkError
        A link leads to a file that the repository does not have.
    """
    docs = root / "docs"

    def turned(link: re.Match[str]) -> str:
        target = (docs / PurePosixPath(page).parent / link[2]).resolve()
        inside = target.is_relative_to(docs) and not target.is_dir()
        if inside or not target.is_relative_to(root):
            return link[0]  # mkdocs looks at these
        if not target.exists():
            raise OutwardLinkError(f"docs/{page} links to {link[2]}, which does not exist")
        place = target.relative_to(root).as_posix()
        return f"[{link[1]}]({repository}/{place})" if repository else link[1]

    return _LINK.sub(turned, markdown)
