"""The number-token loss against a brute-force Wasserstein distance, and which vocabularies it can serve."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from scipy.stats import wasserstein_distance  # noqa: E402

from hbench.core import TrainingError  # noqa: E402
from hbench.train.digits import DigitTokens, find_digits  # noqa: E402
from hbench.train.number_token_loss import IGNORED, NumberTokenLoss  # noqa: E402
from tests.train import tokenizers  # noqa: E402

DIGITS = DigitTokens({5 + digit: digit for digit in range(10)} | {20 + digit: digit for digit in range(10)}, {})
"""Two tokens a digit, in a vocabulary of 40."""


@pytest.fixture
def loss() -> NumberTokenLoss:
    return NumberTokenLoss(DIGITS)


def test_it_is_the_wasserstein_distance(loss: NumberTokenLoss) -> None:
    torch.manual_seed(0)
    logits = 3 * torch.randn(200, 40, dtype=torch.float64)
    labels = torch.randint(0, 40, (200,))
    expected = []
    for row, label in zip(logits.numpy(), labels.tolist(), strict=True):
        if label in DIGITS.values:
            weights = np.exp([row[token] for token in DIGITS.values])
            expected.append(wasserstein_distance(list(DIGITS.values.values()), [DIGITS.values[label]], weights))
    assert 50 < len(expected) < 150
    assert loss.count(labels) == len(expected)
    assert loss(logits, labels).item() == pytest.approx(np.mean(expected), abs=1e-12)
    assert loss.sum(logits, labels).item() == pytest.approx(np.sum(expected), abs=1e-10)


def test_two_digits_by_hand(loss: NumberTokenLoss) -> None:
    # Truth 4: probability 1/4 on the first token of 3, 3/4 on the second token of 9.
    logits = torch.full((2, 40), -torch.inf)
    logits[0, 5 + 3], logits[0, 20 + 9] = 0.0, np.log(3.0)
    # Truth 0, all on 9: the farthest there is.
    logits[1, 5 + 9] = 0.0
    labels = torch.tensor([20 + 4, 5 + 0])
    assert loss.sum(logits, labels).item() == pytest.approx(0.25 * 1 + 0.75 * 5 + 9)


def test_a_perfect_prediction_costs_nothing(loss: NumberTokenLoss) -> None:
    labels = torch.arange(10) + 5
    logits = torch.zeros(10, 40)
    # Either token of the digit will do.
    logits[torch.arange(10), torch.arange(10) + 20] = 1e4
    assert loss(logits, labels).item() == 0.0


def test_the_probability_of_other_tokens_does_not_matter(loss: NumberTokenLoss) -> None:
    logits = torch.randn(3, 40)
    labels = torch.tensor([7, 23, 9])
    before = loss(logits, labels)
    logits[:, [0, 16, 39]] += 5
    assert loss(logits, labels) == before


def test_gradients_are_those_of_finite_differences(loss: NumberTokenLoss) -> None:
    torch.manual_seed(1)
    logits = torch.randn(6, 40, dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([5, 29, 0, IGNORED, 24, 10])
    assert torch.autograd.gradcheck(lambda values: loss(values, labels), (logits,))
    loss(logits, labels).backward()
    rows = logits.grad.abs().sum(dim=1)
    assert (rows[[2, 3]] == 0).all()
    assert (rows[[0, 1, 4, 5]] > 0).all()
    # Only digit tokens are moved.
    assert (logits.grad[:, [i for i in range(40) if i not in DIGITS.values]] == 0).all()


def test_the_nearer_of_two_wrong_digits_costs_less(loss: NumberTokenLoss) -> None:
    labels = torch.tensor([5 + 4])
    costs = []
    for digit in range(10):
        logits = torch.zeros(1, 40)
        logits[0, 5 + digit] = 50.0
        costs.append(loss(logits, labels).item())
    assert costs == pytest.approx([4, 3, 2, 1, 0, 1, 2, 3, 4, 5], abs=1e-6)


def test_without_digits_it_is_zero_and_can_be_differentiated(loss: NumberTokenLoss) -> None:
    logits = torch.randn(2, 3, 40, requires_grad=True)
    # Beyond the last digit's token, and past what the table holds.
    labels = torch.tensor([[0, 39, IGNORED], [35, 30, 4]])
    value = loss(logits, labels)
    assert value.item() == 0.0
    value.backward()
    assert (logits.grad == 0).all()


def test_16_bit_logits_are_computed_with_in_32_bits(loss: NumberTokenLoss) -> None:
    logits = torch.randn(4, 40).to(torch.bfloat16)
    labels = torch.tensor([5, 6, 7, 28])
    value = loss(logits, labels)
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(loss(logits.float(), labels).item(), rel=1e-6)


def test_digits_with_and_without_a_blank_are_found() -> None:
    tokenizer = tokenizers.words()
    digits = find_digits(tokenizer)
    assert sorted(digits.values.values()) == sorted(2 * list(range(10)))
    ids = tokenizer("[7, 7]", add_special_tokens=False)["input_ids"]
    assert [digits.values.get(index) for index in ids] == [None, 7, None, 7, None]
    assert ids[1] != ids[3]


def test_single_digits_are_served() -> None:
    tokenizer = tokenizers.single_digits()
    digits = find_digits(tokenizer)
    ids = tokenizer("[2024, 358]", add_special_tokens=False)["input_ids"]
    assert [digits.values[i] for i in ids if i in digits.values] == [2, 0, 2, 4, 3, 5, 8]
    assert digits.unseen(ids) is None


@pytest.mark.parametrize("make", [tokenizers.gpt2, tokenizers.three_digits])
def test_tokens_of_several_digits_are_refused(make: Any) -> None:
    with pytest.raises(TrainingError, match="needs a token for each digit") as refused:
        find_digits(make())
    assert "--loss ce" in str(refused.value)


def test_missing_digits_are_named() -> None:
    with pytest.raises(TrainingError, match="no token for the digits 8, 9"):
        find_digits(tokenizers.words("01234567"))


def test_a_number_that_the_loss_does_not_see_is_found() -> None:
    digits = DigitTokens({1: 1}, {7: "[1", 8: "17"})
    assert digits.unseen([1, 2, 8, 7]) == "17"
    assert digits.unseen([1, 2]) is None


@pytest.mark.lm
def test_a_real_tokenizer_is_served() -> None:
    from transformers import AutoTokenizer

    if not os.environ.get("HBENCH_TEST_LM"):
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    tokenizer = AutoTokenizer.from_pretrained(os.environ["HBENCH_TEST_LM"])
    digits = find_digits(tokenizer)
    ids = tokenizer("[1234.5, -67]", add_special_tokens=False)["input_ids"]
    assert [digits.values[i] for i in ids if i in digits.values] == [1, 2, 3, 4, 5, 6, 7]
