"""The position encodings by name: where each enters, what it answers, what it costs.

The one list that scorecards, comparisons, the lab and the picker read. Every text is an English
message id, to be shown through ``ui.text.say``; every answer names where it can be checked. What
the lab measured of an encoding is in :mod:`posviz.measured`, under its ``families``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from posviz import params

Where = Literal["embedding", "query and key", "score", "mask"]
WHERE: tuple[Where, ...] = ("embedding", "query and key", "score", "mask")
"""What an encoding can change; the mask alone is what is left without one."""

Level = Literal["no", "partly", "holds", "unmeasured"]
LEVELS: tuple[Level, ...] = ("no", "partly", "holds", "unmeasured")
"""How far past its trained context the loss of the lab's models holds, as ``measured.reach`` says:
not to the next length that was measured; to some; to all of them; there is no such model."""

QUESTIONS = {
    "kind": "Absolute or relative?",
    "extrapolates": "Past the trained length?",
    "serving": "KV cache and fused attention?",
    "cost": "Extra weights and compute?",
}
"""What every encoding answers: the attribute of :class:`Encoding`, and the question."""

MAX_RELATIVE_POSITION = 16
"""Distance at which Shaw's tables are clipped, tokens, as in the paper's base model."""
NUM_BUCKETS = 32
"""Buckets of T5's table."""


@dataclass(frozen=True)
class Source:
    """Where something can be checked.

    Attributes:
        title: Of a paper with authors and place, or of a file.
        address: https.
    """

    title: params.Message | params.Said
    address: str


@dataclass(frozen=True)
class Code:
    """A file of a public repository that computes the encoding.

    Attributes:
        repository: Owner and name on GitHub.
        file: Path within it.
    """

    repository: str
    file: str

    @property
    def address(self) -> str:
        """https, of the newest version."""
        return f"https://github.com/{self.repository}/blob/HEAD/{self.file}"


@dataclass(frozen=True)
class Answer:
    """Answer to one of :data:`QUESTIONS`.

    Attributes:
        short: One to four words, for a table cell.
        why: One sentence.
        source: Where it can be checked.
    """

    short: params.Message
    why: params.Message
    source: Source


@dataclass(frozen=True)
class Shape:
    """Sizes of a model that decide how many weights its encoding has.

    Attributes:
        num_layers: Layers with self-attention.
        num_heads: Attention heads of a layer.
        head_dim: Dimensions of a head.
        max_position_embeddings: Positions of a learned table, tokens.
    """

    num_layers: int
    num_heads: int
    head_dim: int
    max_position_embeddings: int

    def __post_init__(self) -> None:
        params.keep(
            self,
            num_layers=params.whole("num_layers", self.num_layers, 1),
            num_heads=params.whole("num_heads", self.num_heads, 1),
            head_dim=params.whole("head_dim", self.head_dim, 1),
            max_position_embeddings=params.whole(
                "max_position_embeddings", self.max_position_embeddings, 1
            ),
        )

    @property
    def d_model(self) -> int:
        """Width of the model, where its heads together are as wide as the model itself."""
        return self.num_heads * self.head_dim


def _nothing(shape: Shape) -> int:
    return 0


def _learned_table(shape: Shape) -> int:
    """GPT-2's ``wpe``; OPT and RoBERTa keep two rows more."""
    return shape.max_position_embeddings * shape.d_model


def _shaw_tables(shape: Shape) -> int:
    """Keys and values of each layer, shared by its heads as in tensor2tensor and section 3.3.

    The paper's base model had tables for every head (section 4.1): ``num_heads`` times as many.
    """
    return shape.num_layers * 2 * (2 * MAX_RELATIVE_POSITION + 1) * shape.head_dim


def _t5_table(shape: Shape) -> int:
    """Of one stack, whose layers share it; T5's encoder and decoder have one each."""
    return NUM_BUCKETS * shape.num_heads


def _transformer_xl_weights(shape: Shape) -> int:
    """W_R, u and v of each layer: ``untie_r=True``, as in the released WikiText-103 model.

    The released PyTorch code, and TensorFlow's where ``untie_r`` is False, as for enwik8, has one u
    and one v for all layers: ``2 * (num_layers - 1) * d_model`` fewer.
    """
    return shape.num_layers * (shape.d_model * shape.d_model + 2 * shape.d_model)


@dataclass(frozen=True)
class Encoding:
    """A position encoding, its answers and its price.

    Attributes:
        name: Field's term, as in links, colours and the lab.
        label: What a reader sees.
        module: Module of :mod:`posviz` that computes it.
        colour: Its colour in ``figures.style.COLOURS``.
        page: ``url_path`` of the page that explains it; None if there is none.
        year: When the source first appeared.
        source: The paper.
        code: An implementation to compare with.
        enters: What it changes, one of :data:`WHERE`.
        kind: Whether a position enters as itself or as a distance.
        extrapolates: What happens past the trained length.
        level: The same as the lab measured it, one of :data:`LEVELS`.
        serving: Whether keys can be cached, and scores stay inside a fused kernel.
        cost: Extra weights and arithmetic; :meth:`parameters` and :meth:`bias_entries` count.
        families: The lab's families of models that have it, as in :mod:`posviz.measured`.
        trained: Extra trained numbers for a :class:`Shape`.
        fills_scores: Whether it has a number of its own for each query and key.
    """

    name: str
    label: params.Message
    module: str
    colour: str
    page: str | None
    year: int
    source: Source
    code: Code
    enters: Where
    kind: Answer
    extrapolates: Answer
    level: Level
    serving: Answer
    cost: Answer
    families: tuple[str, ...] = ()
    trained: Callable[[Shape], int] = _nothing
    fills_scores: bool = False

    def __post_init__(self) -> None:
        params.one_of("enters", self.enters, WHERE)
        params.one_of("level", self.level, LEVELS)
        params.whole("year", self.year, 2017)

    @property
    def answers(self) -> dict[str, Answer]:
        """Answer to each of :data:`QUESTIONS`, in their order."""
        return {question: getattr(self, question) for question in QUESTIONS}

    def parameters(self, shape: Shape) -> int:
        """How many trained numbers a model of ``shape`` has because of this encoding.

        Of all layers of one stack. Which sharing is meant where releases differ: Shaw's tables
        serve all heads of a layer, clipped at :data:`MAX_RELATIVE_POSITION`; T5's table of
        :data:`NUM_BUCKETS` serves all layers; Transformer-XL's u and v are each layer's own.
        """
        params.instance("shape", shape, Shape)
        return self.trained(shape)

    def bias_entries(self, seq_len: int, num_heads: int) -> int:
        """How many numbers its own part of the scores has if it is written out, as an exact int.

        ``num_heads * seq_len**2``, what a mask hides included, where it fills scores; else 0. The
        bias of T5 and ALiBi serves all layers; Shaw's and Transformer-XL's part depends on the
        queries, so each layer has its own.

        Args:
            seq_len: Queries, and as many keys, tokens.
            num_heads: Attention heads of a layer.
        """
        seq_len = params.whole("seq_len", seq_len, 1)
        num_heads = params.whole("num_heads", num_heads, 1)
        return num_heads * seq_len * seq_len if self.fills_scores else 0


def _paper(title: params.Message, number: str) -> Source:
    return Source(title, f"https://arxiv.org/abs/{number}")


def _file(repository: str, file: str) -> Source:
    return Source(params.Said(f"{repository}, {file}"), Code(repository, file).address)


_FLASH = _file("Dao-AILab/flash-attention", "flash_attn/flash_attn_interface.py")

ENCODINGS: tuple[Encoding, ...] = (
    Encoding(
        name="none",
        label="no encoding",
        module="attention",
        colour="none",
        page="order",
        year=2022,
        source=_paper(
            "Haviv et al. 2022, Transformer Language Models without Positional Encodings "
            "Still Learn Positional Information",
            "2203.16634",
        ),
        code=Code("adihaviv/nopos", "fairseq/models/transformer_lm.py"),
        enters="mask",
        kind=Answer(
            "neither",
            "Nothing marks a position; what a causal mask hides lets a model estimate how many "
            "tokens stand before each one, and without that mask order is lost.",
            _paper("Haviv et al. 2022, abstract", "2203.16634"),
        ),
        extrapolates=Answer(
            "a little",
            "Nothing in it ends at any length, yet weights trained on short texts fail on long "
            "ones: in the lab the loss held a little further, then broke.",
            _paper("Kazemnejad et al. 2023, table 3", "2305.19466"),
        ),
        level="partly",
        serving=Answer(
            "yes, nothing added",
            "Cached keys carry no position and scores get no further term, so any kernel that "
            "knows a causal mask will do.",
            _FLASH,
        ),
        cost=Answer(
            "none",
            "It adds neither weights nor arithmetic.",
            _file("adihaviv/nopos", "fairseq/models/transformer_lm.py"),
        ),
        families=("names-none",),
    ),
    Encoding(
        name="sinusoidal",
        label="sinusoidal",
        module="sinusoidal",
        colour="sinusoidal",
        page="sinusoidal",
        year=2017,
        source=_paper("Vaswani et al. 2017, Attention Is All You Need", "1706.03762"),
        code=Code("tensorflow/tensor2tensor", "tensor2tensor/layers/common_attention.py"),
        enters="embedding",
        kind=Answer(
            "absolute",
            "A fixed vector of the token's own position joins its embedding; the dot product of "
            "two such vectors depends on distance, but trained weights come between.",
            _paper("Vaswani et al. 2017, section 3.5", "1706.03762"),
        ),
        extrapolates=Answer(
            "no",
            "The formula reaches any position, but the weights never met those sums: in the lab "
            "the loss broke at the first length measured past training.",
            _paper("Press et al. 2021, table 2", "2108.12409"),
        ),
        level="no",
        serving=Answer(
            "yes, nothing added",
            "Positions are inside the vectors before attention begins; a cached key keeps the "
            "absolute position it was made at, so it serves nowhere else.",
            _paper("Vaswani et al. 2017, section 3.5", "1706.03762"),
        ),
        cost=Answer(
            "one addition",
            "No weights: a table that is computed once is added to the embeddings, before the "
            "first layer and nowhere else.",
            _file("tensorflow/tensor2tensor", "tensor2tensor/layers/common_attention.py"),
        ),
        families=("names-sinusoidal",),
    ),
    Encoding(
        name="learned",
        label="learned",
        module="learned",
        colour="learned",
        page="learned",
        year=2017,
        source=_paper(
            "Gehring et al. 2017, Convolutional Sequence to Sequence Learning", "1705.03122"
        ),
        code=Code("openai/gpt-2", "src/model.py"),
        enters="embedding",
        kind=Answer(
            "absolute",
            "Each position has a trained row of its own, added to the embedding, and nothing "
            "ties a row to those of its neighbours.",
            _paper("Gehring et al. 2017, section 3.1", "1705.03122"),
        ),
        extrapolates=Answer(
            "no, table ends",
            "Past the last row there is nothing to look up, so the model cannot read one token "
            "more at all.",
            _file("openai/gpt-2", "src/model.py"),
        ),
        level="no",
        serving=Answer(
            "yes, nothing added",
            "The row is inside the vector before attention begins; a cached key stays bound to "
            "the position it was read at.",
            _file("openai/gpt-2", "src/model.py"),
        ),
        cost=Answer(
            "one table",
            "One row as wide as the model for each position it can read, and one addition before "
            "the first layer.",
            _file("openai/gpt-2", "src/model.py"),
        ),
        families=("names-learned",),
        trained=_learned_table,
    ),
    Encoding(
        name="shaw",
        label="Shaw's relative keys",
        module="relative",
        colour="shaw",
        page="relative",
        year=2018,
        source=_paper(
            "Shaw et al. 2018, Self-Attention with Relative Position Representations", "1803.02155"
        ),
        code=Code("tensorflow/tensor2tensor", "tensor2tensor/layers/common_attention.py"),
        enters="score",
        kind=Answer(
            "relative",
            "A trained vector of the clipped distance joins each key as its query sees it, and "
            "each value too, so pairs equally far apart share it.",
            _paper("Shaw et al. 2018, sections 3.1 and 3.2", "1803.02155"),
        ),
        extrapolates=Answer(
            "computable, not measured",
            "All distances past the clip share one vector, so any length can be computed; "
            "whether weights hold there, neither its paper nor the lab measured.",
            _paper("Shaw et al. 2018, section 3.2", "1803.02155"),
        ),
        level="unmeasured",
        serving=Answer(
            "cache yes, fused hardly",
            "Cached keys stay free of positions, but each query needs products with a table, and "
            "the values need weights summed by distance, which fused kernels do not keep.",
            Source(
                "flash-attention, issue 332",
                "https://github.com/Dao-AILab/flash-attention/issues/332",
            ),
        ),
        cost=Answer(
            "two small tables",
            "Each layer has one table for keys and one for values, and every query meets every row "
            "of the first.",
            _paper("Shaw et al. 2018, section 3.3", "1803.02155"),
        ),
        trained=_shaw_tables,
        fills_scores=True,
    ),
    Encoding(
        name="t5",
        label="T5 bias",
        module="relative",
        colour="t5",
        page="relative",
        year=2019,
        source=_paper(
            "Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified "
            "Text-to-Text Transformer",
            "1910.10683",
        ),
        code=Code("tensorflow/mesh", "mesh_tensorflow/transformer/transformer_layers.py"),
        enters="score",
        kind=Answer(
            "relative",
            "One trained number for each head and bucket of distances is added to the score, "
            "whatever the two tokens say.",
            _paper("Raffel et al. 2020, section 2.1", "1910.10683"),
        ),
        extrapolates=Answer(
            "mostly: far distances blur",
            "All far distances share the last bucket, so none is new; the lab's loss holds, with "
            "a table begun as ALiBi's, while published loss rises at several times training.",
            _paper("Press et al. 2021, table 2", "2108.12409"),
        ),
        level="holds",
        serving=Answer(
            "cache yes, fused partly",
            "The bias depends on distances alone, but it is trained, so a fused kernel must load "
            "the square of it or look up buckets itself.",
            Source(
                "transformers, pull request 47014",
                "https://github.com/huggingface/transformers/pull/47014",
            ),
        ),
        cost=Answer(
            "one tiny table",
            "One number for each bucket and head serves all layers of a stack; written out, the "
            "bias grows with the square of the length.",
            _file("tensorflow/mesh", "mesh_tensorflow/transformer/transformer_layers.py"),
        ),
        families=("names-t5",),
        trained=_t5_table,
        fills_scores=True,
    ),
    Encoding(
        name="transformer_xl",
        label="Transformer-XL",
        module="transformer_xl",
        colour="transformer_xl",
        page="transformer_xl",
        year=2019,
        source=_paper(
            "Dai et al. 2019, Transformer-XL: Attentive Language Models beyond a Fixed-Length "
            "Context",
            "1901.02860",
        ),
        code=Code("kimiyoung/transformer-xl", "pytorch/mem_transformer.py"),
        enters="score",
        kind=Answer(
            "relative",
            "Sinusoids of the distance enter the score, once against what the query says and once "
            "against a trained vector of each head.",
            _paper("Dai et al. 2019, section 3.3", "1901.02860"),
        ),
        extrapolates=Answer(
            "with clamped distances",
            "Sinusoids of a distance never end; released scripts read with a longer memory than "
            "in training but clamp far distances, and the lab has no such model.",
            _file("kimiyoung/transformer-xl", "pytorch/run_wt103_large.sh"),
        ),
        level="unmeasured",
        serving=Answer(
            "cache yes, fused hardly",
            "Stored states carry no position, but the position term depends on the query's "
            "content, so a fused kernel would need a second product and a shift inside.",
            Source(
                "flash-attention, issue 1080",
                "https://github.com/Dao-AILab/flash-attention/issues/1080",
            ),
        ),
        cost=Answer(
            "matrices, second product",
            "Each layer has one more square matrix and two vectors per head, which some releases "
            "share among layers, and its scores need a second product.",
            _file("kimiyoung/transformer-xl", "tf/model.py"),
        ),
        trained=_transformer_xl_weights,
        fills_scores=True,
    ),
    Encoding(
        name="rope",
        label="RoPE",
        module="rope",
        colour="rope",
        page="rope",
        year=2021,
        source=_paper(
            "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding",
            "2104.09864",
        ),
        code=Code("huggingface/transformers", "src/transformers/models/llama/modeling_llama.py"),
        enters="query and key",
        kind=Answer(
            "both: relative score",
            "Queries and keys turn by their own absolute positions, yet what positions add to "
            "their dot product depends on the distance alone.",
            _paper("Su et al. 2021, section 3.2", "2104.09864"),
        ),
        extrapolates=Answer(
            "a little, unless scaled",
            "Slow pairs meet angles that training never showed; in the lab the loss held only a "
            "little further, and some scaling methods extend that.",
            _paper("Peng et al. 2023, section 3.2", "2309.00071"),
        ),
        level="partly",
        serving=Answer(
            "yes, nothing added",
            "Keys turn before they are cached and scores get no further term; only a scaling that "
            "changes with length leaves old keys outdated.",
            _file("huggingface/transformers", "src/transformers/models/llama/modeling_llama.py"),
        ),
        cost=Answer(
            "rotation in each layer",
            "No weights: every layer turns its queries and keys, a few multiplications for each "
            "of their numbers.",
            _paper("Su et al. 2021, section 3.4.2", "2104.09864"),
        ),
        families=("names-rope-500", "names-rope-10000"),
    ),
    Encoding(
        name="alibi",
        label="ALiBi",
        module="alibi",
        colour="alibi",
        page="alibi",
        year=2021,
        source=_paper(
            "Press et al. 2021, Train Short, Test Long: Attention with Linear Biases Enables "
            "Input Length Extrapolation",
            "2108.12409",
        ),
        code=Code("ofirpress/attention_with_linear_biases", "fairseq/models/transformer.py"),
        enters="score",
        kind=Answer(
            "relative",
            "The score loses the distance times a fixed slope of the head; no vector holds a "
            "position.",
            _paper("Press et al. 2021, section 3", "2108.12409"),
        ),
        extrapolates=Answer(
            "mostly: far tokens fade",
            "Loss holds as far tokens count less and less, which does not mean they are found: in "
            "the lab exact copying declined, and one published loss broke.",
            _paper("Kazemnejad et al. 2023, table 3", "2305.19466"),
        ),
        level="holds",
        serving=Answer(
            "yes, given slopes",
            "The penalty follows from indices and a slope per head, so a kernel can compute it on "
            "the way; one without that option needs the matrix.",
            _FLASH,
        ),
        cost=Answer(
            "one subtraction",
            "No weights: a slope per head is fixed in advance, and every score gets one "
            "multiplication and one subtraction.",
            _paper("Press et al. 2021, section 3", "2108.12409"),
        ),
        families=("names-alibi",),
        fills_scores=True,
    ),
    Encoding(
        name="xpos",
        label="xPos",
        module="xpos",
        colour="xpos",
        page=None,
        year=2022,
        source=_paper("Sun et al. 2022, A Length-Extrapolatable Transformer", "2212.10554"),
        code=Code("microsoft/torchscale", "torchscale/component/xpos_relative_position.py"),
        enters="query and key",
        kind=Answer(
            "both: relative score",
            "Queries and keys turn as in RoPE and are scaled in opposite ways, so that each pair "
            "of the score also shrinks with distance.",
            _paper("Sun et al. 2022, section 3.2", "2212.10554"),
        ),
        extrapolates=Answer(
            "partly, in its paper",
            "Its paper's loss stays low at twice the trained length and rises at four times, "
            "unless attention is cut into blocks; the lab has no such model.",
            _paper("Sun et al. 2022, section 4, ablations", "2212.10554"),
        ),
        level="unmeasured",
        serving=Answer(
            "yes, with care",
            "Scores get no further term, but a key that is cached with its scale, which grows away "
            "from a centre, overflows float16 some thousands of tokens on.",
            _file("microsoft/torchscale", "torchscale/component/xpos_relative_position.py"),
        ),
        cost=Answer(
            "rotation in each layer",
            "No weights: RoPE's turns in every layer, with one further factor for each pair.",
            _file("microsoft/torchscale", "torchscale/component/xpos_relative_position.py"),
        ),
    ),
)
"""Every encoding, in the order of the pages: none, absolute ones, relative ones, rotations."""

NAMES: tuple[str, ...] = tuple(encoding.name for encoding in ENCODINGS)
"""Name of every encoding, in the same order."""


def get(name: str) -> Encoding:
    """The encoding of that name; a sentence for an unknown one."""
    return ENCODINGS[NAMES.index(params.one_of("encoding", name, NAMES))]
