from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hbench.core import RunError
from hbench.report.analyses import ANALYSES
from hbench.report.comparison import Comparison
from hbench.report.notes import SYNTHETIC
from hbench.report.plots import FIGURES
from hbench.report.site import write_site
from hbench.report.site.figures import figures
from hbench.report.site.pages import PLACES
from hbench.report.site.policy import POLICY
from hbench.report.site.vendored import ASSETS, VENDORED
from hbench.spec.task import Notice, Suite
from tests.report.site.making import HOSTILE, VIEW, Made, Page


def test_every_analysis_has_a_page_and_every_static_figure_one_of_the_sites() -> None:
    assert set(PLACES) == set(ANALYSES)
    assert {name for name in ANALYSES if name in FIGURES} == set(FIGURES)
    for name in FIGURES:
        assert figures(name, []) == []


def test_every_task_and_model_has_its_page_and_all_links_lead_somewhere(site: Made) -> None:
    assert {path.name for path in (site.folder / "tasks").iterdir()} == {
        f"study-{name}.html" for name in ("spend", "gift", "move", "belief")
    }
    assert {path.name for path in (site.folder / "models").iterdir()} == {"good.html", "poor.html", "no_change.html"}
    for path in site.pages():
        for tag, attributes in Page(path).elements:
            told = attributes.get("href") or attributes.get("src")
            if told is None or told.startswith("#"):
                continue
            target = (path.parent / told.partition("#")[0]).resolve()
            assert target.is_file(), f"{path.name}: <{tag}> leads to {told}"


def test_the_leaderboard_of_the_site_is_that_of_the_report(site: Made) -> None:
    from hbench.report.standings import standings

    (found, _) = standings(site.comparison, VIEW)
    board = found.leaderboard
    best = board.models[board.order()[0]]
    page = Page(site.folder / "index.html").words()
    rank = board.column("rank").standing.values[board.order()[0]]
    assert best == "good"
    assert f"good {rank:.1f}" in page


def test_a_selection_of_tasks_ranks_the_models_on_those_tasks_alone(site: Made) -> None:
    blocks = [json.loads(text) for text in Page(site.folder / "index.html").data if text.strip()]
    board = blocks[0]
    assert sorted(board["axes"]["topic"]) == ["consumption", "housing", "macro"]
    policy = [
        one for one in board["selections"] if one["mode"] == "policy" and not any(one[x] for x in ("topic", "kind"))
    ]
    assert [one["tasks"] for one in policy] == [1]
    # One task, three models: their mean ranks are their places in it.
    assert sorted(row[0] for row in policy[0]["rows"]) == [1.0, 2.0, 3.0]
    consumption = next(
        one for one in board["selections"] if one["topic"] == "consumption" and not one["kind"] and not one["mode"]
    )
    assert consumption["tasks"] == 2
    assert all(lo is None or lo <= hi for _, lo, hi in consumption["rows"])


@pytest.mark.parametrize("which", ["site", "hostile_site"])
def test_no_page_has_script_or_style_of_its_own(which: str, request: pytest.FixtureRequest) -> None:
    made: Made = request.getfixturevalue(which)
    for path in made.pages():
        page = Page(path)
        metas = [about for tag, about in page.elements if tag == "meta"]
        assert [about["content"] for about in metas if about.get("http-equiv") == "Content-Security-Policy"] == [POLICY]
        for tag, attributes in page.elements:
            assert tag not in ("style", "iframe", "object", "embed", "base", "img"), f"{path.name} has <{tag}>"
            assert "style" not in attributes, f"{path.name}: <{tag} style>"
            assert not [name for name in attributes if name.startswith("on")], f"{path.name}: <{tag}> has a handler"
            if tag == "script":
                assert attributes.get("type") == "application/json" or (attributes.get("src") or "").endswith(".js")


def test_hostile_texts_stay_texts(hostile_site: Made) -> None:
    for path in hostile_site.pages():
        page = Page(path)
        for text in filter(str.strip, page.data):
            json.loads(text)
        assert "window.harmed" not in [name for _, about in page.elements for name in about]
    task = Page(next((hostile_site.folder / "tasks").iterdir()))
    # What cannot be seen is written out; all else stands there as it is.
    assert HOSTILE.replace("\u202e", "\\u202e") in task.text


def test_providers_notices_stand_on_every_page_of_their_data(hostile_site: Made) -> None:
    for path in hostile_site.pages():
        assert "notice </script>" in Page(path).text, path.name


def test_a_notice_of_one_source_stands_with_the_tasks_that_use_it_only(site: Made, tmp_path: Path) -> None:
    from hbench.report.site.content import gather

    content = gather(site.comparison, VIEW)
    page = content.index.suite("study")
    notices = (Notice(text="of all"), Notice(text="of the survey", sources=("survey",)))
    parts = [replace(part, task=part.task.model_copy(update={"source": "survey"})) if part.task.task == "move" else part
             for part in site.comparison.parts]  # fmt: skip
    run = site.comparison.runs[0]
    told = {"study": ["of all", "of the survey", "terms of a release"]}
    runs = (replace(run, results=replace(run.results, notices=told)),)
    index = _Index(page.model_copy(update={"notices": notices}))
    content = replace(content, comparison=replace(site.comparison, parts=parts, runs=runs), index=index)  # type: ignore
    assert content.notices(parts) == ["of all", "of the survey", "terms of a release"]
    others = [part for part in parts if part.task.task != "move"]
    assert content.notices(others) == ["of all", "terms of a release"]


class _Index:
    """One suite's page."""

    def __init__(self, page: Suite) -> None:
        self.page = page

    def suite(self, name: str) -> Suite:
        return self.page


def test_pages_of_synthetic_data_say_so(site: Made, tmp_path: Path) -> None:
    assert all(SYNTHETIC not in Page(path).text for path in site.pages())
    parts = [replace(part, data_kind="demo") for part in site.comparison.parts]
    write_site(replace(site.comparison, parts=parts), VIEW, tmp_path / "demo")
    pages = sorted((tmp_path / "demo").rglob("*.html"))
    assert len(pages) == len(list(site.pages()))
    for path in pages:
        assert SYNTHETIC in Page(path).text, path.name


def test_where_some_data_are_real_only_pages_with_synthetic_data_say_so(site: Made, tmp_path: Path) -> None:
    parts = [replace(part, data_kind="demo") if part.task.task == "move" else part for part in site.comparison.parts]
    write_site(replace(site.comparison, parts=parts), VIEW, tmp_path / "mixed")
    told = {path.name for path in (tmp_path / "mixed" / "tasks").iterdir() if SYNTHETIC in Page(path).text}
    assert told == {"study-move.html"}
    assert f"{SYNTHETIC} (those of data kind demo, here study)" in Page(tmp_path / "mixed" / "index.html").text


def test_the_same_runs_give_the_same_bytes(site: Made, big_study: tuple[object, Path], tmp_path: Path) -> None:
    write_site(Comparison.load([big_study[1]]), VIEW, tmp_path / "again", title="A study")
    first = {path.relative_to(site.folder): path.read_bytes() for path in site.folder.rglob("*") if path.is_file()}
    second = {
        path.relative_to(tmp_path / "again"): path.read_bytes()
        for path in (tmp_path / "again").rglob("*")
        if path.is_file()
    }
    assert first == second


def test_nothing_but_a_site_is_ever_replaced(site: Made, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match="something else than a site"):
        write_site(site.comparison, VIEW, folder)
    assert (folder / "thesis.txt").read_text() == "years of work"
    write_site(site.comparison, VIEW, tmp_path / "site")
    (tmp_path / "site" / "tasks" / "old.html").write_text("old")
    write_site(site.comparison, VIEW, tmp_path / "site")
    assert not (tmp_path / "site" / "tasks" / "old.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "site"]


def test_the_bundled_library_is_what_its_authors_built() -> None:
    vendored = ASSETS / "vendor"
    scripts = {path.name: sha256(path.read_bytes()).hexdigest() for path in vendored.glob("*.js")}
    assert scripts == VENDORED
    assert {path.name for path in vendored.glob("*LICENSE*")} == {"d3-LICENSE.txt", "plot-LICENSE.txt"}


def test_pages_load_the_bundled_library_by_the_names_of_its_files(site: Made) -> None:
    loaded = {about["src"].rpartition("/")[2] for path in site.pages() for tag, about in Page(path).elements
              if tag == "script" and "/vendor/" in (about.get("src") or "")}  # type: ignore[union-attr]  # fmt: skip
    assert loaded == set(VENDORED)


def test_pages_are_well_formed(site: Made) -> None:
    class Balance(HTMLParser):
        VOID = ("meta", "link", "br", "input", "img", "hr")

        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in self.VOID:
                self.open.append(tag)

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            return

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    for path in site.pages():
        parser = Balance()
        parser.feed(path.read_text(encoding="utf-8"))
        assert parser.open == [], path.name
        ids = [about["id"] for _, about in Page(path).elements if about.get("id")]
        assert len(ids) == len(set(ids)), path.name


def test_a_site_without_records_quotes_no_prompt_and_no_answer(hostile_site: Made, tmp_path: Path) -> None:
    write_site(hostile_site.comparison, VIEW, tmp_path / "bare", records=False)
    assert not (tmp_path / "bare" / "records").exists()
    assert not (tmp_path / "bare" / "records.html").exists()
    (whole,) = (hostile_site.folder / "tasks").iterdir()
    assert "0 </script>" in Page(whole).text
    for path in (tmp_path / "bare").rglob("*.html"):
        page = Page(path)
        # Every prompt, answer and record's name begins with the record's number.
        assert "0 </script>" not in page.text, path.name
        assert "records.html" not in path.read_text(encoding="utf-8")
