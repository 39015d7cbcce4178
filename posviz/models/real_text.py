"""Models of real text: ``python -m posviz.models.real_text bytes-rope-seed0``, once it is trained.

Perplexity per byte by context on held-out files of the running interpreter's standard library, for
each scaling method. No floor is known of real text, so the errors are far larger than those of the
names language, and other interpreters have other files.
"""

from __future__ import annotations

import argparse
import math
import platform

import numpy as np
import torch
from numpy.typing import NDArray

from posviz import measured, params
from posviz.models import checkpoint, evaluate, stdlib
from posviz.models.train import WORK

LENGTHS = (128, 256, 512, 1024, 2048)
WAYS = (("default", 1.0), *((way, 4.0) for way in ("linear", "ntk", "yarn", "llama3")),
        ("yarn", 8.0))  # fmt: skip


def perplexity(losses: NDArray[np.float32], length: int) -> tuple[float, float]:
    """Perplexity over the last quarter of ``length``, and its standard error over documents."""
    each = losses[:, measured.bin_start(length) : length].mean(axis=1)
    mean = math.exp(float(each.mean()))
    return mean, mean * float(each.std(ddof=1)) / math.sqrt(len(each))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Perplexity on the standard library's files.")
    parser.add_argument("model", help="bytes-rope-seed0 or bytes-alibi-seed0, trained before")
    parser.add_argument("--documents", type=int, default=32)
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    try:
        model = evaluate.decoder(wanted.model, WORK)
        task = checkpoint.card(wanted.model, WORK)["task"]
        params.one_of("task of the model", task, ("bytes",))
        tokens = stdlib.documents(wanted.documents, LENGTHS[-1])
        print(f"Python {platform.python_version()}, {len(tokens)} held-out files, per byte")
        print(f"{'':12}" + "".join(f"{length:>16,}" for length in LENGTHS))
        rotates = model.positions.setting.rotates
        for method, factor in WAYS if rotates else WAYS[:1]:
            setting = evaluate.read_with(wanted.model, method, factor, WORK)
            losses = evaluate.nats(model, tokens, setting, LENGTHS)
            cells = (perplexity(losses, length) for length in LENGTHS)
            told = "".join(f"{value:10.2f} ±{error:5.2f}" for value, error in cells)
            print(f"{measured.key(method, factor):12}{told}", flush=True)
    except params.InvalidParameterError as problem:
        raise SystemExit(str(problem)) from problem


if __name__ == "__main__":
    main()
