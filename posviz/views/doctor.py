"""The config doctor's view: what an engine does with a pasted text, what is wrong, the mend."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from html import escape
from typing import Any

from posviz import config_finding, config_mended, config_text, params, presets
from posviz.config_doctor import Examination, Finding, Statement, examine
from posviz.config_mended import Comparison
from posviz.config_text import Parsed
from posviz.figures import doctor as pictures
from posviz.figures import style
from posviz.figures.style import number, token_count
from posviz.params import InvalidParameterError
from posviz.ui import live
from posviz.ui.packing import unpacked
from posviz.ui.text import clauses, say, valued

PASTED = "pasted"
UNTOLD = "untold"  # the model of flags, until it is chosen
LONGEST = 200_000  # characters that are examined; a config.json has a few thousand
LINKED = 1500  # characters of a link's own text

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

    @property
    def config(self) -> dict[str, Any] | None:
        """Of the model that flags are for; None until it is chosen."""
        return None if self.model == UNTOLD else presets.config(self.model)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that is found; nothing where the text cannot be read."""
        return self.examined.findings if isinstance(self.examined, Examination) else ()

    @property
    def asks(self) -> bool:
        """Whether the model of the flags is still to be chosen."""
        return self.form == "llama.cpp" and self.model == UNTOLD

    @cached_property
    def examined(self) -> Examination | InvalidParameterError:
        try:
            if len(self.text) > LONGEST:
                raise too_long(self.text)
            return examine(self.text, model=self.config)
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
        return config_mended.mended(self.examined, model=self.config)

    @cached_property
    def mended_text(self) -> str:
        """The mended config as text; empty if there is nothing to mend."""
        if not isinstance(self.examined, Examination):
            return ""
        before = config_mended.written(self.examined.parsed)
        after = config_mended.written(replace(self.examined.parsed, config=self.meant))
        return "" if after == before else after

    @property
    def loses_all(self) -> bool:
        """Whether the mends take every flag away."""
        return self.form == "llama.cpp" and bool(self.findings) and not self.meant

    @cached_property
    def left(self) -> tuple[Finding, ...]:
        """Errors and warnings that stay when it is mended."""
        if self.loses_all:
            return ()
        again = Case(self.mended_text or self.text, self.model)
        return tuple(each for each in again.findings if each.level != "note")

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """By layer type, as pasted and as meant."""
        if not isinstance(self.examined, Examination):
            return ()
        return config_mended.comparisons(self.examined, self.meant, model=self.config)

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
        return case(unpacked("config", config, 4 * LONGEST), model)
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
    examples = (params.Said(say("example: {label}", label=say(one))) for one in EXAMPLES.values())
    yield params.Choice(
        "start", "Start from", "lost_base", (PASTED, *EXAMPLES, *names),
        ("your own text", *examples, *map(params.Said, names)),
        "An example or a released model's file, to look at or to change.",
    )  # fmt: skip
    yield params.Text("config", "Text", "", LINKED, "")
    meant = "Qwen2.5-7B-Instruct" if v["start"] == "llama_cpp" else UNTOLD
    yield params.Choice(
        "model", "Flags are for", meant, (UNTOLD, *models()),
        ("choose a model", *map(params.Said, models())),
        "Flags change what a model file says: whether they are right, and how far they are off, "
        "depends on it.",
    )  # fmt: skip
    here = case_of(v["start"], v["config"], v["model"])
    types = [each.layer_type for each in here.comparisons] or [None]
    yield params.Choice(
        "layer", "Layers", str(here.worst), tuple(map(str, range(len(types)))),
        tuple(params.Said(sendable(name)) if name else "all layers" for name in types), "",
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


def draw(start: str, config: str, model: str, layer: str, distance: int, pair: int) -> live.Slots:
    """Every picture."""
    return pictures_of(case_of(start, config, model), int(layer), distance, pair)


def pictures_of(here: Case, layer: int, distance: int, pair: int) -> live.Slots:
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


def translated(template: params.Message, values: Mapping[str, object]) -> str:
    """A sentence of the core with its values, HTML; words among the values are translated, too."""
    return escape(say(template).format(**params.said(values, say)), quote=False)


def sentence(each: Finding | Statement) -> str:
    """A finding or statement in words, ended by a full stop."""
    told = translated(each.template, each.values)
    return told if told.endswith(("?", ".", "!", "？", "。")) else say("{sentence}.", sentence=told)


def begun(told: str) -> str:
    """A sentence with a capital, unless it begins with a name."""
    first = told.split(" ", 1)[0].rstrip(",.:")
    return told[:1].upper() + told[1:] if first.isalpha() and first.islower() else told


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
        if here.asks:
            return pictures.verdict(
                "nothing", say("Which model are these flags for?"),
                say("Nothing is wrong in the flags alone. Choose the model, and they are held "
                    "against its file: whether its context needs scaling at all, and what they "
                    "change."),
            )  # fmt: skip
        other = next((n.values["model"] for n in examined.findings if "apart" in n.values), None)
        if other is not None:
            told_notes += " " + say(
                "It is not {model}, which has the same sizes: only its author knows whether that "
                "is meant.", model=other,
            )  # fmt: skip
        return pictures.verdict(
            "healthy", say("Healthy: no mistake found"),
            told_notes or say("Nothing to note either."),
        )  # fmt: skip
    worst = serious[0]
    asked = say("Choose the model that the flags are for: what they do depends on its file.")
    told_notes = f"{told_notes} {asked}" if here.asks else told_notes
    key = f"<code>{escape(worst.key)}</code>" if worst.key else say("the text")
    if len(serious) == 1:
        told = say("1 finding: {key}", key=key)
    else:
        told = say("{count} findings, the worst is {key}", count=len(serious), key=key)
    if here.loses_all:
        after = say("Mended, none of these flags is left: what the model file says is right.")
    elif here.mended_text:
        after = style.counted(len(here.left), "Mended, 1 stays that only its author can settle.",
                              "Mended, {count} stay that only its author can settle.",
                              say) if here.left else mended_as(serious)  # fmt: skip
    else:
        after = say("Only its author can know what was meant.")
    return pictures.verdict(worst.level, told, f"{effect_of(worst)} {after} {told_notes}")


def mended_as(serious: Sequence[Finding]) -> str:
    """What a mended file is; which model it should be, it does not say itself."""
    model = next((each.values["model"] for each in serious if "model" in each.values), None)
    if model is None:
        return say("Mended, nothing more is found.")
    return say("Mended as {model}: whether it is that model, only its author knows.", model=model)


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
    return say("{sentence}.", sentence=begun(clauses(told)))


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


def curves(here: Case, one: Comparison, distance: int, pair: int) -> live.Slots:
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
    slots: live.Slots = {"caption": live.drawing(caption(here, one, distance, pair, error))}
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
            valued(title, style.plain_text(note)),
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
        valued(title, style.plain_text(note)),
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
    gain, rest = one.effect.logit_gain, one.effect.rest_gain
    changes_scores = abs(gain - 1.0) > 1e-9
    if rest is not None and abs(rest - gain) > 1e-9:
        told += " " + say("Scores of the part that turns are {gain} times as large, of the rest "
                          "{rest} times.", gain=number(gain), rest=number(rest))  # fmt: skip
    elif changes_scores:
        told += " " + say("Scores are {gain} times as large.", gain=number(gain))
    if one.seq_len is not None:
        told += " " + say("Measured with {length} tokens in use.", length=number(one.seq_len))
    (mine_freq, mine_factor), (meant_freq, meant_factor) = one.configured, one.meant
    error_formula, gain_formula = pictures.FORMULAS[one.against]
    formulas = []
    if one.errors.any() and pair < len(mine_freq) and pair < len(meant_freq):
        formulas.append(error_formula.markup(
            say, error, pasted=float(mine_freq[pair]), meant=float(meant_freq[pair]), n=distance
        ))  # fmt: skip
    if changes_scores and one.scales is None:
        formulas.append(gain_formula.markup(say, gain, pasted=mine_factor, meant=meant_factor))
    shown = "".join(f'<p class="pv-formula">{each}</p>' for each in formulas)
    return f'<p class="pv-caption">{told}</p>{shown}'


VIEW = live.View("doctor", parameters, draw)
