"""Config doctor: what an engine does with a pasted config.json, what is wrong, and the mend."""

import base64
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from html import escape
from typing import Any

import streamlit as st

from posviz import config_finding, config_mended, config_text, params, presets
from posviz.config_doctor import Examination, Finding, Statement, examine
from posviz.config_mended import Comparison
from posviz.config_text import Parsed
from posviz.figures import doctor as pictures
from posviz.figures import style
from posviz.figures.style import number, token_count
from posviz.params import InvalidParameterError
from posviz.ui import live, page
from posviz.ui.text import say

Slots = dict[str, live.Picture]

PASTED = "pasted"
LONGEST = 200_000  # characters that are examined; a config.json has a few thousand
LINKED = 1500  # characters of a link's own text
PACKED = "~"  # begins a text that is packed for a link

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 8, "max_position_embeddings": 131072, "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                     "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
}  # fmt: skip
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
QWEN = {
    "model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28,
    "num_key_value_heads": 4, "max_position_embeddings": 131072, "rope_theta": 1000000.0,
}  # fmt: skip
EXAMPLES = {
    "lost_base": "Base lost",
    "healthy": "Healthy",
    "attn_factor": "attn_factor",
    "outside": "Scaling outside",
    "list": "LongRoPE list",
    "exchanged": "Layers exchanged",
    "comma": "Not JSON",
    "llama_cpp": "llama.cpp flags",
}


@cache  # texts that are written once
def text_of_start(start: str) -> str:
    """The text that a start stands for; empty for the visitor's own."""
    match start:
        case "pasted":
            return ""
        case "lost_base":
            return _json({key: value for key, value in LLAMA.items() if key != "rope_theta"})
        case "healthy":
            return _json(LLAMA)
        case "attn_factor":
            return _json({**QWEN, "rope_scaling": {**YARN, "attn_factor": 0.8782}})
        case "outside":
            return _json({**QWEN, **YARN})
        case "list":
            phi = presets.config("Phi-4-mini-instruct")
            own = phi["rope_parameters"]
            lists = {
                key: [*own[key], *own[key][-1:] * 16] for key in ("short_factor", "long_factor")
            }
            return _json({**phi, "rope_parameters": {**own, **lists}})
        case "exchanged":
            gemma = presets.config("gemma-3-4b-it")
            own = gemma["rope_parameters"]
            full, sliding = own["full_attention"], own["sliding_attention"]
            full = {**full, "rope_theta": sliding["rope_theta"]}
            sliding = {**sliding, "rope_theta": own["full_attention"]["rope_theta"]}
            swapped = {"full_attention": full, "sliding_attention": sliding}
            return _json({**gemma, "rope_parameters": {**own, **swapped}})
        case "comma":
            return _json(LLAMA).replace(": 8.0,", ": 8.0")
        case "llama_cpp":
            return ("llama-server -m qwen2.5-7b.gguf -c 131072 --rope-scaling yarn \\\n"
                    "  --rope-scale 0.25 --yarn-orig-ctx 32768")  # fmt: skip
    return _json(presets.config(start))


def _json(config: Mapping[str, Any]) -> str:
    return config_mended.written(Parsed(dict(config), "config"))


def packed(text: str) -> str:
    """A text as a link holds it: as it is if it is a short line, else compressed."""
    if text.isprintable() and len(text) <= 240 and not text.startswith(PACKED):
        return text
    return PACKED + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def unpacked(config: str) -> str:
    """The text of a link.

    Raises:
        InvalidParameterError: If the link is damaged.
    """
    if not config.startswith(PACKED):
        return config
    try:
        data = base64.b64decode(config[1:], b"-_", validate=True)
        reader = zlib.decompressobj()
        text = reader.decompress(data, 4 * LONGEST).decode()
        if not reader.eof:
            raise ValueError
    except (ValueError, zlib.error):
        raise InvalidParameterError(
            "config must be a text as the link to this page holds it, got {got}",
            got=params.shown(config),
        ) from None
    return text


def too_long(text: str) -> InvalidParameterError:
    """Why such a text is not examined."""
    return InvalidParameterError(
        config_text.TOO_LONG, longest=params.shown(LONGEST), got=params.shown(len(text))
    )


# ------------------------------------------------------------------------------------- the case


@dataclass(frozen=True)
class Case:
    """A text with all that is said of it."""

    text: str
    model: str

    @cached_property
    def examined(self) -> Examination | InvalidParameterError:
        try:
            if len(self.text) > LONGEST:
                raise too_long(self.text)
            return examine(self.text, model=presets.config(self.model))
        except InvalidParameterError as problem:
            return problem

    @property
    def form(self) -> str:
        """What the text is; empty if it could not be read."""
        return self.examined.parsed.form if isinstance(self.examined, Examination) else ""

    @cached_property
    def meant(self) -> dict[str, Any]:
        """The config, mended."""
        assert isinstance(self.examined, Examination)
        return config_mended.mended(self.examined, model=presets.config(self.model))

    @cached_property
    def mended_text(self) -> str:
        """The mended config as text; empty if there is nothing to mend."""
        if not isinstance(self.examined, Examination):
            return ""
        before = config_mended.written(self.examined.parsed)
        after = config_mended.written(replace(self.examined.parsed, config=self.meant))
        return "" if after == before else after

    @cached_property
    def left(self) -> tuple[Finding, ...]:
        """Errors and warnings that stay when it is mended."""
        again = Case(self.mended_text or self.text, self.model).examined
        found = again.findings if isinstance(again, Examination) else ()
        return tuple(each for each in found if each.level != "note")

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """By layer type, as pasted and as meant."""
        if not isinstance(self.examined, Examination):
            return ()
        return config_mended.comparisons(
            self.examined, self.meant, model=presets.config(self.model)
        )

    @cached_property
    def worst(self) -> int:
        """The layer type that differs most."""
        harm = [each.effect.harm for each in self.comparisons]
        return harm.index(max(harm)) if harm else 0


@lru_cache(maxsize=16)  # a drag asks for the same text at each step
def case(text: str, model: str) -> Case:
    """A text and the model of its flags."""
    return Case(text, model)


def case_of(start: str, config: str, model: str) -> Case:
    """What the link says; a damaged one has its problem for a text."""
    if start != PASTED:
        return case(text_of_start(start), model)
    try:
        return case(unpacked(config), model)
    except InvalidParameterError as problem:
        damaged = Case("", model)
        damaged.__dict__["examined"] = problem
        return damaged


@cache  # facts of the package
def models() -> tuple[str, ...]:
    """Released models with RoPE, whose model files flags are used with."""
    found = []
    for name in presets.names():
        try:
            reading = presets.reading(name)
        except InvalidParameterError:
            continue
        if reading.rotary and (
            reading.original_max_position_embeddings or reading.max_position_embeddings
        ):
            found.append(name)
    return tuple(found)


# ----------------------------------------------------------------------------------------- view


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """Where the text comes from, the model of flags, and what is looked at."""
    names = presets.names()
    yield params.Choice(
        "start", "Start from", "lost_base", (PASTED, *EXAMPLES, *names),
        ("your own text", *(f"example: {label}" for label in EXAMPLES.values()), *names),
        "An example or a released model's file, to look at or to change.",
    )  # fmt: skip
    yield params.Text("config", "Text", "", LINKED, "")
    yield params.Choice("model", "Flags are for", "Qwen2.5-7B-Instruct", models(), models(),
                        "Flags change what a model file says; sizes of errors are those of this "
                        "model.")  # fmt: skip
    here = case_of(v["start"], v["config"], v["model"])
    types = [each.layer_type for each in here.comparisons] or [None]
    yield params.Choice(
        "layer", "Layers", str(here.worst), tuple(map(str, range(len(types)))),
        tuple(sendable(name or "all layers") for name in types), "",
    )  # fmt: skip
    yield replace(params.POSITION, name="distance", label="Distance n", default=4096, low=1,
                  high=2**20, help="How many tokens apart query and key are.")  # fmt: skip
    if not here.comparisons:
        yield replace(params.PAIR, default=0, high=0)
        return
    shown = here.comparisons[int(v["layer"])]
    yield replace(params.PAIR, default=shown.telling, high=len(shown.errors) - 1)


def sendable(name: str) -> str:
    """A name that somebody typed, without halves of characters."""
    return name.encode("utf-8", "replace").decode()[:60]


def draw(
    start: str, config: str, model: str, layer: str, distance: int, pair: int
) -> dict[str, live.Picture]:
    """Every picture."""
    return pictures_of(case_of(start, config, model), int(layer), distance, pair)


def pictures_of(here: Case, layer: int, distance: int, pair: int) -> Slots:
    """Verdict, reading, findings; and curves where there are frequencies."""
    examined = here.examined
    if isinstance(examined, InvalidParameterError):
        return {"verdict": live.drawing(broken(here.text, examined))}
    items = [
        told_finding(each, {**examined.assumed, **examined.parsed.config}, here.form)
        for each in examined.findings
    ]
    slots = {
        "verdict": live.drawing(verdict(examined, here)),
        "findings": live.drawing(pictures.findings(items)),
        "plain": live.drawing(told_plain(examined)),
    }
    if here.comparisons:
        slots |= curves(here, here.comparisons[layer], distance, pair)
    return slots


# ---------------------------------------------------------------------------------------- words


def translated(template: str, values: Mapping[str, object]) -> str:
    """A sentence of the core with its values, HTML; words among the values are translated, too."""
    told = {
        key: say(value) if isinstance(value, str) and value else value
        for key, value in values.items()
    }
    return escape(say(template).format(**told), quote=False)


def sentence(each: Finding | Statement) -> str:
    """A finding or statement in words, ended by a full stop."""
    told = translated(each.template, each.values)
    return told if told.endswith(("?", ".", "!")) else f"{told}."


def begun(told: str) -> str:
    """A sentence with a capital, unless it begins with a name."""
    first = told.split(" ", 1)[0].rstrip(",.:")
    return told[:1].upper() + told[1:] if first.isalpha() else told


def broken(text: str, problem: InvalidParameterError) -> str:
    """Why a text cannot be read, and where."""
    if problem.template == config_text.EMPTY:
        return pictures.verdict(
            "nothing", say("Nothing to read yet"),
            say("Paste a config.json, a part of one, or a command line; a text that was too long "
                "for its link has to be pasted again."),
        )  # fmt: skip
    told = translated(problem.template, problem.values)
    html = pictures.verdict("error", say("This cannot be read"), begun(f"{told}."))
    line, column = problem.values.get("line"), problem.values.get("column")
    if not (isinstance(line, int) and isinstance(column, int)):
        return html
    lines = text.removeprefix("\ufeff").split("\n")
    start = max(column - 60, 0)
    around = [
        (n + 1, "".join(c if c.isprintable() else " " for c in lines[n][start : start + 90]))
        for n in range(max(line - 2, 0), min(line + 1, len(lines)))
    ]
    alt = say("Line {line}, column {column} of the text", line=line, column=column)
    return html + pictures.excerpt(around, line, column - 1 - start, alt)


def verdict(examined: Examination, here: Case) -> str:
    """One line: healthy, or how many findings and the worst."""
    serious = [each for each in examined.findings if each.level != "note"]
    notes = len(examined.findings) - len(serious)
    told_notes = {0: "", 1: say("1 note.")}.get(notes, say("{count} notes.", count=notes))
    if not serious:
        return pictures.verdict(
            "healthy", say("Healthy: nothing is wrong with it"),
            told_notes or say("Nothing to note either."),
        )  # fmt: skip
    worst = serious[0]
    key = f"<code>{escape(worst.key)}</code>" if worst.key else say("the text")
    if len(serious) == 1:
        told = say("1 finding: {key}", key=key)
    else:
        told = say("{count} findings, the worst is {key}", count=len(serious), key=key)
    if here.mended_text:
        after = style.counted(len(here.left), "Mended, 1 stays that only its author can settle.",
                              "Mended, {count} stay that only its author can settle.",
                              say) if here.left else say("Mended, nothing is left.")  # fmt: skip
    else:
        after = say("Only its author can know what was meant.")
    return pictures.verdict(worst.level, told, f"{effect_of(worst)} {after} {told_notes}")


LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def effect_of(each: Finding) -> str:
    """How much it matters, HTML; empty if that cannot be said."""
    if each.effect is None:
        return say("As it stands, it cannot be computed.") if each.level == "error" else ""
    told = [translated(one.template, one.values) for one in each.effect.statements]
    if not told:
        return say("No frequency and no score changes.")
    if each.effect.seq_len is not None:
        told.append(say("measured with {length} tokens in use", length=number(each.effect.seq_len)))
    return f"{begun('; '.join(told))}."


def told_finding(each: Finding, config: Mapping[str, Any], form: str) -> str:
    """One finding with reason, effect and mend."""
    effect = effect_of(each)
    return pictures.finding(
        each.level, say(LEVELS[each.level]), escape(each.key) or say("text"),
        escape(sendable(each.layer_type or "")), sentence(each), effect,
        changes(each, dict(config), form),
        mend=say("mend") if each.level != "note" else say("if you like"), _=say,
    )  # fmt: skip


def changes(each: Finding, config: dict[str, Any], form: str) -> list[pictures.Change]:
    """The lines of a mend."""
    found = []
    for mend in each.mend:
        place = " › ".join(mend.path) + (" " if form == "llama.cpp" else ": ")
        holder = config_finding.value_at(config, mend.path[:-1])
        here = isinstance(holder, dict) and mend.path[-1] in holder
        before = config_mended.shown(holder[mend.path[-1]]) if here else None
        after = None if mend.removes else config_mended.shown(mend.value)
        if before != after:
            found.append(pictures.Change(sendable_line(place), before, after))
        config = config_finding.mended(config, [mend])
    return found


def sendable_line(text: str) -> str:
    """Names that somebody typed, in one line."""
    return "".join(c if c.isprintable() else "�" for c in text)


def told_plain(examined: Examination) -> str:
    """What an engine does, by layer type."""
    if not examined.plain:
        return ""
    engine = "llama.cpp" if examined.parsed.form == "llama.cpp" else "Hugging Face"
    groups: dict[str, list[str]] = {}
    for each in examined.plain:
        name = escape(sendable(each.layer_type or ""))
        groups.setdefault(name, []).append(begun(sentence(each)))
    return style.heading(
        say("What {engine} does with it", engine=engine), ""
    ) + pictures.statements(list(groups.items()))


# --------------------------------------------------------------------------------------- curves


def names_of(here: Case, one: Comparison) -> tuple[str, str]:
    """What the two sides are called."""
    if one.against == "mended":
        return say("as pasted"), say("as mended")
    assert isinstance(here.examined, Examination)
    mended = here.form != "llama.cpp" and here.examined.reading is None
    return say("as mended") if mended else say("as pasted"), say("without scaling")


def curves(here: Case, one: Comparison, distance: int, pair: int) -> Slots:
    """How far angles are off by distance, and how long each pair turns."""
    mine, meant = names_of(here, one)
    shades = pictures.SHADES[one.against]
    worst, error = one.worst, float(one.errors[pair]) * distance
    first = one.first_off(worst)
    if first is None:
        note = say("none")
    elif first == 1:
        note = say("pair {pair} first, from one token to the next", pair=worst)
    else:
        note = say("pair {pair} first, from {distance} tokens on", pair=worst,
                   distance=number(first))  # fmt: skip
    slots: Slots = {"caption": live.drawing(caption(here, one, distance, pair, error))}
    if one.errors.any():
        is_wrong = one.against == "mended"
        title = say("Angle off by distance") if is_wrong else say("Angle changed by the scaling")
        axis = say("angle off by, rad") if is_wrong else say("angle changed by, rad")
        called = (say("pair {pair}, the first", pair=worst), say("pair {pair}", pair=pair))
        limit = say("{limit} rad", limit=config_finding.TOLERANCE)
        key = [(called[0], shades[0], "solid"), (called[1], "ink", "dash"),
               (limit, "quiet", "dash"), (say("half a turn"), "quiet", "dot")]  # fmt: skip
        slots["off"] = live.figure(
            pictures.errors(config_mended.DISTANCES, one.off(worst), one.off(pair), distance,
                            config_finding.TOLERANCE, shade=shades[0], title=axis, names=called,
                            _=say),
            f"{title}: {style.plain_text(note)}",
        )  # fmt: skip
        slots["off:head"] = live.drawing(style.heading(title, note, key))
    turns = one.wavelengths
    told = [number(float(side[pair])) if pair < len(side) and side[pair] < 1e300
            else say("no turn") for side in turns]  # fmt: skip
    title = say("Tokens per turn")
    note = say("pair {pair}: {mine} {here}, {meant} {there}", pair=pair, mine=mine,
               here=told[0], meant=meant, there=told[1])  # fmt: skip
    slots["turns"] = live.figure(
        pictures.turns(*turns, pair, shades=shades, names=(mine, meant), _=say),
        f"{title}: {style.plain_text(note)}",
    )
    slots["turns:head"] = live.drawing(
        style.heading(title, note, [(mine, shades[0], "dash"), (meant, shades[1], "solid")])
    )
    return slots


def caption(here: Case, one: Comparison, distance: int, pair: int, error: float) -> str:
    """What is off, or changed, at this distance, by how much; with the formula."""
    is_wrong = one.against == "mended"
    mine, meant = names_of(here, one)
    if not one.errors.any():
        told = (
            say("Every pair turns at the same speed, {mine} and {meant}: no angle is off.",
                mine=mine, meant=meant)
            if is_wrong
            else say("Nothing is scaled: every pair turns as fast as the base says.")
        )  # fmt: skip
    else:
        template = (
            "At a distance of {n} pair {pair} is off by {error} rad, {turns} turns; {off} of "
            "{count} pairs by more than {limit} rad."
            if is_wrong
            else "At a distance of {n} the scaling holds pair {pair} back by {error} rad, {turns} "
            "turns, and {off} of {count} pairs by more than {limit} rad."
        )
        told = say(
            template, n=token_count(distance, say), pair=pair, error=number(error),
            turns=number(one.turns(error)), count=len(one.errors), off=one.count_off(distance),
            limit=config_finding.TOLERANCE,
        )  # fmt: skip
    gain = one.effect.logit_gain
    changes_scores = abs(gain - 1.0) > 1e-9
    if changes_scores:
        told += " " + say("Scores are {gain} times as large.", gain=number(gain))
    if one.seq_len is not None:
        told += " " + say("Measured with {length} tokens in use.", length=number(one.seq_len))
    (mine_freq, mine_factor), (meant_freq, meant_factor) = one.configured, one.meant
    error_formula, gain_formula = pictures.FORMULAS[one.against]
    formulas = []
    if one.errors.any() and pair < len(mine_freq) and pair < len(meant_freq):
        formulas.append(error_formula.markup(
            error, pasted=float(mine_freq[pair]), meant=float(meant_freq[pair]), n=distance
        ))  # fmt: skip
    if changes_scores:
        formulas.append(gain_formula.markup(gain, pasted=mine_factor, meant=meant_factor))
    shown = "".join(f'<p class="pv-formula">{each}</p>' for each in formulas)
    return f'<p class="pv-caption">{told}</p>{shown}'


# ----------------------------------------------------------------------------------------- page


def take(given: str | bytes) -> None:
    """Makes a text the page's: in its link if it is short, else for this session alone."""
    try:
        text = config_text.as_text(given)
        if len(text) > LONGEST:
            raise too_long(text)
    except InvalidParameterError as problem:
        told = begun(translated(problem.template, problem.values))
        st.session_state["doctor:refused"] = f"{told}."
        return
    linked = packed(text)
    is_short = len(linked) <= LINKED
    st.session_state["doctor:long"] = None if is_short else text
    own = {"config": linked} if is_short else {}
    page.write(view, {"start": PASTED, "model": page.values(view)["model"], **own}, only=True)


def typed() -> None:
    """What stands in the field."""
    take(st.session_state["doctor:text"] or "")


def door() -> str:
    """Key of the door for a file: a new one after each file, so that it stands empty."""
    return f"doctor:file:{st.session_state.get('doctor:files', 0)}"


def uploaded() -> None:
    """A file, or why it is none."""
    file = st.session_state.get(door())
    if file is not None:
        take(file.getvalue())
        st.session_state["doctor:files"] = st.session_state.get("doctor:files", 0) + 1


def example() -> None:
    """One of the examples; clicked again, it stays."""
    chosen = st.session_state["doctor:example"]
    if chosen is not None:
        page.write(view, {"start": chosen}, only=True)


@st.fragment
def doctor() -> None:
    """The page: the text, its verdict, reading and findings; what the mends change."""
    sheet = page.Sheet(view)
    values = sheet.values
    here = case_of(values["start"], values["config"], values["model"])
    kept = st.session_state.get("doctor:long")
    is_long = kept is not None and values["start"] == PASTED and not values["config"]
    if is_long:
        here = case(kept, values["model"])
        pair = here.comparisons[here.worst].telling if here.comparisons else 0
        sheet.drawn = pictures_of(here, here.worst, values["distance"], pair)
    with sheet.choices():
        sheet.choice("start", width=300, resets=True, label_hidden=True)
        examples(values["start"])
        sheet.link()
    sheet.show("verdict")
    left, right = st.columns([5, 8], gap="medium")
    with left.container(gap="xsmall"):
        entry(here, is_long)
        if here.form == "llama.cpp":
            sheet.choice("model")
        if "plain" in sheet.drawn:
            sheet.show("plain")
    with right.container(gap="xsmall"):
        if "findings" in sheet.drawn:
            sheet.show("findings")
        if len(here.comparisons) > 1 and not is_long:
            sheet.choice("layer", width=260)
        if here.comparisons:
            if not is_long:
                sheet.handles("distance", "pair", play=["distance"])
            places = st.columns(2, gap="medium")
            with places[0].container(gap="xsmall"):
                if "off" in sheet.drawn:
                    sheet.show("off", chart=True, height=250)
                else:
                    sheet.show("caption")
            with places[1].container(gap="xsmall"):
                sheet.show("turns", chart=True, height=250)
            if "off" in sheet.drawn:
                sheet.show("caption")
    if here.mended_text:
        with st.container(key="pv-doctor-mended", gap="xsmall"):
            told = say("Mended, to copy"), say("with the mends of all errors and warnings")
            if here.form == "llama.cpp":
                told = say("Mended, to copy"), say("the flags that change positions")
            st.html(f'<p class="pv-title"><b>{told[0]}</b><span>{told[1]}</span></p>')
            st.code(here.mended_text, language="bash" if here.form == "llama.cpp" else "json",
                    wrap_lines=True)  # fmt: skip
    sheet.anchor()


def examples(start: str) -> None:
    """What to look at first, one click each."""
    st.session_state["doctor:example"] = start if start in EXAMPLES else None
    st.pills(say("Examples"), list(EXAMPLES), key="doctor:example", on_change=example,
             format_func=lambda one: say(EXAMPLES[one]), label_visibility="collapsed",
             width="content")  # fmt: skip


def entry(here: Case, is_long: bool) -> None:
    """The field for the text, and the door for a file."""
    st.session_state["doctor:text"] = here.text
    st.text_area(say("config.json, a part of it, or flags of llama.cpp or vLLM"), height=280,
                 key="doctor:text", on_change=typed,
                 help=say("Examined when you leave the field, or with Ctrl+Enter."))  # fmt: skip
    with st.container(key="pv-doctor-file"):
        st.file_uploader(
            say("or a file, up to 1 MB"), key=door(), on_change=uploaded,
             max_upload_size=1, label_visibility="collapsed",
        )  # fmt: skip
    told = []
    if refused := st.session_state.pop("doctor:refused", None):
        told.append(refused)
    if is_long:
        told.append(say("This text is too long for a link: it stays in this window, and its "
                        "pictures stand still."))  # fmt: skip
    if told:
        st.html(f'<p class="pv-notice" role="status">{" ".join(told)}</p>')


view = live.View("doctor", parameters, draw)
page.open_view(view)
doctor()
page.below(
    "doctor", "What am I looking at?", "What the effect means", "What it cannot know",
    links=[
        ("scaling", say("what each scaling method does")),
        ("models", say("released models and their files")),
        ("playground", say("turn the handles yourself")),
    ],
)  # fmt: skip
