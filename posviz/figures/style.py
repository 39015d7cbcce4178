"""The look of every picture: colours by meaning, one Plotly layout, numbers as text.

Figures name colours as CSS variables; the browser fills in the theme's. The set is Okabe and Ito's
for colour-blind readers, darkened on white and lightened on black to keep a contrast of 4.5:1 where
words may have the colour, of 3:1 elsewhere. One colour per encoding, per scaling method, per thing
that a scaling does to a pair and per number format, everywhere. So many colours cannot all differ
for a colour-blind reader: lines that are alike to one differ by their dash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from posviz.params import Message

# name: (on white, on black)
COLOURS = {
    "ink": ("#1b1e23", "#e8eaed"),
    "quiet": ("#5c636b", "#a4abb3"),
    "ground": ("#ffffff", "#101215"),
    "grid": ("#e6e8eb", "#2a2f35"),
    "accent": ("#0072b2", "#56b4e9"),
    # encodings
    "rope": ("#0072b2", "#56b4e9"),
    "random": ("#6f757d", "#959da6"),
    "alibi": ("#a8447f", "#e59fc8"),
    "sinusoidal": ("#008060", "#2fc79a"),
    "t5": ("#c14f00", "#f0803c"),
    "learned": ("#7d5a3c", "#c7a17a"),
    "none": ("#3d4650", "#c3cad1"),
    "rope_alibi": ("#3f3fae", "#9a9af0"),
    "rope_10000": ("#3a7f8f", "#7fc4d1"),
    "measured": ("#1b1e23", "#e8eaed"),
    "shaw": ("#9a3b3b", "#e08f8f"),
    "transformer_xl": ("#5a6b1f", "#b9cc72"),
    "xpos": ("#4a5fa8", "#9fb1ee"),
    # ends of a diverging scale; its middle is the ground
    "negative": ("#b35000", "#ff9a3d"),
    "positive": ("#005a9c", "#4fb3ff"),
    # scaling methods
    "default": ("#5c636b", "#a4abb3"),
    "linear": ("#5f7a00", "#b5cf4a"),
    "ntk": ("#8a6d00", "#e3c02b"),
    "dynamic": ("#8c4a2f", "#d99a7c"),
    "yarn": ("#6a4fb3", "#b49cf0"),
    "llama3": ("#0f7c94", "#4fc3dd"),
    "longrope": ("#6b1548", "#ffd3ea"),
    "proportional": ("#4d6b2a", "#a9cf7c"),
    # what a scaling does to a pair
    "kept": ("#0a5560", "#2f8c8c"),
    "blended": ("#998200", "#f2d35a"),
    "stretched": ("#8a4fb8", "#b98af0"),
    # turns of a pair within the trained context, few to many; never completed stands out
    "turns0": ("#c14f00", "#f0803c"),
    "turns1": ("#5b9bc8", "#3d7fab"),
    "turns2": ("#3485bd", "#4b9bd0"),
    "turns3": ("#0b4f7d", "#9bd3f5"),
    # number formats, and steps to a cosine that one of them can round
    "float32": ("#1a73d9", "#a3c4ff"),
    "bfloat16": ("#b34a12", "#e08a3c"),
    "float16": ("#5b1f78", "#c07af5"),
    "rounded_inv_freq": ("#3f9a78", "#bfeab0"),
    "rounded_positions": ("#d77705", "#f0e040"),
    "alarm": ("#b3261e", "#ff8a80"),
}  # fmt: skip

GRAPHICAL = ("blended", "turns1", "turns2", "rounded_inv_freq", "rounded_positions")
"""Colours of strokes only, never of words."""

DASHES = {
    "solid": "solid", "dot": "2px,3px", "dash": "6px,3px", "long": "13px,4px",
    "mixed": "9px,3px,2px,3px",
}  # fmt: skip
"""The ways to break a line that a reader tells apart, in pixels drawn and left out."""
_DASH_OF = {
    "rope": "solid", "none": "solid", "learned": "solid", "alibi": "dash", "transformer_xl": "dash",
    "sinusoidal": "long", "t5": "long", "rope_alibi": "long", "shaw": "mixed", "xpos": "mixed",
    "rope_10000": "mixed",
    "default": "dot", "paper": "dot", "quiet": "dot", "ntk": "dash", "yarn": "dash",
    "linear": "long", "longrope": "long", "dynamic": "mixed", "llama3": "mixed",
}  # fmt: skip

KINDS = {"kept": "kept", "blended": "blended", "stretched": "stretched"}
"""What a reader calls what a scaling does to a pair, by ``rope_scaling.Effect.kind``."""


def colour(name: str) -> str:
    """Reference to a colour of :data:`COLOURS`, for SVG and for the figures of live.chart."""
    if name not in COLOURS:
        raise KeyError(f"no colour is named {name}")
    return f"var(--pv-{name})"


def faded(name: str) -> str:
    """The same colour, mostly transparent, for bands."""
    return f"var(--pv-{name}-faded)"


def dash_of(name: str) -> str:
    """Key of :data:`DASHES` for the lines of an encoding or a scaling method, by its colour."""
    return _DASH_OF[name]


def css() -> str:
    """The colours as CSS variables: both themes, and both again for an audience."""

    def block(selector: str, colours: Mapping[str, str], faded: str) -> str:
        lines = [
            f"--pv-{name}:{shade};--pv-{name}-faded:{shade}{faded};"
            for name, shade in colours.items()
        ]
        return f"{selector}{{{''.join(lines)}}}"

    present, dark = "[data-pv-present]", '[data-pv-theme="dark"]'
    return (
        block(":root", {name: pair[0] for name, pair in COLOURS.items()}, "38")
        + block(f":root{dark}", {name: pair[1] for name, pair in COLOURS.items()}, "38")
        + block(f":root{present}", strong(0), "59")
        + block(f":root{present}{dark}", strong(1), "59")
    )


def strong(theme: int) -> dict[str, str]:
    """The colours for an audience, on a projector in a lit room: the same hues, more contrast.

    A contrast below 7:1 is 1.3 times its own, but 4.5:1 at least, so that an order from faint to
    strong stays one; ``ink`` is black or white, ``quiet`` has 7:1 and the grid 1.6:1.
    """
    ground = COLOURS["ground"][theme]
    found = {}
    for name, pair in COLOURS.items():
        own = contrast(pair[theme], ground)
        wanted = {"ground": 1.0, "grid": 1.6, "quiet": max(7.0, own)}.get(
            name, max(4.5, own, min(1.3 * own, 7.0))
        )
        found[name] = _with_contrast(pair[theme], ground, wanted)
    return found | {"ink": ("#000000", "#ffffff")[theme]}


def contrast(one: str, other: str) -> float:
    """Contrast of two colours ``#rrggbb``, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted(_luminance(shade) for shade in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(shade: str) -> float:
    red, green, blue = linear(shade)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(shade: str) -> list[float]:
    """Red, green and blue of ``#rrggbb`` as light, each from 0 to 1 (sRGB)."""
    parts = [int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _with_contrast(shade: str, ground: str, wanted: float) -> str:
    """The colour with black or white in it, as little as gives it that contrast."""
    end = 0.0 if _luminance(ground) > 0.5 else 1.0
    parts = linear(shade)
    for step in range(201):
        mixed = [part + (end - part) * step / 200 for part in parts]
        found = "#" + "".join(f"{_byte(part):02x}" for part in mixed)
        if contrast(found, ground) >= wanted:
            break
    return found


def _byte(light: float) -> int:
    part = 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return round(255 * part)


def tokens(count: float) -> str:
    """A number of tokens, short enough for a tick or a clock: 6.28, 512, 8.2k, 1.3M."""
    if count < 0:
        return f"−{tokens(-count)}"
    for least, size, mark in ((9.995e8, 1e9, "G"), (9.995e5, 1e6, "M"), (1e4, 1e3, "k")):
        if count >= least:
            scaled = count / size
            return f"{scaled:.3g}{mark}" if scaled < 1000 else f"{scaled:,.0f}{mark}"
    if count >= 100 or count == int(count):
        return f"{count:,.0f}"
    return f"{count:.3g}"


def number(value: float) -> str:
    """A number in a sentence: thousands separated, three figures below a hundred."""
    size = abs(value)
    if size != 0 and (size < 1e-3 or size >= 1e7):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}×10<sup>{int(exponent)}</sup>".replace("-", "−")
    value += 0.0  # no minus zero
    text = f"{value:,.0f}" if size >= 100 or value == int(value) else f"{value:.3g}"
    return text.replace("-", "−")


def counted(count: float, one: Message, many: Message, _: Callable[..., str]) -> str:
    """A number with its noun: ``one`` of it, or the message ``many`` with a ``{count}``."""
    return _(one) if count == 1 else _(many, count=number(count))


def token_count(count: float, _: Callable[..., str]) -> str:
    """A number of tokens in a sentence, all its digits as on a handle."""
    if count == int(count) and 1e7 <= count < 1e12:
        return _("{count} tokens", count=f"{count:,.0f}")
    return counted(count, "1 token", "{count} tokens", _)


def short(value: float) -> str:
    """A ratio for a label inside a chart, where there is no markup."""
    return f"{value:.3g}" if 1e-3 <= value < 1000 else plain_text(number(value))


def percent(share: float) -> str:
    """A share as a reader sees it; a tenth of a percent below ten."""
    shown = f"{100 * share:.1f}" if 0.0005 <= share < 0.0995 else f"{100 * share:.0f}"
    return f"{shown.removesuffix('.0')}\N{NO-BREAK SPACE}%"


def percents(lowest: float, highest: float) -> str:
    """A range of shares, or one where both ends read the same."""
    low, high = percent(lowest), percent(highest)
    return low if low == high else f"{low[:-2]}–{high}"


def plain_text(markup: str) -> str:
    """A sentence without its markup, for text alternatives."""
    return re.sub(r"<sup>(.*?)</sup>", r"^\1", markup)


def layout(**changes: Any) -> dict[str, Any]:
    """The common Plotly layout, with ``changes``."""
    axis: dict[str, Any] = {
        "gridcolor": colour("grid"), "zeroline": False, "linecolor": colour("grid"),
        "tickfont": {"color": colour("quiet"), "size": 12}, "ticks": "outside",
        "tickcolor": colour("grid"), "ticklen": 4, "fixedrange": False,
        "title": {"font": {"color": colour("quiet"), "size": 12}, "standoff": 6},
    }  # fmt: skip
    base: dict[str, Any] = {
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": colour("ink"), "size": 12.5, "family": "Source Sans, sans-serif"},
        "margin": {"l": 52, "r": 12, "t": 8, "b": 40},
        "hovermode": "x unified", "showlegend": False, "uirevision": "kept",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": colour("quiet"),
                    "activecolor": colour("accent")},
        "hoverlabel": {"bgcolor": colour("ground"), "font": {"color": colour("ink"), "size": 12}},
    }  # fmt: skip
    for name in ("xaxis", "yaxis"):
        own = changes.pop(name, {})
        title = {**axis["title"], **own.pop("title", {})}
        base[name] = {**axis, **own, "title": title}
    return {**base, **changes}


def upright(at: float, shade: str, dash: str) -> dict[str, Any]:
    """A vertical line over the whole plot, ``shade`` being the name of its colour."""
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": colour(shade), "width": 1, "dash": dash}}  # fmt: skip


def note(x: float, y: float, text: str, shade: str, *, leftwards: bool) -> dict[str, Any]:
    """A label beside a vertical line; ``x`` in the axis's units, ``y`` as a share of the height."""
    return {"x": x, "y": y, "yref": "paper", "text": text, "showarrow": False, "yanchor": "top",
            "xanchor": "right" if leftwards else "left", "xshift": -4 if leftwards else 4,
            "bgcolor": colour("ground"), "font": {"size": 12, "color": colour(shade)}}  # fmt: skip


def caption(*sentences: str) -> str:
    """What to look for in a picture, under it, HTML."""
    return f'<p class="pv-caption">{" ".join(filter(None, sentences))}</p>'


def notice(sentence: str) -> str:
    """What cannot be shown and why, HTML."""
    return f'<p class="pv-notice" role="alert">{sentence}</p>'


def heading(title: str, note: str, entries: Sequence[tuple[str, str, str]] = ()) -> str:
    """Title of a picture with a live note and its legend, HTML.

    A legend entry is ``(label, name of a colour, key of DASHES | band)``.
    """
    return (
        f'<p class="pv-title"><b role="heading" aria-level="2">{title}</b><span>{note}</span></p>'
        '<p class="pv-legend">'
        + "".join(
            f'<span><i class="is-{kind}" style="--c:{colour(shade)}"></i>{label}</span>'
            for label, shade, kind in entries
        )
        + "</p>"
    )
