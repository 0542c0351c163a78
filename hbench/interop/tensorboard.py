"""`--log tensorboard:DIR[,step=N]`: scores as TensorBoard's event files, a folder for each model."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from hbench.core import JsonValue, SelectionError
from hbench.interop.logged_run import LoggedModel, LoggedRun
from hbench.model.options import Options


class TensorBoard:
    """Writes ``DIR/RUN/MODEL/events.out.tfevents...``: a scalar for each score, the configuration as text.

    Parameters
    ----------
    folder : Path
        TensorBoard's ``--logdir``.
    step : int
        Where on the axis the scores stand: the training step of a checkpoint, say.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self.folder, self.step = folder, step

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue]) -> TensorBoard:
        """Check argument, options and the installation."""
        if not argument:
            raise SelectionError("--log tensorboard: where to? Write tensorboard:DIR")
        read = Options("tensorboard", options)
        step = read.integer("step", 0, least=0)
        read.finish(sampling=False)
        if importlib.util.find_spec("tensorboard") is None:
            raise SelectionError("--log tensorboard needs tensorboard", hint="pip install 'hbench[tensorboard]'")
        folder = Path(argument).expanduser()
        if folder.exists() and not folder.is_dir():
            raise SelectionError(f"--log tensorboard: {folder} is no folder", hint="Write tensorboard:DIR")
        return cls(folder, step)

    def log(self, run: LoggedRun) -> str:
        """Write the event files; a later call adds to them, as TensorBoard's own writers do."""
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        for model in run.models:
            writer = EventFileWriter(str(self.folder / run.name / model.slug))
            try:
                writer.add_event(self._event(run, model))
                writer.flush()
            finally:
                writer.close()
        return f"tensorboard --logdir {quote(str(self.folder))}"

    def _event(self, run: LoggedRun, model: LoggedModel) -> Any:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.plugins.text import metadata
        from tensorboard.util.tensor_util import make_tensor_proto

        values = [Summary.Value(tag=name, simple_value=value) for name, value in model.scalars.items()]
        texts = {"configuration": {**run.config, "model": model.label, **model.config}, "undefined": model.undefined}
        for name, content in texts.items():
            if content:
                # A Markdown block of code: what stands in it is not markup.
                text = "\n".join(f"    {line}" for line in json.dumps(content, indent=1).splitlines())
                values.append(
                    Summary.Value(
                        tag=name,
                        metadata=metadata.create_summary_metadata(display_name=name, description=""),
                        tensor=make_tensor_proto([text.encode()]),
                    )
                )
        return Event(wall_time=time.time(), step=self.step, summary=Summary(value=values))
