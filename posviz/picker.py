"""Which position encoding, or which extension of one: a decision table with its sources.

The rules are data. :data:`RULES` is read from top to bottom and the first row whose conditions all
hold answers. What the lab measured for and against an answer is computed from
:mod:`posviz.measured`, so that the table cannot hide it; what others published stands in the rows
as places in :mod:`posviz.published`. Limits of training tokens are ours, set near what the papers
spent; they are orders of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import alibi, catalog, extrapolation, haystacks, measured, params, presets, published
from posviz.catalog import Source
from posviz.export import Setting
from posviz.measured import TRAINED_LENGTH
from posviz.rope import RoPE
from posviz.rope_scaling import RopeScaling, scaling

# ------------------------------------------------------------------------------------- questions

STARTS = ("scratch", "rope", "alibi", "t5", "learned", "sinusoidal")
"""Where one stands: nothing is trained yet, or a model with this encoding is."""
MODALITIES = ("text", "image", "audio")
ENGINES = ("every", "linear", "base")
"""What the serving program can be told: every method; one linear factor and ``rope_theta``; or
``rope_theta`` alone."""
NEEDS = ("cache", "short", "recall", "fused")
"""Cached prefixes stay valid while a text grows; short texts are read exactly as before; single
facts far back are found; attention runs in a fused kernel that takes no bias."""

LITTLE = 1e8
"""Training tokens from which fine-tuning counts: about 200 steps of 64 texts of 8,192."""
USUAL = 1e9
"""About what YaRN and LongRoPE were fine-tuned on."""
PRETRAINING = 1e11
"""From here on it is continued pre-training."""
HEADROOM = 16.0
"""Trained contexts up to which the lab measured."""


@dataclass(frozen=True)
class File:
    """An extension that a model's configuration already has, and was trained with.

    Attributes:
        rope_type: Its method.
        factor: Its scale factor.
        max_position_embeddings: Context it was made for, tokens.
    """

    rope_type: str
    factor: float
    max_position_embeddings: int


@dataclass(frozen=True)
class Case:
    """What the visitor has and needs.

    Attributes:
        start: One of :data:`STARTS`.
        trained: Tokens seen at once in training, before any extension; from scratch, those that
            training can afford.
        target: Tokens that are to be read at once.
        tokens: Tokens that can be spent on training further, after the first training.
        modality: One of :data:`MODALITIES`; asked from scratch.
        engine: One of :data:`ENGINES`.
        needs: Any of :data:`NEEDS`.
        file: The extension that the model already has.
        is_windowed: Whether each layer that knows positions looks back over a window within the
            trained context.
    """

    start: str
    trained: int
    target: int
    tokens: float = 0.0
    modality: str = "text"
    engine: str = "every"
    needs: tuple[str, ...] = ()
    file: File | None = None
    is_windowed: bool = False

    def __post_init__(self) -> None:
        params.one_of("start", self.start, STARTS)
        params.one_of("modality", self.modality, MODALITIES)
        params.one_of("engine", self.engine, ENGINES)
        for need in self.needs:
            params.one_of("needs", need, NEEDS)
        params.keep(
            self,
            trained=params.whole("trained", self.trained, 1),
            target=params.whole("target", self.target, 1),
            tokens=params.real("tokens", self.tokens, 0.0),
        )

    @property
    def state(self) -> str:
        """How the target lies to what the model reads already: one of :data:`STATES`."""
        if self.target <= self.trained:
            return "within"
        if self.is_windowed:
            return "windowed"
        if self.file is not None:
            inside = self.target <= self.file.max_position_embeddings
            return "in file" if inside else f"past {self.file.rope_type}"
        return "past"

    @property
    def multiple(self) -> float:
        """Target over trained context."""
        return self.target / self.trained

    @property
    def factor(self) -> float:
        """Scale factor from the original context, rounded up to hundredths.

        The target's multiple; with a file its own factor times how much further than its context
        the target is.
        """
        exact = self.multiple
        if self.file is not None:
            exact = self.file.factor * self.target / self.file.max_position_embeddings
        return max(math.ceil(round(exact * 100, 6)) / 100, 1.0)


EXTENDED = ("yarn", "llama3", "longrope")
"""Methods whose presence in a file means that the model was trained further with them."""
STATES = ("within", "windowed", "in file", "past", *(f"past {name}" for name in EXTENDED))


def case_of(name: str, target: int, tokens: float = 0.0, engine: str = "every",
            needs: tuple[str, ...] = (), trained: int | None = None) -> Case:  # fmt: skip
    """The case of a released model.

    Args:
        name: As in :func:`posviz.presets.names`.
        target: Tokens that are to be read at once.
        tokens: Tokens that can be spent on training further.
        engine: What the serving program can be told.
        needs: Any of :data:`NEEDS`.
        trained: Its trained context, if it is not the one on record.
    """
    model = presets.get(name)
    own = trained or presets.trained_context(name) or model.original_max_position_embeddings
    start = {"rope": "rope", "alibi": "alibi", "learned": "learned"}[model.positional_encoding]
    most = presets.record(name).get("max_position_embeddings", own)
    file = None
    if model.rope_type in EXTENDED and most > own:
        file = File(model.rope_type, float(model.factor or most / own), most)
    windowed = start == "rope" and presets.reach(name, max(2 * own, target)) <= own
    return Case(start, own, target, tokens, "text", engine, needs, file, windowed)


def models() -> tuple[str, ...]:
    """Released models that :func:`case_of` knows: trained context and heads are on record."""
    return tuple(name for name in presets.names() if presets.can_be_scaled(name) or _is_told(name))


def _is_told(name: str) -> bool:
    """Whether a model without RoPE has its encoding, trained context and heads on record."""
    record = presets.record(name)
    return (
        record["positional_encoding"] in ("alibi", "learned")
        and presets.trained_context(name) is not None
        and "num_attention_heads" in record
    )


# --------------------------------------------------------------------------------------- answers


@dataclass(frozen=True)
class Outcome:
    """Something that can be recommended.

    Attributes:
        label: What a reader sees.
        colour: Name of its colour in ``figures.style``.
        method: ``rope_type`` it sets; None where it is no scaling of RoPE.
        encoding: Its name in :data:`posviz.catalog.NAMES`; None for what is no encoding.
        family: The lab's models that show it; None for a scaling, which is read on RoPE's.
        page: Address in the app that explains it.
    """

    label: str
    colour: str
    method: str | None
    encoding: str | None
    family: str | None
    page: str


OUTCOMES: Mapping[str, Outcome] = {
    "keep": Outcome("leave it as it is", "default", "default", None, None, "models"),
    "yarn": Outcome("YaRN", "yarn", "yarn", "rope", None, "scaling?pinned=yarn"),
    "llama3": Outcome("Llama 3’s rule", "llama3", "llama3", "rope", None,
                      "scaling?pinned=llama3"),
    "dynamic": Outcome("dynamic NTK", "dynamic", "dynamic", "rope", None,
                       "scaling?pinned=dynamic"),
    "ntk": Outcome("NTK-aware base", "ntk", "ntk", "rope", None, "scaling?pinned=ntk"),
    "base": Outcome("RoPE with a larger base", "rope_10000", "ntk", "rope", None, "rope"),
    "linear": Outcome("position interpolation (PI)", "linear", "linear", "rope", None,
                      "scaling?pinned=linear"),
    "longrope": Outcome("LongRoPE", "longrope", "longrope", "rope", None,
                        "scaling?pinned=longrope"),
    "rope": Outcome("RoPE", "rope", "default", "rope", None, "rope"),
    "alibi": Outcome("ALiBi", "alibi", None, "alibi", "names-alibi", "alibi"),
    "t5": Outcome("T5’s bias", "t5", None, "t5", "names-t5", "relative"),
    "transformer_xl": Outcome("Transformer-XL’s relative sinusoids", "transformer_xl", None,
                              "transformer_xl", None, "transformer_xl"),
    "sinusoidal": Outcome("sinusoidal", "sinusoidal", None, "sinusoidal", "names-sinusoidal",
                          "sinusoidal"),
    "learned": Outcome("a learned table", "learned", None, "learned", "names-learned", "learned"),
    "split": Outcome("no encoding will do: cut the text", "alarm", None, None, None, "needle"),
}  # fmt: skip
"""Everything that can be recommended, by name."""


@dataclass(frozen=True)
class When:
    """Conditions of a row; what is empty or unlimited holds for every case."""

    start: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    modality: tuple[str, ...] = ()
    engine: tuple[str, ...] = ()
    above: float = 0.0
    up_to: float = math.inf
    least: float = 0.0
    below: float = math.inf
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def holds(self, case: Case) -> bool:
        """Whether a case meets all of them; ``above`` and ``up_to`` limit its multiple."""
        named = (
            (self.start, case.start), (self.state, case.state),
            (self.modality, case.modality), (self.engine, case.engine),
        )  # fmt: skip
        return (
            all(not allowed or has in allowed for allowed, has in named)
            and self.above < case.multiple <= self.up_to
            and self.least <= case.tokens < self.below
            and set(self.needs) <= set(case.needs)
            and not set(self.without) & set(case.needs)
        )


@dataclass(frozen=True)
class Fact:
    """Numbers of one published table at one length.

    Attributes:
        table: As in :data:`posviz.published.TABLES`.
        length: Tokens read.
        series: Labels of the lines that are compared, the recommended one first.
        text: What was read, where a paper has several texts.
        broke: Whether the recommended line broke there, however the others did.
    """

    table: str
    length: int
    series: tuple[str, ...]
    text: str = ""
    broke: bool = False

    @property
    def is_against(self) -> bool:
        """Whether it speaks against the first line: it broke, or another is better by over 1 %."""
        first, *rest = (value for value, _ in self.cells())
        if "higher is better" in published.table(self.table).quantity:
            return self.broke or any(value > first * 1.01 for value in rest)
        return self.broke or any(value < first * 0.99 for value in rest)

    def cells(self) -> tuple[tuple[float, bool], ...]:
        """What the table prints there, and whether that is only a bound that is exceeded."""
        lines = {one.label: one for one in published.table(self.table).series}
        found = []
        for label in self.series:
            at = lines[label].lengths.tolist().index(self.length)
            value, bound = float(lines[label].values[at]), float(lines[label].bounds[at])
            found.append((bound, True) if math.isnan(value) else (value, False))
        return tuple(found)

    @property
    def multiple(self) -> float:
        """The length over the trained context of the first line."""
        table = published.table(self.table)
        own = next(one for one in table.series if one.label == self.series[0])
        return self.length / (own.trained_context or self.length)


@dataclass(frozen=True)
class Training:
    """What a source spent on training further.

    Attributes:
        steps: Updates.
        sequences: Texts of each update.
        length: Tokens of each text.
        source: Where it says so.
    """

    steps: int
    sequences: int
    length: int
    source: Source

    @property
    def tokens(self) -> int:
        """Tokens in all."""
        return self.steps * self.sequences * self.length


@dataclass(frozen=True)
class Rule:
    """A row of the table.

    Attributes:
        name: Its name.
        when: Its conditions.
        outcome: What it recommends, of :data:`OUTCOMES`.
        runner_up: What comes next; empty if nothing does.
        sure: ``published`` where a table reaches so far; ``measured`` where the lab does;
            ``weak`` where evidence ends or disagrees; ``plain`` where nothing is at stake.
        why: One sentence.
        but: What to know before doing it, one sentence; empty if nothing.
        facts: Published numbers for and against it.
        sources: Where the rest can be checked.
        training: What its source spent, if it is trained further.
    """

    name: str
    when: When
    outcome: str
    runner_up: str
    sure: str
    why: str
    but: str = ""
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()
    training: Training | None = None


def _paper(title: str, number: str) -> Source:
    return Source(title, f"https://arxiv.org/abs/{number}")


PRESS = _paper("Press et al. 2021 (ALiBi)", "2108.12409")
PI = _paper("Chen et al. 2023 (PI)", "2306.15595")
YARN = _paper("Peng et al. 2023 (YaRN)", "2309.00071")
LONGROPE = _paper("Ding et al. 2024 (LongRoPE)", "2402.13753")
KAZEMNEJAD = _paper("Kazemnejad et al. 2023", "2305.19466")
CODE_LLAMA = _paper("Rozière et al. 2023 (Code Llama)", "2308.12950")
LLAMA3 = _paper("Llama Team 2024 (Llama 3)", "2407.21783")
LONG_LLAMA2 = _paper("Xiong et al. 2023 (Llama 2 Long)", "2309.16039")
LLAMA31 = Source(
    "Llama 3.1’s config.json", "https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct"
)
VIT = _paper("Dosovitskiy et al. 2020 (ViT)", "2010.11929")
QWEN2_VL = _paper("Wang et al. 2024 (Qwen2-VL)", "2409.12191")
WHISPER = _paper("Radford et al. 2022 (Whisper)", "2212.04356")
CONFORMER = _paper("Gulati et al. 2020 (Conformer)", "2005.08100")
DYNAMIC = Source(
    "transformers, modeling_rope_utils.py",
    "https://github.com/huggingface/transformers/blob/v5.0.0/src/transformers/modeling_rope_utils.py",
)
GPT2 = Source(
    "openai/gpt-2, src/model.py", "https://github.com/openai/gpt-2/blob/HEAD/src/model.py"
)

_PG19, _PROOF = "longrope-1-pg19", "longrope-1-proof-pile"
_NO_TRAINING = (
    Fact(_PROOF, 16384, ("YaRN", "dynamic NTK", "PI"), "Proof-pile"),
    Fact(_PG19, 16384, ("YaRN", "dynamic NTK", "PI"), "PG-19"),
    Fact(_PROOF, 16384, ("YaRN", "searched factor for each pair"), "Proof-pile"),
)
_YARN_TRAINING = Training(400, 64, 65_536, YARN)
_PI_TRAINING = Training(1000, 64, 8192, PI)
_LONGROPE_TRAINING = Training(400, 32, 131_072, LONGROPE)
_UNTIL = "and nothing in reach of this budget is known to hold that far"

RULES: tuple[Rule, ...] = (
    # ---- nothing to do
    Rule("reads it already", When(start=STARTS[1:], state=("within",)),
         "keep", "", "plain",
         "The text is no longer than what training showed: no extension can help.",
         "Every scaling that goes by a fixed factor would only cost quality here."),
    Rule("looks back over a window", When(state=("windowed",)),
         "keep", "", "plain",
         "Every layer that turns looks back over a window or a chunk within the trained context, "
         "so no new angle is ever met.",
         "It reads on, but what has left the window is known only through the layers above it."),
    Rule("its file reaches so far", When(start=("rope",), state=("in file",)),
         "keep", "", "plain",
         "Its own file is already scaled for this length, and it was trained that way: a second "
         "scaling on top would multiply the first."),
    # ---- from scratch
    Rule("fixed picture", When(start=("scratch",), modality=("image",), up_to=1.0),
         "learned", "rope", "published",
         "A picture has the same patches every time, so a table of them is enough; ViT found no "
         "gain from anything richer.", "Other sizes later need its rows interpolated.",
         sources=(VIT,)),
    Rule("pictures that grow", When(start=("scratch",), modality=("image",)),
         "rope", "learned", "weak",
         "With pictures of any size, rotate some pairs by the row and some by the column "
         "(M-RoPE), as Qwen2-VL does.", "The lab reads text only and cannot speak for pictures.",
         sources=(QWEN2_VL,)),
    Rule("fixed recording", When(start=("scratch",), modality=("audio",), up_to=1.0),
         "sinusoidal", "learned", "published",
         "Recordings cut to one length never go past the table, and a fixed one costs nothing: "
         "Whisper’s encoder adds sinusoids.", "It breaks at once beyond that length.",
         sources=(WHISPER,)),
    Rule("recordings that grow", When(start=("scratch",), modality=("audio",), without=("fused",)),
         "transformer_xl", "rope", "weak",
         "Speech comes in all lengths; Conformer takes relative sinusoids for that.",
         "Its scores need a second product that fused kernels do not have.", sources=(CONFORMER,)),
    Rule("recordings in a fused kernel", When(start=("scratch",), modality=("audio",)),
         "rope", "transformer_xl", "weak",
         "Relative scores without a bias, so that any fused kernel runs it.",
         "The lab reads text only and cannot speak for sound.",
         sources=(_paper("Su et al. 2021 (RoPE)", "2104.09864"),)),
    Rule("train as long as you read", When(start=("scratch",), up_to=1.0),
         "rope", "alibi", "published",
         "Within its training every encoding reads about alike; RoPE adds no bias to a fused "
         "kernel and has every way of growing later.",
         "Bias encodings were a little better within training, in the lab and in this table.",
         (Fact("alibi-2", 512, ("RoPE", "ALiBi", "T5 bias", "sinusoidal")),),
         (_paper("Su et al. 2021 (RoPE)", "2104.09864"),)),
    Rule("a long stage at the end", When(start=("scratch",), up_to=32.0, least=LITTLE),
         "base", "yarn", "published",
         "Train short, then finish on long text over a larger base: released models grew this "
         "way, and nothing has to be scaled when serving.",
         "YaRN needs fewer tokens for the same, should the budget shrink.",
         (Fact("yarn-2", 131_072, ("Code Llama 7B, base 1,000,000", "7B, YaRN, s = 32")),),
         (CODE_LLAMA, LONG_LLAMA2)),
    Rule("finds facts far back", When(start=("scratch",), up_to=4.0, needs=("recall",),
                                      without=("fused",)),
         "t5", "alibi", "measured",
         "Read past training as it is, T5’s bias found more in the lab than any other, and lost "
         "little in print.", "The lab’s table began as ALiBi’s; and the bias is a matrix.",
         (Fact("alibi-2", 1512, ("T5 bias", "ALiBi", "RoPE", "sinusoidal")),
          Fact("kazemnejad-figure-1", 40, ("T5 bias", "ALiBi", "RoPE"))),
         (PRESS, KAZEMNEJAD)),
    Rule("train short, test long", When(start=("scratch",), up_to=32.0,
                                        without=("recall", "fused")),
         "alibi", "t5", "published",
         "Its loss stays flat far past training without one further step.",
         "Far tokens fade by design; on code, one published loss broke at twice.",
         (Fact("alibi-2", 15_512, ("ALiBi", "RoPE", "sinusoidal")),
          Fact("kazemnejad-3", 2048, ("ALiBi", "RoPE", "no encoding"), broke=True)),
         (PRESS, KAZEMNEJAD)),
    Rule("RoPE now, scale later", When(start=("scratch",), up_to=4.0, needs=("fused",)),
         "yarn", "llama3", "weak",
         "Train plain RoPE, which any fused kernel runs, and read longer texts with YaRN.",
         "Published tables without training disagree about it from text to text.", _NO_TRAINING,
         (YARN,)),
    # ---- trained, without RoPE
    Rule("more rows", When(start=("learned",), up_to=32.0, least=LITTLE),
         "learned", "", "weak",
         "New rows must be trained: a longer table, begun from the old one, and long texts.",
         "No published table says how well that works.", sources=(GPT2,)),
    Rule("sinusoids, trained further", When(start=("sinusoidal",), up_to=32.0, least=LITTLE),
         "sinusoidal", "", "weak",
         "The formula gives any position; the weights must meet the new ones in training.",
         "Without it the loss breaks at once.",
         (Fact("alibi-12", 2048, ("sinusoidal, trained at 2,048", "sinusoidal, trained at 512")),),
         (PRESS,)),
    Rule("T5 as it is", When(start=("t5",), up_to=4.0),
         "keep", "", "published",
         "All far distances share the last bucket, so none is new, and loss holds some way.",
         "It rises later: several times the trained length is its end in the published table.",
         (Fact("alibi-2", 1512, ("T5 bias", "RoPE", "sinusoidal")),
          Fact("alibi-2", 6512, ("T5 bias", "ALiBi"))), (PRESS,)),
    Rule("T5, trained further", When(start=("t5",), up_to=32.0, least=LITTLE),
         "t5", "", "weak",
         "Past several trained lengths the table’s loss rises: train the same bias on long texts.",
         "No published table says how well that works.",
         (Fact("alibi-2", 12_512, ("T5 bias", "ALiBi")),), (PRESS,)),
    Rule("ALiBi as it is", When(start=("alibi",), up_to=32.0, without=("recall",)),
         "keep", "", "published",
         "Its loss stays flat far past training; there is nothing to set.",
         "Flat is not far-sighted: what stands far back fades, and one published loss broke.",
         (Fact("alibi-2", 12_512, ("ALiBi", "T5 bias")),
          Fact("kazemnejad-3", 2048, ("ALiBi", "RoPE"), broke=True)), (PRESS, KAZEMNEJAD)),
    Rule("ALiBi, facts a few times further", When(start=("alibi",), up_to=4.0, below=LITTLE),
         "keep", "", "weak",
         "The lab’s models still found names at four times their training.",
         "Copying whole passages fell off there, and on code one published loss broke at twice.",
         (Fact("alibi-2", 1512, ("ALiBi", "T5 bias")),
          Fact("kazemnejad-3", 2048, ("ALiBi", "RoPE"), broke=True)), (PRESS, KAZEMNEJAD)),
    Rule("ALiBi, trained further", When(start=("alibi",), up_to=32.0, least=LITTLE),
         "alibi", "", "weak",
         "To find facts far back, let it train on texts that need them; its slopes stay.",
         "The steep heads still cannot see far.", sources=(PRESS, KAZEMNEJAD)),
    # ---- a trained RoPE model whose file is scaled already
    Rule("more of Llama 3’s rule", When(start=("rope",), state=("past llama3",), below=LITTLE,
                                        engine=("every",), up_to=64.0),
         "llama3", "yarn", "weak",
         "Keep its own rule and raise its factor, counted from the original context: this moves "
         "the frequencies least from those it was trained with.",
         "No published table reads a scaled model further without training; measure first."),
    Rule("more YaRN", When(start=("rope",), state=("past yarn",), below=LITTLE,
                           engine=("every",), up_to=64.0),
         "yarn", "llama3", "weak",
         "Replace its factor by one counted from the original context; do not add a second.",
         "A YaRN model read past its own factor breaks, and with a larger one it is untested.",
         (Fact("longrope-5", 262_144, ("YaRN, s = 32", "LongRoPE, fine-tuned at 128k")),),
         (YARN, LONGROPE)),
    # ---- a trained RoPE model, no training
    Rule("only the base can be set", When(start=("rope",), state=("past",), up_to=4.0,
                                          engine=("base", "linear"), below=LITTLE),
         "ntk", "", "measured",
         "A larger rope_theta is read by any program and slows the slow pairs most; its factor is "
         "the last pair’s, so it is set above the multiple, until the first slow pair fits.",
         "On short texts it cost more than Llama 3’s rule in the lab.",
         (Fact("rerope", 8192, ("NTK, the repository's own", "Llama 2 13B")),), (YARN,)),
    Rule("short texts stay as they are", When(start=("rope",), state=("past",), up_to=4.0,
                                              below=LITTLE, needs=("short",), without=("cache",)),
         "dynamic", "yarn", "published",
         "Up to the trained length it is plain RoPE, exactly; only longer texts are scaled.",
         "Keys cached before the base grew no longer fit. Factor 2 lost less than 4 in every seed "
         "of the lab’s language models at four times; its copying models did better with 4.",
         (Fact(_PG19, 8192, ("dynamic NTK", "YaRN", "PI"), "PG-19"),
          Fact(_PG19, 16384, ("dynamic NTK", "YaRN", "PI"), "PG-19"),
          Fact(_PROOF, 16384, ("dynamic NTK", "YaRN", "PI"), "Proof-pile")),
         (DYNAMIC, LONGROPE)),
    Rule("up to twice", When(start=("rope",), state=("past",), up_to=2.0, below=LITTLE,
                             without=("cache",)),
         "dynamic", "llama3", "published",
         "At twice the length it did best or nearly so on both published texts without training, "
         "and shorter texts are read exactly as before.",
         "Keys cached before the base grew no longer fit, so prefixes cannot be kept.",
         (Fact(_PG19, 8192, ("dynamic NTK", "YaRN", "PI"), "PG-19"),
          Fact(_PROOF, 8192, ("dynamic NTK", "YaRN", "PI"), "Proof-pile"),
          Fact(_PG19, 8192, ("dynamic NTK", "searched factor for each pair"), "PG-19")),
         (DYNAMIC, LONGROPE)),
    Rule("up to twice, cached", When(start=("rope",), state=("past",), up_to=2.0,
                                     engine=("every",), below=LITTLE),
         "llama3", "yarn", "measured",
         "One fixed factor lets prefixes stay cached, and at twice the length the lab’s language "
         "models lost less with it than with YaRN in every seed.",
         "It was released with long training; no published table reads it without.",
         (), (LLAMA31,)),
    Rule("up to four times", When(start=("rope",), state=("past",), up_to=4.0, below=LITTLE),
         "yarn", "llama3", "weak",
         "Untrained, at four times, it had the lowest loss of all on one published text, and beat "
         "plain RoPE and PI in every seed of the lab; one fixed factor keeps prefixes cached.",
         "The same paper’s other text says the opposite: try dynamic NTK beside it on yours.",
         _NO_TRAINING, (YARN, LONGROPE)),
    Rule("a long stretch, untrained", When(start=("rope",), state=("past",), up_to=16.0,
                                           engine=("every",), below=LITTLE),
         "yarn", "llama3", "weak",
         "With Llama 3’s rule the least bad of what needs no training; expect it to hold for part "
         "of this only.",
         "Published tables on record end at four times; some fine-tuning changes the picture.",
         _NO_TRAINING, (YARN, LONGROPE)),
    # ---- a trained RoPE model, trained further
    Rule("only the base, trained", When(start=("rope",), up_to=32.0, engine=("base",),
                                        least=LITTLE),
         "base", "ntk", "published",
         "Set a larger rope_theta, so that the first slow pair fits, and fine-tune on long texts, "
         "as Code Llama did.",
         "The budget on record is larger, and YaRN reached less loss where it can be served.",
         (Fact("yarn-2", 131_072, ("Code Llama 7B, base 1,000,000", "7B, YaRN, s = 32")),
          Fact("yarn-1", 8192, ("NTK, base 20,000", "YaRN, s = 2", "PI, s = 2"))),
         (CODE_LLAMA,)),
    Rule("one linear factor", When(start=("rope",), up_to=16.0, engine=("linear",), least=LITTLE),
         "linear", "base", "published",
         "One factor on all positions is what your program reads; fine-tuned, it works, and 200 "
         "steps already mend most.",
         "Untrained, it did worst of all methods in the lab’s language models.",
         (Fact("pi-1", 32_768, ("PI, fine-tuned at 32,768", "LLaMA 7B")),
          Fact("yarn-1", 8192, ("PI, s = 2", "YaRN, s = 2"))), (PI,), _PI_TRAINING),
    Rule("continued pre-training", When(start=("rope",), up_to=32.0, engine=("every",),
                                        least=PRETRAINING),
         "llama3", "yarn", "weak",
         "With this much training, the rule that Llama 3.1 and 3.2 were released with: fast pairs "
         "kept, slow ones divided, no change to the size of scores.",
         "No one published it beside YaRN after training; most of the work is the training’s.",
         (), (LLAMA3, LLAMA31)),
    Rule("YaRN and fine-tuning", When(start=("rope",), up_to=32.0, engine=("every",),
                                      least=LITTLE),
         "yarn", "linear", "published",
         "Fine-tuned, it read 32 times its context at the lowest loss on record among methods that "
         "need no search; with one fixed factor, cached keys stay valid.",
         "It costs a little on short texts: keep the plain file for those.",
         (Fact("yarn-2", 131_072, ("7B, YaRN, s = 32", "Code Llama 7B, base 1,000,000",
                                   "7B, PI, fine-tuned at 32k")),
          Fact("yarn-1", 8192, ("YaRN, s = 2", "PI, s = 2", "NTK, base 20,000")),
          Fact("longrope-5", 131_072, ("YaRN, s = 32", "LongRoPE, fine-tuned at 128k"))),
         (YARN,), _YARN_TRAINING),
    Rule("hundreds of times", When(start=("rope",), up_to=512.0, engine=("every",), least=USUAL),
         "longrope", "yarn", "published",
         "A searched divisor for each pair, fine-tuned in stages, is the one way past 32 times "
         "that is on record here: its paper goes to 512.",
         "Its lists come out of a search on your model; nobody can write them down beforehand.",
         (Fact("longrope-5", 262_144, ("LongRoPE, fine-tuned at 256k", "YaRN, s = 32",
                                       "Code Llama 7B, base 1,000,000")),), (LONGROPE,),
         _LONGROPE_TRAINING),
    # ---- out of reach
    Rule("the table ends", When(start=("learned",)),
         "split", "", "plain",
         "Past the last row there is nothing to look up: the model cannot read one token more.",
         "Cut the text into pieces with some overlap, or search it and read what was found.",
         sources=(GPT2,)),
    Rule("breaks at once", When(start=("sinusoidal",)),
         "split", "", "published",
         "Sums of a token and a position that training never showed: the loss breaks at once.",
         "Cut the text into pieces with some overlap, or search it and read what was found.",
         (Fact("alibi-2", 1012, ("sinusoidal", "ALiBi")),), (PRESS,)),
    Rule("out of reach", When(),
         "split", "", "plain",
         f"This is too far for what you have, {_UNTIL}.",
         "Search the text and read what was found, summarize in steps, slide a window, or plan "
         "for more training."),
)  # fmt: skip
"""The table; the first row that holds answers. The last one always does."""


def rule_for(case: Case) -> Rule:
    """The first row that holds."""
    return next(rule for rule in RULES if rule.when.holds(case))


_ROPE_METHODS = ("yarn", "llama3", "dynamic", "ntk", "base", "linear", "longrope")
_ELSEWHERE = ("rope", "alibi", "t5", "transformer_xl", "sinusoidal", "learned")

WHY_NOT: Mapping[str, tuple[tuple[When, str], ...]] = {
    "yarn": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "costs a little within training, and nothing is gained there"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(engine=("base", "linear")), "your program cannot be told its ramp"),
        (When(needs=("short",), without=("cache",), below=LITTLE),
         "changes short texts a little, too"),
        (When(above=32.0), "published up to 32 times only"),
        (When(), "close: see the runner-up"),
    ),
    "llama3": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "leaves short texts nearly alone, but nothing is gained"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(engine=("base", "linear")), "your program cannot be told its rule"),
        (When(above=32.0), "released with factors of 8 to 32"),
        (When(), "released after long training; no published table beside others"),
    ),
    "dynamic": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "is plain RoPE up to the trained length"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(engine=("base", "linear")), "your program keeps one base for all lengths"),
        (When(needs=("cache",)), "keys cached before the base grew no longer fit"),
        (When(above=4.0), "holds for a few times only, in the lab and in print"),
        (When(least=LITTLE), "is made for no training; with some, YaRN reaches further"),
        (When(), "pays only if short texts must stay exactly as they are"),
    ),
    "ntk": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "nothing is gained within training"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(least=LITTLE), "fine-tuned, its loss stays above YaRN’s and PI’s"),
        (When(), "on short texts it cost more than Llama 3’s rule in the lab"),
    ),
    "base": (
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0, start=("rope",)), "nothing is gained within training"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(below=LITTLE), "the weights must be trained with it"),
        (When(above=32.0), "published up to 32 times only"),
        (When(), "took Code Llama more tokens than YaRN, for a higher loss"),
    ),
    "linear": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "slows every pair for nothing"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(below=LITTLE), "untrained, it did worst of all in the lab’s language models"),
        (When(above=16.0), "published up to 16 times only"),
        (When(), "as good as YaRN at twice, but breaks sooner past its target"),
    ),
    "longrope": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "nothing is gained within training"),
        (When(state=("windowed", "in file")), "the model reads this far as it is"),
        (When(engine=("base", "linear")), "your program cannot be told its lists"),
        (When(above=512.0), "even its paper ends at 512 times"),
        (When(below=USUAL), "needs a search on your model before anything else"),
        (When(), "needs a search on your model; YaRN is one line"),
    ),
    "rope": (
        (When(start=STARTS[2:]), "the model is trained: its encoding cannot be exchanged"),
        (When(above=1.0), "unscaled, it holds a little past training only"),
        (When(start=("rope",)), "it is RoPE already"),
        (When(), "would serve as well; see the runner-up"),
    ),
    "alibi": (
        (When(start=STARTS[1:]), "the model is trained: its encoding cannot be exchanged"),
        (When(needs=("recall",)), "found less than T5’s bias in the lab, at eight times"),
        (When(needs=("fused",)), "needs a kernel that takes slopes"),
        (When(modality=("image",)), "counts distance in one direction, not two"),
        (When(modality=("audio",)), "fades by distance; speech models rarely take it"),
        (When(above=32.0), "even its paper ends at about 30 times"),
        (When(), "good within training, but the far end of the text fades"),
    ),
    "t5": (
        (When(start=STARTS[1:]), "the model is trained: its encoding cannot be exchanged"),
        (When(needs=("fused",)), "its bias must be loaded or looked up by the kernel"),
        (When(above=4.0), "loss rises at several times the trained length, in print"),
        (When(), "the bias is a matrix as large as the scores"),
    ),
    "transformer_xl": (
        (When(start=STARTS[1:]), "the model is trained: its encoding cannot be exchanged"),
        (When(needs=("fused",)), "needs a second product that fused kernels lack"),
        (When(), "needs a second product in every score"),
    ),
    "sinusoidal": (
        (When(start=STARTS[1:]), "the model is trained: its encoding cannot be exchanged"),
        (When(above=1.0), "breaks at once past the trained length"),
        (When(), "cannot grow later"),
    ),
    "learned": (
        (When(start=STARTS[1:]), "the model is trained: its encoding cannot be exchanged"),
        (When(above=1.0), "has no row past the trained length"),
        (When(), "cannot grow later"),
    ),
}  # fmt: skip
"""Why something else was not recommended: the first line that holds. The last one always does."""


def why_not(case: Case, outcome: str) -> str:
    """Why something is not the answer, a message id."""
    params.one_of("outcome", outcome, tuple(WHY_NOT))
    return next(reason for when, reason in WHY_NOT[outcome] if when.holds(case))


# -------------------------------------------------------------------------------------- evidence


DYNAMIC_FACTOR = 2.0
"""Factor of dynamic NTK that is recommended: at four times the length it lost less than 1 and 4 in
every seed of the lab's language models. Its copying models did better with 4."""


@dataclass(frozen=True)
class Orders:
    """How a method did in a family of the lab's models at a length, untrained.

    Each method is read with its own factor for that length, see :func:`own_factor`.

    Attributes:
        family: As in :func:`posviz.measured.families`.
        multiple: Trained contexts that were read.
        better: Methods that did worse than it in every seed.
        worse: Methods that did better than it in every seed.
    """

    family: str
    multiple: float
    better: tuple[str, ...]
    worse: tuple[str, ...]


# RoPE and trained context of the lab's families, see posviz/models/recipes.py.
_LAB = {
    "names-rope-10000": (RoPE(32, 10_000.0), TRAINED_LENGTH),
    "names-rope-500": (RoPE(32, 500.0), TRAINED_LENGTH),
    "copying-rope": (RoPE(16, 10_000.0), 512),
}
_NAMES = ("names-rope-500", "names-rope-10000")
_RIVALS = ("default", "linear", "ntk", "dynamic", "yarn", "llama3")
_NEAR = 1.5  # ratio up to which a measured factor stands for another one
_CLOSE = 1.2  # ratio up to which a measured length does


def own_factor(method: str, multiple: float, rope: RoPE, trained: int) -> float:
    """Factor that a method needs to read ``multiple`` trained contexts of a RoPE.

    For NTK, the factor that slows the first pair without a whole turn in training ``multiple``
    times, at most ``multiple ** 3``: its factor is the last pair's, and earlier ones are slowed
    less. Dynamic NTK follows the length; its factor is :data:`DYNAMIC_FACTOR`.
    """
    if method == "dynamic":
        return DYNAMIC_FACTOR
    if method != "ntk" or rope.rotary_dim < 4:
        return multiple
    slow = extrapolation.never_completed(rope, trained)
    first = extrapolation.first_never_completed(rope, trained)
    if not slow.any() or first == 0:
        return multiple
    return float(multiple ** min((rope.rotary_dim - 2) / (2 * first), 3.0))


def lab_factor(method: str, multiple: float, family: str) -> float | None:
    """Factor with which the lab read a family, nearest to the one for a multiple; None if far."""
    if method == "default":
        return 1.0
    used = own_factor(method, max(multiple, 1.0), *_LAB[family])
    nearest = measured.nearest_factor(used)
    return nearest if max(used / nearest, nearest / used) <= _NEAR else None


def _seeds(family: str, method: str, multiple: float, at: int) -> list[float] | None:
    """Loss or accuracy of every seed at one measured length; None if it was not measured."""
    factor = lab_factor(method, multiple, family)
    if factor is None:
        return None
    found = []
    for model in measured.models(family):
        if family.startswith("copying"):
            copied = measured.copying(model, method, factor)
            values = None if copied is None else copied.accuracy
        else:
            curve = measured.curve(model, method, factor)
            values = None if curve is None else curve.nats
        if values is None:
            return None
        found.append(float(values[at]))
    return found


@lru_cache(maxsize=512)
def _orders(method: str, multiple: float) -> tuple[Orders, ...]:
    found = []
    for family, (_, trained) in _LAB.items():
        copies = family.startswith("copying")
        known = measured.COPY_LENGTHS if copies else measured.LENGTHS
        wanted = multiple * trained
        length = min(known, key=lambda one: abs(math.log(one / wanted)))
        at = known.index(length)
        own = _seeds(family, method, multiple, at)
        if own is None or max(length / wanted, wanted / length) > _CLOSE:
            continue
        sign = -1.0 if copies else 1.0  # accuracy is better when higher
        better, worse = [], []
        for rival in _RIVALS:
            other = None if rival == method else _seeds(family, rival, multiple, at)
            if other is None:
                continue
            gains = [sign * (b - a) for a, b in zip(own, other, strict=True)]
            if min(gains) > 2e-5:
                better.append(rival)
            elif max(gains) < -2e-5:
                worse.append(rival)
        found.append(Orders(family, length / trained, tuple(better), tuple(worse)))
    return tuple(found)


def orders(method: str, multiple: float) -> tuple[Orders, ...]:
    """What the lab's RoPE models say of a method at a length, family by family.

    Empty where nothing near it was measured.
    """
    params.one_of("method", method, (*_RIVALS, "longrope"))
    multiple = params.real("multiple", multiple, 0.0, above=True)
    if method in ("longrope", "default") or multiple > _CLOSE * HEADROOM:
        return ()
    return _orders(method, round(multiple, 2))


def held(outcome: str, multiple: float) -> tuple[float, float] | None:
    """Trained contexts up to which the lab's models held with it, untrained: least and most.

    Over both families of RoPE for a scaling; infinite where it held at all lengths measured. None
    if it was not measured at a factor near the one for this multiple.
    """
    answer = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))]
    if answer.family is not None:
        reached = measured.reach(answer.family)
        return None if reached is None else (reached / TRAINED_LENGTH,) * 2
    if answer.method in (None, "longrope"):
        return None
    told = []
    for family in _NAMES:
        factor = lab_factor(answer.method, multiple, family)
        reached = None if factor is None else measured.reach(family, answer.method, factor)
        if reached is not None:
            told.append(reached / TRAINED_LENGTH)
    return (min(told), max(told)) if told else None


def found(outcome: str, multiple: float) -> tuple[float, float, float] | None:
    """Needles that the lab's models find far back with an outcome, untrained.

    Returns:
        The multiple of training at which they were asked, 4 or 8, whichever is nearest, and the
        least and the most over all seeds of the share of letters found, depths averaged. None if
        nothing near was asked.
    """
    answer = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))]
    if answer.method == "longrope" or (answer.method is None and answer.family is None):
        return None
    asked = min((4.0, 8.0), key=lambda one: abs(math.log(one / max(multiple, 1.0))))
    if multiple > _NEAR * asked:
        return None
    shares = []
    for family in (answer.family,) if answer.family else _NAMES:
        method = answer.method or "default"
        factor = 1.0 if answer.family else lab_factor(method, asked, family)
        for model in measured.models(family) if factor is not None else ():
            grid = haystacks.grid(model, method, factor or 1.0)
            if grid is not None:
                column = grid.accuracy[grid.lengths.index(int(asked * TRAINED_LENGTH))]
                shares.append(float(column.mean()))
    told = [one for one in shares if not math.isnan(one)]
    return (asked, min(told), max(told)) if told else None


def within(outcome: str, multiple: float, family: str) -> tuple[float, float] | None:
    """Perplexity of the lab's models at their trained context: plain, and scaled untrained.

    Means over the seeds of ``family``. None for what is no scaling, changes nothing there, or was
    not measured near its factor.
    """
    method = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))].method
    if method in (None, "default", "longrope", "dynamic"):
        return None
    factor = lab_factor(method, multiple, family)
    plain = measured.band(family)
    scaled = None if factor is None else measured.band(family, method, factor)
    if plain is None or scaled is None:
        return None
    at = plain.lengths.index(TRAINED_LENGTH)
    return math.exp(plain.mean[at]), math.exp(scaled.mean[at])


BUDGETS = (LITTLE, USUAL, PRETRAINING)


def with_training(case: Case) -> tuple[float, Rule] | None:
    """The least of :data:`BUDGETS` above a case's own with which evidence is published; its rule.

    None if no budget helps.
    """
    for tokens in BUDGETS:
        if tokens > case.tokens:
            rule = rule_for(replace(case, tokens=tokens))
            if rule.sure == "published" and rule.outcome != "split":
                return tokens, rule
    return None


def share(
    family: str, method: str = "default", factor: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """:func:`posviz.measured.loss_share` as far as the model can read."""
    found = measured.loss_share(family, method, factor)
    if found is None:
        return None
    seen = np.isfinite(found[1])
    return found[0][seen], found[1][seen]


def drawn(fact: Fact, label: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A line of a fact's table, perplexities by multiples of the trained context.

    A bound stands where a value is only bounded; lengths without either are left out.
    """
    table = published.table(fact.table)
    line = next(one for one in table.series if one.label == label)
    values = np.where(np.isnan(line.values), line.bounds, line.values)
    seen = np.isfinite(values)
    told = np.exp(values) if table.quantity == published.LOSS else values
    return line.multiples[seen], told[seen]


def alike(rope: RoPE, trained: int) -> str:
    """The lab's RoPE family whose share of pairs without a whole turn is nearest to a model's."""

    def share(one: RoPE, length: int) -> float:
        return float(extrapolation.never_completed(one, length).mean())

    own = share(rope, trained)
    return min(
        ("names-rope-500", "names-rope-10000"),
        key=lambda family: abs(
            share(RoPE(32, float(family.rpartition("-")[2])), TRAINED_LENGTH) - own
        ),
    )


# --------------------------------------------------------------------------------- what it needs

RELEASED_BASES = (
    (4096, 10_000.0, "Llama-2-7b-hf"),
    (8192, 500_000.0, "Meta-Llama-3-8B"),
    (32_768, 1_000_000.0, "Qwen2.5-7B-Instruct"),
    (262_144, 10_000_000.0, "Qwen3-30B-A3B-Instruct-2507"),
)
"""Trained context, base, and a released model that was trained so."""


def usual_base(length: int) -> tuple[float, str]:
    """Base of a released model trained on at least ``length`` tokens, and its name.

    The shortest one that suffices; of the longest one on record beyond it.
    """
    length = params.whole("length", length, 1)
    found = next((one for one in RELEASED_BASES if length <= one[0]), RELEASED_BASES[-1])
    return found[1], found[2]


def method_of(case: Case, outcome: str, rope: RoPE) -> RopeScaling | None:
    """The scaling that an outcome sets, its parameters filled in; None if it sets none here.

    LongRoPE's lists come out of a search, so it has none.
    """
    method = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))].method
    if method in (None, "default", "longrope") or case.multiple <= 1.0:
        return None
    factor = own_factor(method, case.factor, rope, case.trained)
    return scaling(
        method, factor=factor, max_position_embeddings=case.trained,
        original_max_position_embeddings=case.trained,
    )  # fmt: skip


def setting(case: Case, outcome: str, rope: RoPE, head_dim: int) -> Setting | None:
    """What is written into a configuration; None if the outcome is no setting of RoPE.

    Raises:
        InvalidParameterError: If this RoPE cannot have the method (NTK with a single pair).
    """
    answer = OUTCOMES[outcome]
    if answer.method is None or answer.method == "longrope":
        return None
    if case.start == "scratch" and outcome in ("rope", "base"):
        base = usual_base(max(case.target, case.trained))[0]
        return Setting(RoPE(rope.rotary_dim, base), scaling("default"), head_dim,
                       max(case.target, case.trained), case.trained)  # fmt: skip
    method = method_of(case, outcome, rope) or scaling("default")
    return Setting(rope, method, head_dim, max(case.target, case.trained), case.trained)


def other_config(case: Case, outcome: str, num_heads: int) -> dict[str, Any] | None:
    """Keys of a configuration for an encoding that is not RoPE; None if there are none to write."""
    length = max(case.target, case.trained)
    match OUTCOMES[outcome].encoding:
        case "alibi":
            return {"alibi": True, "slopes": alibi.slopes(num_heads).tolist()}
        case "t5":
            return {"relative_attention_num_buckets": catalog.NUM_BUCKETS,
                    "relative_attention_max_distance": 128}  # fmt: skip
        case "learned":
            return {"position_embedding_type": "absolute", "max_position_embeddings": length}
        case "sinusoidal":
            return {"sinusoidal": True, "base": 10_000.0, "max_position_embeddings": length}
        case "transformer_xl":
            return {"untie_r": True, "mem_len": length, "clamp_len": case.trained}
    return None


def cache_bytes(
    seq_len: int, num_layers: int, num_key_value_heads: int, head_dim: int, width: int = 2
) -> int:
    """Bytes of the keys and values of one text; no encoding changes them.

    Args:
        seq_len: Tokens.
        num_layers: Layers with attention.
        num_key_value_heads: Heads that are cached in each layer.
        head_dim: Dimensions of a head.
        width: Bytes of a number, 2 for float16 and bfloat16.
    """
    params.whole("width", width, 1)
    sizes = {"seq_len": seq_len, "num_layers": num_layers, "head_dim": head_dim,
             "num_key_value_heads": num_key_value_heads}  # fmt: skip
    return 2 * width * math.prod(params.whole(name, size, 1) for name, size in sizes.items())


def bias_bytes(encoding: str, seq_len: int, num_heads: int, width: int = 2) -> int:
    """Bytes of an encoding's own part of the scores if it is written out; 0 if it has none."""
    return params.whole("width", width, 1) * catalog.get(encoding).bias_entries(seq_len, num_heads)
