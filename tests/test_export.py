"""What is taken away gives the same frequencies again: read back, executed, parsed."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posviz import hf_config as reader
from posviz import params
from posviz import rope as rope_module
from posviz.config_text import LlamaCppFlags, parse
from posviz.export import (
    COLUMNS,
    STYLES,
    Setting,
    hf_config,
    hf_notes,
    llama_cpp_flags,
    snippet,
    spectrum_csv,
)
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import (
    ROPE_SCALINGS,
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NoScaling,
    Ntk,
    Proportional,
    Yarn,
    effect,
)

factors = st.floats(params.FACTOR.low, params.FACTOR.high)
contexts = st.integers(int(params.TRAINED_CONTEXT.low), int(params.TRAINED_CONTEXT.high))
sizes = st.floats(0.1, 4.0)


def maybe(strategy):
    return st.none() | strategy


@st.composite
def settings(draw, method=None, ramps=("pairs",)):
    """Any setting within the handles' ranges; dimensions that rotate may be a part of the head."""
    method = method or draw(st.sampled_from(sorted(ROPE_SCALINGS)))
    smallest = 4 if method in ("ntk", "dynamic") else 2
    rotary_dim = 2 * draw(st.integers(smallest // 2, int(params.HEAD_DIM.high) // 2))
    head_dim = rotary_dim if method == "proportional" else draw(st.integers(rotary_dim, 300))
    trained, context, factor = draw(contexts), draw(contexts), draw(factors)
    few, many = sorted(draw(st.tuples(st.floats(0.1, 64.0), st.floats(0.1, 64.0))))
    if method == "longrope":
        rng = np.random.default_rng(draw(st.integers(0, 2**31)))
        lists = (tuple(each) for each in rng.uniform(1.0, 64.0, (2, rotary_dim // 2)))
        scaling = LongRope(
            *lists,
            trained,
            factor=draw(maybe(factors)),
            max_position_embeddings=context,
            attention_factor=draw(maybe(sizes)),
        )
    else:
        scaling = {
            "default": lambda: NoScaling(),
            "linear": lambda: Linear(factor),
            "ntk": lambda: Ntk(factor),
            "dynamic": lambda: DynamicNtk(factor, trained),
            "llama3": lambda: Llama3(factor, trained, few, many),
            "proportional": lambda: Proportional(draw(st.floats(0.0, 1.0)), factor),
            "yarn": lambda: Yarn(
                factor,
                trained,
                many,
                few,
                draw(st.booleans()),
                draw(maybe(sizes)),
                draw(maybe(st.floats(0.0, 2.0))),
                draw(maybe(st.floats(0.0, 2.0))),
                draw(st.sampled_from(ramps)),
            ),
        }[method]()
    rope = RoPE(rotary_dim, draw(st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high)))
    return Setting(rope, scaling, head_dim, context, trained)


lengths = st.sampled_from([1, 4096, 4097, 131_072, 1_000_000])


# Where a formula has an edge that random settings hardly meet.
EDGES = [
    Setting(RoPE(64), Yarn(4.0, 131_072), 64, 500_000, 131_072),  # ends past the last pair
    Setting(RoPE(8, 10.0), Yarn(4.0, 131_072), 8, 500_000, 131_072),  # ends before it begins
    Setting(RoPE(64), Yarn(8.0, 4096, 7.0, 7.0, truncate=False), 64, 32_768, 4096),  # a step
    Setting(RoPE(64), Yarn(8.0, 4096, 1.0, 1.0), 64, 32_768, 4096),  # one pair wide
    Setting(RoPE(64), Yarn(40.0, 4096, mscale=0.7), 64, 163_840, 4096),  # a lone mscale
    Setting(RoPE(64), Yarn(40.0, 4096, mscale=0.7, mscale_all_dim=0.0), 64, 163_840, 4096),
    Setting(RoPE(64), Yarn(40.0, 4096, mscale=0.7, mscale_all_dim=1.0), 64, 163_840, 4096),
    Setting(RoPE(64), Yarn(1.0, 4096), 64, 4096, 4096),
    Setting(RoPE(64), Llama3(8.0, 8192, 1.0, 1.0), 64, 65_536, 8192),  # a step
    Setting(RoPE(64), Proportional(0.0), 64, 8192, 8192),  # nothing turns
    Setting(RoPE(58), Linear(2.0), 200, 8192, 4096),  # a share of 0.29
]


def computed(code):
    """What a snippet leaves behind."""
    made = {}
    exec(compile(code, "snippet", "exec"), made)
    return made


@pytest.mark.parametrize("setting", EDGES)
def test_edges_are_exported_like_all_else(setting):
    inv_freq, attention_factor = setting.frequencies()
    made = computed(snippet(setting))
    found = [(made["inv_freq"], made["attention_factor"])]
    found += [reader.rope_frequencies(hf_config(setting, style)) for style in STYLES]
    for theirs in found:
        np.testing.assert_allclose(theirs[0], inv_freq, rtol=1e-12)
        assert theirs[1] == pytest.approx(attention_factor, rel=1e-12)


@pytest.mark.parametrize(
    "scaling",
    [LongRope((1.0, 2.0), (3.0, 4.0), 4096, factor=2.0), DynamicNtk(2.0, 4096)],
    ids=["longrope", "dynamic"],
)
@pytest.mark.parametrize("seq_len", [None, 1, 4096, 4097])
def test_a_snippet_changes_after_exactly_the_trained_context(scaling, seq_len):
    setting = Setting(RoPE(4), scaling, 4, 8192, 4096)
    found = computed(snippet(setting, seq_len))["inv_freq"]
    np.testing.assert_allclose(found, setting.frequencies(seq_len)[0], rtol=1e-12)


@given(settings(), st.sampled_from(STYLES), maybe(lengths))
def test_a_config_reads_back_as_the_setting(setting, style, seq_len):
    config = json.loads(json.dumps(hf_config(setting, style)))
    assert set(config) <= {
        "head_dim", "max_position_embeddings", "rope_theta", "partial_rotary_factor", style,
    }  # fmt: skip
    found = reader.rope_frequencies(config, seq_len=seq_len)
    expected = setting.frequencies(seq_len)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1] == pytest.approx(expected[1], rel=1e-15)
    reading = reader.read(config)
    assert reading.head_dim == setting.head_dim
    assert reading.rotary[0].rope.rotary_dim == setting.rope.rotary_dim
    if not isinstance(setting.scaling, Ntk):
        assert reading.rotary[0].rope == setting.rope
        assert reading.rotary[0].rope_type == setting.scaling.rope_type


@given(settings(ramps=("pairs", "turns")), maybe(lengths))
def test_a_snippet_computes_the_setting(setting, seq_len):
    code = snippet(setting, seq_len)
    made = computed(code)
    inv_freq, attention_factor = setting.frequencies(seq_len or setting.trained)
    assert isinstance(made["inv_freq"], list)
    np.testing.assert_allclose(made["inv_freq"], inv_freq, rtol=1e-12)
    assert made["attention_factor"] == pytest.approx(attention_factor, rel=1e-12)
    np.testing.assert_allclose(made["wavelengths"], rope_module.wavelength(inv_freq), rtol=1e-12)
    assert {line for line in code.splitlines() if "import" in line} == {"import math"}


@given(st.sampled_from(sorted(ROPE_SCALINGS)).flatmap(lambda method: settings(method)))
def test_a_snippet_is_short_enough_to_read(setting):
    lines = snippet(setting).splitlines()
    assert max(map(len, lines)) <= 170
    if not isinstance(setting.scaling, LongRope):  # whose lists are as long as they are
        assert 15 <= len(lines) <= 40


@given(st.sampled_from(["default", "linear", "ntk", "yarn"]).flatmap(lambda m: settings(m)))
def test_llama_cpp_s_flags_are_the_setting_or_a_sentence(setting):
    try:
        line = llama_cpp_flags(setting)
    except InvalidParameterError as told:
        assert isinstance(setting.scaling, Yarn)
        assert str(told).startswith("llama.cpp ")
        return
    parsed = parse(line)
    assert parsed.form == "llama.cpp" and not parsed.notes
    flags = LlamaCppFlags.of(parsed.config)
    assert flags.ctx_size == setting.max_position_embeddings
    # From a file with another base, which the flags replace.
    found = flags.frequencies(RoPE(setting.rope.rotary_dim, 123.0), 777)
    expected = setting.frequencies()
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    assert found[1] == pytest.approx(expected[1], rel=1e-6)


def test_flags_as_they_are_typed():
    rope = RoPE(128, 10_000.0)
    for scaling, line in (
        (NoScaling(), "--rope-scaling none --rope-freq-base 10000 --ctx-size 16384"),
        (Linear(4), "--rope-scaling linear --rope-scale 4 --rope-freq-base 10000 --ctx-size 16384"),
        (
            Yarn(4, 4096),
            "--rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 4096 --yarn-beta-fast 32 "
            "--yarn-beta-slow 1 --rope-freq-base 10000 --ctx-size 16384",
        ),
    ):
        assert llama_cpp_flags(Setting(rope, scaling, 128, 16_384, 4096)) == line


@pytest.mark.parametrize(
    ("scaling", "said"),
    [
        (DynamicNtk(4, 4096), "no flag for dynamic: it keeps one base"),
        (Llama3(8, 8192), "no flag for llama3: .*rope_freqs.weight"),
        (Proportional(0.5), "no flag for proportional: .*rope_freqs.weight"),
        (
            LongRope((1.0,) * 4, (2.0,) * 4, 4096, factor=2.0),
            "no flag for longrope: .*rope_factors_long.weight",
        ),
        (Yarn(4, 4096, truncate=False), "always rounds"),
        (Yarn(4, 4096, attention_factor=1.0), "attention_factor must be that, got 1"),
        (Yarn(4, 4096, mscale=0.707, mscale_all_dim=0.707), "yarn_log_multiplier"),
        (Yarn(4, 4096, ramp_over="turns"), "no YaRN whose ramp is over turns"),
        (Yarn(4, 128, beta_fast=1e-3, beta_slow=1e-4), None),
    ],
)
def test_what_llama_cpp_lacks_is_told(scaling, said):
    setting = Setting(RoPE(8), scaling, 8, 16_384, 4096)
    if said is None:
        assert llama_cpp_flags(setting)
        return
    with pytest.raises(InvalidParameterError, match=said):
        llama_cpp_flags(setting)


def test_a_ramp_that_ends_before_it_begins_is_told():
    setting = Setting(RoPE(8, 10.0), Yarn(4, 131_072), 8, 500_000, 131_072)
    with pytest.raises(InvalidParameterError, match="ends before it begins"):
        llama_cpp_flags(setting)


def test_a_ramp_over_turns_has_no_config():
    setting = Setting(RoPE(8), Yarn(4, 4096, ramp_over="turns"), 8, 16_384, 4096)
    with pytest.raises(InvalidParameterError, match="Hugging Face has no YaRN whose ramp"):
        hf_config(setting)


def test_configs_as_they_are_written():
    setting = Setting(RoPE(32, 10_000.0), Linear(4), 128, 16_384, 4096)
    assert hf_config(setting) == {
        "head_dim": 128,
        "max_position_embeddings": 16_384,
        "rope_parameters": {
            "rope_type": "linear",
            "factor": 4.0,
            "rope_theta": 10_000.0,
            "partial_rotary_factor": 0.25,
        },
    }
    assert hf_config(setting, "rope_scaling") == {
        "head_dim": 128,
        "max_position_embeddings": 16_384,
        "rope_theta": 10_000.0,
        "partial_rotary_factor": 0.25,
        "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    }
    plain = Setting(RoPE(128), NoScaling(), 128, 4096, 4096)
    assert hf_config(plain, "rope_scaling")["rope_scaling"] is None
    yarn = Setting(RoPE(128), Yarn(4, 4096, mscale=1.0, attention_factor=1.0), 128, 16_384, 4096)
    assert hf_config(yarn)["rope_parameters"] == {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096,
        "beta_fast": 32.0, "beta_slow": 1.0, "truncate": True, "attention_factor": 1.0,
        "mscale": 1.0, "rope_theta": 10_000.0,
    }  # fmt: skip


@given(st.integers(1, 150).flatmap(lambda i: st.tuples(st.just(2 * i), st.integers(2 * i, 400))))
def test_a_share_of_the_head_is_truncated_to_the_dimensions_that_rotate(sizes):
    rotary_dim, head_dim = sizes
    assume(rotary_dim < head_dim)
    setting = Setting(RoPE(rotary_dim), NoScaling(), head_dim, 4096, 4096)
    share = hf_config(setting)["rope_parameters"]["partial_rotary_factor"]
    assert int(head_dim * share) == rotary_dim


def test_static_ntk_is_a_larger_base_and_says_so():
    setting = Setting(RoPE(128, 10_000.0), Ntk(4.0), 128, 16_384, 4096)
    settings_of = hf_config(setting)["rope_parameters"]
    assert settings_of["rope_type"] == "default"
    assert settings_of["rope_theta"] == pytest.approx(10_000.0 * 4.0 ** (128 / 126))
    (note,) = hf_notes(setting)
    assert note.sentence == (
        "Hugging Face has no static NTK: it is plain RoPE over a larger rope_theta, 40,889.9 "
        "instead of 10,000"
    )


def test_other_notes_are_told_where_they_hold():
    rope = RoPE(8)
    (note,) = hf_notes(Setting(rope, DynamicNtk(4, 4096), 8, 16_384, 4096))
    assert "4,096 tokens from which the base grows" in note.sentence
    assert hf_config(Setting(rope, DynamicNtk(4, 4096), 8, 16_384, 4096))[
        "max_position_embeddings"
    ] == 4096  # fmt: skip
    own = LongRope((1.0,) * 4, (2.0,) * 4, 4096, factor=8.0)
    (note,) = hf_notes(Setting(rope, own, 8, 16_384, 4096))
    assert note.sentence.startswith("transformers up to 4.57 takes 4, the ratio")
    assert hf_notes(Setting(rope, own, 8, 8 * 4096, 4096)) == ()
    (note,) = hf_notes(Setting(rope, Proportional(0.5, 2.0), 8, 16_384, 4096))
    assert "warns" in note.sentence
    assert hf_notes(Setting(rope, Proportional(0.5), 8, 16_384, 4096)) == ()
    assert hf_notes(Setting(rope, Linear(4), 8, 16_384, 4096)) == ()


@given(settings(ramps=("pairs", "turns")), maybe(lengths), st.sampled_from(["half", "interleaved"]))
def test_the_table_is_the_spectrum(setting, seq_len, layout):
    text = spectrum_csv(setting, seq_len, layout)
    assert text.endswith("\n") and not text.endswith("\n\n")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == list(COLUMNS)
    rope, found = setting.rope, effect(setting.scaling, setting.rope, seq_len)
    scaled, _ = setting.frequencies(seq_len)
    for name, numbers in (
        ("pair", np.arange(rope.rotary_dim // 2)),
        ("inv_freq", rope.inv_freq),
        ("inv_freq_scaled", scaled),
        ("wavelength", found.wavelength_before),
        ("wavelength_scaled", found.wavelength_after),
        ("ratio", found.ratio),
        ("turns_in_training", rope_module.turns(rope.inv_freq, setting.trained)),
    ):
        assert [float(row[name]) for row in rows] == numbers.tolist()
    assert [row["kind"] for row in rows] == found.kind.tolist()
    dims = [tuple(map(int, row["dims"].split())) for row in rows]
    half = rope.rotary_dim // 2
    pairs = range(half)
    expected = {"half": [(i, i + half) for i in pairs],
                "interleaved": [(2 * i, 2 * i + 1) for i in pairs]}  # fmt: skip
    assert dims == expected[layout]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"head_dim": 4}, "head_dim must be a whole number of at least 8, got 4"),
        ({"scaling": Proportional(0.5), "head_dim": 16}, "head_dim must be the 8 dimensions"),
        ({"max_position_embeddings": 0}, "max_position_embeddings must be"),
        ({"trained": 0}, "trained must be"),
        ({"scaling": LongRope((1.0,), (2.0,), 4096, factor=2.0)}, "one number per pair, 4 here"),
        ({"rope": "plain"}, "rope must be an object of the class RoPE"),
    ],
)
def test_a_wrong_setting_is_told(wrong, said):
    right = {
        "rope": RoPE(8), "scaling": Linear(2), "head_dim": 8, "max_position_embeddings": 8192,
        "trained": 4096,
    }  # fmt: skip
    with pytest.raises(InvalidParameterError, match=said):
        Setting(**{**right, **wrong})


def test_a_method_of_one_s_own_is_told():
    class Mine:
        rope_type = "mine"
        depends_on_length = False

        def frequencies(self, rope, seq_len=None):
            return rope.inv_freq / 2.0, 1.0

        def stretch(self, seq_len=None):
            return 2.0

    setting = Setting(RoPE(8), Mine(), 8, 8192, 4096)
    for export in (hf_config, llama_cpp_flags, snippet):
        with pytest.raises(InvalidParameterError, match="scaling must be one of default"):
            export(setting)
    assert "stretched" in spectrum_csv(setting)
    with pytest.raises(InvalidParameterError, match="style must be one of"):
        hf_config(setting, "yaml")
