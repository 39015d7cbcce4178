"""Why order matters: the view over all its parameters, without a browser."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import order as core
from posviz.figures import order as pictures
from posviz.figures.style import number
from posviz.ui import live
from tests.server import ROOT
from tests.ui.views import any_values, content, view_of


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("order")


texts = st.one_of(
    st.sampled_from(
        ["", "  ", "I", "我打他。", "the dog and the cat", "<b>&amp;\"'</b>", "a b " * 30]
    ),
    st.text(max_size=120).filter(str.isprintable),
)


def sentence(values: live.Values) -> tuple[str, ...]:
    return core.split(values["text"])[: core.MAX_TOKENS]


def compared(values: live.Values) -> core.Comparison:
    x = core.content(sentence(values))
    return core.compare(x, values["order"], values["encoding"], values["weight"], values["seed"])


def mathml(markup: str) -> float:
    """The number at the end of a formula."""
    told = re.findall(r"<mo[^>]*>[=≈]</mo>(?!.*<mo[^>]*>[=≈]</mo>)(.*)</math>", markup)[0]
    parts = re.findall(r"<mn>([^<]*)</mn>", told)
    value = float(parts[0].replace(",", ""))
    return value * float(parts[1]) ** float(parts[2].replace("−", "-")) if parts[1:] else value


def terms(markup: str) -> list[str]:
    return re.findall(r'<i style="[^"]*">(.*?)</i>', markup)


def shown_terms(weights: np.ndarray, values: np.ndarray) -> list[str]:
    """What a sum shows of its terms: all up to six, otherwise two and the last."""
    added = []
    for weight, value in zip(weights, values, strict=True):
        said = f"{value:.2f}".replace("-", "−")
        said = f"({said})" if value < 0 else said
        added += [f"{weight:.2f}\u2009·\u2009{said}"] * int(weight > 0)
    return added if len(added) <= 6 else [*added[:2], added[-1]]


@given(data=st.data())
def test_every_number_is_the_core_s(view: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, view, text=texts)
    tokens = sentence(values)
    slots = content(view.draw(**values))
    if not tokens:
        assert "Type a sentence" in slots["verdict"]["markup"]
        return
    both = compared(values)
    assert mathml(slots["verdict"]["markup"]) == pytest.approx(both.residual, rel=5.1e-3)
    for key, one, order in (
        ("written", both.original, range(len(tokens))),
        ("reordered", both.reordered, values["order"]),
    ):
        cells = re.findall(r"<td (?:style|class)=[^>]*>(\d*)</td>", slots[key]["markup"])
        expected = [
            f"{100 * share:.0f}" if seen else ""
            for share, seen in zip(
                one.weights.ravel(), core.visible(len(tokens), values["encoding"]).ravel(),
                strict=True,
            )
        ]  # fmt: skip
        assert cells == expected, key
        rows = re.findall(r'data-set="token=(\d+)"', slots[key]["markup"])
        assert [int(row) for row in rows] == list(order)
    told = re.findall(r"<td><(?:b|small)>(.*?)</(?:b|small)></td>", slots["outputs"]["markup"])
    assert told == [number(float(d)) for d in (*both.differences, both.mean_difference)]
    same = sum(both.is_rounding(one) for one in both.differences)
    assert f"{same} of {len(tokens)} unchanged" in slots["outputs:head"]["markup"]
    sums = re.findall(r" = <b>(−?[\d.]+)</b>", slots["sums"]["markup"])
    place = both.places[values["token"]]
    after = both.reordered.outputs[place, 0]
    assert [float(one.replace("−", "-")) for one in sums] == pytest.approx(
        [both.original.outputs[values["token"], 0], after], abs=0.00501
    )
    strips = [
        float(shade) for shade in re.findall(r'opacity="([\d.]+)"', slots["outputs"]["markup"])
    ]
    pairs = [(both.original.outputs[n], both.reordered.outputs[at])
             for n, at in enumerate(both.places)]  # fmt: skip
    pairs.append((both.original.outputs.mean(axis=0), both.reordered.outputs.mean(axis=0)))
    expected_strips = np.minimum(np.abs(np.array(pairs)) / 2.0, 1.0).ravel()
    np.testing.assert_allclose(strips, expected_strips, rtol=0, atol=5.1e-4)
    assert terms(slots["sums"]["markup"]) == [
        told
        for one, row in ((both.original, values["token"]), (both.reordered, place))
        for told in shown_terms(one.weights[row], one.values[:, 0])
    ]
    most, share = both.original.strongest(values["token"])
    looks = re.sub(r"<[^>]*>", "", slots["looks"]["markup"])
    assert tokens[most] in unescape(looks)
    assert re.findall(r"([\d.]+)\u00a0%", looks) == [
        f"{100 * s:.1f}".removesuffix(".0") if 0.0005 <= s < 0.0995 else f"{100 * s:.0f}"
        for s in (share, both.reordered.strongest(place)[1])
    ]


@given(data=st.data())
def test_the_verdict_is_the_residual_s(view: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, view, text=st.just("I hit him hard"))
    assume(values["weight"] == 0 or values["weight"] >= 0.01)
    verdict = content(view.draw(**values))["verdict"]["markup"]
    both = compared(values)
    if values["order"] == (0, 1, 2, 3):
        assert "Nothing has moved" in verdict
    elif both.residual < 1e-12:
        whatever = values["encoding"] == "none" or values["weight"] == 0
        assert ("Equivariant" in verdict) == whatever
        assert ("goes unseen" in verdict) != whatever
        assert ("0 but for rounding" in verdict) == (both.residual > 0)
    else:
        assert "Broken" in verdict
        assert both.residual > 1e-9
        assert f"{('I', 'hit', 'him', 'hard')[both.most_changed]}</bdi>” changes most" in verdict


@pytest.mark.parametrize("encoding", core.ENCODINGS)
def test_the_first_sentence_tells_each_encoding_apart(view: live.View, encoding: str) -> None:
    values, problems = view.read({"encoding": encoding})
    assert not problems
    assert values["order"] == (2, 1, 0)
    slots = content(view.draw(**values))
    # Three tokens with exchanged ends are a mirror image, which two-way ALiBi cannot see.
    blind = encoding in ("none", "alibi_symmetric")
    assert ("each output moves with its word" in slots["verdict"]["markup"]) == blind
    assert "f: the head" in slots["verdict"]["markup"]
    assert ("Equivariant" in slots["verdict"]["markup"]) == (encoding == "none")
    assert ("mirror image, and every distance" in slots["verdict"]["markup"]) == (
        encoding == "alibi_symmetric"
    )
    assert ("is-masked" in slots["written"]["markup"]) == (encoding in ("causal", "alibi"))
    assert "invariant" not in re.sub("not invariant", "", slots["verdict"]["markup"])


def test_the_weight_brings_equivariance_back(view: live.View) -> None:
    residuals = []
    for weight in (0.0, 0.05, 0.5, 1.0):
        values = view.follow({"encoding": "sinusoidal", "weight": str(weight)})
        verdict = content(view.draw(**values))["verdict"]["markup"]
        residuals.append(mathml(verdict))
        assert ("At weight 0 nothing is left" in verdict) == (weight == 0)
    assert residuals == sorted(residuals)
    assert residuals[0] < 1e-14 < 1e-3 < residuals[1]
    causal = content(view.draw(**view.follow({"encoding": "alibi", "weight": "0"})))
    assert "its causal mask still tells the order" in causal["verdict"]["markup"]


def test_equal_words_are_remarked_on(view: live.View) -> None:
    for encoding in ("none", "rope"):
        values = view.follow({"text": "the dog saw the man", "encoding": encoding})
        remark = content(view.draw(**values))["sums"]["markup"]
        apart = core.spread(compared(values).original.outputs, (0, 3))
        assert "stands here 2 times" in remark
        assert ("the same output each time" in remark) == (encoding == "none")
        assert (f"differ by {number(apart)}" in remark) == (encoding == "rope")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("👨\u200d👩\u200d👧 fam", ["👨\u200d👩\u200d👧", "fam"]),
        ("我\u3000打\u3000他", ["我", "打", "他"]),
        ("\u200fשלום\u200e עולם", ["שלום", "עולם"]),
        ("a\u200bb\xa0c", ["a", "b", "c"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("\u200da \ufeffa a\u2060", ["a", "a", "a"]),
        ("❤\ufe0f \u3164 x", ["❤\ufe0f", "x"]),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f x",
         ["🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "x"]),
        ("\u200b\u200d\u200f\ufe0f\U000e0067", []),
    ],
    ids=ascii,
)  # fmt: skip
def test_what_is_invisible_is_no_token(view: live.View, text: str, tokens: list[str]) -> None:
    values, problems = view.read({"text": text})
    assert not problems
    shown = re.findall(r'data-item="\d+".*?<bdi[^>]*>(.*?)</bdi>',
                       content(view.draw(**values))["orders"]["markup"])  # fmt: skip
    assert sorted(shown) == sorted(tokens)
    assert values["order"] == core.exchanged(tokens)


@pytest.mark.parametrize(
    ("text", "order", "said"),
    [
        ("I", "0", "One word alone has no order"),
        ("a a a", "0-1-2", "All words are equal"),
        ("a a a", "2-1-0", "The sentence reads as written"),
        ("a b a", "2-1-0", "Only equal words have changed places"),
        ("a b a", "0-1-2", "The words stand as written: move one."),
    ],
)
def test_a_sentence_that_reads_as_written_says_why(
    view: live.View, text: str, order: str, said: str
) -> None:
    for encoding in ("none", "sinusoidal"):
        values = view.follow({"text": text, "order": order, "encoding": encoding})
        slots = content(view.draw(**values))
        verdict = slots["verdict"]["markup"]
        assert said in verdict
        assert "is-still" in verdict
        assert ("move one" in verdict) == (text == "a b a" and order == "0-1-2")
        assert ("between equal words" in verdict) == (
            order == "2-1-0" and not compared(values).is_rounding(compared(values).residual)
        )
        assert (text == "I") == (
            "Drag the words" not in re.sub("<.*?>", "", slots["orders"]["markup"])
        )


def test_a_long_sentence_says_what_is_left_out_and_markup_is_text(view: live.View) -> None:
    slots = content(view.draw(**view.follow({"text": "a b c d e f g h i j k l m n"})))
    assert "first 12 tokens" in slots["verdict"]["markup"]
    assert "2 more are left out" in slots["verdict"]["markup"]
    one = content(view.draw(**view.follow({"text": "a b c d e f g h i j k l m"})))
    assert "1 more is left out" in one["verdict"]["markup"]
    for slot in content(view.draw(**view.follow({"text": "<img onerror=x> \"'&"}))).values():
        assert "<img" not in slot["markup"]


def test_a_new_sentence_forgets_an_order_of_another_length(view: live.View) -> None:
    assert view.follow({"text": "我打他", "order": "1-0-2"})["order"] == (1, 0, 2)
    assert view.follow({"text": "我打他。", "order": "1-0-2"})["order"] == (2, 1, 0, 3)
    assert view.follow({"text": "hi you", "token": "2"})["token"] == 1
    assert view.query(view.follow({"order": "2-1-0"})) == {}


@given(st.permutations(range(7)), st.sampled_from(core.ENCODINGS), st.floats(0.0, 2.0))
def test_the_formulas_are_the_core_s(places: list[int], encoding: str, weight: float) -> None:
    both = core.compare(core.content(core.split("a b c d e f g")), places, encoding, weight)
    outputs = both.original.outputs
    for token in range(7):
        a, v = both.original.weights[token], both.original.values[:, 3]
        assert pictures.OUTPUT.value(a=a, v=v, n=7) == pytest.approx(outputs[token, 3], abs=1e-14)
    moved = outputs[places].ravel()
    found = pictures.RESIDUAL.value(f_Px=both.reordered.outputs.ravel(), P_fx=moved)
    assert found == both.residual
    assert np.isfinite(found)


def test_the_scorecard_follows_what_tells_the_order() -> None:
    shown = {
        "none": "No encoding", "causal": "No encoding", "sinusoidal": "Sinusoidal", "rope": "RoPE",
        "alibi": "ALiBi", "alibi_symmetric": "ALiBi",
    }  # fmt: skip
    assert set(shown) == set(core.ENCODINGS)
    for encoding, label in shown.items():
        app = AppTest.from_file(str(ROOT / "pages/why/order.py"))
        app.query_params["encoding"] = encoding
        cards = [one.proto.body for one in app.run(timeout=60).get("html")]
        (card,) = [one for one in cards if "pv-card" in one]
        assert f"<caption>{label}, four questions" in card, encoding
