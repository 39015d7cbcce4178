"""Fewer bits over all parameters, without a browser."""

from __future__ import annotations

import base64
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, precision, presets, rope
from posviz.figures import precision as pictures
from posviz.figures import style
from posviz.figures.style import number, plain_text
from posviz.precision import Casts
from posviz.views.precision import (
    END,
    HANDLES,
    HELD,
    LOOKS,
    MODELS,
    PARTS,
    SHORT,
    TOP,
    VIEW,
    look,
)  # fmt: skip
from tests.ui.views import any_values, content, numbers


def drawn(part: str, **changed: object) -> dict[str, dict[str, Any]]:
    values, problems = VIEW.read({"part": part})
    assert not problems
    return content(VIEW.draw(**(values | changed)))


def words(slot: dict[str, Any]) -> str:
    return re.sub(r"<[^>]*>", "", plain_text(slot["markup"]))


def cells(slot: dict[str, Any]) -> dict[str, list[str]]:
    """Text of each row of a table by its label."""
    body = plain_text(slot["markup"].partition("<tbody>")[2])
    rows = [re.sub(r"</t[hd]>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]
    told = [re.sub(r"<[^>]*>", "", row).split("|") for row in rows]
    return {row[0]: row[1:-1] for row in told}


@given(data=st.data())
def test_every_curve_is_a_line(data: st.DataObject) -> None:
    for slot in content(VIEW.draw(**any_values(data.draw, VIEW))).values():
        for trace in slot["figure"]["data"] if "figure" in slot else ():
            assert trace["mode"].startswith("lines")


def test_each_part_has_its_handles_and_they_are_all_declared() -> None:
    declared = VIEW.declared(VIEW.read({})[0])
    assert HANDLES.keys() == PARTS.keys()
    for names in HANDLES.values():
        assert all(isinstance(declared[name], params.Number) for name in names)


@pytest.mark.parametrize(
    ("query", "name"),
    [({"part": "bits"}, "part"), ({"dtype": "float32"}, "dtype"), ({"model": "bert"}, "model"),
     ({"held": "none"}, "held"), ({"position": "0"}, "position"), ({"distance": "128"}, "distance"),
     ({"position": "5", "distance": "6"}, "distance"), ({"around": "3"}, "around"),
     ({"pair": "64"}, "pair"), ({"model": "gpt-neox-20b", "pair": "12"}, "pair"),
     ({"part": "angles", "position": str(TOP + 1)}, "position")],
)  # fmt: skip
def test_a_wrong_value_is_told(query: dict[str, str], name: str) -> None:
    values, problems = VIEW.read(query)
    assert [name in str(problem) for problem in problems] == [True]
    assert VIEW.read(VIEW.query(values)) == (values, [])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("position", [257, 20_000_000, TOP])
def test_a_position_survives_each_part_and_dtype(part: str, dtype: str, position: int) -> None:
    """Choices are written into the state one after the other, as the page does."""
    state: dict[str, str] = {}
    for name, value in (("position", str(position)), ("part", part), ("dtype", dtype),
                        ("part", "positions"), ("dtype", "bfloat16")):  # fmt: skip
        state = VIEW.query(VIEW.follow(state | {name: value}))
        content(VIEW.draw(**VIEW.follow(state)))
    assert state == {"position": str(position)}


def test_dtypes_and_roundings_have_colours_that_nobody_mixes_up() -> None:
    """Names of their own, and apart for the colour-blind: Viénot 1999, CIELAB, both themes."""
    looks = [*(kind[0] for kind in LOOKS.values()), *(look(w, "bfloat16")[0] for w in HELD[1:-1])]
    assert len(set(looks)) == len(looks) == 6
    for theme, ground in enumerate(style.COLOURS["ground"]):
        shades = {name: linear(style.COLOURS[name][theme]) for name in looks}
        paper = linear(ground)
        for name, shade in shades.items():
            dark, light = sorted(float(one @ LUMINANCE) for one in (shade, paper))
            assert (light + 0.05) / (dark + 0.05) >= 3.0, name
        for one, other in itertools.combinations(shades, 2):
            for seen_by in (np.eye(3), PROTANOPE, DEUTERANOPE):
                apart = lab(seen_by @ shades[one]) - lab(seen_by @ shades[other])
                assert np.linalg.norm(apart) > 18, (one, other, theme)


LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
PROTANOPE = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
DEUTERANOPE = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])


def linear(shade: str) -> Any:
    """Linear RGB of #rrggbb."""
    rgb = np.array([int(shade[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: Any) -> Any:
    """CIELAB of linear RGB."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], LUMINANCE, [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ rgb, 0) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Positions.


@pytest.mark.parametrize(
    "position", [1, 256, 257, 258, 2049, 15_962, 65_519, 1_000_003, 2**24, TOP]
)
def test_the_table_and_the_captions_are_the_core_s(position: int) -> None:
    slots = drawn("positions", position=position, distance=1)
    for column, dtype in enumerate(("float32", "bfloat16", "float16")):
        told = [row[column] for row in cells(slots["table"]).values()]
        exact = f"{precision.last_exact_position(dtype):,}"
        assert told[:2] == [str(precision.SIGNIFICANT_BITS[dtype]), exact]
        if position > precision.last_position(dtype):
            assert told[2:] == ["too large", "–", "–", "–", "–"]
            continue
        held, key = (int(precision.rounded(dtype, at)) for at in (position, position - 1))
        first, last = precision.sharing(dtype, position)
        ahead = precision.spacing(dtype, position)
        assert (ahead is None) == (dtype == "float16" and position >= 65_489)
        assert told[2:] == [
            f"{held:,}", f"{last - first + 1:,}", f"{ahead:,}" if ahead else "–", f"{held - key:,}",
            f"{precision.distinct_positions(dtype, position + 1):,}",
        ]  # fmt: skip
    held = int(precision.bfloat16(position))
    first, last = precision.sharing("bfloat16", position)
    if first == last:
        alone = "place of its own here" if position < 256 else "itself; its neighbours share"
        assert alone in words(slots["verdict"])
    else:
        tokens = f"{last - first + 1:,} tokens stand on the same place: {held:,}."
        assert tokens in words(slots["verdict"])
        assert f"bfloat16 holds {first:,}–{last:,} all as {held:,}." in words(slots["caption"])
    apart = held - int(precision.bfloat16(position - 1))
    seen = {1: "at its distance", 0: "on the query’s own place"}.get(apart, f"seen {apart:,} back")
    assert seen in words(slots["caption"])


def test_the_ruler_shows_each_number_over_its_positions() -> None:
    slots = drawn("positions", position=257, around=4)
    assert "In bfloat16, 3 tokens" not in words(slots["verdict"])
    shown = [
        [(int(count), label) for count, label in re.findall(r"grow:(\d+)\"><em>(.*?)</em>", row)]
        for row in slots["ruler"]["markup"].split('class="pv-precision-row"')[1:]
    ]
    singles = [(1, f"{at}") for at in range(253, 262)]
    # 257 goes to the even 256, 259 to 260, 261 to 260.
    assert shown == [
        singles,
        [(1, "253"), (1, "254"), (1, "255"), (2, "256"), (1, "258"), (3, "260")],
        singles,
    ]
    assert slots["ruler"]["markup"].count('data-set="position=') == 9


def test_float16_ends_and_says_so() -> None:
    ruler = words(drawn("positions", position=65_519)["ruler"])
    assert "65,504" in ruler
    assert "too large" in ruler


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_the_chart_counts_numbers(dtype: precision.Dtype) -> None:
    traces = drawn("positions")["distinct"]["figure"]["data"]
    (trace,) = [one for one in traces if one["name"] == dtype]
    lengths = numbers(trace["x"])
    assert lengths[-1] == min(TOP, precision.last_position(dtype) + 1)
    few = lengths[lengths < 70_000].astype(int)
    held = precision.rounded(dtype, np.arange(few[-1]))
    expected = [len(np.unique(held[:length])) for length in few]
    np.testing.assert_array_equal(numbers(trace["y"])[: len(few)], expected)


# Angles.


def test_the_defaults_are_the_numbers_of_the_report() -> None:
    told = words(drawn("angles")["hands"])
    assert "cos 15,962 = −0.9080cos 15,936 = −0.2680" in told
    assert math.cos(15962) == pytest.approx(-0.9080, abs=5e-5)
    assert math.cos(15936) == pytest.approx(-0.2680, abs=5e-5)


WAYS = {
    "float32": lambda d: Casts(),
    "tables": lambda d: Casts("float32", "float32", "float32", d),
    "inv_freq": lambda d: Casts("float32", d, "float32", d),
    "positions": lambda d: Casts(d, "float32", "float32", d),
    "all": lambda d: Casts(d, d, d, d),
}


@pytest.mark.parametrize("held", WAYS)
@pytest.mark.parametrize(
    ("dtype", "model", "pair", "position"),
    [("bfloat16", "Llama-2-7b-hf", 0, 15_962), ("float16", "Meta-Llama-3-8B", 17, 60_001),
     ("bfloat16", "gpt-neox-20b", 11, 1)],
)  # fmt: skip
def test_the_ways_and_their_verdict_are_the_core_s(
    held: str, dtype: precision.Dtype, model: str, pair: int, position: int
) -> None:
    slots = drawn("angles", held=held, dtype=dtype, model=model, pair=pair, position=position)
    rotary = presets.main_rotary(model)
    assert rotary is not None
    theta = float(rotary.rope.inv_freq[pair])
    for row, way in zip(cells(slots["ways"]).values(), WAYS, strict=True):
        casts = WAYS[way](dtype)
        (angle,) = precision.cast_angles(casts, position, [theta])
        (cos,) = precision.cast_cosines(casts, position, [theta])
        exact = math.cos(position * theta)
        off, error = (
            plain_text(number(float(abs(one)))) for one in (angle - position * theta, cos - exact)
        )
        assert row == [off, f"{cos:.4f}".replace("-", "−"), error]
        if way == held:
            assert error in words(slots["verdict"])
            angles = precision.cast_angles(casts, position, rotary.rope.inv_freq)
            away = int((np.cos(angles - position * rotary.rope.inv_freq) < 0).sum())
            for told in (words(slots["caption"]), slots["by_pair"]["alt"]):
                assert f"{away} of {len(angles)} pairs point more than a quarter turn" in told
            # The largest error over all positions: the last point of the line, and the caption.
            (line,) = [one for one in slots["errors"]["figure"]["data"]
                       if one["line"]["width"] > 3]  # fmt: skip
            end = int(numbers(line["x"])[-1]) + 1
            (most,) = precision.worst_cosine_errors(casts, theta, [end])
            assert numbers(line["y"])[-1] == pytest.approx(max(most, pictures.FAINTEST))
            told = f"off by up to {plain_text(number(float(most)))}; with only"
            assert told in words(slots["caption"])


@pytest.mark.parametrize(
    ("position", "held", "count"),
    [(15_962, "all", 11), (99_999, "inv_freq", 18), (65_535, "inv_freq", 12)],
)
def test_whole_turns_are_no_error_of_a_hand(position: int, held: str, count: int) -> None:
    slots = drawn("angles", position=position, held=held)
    assert f"{count} of 64 pairs point more than a quarter turn" in words(slots["caption"])
    assert f"{count} of 64 pairs point more than a quarter turn" in slots["by_pair"]["alt"]


@pytest.mark.parametrize("held", ["positions", "all"])
def test_a_position_that_float16_lacks_is_told_and_the_rest_is_shown(held: str) -> None:
    lacks = "float16 has no number for position 65,520: from 65,520 on"
    slots = drawn("angles", dtype="float16", position=65_520, held=held)
    assert lacks in words(slots["verdict"])
    assert lacks in words(slots["caption"])
    assert "cos 65,520 = " in words(slots["hands"])
    told = list(cells(slots["ways"]).values())
    assert told[3:] == [["–", "–", "–"]] * 2
    assert all("–" not in row for row in told[:3])
    shifted = drawn("invariance", dtype="float16", position=65_520)
    assert lacks in words(shifted["verdict"])
    assert list(cells(shifted["table"]).values())[3] == ["–", "–", "–"]
    assert list(shifted["maps"]["rasters"]) == ["tables"]


def test_a_position_past_the_chart_is_marked_at_its_end() -> None:
    layout = drawn("angles", position=20_000_000)["errors"]["figure"]["layout"]
    assert [shape["x0"] for shape in layout["shapes"]] == [END]
    assert layout["annotations"][0]["text"] == "20,000,000 →"


def test_large_angles_carry_the_note_on_fast_sines() -> None:
    assert "past 48,039" in words(drawn("angles", position=48_040)["caption"])
    assert "past 48,039" not in words(drawn("angles", position=48_039)["caption"])


# Shifting both.


@pytest.mark.parametrize(
    ("dtype", "model", "position", "distance"),
    [("bfloat16", "Llama-2-7b-hf", 15_962, 16), ("float16", "gemma-2b", 65_519, 127),
     ("bfloat16", "gpt-neox-20b", 3, 2), ("bfloat16", "Meta-Llama-3-8B", 131_071, 0),
     ("bfloat16", "Llama-2-7b-hf", TOP, 127)],
)  # fmt: skip
def test_scores_and_their_spread_are_the_core_s(
    dtype: precision.Dtype, model: str, position: int, distance: int
) -> None:
    slots = drawn("invariance", dtype=dtype, model=model, position=position, distance=distance)
    rotary = presets.main_rotary(model)
    assert rotary is not None
    theta = rotary.rope.inv_freq
    ones = np.ones(2 * len(theta))
    start = min(max(position - 48, 0), min(TOP, precision.last_position(dtype)) - 95)
    at = np.arange(max(start, distance), start + 96)
    kinds = [("float64", "float64"), ("float32", "float32"), (dtype, "float32"), (dtype, dtype)]
    spreads, errors = [], []
    right = math.nan
    for row, (vectors, turned) in zip(cells(slots["table"]).values(), kinds, strict=True):
        query = precision.rotate_in(vectors, np.tile(ones, (len(at), 1)), at, theta,
                                    angle_dtype=turned)  # type: ignore[arg-type]  # fmt: skip
        key = precision.rotate_in(vectors, np.tile(ones, (len(at), 1)), at - distance, theta,
                                  angle_dtype=turned)  # type: ignore[arg-type]  # fmt: skip
        scores = (query * key).sum(axis=1) / len(ones)
        assert row[0] == f"{scores[position - at[0]]:.4f}".replace("-", "−")
        right = scores if vectors == "float64" else right
        spreads.append(float(np.ptp(scores)))
        errors.append(float(abs(scores - right).max()))
        for cell, value in zip(row[1:], (errors[-1], spreads[-1]), strict=True):
            if value > 1e-7:  # below, the order of the sum decides
                assert cell == plain_text(number(value))
    told = words(slots["caption"])
    assert f"At positions {at[0]:,}–{at[-1]:,} it is off by up to" in told
    assert f"off by up to {plain_text(number(errors[2]))} if only vectors" in told
    off, moves = (plain_text(number(one[3])) for one in (errors, spreads))
    assert f"too it is off by up to {off}, and moves by {moves}." in told
    # A column of each map, one byte a cell from -1 to 1; 0 where the key is before position 0.
    for way, angle_dtype in (("tables", "float32"), ("all", dtype)):
        raster = slots["maps"]["rasters"][way]
        shown = np.frombuffer(base64.b64decode(raster["cells"]), np.uint8).reshape(96, 128)
        column = shown[96 - len(at) :, distance]
        (scores,) = precision.relative_scores(
            dtype, ones, ones, at, [distance], theta, angle_dtype=angle_dtype
        ).T  # type: ignore[arg-type]
        np.testing.assert_allclose((column - 1.0) / 127 - 1, scores / len(ones), atol=1 / 127)
        assert (shown[: 96 - len(at), distance] == 0).all()
    verdict = words(slots["verdict"])
    assert f"at positions {at[0]:,}–{at[-1]:,}" in verdict
    assert ("scores as it should" in verdict) == (errors[3] <= 0.01)
    for trace in slots["flat"]["figure"]["data"]:
        assert numbers(trace["x"])[0] >= distance


def test_scores_that_are_alike_and_wrong_are_called_wrong() -> None:
    """All keys on the query's place: no spread at all, and 0.9992 for 0.3620."""
    slots = drawn("invariance", position=131_071, distance=127)
    assert words(slots["verdict"]) == (
        "Distance 127 scores 0.9992 at positions 131,023–131,118, where 0.3620 is right."
    )
    assert "off by up to 0.637, and moves by 0." in words(slots["caption"])


@given(st.integers(300, TOP), st.integers(0, 127), st.sampled_from(MODELS))
def test_no_verdict_praises_a_wrong_score(position: int, distance: int, model: str) -> None:
    slots = drawn("invariance", position=position, distance=distance, model=model)
    rotary = presets.main_rotary(model)
    assert rotary is not None
    right = np.cos(distance * rotary.rope.inv_freq).mean()
    verdict = words(slots["verdict"])
    here = float(cells(slots["table"])["bfloat16, angles too"][0].replace("−", "-"))
    assert not (abs(here - right) > 0.01 and "as it should" in verdict)
    if abs(here - right) > 0.1:
        assert re.search("One distance|is right", verdict), verdict
    if distance == 0:  # both on the same number
        assert "as it should" in verdict


def test_float64_is_flat_and_only_rounded_positions_break_it() -> None:
    slots = drawn("invariance")
    by_name = {
        trace["name"]: np.ptp(numbers(trace["y"])[numbers(trace["x"]) <= END])
        for trace in slots["flat"]["figure"]["data"]
    }
    assert by_name["float64"] < 1e-6  # sent in float32
    assert by_name["all in float32"] < 1e-3
    assert by_name["bfloat16, angles in float32"] < 0.01
    assert by_name["bfloat16, angles too"] > 0.5


def test_the_prose_is_the_core_s() -> None:
    """What content/en/precision.md says in numbers."""
    assert [precision.last_exact_position(d) for d in ("bfloat16", "float16", "float32")] == [
        256, 2048, 16_777_216,
    ]  # fmt: skip
    assert precision.rounded("float16", precision.last_position("float16")) == 65_504
    assert precision.bfloat16([255, 256, 257, 258]).tolist() == [255, 256, 256, 258]
    assert precision.spacing("bfloat16", 65_536) == 512
    theta = rope.inv_freq(128, 10_000.0)
    (last,) = precision.worst_cosine_errors(Casts(tables="bfloat16"), 1.0, [END + 1])
    assert 0.0019 < last < 0.002
    (far,) = precision.worst_cosine_errors(Casts(), float(theta[1]), [END + 1])
    assert far > 0.005
    assert 26 / (2 * math.pi) == pytest.approx(4, abs=0.2)
    share = abs(precision.bfloat16(theta) - theta) / theta
    assert 1 / 512 < share.max() <= 1 / 256


# Formulas.


@pytest.mark.parametrize("position", [256, 257, 511, 512, 15_962, 65_535, TOP])
def test_the_spacing_formula_is_the_core_s(position: int) -> None:
    held = int(precision.bfloat16(position))
    e = held.bit_length() - 1
    assert pictures.SPACING.value(e=e, p=8) == precision.spacing("bfloat16", position)


@given(st.sampled_from(MODELS), st.integers(0, 127))
def test_the_score_formula_is_the_core_s(model: str, distance: int) -> None:
    rotary = presets.main_rotary(model)
    assert rotary is not None
    theta, d = rotary.rope.inv_freq, rotary.rope.rotary_dim
    value = pictures.FLAT.value(delta=distance, b=rotary.rope.rope_theta, d=d, half=d // 2)
    q = rope.rotate(np.ones(d), 5_000, theta)
    k = rope.rotate(np.ones(d), 5_000 - distance, theta)
    assert value == pytest.approx(q @ k / d, abs=1e-9)


@given(st.integers(1, END), st.floats(1e-6, 1.0))
def test_the_cosine_formula_is_the_core_s(position: int, theta: float) -> None:
    (phi,) = precision.cast_angles(Casts("bfloat16", "bfloat16", "bfloat16"), position, [theta])
    cos = precision.cast_cosines(
        Casts("bfloat16", "bfloat16", "bfloat16", "float64"), position, [theta]
    )
    found = pictures.COSINE.value(phi=float(phi), m=position, theta_i=theta)
    assert found == pytest.approx(abs(float(cos[0]) - math.cos(position * theta)), abs=1e-12)
