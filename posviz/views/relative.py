"""The view of relative biases: Shaw's vectors for clipped distances, T5's for buckets of them."""

from collections.abc import Iterator
from dataclasses import replace

from posviz import alibi, attention, catalog, params, relative
from posviz.figures import heat, style
from posviz.figures import relative as pictures
from posviz.figures.formula import Formula
from posviz.figures.style import counted, number, token_count
from posviz.models import checkpoint
from posviz.ui import live
from posviz.ui.text import complaint, joined, say, valued
from posviz.views import snippets

PARTS = {"shaw": "Shaw", "buckets": "T5 buckets", "heads": "T5 heads", "cost": "Cost"}
HANDLES = {
    "shaw": ("max_relative_position", "query", "key"),
    "buckets": ("num_buckets", "max_distance", "relative_position"),
    "heads": ("head", "query", "key"),
    "cost": ("seq_len", "num_heads", "head_dim"),
}
DIRECTIONS = {"bidirectional": "both directions", "causal": "one direction"}
SIZES = {"4": "float32", "2": "bfloat16", "1": "float8"}
TOKENS = 64  # of the texts whose queries and keys are drawn
HEAD_DIM = 16  # of Shaw's example
BERT_POSITIONS = 512
MAX_DISTANCE = 128  # of T5, and of the trained models
MOST_BIAS = 8.0  # a weight times e**-8 is next to nothing
LENGTHS = (*(128 << n for n in range(17)), 10_000_000)
# Round lengths, which no handle over five powers of ten hits.
OFFERED = (("512", 512), ("8k", 8192), ("128k", 131_072), ("1M", 10**6), ("10M", 10**7))
ACCELERATOR = 80 * 10**9

PART = params.Choice("part", "Part", "shaw", tuple(PARTS), tuple(PARTS.values()), "")
CLIP = params.Number(
    "max_relative_position", "Clip at", catalog.MAX_RELATIVE_POSITION, 0, TOKENS, 1, "tokens",
    "Distances beyond it count as this one (max_relative_position); the paper's base model had 16.",
)  # fmt: skip
QUERY = params.Number(
    "query", "Query", 40, 0, TOKENS - 1, 1, "", "Position of the token that looks."
)
KEY = params.Number(
    "key", "Key", 16, 0, TOKENS - 1, 1, "", "Position of the token that is looked at."
)
DIRECTION = params.Choice(
    "direction", "Direction", "bidirectional", tuple(DIRECTIONS), tuple(DIRECTIONS.values()),
    "T5's encoder sees keys on both sides, its decoder only those before the query.",
)  # fmt: skip
NUM_BUCKETS = params.Number(
    "num_buckets", "Buckets", catalog.NUM_BUCKETS, 2, 128, 1, "",
    "How many numbers each head learns (num_buckets).",
)  # fmt: skip
MAX_BUCKETED = params.Number(
    "max_distance", "max_distance", MAX_DISTANCE, 2, 256, 1, "tokens",
    "From this distance on all surely share a bucket; it must be above the exact ones.",
    scale="log",
)  # fmt: skip
POSITION = params.Number(
    "relative_position", "Key − query", -20, -pictures.REACH, pictures.REACH, 1, "tokens",
    "Relative position: below 0 the key stands before the query.",
)  # fmt: skip
BYTES = params.Choice(
    "bytes_per_number", "Number", "2", tuple(SIZES), tuple(SIZES.values()),
    "The type in which everything is stored.",
)  # fmt: skip
SEQ_LEN = params.Number(
    "seq_len", "Length", 131_072, LENGTHS[0], LENGTHS[-1], 1, "tokens",
    "Queries, and as many keys.", scale="log",
)  # fmt: skip
NUM_HEADS = replace(params.NUM_HEADS, help="Attention heads of a layer; each has its own bias.")


def models() -> tuple[str, ...]:
    """The lab's models with T5's bias."""
    return tuple(name for name in checkpoint.names() if name.startswith("names-t5"))


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """All parts' handles; as many heads as the model has."""
    yield PART
    yield from (CLIP, QUERY, KEY, DIRECTION)
    # With fewer, no distance of a direction would be counted exactly.
    yield replace(NUM_BUCKETS, low=4 if v["direction"] == "bidirectional" else NUM_BUCKETS.low)
    yield from (MAX_BUCKETED, POSITION)
    names = models()
    labels = tuple(
        params.Said(say("trained with seed {seed}", seed=name.rpartition("seed")[2]))
        for name in names
    )
    yield params.Choice("model", "Model", names[0], names, labels, "")
    heads = checkpoint.load(v["model"]).weights["positions.table"].shape[1]
    yield replace(params.HEAD, label="Head", default=min(2, heads), high=heads,
                  help="Which head's bias is shown.")  # fmt: skip
    yield from (SEQ_LEN, NUM_HEADS, params.HEAD_DIM, BYTES)


def draw(part: str, **v: live.Values) -> live.Slots:
    """Every picture of one part."""
    return {"shaw": shaw, "buckets": buckets, "heads": heads, "cost": cost}[part](v)


def shaw(v: live.Values) -> live.Slots:
    """Rows of the table, the table, and what it adds to the scores of the query."""
    query, key, largest = v["query"], v["key"], v["max_relative_position"]
    rows = relative.shaw_index(TOKENS, None, largest)
    row, last = int(rows[query, key]), 2 * largest
    q, k, table = relative.shaw_random(TOKENS, largest, HEAD_DIM)
    content = relative.shaw_scores(q, k, 0 * table)[query]
    place = relative.shaw_scores(q, 0 * k, table)[query]
    told = caption_of_shaw(query, key, largest, row)
    by_place, by_content = place[key].item(), content[key].item()
    name = say("q·a / √d")
    adds = say("{place} for key {key}; its content gives {content}",
               key=key, place=signed(by_place), content=signed(by_content))  # fmt: skip
    bert = int(relative.bert_relative_key_index(TOKENS, TOKENS, BERT_POSITIONS)[query, key])
    here = {"key": key, "query": query, "k": largest}
    length = HEAD_DIM**0.5
    scored = pictures.SHAW_SCORE.markup(
        say, by_content + by_place, content=length * by_content, place=length * by_place,
        head_dim=HEAD_DIM,
    )  # fmt: skip
    return {
        "rows:head": live.drawing(
            style.heading(say("Which vector each pair uses"), say("drag on the map"))
        ),
        "rows": live.drawing(
            *pictures.shaw_rows(rows, query, key, last, style.plain_text(told), say)
        ),
        "rows:scale": live.drawing(
            heat.scale_bar(say("row 0"), say("row {last}", last=number(last)))
        ),
        "caption": live.drawing(style.caption(told)),
        "table:head": live.drawing(
            style.heading(say("One vector for each distance"),
                          say("random, as before training; row {row} is chosen", row=row))
        ),
        "table": live.drawing(
            *pictures.shaw_table(table, row, say("Table of {vectors}, row {row} chosen", row=row,
                                                 vectors=counted(last + 1, "1 vector",
                                                                 "{count} vectors", say)), say)
        ),
        "scores:head": live.drawing(
            style.heading(
                say("What the distances add for query {query}", query=query), adds,
                [(name, "shaw", "solid")],
            )
        ),
        "scores": live.figure(
            pictures.shaw_place(place, query, key, name, say),
            valued(say('What the vectors add to the score of each key'), adds),
        ),
        "formula": live.drawing(
            f'<p class="pv-formula">{pictures.ROW.markup(say, row, **here)}</p>'
            f'<p class="pv-formula">{scored}</p>'
        ),
        "bert": live.drawing(
            '<p class="pv-formula">'
            + say(
                "Not the same: BERT's <code>relative_key</code> in Hugging Face, up to 4.57, counts"
                " query − key and clips nothing. This pair is row {row} of its {rows}.",
                row=number(bert), rows=number(2 * BERT_POSITIONS - 1),
            )
            + "</p>"
        ),
    }  # fmt: skip


def signed(value: float) -> str:
    """A number with its sign."""
    return f"{value:+.2f}".replace("-", "−")


def caption_of_shaw(query: int, key: int, largest: int, row: int) -> str:
    """Which row, and who shares it."""
    distance = key - query
    pair = say("Key {key} − query {query} = {distance}", key=key, query=query,
               distance=number(distance))  # fmt: skip
    if abs(distance) <= largest:
        return say("{pair}, within {clip}: row {row}. Every pair that far apart, all along the "
                   "diagonal, uses this one vector.", pair=pair, clip=number(largest),
                   row=row)  # fmt: skip
    if not largest:
        return say("{pair}, beyond 0, so it counts as 0, as every distance does: row {row} is the "
                   "only one, and no order is left.", pair=pair, row=row)  # fmt: skip
    first, last = (0, query - largest) if distance < 0 else (query + largest, TOKENS - 1)
    return say("{pair}, beyond {clip}, so it counts as {clipped}: row {row}. Query {query} has "
               "this row for keys {first} to {last}: it does not tell which of them is nearer.",
               pair=pair, clip=number(largest), row=row, query=query, first=first, last=last,
               clipped=number(largest if distance > 0 else -largest))  # fmt: skip


def buckets(v: live.Values) -> live.Slots:
    """The ruler, the sizes of the buckets, and where float64 would differ."""
    position, both = v["relative_position"], v["direction"] == "bidirectional"
    setting = (v["num_buckets"], v["max_distance"], both)
    title = style.heading(
        say("Distances, and the bucket of each"),
        say("key − query, tokens; below, bucket and distances"),
        [(say("one distance each"), "t5", "solid"), (say("more with distance"), "t5", "band"),
         (say("all the rest"), "random", "solid"), (say("chosen"), "accent", "solid")],
    )  # fmt: skip
    try:
        ranges = relative.t5_bucket_ranges(*setting)
        bucket = int(relative.t5_bucket(position, *setting))
    except params.InvalidParameterError as problem:
        told = f"{complaint(problem)}. {say('Move one of the handles.')}"
        return {
            "ruler:head": live.drawing(title),
            "ruler": live.drawing(
                f'<p class="pv-notice pv-relative-notice" role="alert">{told}</p>'
            ),
            "sizes:head": live.drawing(style.heading("", "")),
            "sizes": live.figure(pictures.nothing(), told),
            "caption": live.drawing(style.caption("")),
            "formula": live.drawing('<p class="pv-formula"></p>'),
            "float64": live.drawing(style.caption("")),
        }
    own = next(one for one in ranges if one.bucket == bucket)
    n = pictures.PER_SIDE[both].value(num_buckets=setting[0])
    exact = pictures.EXACT.value(n=n)
    side = [one for one in ranges if one.nearest <= 0]
    last = -side[-1].nearest
    apart = relative.t5_float64_differences(*setting).tolist()
    moved = [row[0] for row in apart]
    mirrored = [-at for at in moved] if both else []
    distance = abs(position) if both else max(-position, 0)
    told = caption_of_bucket(position, both, own)
    told += " " + caption_of_last(last, setting[1], exact)
    if both:
        told += " " + say("Keys after the query have the buckets from {first} on: {unused} stays "
                          "unused, because distance 0 is in bucket 0 already.",
                          first=n + 1, unused=n)  # fmt: skip
    return {
        "ruler:head": live.drawing(title),
        "ruler": live.drawing(
            pictures.ruler(ranges, position, bucket, exact, moved + mirrored,
                           style.plain_text(told), say)
        ),
        "sizes:head": live.drawing(
            style.heading(say("How many distances share a bucket"),
                          say("at distance {distance}: {size}", distance=distance,
                              size=say("all from {last} on", last=last) if own.size is None
                              else number(own.size)))
        ),
        "sizes": live.figure(
            pictures.sizes(side, distance, say),
            say("Distances that share a bucket: 1 each below {exact}, then more; the last bucket "
                "begins at {last}", exact=exact, last=last),
        ),
        "caption": live.drawing(style.caption(told)),
        "formula": live.drawing(formula_of_bucket(distance, position, setting, n, exact, bucket)),
        "float64": live.drawing(style.caption(caption_of_float64(apart, both))),
    }  # fmt: skip


def caption_of_bucket(position: int, both: bool, own: relative.BucketRange) -> str:
    """Which bucket a relative position is in, and who shares it."""
    if position > 0 and not both:
        return say("A key {distance} after the query is in bucket 0, with the query itself; the "
                   "causal mask hides it.", distance=number(position))  # fmt: skip
    where = say("the query itself")
    if position:
        side = say("before") if position < 0 else say("after")
        where = say("{distance} {side} the query", distance=number(abs(position)), side=side)
    start = say("Key − query = {position}, {where}: bucket {bucket}", position=number(position),
                where=where, bucket=own.bucket)  # fmt: skip
    if own.farthest is None:
        return say("{start}, shared by everything from {nearest} on.", start=start,
                   nearest=number(own.nearest))  # fmt: skip
    if own.size == 1:
        return say("{start}, which it has to itself.", start=start)
    low, high = sorted((own.nearest, own.farthest))
    return say("{start}, shared by the {size} positions from {low} to {high}.",
               start=start, size=own.size, low=number(low), high=number(high))  # fmt: skip


def caption_of_last(last: int, max_distance: int, exact: int) -> str:
    """Where the exact buckets end, and where the last one begins."""
    near = counted(exact, "Distance 0 has a bucket of its own",
                   "Distances below {count} have a bucket each", say)  # fmt: skip
    if last == max_distance:
        return say("{near}; the last one begins at {last}.", near=near, last=last)
    return say("{near}; the last one begins at {last}, not at max_distance {max_distance}: beyond, "
               "the model cannot tell far from farther.",
               near=near, last=last, max_distance=max_distance)  # fmt: skip


def formula_of_bucket(
    distance: int, position: int, setting: tuple[int, int, bool], n: int, exact: int, bucket: int
) -> str:
    """The line of the code that gives this bucket, with its numbers; HTML."""
    num_buckets, max_distance, both = setting
    start = n if position > 0 and both else 0
    if distance < exact:
        shown = pictures.NEAR.markup(say, bucket, start=start, distance=distance)
    else:
        shown = pictures.FAR.markup(say, bucket, start=start, distance=distance, exact=exact, n=n,
                                    max_distance=max_distance)  # fmt: skip
    sizes = (
        pictures.PER_SIDE[both].markup(say, n, **({"num_buckets": num_buckets} if both else {})),
        pictures.EXACT.markup(say, exact, n=n),
    )
    return f'<p class="pv-formula">{"&emsp;".join(sizes)}</p><p class="pv-formula">{shown}</p>'


def caption_of_float64(apart: list[list[int]], both: bool) -> str:
    """What another precision would change."""
    if not apart:
        return say("The logarithm is taken in float32. With this setting float64 would give the "
                   "same buckets; {link} it would not.",
                   link='<a href="relative?part=buckets&num_buckets=18&relative_position=-16" '
                        f'target="_self">{say("with 18 buckets")}</a>')  # fmt: skip
    some = joined(
        say("{position} (bucket {single}, not {double})", position=number(position),
            single=single, double=double)
        for position, single, double in sorted(apart, reverse=True)[:4]
    )  # fmt: skip
    more = say(" and {count} more", count=len(apart) - 4) if len(apart) > 4 else ""
    count = say("{count} on each side", count=len(apart)) if both else len(apart)
    return say("The logarithm is taken in float32. What is marked in red, {count}, would fall one "
               "bucket short in float64: {some}{more}. A model read with the other precision looks "
               "up the wrong number there.", count=count, some=some, more=more)  # fmt: skip


def heads(v: live.Values) -> live.Slots:
    """Bias of one trained head over pairs, and of all heads by distance."""
    query, key, head = v["query"], v["key"], v["head"]
    table = checkpoint.load(v["model"]).weights["positions.table"].astype(float)
    bias = relative.t5_bias(TOKENS, None, table, MAX_DISTANCE, bidirectional=False)
    farthest = pictures.FARTHEST
    # The last query's row, read backwards, is the bias by distance.
    lines = relative.t5_bias(1, farthest + 1, table, MAX_DISTANCE, bidirectional=False)[:, 0, ::-1]
    slope = float(alibi.slopes(table.shape[1])[head - 1])
    straight = alibi.bias_matrix([slope], 1, farthest + 1)[0, 0, ::-1]
    distance = query - key
    b = float(bias[head - 1, query, key])
    bucket = int(relative.t5_bucket(-distance, len(table), MAX_DISTANCE, bidirectional=False))
    best = int(lines[head - 1].argmax())
    names = [say("head {head}", head=n + 1) for n in range(table.shape[1])]
    names.append(say("ALiBi, head {head}", head=head))
    told = caption_of_head(query, key, bucket, b, head, best, float(lines[head - 1, best]))
    start = ""
    if distance >= 0:
        start = say("ALiBi here: {alibi}; training began along it, bucket by bucket",
                    alibi=number(straight[distance].item() + 0.0))  # fmt: skip
    return {
        "bias:head": live.drawing(
            style.heading(say("What head {head} adds to each score", head=head),
                          say("drag on the map"))
        ),
        "bias": live.drawing(
            *pictures.t5_bias(bias[head - 1], attention.causal_mask(TOKENS), query, key, MOST_BIAS,
                              style.plain_text(told), say)
        ),
        "bias:scale": live.drawing(
            heat.scale_bar(say("{low} and less", low=number(-MOST_BIAS)),
                           say("{high} and more", high=number(MOST_BIAS)), middle="0")
        ),
        "caption": live.drawing(style.caption(told)),
        "curve:head": live.drawing(
            style.heading(
                say("Bias by distance"), start,
                [(names[head - 1], "t5", "solid"), (say("other heads"), "random", "solid"),
                 (names[-1], "alibi", "dash")],
            )
        ),
        "curve": live.figure(
            pictures.bias_by_distance(lines, head - 1, straight, distance, names=names, _=say),
            valued(say("Bias of each head by distance"), style.plain_text(f"{told} {start}")),
        ),
        "formula": live.drawing(
            f'<p class="pv-formula">{pictures.T5_SCORE.markup(say, b=round(b, 4))}&emsp;'
            + pictures.WEIGHT.markup(say, pictures.WEIGHT.value(b=b), b=round(b, 4))
            + "</p>"
            if distance >= 0
            else f'<p class="pv-formula">{pictures.T5_SCORE.markup(say)}</p>'
        ),
        "scaled": live.drawing(
            '<p class="pv-formula">'
            + say("T5 itself does not divide q·k by √head_dim. These tiny models do, and add the "
                  "bias after that; all layers share the table.")
            + "</p>"
        ),
    }  # fmt: skip


def caption_of_head(
    query: int, key: int, bucket: int, b: float, head: int, best: int, most: float
) -> str:
    """What the head adds for the pair, and what it likes best."""
    pair = say("Key {key} − query {query} = {distance}", key=key, query=query,
               distance=number(key - query))  # fmt: skip
    where = say("the query's own token")
    if best:
        where = say("{count} back", count=token_count(best, say))
    likes = say("Head {head} favours {where}, by {most}.", head=head, where=where,
                most=signed(most))  # fmt: skip
    if key > query:
        return say("{pair}: bucket {bucket}, but the causal mask hides keys after the query. "
                   "{likes}", pair=pair, bucket=bucket, likes=likes)  # fmt: skip
    return say("{pair}: bucket {bucket}, which adds {b} whatever the two tokens say. {likes}",
               pair=pair, bucket=bucket, b=signed(b), likes=likes)  # fmt: skip


def cost(v: live.Values) -> live.Slots:
    """Memory of the bias written out, and of what it compares with."""
    seq_len, num_heads, head_dim = v["seq_len"], v["num_heads"], v["head_dim"]
    each = int(v["bytes_per_number"])
    now = relative.bias_memory(seq_len, num_heads, head_dim, each)
    curve = [relative.bias_memory(length, num_heads, head_dim, each) for length in LENGTHS]
    names = {"bias": say("T5's bias, written out"), "qkv": say("q, k and v of one layer"),
             "table": say("T5's table"), "slopes": say("ALiBi's slopes")}  # fmt: skip
    looks = {"bias": ("t5", ""), "qkv": ("ink", "6px,3px"), "table": ("learned", "2px,2px"),
             "slopes": ("alibi", "8px,3px,2px,3px")}  # fmt: skip
    lines = [(names[name], *looks[name], [getattr(one, name) for one in curve]) for name in names]
    limit = say("80 GB, one large accelerator")
    lines.append((limit, "random", "1px,3px", [ACCELERATOR] * len(LENGTHS)))
    entries = catalog.get("t5").bias_entries(seq_len, num_heads)
    ratio = pictures.RATIO.value(L=seq_len, d=head_dim)
    told = say(
        "At {length} tokens the bias of {heads} has {entries} numbers, {size}: {ratio} times "
        "q, k and v of a layer. The two are equal at 3 × {head_dim} = {equal} tokens; from there "
        "the square runs away.",
        length=f"{seq_len:,}", heads=counted(num_heads, "1 head", "{count} heads", say),
        entries=f"{entries:,}", size=pictures.size(now.bias), ratio=number(ratio),
        head_dim=head_dim, equal=number(3 * head_dim),
    )  # fmt: skip
    key = [(names["bias"], "t5", "solid"), (names["qkv"], "ink", "dash"),
           (names["table"], "learned", "dot"), (names["slopes"], "alibi", "dash"),
           (limit, "random", "dot")]  # fmt: skip
    numbers = {"L": seq_len, "H": num_heads, "b": each}
    shown: list[tuple[Formula, float, dict[str, int]]] = [
        (pictures.WRITTEN_OUT, now.bias, numbers),
        (pictures.VECTORS, now.qkv, numbers | {"d": head_dim}),
        (pictures.RATIO, ratio, {"L": seq_len, "d": head_dim}),
    ]
    return {
        "memory:head": live.drawing(
            style.heading(say("Memory by length"), say("both axes logarithmic"), key)
        ),
        "memory": live.figure(
            pictures.memory(LENGTHS, lines, seq_len, say), style.plain_text(told)
        ),
        "lengths": live.drawing(pictures.lengths(OFFERED, seq_len, say)),
        "prices:head": live.drawing(
            style.heading(say("At {length} tokens", length=f"{seq_len:,}"),
                          say(SIZES[v["bytes_per_number"]]))
        ),
        "prices": live.drawing(
            pictures.prices([(names[name], looks[name][0], getattr(now, name) // each,
                              getattr(now, name)) for name in names], say)
        ),
        "caption": live.drawing(style.caption(told)),
        "formula": live.drawing(
            "".join(f'<p class="pv-formula">{one.markup(say, value, **with_)}</p>'
                    for one, value, with_ in shown)
            + '<p class="pv-formula">'
            + say("b bytes of a number, H heads, L tokens, d = head_dim, the numbers of a head")
            + "</p>"
        ),
    }  # fmt: skip


VIEW = live.View("relative", parameters, draw, code=snippets.relative)
