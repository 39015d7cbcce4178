"""Published curves, against numbers written here a second time and shapes that they support."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from posviz import published
from posviz.params import InvalidParameterError
from posviz.rope_scaling import ROPE_SCALINGS

ENCODINGS = {"sinusoidal", "rope", "t5", "alibi", "none", "learned"}

# (table, series, length): value
PRINTED = {
    ("alibi-2", "sinusoidal", 1012): 43.54,
    ("alibi-2", "T5 bias", 12512): 64.94,
    ("alibi-2", "ALiBi", 15512): 18.31,
    ("alibi-3", "RoPE", 2024): 31.17,
    ("alibi-3", "ALiBi", 3024): 17.92,
    ("alibi-4", "sinusoidal", 6072): 65.01,
    ("alibi-4", "T5 bias", 13072): 19.1,
    ("alibi-5", "ALiBi, trained at 512", 3072): 18.4,
    ("alibi-5", "sinusoidal, trained at each length", 3072): 18.67,
    ("alibi-12", "sinusoidal, trained at 1,024", 2048): 48.85,
    ("alibi-12", "ALiBi, trained at 512", 1024): 9.3,
    ("pi-1", "LLaMA 7B", 2048): 7.2,
    ("pi-1", "fine-tuned at 8,192 without scaling", 8192): 7.69,
    ("pi-1", "PI, fine-tuned at 32,768", 32768): 6.77,
    ("pi-2", "PI, fine-tuned at 16,384", 16384): 2.25,
    ("pi-3", "PI, no fine-tuning", 8192): 16.1,
    ("pi-3", "PI, no fine-tuning", 16384): 112.13,
    ("pi-3", "PI, 200 steps", 16384): 7.05,
    ("yarn-1", "NTK, base 20,000", 10240): 6.24,
    ("yarn-1", "PI, s = 2", 10240): 8.07,
    ("yarn-1-raw", "YaRN, s = 2", 16384): 77.2326889038086,
    ("yarn-2", "7B, YaRN, s = 32", 131072): 2.37,
    ("yarn-2-raw", "7B, PI, fine-tuned at 32k", 65536): 187.6531525,
    ("yarn-70b-raw", "Llama 2 70B", 6144): 11.858061790466309,
    ("yarn-70b-raw", "70B, YaRN, fine-tuned at 32k", 32768): 2.2288265228271484,
    ("longrope-1-pg19", "YaRN", 8192): 32.64,
    ("longrope-1-proof-pile", "dynamic NTK", 16384): 3.87,
    ("longrope-5", "PI (LongLoRA), fine-tuned at 100k", 131072): 9.89,
    ("longrope-5", "YaRN, s = 32", 262144): 99.64,
    ("kazemnejad-figure-1", "no encoding", 40): 0.69,
    ("kazemnejad-3", "RoPE", 1200): 3.323,
    ("kazemnejad-3", "ALiBi", 2560): 150.322,
    ("haviv-1-wikitext-103", "no encoding", 512): 20.97,
    ("haviv-1-pile", "ALiBi", 1024): 12.51,
    ("haviv-3", "learned", 2048): 12.72,
    ("rerope", "Llama 2 13B", 8192): 8.8615,
    ("rerope", "ReRoPE, window 1,024", 16384): 1.4001,
}
# table: printed numbers, bounds in their place
COUNTS = {
    "alibi-2": (137, 0), "alibi-3": (136, 0), "alibi-4": (129, 0), "alibi-5": (43, 0),
    "alibi-12": (12, 0), "pi-1": (16, 4), "pi-2": (16, 0), "pi-3": (12, 0), "yarn-1": (15, 0),
    "yarn-1-raw": (24, 0), "yarn-2": (28, 7), "yarn-2-raw": (76, 0), "yarn-70b-raw": (16, 0),
    "longrope-1-pg19": (8, 0), "longrope-1-proof-pile": (8, 0), "longrope-5": (42, 14),
    "kazemnejad-figure-1": (5, 0), "kazemnejad-3": (36, 0), "haviv-1-wikitext-103": (4, 0),
    "haviv-1-pile": (4, 0), "haviv-3": (16, 0), "rerope": (8, 0),
}  # fmt: skip


def line(table: str, label: str, *, relative: bool = False) -> published.Series:
    found = published.table(table)
    series = found.relative() if relative else found.series
    return next(one for one in series if one.label == label)


def value(table: str, label: str, length: int) -> float:
    one = line(table, label)
    return float(one.values[one.lengths == length][0])


@pytest.mark.parametrize(("table", "label", "length"), PRINTED)
def test_a_number_is_the_printed_one(table: str, label: str, length: int) -> None:
    assert value(table, label, length) == PRINTED[table, label, length]


def test_every_table_is_checked_here() -> None:
    assert {key[0] for key in PRINTED} == set(COUNTS) == set(published.TABLES)
    assert len(set(published.TABLES)) == len(published.TABLES)


@pytest.mark.parametrize("name", published.TABLES)
def test_a_table_says_whose_it_is_and_where(name: str) -> None:
    table = published.table(name)
    assert table.id == name
    assert table.address.startswith(("https://arxiv.org/abs/", "https://github.com/"))
    assert table.authors
    assert table.title
    assert table.where
    assert table.what.endswith(".")
    assert 2017 <= table.year <= 2024
    assert table.quantity.startswith((published.PERPLEXITY, published.LOSS, "mean reciprocal rank"))


@pytest.mark.parametrize("name", published.TABLES)
def test_series_are_lines_over_ascending_lengths(name: str) -> None:
    table = published.table(name)
    assert len({one.label for one in table.series}) == len(table.series) > 0
    for one in table.series:
        assert one.lengths.dtype == np.int64
        assert one.values.dtype == one.bounds.dtype == np.float64
        assert one.lengths.shape == one.values.shape == one.bounds.shape == one.multiples.shape
        assert (np.diff(one.lengths) > 0).all()
        assert (one.values[~np.isnan(one.values)] > 0).all()
        assert not (np.isfinite(one.values) & np.isfinite(one.bounds)).any()
        assert one.encoding in ENCODINGS | {None}
        assert one.rope_type in {*ROPE_SCALINGS, None}
        assert one.encoding == "rope" or one.rope_type is None


@pytest.mark.parametrize("name", published.TABLES)
def test_every_printed_number_and_bound_is_kept(name: str) -> None:
    series = published.table(name).series
    values = sum(int(np.isfinite(one.values).sum()) for one in series)
    bounds = sum(int(np.isfinite(one.bounds).sum()) for one in series)
    assert (values, bounds) == COUNTS[name]
    path = Path(published.__file__).with_name("published.json")
    written = next(t for t in json.loads(path.read_text())["tables"] if t["id"] == name)
    for one, cells in zip(series, written["series"], strict=True):
        for at, cell in enumerate(cells["values"]):
            assert np.isnan(one.values[at]) == (cell is None or isinstance(cell, str))
            assert np.isfinite(one.bounds[at]) == isinstance(cell, str)


def test_a_bound_stands_in_place_of_a_number() -> None:
    assert line("pi-1", "LLaMA 7B").bounds.tolist()[1:] == [1e3] * 4
    assert np.isnan(line("pi-1", "LLaMA 7B").values[1:]).all()
    assert line("yarn-2", "7B, PI, fine-tuned at 32k").bounds.tolist()[2:] == [1e2, 1e3, 1e4]


def test_numbers_cannot_be_written_over() -> None:
    for one in (*published.table("pi-3").series, *published.table("pi-3").relative()):
        for array in (one.lengths, one.values, one.bounds):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


@pytest.mark.parametrize("name", ["alibi-1", "", None, 7])
def test_an_unknown_table_is_told(name: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"^id must be one of alibi-2, .*, got "):
        published.table(name)  # type: ignore[arg-type]


def test_tables_are_found_by_encoding_and_method() -> None:
    def ids(tables: tuple[published.Table, ...]) -> list[str]:
        return [table.id for table in tables]

    assert ids(published.for_encoding("learned")) == [
        "haviv-1-wikitext-103", "haviv-1-pile", "haviv-3",
    ]  # fmt: skip
    assert ids(published.for_encoding("t5")) == [
        "alibi-2", "alibi-3", "alibi-4", "kazemnejad-figure-1",
    ]  # fmt: skip
    assert ids(published.for_method("dynamic")) == ["longrope-1-pg19", "longrope-1-proof-pile"]
    assert ids(published.for_method("longrope")) == [
        "longrope-1-pg19", "longrope-1-proof-pile", "longrope-5",
    ]  # fmt: skip
    assert "pi-3" in ids(published.for_method("linear"))
    assert published.for_method("llama3") == published.for_encoding("rope_alibi") == ()


def test_models_trained_from_scratch_are_not_called_fine_tuned() -> None:
    for name in published.TABLES:
        scratch = name.startswith(("alibi", "kazemnejad", "haviv"))
        for one in published.table(name).series:
            assert (one.fine_tuned is None) == scratch
    assert not any(s.fine_tuned for s in published.table("longrope-1-pg19").series)
    assert [s.fine_tuned for s in published.table("pi-3").series] == [False] + [True] * 5


def test_relative_values_begin_at_1_at_the_trained_context() -> None:
    for name in ("alibi-2", "alibi-12", "pi-1", "yarn-1", "yarn-70b-raw", "kazemnejad-3", "rerope"):
        for one in published.table(name).relative():
            assert one.values[one.multiples == 1.0].tolist() == [1.0]
    sinusoidal = line("alibi-2", "sinusoidal", relative=True)
    assert sinusoidal.values[sinusoidal.lengths == 1012][0] == pytest.approx(43.54 / 20.05)


def test_a_bound_is_relative_too() -> None:
    assert line("pi-1", "LLaMA 7B", relative=True).bounds[1] == pytest.approx(1e3 / 7.2)


def test_a_loss_is_relative_as_a_perplexity() -> None:
    plain = line("rerope", "Llama 2 13B", relative=True)
    assert plain.values[1] == pytest.approx(np.exp(8.8615 - 1.4967))


def test_interpolation_is_relative_to_the_untouched_model() -> None:
    assert published.table("pi-3").untouched == value("pi-1", "LLaMA 7B", 2048)
    first = line("pi-3", "PI, no fine-tuning", relative=True)
    assert first.values.tolist() == pytest.approx([16.1 / 7.2, 112.13 / 7.2])
    assert first.multiples.tolist() == [4.0, 8.0]


def test_without_a_value_at_the_trained_context_nothing_is_relative() -> None:
    for name in ("yarn-2", "longrope-1-pg19", "kazemnejad-figure-1", "haviv-3"):
        for one in published.table(name).relative():
            assert np.isnan(one.values).all()


def test_models_trained_at_each_length_are_never_beyond_it() -> None:
    assert published.table("haviv-3").trained_context is None
    assert line("haviv-3", "no encoding").multiples.tolist() == [1.0] * 4
    assert published.table("alibi-5").trained_context is None
    assert published.table("alibi-3").trained_context == 1024


# What the tables support.


@pytest.mark.parametrize("name", ["alibi-2", "alibi-3", "alibi-4"])
def test_alibi_falls_or_stays_flat_where_sinusoids_double_by_twice_the_context(name: str) -> None:
    alibi = line(name, "ALiBi", relative=True)
    assert alibi.values.max() < 1.002
    assert alibi.values[-1] < 0.98
    sinusoidal = line(name, "sinusoidal", relative=True)
    assert sinusoidal.values[sinusoidal.multiples <= 2.0][-1] > 2.0
    rope = line(name, "RoPE", relative=True)
    assert 1.0 < rope.values[-1] < sinusoidal.values[-1]


def test_alibi_trained_short_beats_sinusoids_trained_long() -> None:
    long = value("alibi-5", "sinusoidal, trained at each length", 3072)
    assert value("alibi-5", "ALiBi, trained at 512", 3072) < long


def test_yarn_reads_the_extended_context_and_no_more() -> None:
    assert value("yarn-1", "YaRN, s = 2", 8192) < 4.0
    assert value("yarn-1-raw", "YaRN, s = 2", 16384) > 50.0


def test_llama_2_untouched_breaks_within_twice_its_context() -> None:
    assert value("yarn-70b-raw", "Llama 2 70B", 8192) > 50.0
    assert value("rerope", "Llama 2 13B", 8192) > 5.0


def test_interpolation_needs_fine_tuning() -> None:
    untouched = published.table("pi-3").untouched
    assert (line("pi-3", "PI, no fine-tuning").values > 2 * untouched).all()
    assert (line("pi-3", "PI, 200 steps").values < untouched).all()


@pytest.mark.parametrize("table", ["yarn-1", "yarn-2"])
def test_a_table_agrees_with_its_raw_data(table: str) -> None:
    for one in published.table(table).series:
        raw = line(f"{table}-raw", one.label)
        shared = np.isin(raw.lengths, one.lengths)
        printed = one.values[np.isin(one.lengths, raw.lengths)]
        known = np.isfinite(printed)
        assert known.any()
        # Table 1 cuts some digits off where it should round them.
        assert np.abs(printed - raw.values[shared])[known].max() < 0.0101
