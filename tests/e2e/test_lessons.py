"""A lesson by keys and mouse: gone through as a visitor, made as a lecturer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from posviz.ui import lesson
from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_a_lesson_asks_reveals_and_is_steered_by_keys(tab: Visit) -> None:
    page = tab.page
    head = page.locator(".pv-lesson-head")
    told = page.locator(".pv-ask-told")
    page.goto(f"{tab.address}/playground?lesson=rope_in_ten_minutes&lesson_step=2")
    expect(head).to_contain_text("2 of 9")
    assert "/rope?" in page.url, "any page leads to the step's own"
    lamps = page.locator('[data-key="lamps"] .pv-lamps')
    expect(lamps).to_be_hidden()
    expect(page.locator(".pv-slider")).to_have_count(1)
    page.get_by_role("button", name="It grows").click()
    expect(told).to_contain_text(re.compile("^Not so: It stays.*−2.407"))
    expect(lamps).to_be_visible()
    tab.handle("shift").press("End")
    expect(lamps).to_contain_text("both moved by 100,000−2.407056")

    page.keyboard.press("n")  # at once: what moved is no part of the next step
    expect(head).to_contain_text("3 of 9")
    expect(page).to_have_url(re.compile(r"/rope\?lesson=rope_in_ten_minutes&lesson_step=3$"))
    expect(page.locator(".pv-ask")).to_have_count(0)
    page.locator("body").press("p")
    expect(told).to_contain_text("Not so")  # answered before
    page.go_back()
    expect(head).to_contain_text("3 of 9")
    page.get_by_role("link", name="Leave the lesson").click()
    expect(head).to_have_count(0)
    expect(page.locator('[data-key="lamps"]')).to_be_visible()

    # A curve, on a stage.
    page.goto(f"{tab.address}/rope?lesson=rope_in_ten_minutes&lesson_step=6&present=1")
    expect(head).to_contain_text("6 of 9")
    pen = page.locator(".pv-guess")
    expect(pen).to_be_visible()
    curve = page.locator('[data-key="scores"] .scatterlayer')
    expect(curve).to_be_hidden()
    page.wait_for_timeout(600)  # the stage has found its size
    box = pen.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.6 * box["height"], steps=8)
    page.mouse.up()
    page.get_by_role("button", name="Reveal").click()
    expect(tab.handle("rope_theta")).to_be_focused()
    expect(curve).to_be_visible()
    expect(told).to_contain_text(re.compile("^q = k: .* off by [0-9.]+ on average"))
    expect(page.locator(".stAppHeader")).to_be_hidden()
    page.locator("body").press("n")
    expect(head).to_contain_text("7 of 9")
    expect(tab.handle("peak")).to_be_focused()  # arrows move it at once
    assert "present=1" in page.url


def test_a_lesson_is_made_of_views_and_outlives_a_reload(tab: Visit, tmp_path: Path) -> None:
    page = tab.go("/rope?part=decay&rope_theta=500", "scores")
    add = page.get_by_role("button", name="Add to my lesson")
    add.click()
    expect(page.get_by_role("button", name="Added as step 1")).to_be_visible()
    tab.go("/alibi?part=slopes&head=7", "slopes")  # another load, another session
    add.click()
    expect(page.get_by_role("button", name="Added as step 2")).to_be_visible()

    page.goto(f"{tab.address}/lessons")
    rows = page.locator('[class*="st-key-pv-make-row-"] > :first-child button')
    expect(rows).to_have_text(["1. RoPE", "2. ALiBi"])
    page.get_by_role("button", name="Step 1 down").click()
    expect(rows).to_have_text(["1. ALiBi", "2. RoPE"])
    page.get_by_label("Title").fill("Mine")
    page.get_by_label("What you say").fill("Look **here**.")
    page.get_by_label("What you say").blur()
    expect(page.locator(".st-key-pv-make")).to_contain_text("characters")
    page.wait_for_function("sessionStorage.getItem('posviz lesson').includes('here')")
    page.reload()
    expect(page.get_by_label("Title")).to_have_value("Mine")
    rows.nth(1).click()
    # The other step's field is there until the run ends.
    expect(page.locator(".st-key-lessons-says-1 textarea")).to_have_value("Look **here**.")

    page.get_by_label("What it teaches").fill("At last.")
    with page.expect_download() as download:  # the click also leaves the field
        page.get_by_role("button", name="Save as a file").click()
    saved = lesson.read(Path(download.value.path()).read_text("utf-8"))
    assert (saved.title, saved.about) == ("Mine", "At last.")
    assert [step.view for step in saved.steps] == [
        "alibi?head=7", "rope?part=decay&rope_theta=500"]  # fmt: skip
    assert saved.steps[1].says == "Look **here**."

    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"title": "x", "steps": [{"view": "nowhere"}]}))
    page.locator("input[type=file]").set_input_files(broken)
    expect(page.get_by_role("alert")).to_contain_text("steps[0].view must begin")
    expect(rows).to_have_count(2)

    # What was just written is seen at once, and Back leads here.
    says = page.locator(".st-key-lessons-says-1 textarea")
    says.fill("Look **here** now.")
    page.get_by_role("button", name="Look at this step").click()
    expect(page.locator(".st-key-pv-lesson")).to_contain_text("Look here now.")
    expect(tab.handle("rope_theta")).to_be_visible()
    page.go_back()
    expect(says).to_have_value("Look **here** now.")
    tab.still()

    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".pv-lesson-head")).to_contain_text("Mine")
    page.go_back()
    expect(rows).to_have_count(2)
    tab.still()
    page.get_by_role("button", name="Start in present mode").click()
    page.wait_for_function("location.search.includes('present=1')")
    expect(page.locator('[data-key="slopes"]')).to_be_visible()
    page.locator("body").press("n")
    expect(page.locator(".st-key-pv-lesson strong")).to_have_text("here")
    expect(tab.handle("rope_theta")).to_be_visible()
