"""English that does not pass the door: all is drawn in a language that brackets what is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from posviz import comparison, learned, params, presets, published, rope_scaling, rope_units
from posviz.ui import live, text
from posviz.views.search import VIEW as SEARCH
from tests.ui import words
from tests.ui.views import PAGES, ends, parts_of, view_of

# Names that are the same in every language: models, their makers, programs and their settings.
NAMES = (
    *presets.names(), *(one.label for one in learned.RELEASED.values()),
    *(one.label for one in comparison.MODELS), *rope_scaling.ROPE_SCALINGS,
    *(published.table(name).authors for name in published.TABLES),
    *(f"{one.engine} {one.name}" for one in rope_units.UNITS), "Hugging Face llama.cpp vLLM posviz",
    "transformers safetensors JSON CSV SVG PNG",
)  # fmt: skip
# In formulas: functions, indices such as d_model, units, two caches; and config keys.
SYMBOLS = "min max sin cos rad head dim model MLA MHA factor type mscale beta rope rope_theta"
KNOWN = {
    word for name in (*NAMES, *SYMBOLS.split()) for word in re.findall(r"[A-Za-z][\w.-]+", name)
}
MOST = 4  # options of a choice that are tried; all of them say their words alike


@pytest.fixture
def bracketed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    words.speak(tmp_path, monkeypatch)
    yield
    text.speak("en")


def unsaid(told: Iterable[str]) -> dict[str, str]:
    """Words that were not said and are no names, each with where it stands."""
    found = {}
    for one in told:
        for word in words.unsaid(one):
            # A repository's name, a file, a setting such as num_heads or --rope-scale: no words.
            if word not in KNOWN and not re.search(r"[_\d]|\.\w", word):
                found[word] = one[:300]
    return found


def scenes(view: live.View) -> Iterator[dict[str, str]]:
    """Each part with its defaults, and with each handle at its ends and each choice made."""
    for part in parts_of(view):
        here = {"part": part} if part else {}
        yield here
        for name, parameter in view.declared(view.read(here)[0]).items():
            if isinstance(parameter, params.Choice | params.Several | params.Number):
                every = list(ends(parameter))
                if name == "claim":
                    every = list(range(int(parameter.low), int(parameter.high) + 1))
                for end in every[: None if name in ("claim", "pitfall", "start") else MOST]:
                    yield here | {name: parameter.write(end)}


@pytest.mark.parametrize("page", PAGES)
def test_every_word_of_every_picture_is_said(page: str, request: pytest.FixtureRequest) -> None:
    view = view_of(page)
    request.getfixturevalue("bracketed")
    found = {}
    typed = {"I", "hit", "him"}  # the sentence that "order" begins with
    for scene in scenes(view):
        for key, picture in view.draw(**view.read(scene)[0]).items():
            for word, told in unsaid(words.of_picture(picture)).items():
                if word not in typed:
                    found[word] = (key, scene, told)
    told = "\n".join(f"{word}: {where}" for word, where in list(found.items())[:10])
    assert not found, f"not said: {', '.join(found)}\n{told}"


@pytest.mark.parametrize("page", PAGES)
def test_every_word_of_every_page_is_said(page: str, bracketed: None) -> None:
    app = AppTest.from_file(str(PAGES[page]))
    app.session_state["posviz:language"] = words.CODE
    app.run(timeout=120)
    assert not app.exception
    assert not (found := unsaid(words.of_page(app))), found


def test_every_word_of_the_search_is_said(bracketed: None) -> None:
    for line in ("", "rope", "xpos", "beta_fast", "window", "qqqq", "llama yarn zzzz", "seed"):
        for picture in SEARCH.draw(search=line).values():
            found = unsaid(words.of_picture(picture))
            assert found.keys() <= set(line.split()), found


@pytest.mark.parametrize("page", PAGES)
def test_every_word_of_every_handle_is_said(page: str, request: pytest.FixtureRequest) -> None:
    view = view_of(page)
    request.getfixturevalue("bracketed")
    for scene in scenes(view):
        for parameter in view.declared(view.read(scene)[0]).values():
            told = [getattr(parameter, name, "") for name in ("label", "unit", "help")]
            told += getattr(parameter, "labels", ())
            assert not (found := unsaid(map(text.say, told))), (parameter.name, found)


def test_a_complaint_is_said_with_the_words_in_it(bracketed: None) -> None:
    problem = params.InvalidParameterError("{name} is {got}", name="x", got=params.Word("a list"))
    assert str(problem) == "x is a list"
    assert params.said(problem.values, text.say)["got"] == "⟦a list⟧"
