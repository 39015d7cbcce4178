"""The picker's view over all its parameters, without a browser."""

from __future__ import annotations

import html
import json
import math
import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import (
    export,
    extrapolation,
    hf_config,
    measured,
    picker,
    picker_evidence,
    picker_settings,
    presets,
)
from posviz.figures import picker as pictures
from posviz.params import shown
from posviz.rope import RoPE
from posviz.rope_scaling import yarn_mscale
from posviz.ui import live
from posviz.views import picker as views
from posviz.views import picker_take
from tests.ui.views import any_values, content, numbers, view_of


@pytest.fixture(scope="module")
def view() -> live.View:
    return view_of("picker")


def values_of(view: live.View, **query: object) -> live.Values:
    values, problems = view.read({name: str(value) for name, value in query.items()})
    assert not problems
    return values


def plain(slot: dict[str, str]) -> str:
    """The words of a picture."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", slot["markup"])))


@given(data=st.data())
def test_every_answer_hides_nothing_that_speaks_against_it(
    view: live.View, data: st.DataObject
) -> None:
    values = any_values(data.draw, view) | {"part": "answer"}
    slots = content(view.draw(**values))
    scene = views.Scene(**values)
    for key in ("ours", "theirs", "contrary"):
        figure = slots[key]["figure"]
        # No two lines of a picture share a colour.
        colours = [trace["line"]["color"] for trace in figure["data"]]
        assert len(set(colours)) == len(colours)
    told = plain(slots["evidence"])
    assert told.count("against") >= sum(one.is_against for one in scene.rule.facts) * (
        scene.rule.outcome != "split"
    )
    method = scene.outcome.method
    scales = scene.setting is not None and scene.setting.scaling.rope_type != "default"
    if method and scales:
        for one in picker_evidence.orders(method, scene.case.factor):
            for rival in one.worse:
                assert views.listed((rival,)) in told
    # Everything that was not recommended has its reason.
    for name in picker.WHY_NOT:
        is_own = name == scene.case.start and (name != "rope" or scene.rule.outcome == "keep")
        if name != scene.rule.outcome and not is_own:
            label = scene.label(name)
            assert html.escape(label) in slots["others"]["markup"]


@given(data=st.data())
def test_what_is_taken_away_is_what_the_answer_says(view: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, view) | {"part": "take"}
    view.draw(**values)
    scene = views.Scene(**values)
    given = picker_take.texts(scene)
    assert given.config or given.notes
    if scene.rule.outcome in ("keep", "split"):
        assert not (given.config or given.flags or given.vllm or given.snippet)
        return
    if not given.config:  # a RoPE that cannot have the method
        assert given.notes
        return
    config = json.loads(given.config)
    assert given.has_styles == (scene.setting is not None or scene.rule.outcome == "longrope")
    if scene.setting is not None:
        assert hf_config.read({"model_type": "llama", **config}).rotary
        assert given.flags or given.why_no_flags
        assert given.vllm or given.why_no_vllm
        assert "inv_freq" in given.snippet
        assert given.notes[-1] == picker_take.PUT
        if scene.model not in views.RELEASED:
            assert config == export.hf_config(scene.setting, values["style"])


def test_each_row_has_a_case_in_which_it_answers(view: live.View) -> None:
    assert list(views.EXAMPLES) == [rule.name for rule in picker.RULES]
    for place, rule in enumerate(picker.RULES, 1):
        link = dict(parse_qsl(views.link_to(views.EXAMPLES[rule.name]), keep_blank_values=True))
        values = values_of(view, **link)
        assert views.Scene(**values).rule == rule
        slots = content(view.draw(**(values | {"part": "rules"})))
        assert f"by row {place} of {len(picker.RULES)} in “The rules”: “{rule.name}”" in plain(
            slots["told"]
        )
        fired = re.findall(r'<tr class="is-fired".*?</tr>', slots["rules"]["markup"])
        assert len(fired) == 1
        assert f">{place}</button>" in fired[0]


def test_the_table_shows_each_row_with_its_conditions_and_sources(view: live.View) -> None:
    markup = content(view.draw(**values_of(view, part="rules")))["rules"]["markup"]
    rows = re.findall(r"<tr.*?</tr>", markup)[1:]
    assert len(rows) == len(picker.RULES)
    for row, rule in zip(rows, picker.RULES, strict=True):
        assert html.escape(rule.why) in row
        assert html.escape(picker.OUTCOMES[rule.outcome].label) in row
        for condition in views.conditions(rule.when):
            assert html.escape(condition) in row
        for source in rule.sources:
            assert html.escape(source.address) in row
    assert views.conditions(picker.RULES[-1].when) == ["everything else"]
    assert views.conditions(picker.rule_for(picker.Case("rope", 10, 300, 1e12)).when) == [
        "a RoPE model", "further than training or its makers offer so far",
        "a program that takes every method", "up to 32× training",
        "training: 100,000 M tokens or more",
    ]  # fmt: skip


@given(
    trained=st.integers(64, 1 << 20), target=st.integers(64, 1 << 24),
    training=st.integers(0, 10**6), memory=st.integers(1, 4096), layers=st.integers(1, 256),
)  # fmt: skip
def test_the_numbers_are_the_cores(
    view: live.View, trained: int, target: int, training: int, memory: int, layers: int
) -> None:
    values = values_of(
        view, model="rope", original_max_position_embeddings=trained, target=target,
        training_tokens=training, memory=memory, num_hidden_layers=layers,
    )  # fmt: skip
    slots = content(view.draw(**values))
    case = picker.Case("rope", trained, target, training * 1e6)
    rule = picker.rule_for(case)
    assert views.Scene(**values).rule == rule
    told = plain(slots["told"])
    assert f"{target:,} tokens are" in told
    assert f"the {trained:,} of training" in told
    size = picker_settings.cache_bytes(target, layers, 8, 128)
    assert f"{layers} layer" in plain(slots["costs"])
    costs = plain(slots["costs"])
    assert ("more than" in costs) == (size > memory * 1e9)
    assert views.gigabytes(size) in costs
    if size > memory * 1e9:
        fits = int(re.findall(r"that holds ([\d,]+) tokens", costs)[0].replace(",", ""))
        assert (
            picker_settings.cache_bytes(max(fits, 1), layers, 8, 128) <= memory * 1e9 or fits == 0
        )
        assert picker_settings.cache_bytes(fits + 1, layers, 8, 128) > memory * 1e9 * (1 - 1e-9)
    verdict = plain(slots["picked"])
    if rule.outcome == "yarn":
        factor = math.ceil(round(target / trained * 100, 6)) / 100
        assert f"YaRN, factor {shown(factor)}" in verdict
        assert f"attention_factor {yarn_mscale(factor):.4f}" in verdict
        assert factor * trained >= target * (1 - 1e-9)
    if rule.outcome == "ntk":
        factor = picker_settings.own_factor("ntk", case.factor, RoPE(128, 10_000.0), trained)
        base = 10_000.0 * factor ** (128 / 126)
        assert views.decimal(base) in verdict


def test_the_default_view_is_an_8k_llama_that_must_read_128k(view: live.View) -> None:
    slots = content(view.draw(**values_of(view)))
    verdict = plain(slots["picked"])
    assert "YaRN, factor 16" in verdict
    assert "original_max_position_embeddings 8,192" in verdict
    assert "rope_theta 500,000" in verdict
    assert "attention_factor 1.2773" in verdict
    costs = plain(slots["costs"])
    assert "17.2 GB of 24 GB, in 32 layers" in costs  # 131,072 tokens x 131,072 bytes
    assert "in print 1,678 M tokens (400 steps of 64 × 65,536): enough by that" in costs
    assert "Evidence: published. Expect about 131,072 tokens" in verdict
    assert "256 times" in costs
    evidence = plain(slots["evidence"])
    assert "7B, YaRN, s = 32 2.37 , Code Llama 7B, base 1,000,000 2.71" in evidence
    assert "over 10,000" in evidence


def test_without_training_the_answer_is_weak_and_says_what_training_would_change(
    view: live.View,
) -> None:
    slots = content(view.draw(**values_of(view, training_tokens=0)))
    verdict = plain(slots["picked"])
    assert "YaRN, factor 16" in verdict
    assert "is-weak" in slots["picked"]["markup"]
    low, high = picker_evidence.held("yarn", 16.0) or (0.0, 0.0)
    assert f"here {int(low * 8192):,} to {int(high * 8192):,} tokens" in verdict
    assert "With 1,678 M tokens of training: published." in verdict
    against = plain(slots["evidence"])
    assert re.search(r"against Ding 2024, table 1, PG-19 .* YaRN 87.9 , dynamic NTK 23.3", against)
    # The contrary table is drawn too.
    assert "PG-19" in plain(slots["contrary:head"])
    assert np.allclose(numbers(slots["contrary"]["figure"]["data"][0]["y"]), [32.64, 87.89])
    scene = views.Scene(**values_of(view, training_tokens=0))
    assert views.charts(scene) == ("ours", "theirs", "contrary")


def test_a_budget_below_the_published_one_is_told_with_both(view: live.View) -> None:
    slots = content(view.draw(**values_of(view, model="Llama-2-7b-hf", target=131_072,
                                          training_tokens=100)))  # fmt: skip
    verdict, costs = plain(slots["picked"]), plain(slots["costs"])
    assert "published, but with more training" in verdict
    assert "is-weak" in slots["picked"]["markup"]
    assert "32× with 2,517 M tokens, 25.2 times yours" in verdict
    assert "100 M tokens; in print 2,517 M tokens (600 steps of 64 × 65,536): less" in costs
    enough = values_of(view, model="Llama-2-7b-hf", target=131_072, training_tokens=2517)
    assert "is-weak" not in content(view.draw(**enough))["picked"]["markup"]


def test_windows_say_what_they_see_and_the_rest_is_not_promised(view: live.View) -> None:
    def words(**query: object) -> str:
        slots = content(view.draw(**values_of(view, training_tokens=0, **query)))
        return " ".join(plain(slots[key]) for key in ("picked", "evidence", "costs"))

    inside = words(model="Mistral-7B-v0.1", target=131_072)
    assert "A layer sees 4,096 tokens back; through all layers, all 131,072 tokens can" in inside
    assert "0.537 GB of 24 GB, in 32 layers" in inside  # 4,096 tokens of 131,072 bytes
    assert "context of 8,192" in inside
    far = words(model="Mistral-7B-v0.1", target=10_000_000)
    assert "at most the last 131,072 of 10,000,000 tokens reach the output" in far
    facts = words(model="Mistral-7B-v0.1", target=65_536, needs="recall")
    assert "Facts more than 4,096 tokens back are never looked at again" in facts
    scout = words(model="Llama-4-Scout-17B-16E", target=10_485_760, needs="recall")
    assert "Evidence: weak" in scout
    assert "without positions held to 2×; your target is 40× the 262,144 tokens" in scout
    assert "no encoding 152 , ALiBi 43 , RoPE 677" in scout
    assert "Facts more than 8,192 tokens back" in scout
    for said in (inside, far, facts, scout):
        assert "Expect all" not in said
    slots = content(view.draw(**values_of(view, model="Mistral-7B-v0.1", target=131_072)))
    assert "unscaled" not in plain(slots["others"])


def test_layers_are_the_models_own_or_said_to_be_assumed(view: live.View) -> None:
    def cost(**query: object) -> str:
        return plain(content(view.draw(**values_of(view, memory=4096, **query)))["costs"])

    assert "42.9 GB of 4,096 GB, in 80 layers" in cost(model="Llama-3.1-70B", target=131_072)
    assert "at most 32.9 GB of 4,096 GB, in 70 layers" in cost(model="bloom (176B)", target=8192)
    assert "in 32 layers assumed" in cost(model="LLaMA-65B (v1)")
    assert "in 80 layers" in cost(model="LLaMA-65B (v1)", num_hidden_layers=80)
    assert "read at once" in cost(model="bert-base-uncased")
    assert "read at once" in cost(model="scratch", modality="image")


def test_pictures_and_sound_get_keys_that_mean_them(view: live.View) -> None:
    query = {"model": "scratch", "original_max_position_embeddings": 256, "target": 1024,
             "training_tokens": 0}  # fmt: skip
    scene = views.Scene(**values_of(view, modality="image", **query))
    given = picker_take.texts(scene)
    assert json.loads(given.config)["rope_parameters"]["mrope_section"] == [16, 24, 24]
    assert not given.has_styles
    assert views.charts(scene) == ()
    slots = content(view.draw(**values_of(view, modality="image", **query)))
    assert "Patches count as tokens." in plain(slots["told"])
    assert "The lab’s models held" not in plain(slots["picked"])
    sound = picker_take.texts(views.Scene(**values_of(view, modality="audio", **query)))
    assert json.loads(sound.config) == {
        "position_embeddings_type": "relative", "max_source_positions": 1024,
    }  # fmt: skip


def test_a_files_own_keys_are_kept_and_no_command_drops_them(view: live.View) -> None:
    kimi = picker_take.texts(views.Scene(**values_of(
        view, model="Kimi-K2-Instruct", target=262_144, training_tokens=0)))  # fmt: skip
    told = json.loads(kimi.config)["rope_parameters"]
    assert (told["factor"], told["beta_fast"], told["mscale_all_dim"]) == (64.0, 1.0, 1.0)
    assert "head_dim" not in json.loads(kimi.config)
    mistral = picker_take.texts(views.Scene(**values_of(
        view, model="Ministral-3-3B-2512", target=524_288, training_tokens=0)))  # fmt: skip
    assert json.loads(mistral.config)["rope_parameters"]["llama_4_scaling_beta"] == 0.1
    assert "llama_4_scaling_beta" in mistral.why_no_vllm
    assert not mistral.vllm
    plain_one = picker_take.texts(views.Scene(**values_of(view)))
    assert plain_one.vllm.startswith("vllm serve MODEL --hf-overrides")
    assert any("computes 1.2773 from the factor" in note for note in plain_one.notes)


def test_the_answer_does_not_depend_on_memory(view: live.View) -> None:
    rules = {views.Scene(**values_of(view, memory=memory)).rule.name for memory in (1, 24, 4096)}
    assert len(rules) == 1


def test_curves_are_the_labs_and_the_papers(view: live.View) -> None:
    slots = content(view.draw(**values_of(view, training_tokens=0, target=32_768)))
    first = slots["ours"]["figure"]["data"][0]
    family = picker_evidence.alike(RoPE(128, 500_000.0), 8192)
    share = measured.loss_share(family, "yarn", 4.0)
    assert share is not None
    assert np.allclose(numbers(first["x"]), share[0], rtol=1e-6)
    assert np.allclose(numbers(first["y"]), 100 * share[1], rtol=1e-6)
    theirs = slots["theirs"]["figure"]["data"][0]
    assert np.allclose(numbers(theirs["y"]), [3.49, 3.25])
    assert numbers(theirs["x"]).tolist() == [2.0, 4.0]
    # An ALiBi model is shown by ALiBi's models.
    slots = content(view.draw(**values_of(view, model="alibi", target=16_384)))
    own = measured.loss_share("names-alibi")
    assert own is not None
    assert np.allclose(numbers(slots["ours"]["figure"]["data"][0]["y"]), 100 * own[1], rtol=1e-6)


def test_needles_are_told_to_whom_asks_for_facts(view: live.View) -> None:
    slots = content(view.draw(**values_of(
        view, model="scratch", target=16_384, training_tokens=0, needs="recall")))  # fmt: skip
    for outcome in ("t5", "alibi"):
        share = picker_evidence.found(outcome, 4.0)
        assert share is not None
        low, high = (f"{100 * one:.0f} %" for one in share[1:])
        told = f"finds {low if low == high else f'{low} to {high}'} of its letters"
        assert told in plain(slots["evidence"])
    without = content(view.draw(**values_of(view, model="scratch", target=16_384)))
    assert "finds" not in plain(without["evidence"])


def test_a_bias_that_does_not_fit_is_told(view: live.View) -> None:
    slots = content(view.draw(**values_of(
        view, model="scratch", target=16_384, training_tokens=0, needs="recall", memory=8
    )))  # fmt: skip
    size = picker_settings.bias_bytes("t5", 16_384, 32)
    assert size == 2 * 32 * 16_384**2
    assert views.gigabytes(size) in plain(slots["costs"])
    assert "is-alarm" in slots["costs"]["markup"]


def test_what_short_texts_lose_is_what_the_lab_measured(view: live.View) -> None:
    costs = content(view.draw(**values_of(view, training_tokens=0, target=32_768)))["costs"]
    at = measured.LENGTHS.index(256)
    plain_one, scaled = (
        measured.band("names-rope-500", *read) for read in (("default", 1.0), ("yarn", 4.0))
    )
    assert plain_one is not None
    assert scaled is not None
    before, after = math.exp(plain_one.mean[at]), math.exp(scaled.mean[at])
    assert f"perplexity {before:.2f} becomes {after:.3g} in the lab" in plain(costs)
    dynamic = content(view.draw(**values_of(view, training_tokens=0, target=16_384)))["costs"]
    assert "Short texts" not in plain(dynamic)  # plain RoPE there
    both = values_of(view, training_tokens=0, target=32_768, needs="cache,short")
    assert "is-alarm" in content(view.draw(**both))["costs"]["markup"]


def test_a_compressed_or_windowed_cache_is_not_counted_as_a_full_one(view: live.View) -> None:
    mla = content(view.draw(**values_of(view, model="DeepSeek-V3 / R1 (671B)")))
    assert "compressed (MLA)" in plain(mla["costs"])
    window = content(view.draw(**values_of(view, model="gemma-2-9b-it", memory=4096)))
    size = 2 * 2 * 8 * 256 * (21 * 4096 + 21 * 131_072)  # half the layers keep their window only
    assert f"{views.gigabytes(size)} of 4,096 GB, in 42 layers" in plain(window["costs"])


def test_every_released_model_can_be_chosen(view: live.View) -> None:
    for name in views.RELEASED:
        values = values_of(view, model=name)
        assert values["original_max_position_embeddings"] == presets.trained_context(name)
        scene = views.Scene(**values)
        if scene.case.start == "rope":
            rotary = presets.main_rotary(name)
            assert rotary is not None
            assert scene.plain == RoPE(rotary.rope.rotary_dim, rotary.rope.rope_theta)
        view.draw(**values)


@given(factor=st.floats(1.0, 600.0))
def test_the_formula_of_yarns_factor_is_the_cores(factor: float) -> None:
    assert pictures.YARN_FACTOR.value(s=factor) == pytest.approx(yarn_mscale(factor), rel=1e-12)


@given(multiple=st.floats(1.01, 30.0), dim=st.integers(2, 128), base=st.floats(10.0, 1e9))
def test_the_formula_of_the_base_is_what_is_exported(
    multiple: float, dim: int, base: float
) -> None:
    rope = RoPE(2 * dim, base)
    case = picker.Case("rope", 1000, math.ceil(1000 * multiple), engine="base")
    setting = picker_settings.setting(case, "ntk", rope, 2 * dim)
    assert setting is not None
    told = export.hf_config(setting)["rope_parameters"]["rope_theta"]
    factor = picker_settings.own_factor("ntk", case.factor, rope, 1000)
    assert told == pytest.approx(
        pictures.LARGER_BASE.value(b=base, s=factor, d=2 * dim), rel=1e-9
    )  # fmt: skip
    slowest = (told / base) ** ((2 * dim - 2) / (2 * dim))
    assert slowest == pytest.approx(factor, rel=1e-9)


@given(n=st.integers(1, 1 << 24), layers=st.integers(1, 256), heads=st.integers(1, 128),
       dim=st.integers(4, 256))  # fmt: skip
def test_the_formula_of_the_cache_is_the_cores(n: int, layers: int, heads: int, dim: int) -> None:
    assert pictures.CACHE.value(n=n, l=layers, h=heads, d=dim) == picker_settings.cache_bytes(
        n, layers, heads, dim
    )


def test_the_targets_range_is_as_far_as_a_usable_context_is_searched() -> None:
    assert views.TARGET.high == extrapolation.LONGEST
