"""posviz: how Transformers know where a token stands, as exact numbers and pictures.

The modules are loaded when they are first named, so ``import posviz`` costs next to nothing and
what follows needs NumPy only. Pictures, pages and models stand apart: ``posviz.figures``,
``posviz.ui``.
"""

import importlib
from types import ModuleType

__all__ = [
    "alibi",
    "arrays",
    "attention",
    "catalog",
    "distance",
    "extrapolation",
    "haystacks",
    "hf_config",
    "hf_model_types",
    "invariants",
    "learned",
    "measured",
    "mla",
    "mrope",
    "params",
    "precision",
    "presets",
    "published",
    "qk_norm",
    "relative",
    "rope",
    "rope_scaling",
    "sinusoidal",
    "transformer_xl",
    "xpos",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"posviz.{name}")
    raise AttributeError(f"module 'posviz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
