"""The table of pages: where each one stands, what one sees there, and its words.

The navigation and the search read it. Every text is an English message id, to be shown through
:func:`posviz.ui.text.say`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from posviz.params import Message


@dataclass(frozen=True)
class Page:
    """A page of the app.

    Attributes:
        name: Its script, its view and its ``url_path``.
        title: What the navigation says.
        sees: What one sees there; one sentence.
        parts: Label of each part that its view can show, by the name in a link.
        terms: Words that lead here, and the part that is about each; ``""`` for the page. Words of
            the glossary among them are explained on the way.
        answers: Words of a question that this page answers, whatever it is about.
    """

    name: str
    title: Message
    sees: Message
    parts: Mapping[str, Message] = field(default_factory=dict)
    terms: Mapping[Message, str] = field(default_factory=dict)
    answers: tuple[Message, ...] = ()

    def address(self, part: str = "") -> str:
        """Address of the page, or of one of its parts, within the app."""
        return f"{self.name}?part={part}" if part else self.name


@dataclass(frozen=True)
class Group:
    """Pages that stand together in the navigation.

    Attributes:
        folder: Where their scripts are, under ``pages/``.
        title: What the navigation says; empty for pages that stand alone.
        pages: In their order.
    """

    folder: str
    title: Message
    pages: tuple[Page, ...]


GROUPS: tuple[Group, ...] = (
    Group("playground", "", (
        Page(
            "playground", "Playground",
            "RoPE's clocks, attention by distance and extrapolation follow five handles.",
            terms={
                "Position encoding": "", "Attention": "", "Query": "", "Score": "", "Token": "",
                "Frequency": "", "clock": "", "usable context": "", "home": "",
            },
        ),
    )),
    Group("why", "Why", (
        Page(
            "order", "Why order matters",
            "Reorder a sentence and see what attention without positions does not notice.",
            terms={
                "Causal mask": "", "Encoder": "", "Equivariant": "", "permutation equivariant": "",
                "permutation invariant": "", "NoPE": "", "bag of words": "",
            },
        ),
    )),
    Group("encodings", "Encodings", (
        Page(
            "sinusoidal", "Sinusoidal",
            "The table of sines and cosines, its waves, and what it says of a distance.",
            parts={"table": "The table", "counter": "A soft counter", "distance": "Distance",
                   "beyond": "Past training"},
            terms={"sinusoidal position encoding": "", "sine and cosine": "table",
                   "Attention Is All You Need": "",
                   "binary counter": "counter", "tensor2tensor": "table"},
        ),
        Page(
            "learned", "Learned",
            "A trained table of positions: what its rows know of each other, and where it ends.",
            parts={"rows": "Rows", "change": "What training changed", "end": "The end",
                   "longer": "Drawn out", "reading": "Does it still read?"},
            terms={"wpe": "rows", "absolute position embedding": "", "GPT-2": "end", "BERT": "end",
                   "IndexError": "end", "table interpolation": "longer"},
        ),
        Page(
            "relative", "Relative biases: Shaw, T5",
            "Numbers that belong to a distance: Shaw's clipped keys, T5's buckets and heads.",
            parts={"shaw": "Shaw", "buckets": "T5 buckets", "heads": "T5 heads", "cost": "Cost"},
            terms={"Fused attention": "cost", "relative position encoding": "",
                   "relative position bias": "buckets",
                   "max_relative_position": "shaw", "FlashAttention": "cost"},
        ),
        Page(
            "transformer_xl", "Transformer-XL",
            "A score in four terms, the memory of the last segment, and the relative shift.",
            parts={"terms": "Four terms", "memory": "Memory", "shift": "The shift",
                   "distance": "Distances"},
            terms={"segment recurrence": "memory", "relative shift": "shift", "XLNet": "terms",
                   "u and v": "terms"},
        ),
        Page(
            "rope", "RoPE",
            "Pairs of numbers that turn by their position, and the score that knows the distance.",
            parts={"pair": "Pair", "matrix": "Matrix", "pairings": "Pairings", "decay": "Decay",
                   "norm": "QK-norm", "mla": "Decoupled", "partial": "Partial", "cache": "Cache"},
            terms={
                "RoPE": "", "head_dim": "pair", "KV cache": "cache", "rotary": "",
                "rotary position encoding": "", "GQA": "mla", "grouped-query attention": "mla",
                "rotation matrix": "matrix", "half-split": "pairings", "interleaved": "pairings",
                "rotate_half": "pairings", "long-term decay": "decay", "upper bound": "decay",
                "QK norm": "norm", "RMSNorm": "norm", "multi-head latent attention": "mla",
                "MLA": "mla", "DeepSeek": "mla", "partial rotary": "partial",
            },
        ),
        Page(
            "alibi", "ALiBi",
            "A slope for each head, what it takes from the scores, and how far a head then sees.",
            parts={"slopes": "Slopes", "bias": "Bias matrix", "weights": "Windows",
                   "length": "Length"},
            terms={"ALiBi": "", "attention with linear biases": "", "linear bias": "bias",
                   "recency": "weights", "MPT": "slopes", "BLOOM": "slopes"},
        ),
    )),
    Group("long_context", "Long context", (
        Page(
            "scaling", "Scaling methods",
            "Every method that slows RoPE down, pair by pair, with its knobs and a config to take.",
            parts={"spectrum": "Spectrum", "angles": "Angles", "attention": "Attention",
                   "cache": "Cache", "units": "Units", "take": "Take away"},
            terms={
                "NTK": "", "Base": "spectrum", "beta_fast": "spectrum", "context extension": "",
                "RoPE scaling": "", "temperature": "attention", "attention scaling": "attention",
                "ramp": "spectrum", "vLLM": "take", "llama.cpp": "units", "ExLlama": "units",
                "snippet": "take", "stale keys": "cache", "long context": "",
                "extend the context": "", "export": "take",
                "download": "take", "CSV": "take",
            },
        ),
        Page(
            "models", "Released models",
            "What each released model's file says about positions, and how far its pairs reach.",
            terms={"Context": "", "presets": "", "sliding window": "", "M-RoPE": "",
                   "layer types": "", "context length": "", "context window": ""},
        ),
        Page(
            "doctor", "Config doctor",
            "Paste a config.json and read what is wrong with its positions, and the mended file.",
            terms={"config.json": "", "diagnosis": "", "paste": "", "lint": ""},
        ),
        Page(
            "lab", "Extrapolation lab",
            "Small trained models read past their trained length, with any method, while you turn.",
            terms={"Lab": "", "Extrapolation": "", "Perplexity": "", "Nats": "", "Floor": "",
                   "Seed": "", "loss": "", "length generalization": ""},
        ),
        Page(
            "copying", "Copying",
            "Models that must write a row of random symbols again: a test of position alone.",
            terms={"induction head": "", "exact copy": ""},
        ),
        Page(
            "needle", "Needle in a haystack",
            "A name hidden at every depth of texts of every length, and whether a model finds it.",
            terms={"Needle in a haystack": "", "passkey": "", "retrieval": "",
                   "lost in the middle": ""},
        ),
        Page(
            "training", "Training replay",
            "The heads of a model while it learns, and the step at which the circuit appears.",
            terms={"phase change": "", "circuit": "", "attention heads": ""},
        ),
    )),
    Group("practice", "Practice", (
        Page(
            "pitfalls", "Pitfalls",
            "What common mistakes with positions do to numbers, and to a real model that reads.",
            terms={"bugs": "", "mistakes": ""},
        ),
        Page(
            "precision", "Precision",
            "Which positions 16 bits cannot tell apart, and what that does to angles and scores.",
            parts={"positions": "Positions", "angles": "Angles", "invariance": "Shifting both"},
            terms={"bfloat16": "positions", "float16": "positions", "float32": "positions",
                   "bf16": "positions", "fp16": "positions", "fp32": "positions",
                   "half precision": "positions", "mixed precision": "angles",
                   "significand": "positions", "rounding": "angles", "autocast": "angles",
                   "relative invariance": "invariance", "inv_freq": "angles"},
        ),
        Page(
            "claims", "Claims",
            "Say true or false first; then a handle moves to the number that decides the claim.",
            terms={"myths": "", "quiz": "", "true or false": "", "misconceptions": ""},
        ),
        Page(
            "picker", "Picker",
            "From the lengths you need to an encoding or a scaling, with evidence and a config.",
            parts={"answer": "Answer", "take": "Take away", "rules": "The rules"},
            terms={"recommendation": "", "which encoding": "", "decision table": "",
                   "fine-tuning budget": ""},
            answers=("best", "choose", "pick", "recommend", "recommended", "should"),
        ),
        Page(
            "compare", "Compare",
            "Every encoding at the same q and k: scores, distances, four questions, price.",
            parts={"side": "Side by side", "distance": "By distance",
                   "questions": "Four questions", "price": "Price", "beyond": "Past training"},
            terms={"comparison": "", "scorecard": "questions", "all encodings": "",
                   "parameters": "price", "memory of the bias": "price", "FLOPs": "price",
                   "operations": "price"},
            answers=("against", "better", "compare", "compared", "difference", "differ", "versus",
                     "vs"),
        ),
    )),
    Group("lessons", "Lessons", (
        Page(
            "lessons", "Lessons",
            "Five lessons to go through step by step, and one of your own, made of any views.",
            terms={"teach": "", "lecture": "", "course": "", "slides": "", "lesson link": ""},
        ),
    )),
)  # fmt: skip
"""Every page, in the order of the navigation."""


def pages() -> Iterator[Page]:
    """Every page, in the order of the navigation."""
    for group in GROUPS:
        yield from group.pages
