"""Names of keys in configs, and what a slip or another program's word for one means."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

# Longer ones are no slip of a name.
LONGEST_NAME = 60

# Names at the top that a slip may have meant; others are too close to names of other things.
MEANT_AT_THE_TOP = (
    "rope_theta", "rope_scaling", "rope_parameters", "max_position_embeddings",
    "original_max_position_embeddings", "partial_rotary_factor", "rotary_pct", "rotary_dim",
    "head_dim", "hidden_size", "num_attention_heads", "rope_local_base_freq", "layer_types",
    "no_rope_layers", "qk_rope_head_dim", "qk_nope_head_dim", "sliding_window", "model_type",
)  # fmt: skip
# Names of other things, close to one of these.
NO_SLIPS = {
    "hidden_sizes", "layer_type", "num_position_embeddings", "position_embedding_size",
    "sliding_windows",
}  # fmt: skip
# Other programs' names for the same thing.
SYNONYMS = {
    "ropebase": "rope_theta", "rotarybase": "rope_theta", "ropefreqbase": "rope_theta",
    "ropethetabase": "rope_theta", "theta": "rope_theta", "thetabase": "rope_theta",
    "ropetheta0": "rope_theta", "ropeembtheta": "rope_theta",
}  # fmt: skip
SYNONYMS_INSIDE = {
    **SYNONYMS, "base": "rope_theta", "scalingfactor": "factor", "scale": "factor",
    "scalefactor": "factor", "ropefactor": "factor", "ropescale": "factor",
    "ropescalingfactor": "factor", "scaling": "factor", "method": "rope_type", "name": "rope_type",
    "scalingtype": "rope_type", "ropescalingtype": "rope_type", "kind": "rope_type",
    "betahigh": "beta_fast", "betalow": "beta_slow", "ntkbeta": "beta_fast",
    "ntkalpha": "beta_slow",
    "originalmaxpositionembedding": "original_max_position_embeddings",
    "originalmaxposition": "original_max_position_embeddings",
    "origmaxpositionembeddings": "original_max_position_embeddings",
    "originalcontextlength": "original_max_position_embeddings",
    "originalmaxlen": "original_max_position_embeddings",
    "originalseqlen": "original_max_position_embeddings",
    "yarnorigctx": "original_max_position_embeddings",
    "attentionscaling": "attention_factor", "attnscale": "attention_factor",
}  # fmt: skip
OTHER_METHODS = {
    "dynamicntk": "dynamic", "ntkdynamic": "dynamic", "dynamicntkscaling": "dynamic",
    "ntkaware": "ntk", "pi": "linear", "interpolation": "linear", "positioninterpolation": "linear",
    "lineargscaling": "linear", "none": "default", "null": "default", "plain": "default",
    "llama31": "llama3", "llama32": "llama3", "llama33": "llama3", "llama": "llama3",
    "ntkbyparts": "llama3", "longropescaled": "longrope", "yarnscaling": "yarn",
}  # fmt: skip
# Methods of other programs that are none of these.
METHODS_OF_OTHERS = {"dynamicyarn", "yarndynamic", "alibi", "xpos"}


def bare(name: str) -> str:
    """Letters and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def meant_name(
    name: object, known: Iterable[str], synonyms: Mapping[str, str], cutoff: float = 0.8
) -> str | None:
    """The known name that ``name`` is a slip or another word for."""
    if not isinstance(name, str) or not 2 < len(name) <= LONGEST_NAME:
        return None
    plain = bare(name)
    by_bare = {bare(each): each for each in known}
    if plain in by_bare:
        return by_bare[plain]
    if plain in synonyms:
        return synonyms[plain]
    close = difflib.get_close_matches(plain, list(by_bare), 1, cutoff)
    return by_bare[close[0]] if close else None


def parts_of(name: str) -> int:
    """Words of a name, by underscores, dashes or capitals."""
    return len(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name))
