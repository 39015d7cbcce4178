"""Colours: contrast in every theme, and lines that a colour-blind reader tells apart."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from posviz import params
from posviz.figures import style
from tests.ui.views import PAGES, parts_of, view_of

Shades = dict[str, str]
PALETTES: dict[str, Shades] = {
    "light": {name: pair[0] for name, pair in style.COLOURS.items()},
    "dark": {name: pair[1] for name, pair in style.COLOURS.items()},
    "light, for an audience": style.strong(0),
    "dark, for an audience": style.strong(1),
}
NO_INK = {"ground", "grid"}


@pytest.mark.parametrize("palette", PALETTES.values(), ids=list(PALETTES))
def test_words_have_a_contrast_of_4_5_and_strokes_of_3(palette: Shades) -> None:
    for name in palette.keys() - NO_INK:
        least = 3.0 if name in style.GRAPHICAL else 4.5
        assert style.contrast(palette[name], palette["ground"]) >= least, name


def test_contrast_is_that_of_the_guidelines() -> None:
    assert style.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert style.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert style.contrast("#ffffff", "#0000ff") == pytest.approx(8.59, abs=0.005)


@pytest.mark.parametrize("theme", [0, 1])
def test_an_audience_gets_more_contrast_in_the_same_order(theme: int) -> None:
    strong = style.strong(theme)
    ground = strong["ground"]
    assert strong["ink"] == ("#000000", "#ffffff")[theme]
    assert style.contrast(strong["quiet"], ground) >= 7
    assert style.contrast(strong["grid"], ground) >= 1.6
    own = {name: style.contrast(pair[theme], ground) for name, pair in style.COLOURS.items()}
    given = {name: style.contrast(shade, ground) for name, shade in strong.items()}
    for name in strong.keys() - NO_INK:
        assert given[name] >= max(4.5, own[name] - 0.01), name
    for faint, strong_one in itertools.pairwise(("turns1", "turns2", "turns3")):
        assert given[faint] < given[strong_one]


def test_every_theme_and_the_audience_has_its_block_the_most_special_last() -> None:
    blocks = re.findall(r"(:root[^{]*)\{([^}]*)\}", style.css())
    assert [selector for selector, _ in blocks] == [
        ":root", ':root[data-pv-theme="dark"]', ":root[data-pv-present]",
        ':root[data-pv-present][data-pv-theme="dark"]',
    ]  # fmt: skip
    for _, block in blocks:
        assert set(re.findall(r"--pv-(\w+):", block)) == set(style.COLOURS)


# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0; on linear RGB.
BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
    "all colours": np.eye(3).tolist(),
}  # fmt: skip
# Euclidean in OKLab (Ottosson 2020), whose lightness runs from 0 to 1. Two lines of 2 px on the
# same ground were told apart at a glance from 0.07 on; 0.02 is what is just noticed side by side.
LEAST = 0.07
TO_CONES = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                     [0.2119034982, 0.6806995451, 0.1073969566],
                     [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                   [1.9779984951, -2.4285922050, 0.4505937099],
                   [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip


def seen(shade: str, blindness: str) -> NDArray[np.float64]:
    light = np.clip(np.array(BLIND[blindness]) @ style.linear(shade), 0.0, 1.0)
    return np.asarray(TO_LAB @ np.cbrt(TO_CONES @ light))


def apart(one: str, other: str) -> tuple[float, str]:
    """The least distance of two colours by name, and to whom."""
    return min(
        (float(np.linalg.norm(seen(palette[one], blind) - seen(palette[other], blind))),
         f"{blind}, {theme}")
        for theme, palette in PALETTES.items()
        for blind in BLIND
    )  # fmt: skip


def test_distances_are_those_of_oklab() -> None:
    assert seen("#ffffff", "all colours") == pytest.approx([1, 0, 0], abs=1e-4)
    assert seen("#ff0000", "all colours") == pytest.approx([0.628, 0.225, 0.126], abs=1e-3)


def drawn(page: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every picture of a page: each part, method and model, all of what may be several."""
    view = view_of(page)
    for part in parts_of(view):
        base = {"part": part} if part else {}
        settings = [base]
        for parameter in view.declared(view.follow(base)).values():
            if isinstance(parameter, params.Several):
                most = parameter.options[: parameter.most]
                settings.append(base | {parameter.name: parameter.write(most)})
            elif isinstance(parameter, params.Choice) and parameter.name in ("rope_type", "model"):
                settings += [base | {parameter.name: one} for one in parameter.options[:9]]
        for setting in settings:
            for key, one in view.draw(**view.follow(setting)).items():
                yield f"{part} {key} {setting}", json.loads(one.sent())


def way(dash: str | None) -> str:
    """What kind of line a dash is to a reader: a key of ``style.DASHES``."""
    lengths = [float(one) for one in re.findall(r"[\d.]+", dash or "")]
    if not lengths:
        return dash if dash in ("dot", "dash") else "solid"
    if len(lengths) > 2:
        return "mixed"
    return "dot" if lengths[0] <= 2 else "long" if lengths[0] >= 9 else "dash"


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_one_figure_differ_by_more_than_a_colour_that_some_cannot_see(page: str) -> None:
    alike = {}
    for where, slot in drawn(page):
        if "figure" not in slot:
            continue
        labels = {one.get("font", {}).get("color")
                  for one in slot["figure"]["layout"].get("annotations", [])}  # fmt: skip
        lines = {}
        for trace in slot["figure"]["data"]:
            line = trace.get("line", {})
            shade = re.fullmatch(r"var\(--pv-(\w+)\)", line.get("color", ""))
            if shade and line.get("width") and line["color"] not in labels:
                look = way(line.get("dash")), trace.get("mode")
                lines[shade[1], look] = max(line["width"], lines.get((shade[1], look), 0))
        for (one, look), (other, others) in itertools.combinations(lines, 2):
            widths = sorted((lines[one, look], lines[other, others]))
            if one == other or look != others or widths[1] >= 1.35 * widths[0]:
                continue
            distance, to = apart(one, other)
            if distance < LEAST:
                alike[tuple(sorted((one, other)))] = f"{distance:.3f} {to}: {where} {look}"
    assert not alike, "\n".join(f"{pair}: {said}" for pair, said in alike.items())


@pytest.mark.parametrize("page", PAGES)
def test_no_word_has_a_colour_of_strokes(page: str) -> None:
    faint = {style.colour(name) for name in style.GRAPHICAL}
    for where, slot in drawn(page):
        if "figure" in slot:
            notes = slot["figure"]["layout"].get("annotations", [])
            assert not faint & {one.get("font", {}).get("color") for one in notes}, where
        else:
            told = slot["markup"]
            inks = re.findall(r'[" ;]color:(var\(--pv-\w+\))', told)
            inks += re.findall(r'<text[^>]*fill[=:]"?(var\(--pv-\w+\))', told)
            assert not faint & set(inks), where
