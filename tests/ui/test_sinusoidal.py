"""The sinusoidal page's view over all its parameters, without a browser."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import measured, params, sinusoidal
from posviz.figures import sinusoidal as pictures
from posviz.figures.style import number, tokens
from posviz.ui import live
from tests.ui.views import content, numbers, view_of

PARTS = ("table", "counter", "distance", "beyond")
bases = st.floats(2.0, params.ROPE_THETA.high)
widths = st.integers(1, 128).map(lambda pairs: 2 * pairs)


@pytest.fixture(scope="module")
def page() -> live.View:
    """The view, registered by running the page once."""
    return view_of("sinusoidal")


def drawn(page: live.View, **query: object) -> dict[str, dict]:
    """Pictures of a link that says nothing wrong."""
    values, problems = page.read({name: str(value) for name, value in query.items()})
    assert not problems
    return content(page.draw(**values))


def test_an_odd_width_is_told_why(page: live.View) -> None:
    (problem,) = page.read({"d_model": "7"})[1]
    assert str(problem).startswith("d_model must be even")


# ---------------------------------------------------------------------------------- the table


@given(st.integers(16, 300), widths, bases, st.sampled_from(sinusoidal.LAYOUTS),
       st.sampled_from(["paper", "tensor2tensor"]), st.data())  # fmt: skip
def test_the_table_says_what_the_core_says(
    page: live.View, seq_len: int, d_model: int, base: float, layout: sinusoidal.Layout,
    spacing: sinusoidal.Spacing, data: st.DataObject,
) -> None:  # fmt: skip
    p = data.draw(st.integers(0, seq_len - 1))
    j = data.draw(st.integers(0, d_model - 1))
    slots = drawn(page, seq_len=seq_len, d_model=d_model, base=repr(base), layout=layout,
                  spacing=spacing, position=p, dimension=j)  # fmt: skip
    table = sinusoidal.table(seq_len, d_model, base, layout, spacing)
    value, waves = float(table[p, j]), 2 * math.pi / sinusoidal.inv_freq(d_model, base, spacing)
    pair = j // 2 if layout == "interleaved" else j % (d_model // 2)
    assert f"dimension {j}: {number(round(value, 4))}<" in slots["table:head"]["markup"]
    assert f"dimension {j} it says {value:.4f}" in slots["table"]["markup"]
    clocks = slots["clocks"]["markup"]
    assert f"<b>Pair {pair}</b>" in clocks
    assert f"{number(waves[pair])} tokens a turn" in clocks
    assert f"sine {number(round(math.sin(p * 2 * math.pi / waves[pair]), 4))}" in clocks
    head = slots["clocks:head"]["markup"]
    assert f"wavelengths from 6.28 to {number(waves[-1])} tokens" in head
    reaches = math.isclose(waves[-1], 2 * math.pi * base, rel_tol=1e-9)
    if d_model > 2:
        assert ("which is 2π × base" in head) == (spacing == "tensor2tensor") == reaches
        assert ("never 2π × base" in head) == (spacing == "paper")
    sizes = re.findall(r"<span>([^<]+)</span></button>", clocks)
    assert set(sizes) <= {tokens(wave) for wave in waves}
    assert len(sizes) == min(16, d_model // 2)


def test_the_map_holds_the_table_and_moves_its_handles(page: live.View) -> None:
    slots = drawn(page, seq_len=16, d_model=8)
    raster = slots["table"]
    for axis in ("title", "under"):
        assert f'class="pv-heat-{axis}"' in raster["markup"]
    assert 'data-row="position" data-column="dimension"' in raster["markup"]
    values, _ = page.read({"seq_len": "16", "d_model": "8"})
    (_, told), *_ = page.draw(**values)["table"].rasters
    shown = numbers(content({"raster": told})["raster"]["values"])
    np.testing.assert_allclose(shown, sinusoidal.table(16, 8).ravel(), atol=1e-6)


def test_a_click_on_a_clock_chooses_the_pairs_sine(page: live.View) -> None:
    for layout in sinusoidal.LAYOUTS:
        markup = drawn(page, d_model=8, layout=layout)["clocks"]["markup"]
        chosen = [int(n) for n in re.findall(r'data-set="dimension=(\d+)"', markup)]
        assert chosen == sinusoidal.columns(8, layout)[0].tolist()


@given(st.integers(0, 2047), widths, bases, st.sampled_from(["paper", "tensor2tensor"]))
def test_formulas_of_the_table_are_the_core_s(
    p: int, d: int, b: float, spacing: sinusoidal.Spacing
) -> None:
    sines, cosines = sinusoidal.columns(d, "halves")
    row = sinusoidal.encoding(p, d, b, "halves", spacing)
    frequencies = sinusoidal.inv_freq(d, b, spacing)
    for i in {0, d // 4, d // 2 - 1}:
        names = {"i": i, "b": b, "d": d, "m": max(d // 2 - 1, 1)}
        wave = pictures.WAVELENGTH[spacing].value(**names)
        assert wave == pytest.approx(2 * math.pi / frequencies[i], rel=1e-9)
        for kind, column in (("sine", sines[i]), ("cosine", cosines[i])):
            found = pictures.ENTRY[kind, spacing].value(p=p, **names)
            assert found == pytest.approx(row[column], abs=1e-9)


# -------------------------------------------------------------------------------- the counter


def test_the_counter_begins_with_a_ratio_of_two_where_all_is_exact(page: live.View) -> None:
    for spacing, base in (("paper", "64"), ("tensor2tensor", "32")):
        caption = drawn(page, part="counter", spacing=spacing)["caption"]["markup"]
        assert "is negative: 64 of 64 positions" in caption
        assert f"with base {base} its wavelengths double" in caption
        assert "⌊p/π⌋ at 64 of 64 positions" in caption
        assert 'data-set="base=10000"' in caption


@given(st.integers(4, 8), bases, st.data())
def test_the_counter_counts_what_agrees(
    page: live.View, bits: int, base: float, data: st.DataObject
) -> None:
    p = data.draw(st.integers(0, 2**bits - 1))
    slots = drawn(page, part="counter", bits=bits, base=repr(base), position=p)
    frequencies = base ** (-np.arange(bits) / bits)
    alike = sum(
        all((math.sin(q * w) < 0) == (int(q / math.pi) >> i & 1) for i, w in enumerate(frequencies))
        for q in range(2**bits)
    )
    assert f"⌊p/π⌋ at {alike} of {2**bits} positions" in slots["caption"]["markup"]
    assert f"each pair {base ** (1 / bits):.6g} times slower" in slots["counter:head"]["markup"]
    assert f"{p} = {p:0{bits}b} in binary" in slots["digits:head"]["markup"]
    rows = re.findall(r"<tr><th>(\d+)</th>(.*?)</tr>", slots["digits"]["markup"])
    assert len(rows) == bits
    for i, cells in rows:
        period, wave, bit, wavelength, sine, sign, turned = re.findall(
            r"<td[^>]*>(.*?)</td>", cells
        )
        n, w = int(i), frequencies[int(i)]
        assert period == str(2 ** (n + 1))
        assert bit == str(p >> n & 1)
        assert wave == number(round(math.sin(math.pi * (p + 0.5) / 2**n), 3))
        assert wavelength == number(2 * math.pi / w)
        assert sine == number(round(math.sin(p * w), 3))
        assert sign == str(int(math.sin(p * w) < 0))
        assert turned == str(int(p / math.pi) >> n & 1)


@given(st.integers(0, 255), st.integers(0, 7))
def test_formulas_of_the_counter_are_the_core_s(p: int, i: int) -> None:
    wave = sinusoidal.bit_waves(p, 8)[i]
    assert pictures.BIT_WAVE.value(p=p, i=i) == pytest.approx(wave, abs=1e-12)
    assert pictures.HALF_TURNS.value(p=p) == sinusoidal.half_turns(p)


# ------------------------------------------------------------------- distance and the shift


@given(st.integers(-256, 256), widths, bases, st.sampled_from(sinusoidal.LAYOUTS),
       st.sampled_from(["paper", "tensor2tensor"]))  # fmt: skip
def test_distance_and_shift_say_what_the_core_says(
    page: live.View, k: int, d_model: int, base: float, layout: sinusoidal.Layout,
    spacing: sinusoidal.Spacing,
) -> None:  # fmt: skip
    slots = drawn(page, part="distance", shift=k, d_model=d_model, base=repr(base), layout=layout,
                  spacing=spacing, position=100, dimension=0)  # fmt: skip
    here, there = sinusoidal.encoding([100, 100 + k], d_model, base, layout, spacing)
    product = sinusoidal.dot_product(k, d_model, base, spacing)
    assert product == pytest.approx(float(here @ there), abs=1e-9)
    head = slots["product:head"]["markup"]
    assert f"{d_model // 2} = d/2 at 0; {number(round(float(product), 4))} at k = ±{abs(k)}" in head
    (trace,) = slots["product"]["figure"]["data"]
    x, y = numbers(trace["x"]), numbers(trace["y"])
    assert (x[0], x[-1], y[256]) == (-256, 256, 1.0)
    np.testing.assert_allclose(y, y[::-1], atol=1e-6)
    assert y[256 + k] == pytest.approx(float(product) / (d_model / 2), abs=1e-5)
    matrix = sinusoidal.shift_matrix(k, d_model, base, layout, spacing)
    mine = float(np.abs(there - matrix @ here).max())
    assert (
        f"PE[{100 + k}] = M<sub>k</sub> PE[100], largest residual {number(mine)}".replace("-", "−")
        in slots["moved:head"]["markup"]
    )
    widest = sinusoidal.shift_residual(k, 512, d_model, base, layout, spacing).max()
    assert f"it misses by at most {number(float(widest))}, " in slots["caption"]["markup"]
    # The label stands below the curve, clear of the peak at 0.
    (label,) = slots["product"]["figure"]["layout"]["annotations"]
    assert label["y"] < 0.2
    same_both_ways = f"the same at +{number(abs(k))} and −{number(abs(k))}: "
    assert (same_both_ways in slots["caption"]["markup"]) == (k != 0)
    mirrored = sinusoidal.dot_product(-k, d_model, base, spacing)
    assert mirrored == pytest.approx(float(product), abs=1e-9)
    assert widest < 1e-11


def test_the_shift_stays_while_the_position_moves(page: live.View) -> None:
    values, _ = page.read({"part": "distance"})
    first, second = (page.draw(**(values | {"position": p})) for p in (0, 300))
    assert first["matrix"] == second["matrix"]
    assert first["product"] == second["product"]
    assert first["moved"] != second["moved"]


def test_every_part_opens_at_the_same_width(page: live.View) -> None:
    assert {page.read({"part": part})[0]["d_model"] for part in PARTS} == {128}


def test_the_arches_are_whole_turns_between_neighbouring_pairs() -> None:
    # The first two pairs are a turn apart after so many rows, at any size of a pixel.
    first, second = sinusoidal.inv_freq(128)[:2]
    assert 40 < 2 * math.pi / (first - second) < 60


def test_the_block_is_the_matrix_s(page: live.View) -> None:
    caption = drawn(page, part="distance", d_model=4, shift=1, dimension=2)["caption"]["markup"]
    matrix = sinusoidal.shift_matrix(1, 4)[2:, 2:]
    told = [
        float(cell.replace("−", "-")) for cell in re.findall(r"<mn>(−?[\d.]+)</mn></math>", caption)
    ]
    np.testing.assert_allclose(told[:4], matrix.ravel(), atol=1e-4)


@given(st.integers(-256, 256), widths, bases)
def test_the_formula_of_the_product_is_the_core_s(k: int, d: int, b: float) -> None:
    found = pictures.PRODUCT.value(k=k, n=d // 2, theta=sinusoidal.inv_freq(d, b))
    assert found == pytest.approx(float(sinusoidal.dot_product(k, d, b)), abs=1e-9)


# ------------------------------------------------------------------------------ past training


@given(st.integers(0, 1023), st.integers(16, 1200), widths, bases,
       st.sampled_from(["paper", "tensor2tensor"]))  # fmt: skip
def test_past_training_says_what_the_core_says(
    page: live.View, p: int, trained: int, d_model: int, base: float, spacing: sinusoidal.Spacing
) -> None:
    slots = drawn(page, part="beyond", position=p, original_max_position_embeddings=trained,
                  d_model=d_model, base=repr(base), spacing=spacing, dimension=0)  # fmt: skip
    waves = 2 * math.pi / sinusoidal.inv_freq(d_model, base, spacing)
    slow, pairs = int((waves > trained).sum()), d_model // 2
    head = slots["clocks:head"]["markup"]
    several, s = ("1 pair", "s") if pairs == 1 else (f"{pairs} pairs", "s" if slow == 1 else "")
    if not slow:
        assert ("its only pair makes" if pairs == 1 else f"all {several} make") in head
    elif p >= trained:
        assert f"{slow} of {several} stand{s} at angles never met" in head
    else:
        assert f"{slow} of {several} make{s} no whole turn" in head
    likeness = float(sinusoidal.likeness_to_trained(p, trained, d_model, base, spacing))
    told = f"row {number(p)}: {100 * likeness:.0f} % like its nearest trained row"
    assert told in slots["likeness:head"]["markup"]
    caption, alike = slots["caption"]["markup"], f"{100 * likeness:.0f}" == "100"
    assert ("no row of training is more than" in caption) == (p >= trained and not alike)
    assert ("is 100 % like it" in caption) == (p >= trained and alike)
    assert ("drag position past" in caption) == (p < trained < 1024)
    assert ("give the table more than" in caption) == (p < trained and trained >= 1024)
    assert ("pv-sinusoidal-unseen" in slots["table"]["markup"]) == (trained < 1024)


@pytest.mark.parametrize(
    ("trained", "said"),
    [(16, "give the table more than 16 rows to look past it."),
     (2048, "set Trained below 16 to look past it.")],
)  # fmt: skip
def test_what_to_move_to_leave_training_can_be_moved(
    page: live.View, trained: int, said: str
) -> None:
    slots = drawn(page, part="beyond", seq_len=16, position=3,
                  original_max_position_embeddings=trained)  # fmt: skip
    assert said in slots["caption"]["markup"]


def test_the_measured_loss_is_the_lab_s(page: live.View) -> None:
    slots = drawn(page, part="beyond")
    found = measured.loss_share("names-sinusoidal")
    assert found is not None
    multiples, share = found
    trace = slots["likeness"]["figure"]["data"][1]
    np.testing.assert_allclose(numbers(trace["x"]), multiples, rtol=1e-6)
    np.testing.assert_allclose(numbers(trace["y"]), 100 * share, rtol=1e-5)
    caption = slots["caption"]["markup"]
    assert measured.reach("names-sinusoidal") == measured.TRAINED_LENGTH  # it breaks at the next
    lost = f"{100 * share[1]:.0f} % of the way"
    assert "tiny trained model: at 362 tokens, 1.4× its trained 256, its loss is " + lost in caption
    assert np.isclose(multiples[1] * 256, 362)
