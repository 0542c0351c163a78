"""Files in one task's folder of the store."""

from __future__ import annotations

TABLE = "table.parquet"
SPLIT = "split.parquet"
RECORDS = "records.jsonl"
TRAINING = "training.jsonl"
FUNNEL = "funnel.json"
DATA = "data.json"
