"""A survey that nobody planned for: homes of the Residential Energy Consumption Survey, an R file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench import evaluate
from hbench.cli.main import main

TASK = """\
task: electricity_bill
suite: recs
topic: energy
source: {file: recs.parquet}
key: {id: DOEID}
weight: NWEIGHT
targets: [{name: bill, column: DOLLAREL, kind: numeric, unit: USD per year}]
predictors:
  - {names: [TOTSQFT_EN, HDD65, CDD65]}
  - {names: [Region, HousingUnitType, ACUsed], kind: categorical}
split: {unit: subject, column: DOEID, share: 0.2}
prompt:
  paragraphs:
    - You live in the {{ Region }} of the United States. Your home has {{ TOTSQFT_EN | number }} square feet.
    - "How much did you pay for electricity in 2015, in dollars? Answer with a JSON array of one number: [v_1]"
answer: {parser: json_array, round: integer}
metrics: [mae, nmae]
"""


@pytest.mark.shared
def test_an_r_file_becomes_a_task(shared_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyreadr = pytest.importorskip("pyreadr")
    file = shared_dir / "data" / "recs2015" / "recs_2015.rda"
    if not file.is_file():
        pytest.skip("the survey is absent")
    (homes,) = pyreadr.read_r(str(file)).values()
    homes.to_parquet(tmp_path / "recs.parquet")
    (tmp_path / "electricity_bill.yaml").write_text(TASK)
    result = evaluate("recs/*", ["marginal", "linear"], include_paths=[tmp_path], out=tmp_path / "run")
    scores = {row["model"]: row for row in result.scores if row["target"] is None and row["metric"] == "mae"}
    assert scores["linear"]["n"] == 1137
    assert scores["linear"]["value"] < 0.85 * scores["marginal"]["value"]
    assert main(["check", "suite", "recs", "--include-path", str(tmp_path)]) == 0, capsys.readouterr().out
