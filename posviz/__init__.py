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
    "cache_timeline",
    "catalog",
    "claim_evidence",
    "claims",
    "comparison",
    "config_base",
    "config_doctor",
    "config_engines",
    "config_finding",
    "config_flags",
    "config_head",
    "config_kin",
    "config_layers",
    "config_mended",
    "config_names",
    "config_plain",
    "config_release",
    "config_rules",
    "config_settings",
    "config_text",
    "distance",
    "export",
    "extrapolation",
    "haystacks",
    "hf_config",
    "hf_model_types",
    "invariants",
    "learned",
    "measured",
    "mistake_outcome",
    "mistake_settings",
    "mistakes",
    "mla",
    "mrope",
    "order",
    "params",
    "picker",
    "picker_evidence",
    "picker_settings",
    "pitfalls",
    "precision",
    "presets",
    "published",
    "qk_norm",
    "relative",
    "rope",
    "rope_scaling",
    "rope_units",
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
