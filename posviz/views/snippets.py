"""Scripts that compute a page's pictures out of the core, with the values of the moment.

One function per page: values in, Python out, by the name of the picture. What is put into a script
is put there as Python writes it (``repr``); tests run each script and compare its numbers with
those that the page shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from posviz import presets
from posviz.params import InvalidParameterError
from posviz.relative import t5_bucket_ranges
from posviz.rope import RoPE
from posviz.rope_scaling import RopeScaling
from posviz.rope_scaling import scaling as scaling_of

Scripts = dict[str, str]


def _script(body: str, **values: Any) -> str:
    """A script: ``{name}`` in it is a value, as Python writes it."""
    told = {name: repr(value) for name, value in values.items()}
    body = body.strip().format_map(told)
    apart = "" if body.startswith("from plotly") else "\n"
    return f"import plotly.graph_objects as go\n{apart}{body}{_SHOWN}"


_SHOWN = "\nfigure.show()\n"


def _numpy(body: str, **values: Any) -> str:
    """The same for a script that needs NumPy itself."""
    return "import numpy as np\n" + _script(body, **values)


# ------------------------------------------------------------------------------------- playground


def playground(**v: Any) -> Scripts:
    """Attention by distance, and extrapolation."""
    preset, trained = presets.get(v["model"]), v["original_max_position_embeddings"]
    method = scaling_of(
        v["rope_type"], factor=v["factor"], max_position_embeddings=trained,
        original_max_position_embeddings=trained,
        **(preset.method_keys if v["rope_type"] == preset.rope_type else {}),
    )  # fmt: skip
    as_weights, row = v["show"] == "weights", v["position"] + 1
    told = {
        **v, "method": method, "kind": _Name(type(method).__name__), "trained": trained,
        "row": row, "reach": row if as_weights else 4 * trained + 1,
        "x": _Name("np.where(starts == 0, 0.5, starts)" if v["axis"] == "log" else "starts"),
    }  # fmt: skip
    return {
        "attention": _numpy(_WEIGHTS if as_weights else _SCORES, **told),
        "extrapolation": _script(_UNSEEN if v["rope_type"] != "default" else _UNSEEN_PLAIN, **told),
    }


class _Name(str):
    """A name in Python, which stands in a script without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


_SCORES = """
from posviz import alibi, distance, rope
from posviz.rope_scaling import {kind}

method = {method}
inv_freq, attention_factor = method.frequencies(rope.RoPE({head_dim}, {rope_theta}), {row})
slope = alibi.slopes({num_heads})[{head} - 1]

starts = distance.bins({reach}, 260, {axis})
x = {x}
same = distance.rope_scores(inv_freq, {reach}, attention_factor)
waves = distance.sinusoidal_scores({reach}, {head_dim})
mean, low, high = distance.random_band(inv_freq, starts, attention_factor)

figure = go.Figure()
for name, lowest_and_highest in (("RoPE, q = k", same), ("sinusoidal", waves)):
    y = distance.envelope(lowest_and_highest, starts)
    figure.add_scatter(x=np.repeat(x, 2), y=y.T.ravel(), name=name)
for name, y in (("random q and k", mean), ("10 %", low), ("90 %", high)):
    figure.add_scatter(x=x, y=y, name=name)
figure.add_scatter(x=x, y=alibi.bias(slope, starts), name="ALiBi")
figure.update_xaxes(type={axis})
"""

_WEIGHTS = """
from posviz import alibi, distance, rope
from posviz.attention import softmax
from posviz.rope_scaling import {kind}

method = {method}
inv_freq, attention_factor = method.frequencies(rope.RoPE({head_dim}, {rope_theta}), {row})
slope = alibi.slopes({num_heads})[{head} - 1]

starts = distance.bins({row}, 260, {axis})
x = {x}
same = softmax(distance.rope_scores(inv_freq, {row}, attention_factor))
waves = softmax(distance.sinusoidal_scores({row}, {head_dim}))
mean, low, high = distance.random_band(inv_freq, starts, attention_factor, row={row})

figure = go.Figure()
for name, weights in (("RoPE, q = k", same), ("sinusoidal", waves)):
    y = distance.envelope(weights, starts).T.ravel()
    figure.add_scatter(x=np.repeat(x, 2), y=np.maximum(y, 1e-12), name=name)
straight = alibi.weights(slope, starts, {row})
for name, y in (("random", mean), ("10 %", low), ("90 %", high), ("ALiBi", straight)):
    figure.add_scatter(x=x, y=np.maximum(y, 1e-12), name=name)
figure.update_xaxes(type={axis})
figure.update_yaxes(type="log")
"""

_UNSEEN_PLAIN = """
from posviz import extrapolation, rope
from posviz.rope_scaling import NoScaling

trained = {trained}
plain = rope.RoPE({head_dim}, {rope_theta})
usable = extrapolation.usable_context(plain, NoScaling(), trained)
multiples = extrapolation.multiples(1.0, usable / trained)

share = extrapolation.unseen_share(plain, NoScaling(), trained, trained * multiples)
figure = go.Figure()
figure.add_scatter(x=multiples, y=100 * share, name="no scaling", line_shape="hv")
figure.update_xaxes(type="log", title="context length, in trained contexts")
"""

_UNSEEN = """
from posviz import extrapolation, rope
from posviz.rope_scaling import NoScaling, {kind}

method, trained = {method}, {trained}
plain = rope.RoPE({head_dim}, {rope_theta})
usable = extrapolation.usable_context(plain, method, trained)
multiples = extrapolation.multiples(1.0, usable / trained)

figure = go.Figure()
for name, scaling in (("no scaling", NoScaling()), ({rope_type}, method)):
    share = extrapolation.unseen_share(plain, scaling, trained, trained * multiples)
    figure.add_scatter(x=multiples, y=100 * share, name=name, line_shape="hv")
figure.update_xaxes(type="log", title="context length, in trained contexts")
"""


# ------------------------------------------------------------------------------------- sinusoidal


def sinusoidal(**v: Any) -> Scripts:
    """The table, the counter, the dot product, the shift matrix, likeness past training."""
    told = v | {"trained": v["original_max_position_embeddings"], "rows": 2 ** v["bits"],
                "width": 2 * v["bits"]}  # fmt: skip
    found = {
        "table": {"table": _TABLE}, "beyond": {"table": _TABLE, "likeness": _LIKENESS},
        "counter": {"counter": _COUNTER},
        "distance": {"product": _PRODUCT, "matrix": _SHIFT, "moved": _MOVED},
    }[v["part"]]  # fmt: skip
    return {name: _script(body, **told) for name, body in found.items()}


_TABLE = """
from posviz import sinusoidal

table = sinusoidal.table({seq_len}, {d_model}, {base}, {layout}, {spacing})
figure = go.Figure(go.Heatmap(z=table, zmin=-1, zmax=1, colorscale="RdBu"))
figure.update_layout(xaxis_title="dimension", yaxis_title="position")
figure.update_yaxes(autorange="reversed")
"""

_COUNTER = """
from plotly.subplots import make_subplots

from posviz import sinusoidal

positions, bits = list(range({rows})), {bits}
sines = sinusoidal.encoding(positions, 2 * bits, {base}, "halves", {spacing})[:, :bits]
half_turns = sinusoidal.half_turns(positions)
maps = dict(
    bits=1.0 - 2.0 * sinusoidal.bits(positions, bits),
    waves=sinusoidal.bit_waves(positions, bits),
    sines=sines,
    turned=1.0 - 2.0 * sinusoidal.bits(half_turns, bits),
)
figure = make_subplots(1, 4, subplot_titles=list(maps))
for column, z in enumerate(maps.values(), 1):
    figure.add_heatmap(z=z, zmin=-1, zmax=1, colorscale="RdBu", row=1, col=column)
figure.update_yaxes(autorange="reversed")
"""

_PRODUCT = """
from posviz import sinusoidal

offsets = list(range(-256, 257))
products = sinusoidal.dot_product(offsets, {d_model}, {base}, {spacing})
share = products / sinusoidal.dot_product(0, {d_model})
figure = go.Figure(go.Scatter(x=offsets, y=share))
figure.update_layout(xaxis_title="offset k, tokens", yaxis_title="dot product, 1 = d/2")
"""

_SHIFT = """
from posviz import sinusoidal

# M turns PE[p] into PE[p + k], whatever p is.
matrix = sinusoidal.shift_matrix({shift}, {d_model}, {base}, {layout}, {spacing})
figure = go.Figure(go.Heatmap(z=matrix, zmin=-1, zmax=1, colorscale="RdBu"))
figure.update_yaxes(autorange="reversed", scaleanchor="x")
"""

_MOVED = """
from posviz import sinusoidal

p, k = {position}, {shift}
here, there = sinusoidal.encoding([p, p + k], {d_model}, {base}, {layout}, {spacing})
matrix = sinusoidal.shift_matrix(k, {d_model}, {base}, {layout}, {spacing})
rows = [here, matrix @ here, there]
print("largest residual", abs(rows[1] - rows[2]).max())
names = [f"PE[{{p}}]", f"M·PE[{{p}}]", f"PE[{{p + k}}]"]
figure = go.Figure(go.Heatmap(z=rows, y=names, zmin=-1, zmax=1, colorscale="RdBu"))
figure.update_yaxes(autorange="reversed")
"""

_LIKENESS = """
from posviz import distance, measured, sinusoidal

trained = {trained}
positions = distance.bins(8 * trained + 1, 500, "log")[1:]
likeness = sinusoidal.likeness_to_trained(positions, trained, {d_model}, {base}, {spacing})
lengths, loss = measured.loss_share("names-sinusoidal")
figure = go.Figure()
figure.add_scatter(x=positions / trained, y=100 * likeness, name="most alike trained row, %")
figure.add_scatter(x=lengths, y=100 * loss, name="measured loss of a tiny model, %")
figure.update_xaxes(type="log", title="position, in trained contexts")
"""


# ------------------------------------------------------------------------------------------- RoPE


def rope(**v: Any) -> Scripts:
    """Scores, the matrix, pairings, decay, QK-norm, decoupled and partial rotation."""
    turning = int(v["head_dim"] * v["partial_rotary_factor"])
    found: dict[str, dict[str, str]] = {
        "pair": {"map": _MAP}, "matrix": {"matrix": _MATRIX}, "pairings": {"mixup": _MIXUP},
        "decay": {"scores": _DECAY, "bound": _BOUND}, "norm": {"moved": _NORM, "gap": _GAP},
        "mla": {"inside": _MLA, "beside": _MLA},
        "partial": {"floor": _PARTIAL if turning >= 2 else _UNTURNED}, "cache": {},
    }  # fmt: skip
    return {
        name: _script(body, **v, pairs=v["head_dim"] // 2, turning=turning - turning % 2,
                      inside=name == "inside")
        for name, body in found[v["part"]].items()
    }  # fmt: skip


_MAP = """
from posviz import rope

inv_freq = rope.inv_freq({head_dim}, {rope_theta})
q, k = rope.random_vectors({pairs}, {layout}, 5)
positions = range(64)
scores = rope.scores(q, k, positions, positions, inv_freq, {layout})
print("here", scores[{q_position}, {k_position}])
figure = go.Figure(go.Heatmap(z=scores, zmid=0, colorscale="RdBu"))
figure.update_layout(xaxis_title="key position n", yaxis_title="query position m")
figure.update_yaxes(autorange="reversed")
"""

_MATRIX = """
from posviz import rope

inv_freq = rope.inv_freq({head_dim}, {rope_theta})
rotation = rope.rotation_matrix({q_position}, inv_freq, {layout})
figure = go.Figure(go.Heatmap(z=rotation, zmin=-1, zmax=1, colorscale="RdBu"))
figure.update_yaxes(autorange="reversed", scaleanchor="x")
"""

_MIXUP = """
from posviz import rope

inv_freq = rope.inv_freq({head_dim}, {rope_theta})
q, k = rope.random_vectors({pairs}, "interleaved", 5)
distances = list(range(257))
figure = go.Figure()
for layout in ("interleaved", "half"):  # the weights' own pairing, and the other one
    scores = rope.score_curve(q, k, 257, inv_freq, layout) / {head_dim} ** 0.5
    figure.add_scatter(x=distances, y=scores, name=layout)
figure.add_scatter(x=distances, y=rope.mixup_error(inv_freq, distances), name="error")
figure.update_layout(xaxis_title="distance, tokens", yaxis_title="scaled score")
"""

_DECAY = """
from posviz import distance, rope

inv_freq = rope.inv_freq({head_dim}, {rope_theta})
distances = distance.bins(1025, 1025, "linear")
ones = [1.0] * {head_dim}
aimed = rope.score_curve(ones, rope.peaked_key(ones, {peak}, inv_freq), 1025, inv_freq)
mean, low, high = distance.random_band(inv_freq, distances[::8])

figure = go.Figure()
figure.add_scatter(x=distances, y=distance.rope_scores(inv_freq, 1025), name="q = k")
figure.add_scatter(x=distances, y=aimed / {head_dim} ** 0.5, name="key aimed")
for name, y in (("random q and k", mean), ("10 %", low), ("90 %", high)):
    figure.add_scatter(x=distances[::8], y=y, name=name)
figure.update_layout(xaxis_title="distance, tokens", yaxis_title="scaled score")
"""

_BOUND = """
from posviz import distance, rope

inv_freq = rope.inv_freq({head_dim}, {rope_theta})
distances = list(range(1025))
ones = [1.0] * {head_dim}
bound = rope.score_bound(ones, ones, distances, inv_freq) / {head_dim} ** 0.5
size = abs(distance.rope_scores(inv_freq, 1025)).clip(1e-3)
figure = go.Figure()
figure.add_scatter(x=distances, y=bound, name="RoFormer's bound")
figure.add_scatter(x=distances, y=size, name="size of the score")
figure.update_yaxes(type="log")
"""

_GAINS = """
from posviz import qk_norm, rope

inv_freq = rope.inv_freq({head_dim}, {rope_theta})
q, k = rope.random_vectors({pairs}, {layout}, 5)
q_gain = qk_norm.random_gain({gain}, {head_dim}, {layout}, 0, {spread})
k_gain = qk_norm.random_gain({gain}, {head_dim}, {layout}, 1, {spread})
"""

_NORM = (
    _GAINS
    + """
at, shifts = ({q_position}, {k_position}), list(range(257))
figure = go.Figure()
for order in qk_norm.ORDERS:  # the norm before and after RoPE
    scores = qk_norm.shifted_scores(q, k, at, shifts, inv_freq, order, q_gain, k_gain, {layout})
    figure.add_scatter(x=shifts, y=scores, name=order)
figure.update_layout(xaxis_title="query and key moved by, tokens", yaxis_title="scaled score")
"""
)

_GAP = (
    _GAINS
    + """
rows, keys = [list(q)] * 64, [list(k)] * 64
before, after = (
    qk_norm.scores(rows, keys, inv_freq, order, q_gain, k_gain, {layout})
    for order in qk_norm.ORDERS
)
figure = go.Figure(go.Heatmap(z=before - after, zmid=0, colorscale="RdBu"))
figure.update_layout(xaxis_title="key position n", yaxis_title="query position m")
figure.update_yaxes(autorange="reversed")
"""
)

_MLA = """
from posviz.mla import MLA, absorption

dims = MLA(kv_lora_rank={kv_lora_rank}, qk_rope_head_dim={qk_rope_head_dim})
found = absorption(dims, 24, rotated_inside={inside}, rope_theta={rope_theta})
error = (found.absorbed - found.unpacked) / abs(found.unpacked).max()
figure = go.Figure(go.Heatmap(z=error, zmin=-1, zmax=1, colorscale="RdBu"))
figure.update_layout(xaxis_title="key position", yaxis_title="query position")
figure.update_yaxes(autorange="reversed")
"""

_PARTIAL = """
from posviz import distance, rope

head_dim, turning = {head_dim}, {turning}
still = (head_dim - turning) / head_dim**0.5  # what does not rotate, with q = k = 1
ones = [1.0] * turning
turned = rope.score_curve(ones, ones, 257, rope.inv_freq(turning, {rope_theta}))
everything = distance.rope_scores(rope.inv_freq(head_dim, {rope_theta}), 257)
distances = list(range(257))
figure = go.Figure()
figure.add_scatter(x=distances, y=still + turned / head_dim**0.5, name="partial")
figure.add_scatter(x=distances, y=everything, name="all dimensions")
figure.add_scatter(x=distances, y=[still] * 257, name="what does not rotate")
"""

_UNTURNED = """
from posviz import distance, rope

head_dim = {head_dim}
still = head_dim / head_dim**0.5  # no dimension rotates, with q = k = 1
everything = distance.rope_scores(rope.inv_freq(head_dim, {rope_theta}), 257)
distances = list(range(257))
figure = go.Figure()
figure.add_scatter(x=distances, y=[still] * 257, name="partial")
figure.add_scatter(x=distances, y=everything, name="all dimensions")
"""


# ------------------------------------------------------------------------------------------ ALiBi


def alibi(**v: Any) -> Scripts:
    """Slopes, the three ways to store biases, weights, and what a window covers."""
    found: dict[str, dict[str, str]] = {
        "slopes": {"slopes": _SLOPES}, "bias": {"maps": _STORED},
        "weights": {"weights": _HEAD_WEIGHTS}, "length": {"covered": _COVERED},
    }  # fmt: skip
    told = v | {"trained": v["original_max_position_embeddings"], "kept": v["share"] / 100,
                "order": _Name("np.sort(slopes)[::-1]" if v["order"] == "sorted" else "slopes"),
                "symmetric": v["mask"] == "symmetric"}  # fmt: skip
    return {name: _numpy(body, **told) for name, body in found[v["part"]].items()}


_SLOPES = """
from posviz import alibi

slopes = alibi.slopes({num_heads}, {alibi_bias_max})
x = np.arange(1, {num_heads} + 1) / {num_heads}
figure = go.Figure()
figure.add_scatter(x=x, y={order}, name="released")
figure.add_scatter(x=x, y=alibi.paper_slopes({num_heads}), name="paper's formula")
figure.update_xaxes(title="share of the heads")
figure.update_yaxes(type="log", title="slope m")
"""

_STORED = """
from plotly.subplots import make_subplots

from posviz import alibi

slope = alibi.slopes({num_heads}, {alibi_bias_max})[{head} - 1]
stored = alibi.stored_biases(slope, {seq_len}, {symmetric})
figure = make_subplots(1, len(stored), subplot_titles=list(stored))
for column, z in enumerate(stored.values(), 1):
    z = np.where(np.isfinite(z), z, np.nan)  # what the causal mask hides
    figure.add_heatmap(z=z, zmin=-10, zmax=10, colorscale="RdBu", row=1, col=column)
figure.update_yaxes(autorange="reversed")
"""

_HEAD_WEIGHTS = """
from posviz import alibi, distance

slope = alibi.slopes({num_heads}, {alibi_bias_max})[{head} - 1]
starts = distance.bins({trained}, 90, "log")
weights = alibi.weights(slope, starts, {trained})
print("window of", {share}, "%:", alibi.window(slope, {kept}), "tokens")
figure = go.Figure()
figure.add_scatter(x=np.where(starts == 0, 0.5, starts), y=np.maximum(weights, 1e-10))
figure.update_xaxes(type="log", title="distance between query and key, tokens")
figure.update_yaxes(type="log", title="share of the weight")
"""

_COVERED = """
from posviz import alibi, extrapolation

slope = alibi.slopes({num_heads}, {alibi_bias_max})[{head} - 1]
window = alibi.window(slope, {kept})
multiples = extrapolation.multiples()
lengths = {trained} * multiples
figure = go.Figure()
figure.add_scatter(x=multiples, y=100 * alibi.within(slope, window, lengths), name="of the weight")
figure.add_scatter(x=multiples, y=100 * alibi.covered(slope, lengths, {kept}), name="of the text")
figure.update_xaxes(type="log", title="context length, in trained contexts")
figure.update_yaxes(type="log", title="inside the window, %")
"""


# --------------------------------------------------------------------------------- learned tables


def learned(**v: Any) -> Scripts:
    """How alike a table's rows are, what training changed, and the table drawn out."""
    found: dict[str, dict[str, str]] = {
        "rows": {"similarity": _SIMILARITY, "profile": _PROFILE, "numbers": _NUMBERS},
        "change": {"change": _CHANGE, "moved": _ROWS_MOVED, "effect": _EFFECT},
        "longer": {"near": _NEAR, "gaps": _GAPS},
    }  # fmt: skip
    told = v | {"model": f"names-learned-seed{v['seed']}"}
    return {name: _numpy(_OWN + body, **told) for name, body in found.get(v["part"], {}).items()}


_OWN = """
from posviz import learned
from posviz.models import tables

own = tables.table({model})  # trained, and as it began
"""

_SIMILARITY = """
similarity = learned.similarity(own.trained)
print("here", similarity[{position}, {other}])
figure = go.Figure(go.Heatmap(z=similarity, zmin=0, zmax=1, colorscale="Blues"))
figure.update_layout(xaxis_title="position q", yaxis_title="position p")
figure.update_yaxes(autorange="reversed")
"""

_PROFILE = """
x = np.arange(own.rows)
figure = go.Figure()
for name, table in (("trained", own.trained), ("before training", own.start)):
    figure.add_scatter(x=x, y=learned.similarity(table, {position}), name=name)
figure.update_layout(xaxis_title="position q", yaxis_title="cosine")
"""

_NUMBERS = """
rows = own.trained[[{position}, {other}]]
figure = go.Figure(go.Heatmap(z=rows, zmin=-0.12, zmax=0.12, colorscale="RdBu"))
figure.update_layout(xaxis_title="dimension")
figure.update_yaxes(autorange="reversed")
"""

_CHANGE = """
change = own.trained - own.start
figure = go.Figure(go.Heatmap(z=change.T, zmid=0, colorscale="RdBu"))
figure.update_layout(xaxis_title="position", yaxis_title="dimension")
figure.update_yaxes(autorange="reversed")
"""

_ROWS_MOVED = """
share = learned.row_sizes(own.trained - own.start) / learned.row_sizes(own.start)
figure = go.Figure(go.Scatter(x=np.arange(own.rows), y=100 * share))
figure.update_layout(xaxis_title="position", yaxis_title="moved, % of its length")
"""

_EFFECT = """
p = {position}
change = learned.similarity(own.trained, p) - learned.similarity(own.start, p)
figure = go.Figure(go.Scatter(x=np.arange(own.rows), y=change))
figure.update_layout(xaxis_title="position q", yaxis_title="change of cosine")
"""

_LONGER = """
n, p = round({factor} * own.rows), {place}
longer, read_at = learned.interpolate(own.trained, n), learned.read_at(n, own.rows)
"""

_NEAR = (
    _LONGER
    + """
figure = go.Figure()
for name, table, row in (("drawn out", longer, p), ("trained", own.trained, round(read_at[p]))):
    first, last = max(row - 24, 0), min(row + 24, len(table) - 1)
    alike = learned.similarity(table, row)[first : last + 1]
    figure.add_scatter(x=np.arange(first, last + 1) - row, y=alike, name=name)
figure.update_layout(xaxis_title="tokens away", yaxis_title="cosine")
"""
)

_GAPS = (
    _LONGER
    + """
figure = go.Figure()
own_rows = np.arange(own.rows)
for name, table, at in (("drawn out", longer, read_at), ("trained", own.trained, own_rows)):
    figure.add_scatter(x=(at[1:] + at[:-1]) / 2, y=learned.gaps(table), name=name)
figure.update_layout(xaxis_title="row of the trained table", yaxis_title="distance to the next row")
"""
)


# -------------------------------------------------------------------------------- relative biases


def relative(**v: Any) -> Scripts:
    """Shaw's rows and what they add, T5's biases, and what a bias takes in memory."""
    found: dict[str, dict[str, str]] = {
        "shaw": {"rows": _SHAW_ROWS, "table": _SHAW_TABLE, "scores": _SHAW_SCORES},
        "heads": {"bias": _T5_BIAS, "curve": _T5_CURVE}, "cost": {"memory": _MEMORY},
        "buckets": {"sizes": _BUCKETS},
    }  # fmt: skip
    told = v | {"each": int(v["bytes_per_number"]), "both": v["direction"] == "bidirectional"}
    try:
        t5_bucket_ranges(v["num_buckets"], v["max_distance"], told["both"])
    except InvalidParameterError:  # there are no such buckets
        found["buckets"] = {}
    return {name: _numpy(body, **told) for name, body in found[v["part"]].items()}


_SHAW_ROWS = """
from posviz import relative

rows = relative.shaw_index(64, None, {max_relative_position})
print("here", rows[{query}, {key}])
figure = go.Figure(go.Heatmap(z=rows, colorscale="RdBu"))
figure.update_layout(xaxis_title="key", yaxis_title="query")
figure.update_yaxes(autorange="reversed")
"""

_SHAW_TABLE = """
from posviz import relative

q, k, table = relative.shaw_random(64, {max_relative_position}, 16)
figure = go.Figure(go.Heatmap(z=table, zmid=0, colorscale="RdBu"))
figure.update_layout(xaxis_title="dimension of the vector a", yaxis_title="row of the table")
figure.update_yaxes(autorange="reversed")
"""

_SHAW_SCORES = """
from posviz import relative

q, k, table = relative.shaw_random(64, {max_relative_position}, 16)
place = relative.shaw_scores(q, 0 * k, table)[{query}]  # without what the keys say
figure = go.Figure(go.Scatter(x=np.arange(64), y=place, name="q·a / √d"))
figure.update_layout(xaxis_title="key", yaxis_title="added to the score")
"""

_BUCKETS = """
from posviz import relative

ranges = relative.t5_bucket_ranges({num_buckets}, {max_distance}, {both})
side = [one for one in ranges if one.nearest <= 0]  # keys before the query
starts = [-one.nearest for one in side]
sizes = np.repeat([one.size for one in side[:-1]], np.diff(starts))
distances = np.arange(len(sizes) + 1)  # the last bucket has all the rest
x = np.where(distances == 0, 0.4, distances)  # a logarithmic axis has no 0
figure = go.Figure(go.Scatter(x=x, y=np.append(sizes, sizes[-1]), line_shape="hv"))
figure.update_xaxes(type="log", title="distance, tokens")
figure.update_yaxes(type="log", title="distances in the bucket")
"""

_T5_BIAS = """
from posviz import attention, relative
from posviz.models import checkpoint

table = checkpoint.load({model}).weights["positions.table"].astype(float)
bias = relative.t5_bias(64, None, table, 128, bidirectional=False)[{head} - 1]
bias = np.where(attention.causal_mask(64), bias, np.nan)
print("here", bias[{query}, {key}])
figure = go.Figure(go.Heatmap(z=bias, zmin=-8, zmax=8, colorscale="RdBu"))
figure.update_layout(xaxis_title="key", yaxis_title="query")
figure.update_yaxes(autorange="reversed")
"""

_T5_CURVE = """
from posviz import alibi, relative
from posviz.models import checkpoint

table = checkpoint.load({model}).weights["positions.table"].astype(float)
# The last query's row, read backwards, is the bias by distance.
heads = relative.t5_bias(1, 256, table, 128, bidirectional=False)[:, 0, ::-1]
slope = alibi.slopes(len(heads))[{head} - 1]
distances = np.arange(256)
x = np.where(distances == 0, 0.4, distances)  # a logarithmic axis has no 0
figure = go.Figure()
for n, bias in enumerate(heads, 1):
    figure.add_scatter(x=x, y=bias, name=f"head {{n}}")
figure.add_scatter(x=x, y=alibi.bias(slope, distances), name="ALiBi, head {head}")
figure.update_xaxes(type="log", title="distance, tokens")
"""

_MEMORY = """
from posviz import relative

lengths = [*(128 << n for n in range(17)), 10_000_000]
memory = [relative.bias_memory(n, {num_heads}, {head_dim}, {each}) for n in lengths]
figure = go.Figure()
for name in ("bias", "qkv", "table", "slopes"):
    figure.add_scatter(x=lengths, y=[getattr(one, name) for one in memory], name=name)
figure.add_scatter(x=lengths, y=[80e9] * len(lengths), name="80 GB")
figure.update_xaxes(type="log", title="length, tokens")
figure.update_yaxes(type="log", title="bytes")
"""


# -------------------------------------------------------------------------------- scaling methods


def scaling(
    methods: Mapping[str, RopeScaling], plain: RoPE, *, part: str, trained: int, seq_len: int,
    back: int, show: str,
) -> Scripts:  # fmt: skip
    """Spectrum and slowdown, unseen angles, and attention by distance, of every method.

    Args:
        methods: By what they are called.
        plain: RoPE as trained.
        part: Of the page.
        trained: Trained context, tokens.
        seq_len: Context to be read, tokens.
        back: Distance that a head learned to look back, tokens.
        show: ``inv_freq`` or ``wavelength``.
    """
    kinds = sorted({type(one).__name__ for one in methods.values()})
    listed = "".join(f"    {name!r}: {one!r},\n" for name, one in methods.items())
    stretched = {name: one for name, one in methods.items() if name != "default"} or methods
    told = {
        "methods": _Name(f"{{\n{listed}}}"), "plain": plain, "seq_len": seq_len, "trained": trained,
        "back": back, "drawn": tuple(stretched),
    }  # fmt: skip
    found = {
        "spectrum": {"spectrum": _INV_FREQ if show == "inv_freq" else _WAVELENGTHS,
                     "ratios": _RATIOS},
        "angles": {"shares": _SHARES}, "attention": {"same": _SAME, "learned": _LEARNED},
    }  # fmt: skip
    scripts = {}
    for name, body in found.get(part, {}).items():
        used = [one for one in ("distance", "extrapolation", "rope") if f"{one}." in body]
        core = f"from posviz import {', '.join(used)}\n" if used else ""
        own = [*kinds, "effect"] if "effect(" in body else kinds
        head = (
            f"{core}from posviz.rope import RoPE\nfrom posviz.rope_scaling import {', '.join(own)}"
        )
        scripts[name] = _script(f"{head}\n\n{_METHODS}{body}", **told)
    return scripts


_METHODS = """plain = {plain}
methods = {methods}
figure = go.Figure()
"""

_INV_FREQ = """for name, method in methods.items():
    inv_freq, attention_factor = method.frequencies(plain, {seq_len})
    figure.add_scatter(x=list(range(len(inv_freq))), y=inv_freq, name=name)
figure.update_xaxes(title="pair")
figure.update_yaxes(type="log", title="inv_freq, radians a token")
"""

_WAVELENGTHS = """for name, method in methods.items():
    inv_freq, attention_factor = method.frequencies(plain, {seq_len})
    figure.add_scatter(x=list(range(len(inv_freq))), y=rope.wavelength(inv_freq), name=name)
figure.update_xaxes(title="pair")
figure.update_yaxes(type="log", title="tokens a turn")
"""

_RATIOS = """for name in {drawn}:
    slower = effect(methods[name], plain, {seq_len}).ratio
    figure.add_scatter(x=list(range(len(slower))), y=slower, name=name)
figure.update_xaxes(title="pair")
figure.update_yaxes(type="log", title="times slower")
"""

_SHARES = """trained = {trained}
usable = [extrapolation.usable_context(plain, one, trained) for one in methods.values()]
multiples = extrapolation.multiples(1.0, *(one / trained for one in usable), count=97)
for name, method in methods.items():
    share = extrapolation.unseen_share(plain, method, trained, trained * multiples)
    figure.add_scatter(x=multiples, y=100 * share, name=name, line_shape="hv")
figure.update_xaxes(type="log", title="context length, in trained contexts")
figure.update_yaxes(title="pairs at unseen angles, %")
"""

_SAME = """reach = 16 * {trained}
starts = distance.bins(reach, 100, "log")[:-1]
for name, method in methods.items():
    inv_freq, attention_factor = method.frequencies(plain, {seq_len})
    mean = distance.mean_scores(inv_freq, starts, reach, attention_factor)
    figure.add_scatter(x=starts.clip(0.5), y=mean, name=name)
figure.update_xaxes(type="log", title="distance, tokens")
figure.update_yaxes(title="mean score, q = k")
"""

_LEARNED = """starts = distance.bins(20_000, 200, "log")[:-1]
for name, method in methods.items():
    inv_freq, attention_factor = method.frequencies(plain, {seq_len})
    scores = distance.learned_scores(plain, inv_freq, {back}, 20_000, attention_factor)
    print(name, "looks", scores.argmax(), "tokens back")
    highest = distance.envelope(scores, starts)[1]
    figure.add_scatter(x=starts.clip(0.5), y=highest, name=name)
figure.update_xaxes(type="log", title="distance, tokens")
"""


# -------------------------------------------------------------------------------- released models


def models(**v: Any) -> Scripts:
    """Tokens a turn of every pair of the model, and of the one beside it."""
    names = [name for name in (v["model"], v["beside"]) if name != "nothing"]
    try:
        rotary = [name for name in names if presets.main_rotary(name) is not None]
    except InvalidParameterError:  # a file that cannot be read
        return {}
    if names[0] not in rotary:
        return {}
    return {"spectrum": _numpy(_RELEASED, **v, names=tuple(rotary))}


_RELEASED = """
from posviz import presets, rope

figure = go.Figure()
for name in {names}:
    for one in presets.reading(name).rotary:
        inv_freq, attention_factor = one.frequencies({seq_len})
        wavelength = rope.wavelength(inv_freq)
        turning = np.flatnonzero(np.isfinite(wavelength))  # the others stand still
        figure.add_scatter(x=turning, y=wavelength[turning], name=f"{{name}} {{one.layer_type}}")
figure.update_xaxes(title="pair")
figure.update_yaxes(type="log", title="tokens a turn")
"""


# ---------------------------------------------------------------------------- extrapolation lab


def lab(
    families: Sequence[str], model: str, way: tuple[str, float] | None, *, published: bool
) -> Scripts:
    """What was measured of every family and, if it was before, of the setting.

    Args:
        families: Of trained models.
        model: The chosen one.
        way: Method and factor of the setting; None if it was not measured before.
        published: Whether a published table stands beside ours; it has the general script.
    """
    told = {"families": tuple(families), "model": model, "way": way or ("default", 1.0)}
    body = _LAB + (_MEASURED if way else "")
    found = {} if published else {"perplexity": _numpy(body + _PERPLEXITY, **told)}
    return found | {"repeated": _numpy(body.replace("nats", "repeated") + _REPEATED, **told)}


_LAB = """
from posviz import measured

curves = dict()  # nats a character by context length, mean over seeds
for family in {families}:
    band = measured.band(family, quantity="nats")
    curves[family] = band.lengths, band.mean
"""

_MEASURED = """found = measured.curve({model}, *{way})
curves["this setting"] = found.lengths, found.nats
"""

_PERPLEXITY = """curves["floor"] = measured.LENGTHS, measured.floor()
figure = go.Figure()
for name, (lengths, nats) in curves.items():
    seen = np.isfinite(nats)
    figure.add_scatter(x=np.array(lengths)[seen], y=np.exp(nats[seen]), name=name)
figure.update_xaxes(type="log", title="context length, tokens")
figure.update_yaxes(type="log", title="perplexity per character")
"""

_REPEATED = """curves["floor"] = measured.LENGTHS, measured.repeated_floor()
figure = go.Figure()
for name, (lengths, nats) in curves.items():
    seen = np.isfinite(nats)
    figure.add_scatter(x=np.array(lengths)[seen], y=nats[seen], name=name)
figure.update_xaxes(type="log", title="context length, tokens")
figure.update_yaxes(title="nats per letter of a name read before")
"""


# --------------------------------------------------------------------------------- Transformer-XL


def transformer_xl(**v: Any) -> Scripts:
    """The terms and their sum, what a place adds in the next segment, terms by distance, R."""
    found: dict[str, dict[str, str]] = {
        "terms": {"maps": _TERMS if v["form"] == "relative" else _TERMS_BEFORE},
        "memory": {"repeats": _REPEATS}, "shift": {},
        "distance": {"curves": _BY_DISTANCE, "R": _POSITIONS},
    }  # fmt: skip
    told = v | {"k_len": v["memory"] + v["q_len"]}
    return {name: _numpy(body, **told) for name, body in found[v["part"]].items()}


_FOUR = """
maps = dict(a=terms.a[0], b=terms.b[0], c=terms.c[0], d=terms.d[0], sum=terms.total[0])
figure = make_subplots(1, 5, subplot_titles=list(maps))
for column, z in enumerate(maps.values(), 1):
    z = np.where(terms.visible, z, np.nan)  # keys ahead are hidden
    figure.add_heatmap(z=z, zmid=0, colorscale="RdBu", row=1, col=column)
figure.update_yaxes(autorange="reversed")
"""

_TERMS = """
from plotly.subplots import make_subplots

from posviz import transformer_xl

head = transformer_xl.random_head(64, 16, seed=4)
x = transformer_xl.tokens({k_len}, 64)
terms, product = head.relative(x, {q_len}, {u}, {v})
print("sum of terms - direct product", terms.residual(product))
""" + _FOUR.lstrip()

_TERMS_BEFORE = """
from plotly.subplots import make_subplots

from posviz import transformer_xl

head = transformer_xl.random_head(64, 16, seed=4)
x = transformer_xl.tokens({k_len}, 64)
places = range({shift}, {shift} + {k_len})  # where the text stands
terms, product = head.absolute(x, {q_len}, places[{memory}:], places)
print("sum of terms - direct product", terms.residual(product))
""" + _FOUR.lstrip()

_REPEATS = """
from posviz import transformer_xl

length, asker = {length}, {asker}
head = transformer_xl.random_head(64, 16, seed=4)
x = transformer_xl.tokens(2 * length, 64, seed=9)
indices = [*range(length), *range(length)]  # each segment counts from 0
absolute, _ = head.absolute(x, length, indices[length:], indices)
relative, _ = head.relative(x, length)
figure = go.Figure()
for name, one in (("by absolute index", absolute), ("by distance", relative)):
    added = (one.b + one.d)[0, asker, : length + asker + 1]
    figure.add_scatter(x=np.arange(len(added)), y=added, name=name)
figure.update_layout(xaxis_title="key", yaxis_title="b + d")
"""

_BY_DISTANCE = """
from posviz import transformer_xl

head = transformer_xl.random_head(64, 16, seed=4)
x = transformer_xl.tokens(256, 64, {token})
terms, product = head.relative(x, 1, v={v}, clamp_len={clamp_len})
figure = go.Figure()
for name, one in (("b, this query", terms.b), ("d, any query", terms.d)):
    figure.add_scatter(x=np.arange(256), y=one[0, 0, ::-1], name=name)  # keys from far to near
figure.update_layout(xaxis_title="distance, tokens", yaxis_title="term")
"""

_POSITIONS = """
from posviz import transformer_xl

table = transformer_xl.position_encoding(256, 64, {clamp_len})  # distances from far to 0
figure = go.Figure(go.Heatmap(z=table, zmin=-1, zmax=1, colorscale="RdBu"))
figure.update_layout(xaxis_title="dimension", yaxis_title="row: 255 - distance")
figure.update_yaxes(autorange="reversed")
"""


# ---------------------------------------------------------------------------------------- compare


def compare(families: Sequence[str], points: int, words: int, **v: Any) -> Scripts:
    """Encodings by distance, and what was measured past the trained length.

    Args:
        families: Of trained models, measured.
        points: Of a curve over distance.
        words: Of the text, of which the first ``seq_len`` are shown.
        **v: Values of the page.
    """
    told = {"families": tuple(families)}
    drawn = {
        **v, "points": points,
        "drawn": _Name("attention.softmax(scores)" if v["unit"] == "weights" else "scores"),
        "first": _Name("0.5" if v["axis"] == "log" else "0"),
    }  # fmt: skip
    side = {**v, "words": words, "drawn": _Name(
        "attention.softmax(scores)" if v["show"] == "weights" else "scores")}  # fmt: skip
    return {
        "side": {"maps": _numpy(_SUBPLOTS + _SIDE + _SIDE_MAPS, **side),
                 "row": _numpy(_SIDE + _SIDE_ROW, **side)} if v["encodings"] else {},
        "distance": {"curves": _numpy(_TERM, **drawn)},
        "beyond": {
            "losses": _numpy(_LAB + _PERPLEXITY, **told),
            "copied": _numpy(_LAB.replace("nats", "repeated") + _REPEATED, **told),
        },
    }.get(v["part"], {})  # fmt: skip


_SUBPLOTS = "from plotly.subplots import make_subplots\n\n"

_SIDE = """from posviz import attention, comparison
from posviz.models import checkpoint, tables

learned = tables.table("names-learned-seed0").trained
t5 = checkpoint.load("names-t5-seed0").weights["positions.table"].astype(float)
trained = comparison.Tables(learned, t5)
setting = comparison.Setting(head={head}, seed={seed})
x = comparison.words({words}, trained.d_model, {variety} / 100, {strength}, {seed})
shown = dict()
for name in {encodings}:
    scores = comparison.scores(name, x, trained, setting)[:{seq_len}, :{seq_len}]
    shown[name] = {drawn}
"""

_SIDE_MAPS = """figure = make_subplots(1, len(shown), subplot_titles=list(shown))
for column, z in enumerate(shown.values(), 1):
    z = np.where(attention.causal_mask({seq_len}), z, np.nan)
    figure.add_heatmap(z=z, row=1, col=column)
figure.update_yaxes(autorange="reversed")
"""

_SIDE_ROW = """figure = go.Figure()
for name, one in shown.items():
    figure.add_scatter(x=np.arange({query} + 1), y=one[{query}, {query}::-1], name=name)
figure.update_layout(xaxis_title="distance from the query back to the key, tokens")
"""

_TERM = """
from posviz import attention, comparison, distance
from posviz.models import checkpoint, tables

learned = tables.table("names-learned-seed0").trained
t5 = checkpoint.load("names-t5-seed0").weights["positions.table"].astype(float)
setting = comparison.Setting({rope_theta}, {head})
figure = go.Figure()
for name in {lines}:
    scores = comparison.term(name, {reach}, comparison.Tables(learned, t5), setting)
    values = {drawn}
    x, y = distance.bins(len(values), {points}, {axis}), values
    if len(x) < len(values):  # lowest and highest of each bin
        x, y = np.repeat(x, 2), distance.envelope(values, x).T.ravel()
    figure.add_scatter(x=np.where(x == 0, {first}, x), y=y, name=name)
figure.update_xaxes(type={axis}, title="distance, tokens")
"""
