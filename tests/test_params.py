"""Parameters: declared ranges, links that read back, and errors that a reader can act on."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params
from posviz.params import Choice, InvalidParameterError, Number

NUMBERS = [value for value in vars(params).values() if isinstance(value, Number)]
LAYOUT = Choice(
    "layout", "Pairing", "half", ("half", "interleaved"), ("Halves", "Interleaved"), "Help."
)
every_number = pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)

# What came, and what the sentence must show of it.
NOT_A_NUMBER = {
    "nan": (math.nan, "nan"),
    "inf": (math.inf, "inf"),
    "minus_inf": (-math.inf, "-inf"),
    "text": ("eight", "'eight'"),
    "digits": ("8", "'8'"),
    "empty": ("", "''"),
    "bytes": (b"8", "8"),
    "None": (None, "None"),
    "True": (True, "True"),
    "False": (False, "False"),
    "numpy_bool": (np.True_, "True"),
    "list": ([8], "[8]"),
    "complex": (8j, "8j"),
    "googol": (10**100, "1e+100"),
    "minus_googol": (-(10**100), "-1e+100"),
    "beyond_float": (10**400, "got"),
    "beyond_text": (10**5000, "got"),
}
not_a_number = pytest.mark.parametrize(
    ("came", "shown"), NOT_A_NUMBER.values(), ids=NOT_A_NUMBER.keys()
)


def in_range(number):
    if number.pairs:
        return st.integers(int(number.low) // 2, int(number.high) // 2).map(lambda i: 2 * i)
    if number.is_whole:
        return st.integers(int(number.low), int(number.high))
    return st.floats(number.low, number.high)


@every_number
def test_default_and_both_ends_are_allowed(number):
    for value in (number.default, number.low, number.high):
        assert number.check(value) == value


@every_number
def test_a_step_outside_either_end_is_not_allowed(number):
    for value in (number.low - number.step, number.high + number.step):
        with pytest.raises(InvalidParameterError, match=rf"^{number.name} must be .*, got "):
            number.check(value)


@every_number
@not_a_number
def test_what_is_no_number_in_range_is_named_in_a_sentence(number, came, shown):
    with pytest.raises(InvalidParameterError, match=rf"^{number.name} must be ") as error:
        number.check(came)
    assert shown in str(error.value)


@every_number
def test_names_are_unique_and_declarations_complete(number):
    assert [other.name for other in NUMBERS].count(number.name) == 1
    assert number.label
    assert number.help.endswith((".", "!"))
    assert number.low < number.high
    assert number.step > 0


@every_number
@given(data=st.data())
def test_a_link_reads_back_what_it_wrote(number, data):
    value = data.draw(in_range(number))
    again = number.parse(number.write(value))
    assert again == value
    assert type(again) is (int if number.is_whole else float)


@every_number
@pytest.mark.parametrize(
    "text", ["", " ", "nan", "inf", "-inf", "1e999", "0x10", "eight", "1,024", "-1", "9" * 400]
)
def test_a_link_with_nonsense_is_refused(number, text):
    with pytest.raises(InvalidParameterError, match=rf"^{number.name} must be "):
        number.parse(text)


@pytest.mark.parametrize("came", [None, [], object()], ids=["None", "list", "object"])
def test_a_link_without_text_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^position must be "):
        params.POSITION.parse(came)


@every_number
@given(data=st.data())
def test_nearest_keeps_an_allowed_value(number, data):
    value = data.draw(in_range(number))
    assert number.nearest(number.write(value)) == value


@every_number
def test_nearest_moves_what_is_outside_to_the_end_and_nonsense_to_the_default(number):
    assert number.nearest("-1e99") == number.low
    assert number.nearest("1e99") == number.high
    assert number.nearest("inf") == number.high
    for text in ("", "nan", "eight"):
        assert number.nearest(text) == number.default


def test_nearest_of_a_pair_is_even():
    assert params.HEAD_DIM.nearest("63") in (62, 64)
    assert params.HEAD_DIM.nearest("63.9") in (62, 64)
    assert params.NUM_HEADS.nearest("2.5") in (2, 3)


@given(st.text(max_size=20))
def test_any_text_in_a_link_is_a_value_in_range_or_a_sentence(text):
    for number in (params.HEAD_DIM, params.FACTOR):
        try:
            value = number.parse(text)
        except InvalidParameterError as error:
            assert str(error).startswith(number.name)
        else:
            assert number.low <= value <= number.high


def test_a_whole_number_is_written_without_a_point():
    assert params.ROPE_THETA.write(500_000.0) == "500000"
    assert params.FACTOR.write(2.5) == "2.5"
    assert params.HEAD_DIM.write(64) == "64"


def test_whole_parameters_refuse_halves_and_pairs_refuse_odd_numbers():
    with pytest.raises(InvalidParameterError, match=r"^num_heads must be a whole .* got 2.5"):
        params.NUM_HEADS.check(2.5)
    with pytest.raises(InvalidParameterError, match=r"^head_dim must be even, .* got 63$"):
        params.HEAD_DIM.check(63)
    with pytest.raises(InvalidParameterError, match=r"^head_dim must be even"):
        params.HEAD_DIM.parse("63")


def test_within_moves_the_end_and_keeps_the_default_inside():
    narrow = params.PAIR.within(high=15)
    assert (narrow.high, narrow.default) == (15, 15)
    assert params.PAIR.within(high=63).default == params.PAIR.default
    assert params.PAIR.within(high=63, default=7).default == 7
    assert params.PAIR.high == 127, "the declaration itself must not change"
    with pytest.raises(InvalidParameterError, match=r"^pair must be a whole number from 0 to 15"):
        narrow.check(16)


def test_a_choice_allows_its_options_and_nothing_else():
    for option, label in zip(LAYOUT.options, LAYOUT.labels, strict=True):
        assert LAYOUT.parse(LAYOUT.write(option)) == option
        assert LAYOUT.label_of(option) == label
    for came in ("Half", "", None, True, 0, ["half"], math.nan):
        for ask in (LAYOUT.check, LAYOUT.parse, LAYOUT.label_of):
            with pytest.raises(
                InvalidParameterError, match=r"^layout must be one of half, interleaved, got "
            ):
                ask(came)


def test_a_choice_of_many_options_names_the_nearest_three():
    options = (*(f"Llama-3.{n}-8B-Instruct" for n in range(20)), "gpt-oss-20b", "t5-small")
    many = Choice("model", "Model", "t5-small", options, options, "")
    assert many.check("gpt-oss-20b") == "gpt-oss-20b"
    with pytest.raises(InvalidParameterError) as wrong:
        many.check("llama-3.17-8b")
    told = str(wrong.value)
    assert told.startswith("model must be one of 22 options, the nearest are Llama-3.17-8B-Instr")
    assert told.endswith("got 'llama-3.17-8b'")
    assert told.count("Llama") == 3


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_came_is_never_shown_as_an_allowed_number(value):
    try:
        params.real("factor", value, 1.0, 64.0)
    except InvalidParameterError as error:
        shown = float(str(error).rpartition("got ")[2].replace(",", ""))
        assert not 1.0 <= shown <= 64.0


@pytest.mark.parametrize("value", [0.9999999999, 64.0000001])
def test_a_number_just_outside_is_shown_as_outside(value):
    with pytest.raises(InvalidParameterError) as error:
        params.FACTOR.check(value)
    assert not str(error.value).endswith(("got 1", "got 64"))


def test_an_exclusive_end_is_said_and_kept():
    assert params.real("base", 1.0000001, 1.0, above=True) == 1.0000001
    with pytest.raises(InvalidParameterError, match=r"^base must be .* above 1, got 1$"):
        params.real("base", 1.0, 1.0, above=True)


def test_numpy_numbers_count_as_numbers():
    assert type(params.whole("seq_len", np.int64(3), 1)) is int
    assert type(params.real("factor", np.float32(2.5), 1.0)) is float
    with pytest.raises(InvalidParameterError, match=r"got -3$"):
        params.whole("seq_len", np.int64(-3), 1)


def test_an_error_keeps_its_template_and_values_for_translation():
    with pytest.raises(InvalidParameterError) as error:
        params.FACTOR.check(0.5)
    assert str(error.value) == "factor must be a number from 1 to 64, got 0.5"
    assert error.value.template.format(**error.value.values) == str(error.value)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (131072, "131,072"),
        (10_000.0, "10,000"),
        (0.5, "0.5"),
        (-0.0, "0"),
        (math.nan, "nan"),
        (None, "None"),
        (True, "True"),
        ("x" * 50, "'" + "x" * 39 + "…'"),
        ("a\xa0b", "'a\xa0b'"),
        ("我\u3000打", "'我\u3000打'"),
        ("a\n\x00\u200b\u202e\ud800b", "'a·····b'"),
        ("👨\u200d👩", "'👨\u200d👩'"),
        ("back\\slash", "'back\\slash'"),
        ("don't", '"don\'t"'),
    ],
)
def test_values_are_shown_as_a_reader_writes_them(value, text):
    assert params.shown(value) == text


@pytest.mark.parametrize(
    "came", [3, 3.0, np.int8(3), np.uint64(3), np.float16(3), np.longdouble(3), np.array(3.0)],
    ids=repr,
)  # fmt: skip
def test_a_real_number_of_any_type_becomes_a_float(came):
    found = params.real("x", came, 0.0)
    assert (found, type(found)) == (3.0, float)


@pytest.mark.parametrize(
    "came",
    [np.complex64(1 + 2j), np.complex128(1), Decimal(1), Fraction(1, 2), np.array([1.0]),
     np.array(True), np.array(1j), np.datetime64("2020-01-01"), np.timedelta64(1)],
    ids=repr,
)  # fmt: skip
def test_what_is_not_one_int_or_float_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^x must be a finite number of at least 0, "):
        params.real("x", came, 0.0)


def test_a_real_number_without_ends_has_a_sentence_without_them():
    with pytest.raises(InvalidParameterError, match=r"^x must be a finite number, got nan$"):
        params.real("x", math.nan, -math.inf)


@pytest.mark.parametrize(
    ("came", "got"),
    [(128.0, "128.0"), (np.float32(128), "128.0"), (np.float64(2.5), "2.5"), (math.inf, "inf"),
     (1, "1"), ("128", "'128'")],
    ids=repr,
)  # fmt: skip
def test_a_float_where_a_whole_number_belongs_is_not_shown_as_one(came, got):
    with pytest.raises(InvalidParameterError) as error:
        params.whole("head_dim", came, 2)
    assert str(error.value) == f"head_dim must be a whole number of at least 2, got {got}"


def test_numpy_floats_are_shown_as_floats_are():
    for value in (0.1, 1234.0, 1e300, math.nan):
        assert params.shown(np.float64(value)) == params.shown(value)
    assert params.shown(np.float32(1234.5)) == "1234.5"


@pytest.mark.parametrize("came", [None, "rope", 3, Number], ids=repr)
def test_an_object_of_another_class_is_refused_by_the_name_of_its_own(came):
    params.instance("number", params.HEAD_DIM, Number)
    with pytest.raises(
        InvalidParameterError, match=r"^number must be an object of the class Number, got "
    ):
        params.instance("number", came, Number)


SENTENCE = params.Text("text", "Sentence", "I hit him", 12, "Help.")


def test_a_text_is_one_line_of_limited_length_in_any_script():
    for line in ("", "I hit him", "我\u3000打\xa0他", "a" * 12, "👨\u200d👩", "\u200fשלום\u200b"):
        assert SENTENCE.parse(SENTENCE.write(line)) == line
    for came in ("a" * 13, "a\nb", "a\tb", "a\x00", "a\u2028b", "a\ud800", None, 3, ["a"]):
        with pytest.raises(
            InvalidParameterError, match=r"^text must be one line of up to 12 characters, got "
        ):
            SENTENCE.check(came)


@given(st.permutations(range(5)))
def test_an_order_reads_back_from_a_link(order):
    parameter = params.Order("order", 5)
    assert parameter.parse(parameter.write(tuple(order))) == tuple(order)
    assert parameter.check(tuple(order)) == tuple(order)


def test_an_order_may_begin_rearranged():
    assert params.Order("order", 3).default == (0, 1, 2)
    assert params.Order("order", 3, (2, 1, 0)).default == (2, 1, 0)


@pytest.mark.parametrize(
    "came", ["", "0-1", "0-1-1", "0-1-3", "0-1-2-3", "a-b-c", "00-1-2", "-0-1-2", "²-0-1", "2 -0-1"]
)
def test_an_order_that_is_none_is_told(came):
    with pytest.raises(
        InvalidParameterError, match=r"^order must have each number from 0 to 2 once, joined by -"
    ):
        params.Order("order", 3).parse(came)


METHODS = params.Several("methods", "Methods", ("yarn",), ("yarn", "ntk", "linear"), "YNL", "", 2)


@given(st.lists(st.sampled_from(METHODS.options), unique=True, max_size=2))
def test_several_options_read_back_from_a_link_in_their_declared_order(chosen):
    value = METHODS.check(tuple(chosen))
    assert METHODS.parse(METHODS.write(value)) == value
    assert sorted(value, key=METHODS.options.index) == list(value)


@pytest.mark.parametrize("came", ["yarn,", "yarn,yarn", "yarn ntk", "YARN", "yarn,ntk,linear", ","])
def test_options_that_are_none_twice_or_too_many_are_told(came):
    with pytest.raises(
        InvalidParameterError, match=r"^methods must be up to 2 of yarn, ntk, linear, joined by"
    ):
        METHODS.parse(came)
