"""Whether a model keeps the examples of a packed sequence apart."""

from __future__ import annotations

from typing import Any

from hbench.core import TrainingError
from hbench.core.errors import first_line

_LENGTHS = (11, 7, 13)


def check_packing(model: Any) -> None:
    """Compare a packed sequence with its examples alone.

    Attention with a mask by position keeps them apart; recurrent layers without kernels for packed sequences carry
    their state from one example into the next, and would learn from what evaluation never shows them.

    Raises
    ------
    TrainingError
        The logits differ by more than rounding does.
    """
    import torch

    text = model.config.get_text_config()
    generator = torch.Generator().manual_seed(0)
    rows = [torch.randint(text.vocab_size, (1, length), generator=generator) for length in _LENGTHS]
    positions = torch.cat([torch.arange(length) for length in _LENGTHS])[None]
    ends = torch.tensor([0, *_LENGTHS]).cumsum(0)
    hint = "Train with --set packing=false, or install the kernels for packed sequences that the model can use."
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            packed = model(
                input_ids=torch.cat(rows, dim=1).to(model.device),
                position_ids=positions.to(model.device),
                use_cache=False,
                **_boundaries(ends, model.device),
            ).logits.float()
            alone = torch.cat([model(input_ids=row.to(model.device), use_cache=False).logits for row in rows], dim=1)
            # What one example more in front does, if it is seen: the measure of "more than rounding".
            seen = model(input_ids=torch.cat(rows, dim=1).to(model.device), use_cache=False).logits.float()
    # Models say in words of their own that they cannot.
    except Exception as error:
        raise TrainingError(
            f"{type(model).__name__} takes no packed examples: {first_line(error)}", hint=hint
        ) from error
    finally:
        model.train(training)
    apart = (packed - alone.float()).abs().mean()
    if apart > 0.1 * (seen - alone.float()).abs().mean():
        raise TrainingError(
            f"{type(model).__name__} does not keep packed examples apart (mean difference of logits {apart:.2g})",
            hint=hint,
        )


def _boundaries(ends: Any, device: Any) -> dict[str, Any]:
    """Return where examples begin, in the words of the kernels for packed sequences, as TRL's collator does."""
    import torch

    limits = ends.to(torch.int32).to(device)
    lengths = ends.diff()
    longest = int(lengths.max())
    places = torch.repeat_interleave(torch.arange(len(lengths), dtype=torch.int32), lengths)[None].to(device)
    return {
        "cu_seq_lens_q": limits,
        "cu_seq_lens_k": limits,
        "max_length_q": longest,
        "max_length_k": longest,
        "seq_idx": places,
    }
