"""A public board: results folders of others, checked, scored again and joined."""

from __future__ import annotations
