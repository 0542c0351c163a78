from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from hbench.ess.blocks import between, deal, within
from hbench.ess.losses import squared
from hbench.ess.variance import BlockErrors, components, difference_variance, error_variance
from tests.ess.designs import PlainRidge, coefficients, draw, population

N, ROWS = 10, 57


class Direct:
    """The design sheet's formulas, loop by loop, with all blocks fitted."""

    def __init__(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(y))
        self.blocks = [order[b * N : (b + 1) * N] for b in range(len(y) // N)]
        self.kept = sorted(i for block in self.blocks for i in block)
        self.errors, self.tested = [], {i: [] for i in self.kept}
        for block in self.blocks:
            intercept, slopes = coefficients(x[block], y[block])
            outside = [i for i in self.kept if i not in block]
            losses = [(intercept + x[i] @ slopes - y[i]) ** 2 for i in outside]
            self.errors.append(sum(losses) / len(losses))
            for i, loss in zip(outside, losses, strict=True):
                self.tested[i].append(loss)
        self.mu = {i: sum(losses) / len(losses) for i, losses in self.tested.items()}

    def sigma2(self, values: dict[int, float]) -> tuple[float, float, float]:
        """Return N * V_train, V_test and 2 * N * C."""
        count, n = len(self.blocks), len(self.kept)
        mean = sum(self.errors) / count
        train = sum((e - mean) ** 2 for e in self.errors) / (count - 1)
        middle = sum(values.values()) / n
        test = sum((v - middle) ** 2 for v in values.values()) / n
        m = [sum(values[i] for i in block) / N for block in self.blocks]
        c = sum((e - mean) * (a - sum(m) / count) for e, a in zip(self.errors, m, strict=True)) / (count - 1)
        return N * train, test, 2 * N * c


@pytest.fixture(scope="module")
def data() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    rng = np.random.default_rng(3)
    x, y = draw(ROWS, rng)
    return x, y, (y - 0.8 * x[:, 0]) ** 2


def test_within_a_sample_every_component_is_that_of_the_sheet(data: tuple[npt.NDArray[np.float64], ...]) -> None:
    x, y, rule = data
    direct = Direct(x, y, seed=5)
    found, kept = within(population(x, y), PlainRidge(), N, squared, seed=5)
    n = len(direct.kept)
    np.testing.assert_array_equal(kept, direct.kept)
    np.testing.assert_allclose(found.errors, direct.errors)
    np.testing.assert_allclose(found.losses, [direct.mu[i] for i in kept])
    np.testing.assert_allclose(found.weights, 1 / n)
    assert found.error == pytest.approx(np.mean(direct.errors))
    for values in (direct.mu, {i: direct.mu[i] - rule[i] for i in kept}):
        sheet = np.array(direct.sigma2(values)) / n
        np.testing.assert_allclose(components(found, np.array([values[i] for i in kept])), sheet)
    assert found.asymptotics == "fixed_size"
    own = sum(direct.sigma2(direct.mu)) / n
    apart = sum(direct.sigma2({i: direct.mu[i] - rule[i] for i in kept})) / n
    assert error_variance(found).value == pytest.approx(own)
    assert difference_variance(found, rule[kept]).value == pytest.approx(apart)
    unpaired = difference_variance(found, rule[kept], paired=False)
    assert unpaired.value == pytest.approx(own + np.var(rule[kept]) / n)
    assert unpaired.fallback is None


def test_above_400_rows_a_block_the_number_of_blocks_is_fixed() -> None:
    x, y = draw(1300, np.random.default_rng(0))
    rule = (y - x[:, 0]) ** 2
    for size, name in ((400, "fixed_size"), (401, "fixed_blocks")):
        found, kept = within(population(x, y), PlainRidge(), size, squared, seed=1)
        assert found.asymptotics == name
    n = len(kept)
    assert n == 1203
    d = found.losses - rule[kept]
    tau2 = sum((value - d.mean()) ** 2 for value in d) / (n - 1)
    assert difference_variance(found, rule[kept]).value == pytest.approx(tau2 / n)
    tau2 = sum((value - found.error) ** 2 for value in found.losses) / (n - 1)
    assert error_variance(found).value == pytest.approx(tau2 / n)


def test_a_separate_test_sample_has_no_covariance(data: tuple[npt.NDArray[np.float64], ...]) -> None:
    x, y, rule = data
    z, w = draw(43, np.random.default_rng(8))
    found = between(population(z, w), population(x, y), PlainRidge(), N, squared, seed=2)
    order = np.random.default_rng(2).permutation(43)
    losses = []
    for b in range(4):
        block = order[b * N : (b + 1) * N]
        intercept, slopes = coefficients(z[block], w[block])
        losses.append([(intercept + x[i] @ slopes - y[i]) ** 2 for i in range(ROWS)])
    table = np.array(losses)
    e = table.mean(axis=1)
    assert found.error == pytest.approx(e.mean())
    d = table.mean(axis=0) - rule
    v_train = sum((value - e.mean()) ** 2 for value in e) / 3
    sheet = v_train / 4 + sum((value - d.mean()) ** 2 for value in d) / (ROWS - 1) / ROWS
    assert difference_variance(found, rule).value == pytest.approx(sheet)
    assert found.asymptotics == "separate_test"


def test_with_a_budget_rows_outside_of_the_fitted_blocks_are_tested_more_often(
    data: tuple[npt.NDArray[np.float64], ...],
) -> None:
    x, y, _ = data
    found, kept = within(population(x, y), PlainRidge(), N, squared, seed=5, budget=3)
    direct = Direct(x, y, seed=5)
    fitted = direct.blocks[:3]
    assert found.blocks == 3
    np.testing.assert_allclose(found.errors, direct.errors[:3])
    counts = np.array([3 - sum(i in block for block in fitted) for i in kept])
    np.testing.assert_allclose(found.weights, counts / 120)
    assert found.weights @ found.losses == pytest.approx(found.error)
    training, testing, together = components(found, found.losses)
    assert training == pytest.approx(np.var(found.errors, ddof=1) / 3)
    # n - 2N + N/F over the squared number of test rows of a fit.
    assert testing == pytest.approx(np.var(found.losses) * (50 - 20 + 10 / 3) / 40**2)
    m = [np.mean([found.losses[list(kept).index(i)] for i in block]) for block in fitted]
    c = np.cov(found.errors, m)[0, 1]
    assert together == pytest.approx(2 * N * c * 2 / 120)


def test_an_only_block_is_tested_on_the_others_alone(data: tuple[npt.NDArray[np.float64], ...]) -> None:
    x, y, rule = data
    found, kept = within(population(x, y), PlainRidge(), N, squared, seed=5, budget=1)
    block = deal(ROWS, N, seed=5)[0]
    assert not set(kept) & set(block)
    assert len(kept) == 40
    assert found.asymptotics == "fixed_blocks"
    assert difference_variance(found, rule[kept]).value == pytest.approx(np.var(found.losses - rule[kept], ddof=1) / 40)


def test_blocks_are_disjoint_and_shuffled_alike_for_all_sizes() -> None:
    small, large = deal(57, 5, seed=9), deal(57, 20, seed=9)
    assert small.shape == (11, 5)
    assert len(set(small.ravel())) == 55
    np.testing.assert_array_equal(small.ravel()[:40], large.ravel())


def test_a_variance_that_is_not_positive_falls_back_and_says_so() -> None:
    # The worse a block's fit, the easier are its own rows: the covariance outweighs all else.
    block = np.repeat(np.arange(3), 4)
    steep = BlockErrors(4, np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.0])[block], block)
    training, testing, together = components(steep, steep.losses)
    assert training + testing + together == pytest.approx(1 / 3 + 2 / 36 - 2 * 4 / 12)
    own = error_variance(steep)
    assert own.value == pytest.approx(training + testing)
    assert own.fallback == "the variance is not positive: without its covariance"
    rule = np.arange(12) % 2 * 0.1
    apart = difference_variance(steep, rule)
    assert apart.value == pytest.approx(training + testing + 0.05**2 / 12)
    assert apart.fallback == (
        "the paired variance is not positive: unpaired one; the variance is not positive: without its covariance"
    )


def test_one_block_of_a_separate_training_sample_is_told_of() -> None:
    found = BlockErrors(4, np.array([1.0]), np.array([0.0, 2.0]), np.array([-1, -1]), separate=True)
    assert error_variance(found).fallback == "one block: the variance lacks the training sample's share"
    assert error_variance(found).value == pytest.approx(1.0)
