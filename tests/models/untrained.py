"""Models that nothing was taught, as checkpoints on disk."""

import torch

from posviz.models import checkpoint, recipes
from posviz.models.transformer import Decoder


def lively(shape, setting, seed=0):
    """A model that looks around: the scores of a fresh one are next to nothing."""
    torch.manual_seed(seed)
    model = Decoder(shape, setting).eval().requires_grad_(False)
    for block in model.blocks:
        block.attention.qkv.weight.mul_(2.0)
    return model


def store(folder, name, first_weights=None):
    """A checkpoint of that name, by its recipe, with a whole card."""
    recipe, seed = recipes.named(name)
    model = lively(recipe.shape, recipe.setting, seed if first_weights is None else first_weights)
    told = recipe.told()
    card = {
        "name": name, "task": recipe.task, "encoding": recipe.setting.encoding,
        "rope_theta": recipe.setting.rope_theta, "shape": told["shape"], "seed": seed,
        "steps": recipe.steps, "tokens": 1_234_567, "seconds": 89.5, "recipe": told,
        "recipe_hash": recipe.hash,
        "log": {"total": [3.0, 1.5], **({"repeated": [3.0, 2.5]} if recipe.task == "names" else
                                        {"accuracy": [0.0, 0.75]})},
    }  # fmt: skip
    weights = {key: weight.numpy() for key, weight in model.named_parameters()}
    checkpoint.save(folder / f"{name}.safetensors", card, weights, {})
