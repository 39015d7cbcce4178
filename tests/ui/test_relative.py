"""The page of relative biases over all its parameters, without a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import alibi, catalog, params
from posviz import relative as core
from posviz.figures import relative as pictures
from posviz.figures.style import number
from posviz.models import checkpoint
from posviz.ui import live
from tests.ui.views import any_values, content, numbers, view_of

CHARTS = {"shaw": "scores", "buckets": "sizes", "heads": "curve", "cost": "memory"}
TOKENS, HEAD_DIM = 64, 16
pairs = st.tuples(st.integers(0, TOKENS - 1), st.integers(0, TOKENS - 1))


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("relative")


def drawn(view: live.View, part: str, **changed: object) -> dict[str, dict]:
    """The pictures of a part, everything else at its default."""
    values, _ = view.read({"part": part})
    return content(view.draw(**(values | changed)))


def words(slot: dict) -> str:
    return re.sub(r"<[^>]+>", "", slot["markup"])


@given(data=st.data())
def test_each_part_has_its_chart_and_the_same_places(view: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, view)
    slots = content(view.draw(**values))
    assert "figure" in slots[CHARTS[values["part"]]]
    assert slots.keys() == drawn(view, values["part"]).keys()


# Shaw.


@given(pairs, st.integers(0, TOKENS))
def test_shaws_row_and_what_it_adds_are_the_cores(
    view: live.View, pair: tuple[int, int], largest: int
) -> None:
    query, key = pair
    slots = drawn(view, "shaw", query=query, key=key, max_relative_position=largest)
    row = int(core.shaw_index(TOKENS, None, largest)[query, key])
    caption = words(slots["caption"])
    assert f"Key {key} − query {query} = {number(key - query)}, " in caption
    assert f"row {row}" in caption
    assert pictures.ROW.value(key=key, query=query, k=largest) == row
    q, k, table = core.shaw_random(TOKENS, largest, HEAD_DIM)
    place = q @ table[core.shaw_index(TOKENS, None, largest)[query]].T / 4
    np.testing.assert_allclose(
        numbers(slots["scores"]["figure"]["data"][0]["y"]), place[query], rtol=1e-5, atol=1e-6
    )
    assert np.abs(place[query]).max() < 1.1  # the axis ends there
    both = (place[query, key], q[query] @ k[key] / 4)
    added, alone = (f"{value:+.2f}".replace("-", "−") for value in both)
    assert f"{added} for key {key}; its content gives {alone}" in words(slots["scores:head"])
    score = pictures.SHAW_SCORE.value(content=q[query] @ k[key], place=q[query] @ table[row],
                                      head_dim=HEAD_DIM)  # fmt: skip
    assert score == pytest.approx(core.shaw_scores(q, k, table)[query, key], abs=1e-12)
    assert f"row {number(511 + query - key)} of its 1,023" in words(slots["bert"])
    shared = re.search(r"for keys (\d+) to (\d+)", caption)
    if shared:
        rows = core.shaw_index(TOKENS, None, largest)[query]
        assert np.flatnonzero(rows == row)[[0, -1]].tolist() == [int(shared[1]), int(shared[2])]


# Buckets.

settings = st.tuples(st.integers(2, 128), st.integers(2, 256), st.booleans())


def bucket_slots(view: live.View, setting: tuple[int, int, bool], position: int) -> dict[str, dict]:
    return drawn(view, "buckets", num_buckets=setting[0], max_distance=setting[1],
                 direction="bidirectional" if setting[2] else "causal",
                 relative_position=position)  # fmt: skip


@given(settings, st.integers(-288, 288))
def test_the_bucket_told_and_its_formula_are_the_cores(
    view: live.View, setting: tuple[int, int, bool], position: int
) -> None:
    slots = bucket_slots(view, setting, position)
    try:
        bucket = int(core.t5_bucket(position, *setting))
    except params.InvalidParameterError as problem:
        assert f"{problem}. " in words(slots["ruler"])
        assert "svg" not in slots["ruler"]["markup"]
        assert not slots["sizes"]["figure"]["data"]
        return
    assert f"bucket {bucket}" in words(slots["caption"])
    ranges = {one.bucket: one for one in core.t5_bucket_ranges(*setting)}
    assert slots["ruler"]["markup"].count("<button") == len(ranges)
    pressed = re.findall(r'bucket (\d+): [^"]*" aria-pressed="true"', slots["ruler"]["markup"])
    assert pressed == [str(bucket)]
    n = pictures.PER_SIDE[setting[2]].value(num_buckets=setting[0])
    exact = pictures.EXACT.value(n=n)
    last = max(-one.nearest for one in ranges.values())
    told = words(slots["caption"])
    near = f"Distances below {exact} have a bucket each" if exact > 1 else "Distance 0 has a"
    assert near in told
    assert f"; the last one begins at {last}" in told
    unused = sorted(set(range(setting[0] if setting[2] else 0)) - set(ranges))
    assert (f"buckets from {n + 1} on: {n} stays unused" in told) == setting[2] == (n in unused)
    distance = abs(position) if setting[2] else max(-position, 0)
    start = n if position > 0 and setting[2] else 0
    if distance < exact:
        assert pictures.NEAR.value(start=start, distance=distance) == bucket
        return
    apart = {-int(row[0]) for row in core.t5_float64_differences(*setting)}
    formula = pictures.FAR.value(start=start, distance=distance, exact=exact, n=n,
                                 max_distance=setting[1])  # fmt: skip
    assert formula == bucket - (distance in apart)  # Python's own floats are float64


@given(settings)
def test_the_curve_of_sizes_is_the_count_of_distances(
    view: live.View, setting: tuple[int, int, bool]
) -> None:
    figure = bucket_slots(view, setting, 0)["sizes"]["figure"]
    if not figure["data"]:
        return
    y = numbers(figure["data"][0]["y"])[:-1]
    buckets = core.t5_bucket(-np.arange(len(y)), *setting).tolist()
    assert y.tolist() == [buckets.count(bucket) for bucket in buckets]


@pytest.mark.parametrize(
    ("direction", "last"), [("bidirectional", 91), ("causal", 113)], ids=["both", "one"]
)
def test_t5s_last_bucket_begins_before_max_distance(
    view: live.View, direction: str, last: int
) -> None:
    slots = drawn(view, "buckets", direction=direction, relative_position=-120)
    told = words(slots["caption"])
    assert f"shared by everything from −{last} on" in told
    assert f"begins at {last}, not at max_distance 128" in told


def test_distances_that_share_a_bucket_are_told_in_their_order(view: live.View) -> None:
    slots = drawn(view, "buckets", direction="causal", num_buckets=36, relative_position=-24)
    assert "shared by the 2 positions from −24 to −23." in words(slots["caption"])
    slots = drawn(view, "buckets", relative_position=24)
    assert re.search(r"shared by the \d positions from 23 to 31\.", words(slots["caption"]))


@pytest.mark.parametrize(("direction", "fewest"), [("bidirectional", 4), ("causal", 2)])
def test_the_fewest_buckets_are_those_that_the_handle_allows(
    view: live.View, direction: str, fewest: int
) -> None:
    link = {"part": "buckets", "direction": direction}
    values, problems = view.read(link | {"num_buckets": str(fewest)})
    assert not problems
    assert "notice" not in content(view.draw(**values))["ruler"]["markup"]
    (problem,) = view.read(link | {"num_buckets": str(fewest - 1)})[1]
    assert str(problem).startswith(f"num_buckets must be a whole number from {fewest} to 128, got")


def test_where_float64_differs_is_told_and_marked(view: live.View) -> None:
    slots = drawn(view, "buckets", num_buckets=18)
    told = words(slots["float64"])
    assert "marked in red, 3 on each side, would" in told
    for one in ("−8 (bucket 5, not 4)", "−16 (bucket 6, not 5)", "−64 (bucket 8, not 7)"):
        assert one in told
    assert slots["ruler"]["markup"].count("pv-relative-apart") == 6
    same = drawn(view, "buckets")
    assert "would give the same buckets" in words(same["float64"])
    assert "pv-relative-apart" not in same["ruler"]["markup"]


# Trained heads.


@given(pairs, st.integers(1, 3), st.sampled_from([0, 1]))
def test_a_heads_bias_is_the_trained_tables(
    view: live.View, pair: tuple[int, int], head: int, seed: int
) -> None:
    query, key = pair
    name = f"names-t5-seed{seed}"
    slots = drawn(view, "heads", query=query, key=key, head=head, model=name)
    table = checkpoint.load(name).weights["positions.table"].astype(np.float64)
    by_distance = table[core.t5_bucket(-np.arange(256), bidirectional=False)].T
    chosen, line = (numbers(slots["curve"]["figure"]["data"][n]["y"]) for n in (-1, -2))
    np.testing.assert_allclose(chosen, by_distance[head - 1], rtol=1e-6)
    slope = alibi.slopes(3)[head - 1]
    np.testing.assert_allclose(line, -slope * np.arange(256), rtol=1e-6)
    caption = words(slots["caption"])
    best = int(by_distance[head - 1].argmax())
    assert f"by {by_distance[head - 1, best]:+.2f}." in caption
    assert (f"{best} token" in caption) == (best > 0)
    if key > query:
        assert "bucket 0, but the causal mask hides" in caption
        return
    bias = by_distance[head - 1, query - key]
    assert f"which adds {bias:+.2f} ".replace("-", "−") in caption
    assert pictures.T5_SCORE.value(content=1.5, b=bias) == 1.5 + bias
    assert pictures.WEIGHT.value(b=bias) == pytest.approx(np.exp(bias))
    told = number(-slope * (query - key) + 0.0)
    assert f"ALiBi here: {told};" in slots["curve:head"]["markup"]


def test_the_table_is_read_with_the_buckets_that_the_models_have() -> None:
    positions = pytest.importorskip("posviz.models.positions")
    assert (positions.T5_BUCKETS, positions.T5_MAX_DISTANCE) == (catalog.NUM_BUCKETS, 128)


# The price.


@given(st.integers(128, 10**7), st.integers(1, 128), st.integers(1, 128), st.sampled_from("124"))
def test_the_price_is_the_cores(
    view: live.View, seq_len: int, num_heads: int, pairs_of_dims: int, each: str
) -> None:
    head_dim = 2 * pairs_of_dims
    slots = drawn(view, "cost", seq_len=seq_len, num_heads=num_heads, head_dim=head_dim,
                  bytes_per_number=each)  # fmt: skip
    now = core.bias_memory(seq_len, num_heads, head_dim, int(each))
    entries = catalog.get("t5").bias_entries(seq_len, num_heads)
    assert now.bias == entries * int(each)
    assert f"has {entries:,} numbers, {pictures.size(now.bias)}: " in words(slots["caption"])
    sizes = {"L": seq_len, "H": num_heads, "b": int(each)}
    assert pictures.WRITTEN_OUT.value(**sizes) == now.bias
    assert pictures.VECTORS.value(d=head_dim, **sizes) == now.qkv
    ratio = pictures.RATIO.value(L=seq_len, d=head_dim)
    assert ratio == pytest.approx(now.bias / now.qkv)
    assert f": {number(ratio)} times" in slots["caption"]["markup"]
    cells = re.findall(r"<td>([^<]+)</td>", slots["prices"]["markup"])
    assert cells == [
        text
        for total in (now.bias, now.qkv, now.table, now.slopes)
        for text in (f"{total // int(each):,}", pictures.size(total))
    ]


def test_round_lengths_are_a_click_away(view: live.View) -> None:
    buttons = drawn(view, "cost", seq_len=10**6)["lengths"]["markup"]
    offered = [int(length) for length in re.findall(r'data-set="seq_len=(\d+)"', buttons)]
    assert {131_072, 10**6, 10**7} <= set(offered)
    assert re.findall(r'(\d+)" title="1,000,000" aria-pressed="true"', buttons) == ["1000000"]
    for length in offered:
        (problems, said) = view.read({"part": "cost", "seq_len": str(length)})[::-1]
        assert not problems
        assert f"At {length:,} tokens" in content(view.draw(**said))["prices:head"]["markup"]


def test_sizes_are_told_in_powers_of_a_thousand() -> None:
    told = [pictures.size(n) for n in (0, 64, 999, 1000, 2048, 999_999, 10**9, 5 * 10**16)]
    assert told == ["0 B", "64 B", "999 B", "1 kB", "2.05 kB", "1 MB", "1 GB", "50 PB"]
