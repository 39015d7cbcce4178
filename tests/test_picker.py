"""The picker's decision table: every row can answer, and no answer hides what speaks against it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from posviz import (
    alibi,
    catalog,
    config_doctor,
    export,
    extrapolation,
    hf_config,
    measured,
    params,
    picker,
    picker_evidence,
    picker_settings,
    presets,
    published,
)
from posviz.picker import Case, Fact, File, When, Window, rule_for
from posviz.rope import RoPE, turns
from posviz.rope_scaling import scaling, yarn_mscale

MULTIPLES = (0.5, 1, 2, 3, 4, 8, 16, 17, 32, 40, 100, 600)
TOKENS = (0, 1e8, 1e9, 1e11, 1e12)
FILES = (File("yarn", 16.0, 65_536), File("llama3", 8.0, 131_072),
         File("longrope", 32.0, 131_072))  # fmt: skip
# What a released model may have besides its trained context.
OWN: tuple[dict[str, Any], ...] = (
    {}, *({"file": file} for file in FILES),
    *({"window": Window(1024, reach)} for reach in (None, 32_768)),
    *({"window": Window(4096, None, True), "file": file} for file in (None, FILES[1])),
    {"option": File("yarn", 4.0, 16_384, 4096)}, {"holds": 32_768},
)  # fmt: skip
NEEDS = tuple(
    needs for k in range(len(picker.NEEDS) + 1) for needs in itertools.combinations(picker.NEEDS, k)
)


def cases() -> list[Case]:
    """All combinations of the questions; the numbers at and between the limits of the rows."""
    found = []
    for start, m, tokens, engine, needs in itertools.product(
        picker.STARTS, MULTIPLES, TOKENS, picker.ENGINES, NEEDS
    ):
        modalities = picker.MODALITIES if start == "scratch" else ("text",)
        for modality, own in itertools.product(modalities, OWN if start == "rope" else ({},)):
            found.append(Case(start, 4096, int(4096 * m), tokens, modality, engine, needs, **own))
    return found


@pytest.fixture(scope="module")
def all_cases() -> list[Case]:
    return cases()


def test_every_case_has_an_answer_with_a_reason_and_every_row_and_outcome_is_reached(
    all_cases: list[Case],
) -> None:
    fired, outcomes, reasons = set(), set(), set()
    for case in all_cases:
        rule = rule_for(case)
        fired.add(rule.name)
        outcomes.add(rule.outcome)
        assert rule.why
        for other in picker.WHY_NOT:
            reason = picker.why_not(case, other)
            assert reason
            if other != rule.outcome:
                reasons.add((other, reason))
    assert fired == {rule.name for rule in picker.RULES}
    assert len(fired) == len(picker.RULES)
    assert outcomes == set(picker.OUTCOMES)
    told = {(name, reason) for name, lines in picker.WHY_NOT.items() for _, reason in lines}
    assert reasons == told, "a reason that no case meets"


def test_only_what_a_model_has_can_be_recommended(all_cases: list[Case]) -> None:
    for case in all_cases:
        rule = rule_for(case)
        encoding = picker.OUTCOMES[rule.outcome].encoding
        if case.start != "scratch":
            assert encoding in (None, case.start), (case, rule.name)
        if rule.outcome in ("linear", "base") and case.start == "rope":
            assert case.tokens >= picker.LITTLE
        if rule.outcome == "dynamic":
            assert "cache" not in case.needs
        if case.engine == "base" and case.start == "rope" and case.state == "past":
            assert rule.outcome in ("keep", "ntk", "base", "split")
        if "fused" in case.needs and case.start == "scratch" and case.multiple > 1:
            assert rule.outcome in ("rope", "yarn", "ntk", "base", "longrope", "split")
        if case.engine != "every" and case.start in ("scratch", "rope"):
            assert rule.outcome not in ("yarn", "llama3", "dynamic", "longrope")
        if case.state in ("within", "in file", "held", "global") and case.start != "scratch":
            assert rule.outcome == "keep"
        if case.state in ("windowed", "past windows"):
            assert rule.outcome in ("keep", "split")


def better(case: Case) -> list[Case]:
    """Cases that can do all that this one can: more tokens, a more able program, a need less."""
    found = [replace(case, tokens=more) for more in TOKENS if more > case.tokens]
    able = ("base", "linear", "every")
    found += [replace(case, engine=one) for one in able[able.index(case.engine) + 1 :]]
    found += [
        replace(case, needs=tuple(each for each in case.needs if each != need))
        for need in case.needs
    ]
    if case.start == "rope" and case.state == "past":
        found.append(Case("scratch", case.trained, case.target, case.tokens, "text", case.engine,
                          case.needs))  # fmt: skip
    return found


def test_whoever_can_do_more_is_never_told_that_nothing_will_do(all_cases: list[Case]) -> None:
    lost = [
        (case, one)
        for case in all_cases
        if rule_for(case).outcome != "split"
        for one in better(case)
        if rule_for(one).outcome == "split"
    ]
    assert lost == []


@pytest.mark.parametrize("start", ["rope", "scratch"])
def test_less_than_was_spent_in_print_is_not_called_published(start: str) -> None:
    """Below a published budget the evidence is less; from it on it is published."""
    for m in (2, 4, 8, 16, 17, 32, 100):
        for engine in picker.ENGINES:
            case = Case(start, 4096, 4096 * m, 1e8, engine=engine)
            rule = rule_for(case)
            budget = rule.budget(case.multiple)
            if rule.sure != "published" or not rule.when.least:
                continue
            assert budget is not None
            assert (picker.sure(case, rule) == "less") == (budget.tokens > 1e8)
            assert picker.sure(replace(case, tokens=budget.tokens), rule) == "published"
    # YaRN's 400 steps of 64 texts of 65,536 for 16 times, 600 for 32; Code Llama's 20 B; PI's.
    told = {
        ("every", 16): 1_677_721_600, ("every", 17): 2_516_582_400, ("base", 4): 2e10,
        ("linear", 4): 104_857_600, ("linear", 8): 419_430_400, ("linear", 16): 4_194_304_000,
    }  # fmt: skip
    for (engine, m), tokens in told.items():
        case = Case("rope", 4096, 4096 * m, 1e9, engine=engine)
        found = rule_for(case).budget(case.multiple)
        assert found is not None
        assert found.tokens == tokens


def test_what_is_called_published_is_published_so_far(all_cases: list[Case]) -> None:
    """A row that claims publication has a source, and its limit lies within a table or paper."""
    for rule in picker.RULES:
        assert rule.sure in ("published", "measured", "makers", "weak", "plain")
        if rule.sure in ("published", "makers"):
            assert rule.facts or rule.sources, rule.name
        if rule.sure == "published" and rule.when.least:
            assert rule.training, rule.name
        good = [one.multiple for one in rule.facts if not one.is_against]
        if rule.sure == "published" and rule.when.least and good:
            # LongRoPE's 512 times is in its paper's text, table 5 ends at 64.
            least = 64 if rule.outcome == "longrope" else rule.when.up_to
            assert max(good) >= least, rule.name


def test_a_fact_gives_what_the_table_prints_and_speaks_against_what_is_not_best() -> None:
    fact = Fact("yarn-2", 131_072, ("7B, YaRN, s = 32", "Code Llama 7B, base 1,000,000",
                                    "7B, PI, fine-tuned at 32k"))  # fmt: skip
    assert fact.cells() == ((2.37, False), (2.71, False), (10_000.0, True))
    assert fact.multiple == 32.0
    assert not fact.is_against
    assert Fact("longrope-1-pg19", 16_384, ("YaRN", "PI")).is_against
    assert not Fact("yarn-1", 8192, ("YaRN, s = 2", "PI, s = 2")).is_against  # 3.35 and 3.34
    assert not Fact("kazemnejad-figure-1", 40, ("T5 bias", "RoPE")).is_against  # higher is better
    assert Fact("kazemnejad-3", 2048, ("ALiBi", "RoPE"), broke=True).is_against
    for rule in picker.RULES:
        for one in rule.facts:
            assert all(math.isfinite(value) for value, _ in one.cells()), (rule.name, one)
            x, y = picker_evidence.drawn(one, one.series[0])
            assert len(x) == len(y) > 0
            assert (np.diff(x) > 0).all()


@pytest.mark.parametrize("rule", picker.RULES, ids=lambda rule: rule.name)
def test_an_untrained_scaling_that_a_published_table_ranks_lower_says_so(
    rule: picker.Rule,
) -> None:
    """Every published comparison without fine-tuning at up to four times is in the row."""
    method = picker.OUTCOMES[rule.outcome].method
    if method in (None, "default") or rule.when.least or rule.when.start != ("rope",):
        return
    if "past" not in rule.when.state:  # files that are scaled already: nothing is published
        return
    beaten = [
        (table.id, int(length))
        for table in map(published.table, ("longrope-1-pg19", "longrope-1-proof-pile"))
        for at, length in enumerate(table.series[0].lengths)
        for own in (one for one in table.series if one.rope_type == method)
        if length / 4096 <= rule.when.up_to
        and min(one.values[at] for one in table.series if one.rope_type != "longrope")
        < own.values[at] * 0.99
    ]
    told = {one.table for one in rule.facts if one.is_against}
    assert {table for table, _ in beaten} <= told


def test_orders_are_those_of_the_lab() -> None:
    """At four times: each method with its factor, in every seed, from the curves themselves."""
    used = {"yarn": 4.0, "linear": 4.0, "llama3": 4.0, "dynamic": 2.0, "default": 1.0}
    ntk = {"names-rope-500": 8.0, "names-rope-10000": 16.0}  # 4 ** 1.5, and 4 ** (30 / 14)
    at = measured.LENGTHS.index(1024)
    for one in picker_evidence.orders("yarn", 4.1)[:2]:
        assert one.multiple == 4.0
        factors = used | {"ntk": ntk[one.family]}

        def losses(method: str, family: str = one.family, factors: dict[str, float] = factors
                   ) -> list[float]:  # fmt: skip
            curves = [measured.curve(model, method, factors[method])
                      for model in measured.models(family)]  # fmt: skip
            return [float(curve.nats[at]) for curve in curves if curve is not None]

        own = losses("yarn")
        for rival in ("default", "linear", "ntk", "dynamic", "llama3"):
            others = losses(rival)
            assert (rival in one.better) == all(a < b for a, b in zip(own, others, strict=True))
            assert (rival in one.worse) == all(a > b for a, b in zip(own, others, strict=True))
    copying = picker_evidence.orders("yarn", 4.0)[2]
    for rival in ("default", "linear", "llama3"):
        found = measured.compare("copying-rope", "yarn", rival, 4.0, 2048)
        assert (rival in copying.better) == (found == "higher")
    assert picker_evidence.orders("yarn", 32.0) == ()
    assert picker_evidence.orders("longrope", 4.0) == ()


@pytest.mark.parametrize("multiple", [2.0, 4.0, 24.4])
def test_ntks_factor_slows_the_first_slow_pair_by_the_multiple(multiple: float) -> None:
    for rope, trained in ((RoPE(128, 10_000.0), 4096), (RoPE(64, 500_000.0), 8192)):
        factor = picker_settings.own_factor("ntk", multiple, rope, trained)
        slowed = rope.inv_freq / scaling("ntk", factor=factor).frequencies(rope)[0]
        first = int(np.argmax(turns(rope.inv_freq, trained) < 1.0))
        assert slowed[first] == pytest.approx(multiple, rel=1e-9)
        assert extrapolation.usable_context(
            rope, scaling("ntk", factor=factor), trained
        ) == pytest.approx(multiple * trained, rel=1e-6)
    # Code Llama read 100,000 tokens with 93 times Llama 2's base, between 24 and 32 times 4,096.
    llama2 = RoPE(128, 10_000.0)
    low, high = (picker_settings.own_factor("ntk", m, llama2, 4096) for m in (24.4, 32.0))
    assert low < 100 ** (126 / 128) < high
    assert picker_settings.own_factor("ntk", 4.0, RoPE(8, 10.0), 4096) == 4.0  # every pair turns
    assert picker_settings.own_factor("ntk", 4.0, RoPE(64, 1e9), 7) <= 64.0


def test_what_the_rows_say_of_the_lab_is_so() -> None:
    names = ("names-rope-500", "names-rope-10000")
    # "beat plain RoPE and PI in every seed of the lab", "the least of the methods that need no
    # search": a searched divisor lost less in the same table
    assert len(picker_evidence.orders("yarn", 4.0)) == 3
    for one in picker_evidence.orders("yarn", 4.0):
        assert {"default", "linear"} <= set(one.better)
    assert not Fact("longrope-1-proof-pile", 16_384, ("YaRN", "dynamic NTK", "PI")).is_against
    searched = Fact("longrope-1-proof-pile", 16_384, ("YaRN", "searched factor for each pair"))
    assert searched.is_against
    # "lost less than YaRN on one published text, more on the other" (dynamic NTK at four times)
    for text, against in (("pg19", False), ("proof-pile", True)):
        dynamic = Fact(f"longrope-1-{text}", 16_384, ("dynamic NTK", "YaRN"))
        assert dynamic.is_against == against
    # "in one published ranking no encoding at all came first"
    (t5_rule,) = (rule for rule in picker.RULES if rule.name == "finds facts far back")
    ranked = next(one for one in t5_rule.facts if one.table == "kazemnejad-figure-1")
    assert ranked.is_against
    assert max(ranked.cells()) == ranked.cells()[ranked.series.index("no encoding")]
    # "at twice the length the lab's language models lost less with it than with YaRN"
    for one in picker_evidence.orders("llama3", 2.0)[:2]:
        assert one.family in names
        assert "yarn" in one.better
    # "Without training, it did worst of all methods in the lab's language models"
    for factor in measured.FACTORS:
        for one in picker_evidence.orders("linear", factor):
            if one.family in names:
                assert one.better == ()
    # "On short texts it cost more than Llama 3's rule in the lab"
    for multiple, family in itertools.product((2.0, 3.0, 4.0), names):
        ntk, llama3 = (picker_evidence.within(name, multiple, family) for name in ("ntk", "llama3"))
        assert ntk and llama3
        assert ntk[1] > llama3[1]
    # Dynamic NTK with factor 2, 4 and 1 at four times the length
    at = measured.LENGTHS.index(1024)
    for family in names:
        for model in measured.models(family):
            two, four, one_ = (measured.curve(model, "dynamic", f) for f in (2.0, 4.0, 1.0))
            assert two and four and one_
            assert two.nats[at] < min(four.nats[at], one_.nats[at])
    for model in measured.models("copying-rope"):
        two_, four_ = (measured.copying(model, "dynamic", f) for f in (2.0, 4.0))
        assert two_ and four_
        assert four_.accuracy[-1] > two_.accuracy[-1]
    # "found more in the lab than any other", "still found names at four times"
    for factor in (4.0, 8.0):
        shares = {name: picker_evidence.found(name, factor) for name in picker.OUTCOMES}
        t5 = shares["t5"]
        assert t5
        assert all(share is None or share[1] <= t5[1] for share in shares.values())
    ours = picker_evidence.found("alibi", 4.0)
    assert ours
    assert ours[1] > 0.95
    copied = measured.band("copying-alibi", quantity="accuracy")
    assert copied is not None
    assert copied.lowest[-1] < 0.7
    # "Bias encodings were a little better within training, in the lab"
    at = measured.LENGTHS.index(256)
    low = {name: measured.band(f"names-{name}") for name in ("alibi", "rope-10000", "rope-500")}
    assert all(band is not None for band in low.values())
    assert low["alibi"].highest[at] < low["rope-10000"].lowest[at]  # type: ignore[union-attr]


def test_how_far_the_lab_held_is_its_reach() -> None:
    assert picker_evidence.held("alibi", 4.0) == (math.inf, math.inf)
    assert picker_evidence.held("yarn", 4.0) == (2.0, 4.0)  # 512 and 1,024 of 256
    assert picker_evidence.held("learned", 4.0) == (1.0, 1.0)
    assert picker_evidence.held("yarn", 30.0) is None
    assert picker_evidence.held("ntk", 4.0) == (2.0, 1448 / 256)  # factors 8 and 16
    assert picker_evidence.held("longrope", 4.0) is None
    assert picker_evidence.held("transformer_xl", 4.0) is None


def test_what_training_would_change() -> None:
    case = Case("rope", 8192, 131_072)
    better = picker.with_training(case)
    assert better is not None
    assert (better[0], better[1].name) == (400 * 64 * 65_536, "YaRN and fine-tuning")
    far = picker.with_training(Case("rope", 4096, 4096 * 100))
    assert far is not None
    assert (far[0], far[1].outcome) == (400 * 32 * 131_072, "longrope")
    assert picker.with_training(Case("rope", 4096, 4096 * 600)) is None


def test_an_8k_llama_that_must_read_128k_gets_yarn_by_16() -> None:
    case = picker.case_of("Meta-Llama-3-8B", 131_072, 1e9)
    rule = rule_for(case)
    assert (rule.outcome, case.factor) == ("yarn", 16.0)
    setting = picker_settings.setting(case, rule.outcome, RoPE(128, 500_000.0), 128)
    assert setting is not None
    assert hf_config.read(export.hf_config(setting)).max_position_embeddings == 131_072
    config = export.hf_config(setting)
    assert config["rope_parameters"]["factor"] == 16.0
    assert config["rope_parameters"]["original_max_position_embeddings"] == 8192
    assert setting.frequencies()[1] == pytest.approx(yarn_mscale(16.0)) == pytest.approx(1.2772589)


def test_factors_count_from_the_original_context() -> None:
    llama = picker.case_of("Llama-3.1-8B-Instruct", 262_144)
    assert llama.file is not None
    assert (llama.file.rope_type, llama.file.factor) == ("llama3", 8.0)
    assert (llama.state, llama.factor, llama.multiple) == ("past llama3", 16.0, 32.0)
    assert rule_for(llama).outcome == "llama3"
    yarn = picker.case_of("Yarn-Llama-2-7b-64k", 131_072)
    assert (yarn.factor, rule_for(yarn).outcome) == (32.0, "yarn")
    assert picker.case_of("Yarn-Llama-2-7b-64k", 65_536).state == "in file"
    assert Case("rope", 3000, 10_000).factor == 3.34  # upwards, so that the target fits


@pytest.mark.parametrize("name", picker.models())
def test_the_config_of_every_released_model_reads_back_and_has_no_error(name: str) -> None:
    rotary, trained = presets.main_rotary(name), presets.trained_context(name)
    assert trained is not None
    if rotary is None:
        assert picker.case_of(name, 4 * trained).start in ("alibi", "learned")
        return
    plain = rotary.rope
    own = {key: value for key, value in presets.config(name).items()
           if key != "original_max_position_embeddings"}  # fmt: skip
    for m, tokens, engine in itertools.product((2, 4, 16), (0, 1e9), picker.ENGINES):
        case = picker.case_of(name, m * trained, tokens, engine)
        outcome = rule_for(case).outcome
        head_dim = max(rotary.head_dim or plain.rotary_dim, plain.rotary_dim)
        setting = picker_settings.setting(case, outcome, plain, head_dim)
        if setting is None or outcome in ("keep", "split"):
            continue
        assert setting.max_position_embeddings == case.target
        keys = picker_settings.config(name, case, outcome, setting)
        merged = own | keys
        read = next(one for one in hf_config.read(merged).rotary
                    if one.layer_type in (None, "full_attention"))  # fmt: skip
        inv_freq, attention_factor = setting.frequencies(case.target)
        assert np.allclose(read.frequencies(case.target)[0], inv_freq, rtol=1e-9)
        assert read.frequencies(case.target)[1] == pytest.approx(attention_factor, rel=1e-9)
        found = config_doctor.diagnose(merged)
        assert not [one.sentence for one in found if one.level == "error"]


SCALED = [name for name in picker.models() if picker.case_of(name, 1 << 24).file is not None]


@pytest.mark.parametrize("name", SCALED)
def test_more_of_a_files_own_method_changes_nothing_but_its_factor(name: str) -> None:
    """Kimi's beta_fast, gpt-oss's truncate, DeepSeek's mscale: they stay as they were trained."""
    own = presets.record(name)["rope"]
    own = own.get("full_attention", own)
    rotary = presets.main_rotary(name)
    assert rotary is not None
    for tokens in (0, 2e9):
        case = picker.case_of(name, 2 * presets.record(name)["max_position_embeddings"], tokens)
        outcome = rule_for(case).outcome
        if outcome != own["rope_type"] or outcome == "longrope":
            continue
        setting = picker_settings.setting(
            case, outcome, rotary.rope, max(rotary.head_dim or 0, rotary.rope.rotary_dim)
        )
        assert setting is not None
        told = picker_settings.config(name, case, outcome, setting)["rope_parameters"]
        told = told.get("full_attention", told)
        for key, value in own.items():
            if key == "factor":
                assert told[key] == 2 * value
            elif key != "attention_factor":
                assert told[key] == value, key
        # Independent of the core's own merging: the file as it is, with the larger factor.
        by_hand = {**own, "factor": 2 * own["factor"]}
        by_hand.pop("attention_factor", None)  # Olmo 3 writes out what its factor gives
        by_hand["rope_theta"] = rotary.rope.rope_theta
        made = hf_config.read({"head_dim": rotary.rope.rotary_dim, "rope_parameters": by_hand})
        inv_freq, attention_factor = setting.frequencies()
        assert np.array_equal(made.rotary[0].frequencies()[0], inv_freq)
        assert made.rotary[0].frequencies()[1] == attention_factor


def test_the_attention_factor_of_deepseeks_kind_stays_one() -> None:
    for name in ("Kimi-K2-Instruct", "DeepSeek-V3 / R1 (671B)", "Ministral-3-3B-2512"):
        rotary = presets.main_rotary(name)
        assert rotary is not None
        case = picker.case_of(name, 2 * presets.record(name)["max_position_embeddings"])
        method = picker_settings.method_of(case, "yarn", rotary.rope)
        assert method is not None
        assert method.frequencies(rotary.rope)[1] == 1.0


def test_a_window_ends_what_can_be_read_and_layers_without_positions_are_no_proof() -> None:
    mistral = picker.case_of("Mistral-7B-v0.1", 131_072)
    assert mistral.window == Window(4096, 131_072)
    assert (mistral.state, rule_for(mistral).outcome) == ("windowed", "keep")
    facts = picker.case_of("Mistral-7B-v0.1", 131_072, needs=("recall",))
    assert rule_for(facts).name == "facts beyond its windows"
    far = picker.case_of("Mistral-7B-v0.1", 10_000_000)
    assert rule_for(far).outcome == "split"
    for name, target in (("Llama-4-Scout-17B-16E", 10_000_000), ("EXAONE-4.0-32B", 262_144)):
        case = picker.case_of(name, target)
        assert case.window is not None
        assert case.window.is_global
        assert (rule_for(case).outcome, rule_for(case).sure) == ("keep", "weak")
        assert any(one.broke for one in rule_for(case).facts)
    # Trained so far: 256K and 128K.
    assert picker.case_of("Llama-4-Scout-17B-16E", 262_144).state == "in file"
    assert picker.case_of("EXAONE-4.0-32B", 131_072).state == "in file"


def test_code_llama_is_left_as_it_is_as_far_as_it_was_read() -> None:
    for target in (65_536, 98_304, 131_072):
        rule = rule_for(picker.case_of("CodeLlama-7b-hf", target))
        assert (rule.outcome, rule.sure) == ("keep", "published")
        assert rule.facts[0].multiple == 6.0
    assert rule_for(picker.case_of("CodeLlama-34b-hf", 100_000)).outcome == "keep"
    assert picker.case_of("CodeLlama-34b-hf", 100_001).state == "past"
    assert picker.case_of("CodeLlama-7b-hf", 131_073).state == "past"


def test_what_makers_offer_is_used_with_their_factor_and_origin() -> None:
    for target, factor in ((131_072, 4.0), (65_536, 2.0)):
        case = picker.case_of("Qwen3-8B", target)
        assert (case.trained, case.state, rule_for(case).sure) == (40_960, "option", "makers")
        method = picker_settings.method_of(case, "yarn", RoPE(128, 1e6))
        assert method == scaling("yarn", factor=factor, original_max_position_embeddings=32_768)
    assert picker.case_of("Qwen3-8B", 131_073).state == "past"
    for name in presets.names():
        told = presets.record(name).get("long_context_option")
        if told is not None:
            case = picker.case_of(
                name, round(told["factor"] * told["original_max_position_embeddings"])
            )
            assert case.factor == told["factor"]
            assert rule_for(case).name == "its makers offer it"


def test_a_model_scaled_by_llama_3s_rule_keeps_it() -> None:
    for tokens in (0, 1e9, 1e12):
        case = picker.case_of("Llama-3.1-8B-Instruct", 262_144, tokens)
        assert (rule_for(case).outcome, rule_for(case).sure) == ("llama3", "weak")
        assert case.factor == 16.0


def test_more_tokens_are_kept_by_more_layers_and_windows_keep_no_more_than_they_see() -> None:
    def kept(name: str, depth: int, length: int) -> int:
        return picker_settings.layer_kinds(name, depth).tokens(length)

    assert kept("Llama-3.1-70B", 80, 131_072) == 80 * 131_072
    assert kept("Mistral-7B-v0.1", 32, 131_072) == 32 * 4096
    assert kept("gemma-2-9b-it", 42, 8192) == 21 * 4096 + 21 * 8192
    assert kept("Qwen3.5-9B", 32, 1000) == 8 * 1000
    assert kept("Llama-4-Scout-17B-16E", 48, 1_000_000) == 36 * 8192 + 12 * 1_000_000
    # Llama 3.1 70B: 80 layers of 8 heads of 128 are 42.9 GB; bloom's 70 of 112 at 8,192, 32.9.
    one = picker_settings.cache_bytes(1, 1, 8, 128)
    assert one * kept("Llama-3.1-70B", 80, 131_072) == pytest.approx(42.9e9, rel=2e-3)
    bloom = picker_settings.cache_bytes(8192, 70, 112, 128)
    assert bloom == pytest.approx(32.9e9, rel=2e-3)


@pytest.mark.parametrize("kinds", [(32, 0, 0), (0, 32, 4096), (12, 36, 8192), (1, 0, 0)])
def test_what_fits_is_the_longest_text_that_does(kinds: tuple[int, int, int]) -> None:
    layers = picker_settings.Layers(*kinds)
    for total in (0, 10, 1000, 32 * 4096, 10**6, 10**7):
        fits = layers.fits(total)
        if fits == math.inf:
            assert layers.tokens(10**12) <= total
        else:
            assert layers.tokens(int(fits)) <= total < layers.tokens(int(fits) + 1)


def test_pictures_get_sections_of_pairs() -> None:
    case = Case("scratch", 256, 1024, modality="image")
    assert picker_settings.setting(case, "rope", RoPE(128, 1e4), 128) is None
    told = picker_settings.other_config(case, "rope", 32, RoPE(128, 1e4))
    assert told is not None
    assert told["rope_parameters"]["mrope_section"] == [16, 24, 24]  # Qwen2-VL's
    for pairs in range(1, 129):
        section = picker_settings.mrope_section(pairs)
        assert sum(section) == pairs
        assert min(section) >= 0


def test_a_base_from_scratch_is_that_of_a_released_model() -> None:
    for length, base, name in picker_settings.RELEASED_BASES:
        assert presets.get(name).rope_theta == base
        assert presets.trained_context(name) == length
    assert picker_settings.usual_base(8000) == (500_000.0, "Meta-Llama-3-8B")
    assert picker_settings.usual_base(8193)[0] == 1_000_000.0
    assert picker_settings.usual_base(10**7)[0] == 10_000_000.0
    for outcome in ("rope", "base"):
        setting = picker_settings.setting(
            Case("scratch", 4096, 32_768), outcome, RoPE(128, 10_000.0), 128
        )
        assert setting is not None
        assert setting.rope.rope_theta == 1_000_000.0
        assert setting.scaling.rope_type == "default"


def test_the_family_that_is_drawn_has_about_the_models_share_of_slow_pairs() -> None:
    # By hand: 5 of 16 pairs stand below a turn at 256 tokens with base 500, 9 with base 10,000;
    # an all-slow model is nearer the latter, an all-fast one the former.
    assert picker_evidence.alike(RoPE(128, 1e9), 128) == "names-rope-10000"
    assert picker_evidence.alike(RoPE(128, 10.0), 8192) == "names-rope-500"


def test_memory_is_counted() -> None:
    # Llama 3 8B: 2 x 2 bytes x 32 layers x 8 heads x 128 = 131,072 bytes a token.
    assert picker_settings.cache_bytes(1, 32, 8, 128) == 131_072
    assert picker_settings.cache_bytes(131_072, 32, 8, 128) == 131_072**2
    assert picker_settings.bias_bytes("rope", 1000, 32) == 0
    assert picker_settings.bias_bytes("t5", 1000, 32) == 2 * 32 * 1000**2
    with pytest.raises(params.InvalidParameterError, match="seq_len"):
        picker_settings.cache_bytes(0, 32, 8, 128)


def test_encodings_without_rope_have_their_numbers() -> None:
    case = Case("scratch", 1024, 8192)
    slopes = picker_settings.other_config(case, "alibi", 12, RoPE(64, 1e4))
    assert slopes is not None
    assert slopes["slopes"] == alibi.slopes(12).tolist()
    learned = picker_settings.other_config(case, "learned", 12, RoPE(64, 1e4))
    assert learned is not None
    assert learned["max_position_embeddings"] == 8192
    t5 = picker_settings.other_config(case, "t5", 12, RoPE(64, 1e4))
    assert t5 is not None
    assert t5["relative_attention_num_buckets"] == catalog.NUM_BUCKETS
    assert picker_settings.other_config(case, "split", 12, RoPE(64, 1e4)) is None
    assert picker_settings.setting(case, "alibi", RoPE(64, 1e4), 64) is None
    assert picker_settings.setting(case, "longrope", RoPE(64, 1e4), 64) is None


def test_conditions_hold_at_their_limits() -> None:
    when = When(above=2.0, up_to=4.0, least=1e8, below=1e9, needs=("cache",), without=("short",))

    def holds(multiple: float, tokens: float, *needs: str) -> bool:
        return when.holds(Case("rope", 1000, int(1000 * multiple), tokens, needs=needs))

    assert holds(4, 1e8, "cache")
    assert holds(2.001, 1e9 - 1, "cache", "fused")
    assert not holds(2, 1e8, "cache")
    assert not holds(4.001, 1e8, "cache")
    assert not holds(4, 1e8 - 1, "cache")
    assert not holds(4, 1e9, "cache")
    assert not holds(4, 1e8)
    assert not holds(4, 1e8, "cache", "short")


@pytest.mark.parametrize(
    "wrong", [{"start": "gpt"}, {"modality": "smell"}, {"engine": "x"}, {"needs": ("speed",)},
              {"trained": 0}, {"target": 1.5}, {"tokens": -1.0}]
)  # fmt: skip
def test_a_wrong_case_is_told(wrong: dict[str, object]) -> None:
    with pytest.raises(params.InvalidParameterError, match=next(iter(wrong))):
        Case(**({"start": "rope", "trained": 1, "target": 2} | wrong))  # type: ignore[arg-type]
