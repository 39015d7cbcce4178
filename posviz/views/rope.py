"""RoPE's view: a pair, the matrix, pairings, decay, QK-norm, MLA, partial, the cache."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from posviz import catalog, distance, invariants, params, qk_norm, rope
from posviz.figures import heat, style
from posviz.figures import rope as pictures
from posviz.figures.playground import Lamp, lamps
from posviz.figures.rope import KEY, QUERY, fixed
from posviz.figures.rope_curves import curves
from posviz.figures.style import counted, number, plain_text, token_count
from posviz.mla import MLA, absorption
from posviz.ui import live
from posviz.ui.text import complaint, say
from posviz.views import snippets

# Each part: what its segment says, its handles, and the dimension of a head that it begins with.
PARTS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "pair": ("Pair", ("q_position", "k_position", "shift", "pair"), 16),
    "matrix": ("Matrix", ("q_position", "k_position", "pair", "head_dim"), 32),
    "pairings": ("Pairings", ("distance", "pair", "head_dim"), 16),
    "decay": ("Decay", ("peak", "rope_theta", "head_dim"), 128),
    "norm": ("QK-norm", ("spread", "q_position", "k_position"), 64),
    "mla": ("Decoupled", ("num_heads", "kv_lora_rank", "qk_rope_head_dim"), 128),
    "partial": ("Partial", ("partial_rotary_factor", "head_dim", "q_position"), 80),
    "cache": ("Cache", ("cached", "pair", "seq_len", "num_heads"), 64),
}
PLACES = 64  # positions that query and key can take
REACH = 1024  # distances that the curves of decay cover
NEAR = 256  # distances or shifts that the other curves cover
STEPS = 16  # tokens that the cache can hold
SEED = 5  # of the query and key: their pairs are of similar length
TOKENS = 24  # tokens of the maps of MLA's errors
# Errors below this are the rounding of float64.
ROUNDING = 1e-9
BESIDE = ("rope", "alibi", "t5", "shaw", "transformer_xl")  # whose numbers at L x L are counted

SPREAD = params.Number(
    "spread", "Spread of the gain", 0.5, 0.0, 0.7, 0.01, "",
    "Standard deviation of the logarithm of each gain.",
)  # fmt: skip


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, then the handles of all parts; a part sets where some of them begin."""
    yield params.Choice("part", "Part", "pair", tuple(PARTS),
                        tuple(label for label, *_ in PARTS.values()), "")  # fmt: skip
    yield params.Choice(
        "layout", "Pairing", "half", rope.LAYOUTS, ("half", "interleaved"),
        "Which dimensions are a pair: i and i + d/2 (Hugging Face Llama), or 2i and 2i + 1.",
    )  # fmt: skip
    yield params.Choice(
        "gain", "Gain of the norm", "free", ("one", "pairs", "free"),
        ("1", "equal within pairs", "free"), "The weights that the norm multiplies by.",
    )  # fmt: skip
    for name, label, start in (("q_position", "Query position m", 20),
                               ("k_position", "Key position n", 8)):  # fmt: skip
        yield params.Number(name, label, start, 0, PLACES - 1, 1, "",
                            "Where it stands: the number of tokens before it.")  # fmt: skip
    yield replace(params.SHIFT, default=12)
    yield replace(params.HEAD_DIM, label="head_dim", default=PARTS[v["part"]][2])
    pairs = v["head_dim"] // 2
    yield params.PAIR.within(high=pairs - 1, default=2)
    yield replace(params.ROPE_THETA, label="rope_theta")
    yield params.Number("distance", "Distance", 30, 0, NEAR, 1, "tokens",
                        "Query position minus key position.")  # fmt: skip
    yield params.Number("peak", "Let it peak at", 300, 0, REACH, 1, "tokens back",
                        "The distance at which the key's score shall be largest.")  # fmt: skip
    yield SPREAD
    yield replace(params.NUM_HEADS, default=128 if v["part"] == "mla" else 32,
                  help="Attention heads of a layer.")  # fmt: skip
    yield params.Number("kv_lora_rank", "kv_lora_rank", 512, 64, 1024, 8, "",
                        "Length of the compressed keys and values of a token.")  # fmt: skip
    yield params.Number(
        "qk_rope_head_dim", "qk_rope_head_dim", 64, 2, 128, 2, "",
        "Dimensions beside the compressed key that rotate.", pairs=True,
    )  # fmt: skip
    yield params.Number("partial_rotary_factor", "partial_rotary_factor", 0.4, 0.0, 1.0, 0.01, "",
                        "Share of a head's dimensions that rotate.")  # fmt: skip
    yield params.Number("cached", "Cached tokens", 10, 1, STEPS, 1, "",
                        "The newest one asks, all of them answer.")  # fmt: skip
    yield params.Number("seq_len", "Context length L", 8192, 1, 131072, 1, "tokens",
                        "Queries, and as many keys.", scale="log")  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """What the handles mean together; one field per parameter, by its name."""

    part: str
    layout: rope.Layout
    gain: qk_norm.GainKind
    q_position: int
    k_position: int
    shift: int
    head_dim: int
    pair: int
    rope_theta: float
    distance: int
    peak: int
    spread: float
    num_heads: int
    kv_lora_rank: int
    qk_rope_head_dim: int
    partial_rotary_factor: float
    cached: int
    seq_len: int

    @property
    def pairs(self) -> int:
        return self.head_dim // 2

    @cached_property
    def inv_freq(self) -> rope.Floats:
        return rope.inv_freq(self.head_dim, self.rope_theta)

    @property
    def theta(self) -> float:
        """Frequency of the chosen pair."""
        return float(self.inv_freq[self.pair])

    @cached_property
    def vectors(self) -> tuple[rope.Floats, rope.Floats]:
        """The query and key of all parts, drawn once."""
        return rope.random_vectors(self.pairs, self.layout, SEED)

    @property
    def dims(self) -> tuple[int, int]:
        """The two dimensions of the chosen pair."""
        first, second = (
            range(self.head_dim)[part] for part in rope.pair_slices(self.head_dim, self.layout)
        )
        return first[self.pair], second[self.pair]

    def arrows(self, q_position: int, k_position: int) -> list[pictures.Arrows]:
        """Both vectors' pairs, rotated to these positions."""
        q, k = (
            rope.polar(rope.rotate(x, at, self.inv_freq, self.layout), self.layout)
            for x, at in zip(self.vectors, (q_position, k_position), strict=True)
        )
        return [pictures.Arrows(*one) for one in zip(*map(list, (*q, *k)), strict=True)]

    def score(self, moved_by: int = 0) -> float:
        """Unscaled score of query and key at their positions, both moved."""
        q, k = self.vectors
        m, n = self.q_position + moved_by, self.k_position + moved_by
        return float(rope.scores(q, k, m, n, self.inv_freq, self.layout)[0, 0])


def draw(**values: Any) -> live.Slots:
    """Every picture of the chosen part."""
    scene = Scene(**values)
    return {name: one for name, one in DRAWN[scene.part](scene)}


Pictures = Iterator[tuple[str, live.Picture]]


def formulas(*shown: str) -> live.Picture:
    """Formulas with the same numbers in them."""
    return live.drawing(pictures.formulas(shown))


def off(difference: float) -> str:
    """What a residual reads."""
    return say("difference {off}", off=number(difference))


def residual(name: str, difference: float) -> Lamp:
    """The lamp of an identity."""
    return Lamp(name, number(difference), say("largest entry"), difference < ROUNDING)


# ------------------------------------------------------------------------------------------- parts


def pair(scene: Scene) -> Pictures:
    """One pair as two arrows, all pairs, and the score over all positions."""
    m, n, k = scene.q_position, scene.k_position, scene.shift
    placed, moved = scene.arrows(m, n), scene.arrows(m + k, n + k)
    one = placed[scene.pair]
    adds = rope.pair_scores(*scene.vectors, m - n, scene.inv_freq, scene.layout)
    score, shifted = scene.score(), scene.score(k)
    turned = number((m - n) * scene.theta)
    yield "dial:head", live.drawing(style.heading(
        say("Pair {pair}: two arrows", pair=scene.pair),
        say("{theta} rad a token", theta=number(scene.theta)),
        [(say("query"), QUERY, "solid"), (say("key"), KEY, "solid"),
         (say("both moved by {k}", k=number(k)), "quiet", "dash")],
    ))  # fmt: skip
    alt = say("Query at {q} degrees, key at {k} degrees; the pair adds {score}",
              q=degrees(one.q_angle), k=degrees(one.k_angle),
              score=fixed(float(adds[scene.pair])))  # fmt: skip
    yield "dial", live.drawing(pictures.dial(one, moved[scene.pair], axes=scene.dims,
                                             is_moved=k > 0, alt=alt, _=say))  # fmt: skip
    yield "pairs:head", live.drawing(style.heading(
        counted(scene.pairs, "The only pair", "All {count} pairs", say),
        say("0 is the fastest; together {score}", score=fixed(score)),
    ))  # fmt: skip
    yield "pairs", live.drawing(pictures.all_pairs(placed, adds, scene.pair, say))
    yield "lamps", live.drawing(lamps([
        Lamp(say("score at m = {m}, n = {n}", m=m, n=n), fixed(score, 6)),
        Lamp(say("both moved by {k}", k=number(k)), fixed(shifted, 6), off(abs(shifted - score)),
             abs(shifted - score) < 1e-7),
    ]))  # fmt: skip
    every = rope.scores(*scene.vectors, range(PLACES), range(PLACES), scene.inv_freq, scene.layout)
    limit = float(abs(every).max())
    yield "map:head", live.drawing(style.heading(
        say("Score at each m and n"), say("drag: it moves both tokens"),
    ))  # fmt: skip
    markup, rasters = heat.heat_map(
        "scores", every, low=-limit, high=limit, marks=[(m, n)], width=430,
        rows=heat.Axis(say("query position m"), handle="q_position", chosen=m),
        columns=heat.Axis(say("key position n"), handle="k_position", chosen=n),
        said=say("m = {row}, n = {column}: {value}"),
        alt=say("Score at m = {m} and n = {n}: {score}", m=m, n=n, score=fixed(score)),
    )  # fmt: skip
    bar = heat.scale_bar(fixed(-limit, 1), fixed(limit, 1), middle="0")
    yield "map", live.drawing(markup + bar, rasters)
    yield "caption", live.drawing(style.caption(
        say("Move m: only the blue arrows turn. Move n: only the orange ones. Shift both: in each "
            "pair the angle between them stays, so the score stays {score}, and the map is the "
            "same along each diagonal: all it knows is m − n = {distance}.",
            score=fixed(score), distance=number(m - n)),
        say("From n to m pair {pair} turns by {turned} rad, and it adds {adds} to the score.",
            pair=scene.pair, turned=turned, adds=fixed(float(adds[scene.pair]))),
    ))  # fmt: skip
    yield "formula", formulas(
        pictures.FREQUENCY.markup(say, scene.theta, rope_theta=scene.rope_theta, i=scene.pair,
                                  head_dim=scene.head_dim),
        pictures.PAIR_SCORE.markup(
            say, float(adds[scene.pair]), q=one.q_length, k=one.k_length,
            phi=phase(scene), m=m, n=n, theta_i=scene.theta,
        ),
        say("θᵢ: how far pair i turns in one token · φ: the angle from k to q before they turn · "
            "head_dim: the numbers in one query or key"),
    )  # fmt: skip


def degrees(angle: float) -> str:
    """An angle in words."""
    return f"{math.degrees(angle):.0f}".replace("-", "−")


def phase(scene: Scene) -> float:
    """Angle of the query's chosen pair minus that of the key's, before any rotation."""
    q, k = (rope.polar(x, scene.layout)[1][scene.pair] for x in scene.vectors)
    return float(q - k)


def matrix(scene: Scene) -> Pictures:
    """The block-diagonal matrix beside the element-wise form, and what such matrices do."""
    m, n, layout, inv_freq = scene.q_position, scene.k_position, scene.layout, scene.inv_freq
    x = scene.vectors[0]
    rotation = rope.rotation_matrix(m, inv_freq, layout)
    size, filled = scene.head_dim, 2 * scene.head_dim
    yield "matrix:head", live.drawing(style.heading(
        say("R({m}), {size} × {size}", m=m, size=size),
        say("at most {filled} of {all} entries are not 0", filled=number(filled),
            all=number(size * size)),
    ))  # fmt: skip
    alt = say("Rotation matrix to position {m}; pair {pair} has cos {cos} and sin {sin}", m=m,
              pair=scene.pair, cos=fixed(math.cos(m * scene.theta)),
              sin=fixed(math.sin(m * scene.theta)))  # fmt: skip
    markup, rasters = pictures.matrix(rotation, m, scene.dims, alt, say)
    yield "matrix", live.drawing(markup + heat.scale_bar("−1", "1", middle="0"), rasters)
    cos, sin = rope.tables(m, inv_freq, layout)
    turned = rope.rotate_half(x, layout)
    first = min(scene.pair, max(scene.pairs - 4, 0))
    shown = range(first, min(first + 4, scene.pairs))
    half, rest = (range(size)[part] for part in rope.pair_slices(size, layout))
    dims = sorted([half[i] for i in shown] + [rest[i] for i in shown])
    yield "table:head", live.drawing(style.heading(
        say("What code computes instead"), say("pairs {first} to {last}", first=first,
                                               last=shown[-1]),
    ))  # fmt: skip
    rows = {"x": x, "cos": cos, "turned": turned, "sin": sin, "sum": x * cos + turned * sin,
            "product": rotation @ x}  # fmt: skip
    yield (
        "table",
        live.drawing(pictures.elementwise(dims, rows, layout=layout, chosen=scene.dims, _=say)),
    )
    elementwise = invariants.elementwise_residual(x, m, inv_freq, layout)
    yield "lamps", live.drawing(lamps([
        residual(say("element-wise form = matrix"), elementwise),
        residual(say("R({m}) R({n}) = R({sum})", m=m, n=n, sum=m + n),
                 invariants.sum_residual(inv_freq, m, n, layout)),
        residual(say("transpose of R({m}) = its inverse", m=m),
                 invariants.inverse_residual(inv_freq, m, layout)),
        residual(say("R({m}) transposed, times R({n}) = R({difference})", m=m, n=n,
                     difference=number(n - m)),
                 invariants.relative_residual(inv_freq, m, n, layout)),
    ]))  # fmt: skip
    a, b = scene.dims
    yield "caption", live.drawing(style.caption(
        say("The frame marks pair {pair}, dimensions {a} and {b}: each row has two entries, so "
            "{filled} multiplications do what {all} would. Over all {size} dimensions both ways "
            "differ by {off}. The last lamp is the reason for RoPE: between a query at {m} and a "
            "key at {n} stands only their distance.",
            pair=scene.pair, a=a, b=b, filled=number(filled), all=number(size * size), size=size,
            off=number(elementwise), m=m, n=n),
    ))  # fmt: skip
    yield "formula", formulas(
        pictures.TURNED[layout].markup(
            say, float(rows["sum"][a]), x=float(x[a]), m=m, theta_i=scene.theta,
            partner=float(turned[a]),
        ),
    )  # fmt: skip


def pairings(scene: Scene) -> Pictures:
    """Both pairings, the permutation between them, and what a mix-up does to scores."""
    order = rope.interleaved_to_half(scene.head_dim)
    q, k = rope.random_vectors(scene.pairs, "interleaved", SEED)
    residue = invariants.pairing_residual(q, scene.distance, scene.inv_freq)
    first = ", ".join(str(dim) for dim in order[:3])
    told = say("P = [{first}, …, {odd}, …]", first=first, odd=order[scene.pairs])
    if scene.head_dim <= 8:
        told = f"P = [{', '.join(map(str, order))}]"
    yield "strips:head", live.drawing(style.heading(
        say("Two pairings, one map"), told,
        [(say("pair {pair}", pair=scene.pair), QUERY, "solid")],
    ))  # fmt: skip
    places = say("{i} and {j}", i=scene.pair, j=scene.pair + scene.pairs)
    yield "strips", live.drawing(pictures.pairings(
        order, scene.pair, say("Pair {pair}: dimensions {a} and {b} interleaved, {places} in "
                               "halves", pair=scene.pair, a=2 * scene.pair, b=2 * scene.pair + 1,
                               places=places), say))  # fmt: skip
    yield "lamps", live.drawing(lamps([
        Lamp(say("half(P x) = P interleaved(x), at position {m}", m=scene.distance),
             number(residue), say("largest difference of {size} numbers", size=scene.head_dim),
             residue == 0.0),
    ]))  # fmt: skip
    size = math.sqrt(scene.head_dim)
    right, wrong = (
        rope.score_curve(q, k, NEAR + 1, scene.inv_freq, layout) / size
        for layout in ("interleaved", "half")
    )
    reach = distance.bins(NEAR + 1, NEAR + 1, "linear")
    error = rope.mixup_error(scene.inv_freq, reach)
    here = scene.distance
    far = number(float(error[here]))
    yield "mixup:head", live.drawing(style.heading(
        say("Interleaved weights, rotated in halves"),
        say("at {distance}: {right} right, {wrong} mixed up", distance=here,
            right=fixed(float(right[here])), wrong=fixed(float(wrong[here]))),
        [(say("right"), "rope", "solid"), (say("mixed up"), "alarm", "dash"),
         (say("error over random q and k"), "ink", "dot")],
    ))  # fmt: skip
    yield "mixup", live.figure(
        curves(
            reach, [(say("error, root mean square"), "ink", "2px,2px", error),
                    (say("mixed up"), "alarm", "6px,3px", wrong),
                    (say("right"), "rope", "", right)],
            title=say("distance between query and key, tokens"), value=say("scaled score"),
            low=-5.5, high=5.5, at=here, at_label=str(here),
        ),
        say("At distance {distance} the error over random vectors is {error}", distance=here,
            error=plain_text(far)),
    )  # fmt: skip
    yield "caption", live.drawing(style.caption(
        say("At distance 0 both scores are {same}: whoever tests one token, or equal positions, "
            "sees nothing. The error over random q and k is {zero} at 0, {one} at 1 and {far} at "
            "{distance}, while the scores' own root mean square is 1. Neither pairing is wrong; "
            "weights made for one and run in the other are.",
            same=fixed(float(right[0])), zero=number(float(error[0])),
            one=number(float(error[1])), far=far, distance=here),
    ))  # fmt: skip


def decay(scene: Scene) -> Pictures:
    """Scores by distance for four choices of q and k, and the bound that is called decay."""
    size = math.sqrt(scene.head_dim)
    reach = distance.bins(REACH + 1, REACH + 1, "linear")
    same = distance.rope_scores(scene.inv_freq, REACH + 1)
    ones = [1.0] * scene.head_dim
    key = rope.peaked_key(ones, scene.peak, scene.inv_freq)
    peaked = rope.score_curve(ones, key, REACH + 1, scene.inv_freq) / size
    band = distance.random_band(scene.inv_freq, reach[::8])
    lowest, rises = int(same.argmin()), int((same[1:] > same[:-1]).sum())
    top = float(same[0])
    yield "scores:head", live.drawing(style.heading(
        say("Score by distance"),
        say("at {peak}: q = k {same}, aimed key {peaked}", peak=scene.peak,
            same=fixed(float(same[scene.peak]), 2), peaked=fixed(float(peaked[scene.peak]), 2)),
        [(say("q = k = 1"), "rope", "solid"), (say("key aimed at {peak}", peak=scene.peak), KEY,
                                               "dash"),
         (say("random q and k: mean, 80 %"), "random", "band")],
    ))  # fmt: skip
    yield "scores", live.figure(
        curves(
            reach, [(say("key aimed"), KEY, "6px,3px", peaked), (say("q = k"), "rope", "", same)],
            title=say("distance between query and key, tokens"), value=say("scaled score"),
            low=-5.0, high=17.0, at=scene.peak, at_label=say("aimed at {peak}", peak=scene.peak),
            band=(say("random"), band), apart=8,
        ),
        say("With q = k the score is {top} at 0 and {low} at {lowest}", top=fixed(top, 2),
            low=fixed(float(same[lowest]), 2), lowest=lowest),
    )  # fmt: skip
    steps = rope.decay_bound(scene.head_dim, scene.rope_theta, reach)
    bound = rope.score_bound(ones, ones, reach, scene.inv_freq) / size
    yield "bound:head", live.drawing(style.heading(
        say("RoFormer's bound, and the score it bounds"),
        say("at 0: {bound} and {score}", bound=number(float(bound[0])), score=fixed(top, 2)),
        [(say("bound for q = k"), "ink", "dash"), (say("size of the score"), "rope", "solid")],
    ))  # fmt: skip
    yield "bound", live.figure(
        curves(
            reach, [(say("bound"), "ink", "6px,3px", bound),
                    (say("size of the score"), "rope", "", abs(same).clip(1e-3))],
            title=say("distance between query and key, tokens"), value=say("scaled score"),
            low=-1.5, high=3.2, log=((0.1, "0.1"), (1.0, "1"), (10.0, "10"), (100.0, "100"),
                                     (1000.0, "1,000")),
        ),
        say("The bound is {bound} at 0 and {far} at {reach}", bound=number(float(bound[0])),
            far=number(float(bound[-1])), reach=number(REACH)),
    )  # fmt: skip
    yield "caption", live.drawing(style.caption(
        say("With q = k the score falls from {top} to {low} at distance {lowest}, not steadily: it "
            "rises at {rises} of {reach} steps. Random q and k do not fade at all. A key can be "
            "aimed: this one has its largest score, {top}, exactly {peak} back.",
            top=fixed(top, 2), low=fixed(float(same[lowest]), 2), lowest=number(lowest),
            rises=number(rises), reach=number(REACH), peak=token_count(scene.peak, say)),
        say("RoFormer's curve of decay, the mean of partial sums, begins at {start} and is a "
            "ceiling: times a factor, it lies above every score. It does not say how far below it "
            "a score is.", start=number(float(steps[0]))),
    ))  # fmt: skip
    yield "formula", formulas(
        pictures.SAME.markup(say),
        pictures.BOUND.markup(say, float(steps[0]), head_dim=scene.head_dim),
    )  # fmt: skip


def gains(scene: Scene, spread: float) -> tuple[rope.Floats, rope.Floats]:
    """Gain of queries and of keys."""
    kind, size, layout = scene.gain, scene.head_dim, scene.layout
    return (
        qk_norm.random_gain(kind, size, layout, 0, spread),
        qk_norm.random_gain(kind, size, layout, 1, spread),
    )


def norm_maps(scene: Scene, spread: float) -> list[rope.Floats]:
    """Scores at each m and n, with the norm before and after RoPE."""
    rows, keys = ([list(x)] * PLACES for x in scene.vectors)
    q_gain, k_gain = gains(scene, spread)
    return [
        qk_norm.scores(rows, keys, scene.inv_freq, order, q_gain, k_gain, scene.layout)
        for order in qk_norm.ORDERS
    ]


def norm(scene: Scene) -> Pictures:
    """QK-norm before or after RoPE: the same, unless a gain differs within a pair."""
    m, n, layout, inv_freq = scene.q_position, scene.k_position, scene.layout, scene.inv_freq
    q, k = scene.vectors
    q_gain, k_gain = gains(scene, scene.spread)
    shifts = distance.bins(NEAR + 1, NEAR + 1, "linear")
    before, after = (
        qk_norm.shifted_scores(q, k, (m, n), shifts, inv_freq, order, q_gain, k_gain, layout)
        for order in qk_norm.ORDERS
    )
    # Axes that stand while the spread moves, and hold all that its largest value brings.
    limit = math.ceil(1.1 * max(float(abs(one).max()) for one in norm_maps(scene, SPREAD.high)))
    fits = all(qk_norm.equal_within_pairs(gain, scene.pairs, layout) for gain in (q_gain, k_gain))
    yield "moved:head", live.drawing(style.heading(
        say("Both tokens moved: does the score stay?"), "",
        [(say("norm before RoPE"), "rope", "solid"), (say("norm after RoPE"), KEY, "dash")],
    ))  # fmt: skip
    yield "moved", live.figure(
        curves(
            shifts, [(say("before"), "rope", "", before), (say("after"), KEY, "6px,3px", after)],
            title=say("query and key moved by so many tokens"), value=say("scaled score"),
            low=-limit, high=limit,
        ),
        say("Before RoPE the score is {before} wherever both stand; after it, between {low} and "
            "{high}", before=fixed(float(before[0])), low=fixed(float(after.min())),
            high=fixed(float(after.max()))),
    )  # fmt: skip
    first, second = norm_maps(scene, scene.spread)
    gap, half = first - second, limit / 2.0
    yield "gap:head", live.drawing(style.heading(
        say("Before minus after, at each m and n"), say("drag: it moves both tokens"),
    ))  # fmt: skip
    markup, rasters = heat.heat_map(
        "gap", gap, low=-half, high=half, marks=[(m, n)], width=430,
        rows=heat.Axis(say("query position m"), handle="q_position", chosen=m),
        columns=heat.Axis(say("key position n"), handle="k_position", chosen=n),
        said=say("m = {row}, n = {column}: {value}"),
        alt=say("Difference at m = {m} and n = {n}: {gap}", m=m, n=n,
                gap=fixed(float(gap[m, n]))),
    )  # fmt: skip
    bar = heat.scale_bar(fixed(-half, 1), fixed(half, 1), middle="0")
    yield "gap", live.drawing(markup + bar, rasters)
    largest = float(abs(gap).max())
    yield "lamps", live.drawing(lamps([
        Lamp(say("score at m = {m}, n = {n}: before, after", m=m, n=n),
             f"{fixed(float(before[0]))}, {fixed(float(after[0]))}"),
        Lamp(say("largest difference on the map"), number(largest), "", largest < ROUNDING),
        Lamp(say("gains equal within each pair"), say("yes") if fits else say("no")),
        Lamp(say("spread of the score while both move: before, after"),
             f"{number(float(before.max() - before.min()))}, "
             f"{number(float(after.max() - after.min()))}"),
    ]))  # fmt: skip
    if largest < ROUNDING:
        told = say("A rotation keeps lengths, and this gain is the same for both dimensions of "
                   "each pair, so norm and rotation can change places: largest difference {gap}.",
                   gap=number(largest))  # fmt: skip
    else:
        told = say("The norm itself does not care where it stands. Its gain does: it stretches the "
                   "two dimensions of a pair differently, and after RoPE the score of the same two "
                   "tokens runs from {low} to {high} as both move. It no longer depends on their "
                   "distance alone; before RoPE it stays {before}.",
                   low=fixed(float(after.min())), high=fixed(float(after.max())),
                   before=fixed(float(before[0])))  # fmt: skip
    yield "caption", live.drawing(style.caption(told))


def mla(scene: Scene) -> Pictures:
    """Decoupled RoPE: what absorbing the unpacking matrix needs, and what the cache saves."""
    dims = MLA(kv_lora_rank=scene.kv_lora_rank, qk_rope_head_dim=scene.qk_rope_head_dim)
    found = {
        "inside": absorption(dims, TOKENS, rotated_inside=True, rope_theta=scene.rope_theta),
        "beside": absorption(dims, TOKENS, rotated_inside=False, rope_theta=scene.rope_theta),
    }
    titles = {"inside": say("Key rotated inside"), "beside": say("Rotated beside: decoupled")}
    for name, one in found.items():
        share = (one.absorbed - one.unpacked) / abs(one.unpacked).max()
        yield f"{name}:head", live.drawing(style.heading(
            titles[name], say("error up to {error}", error=percent(one.residual)),
        ))  # fmt: skip
        markup, rasters = heat.heat_map(
            name, share, low=-1.0, high=1.0, width=380,
            rows=heat.Axis(say("query position")), columns=heat.Axis(say("key position")),
            said=say("query {row}, key {column}: error {value}"),
            alt=say("{title}: largest error {error} of the largest score", title=titles[name],
                    error=plain_text(percent(one.residual))),
        )  # fmt: skip
        bar = heat.scale_bar("−100 %", "100 %", middle="0")
        yield name, live.drawing(markup + bar, rasters)
    heads = scene.num_heads
    whole, own = dims.mha_cache_entries(heads), dims.cache_entries
    grouped = dims.mha_cache_entries(min(8, heads))
    longest = dims.mha_cache_entries(int(params.NUM_HEADS.high))
    yield "cache:head", live.drawing(style.heading(
        say("Numbers kept per token and layer"),
        say("{share} of those of {heads}", share=percent(own / whole),
            heads=counted(heads, "1 ordinary head", "{count} ordinary heads", say)),
    ))  # fmt: skip
    yield "cache", live.drawing(pictures.bars(
        [
            pictures.Bar(say("MLA"), "rope", own, number(own)),
            pictures.Bar(counted(min(8, heads), "GQA, 1 key-value head",
                                 "GQA, {count} key-value heads", say), "random",
                         grouped, number(grouped)),
            pictures.Bar(counted(heads, "MHA, 1 head", "MHA, {count} heads", say), "quiet", whole,
                         number(whole)),
        ],
        longest, say("MLA {own}, MHA {whole}", own=number(own), whole=number(whole)),
    ))  # fmt: skip
    yield "caption", live.drawing(style.caption(
        say("Rotated inside, a rotation that depends on the distance stands between query and "
            "cache. No fixed matrix replaces it; one that tries is off by {inside} of the largest "
            "score and right on the diagonal alone. Decoupled, {rope} dimensions of their own "
            "rotate beside the compressed {rank}, and the error is {beside}. A token costs {own} "
            "numbers instead of {whole}.",
            inside=percent(found["inside"].residual), beside=percent(found["beside"].residual),
            rope=scene.qk_rope_head_dim, rank=scene.kv_lora_rank, own=number(own),
            whole=number(whole)),
    ))  # fmt: skip
    yield "formula", formulas(
        pictures.MLA_CACHE.markup(say, own, kv_lora_rank=dims.kv_lora_rank,
                                  qk_rope_head_dim=dims.qk_rope_head_dim),
        pictures.MHA_CACHE.markup(say, whole, num_heads=heads, v_head_dim=dims.v_head_dim,
                                  qk_nope_head_dim=dims.qk_nope_head_dim),
    )  # fmt: skip


def percent(share: float) -> str:
    """A share of the whole; rounding is told as a power of ten."""
    return f"{100 * share:.1f} %" if share >= 1e-3 or not share else number(share)


def partial(scene: Scene) -> Pictures:
    """Partial rotary: the first dimensions rotate, the others keep what they are."""
    size, factor, m = scene.head_dim, scene.partial_rotary_factor, scene.q_position
    truncated, problem = int(size * factor), ""
    try:
        turning = rope.rotary_dim(size, factor)
    except params.InvalidParameterError as refused:
        problem = say("{sentence}.", sentence=complaint(refused))
        turning = truncated - truncated % 2
    x = scene.vectors[0]
    inv_freq = rope.inv_freq(turning, scene.rope_theta) if turning else None
    after = x if inv_freq is None else rope.rotate(x, m, inv_freq)
    yield "dims:head", live.drawing(style.heading(
        say("A query's dimensions at position {m}", m=m), say("outlined: before rotation"),
    ))  # fmt: skip
    yield "dims", live.drawing(pictures.dimensions(
        x, after, truncated, say("{turning} of {size} dimensions rotate", turning=turning,
                                 size=size), say))  # fmt: skip
    reach = distance.bins(NEAR + 1, NEAR + 1, "linear")
    scale = math.sqrt(size)
    whole = distance.rope_scores(rope.inv_freq(size, scene.rope_theta), NEAR + 1)
    still = (size - turning) / scale
    some = whole * 0.0 + still
    if inv_freq is not None:
        ones = [1.0] * turning
        some = some + rope.score_curve(ones, ones, NEAR + 1, inv_freq) / scale
    yield "floor:head", live.drawing(style.heading(
        say("Score by distance, q = k = 1"),
        say("{still} of {top} never change", still=fixed(still, 2),
            top=fixed(float(some[0]), 2)),
        [(say("partial, {turning} of {size}", turning=turning, size=size), "rope", "solid"),
         (say("all dimensions"), "quiet", "dash"), (say("what does not rotate"), "ink", "dot")],
    ))  # fmt: skip
    yield "floor", live.figure(
        curves(
            reach, [(say("what does not rotate"), "ink", "2px,2px", whole * 0.0 + still),
                    (say("all"), "quiet", "6px,3px", whole), (say("partial"), "rope", "", some)],
            title=say("distance between query and key, tokens"), value=say("scaled score"),
            low=-5.0, high=17.0,
        ),
        say("{still} of {top} do not depend on distance", still=fixed(still, 2),
            top=fixed(float(some[0]), 2)),
    )  # fmt: skip
    template = ("The first {turning} of {size} dimensions rotate, as {pairs} (i, i + {half}); the "
                "other {rest} compare content alone, at any distance. The product is cut, not "
                "rounded.")  # fmt: skip
    if turning == size:
        template = "All {size} dimensions rotate, as {pairs} (i, i + {half})."
    told = say(template, turning=turning, size=size, rest=size - turning, half=turning // 2,
               pairs=counted(turning // 2, "1 pair", "{count} pairs", say))  # fmt: skip
    exact = size * factor
    if round(exact, 6) >= truncated + 1:
        told += " " + say("In floating point {size} × {factor} is {product}, so {truncated} are "
                          "left.", size=size, factor=number(factor), product=repr(exact),
                          truncated=truncated)  # fmt: skip
    if problem:
        told = f'<span class="pv-notice" role="alert">{problem}</span> ' + say(
            "A model with {size} × {factor} does not start; the pictures show {turning} rotating "
            "dimensions instead.", size=size, factor=number(factor), turning=turning,
        )  # fmt: skip
    told_formulas = [
        pictures.ROTARY_DIM.markup(say, truncated, head_dim=size, partial_rotary_factor=factor)
    ]
    if inv_freq is not None:
        last = turning // 2 - 1
        told_formulas.append(pictures.PARTIAL_FREQUENCY.markup(
            say, float(inv_freq[last]), rope_theta=scene.rope_theta, i=last, rotary_dim=turning,
        ))  # fmt: skip
    yield "caption", live.drawing(style.caption(told))
    yield "formula", formulas(*told_formulas)


def cache(scene: Scene) -> Pictures:
    """Why RoPE fits a cache and fused kernels: keys turn once, and nothing is added to scores."""
    (q, k), inv_freq, newest = scene.vectors, scene.inv_freq, scene.cached - 1
    size = math.sqrt(scene.head_dim)
    places = range(scene.cached)
    from_cache = rope.scores(q, k, newest, places, inv_freq, scene.layout)[0] / size
    afresh = [float(rope.pair_scores(q, k, newest - n, inv_freq, scene.layout).sum()) / size
              for n in places]  # fmt: skip
    kept = max(abs(float(a) - b) for a, b in zip(from_cache, afresh, strict=True))
    slower = rope.inv_freq(scene.head_dim, 2.0 * scene.rope_theta)
    query = rope.rotate(q, newest, slower, scene.layout)
    stale = rope.rotate(k, places, inv_freq, scene.layout) @ query / size
    fresh = rope.scores(q, k, newest, places, slower, scene.layout)[0] / size
    outdated = float(abs(stale - fresh).max())
    theta = scene.theta
    start = [float(rope.polar(x, scene.layout)[1][scene.pair]) for x in (q, k)]
    yield "keys:head", live.drawing(style.heading(
        say("Pair {pair} of each cached key", pair=scene.pair),
        say("rotated once, when it came"),
        [(say("query"), QUERY, "solid"), (say("key"), KEY, "solid")],
    ))  # fmt: skip
    yield "keys", live.drawing(pictures.cache(
        [start[1] + n * theta for n in places], start[0] + newest * theta, from_cache,
        say("{keys}; the newest score is {score}",
            keys=counted(scene.cached, "1 key", "{count} keys", say),
            score=fixed(float(from_cache[-1]))), say))  # fmt: skip
    yield "lamps", live.drawing(lamps([
        Lamp(say("scores from the cache = from distances alone"), number(kept),
             say("largest difference"), kept < ROUNDING),
        Lamp(say("the base doubles meanwhile, old keys stay"), number(outdated),
             say("largest error of a score"), outdated < ROUNDING),
    ]))  # fmt: skip
    shown = [catalog.get(name) for name in BESIDE]
    entries = {one.name: one.bias_entries(scene.seq_len, scene.num_heads) for one in shown}
    rows = [(say(one.label), f"{entries[one.name]:,}", say(one.serving.short)) for one in shown]
    yield "table:head", live.drawing(style.heading(
        say("Numbers added to the L × L scores"),
        say("L = {length}, {heads}", length=number(scene.seq_len),
            heads=counted(scene.num_heads, "1 head", "{count} heads", say)),
    ))  # fmt: skip
    yield "table", live.drawing(pictures.table(
        [say("encoding"), say("if written out"), say("key cache, fused attention")], rows,
        say("RoPE adds {rope}, ALiBi {alibi}", rope=number(entries["rope"]),
            alibi=f"{entries['alibi']:,}")))  # fmt: skip
    yield "caption", live.drawing(style.caption(
        say("Add tokens: one key turns and one query, all older arrows stay as they are. Their "
            "scores are right all the same, to {kept}, because a score only asks for the distance. "
            "And scores get no further term: ALiBi, written out, would bring {alibi} numbers. What "
            "breaks the cache is a base that changes while it fills: doubled, it makes a score "
            "wrong by {outdated}.",
            kept=number(kept), alibi=f"{entries['alibi']:,}", outdated=number(outdated)),
    ))  # fmt: skip


DRAWN: dict[str, Callable[[Scene], Pictures]] = {
    "pair": pair, "matrix": matrix, "pairings": pairings, "decay": decay, "norm": norm, "mla": mla,
    "partial": partial, "cache": cache,
}  # fmt: skip


VIEW = live.View("rope", parameters, draw, code=snippets.rope)
