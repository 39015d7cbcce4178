"""What only a browser shows: dragging, keys, links, layout, themes."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import NARROW, Visit, visit

pytestmark = pytest.mark.e2e

HANDLES = ["position", "rope_theta", "head_dim", "factor", "head"]
PICTURES = ["rotations", "attention", "extrapolation"]

WATCH = """
(pictures) => {
  const hosts = pictures.map((key) => document.querySelector(`[data-key="${key}"]`));
  const axes = () => [...document.querySelectorAll(".xtick text, .ytick text")].map(
    (tick) => tick.textContent + tick.getAttribute("transform") + tick.getAttribute("x"));
  const watch = (window.watch = {
    changes: pictures.map(() => 0), blank: 0, faded: 0, moved: 0, frames: 0, on: true,
  });
  const first = JSON.stringify(axes());
  const ink = (host) => [...host.querySelectorAll(
      host.classList.contains("is-quick") ? ".pv-quick path" : ".js-line, .pv-hand, dd",
  )];
  // What is drawn, as text: a change that leaves the picture the same is none.
  const seen = (host) => host.classList.contains("pv-markup")
      ? host.innerHTML
      : [...host.querySelectorAll(".pv-quick > g > *")].map((n) => n.outerHTML).join("");
  const before = hosts.map(seen);
  const frame = () => {
    if (!watch.on) return;
    watch.frames += 1;
    hosts.forEach((host, i) => {
      const now = seen(host);
      if (now !== before[i]) watch.changes[i] += 1;
      before[i] = now;
      if (!ink(host).length) watch.blank += 1;
      for (let node = host; node; node = node.parentElement)
        if (getComputedStyle(node).opacity < 1) watch.faded += 1;
    });
    if (JSON.stringify(axes()) !== first) watch.moved += 1;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
"""


def track(page: Page, name: str) -> Locator:
    return page.locator(f'[data-name="{name}"] input[type=range]')


def typed(page: Page, name: str) -> Locator:
    return page.locator(f'[data-name="{name}"] .pv-value input')


def readout(page: Page, label: str) -> Locator:
    return page.locator(".pv-lamp").filter(has=page.get_by_text(label, exact=True)).locator("dd")


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def grip(page: Page, name: str) -> tuple[float, float]:
    """Where the thumb of a handle is."""
    box = track(page, name).bounding_box()
    assert box
    share = float(track(page, name).evaluate("node => node.value"))
    return box["x"] + 8 + (box["width"] - 16) * share, box["y"] + box["height"] / 2


def test_a_deep_link_is_the_very_first_request_to_a_server(
    browser: Browser, cold_address: str
) -> None:
    for tab in visit(browser, cold_address):
        page = tab.open("/playground?position=2000&rope_type=yarn&factor=16")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(typed(page, "position")).to_have_value("2,000")
        expect(typed(page, "factor")).to_have_value("16")
        expect(readout(page, "attention factor on cos and sin")).to_contain_text("1.277")
        assert urlsplit(page.url).path == "/playground"


def test_handles_and_pictures_are_in_view_without_scrolling(tab: Visit) -> None:
    page = tab.open()
    for selector in [f'[data-name="{name}"]' for name in HANDLES] + [
        f'[data-key="{key}"]' for key in [*PICTURES, "lamps", "caption"]
    ]:
        box = page.locator(selector).bounding_box()
        assert box, selector
        assert box["x"] >= 0, selector
        assert box["x"] + box["width"] <= 1440, selector
        assert box["y"] >= 0, selector
        assert box["y"] + box["height"] <= 900, selector


# The head's slope moves ALiBi's curves and the slope among the readouts beneath the clocks; the
# pair and the shift belong to the clocks and the readouts alone.
FOLLOW = {name: PICTURES for name in HANDLES[:4]} | {
    "head": ["lamps", *PICTURES[1:]], "pair": ["rotations"], "shift": ["lamps"],
}  # fmt: skip


@pytest.mark.paced
def test_all_pictures_follow_while_a_handle_is_dragged(tab: Visit) -> None:
    page = tab.open("/playground?position=12000&head=28")
    for handle, pictures in FOLLOW.items():
        x, y = grip(page, handle)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 4, y)
        page.wait_for_timeout(400)
        page.evaluate(WATCH, pictures)
        for step in range(30):  # 1 s, 30 moves a second, to and fro over 90 pixels
            page.mouse.move(x - 4 - 90 * (1 - abs(step / 15 - 1)), y)
            page.wait_for_timeout(1000 / 30)
        watch = page.evaluate("watch.on = false, watch")
        page.mouse.up()
        # The head has 32 values, so it cannot change oftener than the mouse passes one.
        least = 10 if handle != "head" else 4
        assert min(watch["changes"]) >= least, (handle, watch)
        assert watch["blank"] == watch["faded"] == watch["moved"] == 0, (handle, watch)


RESTS = """async (node) => {
  let [box, since] = ["", 0];
  while (performance.now() - since < 500) {
    const { x, y, width } = node.getBoundingClientRect();
    if (box !== `${x} ${y} ${width}`) [box, since] = [`${x} ${y} ${width}`, performance.now()];
    await new Promise(requestAnimationFrame);
  }
}"""
ORDER = """() => {
  const { fetch } = window;
  window.order = "";
  window.fetch = (url, ...more) => {
    if (String(url).includes("live/view")) order += "?";
    return fetch(url, ...more);
  };
  addEventListener("input", () => (order += "="), { capture: true });
}"""


@pytest.mark.parametrize("zoom", [1, 1.15])  # as present mode has it
@pytest.mark.parametrize(
    ("link", "name"), [("/playground", "position"), ("/rope?part=pair", "q_position")]
)
def test_a_question_leaves_before_the_frame_in_which_the_handle_moves(
    tab: Visit, link: str, name: str, zoom: float
) -> None:
    page = tab.go(link)
    tab.still()
    page.locator(".stMainBlockContainer").evaluate("(node, zoom) => (node.style.zoom = zoom)", zoom)
    track(page, name).evaluate(RESTS)
    x, y = grip(page, name)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 5, y)
    tab.drawn()
    page.evaluate(ORDER)
    for step in range(1, 9):
        page.mouse.move(x + 5 + 9 * step, y)
        page.wait_for_function(f"order.length >= {2 * step}")
        tab.drawn()
    # For each movement a question, then the native handle's word, which needs no second one.
    assert page.evaluate("order") == 8 * "?="
    page.mouse.up()
    tab.still()


def test_a_release_puts_the_value_into_the_link_and_leaves_no_history(tab: Visit) -> None:
    page = tab.open()
    entries = page.evaluate("history.length")
    x, y = grip(page, "position")
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(10):
        page.mouse.move(x + 4 * step, y)
    page.mouse.up()
    page.wait_for_function("location.search.includes('position=')")
    shown = typed(page, "position").input_value()
    assert query(page) == {"position": shown.replace(",", "")}
    assert page.evaluate("history.length") == entries
    page.reload()
    expect(typed(page, "position")).to_have_value(shown)


def test_plotly_draws_the_value_that_stays(tab: Visit) -> None:
    page = tab.open("/playground?head=20")
    chart = page.locator('[data-key="attention"]')
    track(page, "head").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('[data-key="attention"].is-quick', state="attached")
    expect(chart).not_to_have_class(re.compile("is-quick"))
    slope = page.evaluate(
        """() => { const {x, y} = document.querySelector('[data-key="attention"]')._fullData
            .find(({name}) => name === 'ALiBi'); return -y[100] / x[100]; }"""
    )
    assert slope == pytest.approx(2 ** (-21 / 4), rel=1e-5)


ENDS = {
    "position": ("0", "32,768"), "rope_theta": ("10", "1,000,000,000"), "head_dim": ("2", "256"),
    "factor": ("1", "64"), "head": ("1", "32"), "pair": ("0", "63"), "shift": ("0", "100,000"),
}  # fmt: skip


def test_keys_reach_both_ends_and_every_picture_stays(tab: Visit) -> None:
    page = tab.open()
    # The dimension last: its ends take pairs away from the handle of the pair.
    for handle in sorted(ENDS, key="head_dim".__eq__):
        track(page, handle).focus()
        for key, end in zip(("Home", "End"), ENDS[handle], strict=True):
            page.keyboard.press(key)
            expect(typed(page, handle)).to_have_value(end)
            page.wait_for_function(f"location.search.includes('{handle}={end.replace(',', '')}')")
            for picture in PICTURES:
                expect(page.locator(f'[data-key="{picture}"] svg').first).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_arrows_step_and_pages_leap(tab: Visit) -> None:
    page = tab.open()
    track(page, "position").focus()
    for key, value in (("ArrowRight", "1,025"), ("PageUp", "1,725"), ("ArrowLeft", "1,724")):
        page.keyboard.press(key)
        expect(typed(page, "position")).to_have_value(value)
    assert track(page, "position").get_attribute("aria-valuetext") == "1,724 tokens"


def test_a_number_can_be_typed_and_a_wrong_one_is_told(tab: Visit) -> None:
    page = tab.open()
    typed(page, "rope_theta").fill("1e6")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search === '?rope_theta=1000000'")
    typed(page, "rope_theta").fill("one")
    page.keyboard.press("Enter")
    problem = page.locator('[data-name="rope_theta"] [role=alert]')
    expect(problem).to_have_text("Base must be a number from 10 to 1,000,000,000, got one")
    expect(typed(page, "rope_theta")).to_have_value("1,000,000")


def test_what_is_no_value_is_not_bent_into_one(tab: Visit) -> None:
    page = tab.open()
    for handle, text, says in (
        ("factor", "1,5", "got 1,5"), ("head_dim", "3", "in steps of 2, got 3"),
        ("position", "12.7", "got 12.7"), ("position", "0x10", "got 0x10"),
        ("position", "$&", "$&"),
    ):  # fmt: skip
        typed(page, handle).fill(text)
        page.keyboard.press("Enter")
        problem = page.locator(f'[data-name="{handle}"] [role=alert]')
        expect(problem).to_contain_text(says)
        track(page, handle).focus()
        page.keyboard.press("ArrowRight")
        expect(problem).to_have_count(0)


def test_a_value_told_twice_counts_twice(tab: Visit) -> None:
    page = tab.open()
    for _ in range(2):
        typed(page, "position").fill("5000")
        page.keyboard.press("Enter")
        page.wait_for_function("location.search.includes('position=5000')")
        page.wait_for_timeout(400)  # Streamlit has been told
        page.get_by_role("combobox", name="Model").click()
        page.get_by_role("option", name="Llama-2-7b", exact=True).click()
        page.wait_for_function("!location.search.includes('position')")
        expect(typed(page, "position")).to_have_value("1,024")
        page.get_by_role("combobox", name="Model").click()
        page.get_by_role("option", name="Llama-3.1-8B-Instruct").click()
        page.wait_for_function("!location.search.includes('model')")


def test_a_choice_made_while_a_handle_plays_reaches_the_pictures(tab: Visit) -> None:
    page = tab.open()
    page.get_by_role("button", name="Play: Position").click()
    page.wait_for_timeout(300)
    page.get_by_role("radio", name="YaRN").click()
    expect(readout(page, "attention factor on cos and sin")).to_contain_text("1.208")
    page.get_by_role("button", name="Pause: Position").click()
    page.wait_for_function("location.search.includes('rope_type=yarn&position=')")


def test_markdown_in_a_link_stays_text(tab: Visit) -> None:
    page = tab.open(
        "/playground?position=%5B**a**%5D(http://b.example)![x](http://b.example/c.png)"
    )
    expect(page.get_by_text("got '[**a**](http://b.example)![x](http://b.…'")).to_be_visible()


def test_play_moves_a_handle_until_it_is_paused(tab: Visit) -> None:
    page = tab.open()
    page.get_by_role("button", name="Play: Position").click()
    page.wait_for_function(
        "document.querySelector('[data-name=position] .pv-value input').value !== '1,024'"
    )
    page.get_by_role("button", name="Pause: Position").click()
    shown = typed(page, "position").input_value()
    page.wait_for_function("location.search.includes('position=')")
    expect(typed(page, "position")).to_have_value(shown)


def test_a_model_moves_all_handles_and_yarn_keeps_its_own_keys(tab: Visit) -> None:
    page = tab.open("/playground?position=3000&head=9&factor=3")
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="gpt-oss-20b").click()
    for handle, value in (
        ("rope_theta", "150,000"), ("head_dim", "64"), ("factor", "32"), ("head", "3"),
    ):  # fmt: skip
        expect(typed(page, handle)).to_have_value(value)
    expect(readout(page, "attention factor on cos and sin")).to_contain_text("1.347")
    # Pair 10 stands inside the ramp, which without truncation begins at 8.09 and ends at 17.40:
    # its wavelength is 303.4 tokens; with the ends rounded it would be 315.8.
    track(page, "pair").focus()
    page.keyboard.press("Home")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".pv-enlarged")).to_contain_text("Pair 10")
    plain = 150_000 ** (-20 / 64)
    ramp = (10 - 8.092779) / (17.397970 - 8.092779)
    wavelength = 2 * 3.141592653589793 / (plain * (1 - ramp) + plain / 32 * ramp)
    expect(page.locator(".pv-enlarged")).to_contain_text(f"{wavelength:.0f} tokens a turn")


def test_a_clock_that_is_clicked_is_enlarged_and_linked(tab: Visit) -> None:
    page = tab.open()
    page.locator('[data-set="pair=17"]').click()
    expect(page.locator(".pv-enlarged")).to_contain_text("Pair 17")
    page.wait_for_function("location.search === '?pair=17'")
    expect(typed(page, "pair")).to_have_value("17")


def test_switches_change_the_picture_and_the_link(tab: Visit) -> None:
    page = tab.open()
    page.get_by_role("radio", name="softmax weights").click()
    page.wait_for_function("location.search === '?show=weights'")
    expect(page.locator('[data-key="attention"] .ytitle')).to_have_text("weight")
    page.get_by_role("radio", name="linear").click()
    page.wait_for_function("location.search === '?axis=linear&show=weights'")
    page.get_by_role("radio", name="YaRN").click()
    expect(readout(page, "attention factor on cos and sin")).to_contain_text("1.208")


# What the parameters say of each wrong value is tested without a browser.
WRONG = {
    "head_dim=7": "head_dim must be even, because its dimensions come in pairs, got 7",
    "positon=5": "'positon' is not a parameter of this page",
    "position=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E": "got '<img src=x onerror=alert(1)>'",
}


def test_a_wrong_link_gets_a_sentence_and_the_default(tab: Visit) -> None:
    for link, sentence in WRONG.items():
        page = tab.open(f"/playground?{link}&pair=5")
        expect(page.get_by_text(sentence)).to_be_visible()
        expect(page.get_by_text("Traceback")).to_have_count(0)
        expect(page.locator(".pv-enlarged")).to_contain_text("Pair 5")  # the rest counts
        page.wait_for_function("location.search === '?pair=5'")


def test_a_method_that_cannot_be_says_why(tab: Visit) -> None:
    page = tab.open("/playground?rope_type=ntk&head_dim=2")
    sentence = page.get_by_text("NTK scaling needs a rotary_dim of at least 4")
    expect(sentence).to_be_visible()
    track(page, "head_dim").focus()
    page.keyboard.press("ArrowRight")
    expect(sentence).to_have_count(0)


def test_a_phone_needs_no_sideways_scroll_and_keeps_the_handles(tab: Visit) -> None:
    page = tab.page
    page.set_viewport_size(NARROW)
    tab.open()
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.stMain *')].filter((node) => {
          const box = node.getBoundingClientRect();
          return box.width && box.right > innerWidth + 1 && !node.closest('svg, .modebar');
        }).map((node) => node.className)"""
    )
    assert wide == []
    page.locator('[data-key="extrapolation"]').scroll_into_view_if_needed()
    for name in HANDLES:
        expect(track(page, name)).to_be_in_viewport()
    rows = {round(box["y"]) for name in HANDLES if (box := track(page, name).bounding_box())}
    assert len(rows) == 2


def test_the_dark_theme_recolours_charts_and_drawings(dark_tab: Visit, tab: Visit) -> None:
    ink = {}
    for name, one in (("dark", dark_tab), ("light", tab)):
        page = one.open()
        ink[name] = page.evaluate(
            """() => ['[data-key="attention"] .js-line:last-child', '.pv-hand'].map(
              (selector) => getComputedStyle(document.querySelector(selector)).stroke)"""
        )
    assert ink["dark"] == ["rgb(149, 157, 166)", "rgb(155, 211, 245)"] or all(
        a != b for a, b in zip(ink["dark"], ink["light"], strict=True)
    )


def test_pictures_have_text_alternatives_with_numbers(tab: Visit) -> None:
    page = tab.open()
    for words in (
        "Attention by distance: RoPE with q = k: 11.3 at 0, 5.18 at 8,192 tokens",
        "Usable context with Llama 3: 65,536 tokens",
    ):
        expect(page.get_by_role("figure", name=re.compile(words))).to_have_count(1)
    # The clocks are one tab stop; the chosen one has it.
    clocks = page.get_by_role("button", name=re.compile(r"^Pair \d+: "))
    expect(clocks).to_have_count(16)
    stops = clocks.evaluate_all("nodes => nodes.filter((node) => node.tabIndex === 0).length")
    assert stops == 1
    page.locator('[aria-pressed="true"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pv-enlarged")).to_contain_text("Pair 29")


def test_the_hand_drawn_chart_looks_like_plotly_s(tab: Visit) -> None:
    page = tab.open("/playground?position=9000&rope_type=dynamic&head=28")
    # Keep the hand-drawn picture from giving way to Plotly's, then let it.
    page.evaluate(
        """() => { const later = window.setTimeout;
          window.resting = [];
          window.setTimeout = (act, ms, ...rest) =>
            ms === 160 ? window.resting.push(act) : later(act, ms, ...rest); }"""
    )
    track(page, "head").focus()
    page.keyboard.press("ArrowRight")
    for key in ("attention", "extrapolation"):
        chart = page.locator(f'[data-key="{key}"]')
        expect(chart).to_have_class(re.compile("is-quick"))
        by_hand = chart.screenshot()
        page.evaluate("window.resting.splice(0).forEach((act) => act())")
        expect(chart).not_to_have_class(re.compile("is-quick"))
        by_plotly = chart.screenshot()
        share = page.evaluate(DIFFERENCE, [list(by_hand), list(by_plotly)])
        assert share < 0.002, key
        page.keyboard.press("ArrowRight")


# Share of pixels of either picture that the other has nowhere within a pixel: lines that are
# antialiased in other places count nothing, a missing or shifted one does.
DIFFERENCE = """
async (pictures) => {
  const [a, b] = await Promise.all(pictures.map(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.getContext("2d").getImageData(0, 0, image.width, image.height);
  }));
  const { width, height } = a;
  const apart = (one, i, other, j) => Math.abs(one.data[i] - other.data[j])
    + Math.abs(one.data[i + 1] - other.data[j + 1]) + Math.abs(one.data[i + 2] - other.data[j + 2]);
  let differ = 0;
  for (const [one, other] of [[a, b], [b, a]])
    for (let y = 1; y < height - 1; y++)
      for (let x = 1; x < width - 1; x++) {
        const at = 4 * (y * width + x);
        let nearest = apart(one, at, other, at);
        for (let dy = -1; dy <= 1 && nearest > 150; dy++)
          for (let dx = -1; dx <= 1; dx++)
            nearest = Math.min(nearest, apart(one, at, other, at + 4 * (dy * width + dx)));
        if (nearest > 150) differ += 1;
      }
  return differ / (width * height);
}
"""


def test_no_box_moves_while_a_handle_is_dragged(tab: Visit) -> None:
    page = tab.open()
    boxes = """() => [...document.querySelectorAll('[data-name], [data-key]')].map((node) => {
        const { x, y, width } = node.getBoundingClientRect();
        return [node.dataset.name ?? node.dataset.key, x, y, width].join(); })"""
    for handle in ("position", "head", "rope_theta", "head_dim"):
        before = page.evaluate(boxes)
        x, y = grip(page, handle)
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(12):
            page.mouse.move(x + (-1) ** step * 8 * step, y)
            page.wait_for_timeout(60)
            assert page.evaluate(boxes) == before, handle
        page.mouse.up()
        page.wait_for_timeout(500)


def test_a_handle_that_another_one_limits_follows_at_once(tab: Visit) -> None:
    page = tab.open()
    x, y = grip(page, "head_dim")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 110, y)
    last = int(typed(page, "head_dim").input_value()) // 2 - 1
    assert last < 35
    expect(typed(page, "pair")).to_have_value(str(last))
    expect(page.locator(".pv-enlarged")).to_contain_text(f"Pair {last}")
    page.mouse.up()


def test_search_is_reached_by_a_key_and_gone_through_with_arrows(tab: Visit) -> None:
    page = tab.open()
    before = page.url
    page.locator("body").press("/")
    line, found = page.locator("#pv-search"), page.locator("#pv-search-found")
    expect(line).to_be_focused()
    expect(found.get_by_role("link", name="Config doctor")).to_be_visible()  # all pages
    line.press_sequentially("dekay", delay=20)
    expect(found.get_by_role("status")).to_contain_text("the nearest known word is “decay”")
    line.fill("cache")
    first, second = (found.get_by_role("link").nth(n) for n in (0, 1))
    expect(first).to_have_attribute("href", "rope?part=cache")
    expect(second).to_have_attribute("href", "scaling?part=cache")
    for key, focused in (("ArrowDown", first), ("ArrowDown", second), ("ArrowUp", first)):
        page.keyboard.press(key)
        expect(focused).to_be_focused()
    page.keyboard.press("Escape")
    expect(line).to_be_focused()
    page.keyboard.press("Escape")
    expect(line).to_have_value("")
    page.keyboard.press("Escape")
    expect(found).not_to_be_visible()
    assert page.url == before  # what is typed leaves no trace in the page's link
    line.fill("mscale_all_dim")
    page.keyboard.press("Enter")
    page.wait_for_url("**/scaling?model=DeepSeek-V2-Lite")
    expect(page.locator("[data-key] .js-line").first).to_be_attached()


def test_a_tab_keeps_the_state_of_a_page_and_links_unfold_prose_and_lead_home(tab: Visit) -> None:
    page = tab.go("/claims?answers=f", "verdict")
    expect(tab.text("score")).to_contain_text("1 of 1 right")
    page.locator(".pv-home").click()
    page.wait_for_url(f"{tab.address}/")
    expect(page.locator('[data-key="rotations"] svg').first).to_be_attached()
    expect(page.get_by_role("dialog")).to_have_count(0)  # "Page not found"
    tab.go("/claims#read=Words", "verdict")  # a new session, and no query
    page.wait_for_function("location.search === '?answers=f'")
    words = page.locator("details", has=page.locator("summary", has_text="Words"))
    expect(words).to_have_attribute("open", "")
    tab.go("/claims?claim=2", "question")  # an address that asks for a state has it
    expect(page.locator("[role=radio][aria-checked=true]")).to_have_count(0)
