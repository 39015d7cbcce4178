"""What is found for some words, and that every link of it can be opened."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from posviz import (
    catalog,
    claims,
    config_names,
    hf_config,
    pitfalls,
    presets,
    rope_scaling,
    rope_units,
)
from posviz.ui import live, search, site, text
from posviz.ui.labels import METHODS
from posviz.ui.search_words import (
    CHINESE,
    ENCODING_WORDS,
    METHOD_WORDS,
    PITFALL_WORDS,
    SAME,
    comparable,
    has,
    normal,
    root,
)
from posviz.views.search import SHOWN, VIEW, excerpt, width
from tests.ui.views import view_of


def addresses(words: str, most: int = search.MOST) -> list[str]:
    return [entry.address for entry in search.find(words, most).entries]


def drawn(words: str) -> tuple[str, str]:
    """Markup of the links, and what is said of them."""
    slots = VIEW.draw(search=words)
    found, count = (json.loads(slots[key].sent())["markup"] for key in ("found", "count"))
    return found, count


@pytest.fixture
def chinese() -> Iterator[None]:
    text.speak("zh")
    yield
    text.speak("en")


@pytest.mark.parametrize("page", [*site.pages()], ids=lambda page: page.name)
def test_each_page_is_found_by_its_title_and_its_parts_by_their_labels(page: site.Page) -> None:
    assert page.address() in addresses(page.title)[:2]
    labels = [label for one in site.pages() for label in one.parts.values()]
    for part, label in page.parts.items():
        # Where several pages have a part of that name, each one is among the first.
        assert page.address(part) in addresses(label)[: max(2, labels.count(label))], label
        assert page.address(part) in addresses(f"{page.title} {label}")[:2], label
    for term, part in page.terms.items():
        assert page.address(part) in addresses(term)[:2], term


def test_each_word_of_the_glossary_is_explained_in_the_result() -> None:
    for word in search.index():
        for name in word.names if word.kind == "word" else ():
            assert word in search.find(name).entries[:2], name
            assert html.escape(word.says) in drawn(name)[0], name


def test_each_encoding_and_each_method_is_found_by_all_its_names() -> None:
    for encoding in catalog.ENCODINGS:
        page = encoding.page or "compare"
        for name in (encoding.name, encoding.label, *ENCODING_WORDS[encoding.name]):
            found = [address.partition("?")[0] for address in addresses(name)[:2]]
            assert page in found or name == "none", name  # "none" is a method too
    for rope_type in rope_scaling.ROPE_SCALINGS:
        names = (rope_type, METHODS.get(rope_type, rope_type), *METHOD_WORDS[rope_type])
        for name in names:
            found = addresses(name)[: 3 if name == "NTK-by-parts" else 2]
            assert any(rope_type in address for address in found), name


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("NTK-aware", "scaling?pinned=ntk"), ("su", "scaling?pinned=longrope"),
        ("rotary", "rope"), ("T5 bias", "relative?part=buckets"),
        ("position interpolation", "scaling?pinned=linear"), ("passkey", "needle"),
        ("rope_theta", "rope"), ("ropetheta", "rope"), ("rope theta", "rope"),
        ("mscale", "scaling?model=DeepSeek-V2-Lite"), ("rope cache", "rope?part=cache"),
        ("what is yarn", "scaling?pinned=yarn"), ("NoPE", "order"),
        ("--rope-freq-scale", "scaling?part=units&unit=--rope-freq-scale"),
        ("ＲｏＰＥ", "rope"), ("ALIBI", "alibi"), ("permutation invariant", "order"),
        ("gpt-oss-20b", "models?model=gpt-oss-20b"), ("max_position_embeddings", "doctor"),
    ],
)  # fmt: skip
def test_what_people_call_it_leads_there(words: str, address: str) -> None:
    assert address in addresses(words)[:2]


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("positional encoding", "playground"), ("position embeddings", "playground"),
        ("rotary positional embeddings", "rope"), ("rotary position", "rope"),
        ("relative positional encodings", "relative"), ("what is a positional encoding?",
        "playground"), ("sinusoidal positional encoding", "sinusoidal"),
        ("left padding", "pitfalls?pitfall=left_padding"),
        ("off by one", "pitfalls?pitfall=slopes_off_by_one"),
        ("position_ids", "pitfalls?pitfall=left_padding"),
        ("fp16", "precision?part=positions"), ("BF16", "precision?part=positions"),
        ("fp32", "precision?part=positions"), ("half precision", "precision?part=positions"),
        ("induction heads", "copying"), ("sliding windows", "models"), ("extrapolates", "lab"),
        ("extrapolating", "lab"), ("frequencies", "playground"), ("biased", "alibi?part=bias"),
        ("which encoding should I use", "picker"), ("best encoding", "picker"),
        ("rope vs alibi", "compare"), ("difference between rope and alibi", "compare"),
        ("better than rope", "compare"), ("best", "picker"), ("vs", "compare"),
        ("llama 4", "models?model=Llama-4-Scout-17B-16E"), ("gpt-4", "learned?part=end"),
        ("llama4", "models?model=Llama-4-Scout-17B-16E"), ("su scaled", "scaling?pinned=longrope"),
        ("yarn", "scaling?pinned=yarn"), ("how does yarn work", "scaling?pinned=yarn"),
        ("glossary", "playground#read=Words"), ("export", "scaling?part=take"),
        ("download", "scaling?part=take"), ("flops", "compare?part=price"),
        ("gqa", "rope?part=mla"), ("ALiBi slopes 12 heads", "alibi?part=slopes"),
        ("attention_factor", "scaling?pinned=yarn"), ("extend context", "scaling"),
        ("mscale_all_dim", "scaling?model=DeepSeek-V2-Lite"), ("1,024 tokens", "playground"),
        ("位置编码", "playground"), ("旋转位置编码", "rope"), ("什么是外推", "lab"),
        ("位置编", "playground"), ("哪种位置编码好", "picker"), ("旋", "rope"),
    ],
)  # fmt: skip
def test_enter_opens_what_was_asked_for(words: str, address: str) -> None:
    assert addresses(words)[0] == address


def test_positional_encoding_is_found_in_every_form_with_the_pages_about_it() -> None:
    found = addresses("positional encoding")
    assert {"playground", "rope", "relative", "sinusoidal", "learned"} <= {*found[:5]}
    for words in ("positional encodings", "position embedding", "positional embeddings"):
        assert addresses(words) == found


def test_the_pages_that_are_compared_come_next() -> None:
    assert addresses("rope vs alibi")[:3] == ["compare", "rope", "alibi"]
    assert [search.find("ALiBi slopes 12 heads").entries[at].kind for at in (0, 1)] != ["claim"] * 2


def test_mscale_and_the_attention_factor_open_where_they_count() -> None:
    for words, wanted in (("attention_factor", {"pinned": "yarn"}), ("mscale_all_dim", {
        "pinned": "yarn", "mscale": 0.707, "mscale_all_dim": 0.707,
    })):  # fmt: skip
        page, _, query = addresses(words)[0].partition("?")
        values, _ = view_of(page).read(dict(parse_qsl(query)))
        assert values.items() >= wanted.items()
    drawn_there = view_of("scaling").draw(**view_of("scaling").read({"pinned": "yarn"})[0])
    assert "Cos and sin are multiplied by" in drawn_there["caption"].sent()


def test_nothing_of_one_name_leads_to_one_address_twice() -> None:
    for words in ("rotary pos", "rope", "alibi", "needle", "rotary", "sinusoidal", "位置编码"):
        found = [(entry.title, entry.address) for entry in search.find(words, 99).entries]
        assert len(found) == len({*found}), words
    assert addresses("rotary pos").count("rope") == 1


def test_every_chinese_word_is_that_word_in_english() -> None:
    for word, english in CHINESE.items():
        found = search.find(word)
        # It leads where the English word does, and to more where Chinese has one word for two.
        first = found.entries[0].address.partition("?")[0]
        assert first in [a.partition("?")[0] for a in addresses(english)], word
        assert found.count >= 1, word
        assert not found.missing + found.instead, word


def test_words_that_mean_the_same_are_one_and_pitfalls_of_other_names_exist() -> None:
    for word, same in SAME.items():
        assert root(word) == root(same), word
    assert PITFALL_WORDS.keys() <= {one.id for one in pitfalls.PITFALLS}
    pairs = {"heads": "head", "frequencies": "frequency", "losses": "loss", "axes": "ax",
             "extrapolates": "extrapolat", "rotation": "rotat", "state": "state", "bias": "bias",
             "alibi": "alibi", "this": "this", "pos": "pos"}  # fmt: skip
    assert {word: root(word) for word in pairs} == pairs


def test_config_keys_and_released_models_are_all_found() -> None:
    keys = {*config_names.MEANT_AT_THE_TOP, *hf_config.METHOD_KEYS, *hf_config.ELSEWHERE}
    for key in keys | {unit.name for unit in rope_units.UNITS}:
        found = [entry.title for entry in search.find(key).entries if entry.kind == "key"]
        assert key in found, key
    for name in presets.names():
        assert name in [entry.title for entry in search.find(name).entries[:2]], name


def test_pitfalls_and_claims_are_found_and_no_verdict_is_told() -> None:
    for pitfall in pitfalls.PITFALLS:
        assert f"pitfalls?pitfall={pitfall.id}" in addresses(pitfall.label)[:2]
    for number, claim in enumerate(claims.CLAIMS, 1):
        found = search.find(claim.statement).entries[0]
        assert (found.address, found.says) == (f"claims?claim={number}", "")


def test_every_link_opens_without_complaint() -> None:
    for address in {entry.address for entry in search.index()}:
        page, _, query = address.partition("#")[0].partition("?")
        values, problems = view_of(page).read(dict(parse_qsl(query, strict_parsing=bool(query))))
        assert not problems, address
        for name, value in parse_qsl(query):
            assert str(values[name]) == value, address


def test_the_ranks_are_exact_term_title_part_term_prose() -> None:
    kinds = [entry.kind for entry in search.find("scal", 99).entries]
    assert kinds[0] == "page"
    assert kinds.index("prose") > kinds.index("key")
    assert [entry.kind for entry in search.find("pair", 9).entries[:3]] == ["part", "word", "part"]
    kinds = [(entry.kind, entry.title) for entry in search.find("extrapolation").entries[:2]]
    assert kinds[0] == ("word", "Extrapolation")
    kinds = [(entry.kind, entry.title) for entry in search.find("extrap").entries[:1]]
    assert kinds == [("page", "Extrapolation lab")]
    kinds = [entry.kind for entry in search.find("attention", 99).entries]
    assert kinds.index("part") < kinds.index("key") < kinds.index("prose")


def test_a_slip_is_told_and_the_nearest_known_word_is_looked_for() -> None:
    found, count = drawn("rotery")
    assert count.startswith("Nothing has “rotery”; the nearest known word is “rotary”. ")
    assert addresses("rotery") == addresses("rotary")
    assert 'href="rope"' in found
    assert "rope?part=decay" in addresses("dekay") + addresses("decya")
    found, count = drawn("qqqqzz <b>")
    assert count.startswith("Nothing has “qqqqzz")
    assert "<" not in count


@pytest.mark.parametrize(
    "words", ["attention sink", "attention sinks", "1024 tokens", "streaming", "gpt4", "fp64"]
)
def test_no_other_word_is_put_in_place_of_one_that_is_no_slip(words: str) -> None:
    found = search.find(words)
    assert found.instead == ()
    known = {"attention", "tokens"}
    assert found.missing == tuple(word for word in words.split() if word not in known)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("roep", "rope"), ("alibo", None), ("shwa", "shaw"), ("extrapolaton", "extrapolation"),
     ("sinusiodal", "sinusoidal"), ("wavelenght", "wavelength"), ("perplexty", "perplexity"),
     ("tokn", "token"), ("attenton", "attention"), ("kope", None)],
)  # fmt: skip
def test_a_slip_is_one_letter_of_a_short_word_and_two_of_a_longer(
    slip: str, meant: str | None
) -> None:
    assert search.find(slip).instead == ((meant,) if meant else ())


def test_nothing_near_is_a_sentence_and_no_list() -> None:
    found, count = drawn("zzzzz")
    assert found == ""
    assert count == (
        "Nothing has “zzzzz”, and no known word is near. Try “rope_theta”, “window” or “Llama”."
    )
    for word in ("rope_theta", "window", "Llama"):
        assert search.find(word).count > 0


def test_words_that_never_stand_together_are_found_apart() -> None:
    found = search.find("haystack slopes")
    assert found.partly
    assert found.count > 0
    assert drawn("haystack slopes")[1].startswith("Nothing has all of these words.")


def test_the_count_is_that_of_the_links() -> None:
    for words in ("rope", "cache", "passkey", "llama", "base"):
        links, count = drawn(words)
        shown, found = links.count("<a "), search.find(words, 10**6)
        assert len(found.entries) == found.count
        said = "1 result" if found.count == 1 else f"{found.count} results"
        assert count == said + (f", the first {shown}" if shown < found.count else ""), words
        assert shown == min(found.count, search.MOST)


def test_before_anything_is_typed_all_pages_are_there() -> None:
    for nothing in ("", "  ", "?!"):
        links, count = drawn(nothing)
        assert count == ""
        assert re.findall(r'href="(\w+)"', links) == [one.name for one in site.pages()]


def test_other_scripts_are_words_too() -> None:
    assert normal("RoPE外推！") == "rope 外推"
    assert normal("Ｒｏｔａｒｙ-Straße") == "rotary strasse"
    assert search.find("火星人").missing == ("火星人",)
    assert drawn("火星人")[1].startswith("Nothing has “火星人”, and")
    assert search.find("火星的位置编码").missing == ("火星",)
    assert search.find("การเข้ารหัส").missing == ("การเข้ารหัส",)


@given(words=st.text(max_size=60))
def test_whatever_is_typed_is_drawn_and_escaped(words: str) -> None:
    links, count = drawn(words)
    assert "<" not in count.replace("&lt;", "")
    allowed = r"</?(ul|li|a|b|i|small|span|div|p)( (href|target|class)=\"[^\"<>]*\")*>"
    assert "<" not in re.sub(allowed, "", links)


def test_an_excerpt_is_the_sentence_that_has_the_words() -> None:
    prose = "Heads look back. A needle is hidden. A needle lies in a haystack. No word of it."
    assert excerpt(prose, ["needle", "haystack"]).startswith("… A needle lies in a haystack.")
    assert excerpt(prose, ["absent"]) == prose
    long = " ".join(f"word{n}" for n in range(60)) + " positional encodings, and so on. The end."
    shown = excerpt(long, ["encoding"])
    assert "encodings" in shown
    assert shown.startswith("… word")
    assert len(shown) <= SHOWN + 4


def test_the_excerpts_of_all_explanations_show_a_word_that_found_them() -> None:
    for words in ("rope", "position encoding", "fused kernel", "induction", "bfloat16", "decay"):
        found = search.find(words, 999)
        for entry in found.entries:
            if entry.kind == "prose" and any(
                has(comparable(entry.body), word) for word in found.words
            ):
                shown = comparable(excerpt(entry.body, found.words))
                assert any(has(shown, word) for word in found.words), entry


def test_the_route_answers_on_every_page(playground: live.View) -> None:
    answer = TestClient(Starlette(routes=live.ROUTES)).get("/live/view/search?search=passkey")
    assert answer.status_code == 200
    assert "needle" in answer.json()["slots"]["found"]["markup"]
    assert answer.json()["slots"]["count"]["markup"] == "1 result"


# ----------------------------------------------------------------------------------- in Chinese


def in_english(words: str) -> list[tuple[str, str]]:
    """Kind and place of what is found, however the language names it."""
    return [(e.kind, e.address.partition("#")[0]) for e in search.find(words, 999).entries]


@pytest.mark.usefixtures("chinese")
def test_titles_labels_terms_and_the_glossary_are_found_by_their_chinese_names() -> None:
    for one in site.pages():
        title = text.say(one.title)
        assert one.address() in addresses(title)[:2], title
        labels = [text.say(label) for page in site.pages() for label in page.parts.values()]
        for part, label in one.parts.items():
            name = text.say(label)
            assert one.address(part) in addresses(name)[: max(3, labels.count(name) + 1)], name
        for term, part in one.terms.items():
            assert one.address(part) in addresses(text.say(term))[:3], text.say(term)
    for entry in search.index():
        for name in entry.names if entry.kind == "word" else ():
            assert entry in search.find(name).entries[:3], name
        if entry.kind == "claim":
            assert search.find(entry.title).entries[0] == entry


@pytest.mark.parametrize(
    "words",
    ["rope", "rope_theta", "困惑度", "偏置矩阵", "RoPE和ALiBi的区别", "rope 缓存", "sliding window",
     "什么是旋转位置编码", "haystack slopes", "rotery", "融合内核", "Llama 4"],
)  # fmt: skip
def test_both_languages_find_the_same_in_the_same_order(words: str) -> None:
    english = in_english(words)
    text.speak("zh")
    try:
        assert in_english(words) == english
        assert english
        shown = "".join(f"{e.title}{e.where}" for e in search.find(words).entries)
    finally:
        text.speak("en")
    assert re.search("[一-龥]", shown), words
    assert not re.search("[一-龥]", "".join(e.title for e in search.find(words).entries)), words


def test_the_index_has_the_same_things_in_each_language() -> None:
    languages = []
    for code in text.LANGUAGES:
        text.speak(code)
        languages.append([(e.kind, e.address.partition("#")[0]) for e in search.index()])
    text.speak("en")
    assert all(told == languages[0] for told in languages)


def test_a_word_of_the_chinese_prose_is_found_in_both_languages() -> None:
    prose = " ".join(body for one in site.pages() for _, body in zh_sections(one.name))
    # Pairs of characters that stand together, some of each explanation.
    runs = re.findall("[一-龥]{4,}", prose)
    for run in runs[::40]:
        assert search.find(run[:4]).count, run


def zh_sections(page: str) -> list[tuple[str, str]]:
    text.speak("zh")
    try:
        return text.sections(page)
    finally:
        text.speak("en")


@pytest.mark.usefixtures("chinese")
def test_an_explanation_is_opened_by_its_chinese_title_and_by_no_other() -> None:
    for entry in search.index():
        if "#read=" in entry.address:
            read = unquote(entry.address.partition("#read=")[2])
            assert read == entry.title
            assert re.search("[一-龥]", read)
    for one in site.pages():
        titles = [title for title, _ in text.sections(one.name)]
        titles.append(text.title("glossary", "Words"))
        for title in titles:  # the browser opens the first that ends so
            assert next(each for each in titles if each.endswith(title)) == title


@pytest.mark.usefixtures("chinese")
def test_kinds_counts_and_slips_are_told_in_chinese() -> None:
    links, count = drawn("困惑渡")
    assert count.startswith("没有结果含“困惑渡”；最接近的已知词是“困惑度”。")
    assert not re.search("[。！？] ", count)
    assert "<small>词</small>" in links
    assert drawn("火星人")[1].startswith("没有结果含“火星人”，也没有")
    assert re.fullmatch(r"\d+ 个结果(，前 \d+ 个)?", drawn("缓存")[1])
    assert search.find("位置编码好").instead == ()  # a word too many is no slip
    assert search.find("RoPE和ALiBi").missing == ()


@pytest.mark.usefixtures("chinese")
def test_a_chinese_excerpt_has_whole_sentences_and_the_words() -> None:
    prose = "头往回看。一根针藏在文本里。针在草堆里，谁也看不见。此外什么也没有。"
    assert excerpt(prose, ["草堆"]) == "… 针在草堆里，谁也看不见。此外什么也没有。"
    long = "，".join(f"这是第{n}个从句而且很长" for n in range(30)) + "，最后才说到频率。完。"
    shown = excerpt(long, ["频率"])
    assert "频率" in shown
    assert shown.startswith("… 这是第")
    assert width(shown) <= SHOWN + 4
    for words in ("融合内核", "维度对", "舍入", "cache"):
        for entry in search.find(words, 99).entries:
            if entry.kind == "prose" and entry.body:
                shown = excerpt(entry.body, search.find(words).words)
                assert width(shown) <= SHOWN + 60, shown


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    "words", ["融合内核", "斜坡", "旋转位置编码和相对位置编码有什么区别", "fused"]
)
def test_a_keystroke_in_chinese_costs_less_than_five_milliseconds(words: str) -> None:
    VIEW.draw(search=words)
    costs = []
    for _ in range(5):
        start = time.process_time()
        VIEW.draw(search=words)
        costs.append(time.process_time() - start)
    assert min(costs) < 0.005, costs
