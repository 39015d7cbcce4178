"""Pasted text: what it says, or one sentence with line and column; flags as frequencies."""

import json
import math
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posviz import config_text, presets
from posviz.config_text import LlamaCppFlags, parse
from posviz.hf_config import rope_frequencies
from posviz.params import InvalidParameterError
from posviz.rope import RoPE

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
FILE = {"model_type": "qwen2", "hidden_size": 3584, "rope_scaling": YARN}


# What is read.


@pytest.mark.parametrize(
    ("text", "form", "config"),
    [
        (json.dumps(FILE), "config", FILE),
        (json.dumps(FILE, indent=2), "config", FILE),
        (f"\n\n  {json.dumps(FILE)};\n", "config", FILE),
        ("\ufeff" + json.dumps(FILE), "config", FILE),
        (json.dumps(FILE).encode(), "config", FILE),
        (json.dumps(FILE).encode("utf-16"), "config", FILE),
        (f"```json\n{json.dumps(FILE, indent=1)}\n```\n", "config", FILE),
        (f"My config:\n\n```\n{json.dumps(FILE)}\n```\nWhy?", "config", FILE),
        ("{}", "config", {}),
        (json.dumps(YARN), "settings", {"rope_scaling": YARN}),
        ('{"type": "linear", "factor": 2}', "settings",
         {"rope_scaling": {"type": "linear", "factor": 2}}),
        (f"rope_scaling = {json.dumps(YARN)}", "settings", {"rope_scaling": YARN}),
        (f"config.rope_parameters = {json.dumps(YARN)};", "settings", {"rope_parameters": YARN}),
        (f'"rope_scaling": {json.dumps(YARN)},\n', "settings", {"rope_scaling": YARN}),
        (f'"rope_theta": 1e4,\n"rope_scaling": {json.dumps(YARN)},\n', "config",
         {"rope_theta": 1e4, "rope_scaling": YARN}),
        ('{"full_attention": {"rope_type": "linear", "factor": 8.0}}', "settings",
         {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0}}}),
        ("./llama-server -m q.gguf -c 32768 --rope-scaling yarn --rope-scale 4 -ngl 99",
         "llama.cpp", {"--ctx-size": 32768, "--rope-scaling": "yarn", "--rope-scale": 4}),
        ("--rope_freq_base=1e6 \\\n  --yarn-orig-ctx 4096", "llama.cpp",
         {"--rope-freq-base": 1_000_000, "--yarn-orig-ctx": 4096}),
        ("--yarn-ext-factor -1", "llama.cpp", {"--yarn-ext-factor": -1}),
        (f"vllm serve q --rope-scaling '{json.dumps(YARN)}' --max-model-len 131072", "vllm",
         {"rope_scaling": YARN}),
        (f"vllm serve q --hf-overrides '{json.dumps(FILE)}' --rope-theta 5e5", "vllm",
         {**FILE, "rope_theta": 500_000}),
    ],
    ids=lambda each: str(each)[:40],
)  # fmt: skip
def test_a_text_is_read(text, form, config):
    parsed = parse(text)
    assert (parsed.form, parsed.config) == (form, config)


def test_what_is_doubled_or_without_effect_is_noted():
    notes = parse('{"a": 1, "b": {"c": [2], "c": {"d": 3}}, "a": "x"}').notes
    assert [each.sentence for each in notes] == [
        "c stands twice, as a list and as an object: the last one counts",
        "a stands twice, as 1 and as 'x': the last one counts",
    ]
    (note,) = parse("--rope-scale 4 --rope-scale 8").notes
    assert note.sentence == "--rope-scale 4 comes before --rope-scale 8, which counts instead of it"
    (note,) = parse("--rope-scale 4 --rope-freq-scale 0.5").notes
    assert note.key == "--rope-scale"
    assert parse("--rope-scale 4 --rope-freq-scale 0.25").notes == ()  # they agree
    (note,) = parse("--rope-theta 5 --max-model-len 9").notes
    assert note.sentence == "--max-model-len 9 makes room for as many tokens; it scales nothing"


# What is refused, where and why.


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ('{"a": 1,}', 1, 8, "a comma before the closing bracket"),
        ('{"a": 1,\n}', 1, 8, "a comma before the closing bracket"),
        ('{\n "a": [1, 2,\n ]}', 2, 12, "a comma before the closing bracket"),
        ("{'a': 1}", 1, 2, "a single quote: names and texts stand in double quotes"),
        ('{"a": \'b\'}', 1, 7, "a single quote"),
        ('{"a": True}', 1, 7, "Python's True: JSON writes it in lower case"),
        ('{"a": None}', 1, 7, "Python's None: JSON writes null"),
        ('{"a": 1, // b\n "c": 2}', 1, 10, "a comment"),
        ('{"a": 1,\n # b\n "c": 2}', 2, 2, "a comment"),
        ('{"a": NaN}', 1, 7, "NaN: JSON has no such number"),
        ('{"a": "NaN",\n "b": -Infinity}', 2, 7, "-Infinity"),
        ('{"a": 1', 1, 8, "the end of the text: the rest is missing"),
        ('{"a": {"b": 2}', 1, 15, "the end of the text"),
        ('{"a": "b', 1, 7, "a string that does not end"),
        ('{"a" 1}', 1, 6, "a colon is missing"),
        ('{"a" = 1}', 1, 6, "an equals sign"),
        ('{"a": 1\n "b": 2}', 2, 2, "a comma is missing"),
        ("{a: 1}", 1, 2, "'a': a name stands in double quotes"),
        ("{“a”: 1}", 1, 2, "a curly quote"),
        ('{"a": ...}', 1, 7, "dots"),
        ('{"a": x4}', 1, 7, "true, false, null, or stands in double quotes"),
        ('{"a": 1} {"b": 2}', 1, 10, "more text after the end of the JSON"),
        ('{"a": 1}}', 1, 9, "more text after the end of the JSON"),
        ('{"a": "b\nc"}', 1, 9, "a string goes over the end of its line"),
        ('{"a": "\\x"}', 1, 8, "a backslash stands twice"),
        ("[1, 2]", 1, 1, "one JSON object in braces, got a list"),
        ("\n rope", 2, 2, "got 'rope': it must begin with {"),
        ('my file: {"a": 1}', 1, 1, "the text 'my file:' before the {"),
        ('```json\n{"a": 1,}\n```', 2, 8, "a comma before the closing bracket"),
        ("rope_scaling = {'type': 'yarn'}", 1, 17, "a single quote"),
        ('"a": 1 "b": 2', 1, 8, "a comma is missing"),
        ('{"a": ' + "9" * 5000 + "}", 1, 7, "more than 400 digits"),
        ('{"a": "' + "9" * 500 + '",\n"b": ' + "9" * 401 + "}", 2, 6, "more than 400 digits"),
        ('{"a": ' + "[" * 64 + "]" * 64 + "}", 1, 70, "at most 64 brackets"),
        ('{"a":\n' * 100_000, 65, 1, "at most 64 brackets"),
    ],
    ids=lambda each: str(each)[:40],
)  # fmt: skip
def test_a_text_is_refused_with_its_place_and_cause(text, line, column, part):
    with pytest.raises(InvalidParameterError) as wrong:
        parse(text)
    assert part in str(wrong.value)
    assert str(wrong.value).endswith(f"(line {line}, column {column})")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "got nothing"), ("  \n ", "got nothing"), (5, "got int"), (None, "got NoneType"),
        (b"\xff\xfe\x00", "a binary file"), ("a\0b", "a binary file"), (b"\x89PNG\r\n", "binary"),
        ("{" + " " * 2_000_000, "at most 2,000,000 characters"),
        (b"x" * 10**7, "at most 2,000,000"),
        ("--rope-scale", "must be followed by a value"), ("--rope-scale x", "got 'x'"),
        ("--rope-scale --yarn-orig-ctx 4", "must be followed by a value"),
        ("--rope-scale nan", "finite number"), ("--temp 3", "flag that changes positions"),
        ("vllm serve q --hf-overrides '[1]'", "JSON in braces, got a list"),
        ("vllm serve q --max-model-len 5", "got none of them"),
    ],
    ids=lambda each: str(each)[:30],
)  # fmt: skip
def test_what_cannot_be_read_gets_a_sentence(text, part):
    with pytest.raises(InvalidParameterError, match="got") as wrong:
        parse(text)
    assert part in str(wrong.value)


pieces = st.sampled_from(
    ['{"rope_scaling": {', '"factor"', ": ", "4.0", ", ", "}", "[", "]", '"', "\\", "'", "\n",
     "```", "```json\n", "NaN", "-", "1e999", "--rope-scale", " --yarn-orig-ctx", "=", "vllm ",
     "--hf-overrides ", "null", "\ud83d", "/*", "rope_scaling = ", " ", "9" * 300]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(pieces, max_size=30).map("".join), st.binary(max_size=50)))
@example('{"rope_scaling"')
@example("--rope-scaling '{\"a\": 1'")
def test_any_text_is_parsed_or_refused_in_a_sentence(text):
    try:
        parsed = parse(text)
    except InvalidParameterError as wrong:
        assert "got" in str(wrong)
        assert len(str(wrong)) < 500
    else:
        assert isinstance(parsed.config, dict)


@pytest.mark.parametrize(
    "text",
    ['"' + '\\"' * 999_000, "[" * 1_999_999, '{"a": ' * 300_000, '{"a": "' + "\\\\" * 900_000,
     "{" + '"a": 1, ' * 240_000 + '"b": 2}', "--rope-scale 4 " * 130_000, "'" * 1_999_999,
     '{"a": [' + "1," * 990_000 + "1]}", '"a":' * 400_000, "\n" * 1_999_999 + "x",
     "```json\n" * 240_000, "-c " * 600_000],
    ids=lambda each: each[:12],
)  # fmt: skip
def test_a_long_text_takes_less_than_two_seconds(text):
    began = time.thread_time()
    try:
        parse(text)
    except InvalidParameterError as wrong:
        assert len(str(wrong)) < 500
    assert time.thread_time() - began < 2.0


# Flags of llama.cpp as frequencies.

QWEN = RoPE(128, 1e6)


def test_yarn_flags_are_hugging_face_s_yarn():
    flags = LlamaCppFlags("yarn", rope_scale=4.0, yarn_orig_ctx=32768)
    inv_freq, attention_factor = flags.frequencies(QWEN, 131072)
    wanted, factor = rope_frequencies(
        {"head_dim": 128, "rope_parameters": {**YARN, "rope_theta": 1e6}}
    )
    np.testing.assert_allclose(inv_freq, wanted, rtol=1e-12)
    assert attention_factor == factor == pytest.approx(1.1386294361119891)
    by_model, _ = LlamaCppFlags("yarn", rope_freq_scale=0.25).frequencies(QWEN, 32768)
    np.testing.assert_array_equal(by_model, inv_freq)


def test_flags_follow_llama_cpp_s_own_loop():
    """``rope_yarn`` and ``ggml_rope_yarn_corr_dims`` of ggml, written out."""
    for base, trained, scale, share, fast, slow in (
        (1e4, 4096, 8.0, 1.0, 32.0, 1.0), (5e5, 8192, 2.5, 0.5, 16.0, 2.0),
        (1e4, 131072, 4.0, 1.0, 32.0, 1.0), (1e4, 4096, 4.0, 1.0, 1.0, 32.0),
        (1e4, 4096, 4.0, 1.0, 1.0, 1.0),
    ):  # fmt: skip
        flags = LlamaCppFlags(
            "yarn", rope_scale=scale, rope_freq_base=base, yarn_orig_ctx=trained,
            yarn_ext_factor=share, yarn_beta_fast=fast, yarn_beta_slow=slow,
        )  # fmt: skip
        got, _ = flags.frequencies(RoPE(64, 7.0), 1)

        def corr_dim(turns, trained=trained, base=base):
            return 64 * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

        start = max(0, math.floor(corr_dim(fast)))
        end = min(63, math.ceil(corr_dim(slow)))
        for i in range(32):
            plain = base ** (-2 * i / 64)
            y = (i - start) / max(0.001, end - start)
            mix = (1 - min(1, max(0, y))) * share
            assert got[i] == pytest.approx(plain / scale * (1 - mix) + plain * mix, rel=1e-12)


@pytest.mark.parametrize(
    ("flags", "divisor", "factor"),
    [
        (LlamaCppFlags(), 1.0, 1.0),
        (LlamaCppFlags("linear", rope_scale=4.0), 4.0, 1.0),
        (LlamaCppFlags(rope_freq_scale=0.125), 8.0, 1.0),
        (LlamaCppFlags("none", rope_scale=4.0), 1.0, 1.0),
        (LlamaCppFlags("yarn", rope_scale=4.0, yarn_ext_factor=0.0), 4.0, 1.0),
        (LlamaCppFlags("linear", rope_scale=4.0, yarn_attn_factor=0.5), 4.0, 0.5),
        (LlamaCppFlags("linear", rope_scale=0.5), 0.5, 1.0),
        (LlamaCppFlags("linear", rope_scale=4.0, yarn_attn_factor=-1.0, yarn_ext_factor=-1.0,
                       rope_freq_base=0.0, yarn_orig_ctx=0, ctx_size=0, yarn_beta_fast=-1.0),
         4.0, 1.0),
    ],
)  # fmt: skip
def test_flags_without_yarn_divide_every_frequency(flags, divisor, factor):
    inv_freq, attention_factor = flags.frequencies(QWEN, 32768)
    np.testing.assert_allclose(inv_freq * divisor, QWEN.inv_freq, rtol=1e-15)
    assert attention_factor == factor


def test_the_attention_flag_has_no_say_over_yarn():
    flags = LlamaCppFlags("yarn", rope_scale=4.0, yarn_attn_factor=1.5)
    assert flags.frequencies(QWEN, 32768)[1] == pytest.approx(1.1386294361119891)


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        ({"rope_scaling": "YaRN"}, "--rope-scaling must be one of none, linear, yarn"),
        ({"rope_scale": 0.0}, "--rope-scale must be"), ({"rope_scale": -1.0}, "--rope-scale must"),
        ({"rope_freq_scale": -1.0}, "--rope-freq-scale must"),
        ({"rope_freq_base": 1.0}, "--rope-freq-base must be a finite number above 1"),
        ({"yarn_ext_factor": 2.0}, "--yarn-ext-factor must"),
        ({"yarn_beta_fast": 0.0}, "--yarn-beta-fast must"), ({"ctx_size": 1.5}, "--ctx-size must"),
        ({"yarn_orig_ctx": "4k"}, "--yarn-orig-ctx must"),
        ({"yarn_attn_factor": math.inf}, "--yarn-attn-factor must"),
    ],
)  # fmt: skip
def test_flags_are_checked(flags, part):
    with pytest.raises(InvalidParameterError, match=f"^{part}"):
        LlamaCppFlags(**flags)


def test_longrope_is_no_flag():
    with pytest.raises(InvalidParameterError, match=r"^--rope-scaling must be one of none, linear"):
        LlamaCppFlags("longrope").frequencies(QWEN, 4096)


def test_flags_are_made_from_a_parsed_line():
    parsed = parse("llama-cli --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768 -c 8192")
    flags = LlamaCppFlags.of(parsed.config)
    assert flags == LlamaCppFlags("yarn", rope_scale=4, yarn_orig_ctx=32768, ctx_size=8192)
    assert hash(flags)
    assert (flags.factor, flags.extrapolation) == (4.0, 1.0)


@pytest.mark.parametrize("name", ["Llama-3.1-8B-Instruct", "Phi-3.5-mini-instruct", "gemma-4-e2b"])
def test_a_record_survives_its_text(name):
    assert parse(json.dumps(presets.config(name), indent=2)).config == presets.config(name)


def test_sentences_can_be_translated():
    with pytest.raises(InvalidParameterError) as wrong:
        parse('{"a": 1,}')
    assert wrong.value.template == config_text.CAUSED
    assert wrong.value.values["line"] == 1


def test_what_is_no_json_is_shown_to_the_end_of_its_line():
    with pytest.raises(InvalidParameterError, match=r"got '\"low_freq_factor\": 1\.0,': a comma"):
        parse('{"factor": 8.0\n "low_freq_factor": 1.0,\n "x": 1}')


def test_a_method_is_read_as_llama_cpp_reads_it():
    assert parse("--rope-scaling YARN").config == {"--rope-scaling": "YARN"}
