"""What mkdocs calls: adds the made pages, and looks at links that lead out of the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs_pages.notebook import notebook_page
from docs_pages.outward import OutwardLinkError, without_outward_links
from docs_pages.raw_files import raw_files_page
from docs_pages.reference import reference_pages
from docs_pages.task_pages import task_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]


def made_pages() -> dict[str, str]:
    """Return the pages that are made, by path below ``docs``; equal projects give equal pages."""
    from hbench.plugin import default_registry
    from hbench.spec import discover

    index = discover()
    pages = {
        **dict(task_pages(index)),
        "raw-files.md": raw_files_page(index, default_registry()),
        **dict(reference_pages()),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }
    for notebook in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        pages[f"notebooks/{notebook.stem}.md"] = notebook_page(notebook.read_text(encoding="utf-8"))
    return pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the made pages."""
    from mkdocs.structure.files import File

    for path, text in made_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Check and turn links to files that are no pages."""
    repository = f"{config.repo_url.rstrip('/')}/blob/main" if config.repo_url else None
    try:
        return without_outward_links(markdown, page.file.src_uri, ROOT, repository)
    except OutwardLinkError as error:
        from mkdocs.exceptions import PluginError

        raise PluginError(str(error)) from error
