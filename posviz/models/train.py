"""Trains one model of the set: ``python -m posviz.models.train ENCODING --seed N``.

The number of steps is fixed and each step's text is a function of seed and step, so a training
that is killed and taken up again ends at the same weights, bit for bit on the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import multiprocessing
import os
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from posviz import params
from posviz.models import checkpoint, copying, names, stdlib
from posviz.models.recipes import COPY_LENGTH, FAMILIES, MODELS, Phase, Recipe, named
from posviz.models.transformer import Decoder

MEASURE_EVERY = 25
"""Steps between two entries of the loss curve."""
SAVE_EVERY = 50
"""Steps that a killed training has to repeat at most."""

WORK = Path(".training")
"""Half-way states, and finished models that are not of the set."""
_VALIDATION_SEED = 10**9  # no training reaches it


@dataclass
class _Progress:
    """What a training knows beside its weights; plain numbers, saved with them."""

    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    cap: float = 12.0  # longest row to copy so far
    running: float = 4.0  # running loss of the copied row
    log: dict[str, list[float]] = field(default_factory=dict)


class Training:
    """A model on its way.

    Args:
        recipe: What to train.
        seed: Draws the first weights and all texts.
        work: Where the half-way state is kept; None keeps none.
    """

    def __init__(self, recipe: Recipe, seed: int, work: Path | None = None) -> None:
        self.recipe = recipe
        self.seed = params.whole("seed", seed, 0, _VALIDATION_SEED - 1)
        self.work = work
        self._probe = _Probe(recipe.task)
        self._begin()
        if work is not None and work.exists():
            self._take_up(work)

    def _begin(self) -> None:
        torch.manual_seed(self.seed)
        self.model = Decoder(self.recipe.shape, self.recipe.setting)
        if self.recipe.looks_back:
            self.model.look_back()
        self.progress = _Progress()
        self.replay: list[NDArray[np.uint8]] = []
        self._optimizers, self._rates = _optimizers(self.model, self.recipe)

    def run(self, *, until: int | None = None, **bar_settings: Any) -> None:
        """Train to the last step, or to step ``until``, with a progress bar set as tqdm's are."""
        last = min(until or self.recipe.steps, self.recipe.steps)
        bar = tqdm(total=self.recipe.steps, initial=self.progress.step, unit="step", **bar_settings)
        if not self.progress.step:
            self._measure()
        while self.progress.step < last:
            started = time.perf_counter()
            loss = self._update()
            self.progress.step += 1
            if self.progress.step % MEASURE_EVERY == 0 or self.progress.step == last:
                bar.set_postfix_str(self._measure(loss))
            self.progress.seconds += time.perf_counter() - started
            if self.progress.step % SAVE_EVERY == 0 or self.progress.step == last:
                self._save()
            bar.update()
        bar.close()

    def finish(self, path: Path) -> None:
        """Write the checkpoint and forget the half-way state."""
        progress = self.progress
        card = {
            "name": path.stem, "task": self.recipe.task, "encoding": self.recipe.setting.encoding,
            "rope_theta": self.recipe.setting.rope_theta, "shape": asdict(self.recipe.shape),
            "seed": self.seed, "steps": progress.step, "tokens": progress.tokens,
            "seconds": round(progress.seconds, 1), "recipe": self.recipe.told(),
            "recipe_hash": self.recipe.hash, "log": progress.log,
            "versions": {"python": platform.python_version(), "torch": torch.__version__,
                         "numpy": np.__version__, "machine": platform.machine()},
            "probe": self._probe.tokens.tolist(),
        }  # fmt: skip
        weights = {name: w.detach().numpy() for name, w in self.model.named_parameters()}
        checkpoint.save(path, card, weights, {"attention": np.stack(self.replay)})
        if self.work is not None:
            self.work.unlink(missing_ok=True)

    def _update(self) -> float:
        progress = self.progress
        tokens, weights = self._batch()
        for optimizer, rates in zip(self._optimizers, self._rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * learning_rate(progress.step, self.recipe.steps)
        logits = self.model(tokens[:, :-1])
        nats = _nats(logits, tokens[:, 1:])
        loss = (nats * weights).sum() / weights.sum()
        for optimizer in self._optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self._optimizers:
            optimizer.step()
        progress.tokens += weights.numel()
        if self.recipe.task == "copying":
            copied = float(nats.detach()[weights == 1.0].mean())
            progress.running = 0.9 * progress.running + 0.1 * copied
            if progress.running < 0.35:
                progress.cap = min(progress.cap * 1.02, copying.symbols_in(COPY_LENGTH))
        return float(loss.detach())

    def _batch(self) -> tuple[Tensor, Tensor]:
        """Tokens ``(batch, length + 1)``, and the weight of each prediction."""
        phase = self.recipe.at(self.progress.step)
        rng = np.random.default_rng((self.seed, self.progress.step))
        if self.recipe.task == "copying":
            return _copying_batch(rng, phase, int(self.progress.cap))
        if self.recipe.task == "bytes":
            tokens = torch.from_numpy(stdlib.windows(rng, phase.batch, phase.length))
            return tokens, torch.ones(phase.batch, phase.length)
        assert phase.dialect is not None
        texts = [names.document(rng, phase.length, phase.dialect) for _ in range(phase.batch)]
        weights = torch.ones(phase.batch, phase.length)
        if phase.elsewhere != 1.0:
            kinds = np.stack([names.floor(text, phase.dialect)[1] for text in texts])
            repeated = torch.from_numpy(kinds == names.Kind.REPEATED_NAME)
            weights = torch.where(repeated, 1.0, phase.elsewhere)
        return torch.from_numpy(names.tokens(texts)), weights

    @torch.no_grad()
    def _measure(self, loss: float | None = None) -> str:
        """Add an entry to the loss curve; returns it in words."""
        entry = self._probe.measure(self.model)
        self.replay.append(self._probe.attention(self.model))
        entry["step"] = self.progress.step
        entry["loss"] = entry["total"] if loss is None else loss
        for name, value in entry.items():
            self.progress.log.setdefault(name, []).append(round(value, 4))
        shown = [name for name in ("total", "repeated", "accuracy") if name in entry]
        return " ".join(f"{name} {entry[name]:.3f}" for name in shown)

    def _save(self) -> None:
        if self.work is None:
            return
        state = {
            "recipe": self.recipe.hash, "seed": self.seed, "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "progress": asdict(self.progress),
            "replay": torch.from_numpy(np.stack(self.replay)),
        }  # fmt: skip
        buffer = io.BytesIO()
        torch.save(state, buffer)
        content = buffer.getvalue()  # torch notices no changed byte, so a hash goes before
        digest = hashlib.sha256(content).digest()
        checkpoint.write_whole(self.work, lambda to: to.write_bytes(digest + content))

    def _take_up(self, work: Path) -> None:
        """Go on where a half-way state ends; begin again if it is damaged or another recipe's."""
        try:
            whole = work.read_bytes()
            digest, content = whole[:32], whole[32:]
            if hashlib.sha256(content).digest() != digest:
                raise ValueError("its bytes are not those that were written")
            state = torch.load(io.BytesIO(content), weights_only=True)
            if (state["recipe"], state["seed"]) != (self.recipe.hash, self.seed):
                raise ValueError("it belongs to another recipe or seed")
            progress = _Progress(**state["progress"])
            replay = list(state["replay"].numpy())
            self.model.load_state_dict(state["model"])
            for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(saved)
        except Exception as problem:  # torch tells of damage in many ways
            said = f"{work} cannot be taken up, the training begins again: {problem}"
            print(said.splitlines()[0], file=sys.stderr)
            self._begin()
        else:
            self.progress, self.replay = progress, replay


def learning_rate(step: int, steps: int) -> float:
    """Share of the full rate: a short warm-up, flat, then down to next to 0 over the last 40 %."""
    done = (step + 1) / steps
    return min(done / 0.03, 1.0, (1.0 - done) / 0.4 + 1e-3)


def _nats(logits: Tensor, wanted: Tensor) -> Tensor:
    """Loss of each prediction, of the shape of ``wanted``."""
    found = cross_entropy(logits.flatten(0, 1), wanted.flatten().long(), reduction="none")
    return found.view_as(wanted)


def _optimizers(
    model: Decoder, recipe: Recipe
) -> tuple[list[torch.optim.Optimizer], list[list[float]]]:
    """Muon for the matrices of the blocks, AdamW for the rest; and their groups' full rates."""
    matrices = [w for w in model.blocks.parameters() if w.ndim == 2]
    table = list(model.positions.parameters())
    apart = {id(w) for w in (*matrices, *table)}
    vectors = [w for w in model.parameters() if id(w) not in apart]
    muon = torch.optim.Muon(matrices, lr=recipe.matrix_rate, weight_decay=0.0, momentum=0.95)
    groups = [{"params": vectors}, *([{"params": table}] if table else [])]
    adam = torch.optim.AdamW(groups, lr=recipe.vector_rate, betas=(0.9, 0.98), weight_decay=0.0)
    rates = [recipe.vector_rate, recipe.vector_rate * recipe.table_rate][: len(groups)]
    return [muon, adam], [[recipe.matrix_rate], rates]


def _copying_batch(rng: np.random.Generator, phase: Phase, cap: int) -> tuple[Tensor, Tensor]:
    """Rows of one length, the longest so far every other time."""
    symbols = cap if rng.random() < 0.5 else int(rng.integers(max(cap // 4, 1), cap + 1))
    length = 2 * symbols + 2
    tokens = copying.batch(rng, max(phase.batch, phase.batch * phase.length // length), symbols)
    copied = torch.from_numpy(copying.is_copied(length)[1:])
    weights = torch.where(copied, 1.0, phase.elsewhere).expand(len(tokens), -1)
    return torch.from_numpy(tokens), weights


class _Probe:
    """The same few texts, read again and again while a model learns."""

    def __init__(self, task: str) -> None:
        rng = np.random.default_rng(_VALIDATION_SEED)
        self.task = task
        if task == "copying":
            length = COPY_LENGTH
            self._texts = torch.from_numpy(copying.batch(rng, 4, copying.symbols_in(length)))
            self.tokens = copying.batch(rng, 1, 24)[0, :-12]
            return
        if task == "bytes":
            self._texts = torch.from_numpy(stdlib.documents(8, 256))
            self.tokens = stdlib.documents(1, 63)[0]
            return
        texts = [names.document(rng, 256) for _ in range(8)]
        self._texts = torch.from_numpy(names.tokens(texts))
        self._kinds = torch.from_numpy(np.stack([names.floor(text)[1] for text in texts]))
        read = names.draw_names(rng, 11)
        # Ends within the third name, read again: what comes next stands after its first reading.
        self.tokens = names.tokens([" ".join(read) + " " + read[2][:2]])[0]

    def measure(self, model: Decoder) -> dict[str, float]:
        """Loss by kind of character; of the copy task, loss and accuracy of the copied row."""
        logits = model(self._texts[:, :-1])
        wanted = self._texts[:, 1:].long()
        nats = _nats(logits, wanted)
        if self.task == "copying":
            copied = torch.from_numpy(copying.is_copied(COPY_LENGTH)[1:])
            right = (logits.argmax(-1) == wanted)[:, copied]
            return {"total": float(nats[:, copied].mean()), "accuracy": float(right.float().mean())}
        if self.task == "bytes":
            return {"total": float(nats.mean())}
        by_kind = {
            kind.name.lower(): float(nats[self._kinds == kind].mean()) for kind in names.Kind
        }
        return {"total": float(nats.mean()), "repeated": by_kind.pop("repeated_name"), **by_kind}

    def attention(self, model: Decoder) -> NDArray[np.uint8]:
        """Where each head looks from the last token, ``(num_layers, num_heads, tokens)``, x255."""
        last = torch.tensor([len(self.tokens) - 1])
        rows = model.attention_rows(torch.from_numpy(self.tokens), last)[:, :, 0]
        return np.asarray((255 * rows).round().byte().numpy())


def train(name: str, folder: Path | None = None, work: Path = WORK) -> str:
    """Train the model of that name, unless its file is there already; returns what happened.

    It goes to the committed set, or beside the half-way states if it is of real text.
    """
    recipe, seed = named(name)
    folder = folder or (work if recipe.task == "bytes" else checkpoint.TRAINED)
    path = folder / f"{name}.safetensors"
    if path.exists():
        try:
            if checkpoint.load(name, folder).card.get("recipe_hash") == recipe.hash:
                return "there already"
        except params.InvalidParameterError as problem:
            print(problem, file=sys.stderr)
    torch.set_num_threads(1)  # sums in one order, so the same weights each time
    training = Training(recipe, seed, work / f"{name}.pt")
    # Of several at a time each has its own line; the first line is the set's.
    line = multiprocessing.current_process()._identity
    training.run(desc=name, position=line[0] if line else 0, leave=not line)
    training.finish(path)
    return f"{training.progress.seconds:.0f} s"


def _train_all(jobs: int) -> None:
    """Train whatever is missing of the set, ``jobs`` models at a time, first seeds first."""
    lock = multiprocessing.RLock()
    with ProcessPoolExecutor(jobs, initializer=tqdm.set_lock, initargs=(lock,)) as pool:
        first_seeds_first = sorted(MODELS, key=lambda name: MODELS[name][1])
        waiting = {pool.submit(train, name): name for name in first_seeds_first}
        bar = tqdm(as_completed(waiting), total=len(waiting), unit="model", desc="models")
        for done in bar:
            bar.write(f"{waiting[done]}: {done.result()}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("encoding", help=f"{', '.join(FAMILIES)}; a family of the set; or all")
    parser.add_argument("--seed", type=int, default=0, help="draws weights and texts (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="with all: at a time")
    wanted = parser.parse_args()
    try:
        if wanted.encoding == "all":
            _train_all(params.whole("jobs", wanted.jobs, 1))
        else:
            name = f"{FAMILIES.get(wanted.encoding, wanted.encoding)}-seed{wanted.seed}"
            print(f"{name}: {train(name)}")
    except params.InvalidParameterError as problem:
        raise SystemExit(str(problem)) from problem


if __name__ == "__main__":
    main()
