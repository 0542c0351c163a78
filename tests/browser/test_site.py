from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from typing import Any

import pytest

from hbench.report.analyses import analyse
from tests.browser.conftest import Served, Watched
from tests.report.site.making import HOSTILE, VIEW

Open = Callable[..., Watched]
DRAW_ALL = """async () => {
  for (let top = 0; top < document.body.scrollHeight; top += 300) {
    scrollTo({ top, behavior: "instant" });
    await new Promise(requestAnimationFrame);
  }
  scrollTo({ top: 0, behavior: "instant" });
}"""


def column(page: Any, table: str, number: int) -> list[str]:
    """Return a column's shown texts."""
    rows = page.locator(f"{table} tbody tr:visible")
    return [row.locator("th, td").nth(number).inner_text().split("\n")[0].strip() for row in rows.all()]


@pytest.mark.parametrize("which", ["study", "hostile"])
def test_every_page_loads_and_draws_its_figures(which: str, request: pytest.FixtureRequest, open_page: Open) -> None:
    served: Served = request.getfixturevalue(which)
    figures = 0
    for path in served.pages():
        watched = open_page(served.address + path)
        page = watched.page
        page.evaluate(DRAW_ALL)
        for figure in page.locator("figure[data-figure]").all():
            figure.locator("svg[role=img]").first.wait_for()
            figures += 1
        assert page.locator("h1").count() == 1
    assert figures >= 4


def test_hostile_texts_are_shown_as_they_are(hostile: Served, open_page: Open) -> None:
    page = open_page(f"{hostile.address}records.html").page
    page.locator("#viewer .card.prompt").wait_for()
    assert page.locator(".prompt pre").first.inner_text() == HOSTILE
    page.locator("select[name=show]").select_option("invalid")
    page.locator("#viewer .warning").first.wait_for()
    assert page.locator(".answers pre.answer").inner_text().startswith(HOSTILE)
    assert page.locator(".answers pre.reasoning").inner_text() == f"reason {HOSTILE}"
    assert page.locator("#viewer img, #viewer script").count() == 0


def test_tables_sort_by_mouse_and_keyboard(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}index.html").page
    table = "[data-board] >> nth=0 >> table.leaderboard"
    assert column(page, table, 0) == ["1", "2", "3"]
    assert column(page, table, 1)[0] == "good"
    head = page.locator(f"{table} thead th").nth(1)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, table, 1) == ["good", "no_change", "poor"]
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, table, 1) == ["poor", "no_change", "good"]
    rank = page.locator(f"{table} thead th", has_text="rank").last
    rank.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert column(page, table, 1)[0] == "good"


def test_leaderboards_filter_by_topic_mode_and_model(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}index.html").page
    blocks = [json.loads(text) for text in page.locator("[data-board] > script").all_text_contents()]
    page.locator("select[name=topic]").select_option("consumption")
    page.locator("select[name=mode]").select_option("policy")
    asked = {"topic": "consumption", "mode": "policy", "kind": None, "level": None}
    (wanted,) = [one for one in blocks[0]["selections"] if asked.items() <= one.items()]
    table = "[data-board] >> nth=0 >> .selection table"
    assert page.locator(f"{table} caption").inner_text() == "Mean rank over 1 task: topic consumption, mode policy"
    shown = dict(zip(column(page, table, 1), column(page, table, 2), strict=True))
    assert shown == {name: f"{row[0]:.1f}" for name, row in zip(blocks[0]["models"], wanted["rows"], strict=True)}
    page.get_by_role("searchbox", name="Model").fill("POO")
    assert column(page, table, 1) == ["poor"]
    page.locator("select[name=topic]").select_option("")
    page.locator("select[name=mode]").select_option("")
    assert column(page, "[data-board] >> nth=0 >> table.leaderboard", 1) == ["poor"]
    # No task is both about housing and of a policy.
    page.locator("select[name=topic]").select_option("housing")
    page.locator("select[name=mode]").select_option("policy")
    assert page.locator("[data-board]:visible").count() == 0
    assert page.locator(".filters .status").inner_text() == "0 of 2 leaderboards"


def test_scores_filter_by_everything_and_search(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}scores.html").page
    rows = page.locator("#all-scores tbody tr:visible")
    whole = rows.count()
    # Two splits of three models with seven metrics.
    assert whole == 2 * 3 * 6
    page.locator("select[name=headline]").select_option("yes")
    assert rows.count() == 2 * 3 * 4
    page.locator("select[name=kind]").select_option("numeric")
    assert rows.count() == 2 * 3 * 2
    page.get_by_role("searchbox", name="Model").fill("good")
    assert rows.count() == 4
    assert page.locator(".filters .status").inner_text() == f"4 of {whole} lines"


def test_records_are_paged_by_button_keyboard_and_number(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}records.html#task=study-spend-pre_cutoff_test&model=poor").page
    head = page.locator(".record-head h2")
    head.wait_for()
    assert head.inner_text() == "Record p0@2020-01"
    assert page.locator("#viewer-status").inner_text() == "of 120"
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Record p1@2020-01").wait_for()
    page.locator("body").press("ArrowRight")
    page.get_by_text("Record p2@2020-01").wait_for()
    page.locator("body").press("ArrowLeft")
    page.get_by_text("Record p1@2020-01").wait_for()
    page.get_by_role("spinbutton", name="Record").fill("101")
    page.get_by_role("spinbutton", name="Record").press("Enter")
    page.get_by_text("Record p100@2020-01").wait_for()
    assert "record=p100%402020-01" in page.url
    page.reload()
    page.get_by_text("Record p100@2020-01").wait_for()


def test_records_are_loaded_when_they_are_looked_at(study: Served, open_page: Open) -> None:
    watched = open_page(f"{study.address}records.html#task=study-move-pre_cutoff_test&model=good")
    watched.page.locator(".record-head").wait_for()
    chunks = [url.partition("/records/")[2] for url in watched.asked if "/records/" in url]
    folder = "study-move-pre_cutoff_test"
    assert chunks == ["catalogue.json.gz", f"{folder}/index.json.gz", f"{folder}/prompts-0-0.json.gz",
                      f"{folder}/answers-good-0.json.gz"]  # fmt: skip


def test_records_filter_by_state_group_and_text(study: Served, open_page: Open) -> None:
    (part,) = [p for p in study.made.comparison.parts if p.name == "study/move pre_cutoff_test"]
    rows = [answered.row for answered in part.answers["poor"]]
    page = open_page(f"{study.address}records.html#task=study-move-pre_cutoff_test&model=poor").page
    page.locator(".record-head").wait_for()
    status = page.locator("#viewer-status")

    def count(control: str, value: str) -> str:
        page.locator(f"select[name={control}]").select_option(value)
        page.wait_for_function("document.getElementById('viewer').getAttribute('aria-busy') === 'false'")
        return str(status.inner_text())

    wrong = [row.prediction is not None and row.prediction != row.gold for row in rows]
    assert count("show", "wrong") == f"of {sum(wrong)}"
    women = [record.predictors["sex"] == "f" for record in part.records]
    groups = page.locator("select[name=group]")
    option = groups.locator("option", has_text="sex: f").get_attribute("value")
    assert count("group", str(option)) == f"of {sum(a and b for a, b in zip(wrong, women, strict=True))}"
    count("group", "")
    count("show", "all")
    page.get_by_label("Search").fill("NONSENSE")
    said = [any("nonsense" in str(outcome) for outcome in _texts(study, "move", i)) for i in range(120)]
    page.get_by_text(f"of {sum(said)}", exact=True).wait_for()


def _texts(study: Served, task: str, record: int) -> list[str]:
    folder = study.made.comparison.runs[0].path.parent / "poor"
    lines = [json.loads(line) for line in (folder / f"{task}.jsonl").read_text().splitlines()]
    return [line["prediction"] for line in lines if line["id"] == f"p{record}"]


def test_the_largest_error_comes_first_and_two_models_differ_on_one_record(study: Served, open_page: Open) -> None:
    (part,) = [p for p in study.made.comparison.parts if p.name == "study/spend pre_cutoff_test"]

    def off(model: str, i: int) -> float:
        row = part.answers[model][i].row
        return -1.0 if row.prediction is None else abs(row.prediction[0] - row.gold[0])  # type: ignore[operator]

    worst = max(range(120), key=lambda i: (off("poor", i), -i))
    page = open_page(
        f"{study.address}records.html#task=study-spend-pre_cutoff_test&model=poor&other=good&order=largest"
    ).page
    page.get_by_text(f"Record p{worst}@2020-01").wait_for()
    cells = page.locator("table.predictions tbody td").all_inner_texts()
    poor, good = (part.answers[model][worst].row for model in ("poor", "good"))
    truth = poor.gold[0]
    known = [float(text.replace("−", "-").replace("+", "")) for text in cells]
    assert known == pytest.approx(
        [truth, poor.naive[0], poor.prediction[0], poor.prediction[0] - truth, good.prediction[0],  # type: ignore
         good.prediction[0] - truth, poor.prediction[0] - good.prediction[0]], rel=1e-4
    )  # fmt: skip
    heads = page.locator("table.predictions thead th").all_inner_texts()
    assert heads == ["", "true", "no change", "poor", "off by", "good", "off by", "first less second"]
    page.locator("select[name=show]").select_option("ahead")
    nearer = sum(off("poor", i) >= 0 and off("good", i) >= 0 and off("poor", i) < off("good", i) for i in range(120))
    page.get_by_text(f"of {nearer}", exact=True).wait_for()


def test_two_models_are_compared_with_the_reports_own_numbers(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}compare.html").page
    section = page.locator("[data-comparison]").first
    section.locator("select[name=reference]").select_option("poor")
    for box in section.get_by_role("checkbox").all():
        box.set_checked(box.evaluate("box => box.closest('label').textContent.trim()") == "good")
    table = section.locator(".result table").last
    row = table.locator("tbody tr", has_text="spend").first
    cells = row.locator("th, td").all_inner_texts()
    (known,) = [r for r in analyse("pairs", study.made.comparison, VIEW)
                if (r["split"], r["task"], {r["first"], r["second"]}) ==
                ("pre_cutoff_test", "study/spend pre_cutoff_test", {"good", "poor"})]  # fmt: skip
    sign = 1 if known["first"] == "poor" else -1
    assert float(cells[3]) == pytest.approx(sign * known["difference"], abs=6e-4)
    section.locator(".canvas svg[role=img]").first.wait_for()


def test_a_legend_takes_models_out_of_a_figure(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}analyses.html#draws").page
    figure = page.locator("#draws figure").first
    figure.scroll_into_view_if_needed()
    figure.locator("svg[role=img]").first.wait_for()
    marks = figure.locator("svg[role=img] [data-mark=dot] path, svg[role=img] [data-mark=dot] circle")
    before = marks.count()
    button = figure.locator(".legend button", has_text="poor")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert 0 < marks.count() < before
    button.click()
    assert marks.count() == before


def test_dark_mode_follows_the_system_and_the_reader(study: Served, open_page: Open) -> None:
    def dark(page: Any) -> bool:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(", ")) < 200

    assert not dark(open_page(f"{study.address}index.html", color_scheme="light").page)
    page = open_page(f"{study.address}index.html", color_scheme="dark").page
    assert dark(page)
    page.get_by_role("button", name="Switch to light colours").click()
    assert not dark(page)
    page.goto(f"{study.address}about.html")
    assert not dark(page)


@pytest.mark.parametrize("width", [360, 768])
@pytest.mark.parametrize("which", ["study", "hostile"])
def test_no_page_is_wider_than_the_window(
    which: str, width: int, request: pytest.FixtureRequest, open_page: Open
) -> None:
    served: Served = request.getfixturevalue(which)
    for path in served.pages():
        page = open_page(served.address + path, viewport={"width": width, "height": 740}).page
        if path == "records.html":
            page.locator(".record-head").wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        page.evaluate(DRAW_ALL)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize(("which", "scheme"), [("study", "light"), ("study", "dark"), ("hostile", "light")])
def test_an_accessibility_scan_finds_nothing_serious(
    which: str, scheme: str, request: pytest.FixtureRequest, open_page: Open
) -> None:
    pytest.importorskip("axe_playwright_python")
    axe = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    served: Served = request.getfixturevalue(which)
    found = []
    for path in served.pages():
        page = open_page(served.address + path, color_scheme=scheme, reduced_motion="reduce").page
        if path == "records.html":
            page.locator(".record-head").wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        page.evaluate(DRAW_ALL)
        # The policy forbids foreign scripts in the page; the debugger's own are not asked.
        page.evaluate(axe)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [f"{path}: {rule['id']} ({rule['impact']}): {rule['nodes'][0]['html'][:200]}"
                  for rule in result["violations"] if rule["impact"] in ("serious", "critical")]  # fmt: skip
    assert not found, "\n".join(found)


def test_pages_are_read_without_javascript(study: Served, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{study.address}index.html")
    assert page.locator("table.leaderboard").first.is_visible()
    assert not page.locator("form.filters").is_visible()
    page.goto(f"{study.address}analyses.html")
    assert page.locator("figure table").count() > 0
    page.goto(f"{study.address}records.html")
    assert "needs JavaScript" in page.locator("noscript").inner_text()
    context.close()


def test_a_site_opened_as_a_file_works_but_for_the_records(study: Served, open_page: Open) -> None:
    folder = study.made.folder.as_uri()
    page = open_page(f"{folder}/index.html").page
    page.get_by_role("searchbox", name="Model").fill("goo")
    assert column(page, "[data-board] >> nth=0 >> table.leaderboard", 1) == ["good"]
    watched = open_page(f"{folder}/analyses.html")
    watched.page.locator("figure svg[role=img]").first.wait_for()
    watched = open_page(f"{folder}/records.html")
    problem = watched.page.locator("#viewer-problem")
    problem.wait_for()
    assert "hbench view" in problem.inner_text()
    # The browser itself says that it refused the file, and nothing else goes wrong.
    assert all("file:" in told or "Failed to load" in told or "ERR_FAILED" in told for told in watched.wrong)
    watched.wrong.clear()


def test_a_printed_page_has_its_tables_and_no_controls(study: Served, open_page: Open) -> None:
    page = open_page(f"{study.address}index.html").page
    page.emulate_media(media="print")
    assert not page.locator("form.filters").is_visible()
    assert not page.locator(".masthead nav").is_visible()
    assert page.locator("table.leaderboard").first.is_visible()
