"""Keeping secrets out of what is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from hbench.core import JsonValue

_SECRET_NAME = re.compile(r"(?i)(_key|apikey|token|secret|password|passwd|authorization)$")
_SECRET_OPTION = re.compile(r"(?i)\b([\w-]*(?:api_?key|access_?token|auth_?token|secret|password|passwd)=)[^,\s&]+")
_IN_ADDRESS = re.compile(r"(?i)(https?://)[^/@\s,]+@")
_BEARER = re.compile(r"(?i)(bearer\s+|\bsk-)[\w.-]{8,}")


def scrub(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Remove what looks like a secret: options, parts of addresses, and values of secret environment variables."""
    for name, value in (os.environ if environ is None else environ).items():
        if len(value) >= 6 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    text = _SECRET_OPTION.sub(r"\1***", text)
    text = _IN_ADDRESS.sub(r"\1***@", text)
    return _BEARER.sub(r"\1***", text)


def scrub_all(value: JsonValue) -> JsonValue:
    """Scrub all texts of a JSON value."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: scrub_all(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrub_all(item) for item in value]
    return value
