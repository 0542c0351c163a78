r"""The number-token loss: how far predicted digits are from the true ones, in numbers.

Cross-entropy takes digits for labels without order: where the truth is 4, predicting 3 costs what predicting 9 costs.
The number-token loss is the Wasserstein-1 distance between the predicted distribution over digits and the true digit,

.. math:: W_1 = \sum_{d=0}^{9} p(d) \, |d - y|,

the mean over all digits to be predicted; it is added to the cross-entropy with a weight. The distribution is over digit
tokens alone (the softmax of their logits), since how much probability digits have at all is the cross-entropy's affair.

Jonas Zausinger et al. (2025), Regress, Don't Guess: A Regression-like Loss on Number Tokens for Language Models, ICML.
Their NTL-WAS; they recommend the weight 0.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.train.digits import DigitTokens, find_digits

if TYPE_CHECKING:
    import torch

IGNORED = -100
"""The label of tokens that are not learned, as in torch."""


class NumberTokenLoss:
    """The number-token loss of one vocabulary.

    Parameters
    ----------
    digits : DigitTokens
        See `hbench.train.digits.find_digits`.

    Examples
    --------
    >>> loss = NumberTokenLoss.of(tokenizer)                                        # doctest: +SKIP
    >>> cross_entropy(logits, labels) + 0.3 * loss(logits, labels)                  # doctest: +SKIP

    with logits (n, vocabulary) and labels (n,), the label at i being what the logits at i predict.
    """

    def __init__(self, digits: DigitTokens) -> None:
        import torch

        self.digits = digits
        ids = sorted(digits.values)
        values = torch.tensor([digits.values[index] for index in ids])
        # Tokens beyond the last digit are none; the table ends with one entry for them all.
        digit_of = torch.full((ids[-1] + 2,), -1)
        digit_of[ids] = values
        self._tables = (torch.tensor(ids), digit_of, (torch.arange(10)[:, None] - values).abs())
        self._moved: dict[torch.device, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}

    @classmethod
    def of(cls, tokenizer: Any) -> NumberTokenLoss:
        """Make the loss for a Hugging Face tokenizer.

        Raises
        ------
        TrainingError
            Where the tokenizer does not write numbers digit by digit.
        """
        return cls(find_digits(tokenizer))

    def __call__(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the mean loss over the labels that are digits, 0 where none is; the smaller, the better.

        Parameters
        ----------
        logits : Tensor, (..., vocabulary)
            Of any floating type; 16-bit logits are computed with in 32 bits.
        labels : Tensor of int, (...)
            What the logits predict; labels that are no digits, as -100, do not count.
        """
        return self.sum(logits, labels) / self.count(labels).clamp(min=1)

    def sum(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the sum of the distances; its maximum is 9 a digit."""
        import torch

        ids, _, distance = self._on(labels.device)
        truth = self.truth(labels).flatten()
        rows = (truth >= 0).nonzero().flatten()
        chosen = logits.flatten(0, -2)[rows[:, None], ids]
        shares = torch.softmax(chosen, dim=-1, dtype=None if chosen.dtype == torch.float64 else torch.float32)
        return (shares * distance[truth[rows]]).sum()

    def count(self, labels: torch.Tensor) -> torch.Tensor:
        """Return how many labels are digits."""
        return (self.truth(labels) >= 0).sum()

    def truth(self, labels: torch.Tensor) -> torch.Tensor:
        """Return the digit of each label, and -1 where it is none."""
        table = self._on(labels.device)[1]
        outside = len(table) - 1
        return table[labels.clamp(max=outside).where(labels >= 0, outside)]

    def _on(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        if device not in self._moved:
            ids, digit_of, distance = self._tables
            self._moved[device] = (ids.to(device), digit_of.to(device), distance.to(device))
        return self._moved[device]
