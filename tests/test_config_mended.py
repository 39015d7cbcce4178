"""Mends put together, the mended file as text, and what it changes."""

import json
import math
import random
import time

import numpy as np
import pytest

from posviz import presets
from posviz.config_doctor import examine
from posviz.config_mended import comparisons, mended, shown, written
from posviz.config_text import LlamaCppFlags, parse
from posviz.hf_config import read, rope_frequencies
from posviz.params import InvalidParameterError
from tests.test_config_doctor import CAUSES, FLAGS, LLAMA, QWEN_PLAIN, changed, mutated


@pytest.mark.parametrize("cause", CAUSES)
def test_nothing_that_can_be_mended_is_left(cause):
    examination = examine(CAUSES[cause][0])
    left = examine(mended(examination)).findings
    assert not [each for each in left if each.level != "note" and each.mend]


@pytest.mark.parametrize("line", FLAGS)
def test_no_flag_that_can_be_mended_is_left(line):
    examination = examine(f"llama-cli {line}", model=QWEN_PLAIN)
    flags = mended(examination, model=QWEN_PLAIN)
    text = " ".join(f"{name} {value}" for name, value in flags.items()) or "-c 0"
    left = examine(text, model=QWEN_PLAIN).findings
    assert not [each for each in left if each.level != "note" and each.mend]


def test_a_healthy_file_is_left_as_it_is():
    for name in ("Llama-3.1-8B-Instruct", "Phi-3.5-mini-instruct", "gemma-3-4b-it"):
        assert mended(examine(presets.config(name))) == presets.config(name)


@pytest.mark.parametrize(
    "text",
    [
        *(json.dumps(presets.config(name)) for name in ("gemma-3-4b-it", "Phi-3.5-mini-instruct")),
        '{"a": "é \\ud800 \\u2028", "rope_theta": 1e999, "b": [], "c": {}, "d": [[1], {"e": 1}]}',
        "llama-cli --rope-scaling yarn --rope-scale 2.5 --yarn-orig-ctx 4096 --rope-freq-scael 3",
        """vllm serve x --hf-overrides '{"rope_scaling": {"type": "it\\u0027s", "factor": 2}}'""",
    ],
)
def test_what_is_written_is_read_as_the_same(text):
    parsed = parse(text)
    again = parse(written(parsed))
    assert repr(again.config) == repr(parsed.config)
    written(parsed).encode()  # can be sent


def test_a_file_is_written_as_people_do():
    parsed = parse('{"a": {"b": [1.0, 2.5], "c": true}, "d": 8}')
    assert written(parsed) == '{\n  "a": {\n    "b": [1.0, 2.5],\n    "c": true\n  },\n  "d": 8\n}'
    assert shown([1.0] * 99, 12) == "[1.0, 1.0, …"


def test_a_lost_base_is_compared_with_the_one_that_is_meant():
    made = changed(LLAMA, "rope_theta")
    examination = examine(made)
    (found,) = comparisons(examination, mended(examination))
    wrong, right = rope_frequencies({**LLAMA, "rope_theta": 1e4})[0], rope_frequencies(LLAMA)[0]
    assert (found.against, found.rope_theta, found.method) == ("mended", 1e4, "llama3")
    np.testing.assert_array_equal(found.errors, np.abs(wrong - right))
    assert found.worst == np.abs(wrong - right).argmax()
    first = found.first_off(found.worst)
    assert first == found.effect.distance == math.floor(0.1 / np.abs(wrong - right).max()) + 1
    assert found.telling == 48
    assert found.first_off(0) is None  # pair 0 has the frequency 1 with any base


def test_a_healthy_file_is_compared_with_itself_unscaled():
    examination = examine(LLAMA)
    (found,) = comparisons(examination, mended(examination))
    assert found.against == "plain"
    np.testing.assert_array_equal(found.meant[0], 5e5 ** (-np.arange(64) / 64))
    np.testing.assert_array_equal(found.configured[0], rope_frequencies(LLAMA)[0])
    assert found.errors[found.telling] > 0.0
    assert found.count_off(0) == 0
    assert found.count_off(10**9) == np.count_nonzero(found.errors)


def test_what_cannot_be_read_is_compared_once_it_is_mended():
    examination = examine(changed(LLAMA, inside={"factor": "8.0"}))
    (found,) = comparisons(examination, mended(examination))
    assert examination.reading is None
    assert found.against == "plain"
    np.testing.assert_array_equal(found.configured[0], rope_frequencies(LLAMA)[0])
    hopeless = examine(changed(LLAMA, without=["factor"]))
    assert comparisons(hopeless, mended(hopeless)) == ()


def test_each_layer_type_is_compared():
    made, *_ = CAUSES["bases_exchanged"]
    examination = examine(made)
    found = {each.layer_type: each for each in comparisons(examination, mended(examination))}
    assert found.keys() == {"full_attention", "sliding_attention"}
    right = read(mended(examination))
    for rotary in right.rotary:
        np.testing.assert_array_equal(found[rotary.layer_type].meant[0], rotary.frequencies()[0])


def test_flags_are_compared_with_the_mended_ones():
    line = "--rope-scaling yarn --rope-scale 0.25 --yarn-orig-ctx 32768 -c 131072"
    examination = examine(line, model=QWEN_PLAIN)
    flags = mended(examination, model=QWEN_PLAIN)
    assert flags["--rope-scale"] == 4
    (found,) = comparisons(examination, flags, model=QWEN_PLAIN)
    rope = read(QWEN_PLAIN).rotary[0].rope
    right = LlamaCppFlags("yarn", 4.0, yarn_orig_ctx=32768).frequencies(rope, 32768)
    np.testing.assert_array_equal(found.meant[0], right[0])
    assert found.meant[1] == right[1]
    assert comparisons(examination, flags) == ()  # no model, no sizes


def test_accidents_are_mended_and_compared_in_a_moment():
    rng = random.Random(5)
    originals = [presets.config(name) for name in presets.names()]
    slowest = 0.0
    for _ in range(150):
        made = mutated(rng, rng.choice(originals))
        began = time.thread_time()
        try:
            examination = examine(made)
        except InvalidParameterError:
            continue
        for each in comparisons(examination, mended(examination)):
            assert np.isfinite(each.errors).all()
            assert each.effect.harm >= 0.0
        slowest = max(slowest, time.thread_time() - began)
    assert slowest < 2.0
