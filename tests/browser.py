"""The Chromium that tests, bench and screenshots drive."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Playwright

_FLAGS = [
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def launch(playwright: Playwright, profile: Path | None = None) -> Browser:
    """The system's Chromium if there is one, else the one that Playwright installed.

    Without a profile it forgets each visit. With the folder of one, its first context keeps what
    any visitor's browser keeps: files, and from the third visit on the compiled scripts.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    options: dict[str, Any] = {"args": _FLAGS + root}
    if found:
        options["executable_path"] = found
    if profile is None:
        return playwright.chromium.launch(**options)
    browser = playwright.chromium.launch_persistent_context(profile, **options).browser
    assert browser
    return browser
