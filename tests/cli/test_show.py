from __future__ import annotations

from pathlib import Path

import yaml

from hbench.spec import discover
from hbench.spec.task import Task

from .conftest import Hbench


def test_a_task_is_shown_as_its_author_would_write_it(hbench: Hbench) -> None:
    """What is shown is the whole task, includes filled in: read again, it is the same."""
    for entry in discover().entries:
        done = hbench("show", entry.name)
        assert done.out.startswith(f"# {entry.path}\n")
        assert Task.model_validate(yaml.safe_load(done.out)) == entry.load(), entry.name


def test_a_record_and_its_prompt(hbench: Hbench, tiny: Path) -> None:
    include = ("--include-path", str(tiny))
    whole = hbench("show", "spend", "--record", "2", *include)
    assert whole.code == 0, whole.err
    assert "tiny/spend, record p" in whole.out
    assert "[true answer]" in whole.out
    prompt = hbench("show", "spend", "--record", "2", "--prompt", *include).out
    assert prompt.startswith("[user]\nYou earn $1,")
    assert prompt.strip() in whole.out
    beyond = hbench("show", "spend", "--record", "9999", *include)
    assert beyond.code == 2
    assert "record 9999 was asked for" in beyond.err


def test_what_is_not_there(hbench: Hbench) -> None:
    done = hbench("show", "cons_cex_totl")
    assert done.code == 2
    assert "'cons_cex_total'" in done.err
