"""The config doctor's page without a browser: what is pasted, what is told, what never raises."""

from __future__ import annotations

import json
import random
import re
import time
from html import escape, unescape
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import config_mended, config_text, presets
from posviz.config_doctor import examine
from posviz.figures import doctor as pictures
from posviz.figures.style import number
from posviz.hf_config import rope_frequencies
from posviz.params import InvalidParameterError
from posviz.ui import live
from posviz.ui.packing import packed, unpacked
from posviz.views.doctor import LONGEST, VIEW, case, case_of, pictures_of
from tests import test_config_doctor as core
from tests.server import ROOT
from tests.test_config_doctor import (
    CAUSES,
    FLAGS,
    LLAMA,
    QWEN,
    QWEN_PLAIN,
    TRUE_ALARMS,
    VERIFIED,
    as_text,
    changed,
    mutated,
)
from tests.ui.views import any_values, content, numbers

MODEL = "Qwen2.5-7B-Instruct"


@pytest.fixture(scope="module")
def doctor() -> live.View:
    """The view."""
    return VIEW


def pasted(doctor: live.View, given_text: str, **more: object) -> dict[str, Any]:
    """The pictures of a text, by the link that it makes if one can hold it."""
    linked = packed(given_text)
    if len(linked) <= 1500:
        values, problems = doctor.read({"start": "pasted", "config": linked, "model": MODEL})
        assert not problems
        return content(doctor.draw(**(values | more)))
    here = case(given_text, MODEL)
    return content(pictures_of(here, here.worst, 4096, 0))


def words(slots: dict[str, Any], *keys: str) -> str:
    """What pictures say, without markup."""
    told = " ".join(slots[key]["markup"] for key in keys if key in slots)
    return unescape(re.sub(r"<[^>]*>", "", told))


@given(data=st.data())
def test_what_a_logarithmic_axis_shows_is_above_0(doctor: live.View, data: st.DataObject) -> None:
    for slot in content(doctor.draw(**any_values(data.draw, doctor))).values():
        for trace in slot["figure"]["data"] if "figure" in slot else ():
            assert (numbers(trace["y"]) > 0).all()


def test_every_start_and_both_ends_of_its_handles_are_drawn(doctor: live.View) -> None:
    for start in doctor.declared(doctor.read({})[0])["start"].options:  # type: ignore[union-attr]
        values, problems = doctor.read({"start": start})
        assert not problems
        declared = doctor.declared(values)
        for layer in declared["layer"].options:  # type: ignore[union-attr]
            for distance in (1, 2**20):
                for pair in (0, declared["pair"].high):  # type: ignore[union-attr]
                    moved = {"layer": layer, "distance": distance}
                    assert doctor.draw(**(values | moved | {"pair": 0}))
                    if layer == values["layer"]:
                        assert doctor.draw(**(values | moved | {"pair": pair}))


@pytest.mark.parametrize("name", VERIFIED)
def test_a_verified_record_is_healthy(doctor: live.View, name: str) -> None:
    values, _ = doctor.read({"start": name})
    told = content(doctor.draw(**values))["verdict"]["markup"]
    assert ("is-healthy" in told) == (name not in {model for model, _ in TRUE_ALARMS})


@pytest.mark.parametrize("cause", CAUSES)
def test_a_mistake_is_told_with_its_key_reason_effect_and_mend(
    doctor: live.View, cause: str
) -> None:
    made, key, level, part = CAUSES[cause]
    text = json.dumps(made, indent=2)
    slots = pasted(doctor, text)
    told = words(slots, "findings")
    examination = examine(text)
    for each in examination.findings:
        assert each.sentence in told
        for one in each.effect.statements if each.effect else ():
            assert one.sentence[1:] in told
        if each.mend:
            assert escape(each.mend[-1].path[-1]) in slots["findings"]["markup"]
    assert any(each.key == key and part in each.sentence for each in examination.findings)
    assert f'is-{level}">' in slots["findings"]["markup"]
    for statement in examination.plain:
        assert statement.sentence[1:] in words(slots, "plain")


@pytest.mark.parametrize(
    ("made", "key", "part"),
    core.test_a_bug_report_pasted_as_text_names_its_cause.pytestmark[0].args[1],
)
def test_a_bug_report_is_named_when_it_is_pasted(
    doctor: live.View, made: Any, key: str, part: str
) -> None:
    told = words(pasted(doctor, json.dumps(made)), "findings")
    assert key in told
    assert part in told


@pytest.mark.parametrize("line", FLAGS)
def test_a_slip_on_a_command_line_is_told(doctor: live.View, line: str) -> None:
    key, _, part = FLAGS[line]
    told = words(pasted(doctor, f"llama-server -m model.gguf {line}"), "verdict", "findings")
    assert key in told
    assert part in told


def test_what_is_no_json_is_told_with_its_place(doctor: live.View) -> None:
    slots = pasted(doctor, '{"head_dim": 64,\n "rope_theta" 1e4}')
    assert list(slots) == ["verdict"]
    assert "(line 2, column 15)" in words(slots, "verdict")
    line, caret = words(slots, "verdict").split("\n")[1:3]
    assert line[caret.index("^") :].startswith("1e4")
    assert "Nothing to read yet" in words(pasted(doctor, " \n"), "verdict")
    for nothing in ("\0", "hello", "[1]", "{" * 400, "~x", "~!!", "--rope-scale"):
        assert "cannot be read" in words(pasted(doctor, nothing), "verdict")
    values, _ = doctor.read({"start": "pasted", "config": "~damaged"})
    assert "link" in words(content(doctor.draw(**values)), "verdict")


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=600))
def test_a_text_survives_its_link(doctor: live.View, text: str) -> None:
    linked = packed(text)
    assert linked.isprintable()
    assert unpacked("config", linked, 4 * LONGEST) == text


def test_what_is_typed_is_never_markup(doctor: live.View) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    made = changed(QWEN, inside={"type": nasty, nasty: 1, "attn_factor": nasty}, **{nasty: 2})
    layers = {**LLAMA, "rope_parameters": {nasty: {"rope_theta": 5.0}, "b": {"rope_theta": 6.0}}}
    texts = (json.dumps(made), json.dumps(layers), f'{{"a": {nasty}}}',
             f"--rope-scale 4 --rope-{nasty} 4", f"--rope-scaling '{nasty}'")  # fmt: skip
    for text in texts:
        for slot in pasted(doctor, text).values():
            assert "<img" not in slot.get("markup", "")


def test_the_caption_tells_the_core_s_numbers(doctor: live.View) -> None:
    made = changed(LLAMA, "rope_theta")
    wrong, right = rope_frequencies({**LLAMA, "rope_theta": 1e4})[0], rope_frequencies(LLAMA)[0]
    off = np.abs(wrong - right)
    for distance, pair in ((1, 0), (4096, 48), (2**20, 63)):
        slots = pasted(doctor, json.dumps(made), distance=distance, pair=pair)
        error = float(off[pair] * distance)
        told = slots["caption"]["markup"]
        assert (
            f"At a distance of {number(distance)} token{'s' * (distance > 1)} pair {pair} is off "
            f"by {number(error)} rad, {number(error / (2 * np.pi))} turns; "
            f"{int((off * distance > 0.1).sum())} of 64 pairs by more than 0.1 rad."
        ) in told
        assert number(2 * np.pi / right[pair]) in slots["turns:head"]["markup"]
        assert number(2 * np.pi / wrong[pair]) in slots["turns:head"]["markup"]
        _, _, chosen, worst = (numbers(one["y"]) for one in slots["off"]["figure"]["data"])
        np.testing.assert_allclose(worst, off.max() * config_mended.DISTANCES, rtol=1e-6)
        if pair:
            np.testing.assert_allclose(chosen, off[pair] * config_mended.DISTANCES, rtol=1e-6)
        mine, meant = (numbers(one["y"]) for one in slots["turns"]["figure"]["data"][::-1])
        np.testing.assert_allclose(mine, 2 * np.pi / wrong, rtol=1e-6)
        np.testing.assert_allclose(meant, 2 * np.pi / right, rtol=1e-6)
        formula = pictures.FORMULAS["mended"][0].value(
            pasted=wrong[pair], meant=right[pair], n=distance
        )
        assert formula == pytest.approx(error, rel=1e-12)


def test_a_wrong_attention_factor_is_told_as_the_gain_of_the_scores(doctor: live.View) -> None:
    made = changed(QWEN, inside={"attn_factor": 0.9})
    (found,) = examine(made).findings
    assert found.effect is not None
    slots = pasted(doctor, json.dumps(made))
    assert "off" not in slots
    assert f"Scores are {number(found.effect.logit_gain)} times as large." in words(
        slots, "caption"
    )
    mine, meant = (rope_frequencies(each)[1] for each in (made, found.mended(made)))
    gain = pictures.FORMULAS["mended"][1].value(pasted=mine, meant=meant)
    assert gain == pytest.approx(found.effect.logit_gain)


def test_a_healthy_file_tells_what_its_scaling_changes(doctor: live.View) -> None:
    name = "Yarn-Llama-2-7b-64k"
    values, _ = doctor.read({"start": name, "distance": "1000", "pair": "60"})
    scaled, factor = rope_frequencies(presets.config(name))
    plain = 1e4 ** (-np.arange(64) / 64)
    told = content(doctor.draw(**values))["caption"]["markup"]
    error = float(abs(scaled[60] - plain[60])) * 1000
    assert (
        f"At a distance of 1,000 tokens the scaling holds pair 60 back by {number(error)}" in told
    )
    assert f"Scores are {number(factor**2)} times as large." in told
    change, gain = pictures.FORMULAS["plain"]
    assert change.value(pasted=scaled[60], meant=plain[60], n=1000) == pytest.approx(error)
    assert gain.value(pasted=factor, meant=1.0) == pytest.approx(factor**2)
    unscaled, _ = doctor.read({"start": "Llama-2-7b-hf"})
    assert "Nothing is scaled" in content(doctor.draw(**unscaled))["caption"]["markup"]


@pytest.mark.parametrize("start", ["lost_base", "attn_factor", "outside", "exchanged", "llama_cpp"])
def test_the_mended_text_is_healthy(doctor: live.View, start: str) -> None:
    here = case_of(start, "", MODEL)
    assert here.mended_text
    told = pasted(doctor, here.mended_text)["verdict"]["markup"]
    assert "is-healthy" in told
    assert examine(here.mended_text, model=QWEN_PLAIN)


@pytest.mark.parametrize(
    ("start", "told"),
    [("lost_base", "1 finding: rope_theta"), ("healthy", "Healthy"), ("attn_factor", "attn_factor"),
     ("outside", "finding: factor"), ("list", "short_factor"), ("exchanged", "rope_theta"),
     ("comma", "a comma is missing (line 11"), ("llama_cpp", "finding: --rope-scale")],
)  # fmt: skip
def test_each_example_shows_its_point(doctor: live.View, start: str, told: str) -> None:
    values, _ = doctor.read({"start": start})
    assert told in words(content(doctor.draw(**values)), "verdict")


def test_the_model_of_flags_is_asked_for_before_they_are_judged(doctor: live.View) -> None:
    right = "-c 131072 --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768"
    slots = pasted(doctor, right, model="untold")
    assert "Which model are these flags for?" in words(slots, "verdict")
    assert "off" not in slots
    assert "Healthy" in words(pasted(doctor, right), "verdict")
    wrong = words(
        pasted(doctor, "--rope-scaling yarn --rope-scale 0.25", model="untold"), "verdict"
    )
    assert "1 finding: --rope-scale" in wrong
    assert "Choose the model" in wrong
    slots = pasted(doctor, "llama-cli -c 16384")
    assert "Healthy" in words(slots, "verdict")
    assert "needs no scaling by flags" in words(slots, "plain")


def test_flags_on_llama_3_1_are_drawn_on_top_of_its_own_scaling(doctor: live.View) -> None:
    line, model = "--rope-scaling linear --rope-scale 16", "Llama-3.1-8B-Instruct"
    values, _ = doctor.read({"start": "pasted", "config": line, "model": model, "pair": "63"})
    slots = content(doctor.draw(**values))
    own = rope_frequencies(presets.config(model))[0][63]
    error = float(own - own / 16) * 4096
    assert f"pair 63 is off by {number(error)} rad" in slots["caption"]["markup"]
    assert "no flag turns it off" in words(slots, "plain")
    assert "none of these flags is left" in words(slots, "verdict")


def test_both_parts_of_mla_s_scores_are_told(doctor: live.View) -> None:
    made, *_ = CAUSES["mscale_lost"]
    told = words(pasted(doctor, json.dumps(made)), "caption")
    rest = 1 / (0.1 * np.log(40) + 1) ** 2
    assert f"Scores of the part that turns are 1 times as large, of the rest {number(rest)}" in told
    values, _ = doctor.read({"start": "DeepSeek-V3 / R1 (671B)"})
    told = words(content(doctor.draw(**values)), "caption")
    assert f"Scores are {number(1 / rest)} times as large." in told


def test_a_mended_file_says_which_model_it_was_mended_as(doctor: live.View) -> None:
    made, *_ = CAUSES["released_scaling_lost"]
    told = words(pasted(doctor, json.dumps(made)), "verdict")
    assert "Mended as Llama-3.1-8B-Instruct: whether it is that model" in told
    assert "nothing is wrong" not in told
    own = words(pasted(doctor, json.dumps(changed(LLAMA, rope_theta=150e6, rope_scaling=None))),
                "verdict")  # fmt: skip
    assert "Healthy: no mistake found" in own
    assert "It is not Llama-3.1-8B-Instruct" in own


def test_an_unknown_model_is_told_with_its_nearest(doctor: live.View) -> None:
    (problem,) = doctor.read({"start": "llama-3.1-8b"})[1]
    assert len(str(problem)) < 160
    assert "the nearest are Llama-3.1-8B-Instruct" in str(problem)


def test_2000_accidents_are_drawn_each_in_a_moment(doctor: live.View) -> None:
    rng = random.Random(23)
    originals = [presets.config(name) for name in presets.names()]
    slowest, told = 0.0, {"error": 0, "warning": 0, "healthy": 0, "nothing": 0}
    for _ in range(2000):
        text = as_text(rng, mutated(rng, rng.choice(originals)))
        began = time.thread_time()
        slots = pasted(doctor, text)
        case(text, MODEL).mended_text.encode()
        slowest = max(slowest, time.thread_time() - began)
        kind = re.search(r"is-(\w+)", slots["verdict"]["markup"])
        assert kind
        told[kind[1]] += 1
    assert slowest < 2.0
    assert min(told[kind] for kind in ("error", "warning", "healthy")) > 50, told


def large() -> list[str]:
    """Texts just below and above what is examined."""
    types = {f"type_{i}": {"rope_type": "yarn", "factor": 2.0 + i} for i in range(3000)}
    lists = {"rope_type": "longrope", "short_factor": [1.0] * 18_000, "long_factor": [2.0] * 18_000}
    many = {f"key_{i}": i for i in range(10_000)}
    texts = [json.dumps({**LLAMA, "rope_parameters": types}), json.dumps({**QWEN, **many}),
             json.dumps({**QWEN, "rope_scaling": lists}), "{" * 190_000, "[" * 60 + "]" * 60,
             '{"a": "' + "x" * 190_000, "--rope-scale 4 " * 13_000, "x" * 5_000_000,
             json.dumps({**QWEN, "head_dim": 65536})]  # fmt: skip
    return texts


def test_large_texts_take_little_time(doctor: live.View) -> None:
    for text in large():
        began = time.thread_time()
        slots = pasted(doctor, text)
        case(text, MODEL).mended_text.encode()
        assert time.thread_time() - began < 2.0, text[:60]
        if len(text) > 200_000:
            assert "at most 200,000 characters" in words(slots, "verdict")


# The page itself.


def started() -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages/long_context/doctor.py"))
    return app.run(timeout=60)


def test_a_short_text_becomes_part_of_the_link_and_a_long_one_stays(doctor: live.View) -> None:
    app = started()
    state = "posviz:doctor"
    app.text_area[0].set_value("--rope-scaling yarn --rope-scale 4 -c 8192").run(timeout=60)
    assert not app.exception
    assert app.session_state[state] == {
        "start": "pasted", "config": "--rope-scaling yarn --rope-scale 4 -c 8192",
    }  # fmt: skip
    rng = random.Random(3)
    long = json.dumps({**LLAMA, "notes": [rng.random() for _ in range(900)], "rope_theta": 10000.0})
    app.text_area[0].set_value(long).run(timeout=60)
    assert not app.exception
    assert app.session_state[state] == {"start": "pasted"}
    assert app.text_area[0].value == long
    told = [each.proto.body for each in app.get("html")]
    assert any("too long for a link" in each for each in told)
    assert any('"rope_theta": 500000' in each.value for each in app.code)
    app.text_area[0].set_value("x" * 5_000_000).run(timeout=60)
    told = [each.proto.body for each in app.get("html")]
    assert any("characters, a config.json has a few thousand, got 5,000,000." in each
               for each in told)  # fmt: skip
    assert app.text_area[0].value == long  # what was there stays
    app.text_area[0].set_value("").run(timeout=60)
    assert not app.exception
    assert not app.code


@pytest.mark.parametrize(
    "text", ["\0", '{"a": "\\ud800", "rope_scaling": {"\\ud800": 1, "type": "\\udc00"}}', "~" * 9,
             json.dumps({"rope_parameters": {"\ud800": {"rope_theta": 5.0}, "b\n*_`": {
                 "rope_theta": 6.0}}, "head_dim": 8}), "x" * 250_000],
    ids=["null", "half", "tilde", "layers", "huge"],
)  # fmt: skip
def test_an_odd_text_breaks_nothing(text: str) -> None:
    app = started()
    app.text_area[0].set_value(text).run(timeout=60)
    assert not app.exception


def test_a_file_is_read_as_text_or_refused_in_a_sentence() -> None:
    assert config_text.as_text("\ufeff{}".encode("utf-16")) == "{}"
    with pytest.raises(InvalidParameterError, match="binary file"):
        config_text.as_text(b"\xff\x00\x80")
