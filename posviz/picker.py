"""Which position encoding, or which extension of one: a decision table with its sources.

The rules are data. :data:`RULES` is read from top to bottom and the first row whose conditions all
hold answers. What the lab measured for and against an answer is computed
(:mod:`posviz.picker_evidence`), so that the table cannot hide it; what others published stands in
the rows as places in :mod:`posviz.published`, with what it cost. Limits of training tokens are
ours, set near what the papers spent; they are orders of magnitude. What an answer sets stands in
:mod:`posviz.picker_settings`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from posviz import params, presets, published
from posviz.catalog import Source
from posviz.rope_scaling import RopeScaling

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
    """An extension that a model's configuration already has, or that its makers offer.

    Attributes:
        rope_type: Its method.
        factor: Its scale factor.
        max_position_embeddings: Context it was made for, tokens.
        original: Context from which the factor counts, tokens; 0 for the trained one.
        scaling: The method with all its numbers; None if only the factor is known.
    """

    rope_type: str
    factor: float
    max_position_embeddings: int
    original: int = 0
    scaling: RopeScaling | None = None


@dataclass(frozen=True)
class Window:
    """How far back layers look whose every rotation stays within training.

    Attributes:
        size: Tokens that such a layer looks back.
        reach: Tokens back that can reach the output through all layers; None if some layers see
            everything, or the number of layers is not on record.
        is_global: Whether other layers see everything, and know no positions.
    """

    size: int
    reach: int | None = None
    is_global: bool = False


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
        option: The extension that its makers offer for longer texts.
        window: Given if each layer that knows positions looks back over a window within the trained
            context.
        holds: Tokens up to which a published table reads this very model as it is; 0 for none.
    """

    start: str
    trained: int
    target: int
    tokens: float = 0.0
    modality: str = "text"
    engine: str = "every"
    needs: tuple[str, ...] = ()
    file: File | None = None
    option: File | None = None
    window: Window | None = None
    holds: int = 0

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
            holds=params.whole("holds", self.holds, 0),
        )

    @property
    def state(self) -> str:
        """How the target lies to what the model reads already: one of :data:`STATES`."""
        if self.target <= self.trained:
            return "within"
        in_file = self.file is not None and self.target <= self.file.max_position_embeddings
        if self.window is not None:
            if self.window.is_global:
                return "in file" if in_file else "global"
            return "past windows" if self.target > (self.window.reach or math.inf) else "windowed"
        if self.file is not None:
            return "in file" if in_file else f"past {self.file.rope_type}"
        if self.target <= self.holds:
            return "held"
        if self.option is not None and self.target <= self.option.max_position_embeddings:
            return "option"
        return "past"

    @property
    def origin(self) -> int:
        """Tokens from which a factor counts: the trained context, or what its makers name."""
        return (self.option.original if self.option is not None else 0) or self.trained

    @property
    def multiple(self) -> float:
        """Target over trained context."""
        return self.target / self.trained

    @property
    def factor(self) -> float:
        """Scale factor from the original context, rounded up to hundredths.

        The target over the context from which factors count; with a file its own factor times how
        much further than its context the target is.
        """
        exact = self.target / self.origin
        if self.file is not None:
            exact = self.file.factor * self.target / self.file.max_position_embeddings
        return max(math.ceil(round(exact * 100, 6)) / 100, 1.0)


EXTENDED = ("yarn", "llama3", "longrope")
"""Methods whose presence in a file means that the model was trained further with them."""
STATES = ("within", "windowed", "past windows", "global", "in file", "held", "option", "past",
          *(f"past {name}" for name in EXTENDED))  # fmt: skip
_FURTHER = ("past", "option")  # plain RoPE beyond its training

READS_ON = {"CodeLlama-7b-hf": 131_072, "CodeLlama-34b-hf": 100_000}
"""Tokens up to which released models were read as they are: the 7B in table 2 of the YaRN paper,
all sizes up to 100,000 tokens in the Code Llama paper."""


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
    target = params.whole("target", target, 1)
    own = presets.trained_context(name) or model.original_max_position_embeddings
    if trained is not None:
        own = params.whole("trained", trained, 1)
    start = {"rope": "rope", "alibi": "alibi", "learned": "learned"}[model.positional_encoding]
    record, rotary = presets.record(name), presets.main_rotary(name)
    most = record.get("longest_training_context", record.get("max_position_embeddings", own))
    file = None
    if rotary is not None and model.rope_type in EXTENDED and most > own:
        file = File(model.rope_type, float(model.factor or most / own), most, own, rotary.scaling)
    return Case(start, own, target, tokens, "text", engine, needs, file, _option(name),
                _window(name, own, target), READS_ON.get(name, 0))  # fmt: skip


def _option(name: str) -> File | None:
    """The extension for longer texts that a model's makers name beside its file."""
    told = presets.record(name).get("long_context_option")
    if told is None:
        return None
    original = told["original_max_position_embeddings"]
    most = round(told["factor"] * original)
    return File(told["rope_type"], float(told["factor"]), most, original)


def _window(name: str, own: int, target: int) -> Window | None:
    """The windows of a model whose every turning layer has one; None for any other."""
    size = presets.reach(name, max(2 * own, target))
    if presets.record(name)["positional_encoding"] != "rope" or size > own:
        return None
    is_global = any(one.layer_type == "full_attention" for one in presets.layers(name))
    depth = presets.record(name).get("num_hidden_layers")
    return Window(size, None if is_global or depth is None else size * depth, is_global)


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

    label: params.Message
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
        trained: Trained context from which multiples count, if it is not the table's.
    """

    table: str
    length: int
    series: tuple[params.Message, ...]
    text: params.Message = ""
    broke: bool = False
    trained: int | None = None

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
        return self.length / (self.trained or own.trained_context or self.length)

    @property
    def is_least_bad(self) -> bool:
        """Whether every line broke, and the first one least."""
        first, *rest = (value for value, _ in self.cells())
        return self.broke and all(value > first for value in rest)


@dataclass(frozen=True)
class Training:
    """What a source spent on training further.

    Attributes:
        tokens: Tokens in all.
        source: Where it says so.
        up_to: Trained contexts that were reached with it.
        parts: Updates, texts of each, and tokens of a text, stage by stage; empty if not told.
    """

    tokens: float
    source: Source
    up_to: float = math.inf
    parts: tuple[tuple[int, int, int], ...] = ()


def _spent(source: Source, *parts: tuple[int, int, int], up_to: float = math.inf) -> Training:
    return Training(float(sum(map(math.prod, parts))), source, up_to, parts)


@dataclass(frozen=True)
class Rule:
    """A row of the table.

    Attributes:
        name: Its name.
        when: Its conditions.
        outcome: What it recommends, of :data:`OUTCOMES`.
        runner_up: What comes next; empty if nothing does.
        sure: ``published`` where a table reaches so far; ``measured`` where the lab does;
            ``makers`` where those who released the model say so; ``weak`` where evidence ends or
            disagrees; ``plain`` where it follows from how it works.
        why: One sentence.
        but: What to know before doing it, one sentence; empty if nothing.
        facts: Published numbers for and against it.
        sources: Where the rest can be checked.
        training: What its sources spent, if it is trained further, the shortest reach first.
    """

    name: params.Message
    when: When
    outcome: str
    runner_up: str
    sure: str
    why: params.Message
    but: params.Message = ""
    facts: tuple[Fact, ...] = ()
    sources: tuple[Source, ...] = ()
    training: tuple[Training, ...] = ()

    def budget(self, multiple: float) -> Training | None:
        """What was spent in print on reaching so many trained contexts; None if nobody says."""
        return next((one for one in self.training if multiple <= one.up_to), None)


def _paper(title: params.Message, number: str) -> Source:
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
QWEN = Source("Qwen’s documentation, long texts",
              "https://qwen.readthedocs.io/en/latest/deployment/vllm.html")  # fmt: skip
SMOLLM3 = Source("SmolLM3’s announcement", "https://huggingface.co/blog/smollm3")
LLAMA4 = Source(
    "Meta’s announcement of Llama 4", "https://ai.meta.com/blog/llama-4-multimodal-intelligence/"
)
MISTRAL = _paper("Jiang et al. 2023 (Mistral 7B)", "2310.06825")
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

REMARKS: Mapping[str, tuple[str, Source]] = {
    "Mistral-7B-v0.1": (
        "Its file says 32,768 tokens; its makers’ paper counts a context of 8,192, and YaRN’s "
        "extension of it starts from that.", MISTRAL,
    ),
    "Qwen3-8B": (
        "Its file says 40,960 tokens; its makers count 32,768 of training, and their factor starts "
        "from that.", QWEN,
    ),
}  # fmt: skip
"""What to know about the trained context of a released model."""

_PG19, _PROOF = "longrope-1-pg19", "longrope-1-proof-pile"
_NO_TRAINING = (
    Fact(_PROOF, 16384, ("YaRN", "dynamic NTK", "PI"), "Proof-pile"),
    Fact(_PG19, 16384, ("YaRN", "dynamic NTK", "PI"), "PG-19"),
    Fact(_PROOF, 16384, ("YaRN", "searched factor for each pair"), "Proof-pile"),
)
# The model for 32 times went on from the one for 16.
_YARN_TRAINING = (_spent(YARN, (400, 64, 65_536), up_to=16.0),
                  _spent(YARN, (600, 64, 65_536), up_to=32.0))  # fmt: skip
# 200 steps come close to 1,000 (table 3), which nobody tried at 16 times.
_PI_TRAINING = (_spent(PI, (200, 64, 8192), up_to=4.0), _spent(PI, (200, 128, 16_384), up_to=8.0),
                _spent(PI, (1000, 128, 32_768), up_to=16.0))  # fmt: skip
_CODE_LLAMA_TRAINING = (Training(2e10, CODE_LLAMA, 32.0),)
_LLAMA3_TRAINING = (Training(8e11, LLAMA3),)
_LONGROPE_TRAINING = (_spent(LONGROPE, (400, 32, 131_072)),)
_UNTIL = "and nothing in reach of this budget is known to hold that far"
_INSTEAD = ("Search the text and read what was found, summarize in steps, slide a window, or plan "
            "for more training.")  # fmt: skip

RULES: tuple[Rule, ...] = (
    # ---- nothing to do
    Rule("reads it already", When(start=STARTS[1:], state=("within",)),
         "keep", "", "plain",
         "The text is no longer than what training showed: no extension can help.",
         "Every scaling that goes by a fixed factor would only cost quality here."),
    Rule("facts beyond its windows", When(state=("windowed",), needs=("recall",)),
         "split", "", "plain",
         "Every layer looks back over a window: a fact before it is never looked at again, "
         "whatever the encoding.",
         "Search the text and read what was found, in pieces no longer than the window."),
    Rule("looks back over a window", When(state=("windowed",)),
         "keep", "", "plain",
         "Every layer looks back over a window within the trained context, so no new angle is ever "
         "met.",
         "What has left the window is known only through the layers above it."),
    Rule("past what its windows reach", When(state=("past windows",)),
         "split", "", "plain",
         "Every layer looks back over a window, and even through all layers nothing from so far "
         "back reaches the output, whatever the encoding.",
         "The model runs on, but the beginning of the text no longer counts: cut it, or search it."
         ),
    Rule("other layers see everything", When(state=("global",)),
         "keep", "", "weak",
         "The layers that turn look back over a window, so they meet no new angle; the others see "
         "everything and know no positions, so there is nothing to scale.",
         "Without positions, too, models break past their training; only a test tells how far.",
         (Fact("kazemnejad-3", 2048, ("no encoding", "ALiBi", "RoPE"), broke=True),),
         (KAZEMNEJAD, LLAMA4)),
    Rule("its file reaches so far", When(start=("rope",), state=("in file",)),
         "keep", "", "plain",
         "Its own file is already scaled for this length, and it was trained that way: a second "
         "scaling on top would multiply the first."),
    Rule("a table reads it as it is", When(start=("rope",), state=("held",)),
         "keep", "yarn", "published",
         "Read as it was released, it keeps its loss this far: its base was raised for that before "
         "its long training.",
         "A Llama 2 fine-tuned with YaRN lost less in the same table.",
         (Fact("yarn-2", 98_304, ("Code Llama 7B, base 1,000,000",), trained=16_384),
          Fact("yarn-2", 131_072, ("Code Llama 7B, base 1,000,000", "7B, YaRN, s = 32"),
               trained=16_384)),
         (YARN, CODE_LLAMA)),
    Rule("its makers offer it", When(start=("rope",), state=("option",), engine=("every",),
                                     without=("short",)),
         "yarn", "dynamic", "makers",
         "Those who released it name this setting for longer texts, and the context from which its "
         "factor counts.",
         "They advise to set it for long texts only, with a factor no larger than those need.",
         (), (QWEN, SMOLLM3)),
    # ---- from scratch
    Rule("fixed picture", When(start=("scratch",), modality=("image",), up_to=1.0),
         "learned", "rope", "published",
         "A picture has the same patches every time, so a table of them is enough; ViT found no "
         "gain from anything richer.", "Other sizes later need its rows interpolated.",
         sources=(VIT,)),
    Rule("pictures that grow", When(start=("scratch",), modality=("image",)),
         "rope", "learned", "weak",
         "With pictures of any size, rotate some pairs by the row and some by the column "
         "(M-RoPE), as Qwen2-VL does.", "No table on record compares it with others.",
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
         "No table on record compares it with others.",
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
         (CODE_LLAMA, LONG_LLAMA2), _CODE_LLAMA_TRAINING),
    Rule("finds facts far back", When(start=("scratch",), up_to=4.0, needs=("recall",),
                                      without=("fused",)),
         "t5", "alibi", "measured",
         "Read past training as it is, T5’s bias found more in the lab than any other, and lost "
         "little in print.",
         "The lab’s table began as ALiBi’s; its bias is a matrix; and in one published ranking no "
         "encoding at all came first.",
         (Fact("alibi-2", 1512, ("T5 bias", "ALiBi", "RoPE", "sinusoidal")),
          Fact("kazemnejad-figure-1", 40, ("T5 bias", "ALiBi", "RoPE", "no encoding"))),
         (PRESS, KAZEMNEJAD)),
    Rule("train short, test long", When(start=("scratch",), up_to=32.0,
                                        without=("recall", "fused")),
         "alibi", "t5", "published",
         "Its loss stays flat far past training without one further step.",
         "Far tokens fade by design; on code, one published loss broke at twice.",
         (Fact("alibi-2", 15_512, ("ALiBi", "RoPE", "sinusoidal")),
          Fact("kazemnejad-3", 2048, ("ALiBi", "RoPE", "no encoding"), broke=True)),
         (PRESS, KAZEMNEJAD)),
    Rule("RoPE now, scale later", When(start=("scratch",), up_to=16.0, engine=("every",)),
         "yarn", "llama3", "weak",
         "Train plain RoPE, which any fused kernel runs, and read longer texts with YaRN.",
         "Published tables without further training disagree about it from text to text, and end "
         "at four times.", _NO_TRAINING, (YARN,)),
    Rule("RoPE now, a larger base later", When(start=("scratch",), up_to=4.0),
         "ntk", "", "measured",
         "Train plain RoPE, which any fused kernel runs, and read longer texts with a larger "
         "rope_theta, which any program takes.",
         "On short texts it cost more than Llama 3’s rule in the lab.",
         (Fact("rerope", 8192, ("NTK, the repository's own", "Llama 2 13B")),), (YARN,)),
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
         "Keep its own rule and raise its factor as far as the target is past its file: this moves "
         "the frequencies least from those it was trained with.",
         "No published table starts from a model scaled by Llama 3’s rule; measure first."),
    Rule("more of Llama 3’s rule, trained", When(start=("rope",), state=("past llama3",),
                                                 engine=("every",), up_to=64.0, least=LITTLE),
         "llama3", "yarn", "weak",
         "Keep its own rule, raise its factor as far as the target is past its file, and train on: "
         "another method would first have to unlearn this one.",
         "No published table starts from a model scaled by Llama 3’s rule: YaRN’s start from "
         "plain RoPE, so they do not speak for it here.",
         (), (LLAMA3, LLAMA31), _LLAMA3_TRAINING),
    Rule("more YaRN", When(start=("rope",), state=("past yarn",), below=LITTLE,
                           engine=("every",), up_to=64.0),
         "yarn", "llama3", "weak",
         "Replace the factor in its own YaRN by one counted from the original context, and keep "
         "all its other numbers; do not add a second.",
         "A YaRN model read past its own factor breaks, and with a larger one it is untested.",
         (Fact("longrope-5", 262_144, ("YaRN, s = 32", "LongRoPE, fine-tuned at 128k")),),
         (YARN, LONGROPE)),
    Rule("more YaRN, trained", When(start=("rope",), state=("past yarn",), engine=("every",),
                                    up_to=32.0, least=LITTLE),
         "yarn", "llama3", "published",
         "Replace the factor in its own YaRN by one counted from the original context, keep all "
         "its other numbers, and train on: so the paper’s model for 32 times came out of the one "
         "for 16.",
         "It costs a little on short texts.",
         (Fact("yarn-2", 131_072, ("7B, YaRN, s = 32", "Code Llama 7B, base 1,000,000",
                                   "7B, PI, fine-tuned at 32k")),),
         (YARN,), _YARN_TRAINING),
    Rule("more YaRN than any table", When(start=("rope",), state=("past yarn",),
                                          engine=("every",), up_to=64.0, least=LITTLE),
         "yarn", "longrope", "weak",
         "Replace the factor in its own YaRN by one counted from the original context, keep all "
         "its other numbers, and train on.",
         "Files with factors up to 64 were released; tables with YaRN end at 32 times.",
         (Fact("longrope-5", 262_144, ("YaRN, s = 32", "LongRoPE, fine-tuned at 128k")),),
         (YARN, LONGROPE)),
    # ---- a trained RoPE model, no training
    Rule("only the base can be set", When(start=("rope",), state=_FURTHER, up_to=4.0,
                                          engine=("base", "linear"), below=LITTLE),
         "ntk", "", "measured",
         "A larger rope_theta is read by any program and slows the slow pairs most; its factor is "
         "the last pair’s, so it is set above the multiple, until the first slow pair fits.",
         "On short texts it cost more than Llama 3’s rule in the lab.",
         (Fact("rerope", 8192, ("NTK, the repository's own", "Llama 2 13B")),), (YARN,)),
    Rule("short texts stay as they are", When(start=("rope",), state=_FURTHER, up_to=4.0,
                                              below=LITTLE, needs=("short",), without=("cache",)),
         "dynamic", "yarn", "published",
         "Up to the trained length it is plain RoPE, exactly; only longer texts are scaled.",
         "Keys cached before the base grew no longer fit. Factor 2 lost less than 4 in every seed "
         "of the lab’s language models at four times; its copying models did better with 4.",
         (Fact(_PG19, 8192, ("dynamic NTK", "YaRN", "PI"), "PG-19"),
          Fact(_PG19, 16384, ("dynamic NTK", "YaRN", "PI"), "PG-19"),
          Fact(_PROOF, 16384, ("dynamic NTK", "YaRN", "PI"), "Proof-pile")),
         (DYNAMIC, LONGROPE)),
    Rule("up to twice", When(start=("rope",), state=_FURTHER, up_to=2.0, below=LITTLE,
                             without=("cache",)),
         "dynamic", "llama3", "published",
         "At twice the length it did best or nearly so on both published texts without training, "
         "and shorter texts are read exactly as before.",
         "Keys cached before the base grew no longer fit, so prefixes cannot be kept.",
         (Fact(_PG19, 8192, ("dynamic NTK", "YaRN", "PI"), "PG-19"),
          Fact(_PROOF, 8192, ("dynamic NTK", "YaRN", "PI"), "Proof-pile"),
          Fact(_PG19, 8192, ("dynamic NTK", "searched factor for each pair"), "PG-19")),
         (DYNAMIC, LONGROPE)),
    Rule("up to twice, cached", When(start=("rope",), state=_FURTHER, up_to=2.0,
                                     engine=("every",), below=LITTLE),
         "llama3", "yarn", "measured",
         "One fixed factor lets prefixes stay cached, and at twice the length the lab’s language "
         "models lost less with it than with YaRN in every seed.",
         "It was released with long training; no published table reads it without.",
         (), (LLAMA31,)),
    Rule("up to four times", When(start=("rope",), state=_FURTHER, up_to=4.0, below=LITTLE),
         "yarn", "llama3", "weak",
         "Without further training, at four times, it lost the least of the methods that need no "
         "search on one published text, and beat plain RoPE and PI in every seed of the lab; one "
         "fixed factor keeps prefixes cached.",
         "The same paper’s other text says the opposite: try dynamic NTK beside it on yours.",
         _NO_TRAINING, (YARN, LONGROPE)),
    Rule("a long stretch, not trained", When(start=("rope",), state=_FURTHER, up_to=16.0,
                                             engine=("every",), below=LITTLE),
         "yarn", "llama3", "weak",
         "With Llama 3’s rule the least bad of what needs no training; expect it to hold for part "
         "of this only.",
         "Published tables on record end at four times; some fine-tuning changes the picture.",
         _NO_TRAINING, (YARN, LONGROPE)),
    # ---- a trained RoPE model, trained further
    Rule("one linear factor", When(start=("rope",), state=_FURTHER, up_to=16.0,
                                   engine=("linear",), least=LITTLE),
         "linear", "base", "published",
         "One factor on all positions is what your program reads; fine-tuned, it works, and 200 "
         "steps already mend most.",
         "Without training, it did worst of all methods in the lab’s language models.",
         (Fact("pi-1", 32_768, ("PI, fine-tuned at 32,768", "LLaMA 7B")),
          Fact("yarn-1", 8192, ("PI, s = 2", "YaRN, s = 2"))), (PI,), _PI_TRAINING),
    Rule("only the base, trained", When(start=("rope",), state=_FURTHER, up_to=32.0,
                                        engine=("base", "linear"), least=LITTLE),
         "base", "ntk", "published",
         "Set a larger rope_theta, so that the first slow pair fits, and fine-tune on long texts, "
         "as Code Llama did.",
         "The budget on record is large, and YaRN reached less loss where it can be served.",
         (Fact("yarn-2", 131_072, ("Code Llama 7B, base 1,000,000", "7B, YaRN, s = 32")),
          Fact("yarn-1", 8192, ("NTK, base 20,000", "YaRN, s = 2", "PI, s = 2"))),
         (CODE_LLAMA,), _CODE_LLAMA_TRAINING),
    Rule("continued pre-training", When(start=("rope",), state=_FURTHER, up_to=32.0,
                                        engine=("every",), least=PRETRAINING),
         "llama3", "yarn", "weak",
         "With this much training, the rule that Llama 3.1 and 3.2 were released with: fast pairs "
         "kept, slow ones divided, no change to the size of scores.",
         "No one published it beside YaRN after training; most of the work is the training’s.",
         (), (LLAMA3, LLAMA31), _LLAMA3_TRAINING),
    Rule("YaRN and fine-tuning", When(start=("rope",), state=_FURTHER, up_to=32.0,
                                      engine=("every",), least=LITTLE),
         "yarn", "linear", "published",
         "Fine-tuned, it read 32 times its context at the lowest loss on record among methods that "
         "need no search; with one fixed factor, cached keys stay valid.",
         "It costs a little on short texts: keep the plain file for those.",
         (Fact("yarn-2", 131_072, ("7B, YaRN, s = 32", "Code Llama 7B, base 1,000,000",
                                   "7B, PI, fine-tuned at 32k")),
          Fact("yarn-1", 8192, ("YaRN, s = 2", "PI, s = 2", "NTK, base 20,000")),
          Fact("longrope-5", 131_072, ("YaRN, s = 32", "LongRoPE, fine-tuned at 128k"))),
         (YARN,), _YARN_TRAINING),
    Rule("hundreds of times", When(start=("scratch", "rope"), above=32.0, up_to=512.0,
                                   engine=("every",), least=USUAL),
         "longrope", "yarn", "published",
         "A searched divisor for each pair, fine-tuned in stages, is the one way past 32 times "
         "that is on record here: its paper goes to 512.",
         "Its lists come out of a search on your model; nobody can write them down beforehand.",
         (Fact("longrope-5", 262_144, ("LongRoPE, fine-tuned at 128k", "YaRN, s = 32",
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
         f"This is too far for what you have, {_UNTIL}.", _INSTEAD),
)  # fmt: skip
"""The table; the first row that holds answers. The last one always does."""


def rule_for(case: Case) -> Rule:
    """The first row that holds."""
    return next(rule for rule in RULES if rule.when.holds(case))


def sure(case: Case, rule: Rule) -> str:
    """How far the evidence of a row goes for a case: as the row says, or ``less``.

    ``less`` where what is published took more training than the case can spend.
    """
    budget = rule.budget(case.multiple)
    short = budget is not None and case.tokens < budget.tokens
    return "less" if rule.sure == "published" and short else rule.sure


BUDGETS = tuple(
    sorted({LITTLE, USUAL, PRETRAINING, *(one.tokens for rule in RULES for one in rule.training)})
)
"""Training tokens at which an answer or its evidence changes."""


def helped_by(case: Case) -> tuple[float, Rule] | None:
    """The least of :data:`BUDGETS` with which a case that has no answer has one, and its rule."""
    for tokens in BUDGETS:
        if tokens > case.tokens:
            rule = rule_for(replace(case, tokens=tokens))
            if rule.outcome != "split":
                return tokens, rule
    return None


def with_training(case: Case) -> tuple[float, Rule] | None:
    """The least of :data:`BUDGETS` above a case's own with which evidence is published; its rule.

    None if no budget helps.
    """
    for tokens in BUDGETS:
        if tokens > case.tokens:
            more = replace(case, tokens=tokens)
            rule = rule_for(more)
            if rule.when.least > 0.0 and sure(more, rule) == "published":
                return tokens, rule
    return None


_AS_IT_IS = (
    (When(state=("in file", "held")), "the model reads this far as it is"),
    (When(state=("windowed", "past windows", "global")),
     "layers with windows meet no new angle: there is nothing to scale"),
)  # fmt: skip

WHY_NOT: Mapping[str, tuple[tuple[When, str], ...]] = {
    "yarn": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "costs a little within training, and nothing is gained there"),
        *_AS_IT_IS,
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
        *_AS_IT_IS,
        (When(engine=("base", "linear")), "your program cannot be told its rule"),
        (When(above=32.0), "released with factors of 8 to 32"),
        (When(), "released after long training; no published table beside others"),
    ),
    "dynamic": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "is plain RoPE up to the trained length"),
        *_AS_IT_IS,
        (When(engine=("base", "linear")), "your program keeps one base for all lengths"),
        (When(needs=("cache",)), "keys cached before the base grew no longer fit"),
        (When(above=4.0), "holds for a few times only, in the lab and in print"),
        (When(least=LITTLE), "is made for no training; with some, YaRN reaches further"),
        (When(above=2.0), "lost less than YaRN on one published text, more on the other"),
        (When(), "pays only if short texts must stay exactly as they are"),
    ),
    "ntk": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "nothing is gained within training"),
        *_AS_IT_IS,
        (When(least=LITTLE), "fine-tuned, its loss stays above YaRN’s and PI’s"),
        (When(), "on short texts it cost more than Llama 3’s rule in the lab"),
    ),
    "base": (
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0, start=("rope",)), "nothing is gained within training"),
        *_AS_IT_IS,
        (When(below=LITTLE), "the weights must be trained with it"),
        (When(above=32.0), "published up to 32 times only"),
        (When(), "took Code Llama more tokens than YaRN, for a higher loss"),
    ),
    "linear": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "slows every pair for nothing"),
        *_AS_IT_IS,
        (When(below=LITTLE), "without training, it did worst of all in the lab’s language models"),
        (When(above=16.0), "published up to 16 times only"),
        (When(), "as good as YaRN at twice, but breaks sooner past its target"),
    ),
    "longrope": (
        (When(start=("scratch",)), "comes later, to extend what was trained"),
        (When(start=STARTS[2:]), "scales rotations, and this model has none"),
        (When(up_to=1.0), "nothing is gained within training"),
        *_AS_IT_IS,
        (When(engine=("base", "linear")), "your program cannot be told its lists"),
        (When(above=512.0), "even its paper ends at 512 times"),
        (When(below=USUAL), "needs a search on your model before anything else"),
        (When(), "needs a search on your model; YaRN is one line"),
    ),
    "rope": (
        (When(start=STARTS[2:]), "the model is trained: its encoding cannot be exchanged"),
        *_AS_IT_IS,
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


def why_not(case: Case, outcome: str) -> params.Message:
    """Why something is not the answer, a message id."""
    params.one_of("outcome", outcome, tuple(WHY_NOT))
    return next(reason for when, reason in WHY_NOT[outcome] if when.holds(case))
