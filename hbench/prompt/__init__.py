"""Templates to messages, rows to records."""

from __future__ import annotations

from hbench.prompt.formats import FORMATS
from hbench.prompt.missing import AbsentError, is_missing
from hbench.prompt.records import RowReader, check_columns, table_records
from hbench.prompt.render import PromptRenderer

__all__ = ["FORMATS", "AbsentError", "PromptRenderer", "RowReader", "check_columns", "is_missing", "table_records"]
