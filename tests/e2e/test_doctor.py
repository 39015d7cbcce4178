"""The config doctor in a browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from posviz.figures.style import number
from posviz.hf_config import rope_frequencies
from tests.e2e.conftest import Visit
from tests.test_config_doctor import LLAMA

pytestmark = pytest.mark.e2e

WRONG, RIGHT = (rope_frequencies({**LLAMA, "rope_theta": base})[0] for base in (1e4, 5e5))


def off_by(pair: int, distance: int) -> str:
    return number(float(abs(WRONG[pair] - RIGHT[pair])) * distance)


def test_handles_move_the_numbers_of_a_link_and_a_text_is_taken(tab: Visit) -> None:
    tab.go("/doctor?start=lost_base&pair=48", "verdict", "off", "turns")
    expect(tab.text("verdict")).to_contain_text("1 finding: rope_theta")
    expect(tab.text("caption")).to_contain_text(f"pair 48 is off by {off_by(48, 4096)} rad")
    tab.drag("distance", 0.6, 1.0)
    expect(tab.text("caption")).to_contain_text("At a distance of 1,048,576 tokens")
    tab.drag("pair", 48 / 63, 1.0)
    error = off_by(63, 2**20)
    expect(tab.text("caption")).to_contain_text(f"pair 63 is off by {error} rad")
    expect(tab.page).to_have_url(re.compile(r"distance=1048576&pair=63$"))

    # A text of one's own: typed, uploaded, and the model of flags asked for.
    area = tab.page.locator("textarea")
    area.fill("--rope-scaling yarn --rope-scale 0.25 --yarn-orig-ctx 32768")
    area.press("Control+Enter")
    expect(tab.text("verdict")).to_contain_text("Choose the model")
    expect(tab.page.locator(".stCode")).to_contain_text("--rope-scale 4")
    area.fill('{"head_dim": 64,\n "rope_theta" 1e4}')
    area.press("Control+Enter")
    expect(tab.text("verdict")).to_contain_text("line 2, column 15")
    expect(tab.page).to_have_url(re.compile(r"start=pasted&config=%7E"))
    file = {"name": "config.json", "mimeType": "application/json",
            "buffer": json.dumps(LLAMA).encode()}  # fmt: skip
    tab.page.locator('input[type="file"]').set_input_files([file])  # type: ignore[list-item]
    expect(tab.text("verdict")).to_contain_text("Healthy")
    expect(area).to_have_value(json.dumps(LLAMA))
    tab.page.get_by_text("attn_factor", exact=True).first.click()
    expect(tab.text("verdict")).to_contain_text("1 finding: attn_factor")
