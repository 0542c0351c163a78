"""Packed examples must not see each other, whatever the model."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from hbench.core import TrainingError  # noqa: E402
from hbench.train.packing import check_packing  # noqa: E402


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_attention_keeps_them_apart(attention: str) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4
    )
    model = LlamaForCausalLM._from_config(config, attn_implementation=attention)
    model.train()
    check_packing(model)
    assert model.training


def test_a_state_that_runs_on_is_refused() -> None:
    from transformers import MambaConfig, MambaForCausalLM

    torch.manual_seed(0)
    model = MambaForCausalLM(MambaConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, state_size=8))
    with pytest.raises(TrainingError, match="does not keep packed examples apart"):
        check_packing(model)
