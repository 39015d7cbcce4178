"""The page of scaling methods over all its parameters, without a browser."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import cache_timeline, extrapolation, hf_config, params, presets, rope_units
from posviz.figures import scaling as pictures
from posviz.figures.style import number
from posviz.rope import RoPE
from posviz.rope_scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    Ntk,
    RopeScaling,
    Yarn,
    effect,
    yarn_mscale,
)  # fmt: skip
from posviz.ui import live
from tests.server import ROOT
from tests.ui.views import any_values, content, numbers

PAGE = str(ROOT / "pages/long_context/scaling.py")
CHARTS = {
    "spectrum": {"spectrum", "ratios", "ramps"}, "angles": {"shares"},
    "attention": {"same", "learned"}, "cache": {"timeline", "scores", "errors"},
    "units": {"products"}, "take": set(),
}  # fmt: skip
LLAMA = RoPE(128, 500_000.0)


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    app = AppTest.from_file(PAGE).run(timeout=60)
    assert not app.exception
    return live._views["scaling"]


def drawn(view: live.View, **query: str) -> dict[str, Any]:
    values, problems = view.read(query)
    assert not problems
    return content(view.draw(**values))


def words(markup: str) -> str:
    """What a reader sees, without formulas and tags."""
    return re.sub(r"<[^>]+>", "", re.sub(r"<math>.*?</math>", "", markup))


def plot(slots: dict[str, Any], key: str, name: str) -> np.ndarray:
    """The curve of that name."""
    (trace,) = (one for one in slots[key]["figure"]["data"] if one["name"] == name)
    return numbers(trace["y"])


def rows(markup: str) -> dict[str, list[str]]:
    """Cells of a table by the words of their first one."""
    found = {}
    for row in re.findall(r"<tr.*?</tr>", markup)[1:]:
        cells = [words(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        found[cells[0]] = cells[1:]
    return found


@given(data=st.data())
def test_each_part_has_a_caption_and_its_charts(view: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, view)
    slots = content(view.draw(**values))
    assert slots["caption"]["markup"]
    assert {key for key, slot in slots.items() if "figure" in slot} <= CHARTS[values["part"]]


def test_both_ends_of_every_handle_draw_each_part(view: live.View) -> None:
    declared = view.declared(view.read({})[0]).values()
    handles = [one for one in declared if isinstance(one, params.Number)]
    for part, charts in CHARTS.items():
        for one in handles:
            for end in (one.low, one.high):
                values = view.follow({"part": part, one.name: one.write(end)})
                slots = content(view.draw(**values))
                found = {key for key, slot in slots.items() if "figure" in slot}
                small = one.name == "rotary_dim" and part == "cache"
                assert found == charts or small, (part, one.name, end)


# ----------------------------------------------------------------------- released models, exactly


def models(view: live.View) -> tuple[str, ...]:
    parameter = view.declared(view.read({})[0])["model"]
    assert isinstance(parameter, params.Choice)
    return parameter.options


def test_each_model_s_defaults_are_its_own_frequencies_and_attention_factor(
    view: live.View,
) -> None:
    assert len(models(view)) > 50
    scaled = 0
    for model in models(view):
        own = next(
            one
            for one in hf_config.read(presets.config(model)).rotary
            if one.layer_type in (None, "full_attention")
        )
        if own.scaling.rope_type == "default":
            continue
        scaled += 1
        values, problems = view.read({"model": model, "show": "inv_freq"})
        assert not problems
        assert set(view.query(values)) <= {"model", "show"}
        inv_freq, size = own.scaling.frequencies(own.rope, values["seq_len"])
        slots = content(view.draw(**values))
        pinned = slots["spectrum"]["figure"]["data"][-1]
        np.testing.assert_allclose(numbers(pinned["y"]), inv_freq, rtol=1e-6, err_msg=model)
        cells = rows(slots["table"]["markup"])[pinned["name"]]
        assert cells[3:5] == [f"{size:.4f}", f"{size**2:.4f}"], model
    assert scaled >= 15


def test_llama_3_1_keeps_29_pairs_blends_6_and_stretches_29(view: live.View) -> None:
    slots = drawn(view)
    table = rows(slots["table"]["markup"])
    assert table["Llama 3"] == ["29", "6", "29", "1.0000", "1.0000", "65,536"]
    assert table["PI"][:3] == ["0", "0", "64"]
    assert table["NTK"][:3] == ["1", "62", "1"]
    assert "keeps 29 of 64 pairs, stretches 29 and blends 6" in slots["caption"]["markup"]
    assert "not YaRN" in slots["caption"]["markup"]
    strip = slots["strip"]["markup"]
    kinds = re.findall(r'class="is-(\w+)" data-set="pair=(\d+)"', strip)
    kind = effect(Llama3(8.0, 8192), LLAMA).kind
    assert [one for one, _ in kinds] == kind.tolist()
    assert [int(pair) for _, pair in kinds] == list(range(64))


def test_gpt_oss_has_a_ramp_without_rounding_and_llama_2_one_from_20_to_46(view: live.View) -> None:
    slots = drawn(view, model="gpt-oss-20b")
    assert "from pair 8.0928 to 17.398" in slots["ramps:head"]["markup"]
    assert "multiplied by 1.3466" in slots["caption"]["markup"]
    slots = drawn(view, model="Yarn-Llama-2-7b-64k", ramp="both")
    plain = RoPE(128)
    code, paper = (Yarn(16.0, 4096, ramp_over=over) for over in ("pairs", "turns"))
    theirs, ours = paper.frequencies(plain)[0], code.frequencies(plain)[0]
    most = float((abs(theirs - ours) / ours).max())
    assert f"from pair 20 to 46; the paper’s up to {number(100 * most)} % away" in words(
        slots["ramps:head"]["markup"]
    )
    told = plot(slots, "spectrum", "YaRN, the paper’s ramp")
    np.testing.assert_allclose(told, 2 * math.pi / theirs, rtol=1e-6)


@given(st.floats(1, 64), st.integers(128, 131072), st.floats(1e3, 1e8), st.integers(2, 128))
def test_the_table_is_the_core_s(
    view: live.View, factor: float, trained: int, theta: float, half: int
) -> None:
    length = min(round(factor * trained), 1 << 24)
    slots = drawn(
        view, factor=str(factor), original_max_position_embeddings=str(trained),
        rope_theta=str(theta), rotary_dim=str(2 * half), seq_len=str(length), pinned="yarn",
        methods="linear,ntk,dynamic,yarn,llama3", pair="0",
    )  # fmt: skip
    plain = RoPE(2 * half, theta)
    methods: dict[str, RopeScaling] = {
        "PI": Linear(factor), "NTK": Ntk(factor), "dynamic NTK": DynamicNtk(factor, trained),
        "YaRN": Yarn(factor, trained), "Llama 3": Llama3(factor, trained),
    }  # fmt: skip
    table = rows(slots["table"]["markup"])
    for name, method in methods.items():
        found = effect(method, plain, length)
        size = method.frequencies(plain, length)[1]
        usable = extrapolation.usable_context(plain, method, trained)
        told = "no limit" if math.isinf(usable) else number(math.floor(usable * (1 + 1e-9)))
        assert table[name] == [
            *(str(int((found.kind == kind).sum())) for kind in pictures.KINDS),
            f"{size:.4f}", f"{size**2:.4f}", told,
        ], name  # fmt: skip
        np.testing.assert_allclose(plot(slots, "ratios", name), found.ratio, rtol=1e-6)
        np.testing.assert_allclose(plot(slots, "spectrum", name), found.wavelength_after, rtol=1e-6)
    assert f"multiplied by {yarn_mscale(factor):.4f}" in slots["caption"]["markup"] or factor == 1


@pytest.mark.parametrize(("length", "which"), [(4096, "short"), (4097, "long")])
def test_longrope_switches_behind_the_trained_context(
    view: live.View, length: int, which: str
) -> None:
    slots = drawn(view, model="Phi-3.5-mini-instruct", seq_len=str(length))
    assert f"takes its {which} list" in slots["caption"]["markup"]
    searched = presets.record("Phi-3.5-mini-instruct")["rope"][f"{which}_factor"]
    np.testing.assert_allclose(plot(slots, "ratios", "LongRoPE"), searched, rtol=1e-6)
    assert rows(slots["table"]["markup"])["LongRoPE"][3] == "1.1902"


def test_dynamic_ntk_is_plain_up_to_the_trained_context(view: live.View) -> None:
    for length, kept in (("8192", "64"), ("8193", "1")):
        slots = drawn(view, pinned="dynamic", seq_len=length)
        assert rows(slots["table"]["markup"])["dynamic NTK"][0] == kept


def test_lists_of_another_dimension_are_told_and_left_out(view: live.View) -> None:
    slots = drawn(view, pinned="longrope", methods="yarn,longrope")
    assert "64 here, got 48; its lists fit a rotary dim of 96" in slots["notice"]["markup"]
    assert "48" in rows(slots["table"]["markup"])["LongRoPE"][0]
    assert "LongRoPE" not in {one["name"] for one in slots["spectrum"]["figure"]["data"]}


def test_another_model_moves_every_handle_and_leaves_the_part() -> None:
    app = AppTest.from_file(PAGE)
    app.query_params.update({"part": "angles", "factor": "3", "pinned": "ntk"})
    app.run(timeout=60)
    next(box for box in app.selectbox if box.key == "scaling:model").select("gpt-oss-20b").run()
    assert not app.exception
    assert app.session_state["posviz:scaling"] == {"part": "angles", "model": "gpt-oss-20b"}


def test_deepseek_s_attention_factor_is_a_ratio(view: live.View) -> None:
    slots = drawn(view, model="DeepSeek-V2-Lite", mscale="1", mscale_all_dim="0.5")
    above, below = yarn_mscale(40.0, 1.0), yarn_mscale(40.0, 0.5)
    assert rows(slots["table"]["markup"])["YaRN"][3] == f"{above / below:.4f}"
    assert f"<mn>{above:.4g}</mn>" in slots["caption"]["markup"]
    alone = drawn(view, model="DeepSeek-V2-Lite", mscale="0.5", mscale_all_dim="0")
    assert rows(alone["table"]["markup"])["YaRN"][3] == f"{above:.4f}", "one alone is ignored"


# ----------------------------------------------------------------------------- angles, attention


@given(st.floats(1, 64), st.integers(2, 1 << 20), st.integers(0, 63))
def test_unseen_angles_are_the_core_s(
    view: live.View, factor: float, length: int, pair: int
) -> None:
    slots = drawn(view, part="angles", pinned="ntk", factor=str(factor), seq_len=str(length),
                  pair=str(pair))  # fmt: skip
    scaled = Ntk(factor).frequencies(LLAMA)[0]
    before, after = (
        int(extrapolation.unseen(LLAMA, one, 8192, length).sum())
        for one in (LLAMA.inv_freq, scaled)
    )
    caption = words(slots["caption"]["markup"])
    assert (
        f"{before} of them at {number(length)} tokens without scaling, {after} with NTK" in caption
    )
    if 8192 * LLAMA.inv_freq[pair] < 2 * math.pi:
        share = 100 * length * scaled[pair] / (8192 * LLAMA.inv_freq[pair])
        assert f"{words(number(share))} % of them" in caption
    maps = slots["rasters"] if "rasters" in slots else slots["maps"]["rasters"]
    cells = maps["ntk"]
    assert cells["rows"] == 64
    assert cells["columns"] == -(-length // -(-length // 512)) <= 512


@settings(max_examples=4)
@given(st.floats(1, 64), st.integers(1, 256))
def test_a_learned_distance_is_followed_as_the_core_has_it(
    view: live.View, factor: float, looked_for: int
) -> None:
    slots = drawn(view, part="attention", factor=str(factor), distance=str(looked_for),
                  pinned="linear", methods="yarn")  # fmt: skip
    peaks = {}
    for name, method in (("PI", Linear(factor)), ("YaRN", Yarn(factor, 8192))):
        inv_freq, size = method.frequencies(LLAMA)
        behind = np.arange(float(pictures.FARTHEST))[:, None]
        scores = np.cos(behind * inv_freq - looked_for * LLAMA.inv_freq).sum(axis=-1)
        peaks[name] = int(scores.argmax())
        top = plot(slots, "learned", name).max()
        assert top == pytest.approx(2 * size**2 * scores.max() / math.sqrt(128), rel=1e-5)
    caption = words(slots["caption"]["markup"])
    assert f"With PI it looks {number(peaks['PI'])} back" in caption
    assert f"YaRN {number(peaks['YaRN'])}." in caption


def test_scores_without_distance_have_the_square_of_the_attention_factor(view: live.View) -> None:
    slots = drawn(view, part="attention", model="gpt-oss-20b")
    assert plot(slots, "same", "none")[0] == pytest.approx(math.sqrt(64))
    assert plot(slots, "same", "YaRN")[0] == pytest.approx(math.sqrt(64) * 1.3465735903**2)


# ------------------------------------------------------------------------------------------ cache


@given(
    st.integers(2, 40_000), st.data(), st.sampled_from(["huggingface", "stateless", "vllm"]),
    st.sampled_from(cache_timeline.POLICIES),
)  # fmt: skip
def test_the_cache_s_numbers_are_the_core_s(
    view: live.View, total: int, data: st.DataObject, engine: Any, policy: Any
) -> None:
    prompt = data.draw(st.integers(1, total))
    slots = drawn(view, part="cache", total=str(total), prompt=str(prompt), engine=engine,
                  policy=policy)  # fmt: skip
    line = cache_timeline.Timeline(
        LLAMA, DynamicNtk(8.0, 8192), prompt, total, 1, engine, policy
    )  # fmt: skip
    errors = line.errors()
    largest, where = errors.largest
    note = words(slots["scores:head"]["markup"])
    assert f"{words(number(largest))} at distance {number(where)}, q = k" in note
    looked = f"of {number(len(errors.distance))} keys looked at"
    assert (looked in note) == (len(errors.distance) < total)
    caption = words(slots["caption"]["markup"])
    assert ("no score is off" in caption) == (largest < 1e-6)
    first = line.base([0])[0]
    assert f"base {words(number(float(first)))} for the first key" in words(
        slots["timeline:head"]["markup"]
    )


def test_what_is_measured_of_a_cache_is_the_worst_of_all_keys(view: live.View) -> None:
    query = {"part": "cache", "model": "Llama-2-7b-hf", "prompt": "1000", "total": "9001",
             "factor": "3", "step": "7"}  # fmt: skip
    assert view.measure
    *_, last = view.measure(**view.read(query)[0])
    # Every key and query by itself, from the formula of dynamic NTK.
    at = np.arange(9001)
    length = np.where(at < 1000, 1000, np.minimum(1000 + 7 * -((999 - at) // 7), 9001))
    stretch = 3 * np.maximum(length, 4096) / 4096 - 2
    inv_freq = (10_000.0 * stretch ** (128 / 126))[:, None] ** (-np.arange(0, 128, 2) / 128)
    cached = 2 * np.cos(9000 * inv_freq[-1] - at[:, None] * inv_freq).sum(-1) / np.sqrt(128)
    right = 2 * np.cos((9000 - at[:, None]) * inv_freq[-1]).sum(-1) / np.sqrt(128)
    worst = int(np.argmax(abs(cached - right)))
    note = words(content(last)["scores:head"]["markup"])
    largest = words(number(float(abs(cached - right)[worst])))
    assert f"largest error {largest} at distance {number(9000 - worst)}, q = k" in note
    assert list(view.measure(**view.read({"part": "spectrum"})[0])) == []


def test_longrope_s_cache_has_two_lists_and_a_consistent_one_no_error(view: live.View) -> None:
    query = {"part": "cache", "model": "Phi-3.5-mini-instruct", "total": "6000", "prompt": "100"}
    slots = drawn(view, **query)
    assert (
        "short list for the first key, long list for the query" in slots["timeline:head"]["markup"]
    )
    places = plot(slots, "timeline", "cached key")
    assert set(places.tolist()) == {0.0, 1.0}
    for policy in ("unrotated", "recomputed"):
        assert "no score is off" in words(drawn(view, **query, policy=policy)["caption"]["markup"])


# ------------------------------------------------------------------------------------------ units


@given(st.sampled_from([one.name for one in rope_units.UNITS]), st.floats(1, 64))
def test_conversions_are_the_core_s(view: live.View, unit: str, factor: float) -> None:
    knob = rope_units.unit(unit)
    declared = view.declared(view.read({"unit": unit})[0])["value"]
    assert isinstance(declared, params.Number)
    value = float(declared.parse(repr(knob.value(factor, LLAMA))))
    slots = drawn(view, part="units", unit=unit, value=repr(value), stack="default")
    table = rows(slots["knobs"]["markup"])
    for one in rope_units.conversions(unit, value, LLAMA, 8192):
        (cells,) = (
            cells for name, cells in table.items() if name == one.unit.name + one.unit.engine
        )
        shown = cells[0].removeprefix("≈ ")
        assert float(shown.replace(",", "")) == pytest.approx(one.value, rel=1e-5)
        assert cells[0].startswith("≈") != one.same
        (button,) = re.findall(
            rf'data-set="(unit={re.escape(one.unit.name)}&amp;[^"]*)"', slots["knobs"]["markup"]
        )
        turned = view.follow(dict(parse_qsl(unescape(button))))
        assert turned["unit"] == one.unit.name
        assert turned["value"] == pytest.approx(one.value, rel=1e-12)
        assert cells[1] == number(math.floor(one.usable * (1 + 1e-9)))


def test_alpha_4_reads_less_than_4_times_and_scalings_multiply(view: live.View) -> None:
    slots = drawn(view, part="units")
    caption = words(slots["caption"]["markup"])
    assert "Alpha 4 reads 2.16 times the trained context" in caption
    assert "the slowest pair turns 8 × 4 = 32 times slower" in caption
    both = plot(slots, "products", "both")
    first, second = (effect(one, LLAMA).ratio for one in (Llama3(8.0, 8192), Ntk(4.0)))
    np.testing.assert_allclose(both, first * second, rtol=1e-6)
    assert "multiply" not in drawn(view, part="units", stack="default")["caption"]["markup"]


# -------------------------------------------------------------------------------------- take away


@pytest.mark.parametrize("pinned", ["default", "linear", "ntk", "dynamic", "yarn", "llama3"])
def test_what_is_taken_away_gives_the_same_frequencies_again(view: live.View, pinned: str) -> None:
    app = AppTest.from_file(PAGE)
    app.query_params.update({"part": "take", "pinned": pinned, "style": "rope_scaling"})
    app.run(timeout=60)
    assert not app.exception
    blocks = {block.language: block.value for block in app.code}
    flags = [block.value for block in app.code if block.language == "bash"]
    assert any(text.startswith("--rope-scaling") for text in flags) == (
        pinned in ("default", "linear", "ntk", "yarn")
    )
    assert any(text.startswith("vllm serve") for text in flags) == (pinned != "dynamic")
    offered = {button.label for button in app.get("download_button")}
    assert offered == {"Download config.json", "Download Python", "Download CSV"}
    values, _ = view.read({"part": "spectrum", "pinned": pinned, "show": "inv_freq"})
    shown = numbers(content(view.draw(**values))["spectrum"]["figure"]["data"][-1]["y"])
    made: dict[str, Any] = {}
    exec(blocks["python"], made)
    np.testing.assert_allclose(made["inv_freq"], shown, rtol=1e-6)
    config = json.loads(blocks["json"])
    (rotary,) = hf_config.read(config).rotary
    again = rotary.scaling.frequencies(rotary.rope, values["seq_len"])[0]
    np.testing.assert_allclose(again, shown, rtol=1e-6)


def test_a_model_s_own_setting_is_taken_away_with_its_own_context(view: live.View) -> None:
    for model, context in (("Llama-3.1-8B-Instruct", 131072), ("Phi-3.5-mini-instruct", 131072)):
        app = AppTest.from_file(PAGE)
        app.query_params.update({"part": "take", "model": model})
        app.run(timeout=60)
        config = json.loads(next(block.value for block in app.code if block.language == "json"))
        assert config["max_position_embeddings"] == context
        (rotary,) = hf_config.read(config).rotary
        released = presets.reading(model).rotary[0]
        for length in (4096, 131072):
            mine, own = rotary.frequencies(length), released.frequencies(length)
            np.testing.assert_allclose(mine[0], own[0], rtol=1e-12)
            assert mine[1] == pytest.approx(own[1], rel=1e-12)


# -------------------------------------------------------------------------------------- formulas


@given(st.floats(1, 64), st.integers(128, 131072), st.floats(1e3, 1e8), st.integers(2, 128),
       st.data())  # fmt: skip
def test_the_formulas_are_the_core_s(
    factor: float, trained: int, theta: float, half: int, data: st.DataObject
) -> None:
    i, plain = data.draw(st.integers(0, half - 1)), RoPE(2 * half, theta)
    usual = {"b": theta, "i": i, "d": 2 * half}

    def same(value: float, right: float) -> None:
        assert value == pytest.approx(right, rel=1e-9, abs=1e-12)

    same(pictures.PLAIN.value(**usual), plain.inv_freq[i])
    same(pictures.LINEAR.value(**usual, s=factor), Linear(factor).frequencies(plain)[0][i])
    same(pictures.NTK.value(**usual, s=factor), Ntk(factor).frequencies(plain)[0][i])
    length = data.draw(st.integers(trained, 10**7))
    dynamic = DynamicNtk(factor, trained)
    stretch = pictures.DYNAMIC.value(f=factor, l=length, L=trained)
    same(stretch, dynamic.stretch(length))
    same(pictures.NTK.value(**usual, s=stretch), dynamic.frequencies(plain, length)[0][i])
    yarn, llama3 = Yarn(factor, trained, truncate=False), Llama3(factor, trained)
    low, high = yarn.correction_range(plain)
    if low < high:
        ramp = pictures.OVER_PAIRS.value(i=i, low=low, high=high)
        same(ramp, yarn.ramp(plain)[i])
    same(pictures.BLEND.value(**usual, r=yarn.ramp(plain)[i], s=factor),
         yarn.frequencies(plain)[0][i])  # fmt: skip
    ends = (pictures.TURNING_PAIR.value(d=2 * half, L=trained, b=theta, t=t) for t in (32.0, 1.0))
    same(max(next(ends), 0.0), low)
    end = next(ends)
    if 0 < end < 2 * half - 1 and end != low:
        same(end, high)
    turns = trained * plain.inv_freq[i] / (2 * math.pi)
    same(pictures.OVER_TURNS.value(t=turns, low=1.0, high=4.0), llama3.ramp(plain)[i])
    same(pictures.YARN_FACTOR.value(k=0.7, s=factor), yarn_mscale(factor, 0.7))
    same(pictures.YARN_RATIO.value(m_above=yarn_mscale(factor, 0.7), m_below=yarn_mscale(factor)),
         Yarn(factor, trained, mscale=0.7, mscale_all_dim=1.0).frequencies(plain)[1])  # fmt: skip
    searched = LongRope((2.0,) * half, (3.0,) * half, trained, factor)
    inv_freq, size = searched.frequencies(plain, trained + 1)
    same(pictures.LONGROPE.value(**usual, e=3.0), inv_freq[i])
    same(pictures.LONGROPE_FACTOR.value(s=factor, L=trained), size)
    same(pictures.GAIN.value(m=size), size**2)
    same(pictures.ALPHA.value(b=theta, s=factor, d=2 * half),
         rope_units.unit("rope_theta").value(factor, plain))  # fmt: skip
