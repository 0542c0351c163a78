"""From a suite's training data to a fine-tuned model and what it gains: examples, training, the whole recipe."""

from __future__ import annotations
