"""One state: slider, pictures, address and Streamlit agree, however quickly things are clicked."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def shown(page: Page, name: str) -> str:
    value = page.locator(f'.pv-slider[data-name="{name}"] .pv-value input').input_value()
    return value.replace(",", "")


def part(page: Page, label: str) -> None:
    page.get_by_role("radio", name=label, exact=True).or_(
        page.get_by_role("button", name=label, exact=True)
    ).first.click()


def test_a_part_chosen_right_after_a_release_takes_the_value_along_or_limits_it(
    tab: Visit,
) -> None:
    page = tab.go("/learned?part=rows", "similarity")
    tab.drag("position", 0.2, 0.7)
    kept = shown(page, "position")
    part(page, "The end")
    page.wait_for_function("location.search.includes('part=end')")
    part(page, "Rows")
    expect(tab.text("similarity")).to_be_visible()
    page.wait_for_function(f"location.search.includes('position={kept}')")
    expect(page.locator('.pv-slider[data-name="position"] .pv-value input')).to_have_value(kept)

    page = tab.go("/sinusoidal?part=beyond&position=358")
    tab.still()
    tab.drag("position", 0.3, 0.7)
    part(page, "A soft counter")
    page.wait_for_function("location.search.includes('part=counter')")
    tab.still()
    high = int(shown(page, "position"))
    assert high <= 63
    assert query(page).get("position", str(high)) == str(high)


def test_a_handle_that_another_one_limits_comes_back_within_the_same_drag(tab: Visit) -> None:
    page = tab.go("/alibi?head=10")
    box = tab.handle("num_heads").bounding_box()
    assert box

    def at(count: int) -> float:  # on a logarithmic or linear track, found by the number itself
        share = float(tab.handle("num_heads").evaluate("node => node.value"))
        return box["x"] + 8 + (box["width"] - 16) * share + (count - 12)

    y = box["y"] + box["height"] / 2
    start = at(12)
    page.mouse.move(start, y)
    page.mouse.down()
    page.mouse.move(start - 0.3 * box["width"], y, steps=6)
    expect(page.locator('.pv-slider[data-name="head"] .pv-value input')).not_to_have_value("10")
    page.mouse.move(start, y, steps=6)
    expect(page.locator('.pv-slider[data-name="head"] .pv-value input')).to_have_value("10")
    page.mouse.up()
    tab.still()
    assert shown(page, "head") == "10"
    assert query(page)["head"] == "10"


def test_a_run_that_began_earlier_does_not_bring_its_limits_back(tab: Visit) -> None:
    sockets: list[WebSocketRoute] = []
    kept: list[str | bytes] = []
    is_late = False

    def connect(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server().on_message(
            lambda message: kept.append(message) if is_late else socket.send(message)
        )

    tab.page.route_web_socket("**/_stcore/stream", connect)
    page = tab.go("/picker")
    tab.still()
    is_late = True
    tab.handle("num_heads").press("Home")  # Streamlit runs, and its answer is on the way
    while not kept:
        page.wait_for_timeout(200)
    page.wait_for_timeout(1000)
    tab.handle("num_heads").focus()
    page.keyboard.down("End")  # Streamlit hears of it once the key is up
    tab.drawn()
    page.route("**/live/view/**", lambda _: None)  # nothing else mends what the run says
    for message in kept:
        sockets[0].send(message)
    page.wait_for_timeout(1000)
    cached = tab.handle("num_key_value_heads")  # as many as there are heads, at most
    cached.press("End")
    expect(cached).to_have_attribute("aria-valuetext", "128")
    expect(cached).to_have_value("1")


def test_a_page_that_is_left_while_it_plays_leaves_the_next_address_alone(tab: Visit) -> None:
    page = tab.go("/rope")
    page.locator('.pv-slider[data-name="q_position"] .pv-play').click()
    page.wait_for_timeout(600)
    page.get_by_role("link", name="Playground", exact=True).click()
    page.wait_for_selector('[data-key="extrapolation"] .js-line', state="attached")
    page.wait_for_timeout(800)
    assert re.search(r"/playground$", page.url)
    page.go_back()
    expect(tab.text("pair:caption").or_(tab.text("map")).first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_keys_on_one_handle_after_the_other_all_count(tab: Visit) -> None:
    page = tab.go("/transformer_xl?part=distance")
    ends = {}
    handles = page.locator(".pv-slider input[type=range]:enabled")
    for n in range(handles.count()):
        handles.nth(n).press("End")
        page.wait_for_timeout(40)
    tab.still()
    for n in range(handles.count()):
        name = page.locator(".pv-slider:has(input[type=range]:enabled)").nth(n).get_attribute(
            "data-name"
        )  # fmt: skip
        ends[str(name)] = shown(page, str(name))
    said = query(page)
    for name, value in ends.items():
        assert said.get(name, value) == value.replace("−", "-"), (name, said)
    page.reload()
    page.wait_for_selector(".pv-slider", state="attached")
    for name, value in ends.items():
        expect(page.locator(f'.pv-slider[data-name="{name}"] .pv-value input')).to_have_value(
            re.compile(value[0])
        )


def test_what_is_done_while_the_connection_is_away_is_made_up_for(tab: Visit) -> None:
    sockets: list[WebSocketRoute] = []
    is_away = False

    def connect(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        if is_away:
            socket.close(code=3000)
        else:
            socket.connect_to_server()

    tab.page.route_web_socket("**/_stcore/stream", connect)
    page = tab.go("/rope?part=decay", "scores", "bound")
    for act in (
        lambda: tab.drag("rope_theta", 0.4, 0.6),
        lambda: page.locator(".pv-frame a[lang=zh]").click(),
    ):
        tab.still()
        is_away = True
        sockets[-1].close(code=3000)
        page.locator("[data-test-connection-state=CONNECTED]").wait_for(state="detached")
        act()
        is_away = False
    page.wait_for_function("document.documentElement.lang.startsWith('zh')")
    tab.still()
    assert query(page) == {"part": "decay", "rope_theta": "631000", "lang": "zh"}
    expect(tab.handle("rope_theta")).to_have_attribute("aria-valuetext", "631,000")
