"""Other evaluation frameworks: our tasks under their engines."""

from __future__ import annotations
