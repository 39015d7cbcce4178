"""What a visitor sends is text: it runs nothing, reads no file, is no markup, and takes no time."""

from __future__ import annotations

import ast
import asyncio
import base64
import json
import re
import shlex
import time
import tomllib
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from markdown_it import MarkdownIt
from starlette.applications import Starlette

from posviz import config_mended, config_text, params
from posviz.params import InvalidParameterError
from posviz.ui import lesson, live, packing, site, snippet
from posviz.views import doctor
from posviz.views.search import VIEW as SEARCH
from tests.audit import audit
from tests.server import ROOT

# A name that nothing of the app has: an element or attribute with it came from outside.
MARKUP = "\"'><evil evil=1><img src=evil onerror=evil()><a href=javascript:evil()>evil</a>"
SHORT = ("<evil>", "<a href=//evil>", "' evil=1 x='", '" evil=1 x="', "&#60;evil>")
NAMES = sorted({one.name for one in site.pages()} | {SEARCH.name})
APP = Starlette(routes=live.ROUTES)


@pytest.fixture(autouse=True)
def search_is_offered() -> None:
    live.register(SEARCH)


def asked(path: str, query: str = "", headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Status and body of what a route answers, to queries that no client would send."""
    status, body = 0, b""

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {}

    async def send(message: Any) -> None:
        nonlocal status, body
        status = message.get("status", status)
        body += message.get("body", b"")

    said = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "headers": said,
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": query.encode(),
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    asyncio.run(APP(scope, receive, send))
    return status, body


def texts(told: Any) -> Iterator[str]:
    """Every text in JSON, names as well."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, dict):
        for name, one in told.items():
            yield from (name, *texts(one))
    elif isinstance(told, list):
        for one in told:
            yield from texts(one)


class Foreign(HTMLParser):
    """Elements and attributes that the app does not write."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        leads = [value or "" for name, value in attrs if name in {"href", "src", "action"}]
        own = [tag, *(name for name, _ in attrs)]
        if (
            any("evil" in one or one.startswith("on") for one in own)
            or tag in {"img", "script", "iframe", "object", "embed", "base", "link", "form"}
            or any(re.match(r"(?i)\s*(javascript:|data:|//)", one) for one in leads)
        ):
            self.found.append(self.get_starttag_text() or tag)


def foreign(told: Any) -> list[str]:
    """Markup that came from outside, in a picture or in a chart, whose texts may be markup too."""
    return [found for one in texts(told) for found in Foreign(one).found]


def test_markup_from_outside_is_recognized() -> None:
    assert len(foreign({"a": ["b", MARKUP], SHORT[0]: 1})) == 4
    assert foreign(f'<p title="{SHORT[3]}">') and foreign(f"<p title='{SHORT[2]}'>")


# ------------------------------------------------------------------------------------- routes


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_query_says_the_answer_is_a_picture_without_foreign_markup(name: str) -> None:
    view = live.view_named(name)
    assert view
    declared = view.declared(view.read({})[0])
    own, others = [*declared, "evil", "__proto__"], {"start": doctor.PASTED}
    typed = [one for one in declared.values() if isinstance(one, params.Text)]
    queries = [
        urlencode({one: MARKUP for one in own}),
        "&".join(f"{one}=%00%ED%A0%80%FF%0A%E2%80%AE%3Cevil%3E&{one}=1e999" for one in own),
        "&".join(f"{one}={'(' * 500}%2e%2e%2f%252e{{0.__class__}}" for one in own),
        *(urlencode({**others, one.name: said}) for one in typed for said in SHORT),
    ]
    headers = {"x-known": "<evil>," * 99, "accept-language": "<evil>;q=x,../zh"}
    for query in queries:
        status, body = asked(f"/live/view/{name}", query, headers)
        assert status == 200
        assert not foreign(json.loads(body))


@pytest.mark.parametrize(
    "name", ["", "..", "../live", "posviz.ui.live", "__init__", "os", "a" * 9_999, "%00", "\u202e"]
)
def test_a_name_of_no_page_imports_nothing(name: str) -> None:
    for route in (f"view/{name}", f"measure/{name}", f"code/{name}/scores", f"code/rope/{name}"):
        assert asked(f"/live/{route}")[0] == 404


def test_a_script_to_copy_holds_what_was_typed_as_a_text() -> None:
    typed = "'''\"\"\"); evil(\\"
    for name, parameter in (("order", "text"), ("models", "find"), ("doctor", "config")):
        view = live.view_named(name)
        assert view
        values = view.read({parameter: typed, "start": doctor.PASTED})[0]
        sources = [snippet.source(view, values, picture) for picture in view.draw(**values)]
        for source in filter(None, sources):
            named = [getattr(one, "id", "") for one in ast.walk(ast.parse(source))]
            assert "evil" not in named, (name, source)


@pytest.mark.parametrize("mount", ["/live/static/x", "/plotly"])
@pytest.mark.parametrize(
    "path",
    ["../live.py", "../../../app.py", "/etc/passwd", "..\\live.py", ".", "", "\0", "x" * 999],
)
def test_no_path_leaves_the_folder_of_scripts(mount: str, path: str) -> None:
    assert asked(f"{mount}/{path}")[0] == 404


def test_measurements_do_not_wait_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    status, lines = asked("/live/measure/pitfalls")
    assert (status, lines[-5:], live._asked) == (200, b"null\n", set())
    monkeypatch.setattr(live, "_MOST_ASKED", 0)
    assert asked("/live/measure/pitfalls") == (503, b"")


def test_no_value_of_a_link_takes_long_however_long_it_is() -> None:
    long = [one * 1_000_000 for one in ("a", "1", "(", " ", ",", "0-")]
    for name in NAMES:
        view = live.view_named(name)
        assert view
        # Numbers and choices are read alike: one of each kind and page.
        kinds = {type(one): one for one in view.declared(view.read({})[0]).values()}
        for parameter in kinds.values():
            for given in long:
                start = time.process_time()
                with pytest.raises(InvalidParameterError) as problem:
                    parameter.parse(given)
                assert time.process_time() - start < 1, (name, parameter.name, given[:2])
                assert len(str(problem.value)) < 4_000


# ------------------------------------------------------------------------------------ configs


def pictures(text: str) -> list[Any]:
    """What the doctor shows of a text, for each type of layers."""
    here = doctor.Case(text, doctor.UNTOLD)
    return [
        json.loads(one.sent())
        for layer in range(max(len(here.comparisons), 1))
        for one in doctor.pictures_of(here, layer, 4096, 0).values()
    ]


LLAMA = doctor.LLAMA
SCALING: dict[str, Any] = LLAMA["rope_scaling"]  # type: ignore[assignment]
EVIL_KEYS = [
    {**LLAMA, MARKUP: MARKUP},
    {**LLAMA, "model_type": MARKUP, "architectures": [MARKUP]},
    {**LLAMA, "rope_scaling": {**SCALING, "rope_type": MARKUP, MARKUP: MARKUP}},
    {**LLAMA, "rope_scaling": {**SCALING, "factor": MARKUP}, "rope_theta": {MARKUP: MARKUP}},
    {**LLAMA, "layer_types": [MARKUP, "full_attention"],
     "rope_parameters": {MARKUP: SCALING, "full_attention": {**SCALING, "factor": 4.0}}},
]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        *map(json.dumps, EVIL_KEYS), MARKUP, "{" + MARKUP, '{"a": ' + MARKUP, '{"a" ' + MARKUP,
        "--hf-overrides '{\"<evil>\": {\"<evil>\": \"<evil>\"}}'",
        "llama-server --rope-<evil> '<evil>' --rope-scale 2 --rope-scaling '<evil>'",
    ],
)  # fmt: skip
def test_no_key_and_no_value_of_a_config_is_markup(text: str) -> None:
    assert not foreign(pictures(text))


@pytest.mark.parametrize("key", ["head_dim", "hidden_size", "num_attention_heads", "rope_theta",
                                 "max_position_embeddings", "num_hidden_layers"])  # fmt: skip
@pytest.mark.parametrize("value", [2**31 - 1, 10**300, -(10**300), 1e308, 5e-324])
def test_no_number_of_a_config_takes_long(key: str, value: float) -> None:
    start = time.process_time()
    assert pictures(json.dumps({**LLAMA, key: value}))
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "piece",
    ["a", "(", "{", "[", " ", "\\", '"', '\\"', "`", "```", "- ", "\n", "^\n", '{"a":', "[1,",
     '"a":1,', '"a":{},', '"a":[', "rope_scaling.", "-c 1 ", "--rope ", "--rope-scale 1 "],
)  # fmt: skip
def test_no_text_takes_long_however_it_repeats(piece: str) -> None:
    longest = piece * (doctor.LONGEST // len(piece))
    for text in (longest, f"{{{longest[:-2]}}}", f"llama-server --rope-scale 2 {longest}"):
        start = time.process_time()
        pictures(text[: doctor.LONGEST])
        assert time.process_time() - start < 2


@pytest.mark.parametrize("evil", ["$(evil)", "`evil`", ";evil", "x|evil", "x&evil", "a b", "$HOME"])
def test_a_mended_command_line_is_words_to_a_shell(evil: str) -> None:
    words = ["llama-server", "--rope-scale", "0.25", f"--rope-{evil}", evil, "--rope-scaling", evil]
    parsed = config_text.parse(shlex.join(words))
    for written in (
        config_mended.written(parsed),
        doctor.Case(shlex.join(words), "untold").mended_text,
    ):
        found = shlex.split(re.sub(r"'[^']*'", "quoted", written))
        assert not re.search(r"[$`;|&]", " ".join(found)), written
    assert config_text.parse(config_mended.written(parsed)).config == parsed.config


def test_a_mended_command_line_has_no_keys_that_a_terminal_obeys() -> None:
    parsed = config_text.parse("llama-server --rope-scale 2 --rope-x 'a\x03\x1b[2Jb\nc'")
    assert config_mended.written(parsed).isprintable()


# -------------------------------------------------------------------------- packed texts, lessons


def test_a_packed_text_holds_nothing_beside_the_text() -> None:
    whole = zlib.compress(b'{"title": "", "steps": [{"view": "rope"}]}')
    link = "~" + base64.urlsafe_b64encode(whole).decode()
    assert lesson.of_link(link).steps
    beside = "~" + base64.urlsafe_b64encode(whole + b"0" * 3_000_000).decode()
    for longest in (lesson.LONGEST_FILE, 10_000_000):
        with pytest.raises(InvalidParameterError):
            packing.unpacked("lesson", beside, longest)


def test_a_packed_text_of_gigabytes_is_read_no_further_than_it_may() -> None:
    reader = zlib.compressobj(9)
    bomb = b"".join(reader.compress(b"0" * 1_000_000) for _ in range(100)) + reader.flush()
    link = "~" + base64.urlsafe_b64encode(bomb).decode()
    start = time.process_time()
    with pytest.raises(InvalidParameterError):
        packing.unpacked("lesson", link, lesson.LONGEST_FILE)
    assert time.process_time() - start < 0.1


LEADING = [
    "[x](https://evil.example)", "![x](//evil.example)", r"\[x](//evil.example)",
    r"\![x](//evil.example)", r"\\[x](//evil.example)", "`\n\n[x](//evil.example)\n\n`",
    r"\`[x](//evil.example)\`", "``a`[x](//evil.example)`", "[x][r]\n\n[r]: //evil.example",
    "[r]\n\n[r]: //evil.example", "[r][]\n\n> [r]:\n> //evil.example", "https://evil.example",
    r"http:\//evil.example", "https&colon;//evil.example", "https:&#47;/evil.example",
    "HTTP://EVIL.example", "h&#116;tps://evil.example", "www.evil.example", "&#119;ww.evil.example",
    "<https://evil.example>", "<mailto:evil@evil.example>", "evil@evil.example",
    "<img src=//evil.example>", "* [x](//evil.example)\n> ![x](//evil.example)",
]  # fmt: skip


@pytest.mark.parametrize("says", LEADING)
def test_what_a_step_says_leads_nowhere(says: str) -> None:
    # As browsers do it: links in the Markdown, and then bare addresses in the texts it comes to.
    shown = MarkdownIt("commonmark").render(lesson.unlinked(says))
    assert not re.search(r"<(a|img)\b", shown)
    assert not re.search(r"(?i)https?://|www\.|[\w.]@\w", shown)


def test_what_a_step_says_keeps_its_emphasis_and_its_code() -> None:
    said = "**Base** and `rope_theta[0]`: see *both*, 3 < 4"
    plain = MarkdownIt("commonmark").render(said)
    assert MarkdownIt("commonmark").render(lesson.unlinked(said)).replace("\u200b", "") == plain


def test_half_a_character_in_a_lesson_can_be_sent() -> None:
    made = lesson.read('{"title": "\\ud800", "steps": [{"view": "rope?part=\\ud800"}]}')
    assert lesson.address("x", made.steps, 1).encode()
    assert made.written().encode()


# ----------------------------------------------------------------------------------- the sources


def test_no_code_of_the_app_runs_a_text_as_code_or_another_program() -> None:
    runs = re.compile(
        r"\b(eval|exec|compile|__import__)\(|\b(pickle|marshal|shelve|yaml|subprocess)\b|os\.system"
        r"|os\.popen|allow_pickle=True|weights_only=False|unsafe_allow_html|unsafe_allow_javascript"
    )
    found = {
        (path.name, match.group())
        for folder in ("posviz", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for match in runs.finditer(re.sub(r"\.eval\(|re\.compile\(", "", path.read_text("utf-8")))
    }  # fmt: skip
    # A formula is an expression in the sources, and computes with numbers alone.
    assert found == {("formula.py", "eval("), ("formula.py", "compile(")}


def test_the_server_takes_little_and_shows_no_traceback() -> None:
    with (ROOT / ".streamlit" / "config.toml").open("rb") as file:
        told = tomllib.load(file)
    assert told["client"]["showErrorDetails"] == "none"
    assert told["server"]["maxUploadSize"] == 1
    assert told["server"]["maxMessageSize"] <= 16
    assert not {"enableCORS", "enableXsrfProtection", "enableStaticServing"} & told["server"].keys()


# ------------------------------------------------------------------------------------- packages


def test_an_audit_that_knows_no_package_is_no_audit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skipped = {"name": "a", "skip_reason": "Dependency not found"}
    broken = {"name": "b", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    monkeypatch.setattr(audit, "answer", lambda service: None)
    assert audit.main() == 0 and "not audited" in capsys.readouterr().out
    monkeypatch.setattr(audit, "answer", lambda service: {"dependencies": [skipped, broken]})
    assert audit.main() == 1 and "b 1: CVE-1, mended in 2" in capsys.readouterr().out

    class Said:
        stdout = json.dumps({"dependencies": [skipped]})

    monkeypatch.undo()
    monkeypatch.setattr(audit.subprocess, "run", lambda *_, **__: Said)
    assert audit.answer("pypi") is None
