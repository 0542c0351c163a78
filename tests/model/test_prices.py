from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from hbench.core import ModelError
from hbench.model.limits import Prices, Spend
from hbench.model.openai import OpenAI
from hbench.model.prices import VARIABLE, price_of
from hbench.testing import MockServer


def table(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "prices.yaml").write_text(text)
    return {VARIABLE: str(tmp_path / "prices.yaml")}


def test_the_first_pattern_that_fits_counts(tmp_path: Path) -> None:
    environ = table(tmp_path, 'large-1: {in: 1.25, out: 10}\n"large-*": {in: 2, out: 20}\n')
    assert price_of("large-1", environ) == Prices(1.25, 10.0)
    assert price_of("large-2", environ) == Prices(2.0, 20.0)
    assert price_of("small", environ) is None
    assert price_of("large-1", {}) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1", "no mapping"),
        ("m: 3", "must be {in: NUMBER, out: NUMBER}"),
        ("m: {in: 1}", "must be"),
        ("m: {in: 1, out: -1}", "must be"),
        ("m: {in: 1, out: .inf}", "must be"),
        ("m: {in: true, out: 1}", "must be"),
        ("m: [", "cannot be read"),
        ("m: !!python/object/apply:os.getcwd []", "cannot be read"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        price_of("m", table(tmp_path, text))
    assert "prices.yaml" in str(caught.value)


def test_models_take_prices_from_the_table_and_options_win(
    bench: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, table(tmp_path, "m: {in: 1, out: 2}")[VARIABLE])
    url = {"base_url": "http://localhost/v1"}
    assert OpenAI.create("m", {**url, "max_cost": 1}, bench.Context()).prices == Prices(1.0, 2.0)
    assert OpenAI.create("m", {**url, "price_in": 5, "price_out": 6}, bench.Context()).prices == Prices(5.0, 6.0)
    with pytest.raises(ModelError, match="max_cost needs prices"):
        OpenAI.create("other", {**url, "max_cost": 1}, bench.Context())


def test_a_shared_limit_holds_over_models_and_earlier_sessions(bench: SimpleNamespace) -> None:
    prices = {"price_in": 1e5, "price_out": 0}  # a question of 20 characters costs about a dollar
    with MockServer() as server:
        shared = Spend(limit=8.0, spent=2.0)
        answered = 0
        for name in ("one", "two"):
            model = OpenAI.create(name, {"base_url": server.url, "concurrency": 1, **prices}, bench.Context())
            model.limit_spending(0.0, shared)
            collector = bench.Collector()
            with pytest.raises(ModelError, match=r"spend limit of \$8.00 is reached"):
                bench.answer(model, bench.requests(50), collector)
            answered += len(collector.texts)
        assert shared.spent <= 8.0
        assert answered == server.stats.answered
        assert 1 <= answered < 20


def test_earlier_spending_counts_against_a_model_s_own_limit(bench: SimpleNamespace) -> None:
    with MockServer() as server:
        options = {"base_url": server.url, "price_in": 1, "price_out": 1, "max_cost": 5}
        model = OpenAI.create("m", options, bench.Context())
        model.limit_spending(5.0)
        with pytest.raises(ModelError, match=r"\$5.0000 spent so far"):
            bench.answer(model, bench.requests(3))
        assert server.stats.requests == 0


def test_a_limit_for_the_run_needs_prices_and_no_second_limit(bench: SimpleNamespace) -> None:
    url = {"base_url": "http://localhost/v1"}
    with pytest.raises(ModelError, match="needs prices"):
        OpenAI.create("m", url, bench.Context()).limit_spending(0.0, Spend(limit=1.0))
    own = OpenAI.create("m", {**url, "price_in": 1, "price_out": 1, "max_cost": 5}, bench.Context())
    with pytest.raises(ModelError, match="give one of them"):
        own.limit_spending(0.0, Spend(limit=1.0))
