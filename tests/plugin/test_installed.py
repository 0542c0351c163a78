"""What installed packages can do, and what they cannot do to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Environment

pytestmark = pytest.mark.packaging


def test_a_good_package(environment: Environment) -> None:
    """Package, distribution and plugin have different names, and all three are found."""
    before = environment.names()
    environment.install("good-study")
    assert sorted({*environment.names()} - {*before}) == ["saving/next_month", "saving/next_year"]
    row = environment.plugin("saving")
    assert (row["distribution"], row["version"], row["status"]) == ("good-study", "1.2.0", "ok")
    assert "saving/median_error" in {row["name"] for row in environment.rows("ls", "metrics")}
    assert "no faults" in environment.run("validate").stdout
    assert "saving: USD" in environment.run("saving-codebook").stdout
    result = environment.run("eval", "--tasks", "@saving", "--model", "marginal", "--plain", "--out", "run").stdout
    assert "median_error" in result
    blocked = environment.run("--no-plugin", "saving", "ls", "tasks").stdout
    assert "saving/" not in blocked
    listed = environment.run("ls", "tasks", HBENCH_PLUGINS="saving").stdout.splitlines()
    assert [line.split()[0] for line in listed[1:]] == ["saving/next_month", "saving/next_year"]
    environment.uninstall("good-study")
    assert environment.names() == before
    assert "No such command 'saving-codebook'" in environment.run("saving-codebook", code=2).stderr


@pytest.mark.parametrize(
    ("package", "plugin", "told"),
    [
        (
            "crashing-study",
            "crashing",
            ["RuntimeError: the codebook of wave 7", "crashing_study/plugin.py:3"],
        ),
        ("raising-study", "raising", ["ValueError: no second metric", "raising_study/plugin.py:10"]),
        ("misspelt-study", "misspelt", ["there is no hook called 'hbench_registr'", "'hbench_register'"]),
        ("newer-study", "newer", ["it needs version 99 of the plugin API; this hbench has version 1"]),
    ],
)
def test_a_broken_package(environment: Environment, package: str, plugin: str, told: list[str]) -> None:
    """It is named with its fault, and takes nothing else down."""
    before, metrics = environment.names(), environment.names("metrics")
    environment.install("good-study", package)
    row = environment.plugin(plugin)
    assert (row["distribution"], row["status"]) == (package, "broken")
    for part in told:
        assert part in row["error"]
    assert environment.plugin("saving")["status"] == "ok"
    assert {*before, "saving/next_month"} <= {*environment.names()}
    assert {*environment.names("metrics")} == {*metrics, "saving/median_error"}
    environment.run("show", "saving/next_month", "--prompt")
    strict = environment.run("--strict-plugins", "plugins", code=2).stderr
    assert plugin in strict
    assert package in strict
    environment.run("--no-plugin", plugin, "--strict-plugins", "plugins")
    environment.uninstall(package)
    assert plugin not in {row["name"] for row in environment.rows("plugins")}
    assert "saving/next_month" in environment.names()


def test_the_tasks_of_a_crashing_package_are_listed_and_say_what_they_lack(environment: Environment) -> None:
    """Task files are data, whatever the code beside them does."""
    environment.install("crashing-study")
    assert "crashing/lost" in environment.names()
    environment.run("show", "crashing/lost")
    told = environment.run("eval", "--tasks", "lost", "--model", "marginal", "--plain", "--out", "run", code=2).stderr
    assert "there is no metric called 'wave_error'" in told
    assert "broken plugins that might bring it: crashing" in told
    told = environment.run("validate", code=2).stdout
    assert "lost.yaml:16: task crashing/lost: there is no metric called 'wave_error'" in told


def test_two_distributions_that_claim_the_same_names(environment: Environment) -> None:
    """Neither wins: both are named, and what is not disputed works."""
    before = environment.names()
    environment.install("clashing-one")
    environment.run("show", "clash/shared_name")
    environment.install("clashing-two")
    told = environment.run("show", "clash/shared_name", code=2).stderr
    assert "several files claim the task 'clash/shared_name'" in told
    assert "clashing-one 0.1" in told
    assert "clashing-two 0.2" in told
    listed = environment.run("ls", "tasks")
    assert "clash/shared_name" in listed.stderr
    assert {*before, "clash/only_one", "clash/only_two"} <= {line.split()[0] for line in listed.stdout.splitlines()}
    environment.run("show", "clash/only_one")
    told = environment.run("validate", code=2).stdout
    assert "several plugins bring the metric 'agreement'" in told
    environment.uninstall("clashing-two")
    environment.run("show", "clash/shared_name")
    environment.run("validate")
    environment.uninstall("clashing-one")
    assert environment.names() == before


REFUSED = {
    "include_outside": "yaml:1: the include '../secret.yaml' leaves the suite's folder",
    "include_absolute": "yaml:1: the include '/etc/hostname' leaves the suite's folder",
    "splice_outside": "yaml:9: the include '../../malicious_study/secret.yaml' leaves the suite's folder",
    "table_outside": "yaml:4: task malicious/table_outside: the table '../../people.csv' leaves the suite's folder",
    "table_absolute": "yaml:4: task malicious/table_absolute: the table '/etc/people.csv' leaves the suite's folder",
    "object_tag": "yaml:3: the tag !!python/object/apply:os.system is not allowed",
    "module_tag": "yaml:3: the tag !!python/name:os.system is not allowed",
    "alias_bomb": "the file comes to more than 200,000 values",
    "template_import": "a prompt has no import",
    "template_outside": "the template '../secret.yaml' lies outside the suite's folder",
}
REFUSED_WHEN_RENDERED = {
    "template_escape": "the prompt's template fails",
    "template_flood": "the prompt grows beyond",
}


def test_malicious_files_run_nothing_and_read_nothing(environment: Environment) -> None:
    """Listing, checking and showing them is safe, and each says what is wrong with it."""
    before = environment.names()
    environment.install("malicious-study")
    assert {*before, "malicious/harmless"} <= {*environment.names()}
    told = environment.run("validate", code=2).stdout
    for task, message in REFUSED.items():
        (line,) = (line for line in told.splitlines() if f"/{task}.yaml" in line)
        assert message in line
    for task, message in {**REFUSED, **REFUSED_WHEN_RENDERED}.items():
        refused = environment.run("show", f"malicious/{task}", "--prompt", code=2)
        assert message.partition(": ")[2] or message in refused.stderr
        assert "42" not in refused.stdout
    assert "You earn" in environment.run("show", "malicious/harmless", "--prompt").stdout
    assert not list(environment.folder.rglob("executed"))
    assert not Path("executed").exists()
    environment.uninstall("malicious-study")
    assert environment.names() == before
