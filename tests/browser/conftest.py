"""Chromium on the sites that `hbench view` serves. Nothing may go wrong unseen: errors of a page fail the test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import Study
from tests.report.site.making import HOSTILE, WORTH, Made, hostile_run, make_site

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Served:
    """A site and its address."""

    made: Made
    address: str

    def pages(self) -> list[str]:
        """Return the addresses of all pages, from the root."""
        return [str(path.relative_to(self.made.folder)) for path in self.made.pages()]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the browser that `HBENCH_CHROMIUM` names, or Debian's."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("HBENCH_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium (set HBENCH_CHROMIUM)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def serve(made: Made) -> Iterator[Served]:
    """Serve a site with the command."""
    command = [sys.executable, "-m", "hbench.cli.main", "view", str(made.folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Served(made, process.stdout.readline().split()[0])
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a site with two splits, four tasks and three models."""
    root = tmp_path_factory.mktemp("browser")
    made = Study(root / "study", rows=240)
    models = [made.predictions("good", 0.9, draws=4), made.predictions("poor", 0.2, draws=4, invalid=0.1), "no_change"]
    (root / "ess.json").write_text(json.dumps(WORTH))
    run = made.run("run", models, draws=4)
    yield from serve(make_site(run, root / "site", "A study", [root / "ess.json"]))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a site whose every text is made to do harm."""
    root = tmp_path_factory.mktemp("hostile")
    yield from serve(make_site(hostile_run(root / "run"), root / "site", HOSTILE))


@dataclass
class Watched:
    """A page, with all that went wrong in it and all that it asked for."""

    page: Any
    wrong: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Watched]]:
    """Return what opens a page; any error, dialog or request to another host fails the test when it ends."""
    opened: list[tuple[Any, Watched]] = []

    def open_it(address: str, **settings: Any) -> Watched:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        watched = Watched(context.new_page())
        page = watched.page
        page.on("pageerror", lambda error: watched.wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (watched.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda told: told.type in ("error", "warning") and watched.wrong.append(told.text))
        page.on("request", lambda request: watched.asked.append(request.url))
        opened.append((context, watched))
        page.goto(address)
        return watched

    yield open_it
    for context, watched in opened:
        harmed = context.pages and watched.page.evaluate("window.harmed")
        context.close()
        assert not watched.wrong
        assert harmed is None
        hosts = {url.split("/")[2] for url in watched.asked if not url.startswith(("data:", "file:", "blob:"))}
        assert all(host.startswith("127.0.0.1:") for host in hosts), hosts
