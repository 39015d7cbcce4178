"""The released models' view over all its parameters, without a browser."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import alibi, hf_config, params, presets, relative, rope_scaling
from posviz.figures import models as pictures
from posviz.rope import RoPE
from posviz.ui import live
from tests.server import ROOT
from tests.ui.views import any_values, content, numbers, view_of

GOLDEN = json.loads((ROOT / "tests/golden/rope.json").read_text())
ROPE = [name for name in presets.names() if presets.rope_types(name)]
WITHOUT_LISTS = "Phi-3-mini-128k-instruct"
READABLE = [name for name in ROPE if name != WITHOUT_LISTS]


@pytest.fixture(scope="module")
def models() -> live.View:
    """The view, registered by running the page once."""
    app = AppTest.from_file(str(ROOT / "pages/long_context/models.py")).run(timeout=60)
    assert not app.exception
    return live._views["models"]


def drawn(view: live.View, **asked: object) -> dict[str, Any]:
    """The pictures of a link; with an empty gallery, which is quicker, unless it asks for one."""
    values, problems = view.read({"find": "~"} | {name: str(one) for name, one in asked.items()})
    assert not problems
    return content(view.draw(**values))


def facts(slots: dict[str, Any]) -> dict[str, str]:
    """What the single model's list says, by its label, without markup."""
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", slots["facts"]["markup"])
    return {label: told.replace("<sup>", "^").replace("</sup>", "") for label, told in pairs}


def value(told: str) -> float:
    """A number as the page writes it: 3.06893×10^−7, 131,072."""
    return float(told.replace("×10^", "e").replace("−", "-").replace(",", ""))


@given(data=st.data())
def test_a_model_has_a_spectrum_or_what_stands_instead(
    models: live.View, data: st.DataObject
) -> None:
    slots = models.draw(**any_values(data.draw, models))
    assert ("spectrum" in slots) != ("instead" in slots)


BESIDE = ("nothing", "gemma-4-e2b", "bloom (176B)", "t5-base", "gpt2", WITHOUT_LISTS)


@pytest.mark.parametrize("number", range(84))
def test_every_model_can_be_shown_to_its_ends(models: live.View, number: int) -> None:
    name, beside = presets.names()[number], BESIDE[number % len(BESIDE)]
    for seq_len in ("1", "16777216"):
        values, problems = models.read({"model": name, "beside": beside, "seq_len": seq_len})
        assert not problems
        pair = models.declared(values)["pair"]
        assert isinstance(pair, params.Number)
        slots = content(
            models.draw(**(values | {"pair": pair.low if seq_len == "1" else pair.high}))
        )
        assert ("unverified" in slots["title"]["markup"]) != presets.record(name)["verified"]


def rows(slots: dict[str, Any]) -> list[list[str]]:
    """The cells of the table of all pairs."""
    lines = re.findall(r"<tr[^>]*>(<td>.*?)</tr>", slots["pairs"]["markup"])
    return [re.findall(r"<td>(.*?)</td>", line) for line in lines]


@pytest.mark.parametrize("name", READABLE)
def test_the_frequencies_of_every_record_are_the_core_s(models: live.View, name: str) -> None:
    found = hf_config.read(presets.config(name)).rotary
    for seq_len in (4096, 131072):
        slots = drawn(models, model=name, seq_len=seq_len)
        main = next((one for one in found if one.layer_type == "full_attention"), found[0])
        inv_freq, attention_factor = main.frequencies(seq_len)
        effect = rope_scaling.effect(main.scaling, main.rope, seq_len)
        table = rows(slots)
        assert [int(row[0]) for row in table] == list(range(len(inv_freq)))
        assert [float(row[1]) for row in table] == pytest.approx(main.rope.inv_freq, rel=1e-8)
        assert [float(row[2]) for row in table] == pytest.approx(inv_freq, rel=1e-8)
        assert [row[4] for row in table] == effect.kind.tolist()
        said = facts(slots)
        ends = said["inv_freq, first and last"].split("; ")
        assert len(ends) == len(found)
        factor, gain = said["attention factor"].split(", scores × ")
        assert float(factor) == pytest.approx(attention_factor, rel=1e-5)
        assert float(gain) == pytest.approx(attention_factor**2, rel=1e-5)
        for told in ends:
            first, last = re.sub(r" \(.*", "", told).split(", ")
            kind = "sliding" if "sliding" in told else "full"
            one = next(r for r in found if r.layer_type in (None, f"{kind}_attention"))
            expected, _ = one.frequencies(seq_len)
            assert [value(first), value(last)] == pytest.approx(expected[[0, -1]], rel=1e-5)
        curve = slots["spectrum"]["figure"]["data"]
        waves = 2 * math.pi / inv_freq[inv_freq > 0]
        assert any(
            len(numbers(trace["y"])) == len(waves)
            and np.allclose(numbers(trace["y"]), waves, rtol=1e-6)
            for trace in curve
        )


def golden(rotary: hf_config.Rotary) -> list[dict[str, Any]]:
    """What other people's code says of the same RoPE with the same scaling."""
    found = []
    for case in GOLDEN:
        given, kind = case["params"], case["type"]
        kind = "default" if kind == "partial" else kind
        if kind != rotary.rope_type:
            continue
        plain = RoPE(given.get("dim", given.get("head_dim")), given["rope_theta"])
        known = {key: one for key, one in given.items() if one is not None}
        try:
            same = rope_scaling.scaling(kind, **known) == rotary.scaling
        except params.InvalidParameterError:
            continue
        if same and plain == rotary.rope:
            found.append(case)
    return found


def test_the_frequencies_are_the_golden_ones_where_there_are_some(models: live.View) -> None:
    held = set()
    for name in READABLE:
        rotary = presets.main_rotary(name)
        assert rotary is not None
        for case in golden(rotary):
            seq_len = case["params"].get("seq_len") or 1
            slots = drawn(models, model=name, seq_len=seq_len)
            shown = [float(row[2]) for row in rows(slots)]
            assert shown == pytest.approx(case["inv_freq"], rel=2e-6), case["id"]
            factor = float(facts(slots)["attention factor"].split(",")[0])
            assert factor == pytest.approx(case["attention_factor"], rel=1e-5), case["id"]
            held.add(name)
    assert len(held) > 35
    assert {
        "Llama-3.1-8B-Instruct", "Llama-4-Scout-17B-16E", "DeepSeek-V3 / R1 (671B)", "gpt-oss-20b",
        "Phi-3.5-mini-instruct", "Olmo-3.1-32B-Instruct", "gemma-3-4b-it", "gemma-4-e2b",
        "Yarn-Llama-2-7b-64k", "EXAONE-4.0-32B", "Kimi-K2-Instruct",
    } <= held  # fmt: skip


# Written here a second time: pairs kept, blended, stretched; without a whole turn; unseen at 128k.
PAIRS = {
    "Llama-3.1-8B-Instruct": (29, 6, 29, 29, 29),  # made for 8 x 8,192, read to 16 x 8,192
    "Llama-3.2-1B-Instruct": (15, 3, 14, 14, 0),
    "Llama-2-7b-hf": (64, 0, 0, 18, 18),
    "Yarn-Llama-2-7b-128k": (21, 25, 18, 18, 0),
    "Mistral-7B-v0.1": (64, 0, 0, 4, 0),  # its window ends before its trained context
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_caption_counts_the_pairs(models: live.View, name: str) -> None:
    kept, blended, stretched, slow, beyond = PAIRS[name]
    slots = drawn(models, model=name, seq_len=131072)
    for kind, count in (("kept", kept), ("blended", blended), ("stretched", stretched)):
        assert f"{kind} {count}<" in slots["strip"]["markup"]
    caption = slots["caption"]["markup"]
    assert f">As trained, {slow} of {kept + blended + stretched} pairs lie above" in caption
    assert f"<b>{beyond}</b> of them" in caption
    told = facts(slots)
    assert told["pairs without a whole turn in training"].startswith(f"{slow} of ")
    assert told["of these at unseen angles at n"] == str(beyond)


@pytest.mark.parametrize("name", ["internlm2_5-7b", "Phi-3.5-mini-instruct"])
def test_frequencies_that_go_by_the_length_follow_the_handle(models: live.View, name: str) -> None:
    trained = presets.trained_context(name)
    assert trained is not None
    within, beyond = (drawn(models, model=name, seq_len=n) for n in (trained, trained + 1))
    assert rows(within) != rows(beyond)
    assert f"Drag n across {trained:,}" in within["caption"]["markup"]


def test_each_formula_is_what_the_core_computes(models: live.View) -> None:
    for name in READABLE:
        rotary = presets.main_rotary(name)
        assert rotary is not None
        inv_freq, factor = rotary.frequencies(131072)
        effect = rope_scaling.effect(rotary.scaling, rotary.rope, 131072)
        for pair in (0, len(inv_freq) // 2):
            if inv_freq[pair]:
                wave = pictures.WAVELENGTH.value(inv_freq=float(inv_freq[pair]))
                assert wave == pytest.approx(effect.wavelength_after[pair])
        assert pictures.GAIN.value(attention_factor=factor) == pytest.approx(factor * factor)
    for slope in alibi.slopes(112):
        for distance in (0, 1, 131072):
            bias = pictures.PENALTY.value(slope=float(slope), distance=distance)
            assert bias == alibi.bias(float(slope), distance)
    gain = re.search(
        r"≈</mo><mn>(1\.81\d)</mn>", drawn(models, model="gpt-oss-20b")["caption"]["markup"]
    )
    assert gain
    assert float(gain[1]) == pytest.approx((0.1 * math.log(32) + 1) ** 2, rel=5e-4)


@pytest.mark.parametrize("head", [1, 64, 65, 112])
def test_alibi_is_read_at_the_length(models: live.View, head: int) -> None:
    slope = float(alibi.slopes(112)[head - 1])
    slots = drawn(models, model="bloom (176B)", seq_len=2048, pair=head)
    told = re.search(r"takes <b>(.*?)</b> off at 2,048", slots["caption"]["markup"])
    assert told
    assert value(told[1]) == pytest.approx(2048 * slope, rel=5e-3)
    assert f"slope {slope:.4g}" in slots["spectrum:head"]["markup"]
    assert numbers(slots["spectrum"]["figure"]["data"][0]["y"]) == pytest.approx(alibi.slopes(112))


@pytest.mark.parametrize("seq_len", [1, 16, 112, 113, 128, 100_000])
def test_t5_s_bucket_is_the_core_s(models: live.View, seq_len: int) -> None:
    slots = drawn(models, model="t5-small", seq_len=seq_len)
    bucket = int(relative.t5_bucket([-seq_len], bidirectional=False)[0])
    assert f"is in bucket <b>{bucket}</b> of the decoder" in slots["caption"]["markup"]
    assert (bucket == 31) == (seq_len >= 113)
    assert "from 113 tokens on all share" in slots["caption"]["markup"]


def test_a_learned_table_ends_at_its_last_row(models: live.View) -> None:
    assert facts(drawn(models, model="gpt2", seq_len=1024))["row of the last token"] == "1,023"
    assert facts(drawn(models, model="opt-125m", seq_len=2048))["row of the last token"] == "2,049"
    beyond = drawn(models, model="gpt2", seq_len=1025)
    assert facts(beyond)["row of the last token"] == "none"
    assert "1,025 tokens cannot be read" in beyond["instead"]["markup"]


LAYERS = {
    "gemma-3-4b-it": "sliding " * 5 + "full " + "sliding " * 5 + "full",
    "Olmo-3.1-32B-Instruct": ("sliding " * 3 + "full ") * 3,
    "Llama-4-Scout-17B-16E": ("chunk " * 3 + "NoPE ") * 3,
    "EXAONE-4.0-32B": ("sliding " * 3 + "NoPE ") * 3,
    "Qwen3.5-9B": ("linear " * 3 + "full ") * 3,
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_stand_in_their_order(models: live.View, name: str) -> None:
    cells = re.findall(r"</b>(\w+)</li>", drawn(models, model=name)["layers"]["markup"])
    assert cells == LAYERS[name].split()


def test_layers_that_are_alike_are_told_in_a_sentence(models: live.View) -> None:
    assert "All layers alike: full" in drawn(models)["layers"]["markup"]
    alike = drawn(models, model="Mistral-7B-v0.1")
    assert "All layers alike: sliding" in alike["layers"]["markup"]
    assert "compare over 4,096 tokens at most" in alike["caption"]["markup"]


def shown_names(slots: dict[str, Any]) -> list[str]:
    found = re.findall(r'pv-models-row" data-set="(.*?)"', slots["gallery"]["markup"])
    return [dict(parse_qsl(unescape(setting)))["model"] for setting in found]


def test_the_gallery_shows_what_is_found_and_each_line_sets_its_model(models: live.View) -> None:
    assert shown_names(drawn(models, find="")) == list(presets.names())
    yarn = drawn(models, find="yarn", encoding="rope", method="yarn")
    assert shown_names(yarn) == list(presets.search("yarn", "rope", "yarn"))
    assert f"{len(shown_names(yarn))} of 84 models" in yarn["found"]["markup"]
    nothing = drawn(models, find="<b>none</b>")
    assert shown_names(nothing) == []
    assert "“&lt;b&gt;none&lt;/b&gt;”" in nothing["found"]["markup"]
    for name in presets.names():
        chosen = drawn(models, model=name, find="")["gallery"]["markup"]
        assert chosen.count('aria-pressed="true"') == 1
        assert chosen.count("<em>unverified</em>") == 11


@pytest.mark.parametrize("name", presets.names())
def test_a_model_s_links_lead_to_views_that_know_it(
    models: live.View, playground: live.View, name: str
) -> None:
    slots = drawn(models, model=name)
    for page, query in re.findall(r'href="(\w+)\?(.*?)"', slots["title"]["markup"]):
        asked = dict(parse_qsl(unescape(query)))
        if page == "playground":
            values, problems = playground.read(asked)
            assert not problems
            assert values["original_max_position_embeddings"] == presets.trained_context(name)
        else:
            assert asked == {"model" if page == "scaling" else "start": name}


@pytest.mark.parametrize(("page", "linked"), [("scaling", 50), ("doctor", 84)])
def test_a_page_takes_every_model_that_is_linked_to_it(
    models: live.View, page: str, linked: int
) -> None:
    view = view_of(page)
    titles = "".join(drawn(models, model=name)["title"]["markup"] for name in presets.names())
    queries = re.findall(rf'href="{page}\?(.*?)"', titles)
    addresses = [dict(parse_qsl(unescape(query))) for query in queries]
    assert len(addresses) >= linked
    for asked in addresses:
        assert view.read(asked)[1] == []


def test_two_models_are_compared_in_words(models: live.View) -> None:
    slots = drawn(models, model="Meta-Llama-3-8B", beside="Llama-3.1-8B-Instruct")
    told = slots["differences"]["markup"]
    assert "method no scaling against Llama 3 ×8" in told
    assert "context of the file 8,192 against 131,072" in told
    assert "base" not in told
    same = drawn(models, model="Llama-3.1-8B-Instruct", beside="Llama-3.1-70B")
    assert "treat positions alike" in same["differences"]["markup"]
    lists = drawn(models, model="Phi-3-vision-128k-instruct", beside="Phi-3.5-mini-instruct")
    assert re.search(r"differ: the frequencies of \d+ pairs at n", lists["differences"]["markup"])


def test_a_record_that_cannot_be_computed_says_why(models: live.View) -> None:
    slots = drawn(models, model=WITHOUT_LISTS)
    assert "short_factor must be given for longrope" in slots["instead"]["markup"]
    assert "from memory, unverified" in slots["title"]["markup"]


def test_what_the_numbers_leave_out_is_told(models: live.View) -> None:
    option = drawn(models, model="Qwen3-8B")["source"]["markup"]
    assert '"rope_type": "yarn", "factor": 4.0' in unescape(option)
    ministral = drawn(models, model="Ministral-3-3B-2512")["source"]["markup"]
    assert "llama_4_scaling_beta 0.1" in ministral
    assert "Also on record" not in drawn(models)["source"]["markup"]


def test_the_source_stands_in_full_with_its_addresses(models: live.View) -> None:
    for name in presets.names():
        markup = drawn(models, model=name)["source"]["markup"]
        assert presets.record(name)["source"] in unescape(markup)
        for _, address in presets.source_links(name):
            assert address in markup
