"""`python -m hbench`, and what `accelerate launch -m hbench` starts on every device."""

from __future__ import annotations

import sys

from hbench.cli.main import main

sys.exit(main())
