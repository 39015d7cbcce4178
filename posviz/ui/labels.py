"""What a reader calls scaling methods and trained models, and the colours of the latter.

English message ids: whoever shows one puts it through :func:`posviz.ui.text.say`.
"""

from __future__ import annotations

METHODS = {
    "default": "none", "linear": "PI", "ntk": "NTK", "dynamic": "dynamic NTK", "yarn": "YaRN",
    "llama3": "Llama 3",
}  # fmt: skip
"""Scaling methods by ``rope_type`` that a factor alone sets."""

ALL_METHODS = METHODS | {"longrope": "LongRoPE", "proportional": "proportional"}
"""All of them."""

ENCODINGS = {
    "rope": "RoPE", "alibi": "ALiBi", "rope_alibi": "RoPE + ALiBi", "t5": "T5",
    "sinusoidal": "sinusoidal", "learned": "learned", "none": "no encoding",
}  # fmt: skip
"""Encodings that models are trained with."""

FAMILIES = {
    "rope-500": ("RoPE, base 500", "rope"),
    "rope-10000": ("RoPE, base 10,000", "rope_10000"),
    "alibi": ("ALiBi", "alibi"),
    "t5": ("T5 bias", "t5"),
    "sinusoidal": ("sinusoidal", "sinusoidal"),
    "learned": ("learned", "learned"),
    "none": ("no encoding", "none"),
}
"""Label and colour of each family of models of the names language."""
