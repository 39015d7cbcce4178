"""Released models: a gallery to search, and any one or two of them in full."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any, cast
from urllib.parse import urlencode

from posviz import extrapolation, params, presets, relative, rope, rope_scaling
from posviz.figures import models as pictures
from posviz.figures import style
from posviz.figures.style import number, token_count, tokens
from posviz.hf_config import Reading, Rotary
from posviz.ui import live
from posviz.ui.labels import ALL_METHODS
from posviz.ui.text import by_language, clauses, complaint, joined, say, valued
from posviz.views import snippets

SCALED = ALL_METHODS | {"default": "no scaling"}
ENCODINGS = {
    "any": "any", "rope": "RoPE", "alibi": "ALiBi", "t5_bias": "T5 bias", "learned": "learned",
    "transformer_xl": "Transformer-XL",
}  # fmt: skip
TRY = ("yarn", "nope", "mixed", "sliding", "128k")
LAYERS = 12  # that are shown: twice the longest pattern on record
LAYER_WORDS = {
    "full_attention": ("full", "full"), "sliding_attention": ("sliding", "sliding"),
    "chunked_attention": ("chunk", "chunked"), "linear_attention": ("linear", "linear"),
}  # fmt: skip
LAYOUTS = {"half": "half", "interleaved": "interleaved"}
# Facts in the order in which they stand, the first ones are told in words when two models differ.
FACTS = {
    "encoding": "encoding", "base": "base", "method": "method", "dims": "rotating dimensions",
    "layout": "layout", "trained": "trained context", "extended": "context of the file",
    "window": "window", "heads": "heads",
    "attention_factor": "attention factor", "first": "inv_freq, first and last",
    "slow": "pairs without a whole turn in training", "unseen": "of these at unseen angles at n",
    "pair": "", "gentlest": "gentlest and steepest slope", "bias": "",
    "buckets": "buckets", "bucket": "bucket at distance n", "rows": "rows of the table",
    "row": "row of the last token", "memory": "memory of earlier segments",
}  # fmt: skip
COMPARED = ("encoding", "base", "method", "dims", "layout", "trained", "extended", "window",
            "attention_factor")  # fmt: skip
# What a record says of scores and of other set-ups, beside the frequencies.
ALSO = ("long_context_option", "attn_temperature_tuning", "llama_4_scaling_beta", "attn_factor",
        "softmax_scale", "attention_scaled_by_sqrt_d", "use_dynamic_ntk", "use_logn_attn",
        "mrope_section", "mrope_interleaved")  # fmt: skip
FURTHEST = 512  # distance up to which T5's buckets are drawn


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """What is looked for, the model and the one beside it, the length and a pair."""
    names = presets.names()
    labels = tuple(map(params.Said, names))
    yield params.Text("find", "Find a model", "", 60,
                      "A name, a family, a method, a layout, or a number such as 128k; the list "
                      "follows while you type.")  # fmt: skip
    yield params.Choice("encoding", "Encoding", "any", tuple(ENCODINGS), tuple(ENCODINGS.values()),
                        "")  # fmt: skip
    methods = ("any", *(one for one in SCALED if any(one in presets.rope_types(n) for n in names)))
    yield params.Choice("method", "Method", "any", methods,
                        tuple("any" if one == "any" else SCALED[one] for one in methods),
                        "How a model's file stretches RoPE, in some layers or all.")  # fmt: skip
    yield params.Choice("model", "Model", "Llama-3.1-8B-Instruct", names, labels, "")
    yield params.Choice("beside", "Beside it", "nothing", ("nothing", *names),
                        ("nothing", *labels), "")  # fmt: skip
    yield params.Number("seq_len", "Context n", 131072, 1, extrapolation.LONGEST, 1, "tokens",
                        "Tokens in use at once.", scale="log")  # fmt: skip
    model = Model(v["model"])
    if model.slopes is not None:
        yield params.Number("pair", "Head", 1, 1, len(model.slopes), 1, "",
                            "Whose slope is read, counted from 1.")  # fmt: skip
        return
    rotary = model.rotary
    if rotary is None:
        yield replace(params.PAIR, default=0, high=0)
        return
    trained = model.trained or params.TRAINED_CONTEXT.default
    edge = extrapolation.first_never_completed(rotary.rope, int(trained))
    yield params.PAIR.within(high=rotary.rope.rotary_dim // 2 - 1, default=edge)


@dataclass(frozen=True)
class Model:
    """A record and what follows from it."""

    name: str

    @cached_property
    def record(self) -> dict[str, Any]:
        return presets.record(self.name)

    @cached_property
    def problem(self) -> str:
        """Why its file cannot be read; empty if it can."""
        try:
            presets.reading(self.name)
        except params.InvalidParameterError as problem:
            return complaint(problem)
        return ""

    @cached_property
    def reading(self) -> Reading | None:
        return None if self.problem else presets.reading(self.name)

    @property
    def encoding(self) -> str:
        encoding: str = self.record["positional_encoding"]
        return encoding

    @cached_property
    def rotary(self) -> Rotary | None:
        return None if self.problem else presets.main_rotary(self.name)

    @property
    def all_rotary(self) -> tuple[Rotary, ...]:
        return self.reading.rotary if self.reading else ()

    @cached_property
    def slopes(self) -> Any:
        """ALiBi's slope of each head, an array; None without ALiBi."""
        return None if self.problem else presets.alibi_slopes(self.name)

    @cached_property
    def trained(self) -> int | None:
        return presets.trained_context(self.name)

    @property
    def extended(self) -> int | None:
        context: int | None = self.record.get("max_position_embeddings")
        return context

    @cached_property
    def method(self) -> str:
        """Scaling in words; of the full-attention layers first."""
        rope_settings = self.record.get("rope")
        if rope_settings is None:
            return ""
        parts = {"": rope_settings} if "rope_type" in rope_settings else rope_settings
        words = {}
        for layer_type, own in parts.items():
            word = say(SCALED[own["rope_type"]])
            words[layer_type] = word + (f" ×{number(own['factor'])}" if own.get("factor") else "")
        if len(set(words.values())) == 1:
            return next(iter(words.values()))
        return joined(f"{word} ({say(kind_of(name))})" for name, word in words.items())

    @property
    def contexts(self) -> str:
        """Trained and extended context, short."""
        known = [n for n in (self.trained, self.extended) if n is not None]
        if not known:
            return "–"
        return " → ".join(dict.fromkeys(tokens(n) for n in known))

    @property
    def layout(self) -> str:
        told: str = self.record.get("layout", "")
        return told.split(" ")[0]


def whole(count: float) -> str:
    """A number of tokens or a base in full."""
    return f"{count:,.0f}" if count == int(count) else f"{count:,}"


def kind_of(layer_type: str) -> params.Message:
    """A layer type in a word."""
    return LAYER_WORDS[layer_type][1]


def draw(
    find: str, encoding: str, method: str, model: str, beside: str, seq_len: int, pair: int
) -> live.Slots:
    """The gallery, and the chosen model in full."""
    chosen = Model(model)
    other = None if beside == "nothing" else Model(beside)
    return {
        **gallery(find, encoding, method, model, beside),
        **title(chosen),
        **chart(chosen, other, seq_len, pair),
        **facts(chosen, other, seq_len, pair),
        **layers(chosen, None if beside == "nothing" else Model(beside)),
    }


# -------------------------------------------------------------------------------------- gallery


def gallery(find: str, encoding: str, method: str, model: str, beside: str) -> live.Slots:
    """The models that are found, one per line, and how many they are."""
    found = presets.search(find, encoding, method)
    unverified = sum(not presets.is_verified(name) for name in found)
    told = say("{count} of {all} models", count=len(found), all=len(presets.names()))
    if unverified:
        told += say(", ") + say("{count} unverified", count=unverified)
    tries = "".join(
        f'<button type="button" class="pv-link" translate="no" data-set="find={word}" '
        f'aria-pressed="{str(word == find).lower()}">{word}</button>'
        for word in TRY
    )
    if len(found) < len(presets.names()):
        tries = (
            f'<button type="button" class="pv-link" data-set="find=&amp;encoding=any&amp;'
            f'method=any">{say("show all")}</button>{tries}'
        )
    if not found:
        told = say("No model on record matches that.")
        if find.strip():
            told = say("No model on record matches “{words}”.", words=escape(find.strip()))
    return {
        "found": live.drawing(f'<p class="pv-models-found"><span>{told}</span>{tries}</p>'),
        "gallery": live.drawing(
            pictures.gallery([entry(name) for name in found], model, beside, say)
        ),
    }


@by_language  # what a record says does not change, and each step of a handle asks for all of them
def entry(name: str) -> pictures.Entry:
    """A model's line in the gallery."""
    model = Model(name)
    told = [model.method or say(ENCODINGS[model.encoding])]
    if model.layout:
        told.append(say(LAYOUTS[model.layout]))
    curves: list[pictures.Small] = []
    base, instead = "", ""
    if model.all_rotary:
        for each in model.all_rotary:
            effect = rope_scaling.effect(each.scaling, each.rope)
            curves.append(pictures.Small(effect.wavelength_after, effect.kind))
        # The full-attention layers' base, as everywhere on the page.
        base = whole(model.rotary.rope.rope_theta) if model.rotary else ""
    elif model.slopes is not None:
        curves.append(pictures.Small(model.slopes))
        base = say("{count} heads", count=len(model.slopes))
    elif model.encoding == "t5_bias":
        instead = say("{count} buckets", count=model.record["relative_attention_num_buckets"])
    elif model.encoding == "learned":
        instead = say("{count} rows", count=whole(model.extended or 0))
    elif model.encoding == "transformer_xl":
        instead = say("memory {count}", count=whole(model.record["mem_len"]))
    else:
        instead = say("lists missing")
    picture = pictures.spark(curves) if curves else f"<i>{instead}</i>"
    return pictures.Entry(name, " · ".join(told), base, model.contexts, picture,
                          presets.is_verified(name))  # fmt: skip


# ---------------------------------------------------------------------------------------- title


def title(model: Model) -> live.Slots:
    """Name, whether its facts were seen, where, and where else it can be looked at."""
    record = model.record
    state = say("seen at its source") if record["verified"] else say("from memory, unverified")
    seen = "is-seen" if record["verified"] else "is-unverified"
    links = "".join(
        f'<a href="{escape(address)}" target="_self">{label}</a>'
        for label, address in elsewhere(model)
    )
    source = escape(record["source"])
    places = "".join(
        f' <a href="{escape(address)}" target="_blank" rel="noopener" translate="no">'
        f"{escape(label)}</a>"
        for label, address in presets.source_links(model.name)
    )
    note = (
        f"<p>{valued(say('Note'), escape(say(cast(params.Message, record['note']))))}</p>"
        if "note" in record
        else ""
    )
    also = {key: record[key] for key in ALSO if key in record}
    also |= {key: record["rope"][key] for key in ALSO if key in record.get("rope", {})}
    if also:
        told = ", ".join(f"<code>{key} {escape(json.dumps(also[key]))}</code>" for key in also)
        note += f"<p>{valued(say('Also on record, and not in the numbers above'), told)}</p>"
    return {
        "title": live.drawing(
            f'<p class="pv-models-title"><b>{escape(model.name)}</b>'
            f'<span class="{seen}">{state}</span>{links}</p>'
        ),
        "source": live.drawing(
            f'<div class="pv-models-source"><p>'
            f"{valued(say('Source'), f'<span translate=no>{source}</span>')}</p>"
            f"<p>{places}</p>{note}</div>"
        ),
    }


def elsewhere(model: Model) -> list[tuple[str, str]]:
    """Labels and addresses of the other pages that can show this model."""
    found = []
    values = presets.playground_values(model.name)
    if values is not None:
        found.append((say("in the playground"), f"playground?{urlencode(written(values))}"))
    if presets.can_be_scaled(model.name):
        found.append((say("on the scaling page"), f"scaling?{urlencode({'model': model.name})}"))
    found.append((say("in the doctor"), f"doctor?{urlencode({'start': model.name})}"))
    return found


def written(values: dict[str, Any]) -> dict[str, str]:
    """Values as a link writes them."""
    return {
        name: value if isinstance(value, str) else params.PAIR.write(value)
        for name, value in values.items()
    }


# ------------------------------------------------------------------------------------- spectrum


def chart(model: Model, other: Model | None, seq_len: int, pair: int) -> live.Slots:
    """The curve that the model's encoding has, with its heading and caption."""
    if model.rotary is not None:
        return spectrum(model, other, seq_len, pair)
    if model.slopes is not None:
        return slopes(model, other, seq_len, pair)
    if model.encoding == "t5_bias":
        return buckets(model, other, seq_len)
    caption = ""
    place = ""
    if model.encoding == "learned" and model.extended is not None:
        place = pictures.shelf(model.extended, seq_len, say)
        caption = say(
            "A learned table has one row per position: {rows} of them, and nothing for the token "
            "after.", rows=whole(model.extended),
        )  # fmt: skip
        if seq_len > model.extended:
            caption += " " + say("A context of {count} tokens cannot be read.",
                                 count=whole(seq_len))  # fmt: skip
    elif model.encoding == "transformer_xl":
        caption = say(
            "Sinusoidal vectors of distances, not of positions: it reads {length} tokens at once "
            "and keeps the {memory} before them as memory.",
            length=whole(model.record["tgt_len"]), memory=whole(model.record["mem_len"]),
        )  # fmt: skip
    else:
        caption = say("Its frequencies cannot be computed: {why}.", why=escape(model.problem))
    name = say(ENCODINGS[model.encoding])
    return {
        "instead": live.drawing(
            f'{style.heading(name, "")}{place}<p class="pv-caption">{caption}</p>'
        )
    }


def spectrum(model: Model, other: Model | None, seq_len: int, pair: int) -> live.Slots:
    """Tokens per turn of each pair, and what scaling and training did to it."""
    rotary = model.rotary
    assert rotary is not None
    effect = rope_scaling.effect(rotary.scaling, rotary.rope, seq_len)
    room = max(one.rope.rotary_dim // 2 for each in (model, other) if each
               for one in each.all_rotary)  # fmt: skip
    curves, key = [], []
    for place, each in (("", model), (":beside", other)):
        if each is None or each.rotary is None:
            continue
        for one in each.all_rotary:
            is_main = one is each.rotary
            shade = {"": ("accent", "linear"), ":beside": ("shaw", "xpos")}[place][not is_main]
            label = escape(each.name)
            if one.layer_type:
                label += f", {say(kind_of(one.layer_type))}"
            waves = rope.wavelength(one.frequencies(seq_len)[0])
            curves.append(pictures.Curve(label, shade, "" if is_main else "7px,4px", waves))
            key.append((label, shade, "solid" if is_main else "dash"))
    if (effect.kind != "kept").any():
        curves.insert(0, pictures.Curve(say("before scaling"), "turns1", "2px,3px",
                                        effect.wavelength_before))  # fmt: skip
        key.append((say("before scaling"), "turns1", "dot"))
    levels = [pictures.Level(seq_len, say("n = {count}", count=tokens(seq_len)), "ink", "", "left")]
    if model.trained:
        said = say("trained {count}", count=tokens(model.trained))
        levels.append(pictures.Level(model.trained, said, "turns0", "6px,3px", "below"))
    if model.extended and model.extended != model.trained:
        said = say("file {count}", count=tokens(model.extended))
        levels.append(pictures.Level(model.extended, said, "random", "2px,4px", "above"))
    counts = counted(effect.kind)
    wave = float(effect.wavelength_after[pair])
    inv_freq, attention_factor = rotary.frequencies(seq_len)
    told = say("pair {pair}: {wave} tokens a turn", pair=pair, wave=turn(wave))
    formula = ""
    if math.isfinite(wave):
        formula = (
            f"<span>{pictures.WAVELENGTH.markup(say, wave, inv_freq=float(inv_freq[pair]))}</span>"
        )
    if attention_factor != 1.0:
        gain = pictures.GAIN.value(attention_factor=attention_factor)
        formula += (
            f"<span>{pictures.GAIN.markup(say, gain, attention_factor=attention_factor)}</span>"
        )
    seen = states(model, seq_len)
    alt = say("Pairs: {kept} kept, {blended} blended, {stretched} stretched", **counts)
    marks = "".join(
        f'<span><i style="background:{style.colour(shade)}"></i>{say(word)} {count}</span>'
        for word, shade, count in [
            *((style.KINDS[kind], pictures.KINDS[kind], counts[kind]) for kind in pictures.KINDS),
            *((words, pictures.SEEN[state], seen.count(state))
              for state, words in (("whole", "whole turn in training"), ("part", "part of a turn"),
                                   ("unseen", "unseen at n")) if seen),
        ]
    )  # fmt: skip
    return {
        "spectrum": live.figure(
            pictures.spectrum(curves, levels, pair, room, say),
            say("Tokens per turn of each pair of {model}: {told}; {kinds}", model=model.name,
                told=style.plain_text(told), kinds=alt),
        ),
        "spectrum:head": live.drawing(style.heading(say("Tokens a turn, pair by pair"), told, key)),
        "strip": live.drawing(
            pictures.strip(effect.kind.tolist(), seen, pair, room, alt)
            + f'<p class="pv-key pv-models-key">{marks}</p>'
        ),
        "caption": live.drawing(
            f'<p class="pv-caption">{looking(model, seq_len, seen, counts)}</p>'
            f'<p class="pv-formula pv-models-formula">{formula}</p>'
        ),
        "pairs": live.drawing(pictures.pair_table(
            rotary.rope.inv_freq, inv_freq, effect.wavelength_after,
            [say(style.KINDS[kind]) for kind in effect.kind.tolist()], pair, say,
        )),
    }  # fmt: skip


def counted(kinds: Any) -> dict[str, int]:
    """How many pairs are of each kind."""
    return {kind: int((kinds == kind).sum()) for kind in pictures.KINDS}


def turn(wavelength: float) -> str:
    """Tokens per turn in words."""
    return number(wavelength) if math.isfinite(wavelength) else say("no turn, it stands still:")


def states(model: Model, seq_len: int) -> list[str]:
    """Of each pair, what training showed of its angles; empty if the training is not on record."""
    unseen = presets.unseen(model.name, seq_len)
    if unseen is None or model.rotary is None or model.trained is None:
        return []
    slow = extrapolation.never_completed(model.rotary.rope, model.trained)
    return [
        "unseen" if new else "part" if part else "whole"
        for new, part in zip(unseen.tolist(), slow.tolist(), strict=True)
    ]


def looking(model: Model, seq_len: int, seen: list[str], counts: dict[str, int]) -> str:
    """What to look for, with live numbers."""
    rotary = model.rotary
    assert rotary is not None
    pairs = len(rotary.rope.inv_freq)
    if not seen:
        first = say("The context before stretching is not on record, so nothing can be said here "
                    "about unseen angles.")  # fmt: skip
    else:
        slow, beyond = pairs - seen.count("whole"), seen.count("unseen")
        first = say(
            "As trained, {slow} of {pairs} pairs lie above the orange line: no whole turn in "
            "{trained} tokens. A context of {count} brings <b>{beyond}</b> of them to angles that "
            "these {trained} tokens never showed.",
            slow=slow, pairs=pairs, trained=whole(model.trained or 0),
            count=token_count(seq_len, say), beyond=beyond,
        )  # fmt: skip
    if beyond_stretching(model, seq_len):
        first += " " + say("Released for {count}: it met them in the training after stretching.",
                           count=token_count(model.extended or 0, say))  # fmt: skip
    reach = presets.reach(model.name, seq_len)
    if reach < seq_len:
        first += " " + say("Its layers with RoPE compare over {count} at most.",
                           count=token_count(reach, say))  # fmt: skip
    second = ""
    if rotary.scaling.depends_on_length:
        second = say("Drag n across {trained}: these frequencies depend on the length.",
                     trained=whole(model.trained or 0))  # fmt: skip
    elif counts["stretched"] and counts["kept"]:
        second = say("The dotted curve is RoPE as trained; fast pairs keep to it, slow ones are "
                     "lifted off.")  # fmt: skip
    return f"{first} {second}"


def beyond_stretching(model: Model, seq_len: int) -> bool:
    """Whether a model with a scaling is read within the context that it was released for."""
    return (
        model.rotary is not None
        and model.rotary.scaling.rope_type != "default"
        and (model.trained or 0) < seq_len <= (model.extended or 0)
        and "unseen" in states(model, seq_len)
    )


def slopes(model: Model, other: Model | None, seq_len: int, head: int) -> live.Slots:
    """ALiBi's slope of each head, and the penalty at the length."""
    curves, key = [], []
    for each, shade, dash in ((model, "alibi", ""), (other, "shaw", "7px,4px")):
        if each is not None and each.slopes is not None:
            curves.append(pictures.Curve(escape(each.name), shade, dash, each.slopes))
            key.append((escape(each.name), shade, "dash" if dash else "solid"))
    slope = float(model.slopes[head - 1])
    heads = max(len(curve.values) for curve in curves)
    told = say("head {head}: slope {slope}", head=head, slope=f"{slope:.4g}")
    bias = pictures.PENALTY.value(slope=slope, distance=seq_len)
    caption = say(
        "ALiBi has no frequencies: each head takes its slope times the distance off the score. "
        "Head {head} takes <b>{bias}</b> off at {count}.",
        head=head, bias=number(-bias), count=token_count(seq_len, say),
    )  # fmt: skip
    if model.reading and model.reading.alibi_scaled:
        caption += " " + say("Falcon divides it by √head_dim with the scores, as shown.")
    formula = pictures.PENALTY.markup(say, bias, slope=slope, distance=seq_len)
    return {
        "spectrum": live.figure(
            pictures.slopes(curves, head, heads, say),
            say("Slope of each head of {model}: {told}", model=model.name, told=told),
        ),
        "spectrum:head": live.drawing(style.heading(say("Slope of each head"), told, key)),
        "caption": live.drawing(
            f'<p class="pv-caption">{caption}</p><p class="pv-formula">{formula}</p>'
        ),
    }


def buckets(model: Model, other: Model | None, seq_len: int) -> live.Slots:
    """T5's bucket of each distance."""
    distances = range(1, FURTHEST + 1)
    curves, key = [], []
    for each, shade, dash in ((model, "t5", ""), (other, "shaw", "7px,4px")):
        if each is not None and each.encoding == "t5_bias":
            drawn = relative.t5_bucket([-n for n in distances], *sizes(each), bidirectional=False)
            curves.append(pictures.Curve(escape(each.name), shade, dash, drawn))
            key.append((escape(each.name), shade, "dash" if dash else "solid"))
    most, last = sizes(model)[0], last_bucket(model)
    bucket = bucket_at(model, seq_len)
    told = say("distance {count}: bucket {bucket}", count=whole(seq_len), bucket=bucket)
    caption = say(
        "Each head has one trained number per bucket, {count} in all. Near distances have a bucket "
        "each; from {last} tokens on all share the last one. A distance of {seq_len} is in "
        "bucket <b>{bucket}</b> of the decoder.",
        count=most, last=last, seq_len=token_count(seq_len, say), bucket=bucket,
    )  # fmt: skip
    return {
        "spectrum": live.figure(
            pictures.buckets(curves, distances, seq_len, most, say),
            say("Bucket of each distance in {model}: {told}", model=model.name, told=told),
        ),
        "spectrum:head": live.drawing(style.heading(say("Bucket of each distance"), told, key)),
        "caption": live.drawing(f'<p class="pv-caption">{caption}</p>'),
    }


def sizes(model: Model) -> tuple[int, int]:
    """T5's number of buckets and the distance from which they are all one."""
    record = model.record
    return record["relative_attention_num_buckets"], record["relative_attention_max_distance"]


def bucket_at(model: Model, distance: int) -> int:
    """The decoder's bucket of a distance."""
    return int(relative.t5_bucket([-distance], *sizes(model), bidirectional=False)[0])


def last_bucket(model: Model) -> int:
    """First distance in the decoder's last bucket."""
    most, furthest = sizes(model)
    drawn = relative.t5_bucket([-n for n in range(furthest + 1)], most, furthest, False)
    return int((drawn == most - 1).argmax())


# ---------------------------------------------------------------------------------------- facts


def facts(model: Model, other: Model | None, seq_len: int, pair: int) -> live.Slots:
    """The table of one model or of two, and their differences in words."""
    shown = [model] if other is None else [model, other]
    columns = [facts_of(one, seq_len, pair) for one in shown]
    labels = {key: say(label) for key, label in FACTS.items()}
    labels["pair"] = say("tokens a turn of pair {pair}", pair=pair)
    labels["bias"] = say("taken off at n by head {head}", head=pair)
    table = pictures.facts(columns, [one.name for one in shown], labels, say)
    told = ""
    if other is not None:
        remove = f'<button class="pv-link" data-set="beside=nothing">{say("Remove")}</button>'
        said = differences(model, other, seq_len, columns)
        told = f'<p class="pv-caption">{said} {remove}</p>'
    return {"facts": live.drawing(table), "differences": live.drawing(told)}


def facts_of(model: Model, seq_len: int, pair: int) -> dict[str, str]:
    """Facts by key, HTML."""
    record, rotary = model.record, model.rotary
    found = {"encoding": say(ENCODINGS[model.encoding])}
    if model.method:
        found["method"] = model.method
    if "layout" in record:
        found["layout"] = escape(say(cast(params.Message, record["layout"])))
    unknown = say("not on record")
    if model.encoding != "transformer_xl":
        found["trained"] = whole(model.trained) if model.trained else unknown
        found["extended"] = whole(model.extended) if model.extended else unknown
    if record.get("sliding_window"):
        found["window"] = say("{count} tokens", count=whole(record["sliding_window"]))
    if "num_attention_heads" in record:
        found["heads"] = heads(record)
    if rotary is not None:
        inv_freq, attention_factor = rotary.frequencies(seq_len)
        ordered = sorted(model.all_rotary, key=lambda one: one is not rotary)
        found["base"] = joined(
            whole(one.rope.rope_theta)
            + (f" ({say(kind_of(one.layer_type))})" if one.layer_type else "")
            for one in ordered
        )
        head_dim = rotary.head_dim or rotary.rope.rotary_dim
        found["dims"] = say("{rotary_dim} of {head_dim}", rotary_dim=rotary.rope.rotary_dim,
                            head_dim=head_dim)  # fmt: skip
        found["attention_factor"] = say(
            "{factor}, scores × {gain}", factor=f"{attention_factor:.6g}",
            gain=f"{pictures.GAIN.value(attention_factor=attention_factor):.6g}",
        )  # fmt: skip
        found["first"] = clauses(
            ends(one, seq_len) + (f" ({say(kind_of(one.layer_type))})" if one.layer_type else "")
            for one in ordered
        )
        seen = states(model, seq_len)
        found["slow"] = say("{slow} of {pairs}", slow=len(seen) - seen.count("whole"),
                            pairs=len(seen)) if seen else unknown  # fmt: skip
        found["unseen"] = str(seen.count("unseen")) if seen else unknown
        if pair < len(inv_freq):
            found["pair"] = turn(float(rope.wavelength(inv_freq)[pair]))
    elif model.slopes is not None:
        found["gentlest"] = f"{model.slopes.min():.6g}, {model.slopes.max():.6g}"
        if 1 <= pair <= len(model.slopes):
            found["bias"] = number(float(model.slopes[pair - 1]) * seq_len)
    elif model.encoding == "t5_bias":
        found["buckets"] = say("{count}, one from {last} tokens on", count=sizes(model)[0],
                               last=last_bucket(model))  # fmt: skip
        found["bucket"] = str(bucket_at(model, seq_len))
    elif model.encoding == "learned" and model.extended is not None:
        offset = record.get("position_offset", 0)
        found["rows"] = whole(model.extended)
        if offset:
            found["rows"] += say(", and {offset} before the first", offset=offset)
        found["row"] = whole(seq_len - 1 + offset) if seq_len <= model.extended else say("none")
    elif model.encoding == "transformer_xl":
        found["memory"] = say("{count} tokens", count=whole(record["mem_len"]))
    return found


def ends(rotary: Rotary, seq_len: int) -> str:
    """First and last frequency at that length."""
    inv_freq, _ = rotary.frequencies(seq_len)
    return f"{precise(float(inv_freq[0]))}, {precise(float(inv_freq[-1]))}"


def heads(record: dict[str, Any]) -> str:
    """Attention heads, and those of keys if they are fewer."""
    count, keys = record["num_attention_heads"], record.get("num_key_value_heads")
    if keys is None or keys == count:
        return str(count)
    return say("{count}, keys and values {keys}", count=count, keys=keys)


def precise(value: float) -> str:
    """Six figures, for a number that one compares with one's own."""
    if value and (abs(value) < 1e-3 or abs(value) >= 1e6):
        mantissa, exponent = f"{value:.5e}".split("e")
        return f"{float(mantissa):.6g}×10<sup>{int(exponent)}</sup>".replace("-", "−")
    return f"{value:.6g}"


def differences(model: Model, other: Model, seq_len: int, columns: list[dict[str, str]]) -> str:
    """What two models do differently, in a sentence."""
    parts = [
        say("{what} {first} against {second}", what=say(FACTS[key]),
            first=columns[0].get(key, say("none")), second=columns[1].get(key, say("none")))
        for key in COMPARED
        if columns[0].get(key) != columns[1].get(key)
        and not (key == "layout" and model.layout == other.layout)  # said in other words
    ]  # fmt: skip
    if model.rotary is not None and other.rotary is not None:
        frequencies = [one.frequencies(seq_len)[0] for one in (model.rotary, other.rotary)]
        if len(frequencies[0]) == len(frequencies[1]):
            unlike = int((frequencies[0] != frequencies[1]).sum())
            if unlike:
                template = "the frequencies of {count} pairs at n"
                if unlike == 1:
                    template = "the frequency of 1 pair at n"
                parts.append(say(template, count=unlike))
    names = {"first": escape(model.name), "second": escape(other.name)}
    if model.name == other.name:
        return say("The same model twice: choose another one beside it.")
    if not parts:
        return say("{first} and {second} treat positions alike.", **names)
    return say("{first} and {second} differ: {parts}.", parts=clauses(parts), **names)


# --------------------------------------------------------------------------------------- layers


def layers(model: Model, other: Model | None) -> live.Slots:
    """What the first layers do, of one model or of two."""
    shown = [model] if other is None or other.name == model.name else [model, other]
    told = [layers_of(one, named=len(shown) > 1) for one in shown]
    return {"layers": live.drawing("".join(told))}


def layers_of(model: Model, *, named: bool) -> str:
    """What its first layers do, if it has RoPE; HTML."""
    if model.reading is None or model.encoding != "rope":
        return ""
    heading = say("Layers")
    if named:
        heading = say("Layers of {model}", model=escape(model.name))
    shown = presets.layers(model.name, LAYERS)
    bases = {one.layer_type: whole(one.rope.rope_theta) for one in model.all_rotary}
    if len(set(shown)) == 1:
        only = shown[0]
        told = say(
            "All layers alike: {kind} attention with RoPE", kind=say(kind_of(only.layer_type))
        )
        return style.heading(heading, told)
    cells = [
        (say(LAYER_WORDS[one.layer_type][0]) if one.has_rope else said_still(one.layer_type),
         one.layer_type.split("_")[0], one.has_rope)
        for one in shown
    ]  # fmt: skip
    parts = []
    for one in dict.fromkeys(shown):
        told = say(kind_of(one.layer_type))
        if one.layer_type == "sliding_attention" and model.record.get("sliding_window"):
            told += " " + say("over {count}", count=whole(model.record["sliding_window"]))
        if one.layer_type == "chunked_attention" and model.record.get("attention_chunk_size"):
            size = whole(model.record["attention_chunk_size"])
            told += " " + say("of {count} tokens each", count=size)
        if one.layer_type != "linear_attention":
            base = bases.get(one.layer_type)
            turns = say("base {base}", base=base) if base else say("with RoPE")
            told += ", " + (turns if one.has_rope else say("without RoPE (NoPE)"))
        parts.append(told)
    depth, said = model.record.get("num_hidden_layers"), clauses(parts)
    note = (
        say("{parts}; the first {count}, how many there are is not on record",
            parts=said, count=LAYERS)
        if depth is None
        else say("{parts}; the first {count} of {depth}", parts=said, count=LAYERS, depth=depth)
    )  # fmt: skip
    return style.heading(heading, note) + pictures.layer_cells(cells)


def said_still(layer_type: str) -> str:
    """A layer whose queries and keys do not turn, in a word."""
    return say("linear") if layer_type == "linear_attention" else say("NoPE")


def config_text(name: str) -> str:
    """The model's config.json as posviz reads it, lists of numbers on one line."""
    told = json.dumps(presets.config(name), indent=2)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), told)


VIEW = live.View("models", parameters, draw, code=snippets.models)
