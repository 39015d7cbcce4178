"""What stands where a number belongs is refused by a sentence, or answered by numbers."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import posviz
from posviz import (
    catalog,
    claims,
    comparison,
    export,
    mla,
    picker,
    precision,
    rope,
    rope_scaling,
)
from posviz.claims import CLAIMS
from posviz.params import InvalidParameterError

SECONDS = 2.0

BAD = [
    math.nan, math.inf, -math.inf, -1, 0, 0.5, 1.5, -0.0, True, "8", "", b"8", None, 1j, 2**31,
    10**18, 10**400, 1e300, 5e-324, [], [math.nan], [[1.0], [2.0, 3.0]], ["8"], {}, np.int8(-3),
    np.float16(math.inf), np.array([True]), object(),
]  # fmt: skip
"""What is put where a number, or an array of numbers, belongs."""

NUMERIC = re.compile(r"\b(int|float|ArrayLike|NDArray|Sequence\[(int|float)\])")

APART = {
    "claim_evidence": "answers a claim's handle, which checks: the test below",
    "arrays": "checks arguments itself, under names and limits that its callers write",
    "params": "checks arguments itself, under names and limits that its callers write",
    "config_finding": "examines files, in which any value may stand: tests/test_config_doctor.py",
    "config_kin": "examines files, in which any value may stand: tests/test_config_doctor.py",
    "config_mended": "examines files, in which any value may stand: tests/test_config_mended.py",
    "config_names": "compares names",
}

FREQUENCIES = [1.0, 0.1, 0.01, 0.001]
VECTOR = [0.5, -1.0, 2.0, 0.25, 1.0, 3.0, -0.5, 0.75]
ROWS = np.arange(48.0).reshape(6, 8) / 10.0
ROPE = rope.RoPE(8)
YARN = rope_scaling.Yarn(4.0, 64)
SHAPE = catalog.Shape(2, 4, 8, 64)

GOOD: dict[str, Any] = {
    "a": 1.0, "alpha": 2.0, "angle": [1.0], "angles": [0.1, 0.2, 0.3, 0.4],
    "attention_mask": [1, 1, 0], "axis": -1, "b": 2.0, "back": 3.0, "base": 10000.0,
    "case": picker.Case("rope", 4096, 16384), "casts": precision.Casts(), "context": 64,
    "count": 4, "d_head": 8, "d_model": 8, "depth": 0.5, "dims": mla.MLA(), "distance": 3,
    "distances": [0, 1], "draws": 8, "dtype": "bfloat16", "encoding": "rope", "factor": 2.0,
    "family": "names-rope-500", "first": YARN, "floor_scale": 8, "found": ROWS[:, :6],
    "gain": [1.0] * 8, "head": 1, "head_dim": 8, "heads": 4, "inv_freq": FREQUENCIES, "k": VECTOR,
    "k_len": 6, "k_position": 2.0, "k_positions": [2.0], "kind": "free", "layout": "half",
    "length": 256, "limits": 2.0, "looked_for": 3.0, "m": 1.0, "max_position_embeddings": 64,
    "max_relative_position": 4, "mean": 0.0, "method": "yarn", "method_a": "yarn",
    "method_b": "default", "model": "names-rope-500-seed0", "mrope_section": [2, 1, 1],
    "multiple": 4.0, "n": 3.0, "name": "rope", "num_buckets": 32, "num_heads": 4,
    "num_key_value_heads": 2, "num_kv_heads": 2, "num_layers": 2, "number": 64.0,
    "numbers": [1, 2], "offset": 1.0, "order": "before", "original_max_position_embeddings": 64,
    "other": [2.0], "outcome": "yarn",
    "outputs": ROWS, "pair": 2.0, "pairs": 4, "plain": ROPE, "position": 3,
    "positions": [0, 1, 2], "q": VECTOR, "q_len": 6, "q_position": 3.0, "q_positions": [3.0],
    "ratio": 2.0, "relative_position": [-3, 2], "rope": ROPE, "rope_theta": 10000.0,
    "rotary_dim": 8, "rotated_inside": True, "row": 1, "rows": 8, "same": [0, 1], "scale": "log",
    "scaled_inv_freq": FREQUENCIES, "scaling": YARN, "scores": [1.0, 2.0], "second": YARN,
    "seq_len": 6, "seq_lens": [6, 8], "setting": export.Setting(ROPE, YARN, 8, 256, 64),
    "shape": SHAPE, "shift": 2.0, "shifts": [1.0, 2.0], "slope": 0.5, "spread": 0.1,
    "starts": [0, 2], "step": 1.0, "table": ROWS,
    "tables": comparison.Tables(ROWS, np.zeros((32, 4))), "target": 16384, "times": 4.0,
    "tokens": ["a", "b"], "trained": 64, "usable": 128.0, "value": 2.0, "values": [1.0, 2.0, 3.0],
    "variant": "paper", "x": VECTOR, "year": 2020, "zeta": [0.9, 0.95, 0.97, 0.99],
}  # fmt: skip
"""An argument of each name that is right for most functions; OWN has those of single ones."""

HEADS = np.ones((2, 3, 8))
TERMS = {"q": HEADS, "k": HEADS, "r": HEADS, "u": HEADS[:, 0], "v": HEADS[:, 0]}
MODEL = {"name": "Llama-3.1-8B-Instruct"}
OWN: dict[str, dict[str, Any]] = {
    "cache_timeline.Timeline": {"prompt": 8, "total": 32},
    "catalog.Encoding": {
        one.name: getattr(catalog.ENCODINGS[0], one.name)
        for one in dataclasses.fields(catalog.ENCODINGS[0])
    },
    "comparison.Tables": {"learned": ROWS, "t5": np.ones((32, 4))},
    "order.is_mirrored": {"order": [1, 0]},
    "picker.Case": {"start": "rope", "trained": 4096, "target": 8192},
    "rope_scaling.LongRope": {
        "short_factor": (1.0,) * 4, "long_factor": (2.0,) * 4, "factor": 2.0,
    },
    "comparison.scores": {"x": ROWS},
    "haystacks.grid": {"method": "yarn", "factor": 8.0},
    "hf_config.layer_types_of": {"text": {"num_hidden_layers": 4}},
    "hf_config.rope_frequencies": {"config": {"head_dim": 8}, "seq_len": 64},
    "learned.interpolate": {"seq_len": 12},
    "measured.copying": {"model": "copying-rope-seed0"},
    "mrope.rotate": {"positions": [1, 2, 3]},
    "order.attend": {"x": ROWS},
    "order.compare": {"x": ROWS, "order": [1, 0, 2, 3, 4, 5]},
    "picker.case_of": MODEL,
    "precision.worst_cosine_errors": {"inv_freq": 0.1},
    "presets.layers": MODEL,
    "presets.reach": MODEL,
    "presets.unseen": MODEL,
    "qk_norm.order_difference": {"q": ROWS, "k": ROWS},
    "qk_norm.scores": {"q": ROWS, "k": ROWS},
    "qk_norm.shifted_scores": {"positions": (1.0, 2.0)},
    "relative.shaw_scores": {"q": ROWS, "k": ROWS, "key_table": np.ones((5, 8))},
    "relative.shaw_values": {
        "weights": np.full((6, 6), 1 / 6), "v": ROWS, "value_table": np.ones((5, 8)),
    },
    "rope_units.conversions": {"name": "alpha"},
    "sinusoidal.shift_matrix": {"k": 3},
    "sinusoidal.shift_residual": {"k": 3},
    "transformer_xl.absolute_terms": dict.fromkeys(("q", "k", "q_position", "k_position"), HEADS),
    "transformer_xl.full_relative_shift": {"x": np.ones((2, 3, 8))},
    "transformer_xl.heads": {"x": ROWS, "weight": np.ones((16, 8))},
    "transformer_xl.relative_shift": {"x": ROWS},
    "transformer_xl.terms": TERMS,
    "transformer_xl.two_products": TERMS,
}  # fmt: skip


def numeric_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function of the core, and class that checks, with a number or an array."""
    for module in posviz.__all__:
        if module in APART:
            continue
        loaded = importlib.import_module(f"posviz.{module}")
        for name, made in vars(loaded).items():
            is_class = inspect.isclass(made) and hasattr(made, "__post_init__")
            is_checked = inspect.isfunction(made) or is_class
            is_own = is_checked and made.__module__ == loaded.__name__
            if is_own and not name.startswith("_") and numeric(made):
                yield f"{module}.{name}", made


def numeric(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that take numbers."""
    parameters = inspect.signature(function).parameters.values()
    return [
        one.name for one in parameters
        if NUMERIC.search(str(one.annotation)) and "Callable" not in str(one.annotation)
    ]  # fmt: skip


FUNCTIONS = dict(numeric_functions())
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def right_arguments(name: str) -> dict[str, Any]:
    """Arguments with which the function answers."""
    own = OWN.get(name, {})
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    return {
        one.name: own.get(one.name, GOOD.get(one.name))
        for one in parameters
        if one.name in own or (one.default is one.empty and one.kind is not one.VAR_POSITIONAL)
    }


def call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """What a function returns for arguments by name."""
    by_place, by_name = [], {}
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is one.POSITIONAL_ONLY or (
            one.kind is one.VAR_POSITIONAL and name in arguments
        ):
            by_place.append(arguments[name])
        elif name in arguments:
            by_name[name] = arguments[name]
    return function(*by_place, **by_name)


def numbers_of(result: Any) -> Iterator[float]:
    """Every number in what a function returned."""
    if isinstance(result, np.ndarray):
        if result.dtype.kind in "fc":
            yield from result.ravel().tolist()
    elif isinstance(result, (float, np.floating)):
        yield float(result)
    elif isinstance(result, Mapping):
        for value in result.values():
            yield from numbers_of(value)
    elif isinstance(result, (tuple, list)):
        for value in result:
            yield from numbers_of(value)
    elif dataclasses.is_dataclass(result):
        for one in dataclasses.fields(result):
            yield from numbers_of(getattr(result, one.name))


def wrong_in(name: str, result: Any) -> list[float]:
    """Numbers in a result that are none; an infinite one may be there if the docstring says so."""
    may_be_infinite = "infinit" in (FUNCTIONS[name].__doc__ or "").lower()
    return [
        one
        for one in numbers_of(result)
        if math.isnan(one) or (math.isinf(one) and not may_be_infinite)
    ]


@every_function
def test_right_arguments_are_answered_by_numbers(name: str) -> None:
    assert not wrong_in(name, call(FUNCTIONS[name], right_arguments(name)))


@every_function
def test_a_bad_argument_is_answered_by_a_sentence_or_by_numbers(name: str) -> None:
    function, right = FUNCTIONS[name], right_arguments(name)
    for parameter in numeric(function):
        for bad in BAD:
            start = time.perf_counter()
            try:
                wrong = wrong_in(name, call(function, right | {parameter: bad}))
            except InvalidParameterError as refusal:
                said = str(refusal)
                assert " got " in said, (parameter, bad, said)
                assert len(said) < 1000, (parameter, bad)
            else:
                assert not wrong, (parameter, bad, wrong[:3])
            assert time.perf_counter() - start < SECONDS, (parameter, bad)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_answers_what_its_handle_lets_through(claim: claims.Claim) -> None:
    for bad in BAD:
        if claim.handle is None:
            continue
        try:
            value = claim.handle.check(bad)
        except InvalidParameterError as refusal:
            assert " got " in str(refusal)
        else:
            assert all(map(math.isfinite, numbers_of(claim.evidence(value).numbers))), bad
