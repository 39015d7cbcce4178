"""Sentences that tutorials, papers and code comments say about positions, and their verdicts.

Each claim has a verdict, and a function of :mod:`posviz.claim_evidence` from the value of a handle
to the numbers and the picture that decide it; none of the numbers stands in a sentence. Sentences
are English message ids with ``{placeholders}`` for the numbers; the user interface translates them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from posviz import claim_evidence, params
from posviz.claim_evidence import Evidence

Verdict = Literal["true", "false", "depends"]
VERDICTS: tuple[Verdict, ...] = ("true", "false", "depends")

TOPICS = {
    "order": "Order",
    "absolute": "Absolute",
    "relative": "Relative",
    "rope": "RoPE",
    "scaling": "Scaling",
    "measuring": "Measuring",
    "practice": "Practice",
}
"""What claims are about, and what a reader calls it."""


@dataclass(frozen=True)
class Claim:
    """A sentence that can be decided, and what decides it.

    Attributes:
        id: Name of its handle in a link.
        topic: One of :data:`TOPICS`.
        statement: What is claimed.
        verdict: Whether it is true, false, or depends on what the handle moves.
        because: Why, with the numbers of the handle's deciding value, its default.
        look: What to look for in the picture, with the numbers of any value.
        belief: Why one could think otherwise.
        handle: Declared with the deciding value as its default; None if nothing can be moved.
        start: Another value of the handle; where ``seems``, one at which the claim looks other
            than it is, and where it depends, one at which it holds.
        evidence: From the handle's value to what decides.
        sources: Pairs of a label and an address.
        view: Address within the app where one can go on, and what is there.
        said: Where something like it can be read, if a place is known.
        seems: Whether the claim looks other than it is at ``start``.
        steps: What the handle's values are called, from the lowest on, if they have names.
    """

    id: str
    topic: str
    statement: params.Message
    verdict: Verdict
    because: params.Message
    look: params.Message
    belief: params.Message
    handle: params.Number | None
    start: float
    evidence: Callable[[float], Evidence]
    sources: tuple[tuple[params.Message, str], ...]
    view: tuple[str, params.Message]
    said: tuple[params.Message, str] | None = None
    seems: bool = True
    steps: tuple[params.Message, ...] = ()

    @property
    def deciding(self) -> float:
        """The handle's value that decides; 0 without one."""
        return self.handle.default if self.handle else 0.0

    @property
    def decided(self) -> Evidence:
        """The evidence at the deciding value."""
        return self.evidence(self.deciding)


Answers = tuple[Verdict | None, ...]
"""A visitor's answer to each of :data:`CLAIMS`; None where there is none."""

_LETTERS: dict[str, Verdict] = {"t": "true", "f": "false", "d": "depends"}


def answers(code: str) -> tuple[Answers, bool]:
    """The answers that a code of one letter per claim means, and whether all of it means some.

    ``t``, ``f``, ``d`` and ``-`` for none; any other sign, or one too many, counts as none.
    """
    letters = code[: len(CLAIMS)].ljust(len(CLAIMS), "-")
    understood = set(code) <= {*_LETTERS, "-"} and len(code) <= len(CLAIMS)
    return tuple(_LETTERS.get(one) for one in letters), understood


def answer_code(answers: Answers) -> str:
    """The shortest code that :func:`answers` reads as these."""
    letters = {verdict: letter for letter, verdict in _LETTERS.items()}
    return "".join("-" if one is None else letters[one] for one in answers).rstrip("-")


def score(answers: Answers) -> tuple[int, int]:
    """How many of the answers are right, and how many there are."""
    pairs = [(one, claim.verdict) for one, claim in zip(answers, CLAIMS, strict=True) if one]
    return sum(one == verdict for one, verdict in pairs), len(pairs)


# ------------------------------------------------------------------------------------- the claims


def _handle(
    id: str, label: params.Message, default: float, low: float, high: float, step: float,
    unit: params.Message, help: params.Message, scale: params.Scale = "linear",
) -> params.Number:  # fmt: skip
    return params.Number(id, label, default, low, high, step, unit, help, scale)


def _words(id: str, default: int, high: int) -> params.Number:
    return _handle(id, "Backwards", default, 1, high, 1, "",
                   "How many of the first words are put in backwards order.")  # fmt: skip


def _context(id: str, default: int, low: int = 64, high: int = 4096) -> params.Number:
    return _handle(id, "Tokens read", default, low, high, 1, "tokens",
                   "Length of the text; the measured one nearest to it is shown.",
                   "log")  # fmt: skip


def _back(id: str, default: int, low: int, high: int, scale: params.Scale = "linear"
          ) -> params.Number:  # fmt: skip
    return _handle(id, "Distance", default, low, high, 1, "tokens",
                   "How far before the query the key stands.", scale)  # fmt: skip


def _factor(
    id: str, default: float, high: float, label: params.Message = "Factor s"
) -> params.Number:
    return _handle(id, label, default, 1.0, high, 0.1, "×",
                   "How many times the trained context the method is asked for.",
                   "log")  # fmt: skip


def _arxiv(label: params.Message, number: str) -> tuple[params.Message, str]:
    return label, f"https://arxiv.org/abs/{number}"


_ALIBI = _arxiv("Press et al. 2021, ALiBi", "2108.12409")
_BARBERO = _arxiv("Barbero et al. 2024, Round and Round We Go!", "2410.06205")
_ROFORMER = _arxiv("Su et al. 2021, RoFormer", "2104.09864")
_VASWANI = _arxiv("Vaswani et al. 2017", "1706.03762")
_YARN = _arxiv("Peng et al. 2023, YaRN", "2309.00071")
_HF = "https://github.com/huggingface/transformers/blob/main/src/transformers/"
_ROPE_UTILS = ("Hugging Face, modeling_rope_utils.py", f"{_HF}modeling_rope_utils.py")

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "backwards", "order",
        "Self-attention without positions is permutation invariant: shuffle the words, and the "
        "output at each place stays.",
        "false",
        "With {count} words backwards, the output at a place changes by up to {here}. What stays "
        "is the output of each word, to within {word}, which is rounding: outputs move along "
        "with their words. That is called equivariant, and invariant would be an output that "
        "does not move at all.",
        "“{text}”: {here} at the same place, {word} for the same word.",
        "The layer cannot tell which order it was given, and many call that invariant.",
        _words("backwards", 7, 7), 1, claim_evidence.invariant,
        (_arxiv("Lee et al. 2019, Set Transformer, property 1", "1810.00825"),),
        ("order?encoding=none", "Why order matters"),
        ("chenk.top, LLM Engineering 6", "https://www.chenk.top/en/llm-engineering/06-long-context/"),
    ),
    Claim(
        "bag", "order",
        "Without a positional encoding, a GPT with several layers sees a bag of words.",
        "false",
        "The causal mask tells the order. One layer does see a bag: with {count} words backwards "
        "the last output changes by {one}. In the second layer it changes by {two}, because each "
        "word before it had seen another beginning.",
        "“{text}”, last output: {one} after one causal layer, {two} after two, {unmasked} after "
        "two without a mask.",
        "It holds for encoders, and for a single layer.",
        _words("bag", 6, 6), 1, claim_evidence.bag_of_words,
        (_arxiv("Haviv et al. 2022", "2203.16634"), _arxiv("Kazemnejad et al. 2023", "2305.19466")),
        ("order?encoding=causal", "the causal mask alone"),
    ),
    Claim(
        "pooled", "order",
        "Average the outputs of self-attention without positions or mask, and word order makes "
        "no difference.",
        "true",
        "With {count} words backwards single outputs change by up to {here}, their mean by "
        "{mean}. The same outputs stand in another order, and a mean does not care.",
        "“{text}”: {here} for one output, {mean} for the mean.",
        "Single outputs do change, as one sees at a fixed place.",
        _words("pooled", 7, 7), 1, claim_evidence.pooled,
        (_arxiv("Lee et al. 2019, Set Transformer", "1810.00825"),),
        ("order?encoding=none&weight=0", "Why order matters"), seems=False,
    ),
    Claim(
        "any_length", "absolute",
        "A model with sinusoidal encodings handles any length of text, because the formula has a "
        "value at every position.",
        "false",
        "The formula goes on, the model does not. Our lab’s small models, trained on {context} "
        "tokens, have perplexity {trained} there and {now} at {length}: their weights never met "
        "these positions. Published models fail alike.",
        "At {length} tokens: perplexity {now}, {trained} at the trained {context}, {floor} for "
        "the best possible reader.",
        "The first paper hoped for it in one sentence, and code that runs looks like code that "
        "works.",
        _context("any_length", 512), 256, claim_evidence.sinusoidal_length,
        (_arxiv("Press et al. 2021, figure 1 and table 2", "2108.12409"),),
        ("lab?model=sinusoidal", "read past its training, in the lab"),
        ("Vaswani et al. 2017, as a hope", "https://arxiv.org/abs/1706.03762"),
    ),
    Claim(
        "linear_map", "absolute",
        "One fixed matrix turns the sinusoidal encoding of any position p into that of p + 64.",
        "true",
        "Take a sine and the cosine of the same frequency as the hand of a clock: {shift} tokens "
        "later each hand has turned by its own fixed angle, whatever p is, and a turn is a small "
        "matrix. Over {positions} positions it misses the table by {residual} at most, which is "
        "rounding.",
        "Shifted by {shift}: table and matrix differ by {residual} at most, in all columns.",
        "The curves are wavy, so a shift seems to need another recipe at each position.",
        _handle("linear_map", "Shift", 64, 0, 256, 1, "tokens", "Tokens from p to the other one."),
        0, claim_evidence.sinusoidal_shift,
        (_arxiv("Vaswani et al. 2017, section 3.5", "1706.03762"),),
        ("sinusoidal?part=distance&shift=64", "shifting the sinusoidal table"), seems=False,
    ),
    Claim(
        "which_first", "absolute",
        "The dot product of two sinusoidal encodings tells which of the two tokens comes first.",
        "false",
        "It is symmetric: {ahead} for {offset} tokens ahead and {behind} for {offset} tokens "
        "behind. A model needs the learned maps of queries and keys to tell them apart.",
        "Ahead by {offset}: {ahead}; behind by {offset}: {behind}.",
        "The vectors do know their positions; their plain dot product forgets the sign.",
        _handle("which_first", "Offset", 20, -100, 100, 1, "tokens",
                "Position of the second token minus that of the first."),
        0, claim_evidence.sinusoidal_first,
        (_arxiv("Yan et al. 2019, TENER, section 3.2", "1911.04474"), _VASWANI),
        ("sinusoidal?part=distance", "sinusoidal, by distance"), seems=False,
    ),
    Claim(
        "gpt2_end", "absolute",
        "GPT-2 has no position vector for the 1,025th token of a text.",
        "true",
        "Its learned table has {rows} rows. Of a text of {length} tokens {without} have no "
        "vector, and no formula could give them one.",
        "A text of {length} tokens: {without} without a vector, because the table has {rows} "
        "rows.",
        "Newer models can be stretched by a config key, so one expects that here too.",
        _handle("gpt2_end", "Text", 2048, 16, 2048, 1, "tokens", "Length of the text."),
        512, claim_evidence.learned_end,
        (("openai/gpt-2, model.py", "https://github.com/openai/gpt-2/blob/master/src/model.py"),),
        ("learned?part=end&table=gpt2", "where learned tables end"), seems=False,
    ),
    Claim(
        "learned_slopes", "relative",
        "ALiBi, as published, learns one slope for each head.",
        "false",
        "The slopes are fixed before training: for {num_heads} heads they run from {steepest} to "
        "{flattest}. ALiBi brings {learned} trained numbers; a T5 bias of this size has {t5}.",
        "{num_heads} heads: {learned} learned by ALiBi, {t5} by a T5 bias; slopes from {steepest} "
        "to {flattest}.",
        "The paper’s authors tried to learn them, and T5’s similar bias is learned.",
        _handle("learned_slopes", "Heads", 16, 2, 32, 1, "heads", "Attention heads of a layer."),
        2, claim_evidence.slopes_learned,
        (_arxiv("Press et al. 2021, section 3", "2108.12409"),
         ("ofirpress/attention_with_linear_biases",
          "https://github.com/ofirpress/attention_with_linear_biases")),
        ("alibi?part=slopes&num_heads=16", "ALiBi’s slopes"), seems=False,
    ),
    Claim(
        "slope_formula", "relative",
        "An ALiBi model has n heads. Their slopes are 2^(−8h/n), for h = 1 … n.",
        "depends",
        "On n. Where it is a power of two, they are. For {num_heads} heads {differ} slopes differ: "
        "released code takes those of the power of two below and every second of the one above, "
        "so the last head has {last} and not {formula}.",
        "{num_heads} heads: {differ} differ from the formula; the last has {last}, by the formula "
        "{formula}.",
        "The paper’s text gives the formula only; the rule for other counts is in its code.",
        _handle("slope_formula", "Heads", 12, 2, 128, 1, "heads", "Attention heads of a layer."),
        8, claim_evidence.slopes_formula,
        (_arxiv("Press et al. 2021, section 3", "2108.12409"),
         ("ofirpress/attention_with_linear_biases, get_slopes",
          "https://github.com/ofirpress/attention_with_linear_biases"),
         ("Baichuan2, issue 225", "https://github.com/baichuan-inc/Baichuan2/issues/225")),
        ("alibi?part=slopes&num_heads=12", "slopes of 12 heads"),
        ("Edifice, documentation of ALiBi", "https://hexdocs.pm/edifice/Edifice.Blocks.ALiBi.html"),
    ),
    Claim(
        "looks_farther", "relative",
        "Where all keys match the query equally well, ALiBi’s heads look ever farther back as the "
        "text grows.",
        "false",
        "Even the flattest of 8 heads keeps 99 % of its weight "
        "within {reach} tokens, whatever the length: {share} % of a text of {length}. A far "
        "token must outscore the rest to be seen.",
        "In {length} tokens, the flattest head has {inside} % of its weight on the last {reach}: "
        "{share} % of the text.",
        "Its perplexity holds far beyond training, which sounds like reading it all.",
        _handle("looks_farther", "Text", 65536, 2048, 65536, 1, "tokens", "Length of the text.",
                "log"),
        2048, claim_evidence.alibi_farther,
        (_ALIBI, _arxiv("Chi et al. 2023, on ALiBi’s receptive field", "2212.10356")),
        ("alibi?part=length&num_heads=8&head=8", "ALiBi’s window over length"), seems=False,
    ),
    Claim(
        "alibi_keeps", "relative",
        "Trained on 512 tokens, ALiBi’s published model read texts of 3,512 at no higher "
        "perplexity.",
        "true",
        "It is {trained} at {context} tokens and {now} at {length}, where the sinusoidal model of "
        "the same size has {other}. That the far text helped is another claim.",
        "At {length} tokens ALiBi has {now}, the sinusoidal model {other}; at {context} ALiBi had "
        "{trained}.",
        "Most encodings fail beyond their training, so one mistrusts it.",
        _handle("alibi_keeps", "Tokens read", 3512, 512, 15512, 1, "tokens",
                "Length of the text; the published one nearest to it is shown.", "log"),
        512, claim_evidence.alibi_keeps,
        (_arxiv("Press et al. 2021, table 2", "2108.12409"),),
        ("lab?model=alibi&beside=alibi-2", "beside the lab’s own models"), seems=False,
    ),
    Claim(
        "t5_far", "relative",
        "T5’s relative bias tells a token 200 places back from one 2,000 places back.",
        "false",
        "Both stand in the last bucket, and all that stands there gets one number. A decoder’s "
        "last is bucket {decoder}, from {decoder_starts} tokens back on; an encoder’s, which "
        "keeps half of its buckets for what follows, is {encoder}, from {encoder_starts} on.",
        "Distance {distance} is bucket {decoder} of a decoder and {encoder} of an encoder; "
        "distance 2,000 is {decoder_far} and {encoder_far}.",
        "Its bias is called relative, and the buckets do tell near distances apart.",
        _back("t5_far", 200, 2, 2048, "log"), 10, claim_evidence.t5_far,
        (_arxiv("Raffel et al. 2019, T5, section 2.1", "1910.10683"),
         ("Hugging Face, modeling_t5.py", f"{_HF}models/t5/modeling_t5.py")),
        ("relative?part=buckets&direction=causal&relative_position=-200", "T5’s buckets"),
    ),
    Claim(
        "both_moved", "rope",
        "With RoPE, moving query and key together by the same number of tokens leaves their "
        "score as it was.",
        "true",
        "Moved by {shift} tokens, a score of {before} is {after}; the largest change over 400 "
        "shifts is {difference}, which is rounding. Move the query alone and it is {alone}.",
        "Moved by {shift}: {after} for both, {alone} for the query alone.",
        "Both vectors do turn by their absolute positions; only their difference is left.",
        _handle("both_moved", "Shift", 300, 0, 400, 1, "tokens", "Tokens that both move by."),
        0, claim_evidence.rope_relative,
        (_arxiv("Su et al. 2021, RoFormer, equation 16", "2104.09864"),),
        ("rope?part=pair&shift=1000", "both moved, in the clocks"), seems=False,
    ),
    Claim(
        "anywhere", "rope",
        "RoPE allows a head that prefers a key 500 tokens back to all nearer ones.",
        "true",
        "Turn the key by {distance} tokens and the score peaks {peak} tokens back, at {highest} "
        "times the largest possible; at distance 0 it is {near}.",
        "Made for distance {distance}, the score peaks at {peak}; at distance 0 it is {near}.",
        "RoPE is said to prefer near tokens. What it prefers is up to a head’s queries and keys.",
        _back("anywhere", 500, 0, 2000), 0, claim_evidence.rope_anywhere,
        (_arxiv("Barbero et al. 2024, proposition 3.1", "2410.06205"),),
        ("rope?part=decay&peak=500&head_dim=128", "a head that looks elsewhere"),
    ),
    Claim(
        "falls", "rope",
        "RoPE’s score of equal vectors falls with every further token between them.",
        "false",
        "It rises in {rises} % of the first {span} steps. {distance} tokens back it is {now}, "
        "and {where} back it is {later} again.",
        "Distance {distance}: {now}. Farther, at {where}: {later}.",
        "RoFormer’s section on “long-term decay” plots an upper bound, and a smooth one.",
        _back("falls", 305, 0, 511), 0, claim_evidence.rope_decay,
        (_arxiv("Su et al. 2021, RoFormer, section 3.4.3", "2104.09864"), _BARBERO),
        ("rope?part=decay&head_dim=128", "RoPE’s decay and its bound"),
        ("ROCm/flash-attention, pull request 83",
         "https://github.com/ROCm/flash-attention/pull/83"),
    ),
    Claim(
        "favours_near", "rope",
        "Queries and keys are drawn at random. On average, RoPE scores near keys higher than far "
        "ones.",
        "depends",
        "On their mean. Centred on {mean}, the expected score is {near} two "
        "tokens back and {far} a thousand back: no decay at all. Give their components a common "
        "mean, and near ones win.",
        "Mean {mean}: the expected score is {near} two tokens back and {far} a thousand back; "
        "single scores deviate by {spread}.",
        "The curve that tutorials plot is that of equal vectors.",
        _handle("favours_near", "Mean", 0.0, 0.0, 1.0, 0.01, "",
                "Mean of the components of queries and keys, whose deviation is 1."),
        1.0, claim_evidence.rope_near,
        (_arxiv("Barbero et al. 2024, proposition 3.2", "2410.06205"), _ROFORMER),
        ("rope?part=decay&head_dim=128", "random vectors beside equal ones"),
    ),
    Claim(
        "first_slow", "rope",
        "In RoPE the first pairs of dimensions turn slowly and the last ones fast.",
        "false",
        "The other way round: pair {pair} needs {tokens} tokens for a whole turn, the last one, "
        "{last}, needs {slowest}.",
        "Pair {pair}: {tokens} tokens for a turn. Pair 0: {fastest}; pair {last}: {slowest}.",
        "“Low dimensions” and “low frequencies” sound alike.",
        _handle("first_slow", "Pair", 0, 0, 63, 1, "", "Pair of dimensions, counted from 0."),
        63, claim_evidence.rope_slow,
        (_arxiv("Su et al. 2021, RoFormer, equation 15", "2104.09864"), _YARN),
        ("rope?part=pair&head_dim=128&pair=63", "one pair’s clock"), seems=False,
    ),
    Claim(
        "half_split", "rope",
        "Hugging Face’s rotate_half gets Llama’s scores wrong, because RoFormer pairs "
        "neighbouring dimensions.",
        "false",
        "It pairs i with i + 64, and the converted weights are reordered to match: {distance} "
        "tokens back both ways give {paper}, and their largest difference at any distance shown "
        "is {apart}. Halves with weights left as they were would give {mixed}.",
        "Distance {distance}: {paper} for neighbours, {halves} for halves, {mixed} for halves "
        "without reordering.",
        "The code does differ from the formula in the paper; what changes with it is the "
        "checkpoint.",
        _back("half_split", 100, 0, 256), 0, claim_evidence.half_split,
        (("Hugging Face, issue 25199", "https://github.com/huggingface/transformers/issues/25199"),
         ("Hugging Face, convert_llama_weights_to_hf.py",
          f"{_HF}models/llama/convert_llama_weights_to_hf.py")),
        ("rope?part=pairings&layout=half", "both pairings"),
        ("Hugging Face, issue 34741", "https://github.com/huggingface/transformers/issues/34741"),
        seems=False,
    ),
    Claim(
        "fast_unseen", "rope",
        "Past the trained length, it is RoPE’s fast pairs that meet angles they never met in "
        "training.",
        "false",
        "Fast pairs have been all the way round many times. At {times} times {trained} tokens "
        "{unseen} pairs meet new angles, all from pair {first} on: the slow ones, which never "
        "completed a turn.",
        "At {times} × {trained} tokens: {unseen} pairs with new angles, none of them before pair "
        "{first}. Pair {last} needs {slowest} × what it met.",
        "Fast pairs turn the most, and interpolating them does the most harm.",
        _handle("fast_unseen", "Longer by", 4.0, 1.0, 16.0, 0.1, "×",
                "Context over the trained one.", "log"),
        1.0, claim_evidence.fast_unseen,
        (_arxiv("Peng et al. 2023, YaRN, section 3.2", "2309.00071"),),
        ("scaling?part=angles", "angles met and not met"),
        ("diomgis.com, From 4K to a Million Tokens",
         "https://diomgis.com/blog/long-context-rope-scaling-yarn-ring-attention"),
        seems=False,
    ),
    Claim(
        "extrapolates", "rope",
        "RoPE is relative, so any model with it reads texts longer than its training as well as "
        "short ones.",
        "false",
        "Our lab’s small models, trained on {context} tokens, have perplexity {trained} there and "
        "{now} at {length}; published ones get worse too. Relative means that positions may shift, "
        "not that distances may grow.",
        "At {length} tokens: perplexity {now}; {trained} at the trained {context}, {floor} for "
        "the best possible reader.",
        "A score depends on distance alone, but long distances are as new as far positions.",
        _context("extrapolates", 1024), 256, claim_evidence.rope_length,
        (_arxiv("Press et al. 2021, table 2", "2108.12409"),
         _arxiv("Chen et al. 2023, Position Interpolation", "2306.15595")),
        ("lab?model=rope-10000&rope_type=default", "read past its training, in the lab"),
        ("interactiveprimer.com, Rotary position embeddings",
         "https://interactiveprimer.com/concepts/computer-science/deep-learning/transformers/"
         "rotary-position-embeddings.html"),
    ),
    Claim(
        "llama_yarn", "scaling",
        "Llama 3.1 reaches 128k tokens with YaRN.",
        "false",
        "Its rope_type is llama3. By factor {factor} YaRN would multiply scores by {gain}, "
        "Llama’s rule by {own_gain}; and their pairs turn up to {apart} times differently fast.",
        "Factor {factor}: scores × {gain} with YaRN, × {own_gain} with Llama 3; pairs up to "
        "{apart} × apart.",
        "Both keep fast pairs and divide slow ones, and YaRN is the better known name.",
        _factor("llama_yarn", 8.0, 32.0), 1.0, claim_evidence.llama31,
        (("meta-llama/llama-models", "https://github.com/meta-llama/llama-models"), _ROPE_UTILS),
        ("scaling?model=Llama-3.1-8B-Instruct&pinned=yarn", "both in the spectrum"),
    ),
    Claim(
        "yarn_gain", "scaling",
        "For every factor s, YaRN as published multiplies attention scores by 0.1 ln s + 1.",
        "false",
        "By its square. That factor is on cos and sin, so query and key both carry it: for "
        "s = {factor} it is {once}, and a score grows {gain} times.",
        "s = {factor}: {once} on each vector, {gain} on their score.",
        "The paper gives √(1/t), and some repeat it as 1/t.",
        _factor("yarn_gain", 16.0, 64.0), 1.0, claim_evidence.yarn_gain,
        (_arxiv("Peng et al. 2023, YaRN, equation 22", "2309.00071"), _ROPE_UTILS),
        ("scaling?part=attention&pinned=yarn&factor=16", "what YaRN does to scores"),
    ),
    Claim(
        "yarn_ramp", "scaling",
        "Models released with YaRN always run the ramp that its paper prints, linear in "
        "rotations.",
        "false",
        "The authors’ own code and Hugging Face’s ramp over the index of the pair. For "
        "s = {factor}, pair {pair} is slowed {code} times in the code and {paper} times by the "
        "paper: {most} % less frequency.",
        "s = {factor}: pair {pair} is slowed {code} × in code, {paper} × by the paper; no "
        "frequency differs by more than {most} %.",
        "Both ramps go between the same ends, pairs that turn 32 times in the trained context "
        "and pairs that turn once.",
        _factor("yarn_ramp", 16.0, 64.0), 1.0, claim_evidence.yarn_ramp,
        (("jquesnelle/yarn", "https://github.com/jquesnelle/yarn"),
         _arxiv("Peng et al. 2023, YaRN, section 3.2", "2309.00071"), _ROPE_UTILS),
        ("scaling?pinned=yarn&ramp=both&factor=16", "both ramps"),
    ),
    Claim(
        "alpha", "scaling",
        "NTK-aware scaling with alpha = 4 keeps four times the trained context free of unseen "
        "angles.",
        "false",
        "It is {reach} times. Only the very last pair is slowed by the whole {alpha}; those "
        "before it get less and run into new angles sooner.",
        "alpha = {alpha} gives {reach} × the trained {trained} tokens.",
        "The formula is built so that the slowest pair is divided by exactly alpha.",
        _handle("alpha", "alpha", 4.0, 1.0, 16.0, 0.1, "", "alpha of NTK-aware scaling.", "log"),
        1.0, claim_evidence.ntk_alpha,
        (_arxiv("Peng et al. 2023, YaRN, section 3.1", "2309.00071"),),
        ("scaling?part=units&unit=alpha_value&value=4", "what alpha means"),
    ),
    Claim(
        "pi_short", "scaling",
        "By any factor, position interpolation leaves texts within the trained length as they "
        "were.",
        "false",
        "It divides every frequency at every length. Switched on by {factor} without further "
        "training, it lifts the perplexity of our lab’s small models at {length} tokens from "
        "{plain} to {now}. It is meant to be fine-tuned.",
        "Divided by {factor}: perplexity {now} at {length} tokens, {plain} as trained.",
        "It was made for longer texts, so one expects nothing to happen to short ones.",
        _factor("pi_short", 4.0, 16.0), 1.0, claim_evidence.pi_short,
        (_arxiv("Chen et al. 2023, Position Interpolation", "2306.15595"),),
        ("lab?model=rope-10000&rope_type=linear&factor=4", "interpolation in the lab"),
    ),
    Claim(
        "dynamic_short", "scaling",
        "By its formula, dynamic NTK leaves texts within the trained length exactly as they were.",
        "true",
        "At {seq_len} tokens, the trained length, it slows {moved} pairs. Only beyond it does the "
        "base grow with the text.",
        "At {seq_len} tokens {moved} pairs are slowed, the slowest {slowest} ×.",
        "Other scaling methods change short texts too, and vLLM’s version of this one scales "
        "always.",
        _handle("dynamic_short", "Tokens read", 4096, 256, 16384, 1, "tokens",
                "Length of the text."),
        16384, claim_evidence.dynamic_short,
        (_ROPE_UTILS, ("vLLM, issue 41236", "https://github.com/vllm-project/vllm/issues/41236")),
        ("scaling?part=cache&growing=dynamic", "dynamic NTK while a text grows"), seems=False,
    ),
    Claim(
        "yarn_ntk", "scaling",
        "Without fine-tuning, YaRN has lower perplexity than NTK-aware scaling by the same "
        "factor, whatever the factor.",
        "false",
        "By {factor}, our lab’s small RoPE models have perplexity {yarn} with YaRN and {ntk} "
        "with NTK at {length} tokens; by {far_factor}, {yarn_far} and {ntk_far} at {far}. Each "
        "time all three seeds agree. On books, LongRoPE’s authors measured {book_yarn} with YaRN "
        "and {book_ntk} with dynamic NTK for Llama 2 7B at {book_length}.",
        "By {factor}, at the {length} tokens that it is for: YaRN {yarn}, NTK {ntk}.",
        "YaRN’s paper has it ahead at each length of its table 1, for models fine-tuned for a "
        "factor of 2.",
        _handle("yarn_ntk", "Factor s", 2.0, 2.0, 16.0, 0.1, "×",
                "Factor of both methods; the measured one nearest to it is shown.", "log"),
        8.0, claim_evidence.yarn_ntk,
        (_arxiv("Peng et al. 2023, YaRN, table 1", "2309.00071"),
         _arxiv("Ding et al. 2024, LongRoPE, table 1", "2402.13753")),
        ("lab?model=rope-10000&rope_type=yarn&factor=2", "both in the lab"),
    ),
    Claim(
        "flat_curve", "measuring",
        "A perplexity that stays low on longer and longer texts shows that the model uses them.",
        "false",
        "Our lab’s small model that sees only the last {window} tokens does it too: {trained} at "
        "{window}, {now} at {length}. The lab’s ALiBi model, which reads everything, gets {full}: "
        "this gap is what the far text is worth.",
        "At {length} tokens: {now} with a window of {window}, {full} reading everything.",
        "Papers on long context often show just this curve.",
        _context("flat_curve", 2048, 64, 2048), 256, claim_evidence.perplexity_uses,
        (_arxiv("Hsieh et al. 2024, RULER", "2404.06654"),
         _arxiv("Fang et al. 2024, on perplexity for long context", "2410.23771")),
        ("lab?model=rope-10000&reading=sliding", "the sliding window in the lab"),
    ),
    Claim(
        "needle", "measuring",
        "Any model that finds a fact near the end of a long text finds it anywhere in the text.",
        "false",
        "In {length} tokens, our lab’s {models} small RoPE models of {context} get {late} % of the "
        "letters right near the end and {first} % at the start; guessing gives 5 %. Lost in the "
        "Middle found larger models good at both ends and worse between.",
        "Depth {depth} %: {found} % right; {late} % near the end.",
        "One needle in one place is the demonstration that one sees most.",
        _handle("needle", "Depth", 0, 0, 100, 1, "%", "Where in the text the fact stands."),
        100, claim_evidence.needle_depth,
        (_arxiv("Liu et al. 2023, Lost in the Middle, on other models", "2307.03172"),),
        ("needle?model=rope-10000", "needles by depth and length"),
    ),
    Claim(
        "seeds", "measuring",
        "A RoPE model trained again from another seed always does equally badly past its length.",
        "false",
        "Our lab’s {count} small ones agree within their {context} tokens; at {length} the best "
        "has perplexity {lowest} and the worst {highest}.",
        "At {length} tokens: {lowest} to {highest} over {count} seeds.",
        "Within the trained length seeds hardly differ, and few papers train twice.",
        _context("seeds", 2048), 256, claim_evidence.seeds_alike,
        (_arxiv("Zhou et al. 2024, on addition: large variance over seeds", "2402.09371"),),
        ("lab?model=rope-10000&seed=1", "another seed in the lab"),
    ),
    Claim(
        "torch_rope", "practice",
        f"As of torch {claim_evidence.TORCH}, torch.nn.functional has a function for RoPE.",
        "false",
        "In torch {version}, {attention} of its names contain “attention”, {embedding} "
        "“embedding”, and {rope} “rope” or “rotary”. A pull request that adds rotary_embedding "
        "was open in June 2026; until then everybody writes x cos + rotate_half(x) sin.",
        "Names with “attention”: {attention}; with “rope” or “rotary”: {rope}.",
        "scaled_dot_product_attention is there, and libraries around PyTorch do have one.",
        None, 0, claim_evidence.torch_rope,
        (("PyTorch, pull request 187286", "https://github.com/pytorch/pytorch/pull/187286"),
         ("PyTorch, issue 149534", "https://github.com/pytorch/pytorch/issues/149534"),
         ("PyTorch, torch.nn.functional",
          "https://docs.pytorch.org/docs/stable/nn.functional.html")),
        ("scaling?part=take", "code to take along"),
    ),
    Claim(
        "norm_order", "practice",
        "A model has RMSNorm with a gain on queries and keys. Before RoPE or after it, the scores "
        "are the same.",
        "depends",
        "On the gain. Where both dimensions of a pair share one, orders differ by {equal}, "
        "which is rounding. With gains that differ freely by {spread}, scores differ by up to "
        "{free}, and depend on where both tokens stand.",
        "Gains apart by {spread}: {free} between the orders; {equal} if pairs share a gain.",
        "A rotation keeps lengths, so the norm without a gain does not care.",
        _handle("norm_order", "Gains apart", 0.5, 0.0, 1.0, 0.01, "",
                "Standard deviation of the logarithm of the gains."),
        0.0, claim_evidence.norm_order,
        (("Hugging Face, modeling_qwen3.py (before)", f"{_HF}models/qwen3/modeling_qwen3.py"),
         ("Hugging Face, modeling_hunyuan_v1_dense.py (after)",
          f"{_HF}models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py")),
        ("rope?part=norm&gain=free", "QK-norm and RoPE"),
    ),
    Claim(
        "bfloat16", "practice",
        "The positions of a text are kept in bfloat16. All of them stay exact.",
        "depends",
        "On how long the text is. Up to {exact} they do; position {position} is held as {held}, "
        "so neighbours share their angles.",
        "Position {position} is held as {held}, {error} off; exact up to {exact}.",
        "Whole numbers look harmless, and short tests never reach 257.",
        _handle("bfloat16", "Position", 2001, 1, 4096, 1, "", "The last position of a text.",
                "log"),
        256, claim_evidence.bfloat16_positions,
        (("Hugging Face, pull request 29285",
          "https://github.com/huggingface/transformers/pull/29285"),),
        ("doctor", "Config doctor"),
    ),
    Claim(
        "head_dim", "practice",
        "A config has hidden_size and num_attention_heads. Their quotient is the model’s "
        "head_dim.",
        "depends",
        "On the model. {model} divides {hidden} among {heads} heads, which gives {divided}; its "
        "head_dim is {head_dim}. So it is with {differ} of {models} models on record.",
        "{model}: {hidden} / {heads} = {divided}, head_dim {head_dim}.",
        "It holds for Llama, and much code fills in the quotient.",
        _handle("head_dim", "Model", 2, 1, len(claim_evidence.HEADS), 1, "",
                "A released model, by its place in the list."),
        1, claim_evidence.head_dims,
        (("vllm-project/speculators, pull request 134",
          "https://github.com/vllm-project/speculators/pull/134"),
         ("Hugging Face, configuration_qwen3.py", f"{_HF}models/qwen3/configuration_qwen3.py")),
        ("models?model=gpt-oss-20b", "released models"), steps=claim_evidence.HEADS,
    ),
)  # fmt: skip
"""Every claim, in the order of the page. Links count them: new ones stand at the end."""
