"""The Chromium that tests, bench and screenshots drive."""

from __future__ import annotations

import os
import shutil
from typing import Any

from playwright.sync_api import Browser, Playwright

_FLAGS = [
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def launch(playwright: Playwright) -> Browser:
    """The system's Chromium if there is one, else the one that Playwright installed."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options: dict[str, Any] = {"args": _FLAGS + root}
    if found:
        options["executable_path"] = found
    return playwright.chromium.launch(**options)
