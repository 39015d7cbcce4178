"""Playground: five handles, three linked pictures."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import streamlit as st

from posviz import alibi, distance, extrapolation, invariants, params, presets, rope
from posviz.attention import softmax
from posviz.figures import playground as pictures
from posviz.figures.style import number, plain_text, tokens
from posviz.rope_scaling import NoScaling, scaling
from posviz.ui import live, page
from posviz.ui.text import complaint, say, section

METHODS = {"default": "none", "linear": "PI", "ntk": "NTK", "dynamic": "dynamic NTK",
           "yarn": "YaRN", "llama3": "Llama 3"}  # fmt: skip
HEADS = (8, 12, 16, 32, 40, 64, 112)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The handles and choices; a model sets where each one stands."""
    names = tuple(name.removesuffix("-hf") for name in presets.PLAYGROUND)
    yield params.Choice("model", "Model", presets.PLAYGROUND[0], presets.PLAYGROUND, names,
                        "A released model; choosing one moves all handles.")  # fmt: skip
    model = presets.get(v["model"])
    yield params.Choice("rope_type", "Method", model.rope_type, tuple(METHODS),
                        tuple(METHODS.values()), "")  # fmt: skip
    yield replace(params.TRAINED_CONTEXT, default=model.original_max_position_embeddings)
    yield params.POSITION.within(high=4 * v["original_max_position_embeddings"])
    yield replace(params.ROPE_THETA, default=model.rope_theta or params.ROPE_THETA.default)
    yield replace(params.HEAD_DIM, default=model.head_dim)
    stretch = 1.0 if v["rope_type"] == "default" else params.FACTOR.default
    yield replace(params.FACTOR, default=model.factor or stretch)
    yield replace(params.NUM_HEADS, default=model.num_heads)
    yield params.HEAD.within(high=v["num_heads"])
    edge = extrapolation.first_never_completed(
        rope.RoPE(model.head_dim, model.rope_theta or params.ROPE_THETA.default),
        model.original_max_position_embeddings,
    )
    yield params.PAIR.within(high=v["head_dim"] // 2 - 1, default=edge)
    yield params.SHIFT
    yield params.Choice("axis", "Distance axis", "log", ("log", "linear"), ("log", "linear"), "")
    yield params.Choice("show", "Values", "scores", ("scores", "weights"),
                        ("scores", "softmax weights"), "")  # fmt: skip


def draw(
    *, model: str, rope_type: str, original_max_position_embeddings: int, position: int,
    rope_theta: float, head_dim: int, factor: float, num_heads: int, head: int, pair: int,
    shift: int, axis: params.Scale, show: str,
) -> dict[str, live.Picture]:  # fmt: skip
    """Every picture and readout for these values."""
    trained, row, notice = original_max_position_embeddings, position + 1, ""
    preset, plain = presets.get(model), rope.RoPE(head_dim, rope_theta)
    try:
        method = scaling(
            rope_type, factor=factor, max_position_embeddings=trained,
            original_max_position_embeddings=trained,
            **(preset.method_keys if rope_type == preset.rope_type else {}),
        )  # fmt: skip
        inv_freq, attention_factor = method.frequencies(plain, row)
    except params.InvalidParameterError as problem:
        notice = f"{complaint(problem)}. {say('Shown without scaling.')}"
        rope_type, method = "default", NoScaling()
        inv_freq, attention_factor = method.frequencies(plain)
    label = say(METHODS[rope_type])

    unseen = extrapolation.unseen(plain, inv_freq, trained, position)
    dials = pictures.rotations(
        position * inv_freq, trained * plain.inv_freq, rope.wavelength(inv_freq),
        rope.wavelength(plain.inv_freq), rope.turns(plain.inv_freq, trained), unseen,
        chosen=pair, trained=trained, _=say,
    )  # fmt: skip

    weights = show == "weights"
    reach = row if weights else 4 * trained + 1
    slope = float(alibi.slopes(num_heads)[head - 1])
    starts = distance.bins(reach, 260, axis)
    same, waves = (
        distance.rope_scores(inv_freq, reach, attention_factor),
        distance.sinusoidal_scores(reach, head_dim),
    )
    straight = alibi.weights(slope, starts, row) if weights else alibi.bias(slope, starts)
    if weights:
        same, waves = softmax(same), softmax(waves)
    curves = pictures.attention(
        starts, distance.envelope(same, starts),
        distance.random_band(inv_freq, starts, attention_factor, row=row if weights else None),
        straight, distance.envelope(waves, starts), trained=trained, position=position,
        log_axis=axis == "log", as_weights=weights, _=say,
    )  # fmt: skip

    usable = extrapolation.usable_context(plain, method, trained)
    slow = int(extrapolation.never_completed(plain, trained).sum())
    multiples = extrapolation.multiples(1.0, usable / trained)
    lengths = trained * multiples
    contexts = pictures.extrapolation(
        multiples,
        extrapolation.unseen_share(plain, NoScaling(), trained, lengths),
        extrapolation.unseen_share(plain, method, trained, lengths),
        alibi.share_beyond_window(slope, lengths),
        method=rope_type, method_label=label, usable=usable / trained, current=row / trained,
        slow=slow, pairs=head_dim // 2,
        _=say,
    )  # fmt: skip

    far = min(trained, reach - 1)
    at_far = float(alibi.weights(slope, far, row) if weights else alibi.bias(slope, far))
    straight_at_far = number(at_far) if at_far or far == 0 else say("less than 10<sup>−300</sup>")
    reading = say(
        "at {count} tokens: RoPE with q = k {same}, ALiBi {straight}",
        count=number(far), same=number(float(same[far])), straight=straight_at_far,
    )  # fmt: skip
    if not slow:
        limit = say("no limit: every pair completes a turn in training")
    elif math.isinf(usable):
        limit = say("over {count} tokens", count=number(extrapolation.LONGEST))
    else:
        limit = say("{count} tokens, {ratio}× trained", count=number(math.floor(usable)),
                    ratio=f"{usable / trained:.3g}")  # fmt: skip
    caption = say(
        "Follow the orange clocks: {slow} of {pairs} pairs never complete a turn within the "
        "{trained} trained tokens. At position {position}, {beyond} of them stand at an angle that "
        "training never met; under {method} all stay inside what they have met up to {limit}.",
        slow=slow, pairs=head_dim // 2, trained=number(trained), position=number(position),
        beyond=int(unseen.sum()), method=label if rope_type != "default" else say("no scaling"),
        limit=limit if math.isfinite(usable) else say("any length"),
    )  # fmt: skip
    angle = number(float(position * inv_freq[pair]))
    formula = (
        f"θ<sub>{pair}</sub> = {number(rope_theta)}<sup>−{2 * pair}/{head_dim}</sup> = "
        f"{number(float(plain.inv_freq[pair]))} → {label}: {number(float(inv_freq[pair]))} "
        f"&ensp; angle = {number(position)} × {number(float(inv_freq[pair]))} = {angle} rad"
    )
    # fmt: off
    return {
        "rotations": live.drawing(dials),
        "attention": live.figure(curves, say("Attention by distance:") + " " + plain_text(reading)),
        "extrapolation": live.figure(contexts, say("Usable context with {method}: {limit}",
                                                   method=label, limit=limit)),
        "rotations:head": live.drawing(pictures.heading(
            say("Rotations"), say("angle = position × frequency, clockwise from the top"))),
        "attention:head": live.drawing(pictures.heading(say("Attention by distance"), reading, (
            (say("RoPE, q = k"), "rope", "solid"),
            (say("RoPE, random q and k: mean, 80 %"), "random", "band"),
            (say("ALiBi, head {head}", head=head), "alibi", "dash"),
            (say("sinusoidal, base 10,000"), "sinusoidal", "dot")))),
        "extrapolation:head": live.drawing(pictures.heading(
            say("Extrapolation"),
            say("geometry, not model quality: usable up to {limit}", limit=limit), (
                (say("{method}: slow pairs at unseen angles", method=label), rope_type, "solid"),
                (say("the same without scaling"), "default", "dot"),
                (say("context beyond the 99 % window of ALiBi head {head}", head=head),
                 "alibi", "dash")))),
        "lamps": live.drawing(pictures.lamps(
            readouts(inv_freq, position, shift, attention_factor, slope, limit))),
        "note:head": live.drawing(say("slope {slope}", slope=f"{slope:.4g}")),
        "caption": live.drawing(f'<p class="pv-caption">{caption}</p>'
                                f'<p class="pv-formula">{formula}</p>'),
        "notice": live.drawing(f'<p class="pv-notice" role="alert">{notice}</p>' if notice else ""),
    }
    # fmt: on


def readouts(
    inv_freq: rope.Floats, position: int, shift: int, attention_factor: float, slope: float,
    limit: str,
) -> list[pictures.Lamp]:  # fmt: skip
    """The lamps: two identities measured on random vectors, and three numbers."""
    before, after = invariants.norms(inv_freq, position)
    score, shifted = invariants.shifted_scores(inv_freq, position, 0, shift)
    norm_off, score_off = abs(after - before), abs(shifted - score)
    off = say("difference {off}")
    return [
        pictures.Lamp(say("norm of q, before and after rotation"),
                      f"{before:.4f} → {after:.4f}", off.format(off=number(norm_off)),
                      norm_off < 1e-9 * before),
        pictures.Lamp(say("score of q and k, both moved by {k}", k=number(shift)),
                      f"{score:.4f} → {shifted:.4f}".replace("-", "−"),
                      off.format(off=number(score_off)), score_off < 1e-7),
        pictures.Lamp(say("usable context, by geometry"), limit),
        pictures.Lamp(say("attention factor on cos and sin"), f"{attention_factor:.4g}",
                      say("scores × {gain}", gain=f"{attention_factor**2:.4g}")),
        pictures.Lamp(say("ALiBi slope"), f"{slope:.4g}",
                      say("99 % of the weight within {count} tokens",
                          count=tokens(math.ceil(alibi.window(slope))))),
    ]  # fmt: skip


@st.fragment
def playground() -> None:
    """The page: choices, handles, pictures, words."""
    v = page.values(view)
    declared = view.declared(v)
    drawn = view.draw(**v)

    def handle(name: str, **more: Any) -> None:
        page.handle(view, declared[name], v[name], **more)

    def show(name: str, **more: Any) -> None:
        page.picture(view, name, drawn[name], **more)

    with st.container(key="pv-choices", horizontal=True, vertical_alignment="top"):
        page.choice(view, declared["model"], v["model"], resets=True, width=220)
        page.choice(view, declared["rope_type"], v["rope_type"], segmented=True, width="content")
        page.number_choice(view, declared["original_max_position_embeddings"],
                           v["original_max_position_embeddings"], LENGTHS, width=150)  # fmt: skip
        page.number_choice(view, declared["num_heads"], v["num_heads"], HEADS, width=100)
        live.copy_link(key="copy-link")
    with st.container(key="pv-handles", horizontal=True, gap="medium"):
        handle("position", play=True)
        handle("rope_theta", play=True)
        handle("head_dim", unit="", play=True)
        handle("factor", play=True)
        handle("head", unit=say("of {count}", count=v["num_heads"]), play=True,
               note=drawn["note:head"])  # fmt: skip
    show("notice")
    left, right = st.columns([5, 8], gap="medium")
    with left.container(gap="xsmall"):
        show("rotations:head")
        show("rotations", height=336)
        with st.container(horizontal=True, gap="medium"):
            handle("pair")
            handle("shift")
        show("lamps", height=126)
    with right.container(gap="xsmall"):
        with st.container(key="pv-attention", horizontal=True, vertical_alignment="bottom"):
            show("attention:head")
            page.choice(view, declared["axis"], v["axis"], segmented=True, label_hidden=True,
                        width="content")  # fmt: skip
            page.choice(view, declared["show"], v["show"], segmented=True, label_hidden=True,
                        width="content")  # fmt: skip
        show("attention", chart=True, height=272)
        show("extrapolation:head")
        show("extrapolation", chart=True, height=206)
    show("caption")
    live.anchor(view, v)


view = live.View("playground", parameters, draw)
page.open_view(view)
playground()
with st.expander(say("What am I looking at?")):
    st.markdown(section("playground", "What am I looking at?"))
