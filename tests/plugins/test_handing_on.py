"""Records of the real suites, written and read back, give the scores of the data that they were made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.run.evaluate import evaluate

pytest.importorskip("hbench_wagepanel")
pytest.importorskip("hbench_randhie")
TASKS = ["wagepanel/*", "randhie/rand_visit_shares"]
MODELS = ["no_change", "marginal", "linear"]
Scores = dict[tuple[str, str, str], float]


def scores(out: Path, data: list[str]) -> Scores:
    result = evaluate(TASKS, MODELS, data=data, out=out)
    return {(r["task"], r["model"], r["metric"]): (r["value"], r["n"]) for r in result.scores if r["target"] is None}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    home = tmp_path_factory.mktemp("original")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_DATA", str(home / "data"))
        return scores(home / "run", [])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["hf", "parquet", "jsonl"])
def test_read_back_gives_the_same_scores(tmp_path: Path, original: Scores, form: str) -> None:
    pytest.importorskip("datasets")
    folder = tmp_path / "out"
    assert main(["data", "export", *TASKS, "--format", form, "--sample", "all", "--out", str(folder)]) == 0
    again = scores(tmp_path / "run", [str(folder)])
    assert again.keys() == original.keys()
    for key, (value, n) in original.items():
        # True answers of a folder are those of the answer format, rounded as its texts are.
        assert again[key] == (pytest.approx(value, rel=1e-3), n), key
    exact = [key for key in original if key[1] == "no_change"]
    assert [again[key][0] for key in exact] == [original[key][0] for key in exact]
