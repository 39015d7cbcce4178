"""What can be taken away from the picker: its answer as a file, commands and code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from posviz import export, picker_settings
from posviz.figures import picker as pictures
from posviz.ui.text import say
from posviz.views.picker import RELEASED, Scene
from posviz.views.scaling import attempt


@dataclass(frozen=True)
class Texts:
    """What can be taken away as text, each with what to know or why there is none."""

    config: str
    notes: tuple[str, ...]
    flags: str = ""
    why_no_flags: str = ""
    vllm: str = ""
    why_no_vllm: str = ""
    snippet: str = ""
    has_styles: bool = False


PUT = (
    "Put these keys into the model’s own file; what else stands there about positions, such as "
    "layer types, is left as it is."
)


def texts(scene: Scene) -> Texts:
    """The answer in every form."""
    outcome, found = scene.rule.outcome, scene.setting
    if outcome == "split":
        nothing = say("There is nothing to configure: no setting makes this model read so far.")
        return Texts("", (nothing,))
    if outcome == "keep":
        nothing = say("There is nothing to change: leave the model’s own file as it is.")
        return Texts("", (nothing,))
    if outcome == "longrope":
        outcome = "yarn"
        head_dim = max(scene.head_dim, scene.rotary_dim)
        found = picker_settings.setting(scene.case, outcome, scene.plain, head_dim)
    if found is None:
        other = picker_settings.other_config(scene.case, outcome, scene.num_heads, scene.plain)
        return Texts(json.dumps(other, indent=2), (other_note(scene),))
    config, why_not = attempt(lambda: json.dumps(file_keys(scene, outcome, found), indent=2))
    vllm, why_no_vllm = attempt(lambda: export.vllm_command(found))
    if own_keys(scene, outcome):
        vllm, why_no_vllm = "", say(
            "vLLM would put these settings in the place of all of the file’s, and drop {keys}: "
            "change the file instead.", keys=", ".join(own_keys(scene, outcome)),
        )  # fmt: skip
    return Texts(
        config, tuple(notes(scene, outcome, found)) if config else (why_not,),
        *attempt(lambda: export.llama_cpp_flags(found)), vllm, why_no_vllm,
        export.snippet(found, scene.case.target), True,
    )  # fmt: skip


def file_keys(scene: Scene, outcome: str, setting: export.Setting) -> dict[str, Any]:
    """Keys of the configuration; a released model keeps its own beside them."""
    if scene.model not in RELEASED:
        return export.hf_config(setting, scene.style)
    return picker_settings.config(scene.model, scene.case, outcome, setting, scene.style)


def own_keys(scene: Scene, outcome: str) -> list[str]:
    """What a released model's RoPE settings say beside a method."""
    if scene.model not in RELEASED:
        return []
    layer_types = [say("layer types")] if picker_settings.has_layer_types(scene.model) else []
    return [*picker_settings.kept_keys(scene.model, scene.case, outcome), *layer_types]


def other_note(scene: Scene) -> str:
    """What to know about keys that are no scaling of RoPE."""
    if scene.is_for_pictures:
        return say("Pairs for time, height and width, as Qwen2-VL shares them out; a still picture "
                   "has one time.")  # fmt: skip
    if scene.case.modality == "audio" and scene.rule.outcome in ("rope", "transformer_xl"):
        return say("The keys of Hugging Face’s wav2vec2_conformer; max_source_positions is the "
                   "length of its table, in frames.")  # fmt: skip
    return say("Keys differ between programs; these name the numbers that count.")


def notes(scene: Scene, outcome: str, setting: export.Setting) -> Iterator[str]:
    """What to know about the configuration."""
    if scene.rule.outcome == "longrope":
        yield say("LongRoPE’s lists come out of a search on your model. Until you have them, this "
                  "is YaRN at the same factor, the runner-up, which is not published so far."
                  )  # fmt: skip
    for one in export.hf_notes(setting):
        sentence = say(one.template, **one.values)
        yield say("{sentence}.", sentence=f"{sentence[:1].upper()}{sentence[1:]}")
    if scene.case.start == "scratch" and outcome in ("rope", "base"):
        base = picker_settings.usual_base(max(scene.case.target, scene.case.trained))
        yield say("The base is that of {model}, released for such a context.",
                  model=base[1].removesuffix("-hf"))  # fmt: skip
    factor = getattr(setting.scaling, "factor", 1.0)
    told_factor = setting.scaling.rope_type == "yarn" and setting.frequencies()[1]
    extra = own_keys(scene, outcome)
    if (
        told_factor
        and "attn_factor" not in extra
        and abs(pictures.YARN_FACTOR.value(s=factor) - told_factor) < 1e-9
    ):
        yield say("attention_factor is not written: every program computes {value} from the "
                  "factor.", value=f"{told_factor:.4f}")  # fmt: skip
    if picker_settings.writes_out(scene.case.file, scene.plain) and outcome == "yarn":
        yield say("The file writes attention_factor out for its old factor; it is left out here, "
                  "so that it follows.")  # fmt: skip
    if "attn_factor" in extra:
        yield say("attn_factor is the file’s own: vLLM multiplies by it, transformers does not "
                  "read it.")  # fmt: skip
    if scene.case.file is not None:
        yield say("It replaces the scaling in the model’s file; do not add a second one.")
    yield say(PUT)
