"""What a ``model_type`` of Hugging Face implies about positions when its file leaves it out.

Source: transformers 5.24.0, ``configuration_*.py`` and ``modeling_*.py`` of each type, unless
another one is named. Names are without ``_text`` and ``_text_model``, and with ``_`` for ``-``.
"""

from typing import Any

# Defaults of model classes, for keys that a file leaves out: transformers 5.24.0,
# configuration_*.py; chatglm from its own modeling_chatglm.py (rotary_dim // 2).
DEFAULT_THETA = {
    "apertus": 12e6, "apertus1p5": 12e6, "bitnet": 5e5, "blt": 5e5, "blt_global_transformer": 5e5,
    "blt_local_decoder": 5e5, "blt_local_encoder": 5e5, "cohere": 5e5, "cosmos3_edge": 1e8,
    "csm": 5e5, "csm_depth_decoder_model": 5e5, "cwm": 1e6, "emu3": 1e6, "ernie4_5": 5e5,
    "ernie4_5_moe": 5e5, "ernie4_5_vl_moe": 5e5, "evolla": 5e5, "exaone": 5e5, "flex_olmo": 5e5,
    "fuyu": 25e3, "gemma3": 1e6, "gemma3n": 1e6, "gpt_oss": 15e4, "gte": 16e4,
    "helium": 1e5, "higgs_audio_v2": 5e5, "hy_v3": 11_158_840.0, "jina_embeddings_v3": 2e4,
    "lfm2": 1e6, "lfm2_moe": 1e6, "lfm3": 1e6, "llama4": 5e5, "longcat_flash": 1e7, "minimax": 1e6,
    "minimax_m2": 5e6, "minimax_m3_vl": 5e6, "mixtral": 1e6, "mllama": 5e5, "modernbert": 16e4,
    "modernbert_decoder": 16e4, "muse_glimmer_assistant": 5e5, "muse_spark": 5e5, "nomic_bert": 1e3,
    "olmo3": 5e5, "openai_privacy_filter": 15e4, "paddleocr_vl": 5e5, "phimoe": 1e6,
    "qwen2_5_omni": 1e6, "qwen2_5_omni_talker": 1e6, "qwen2_5_vl": 1e6, "qwen2_vl": 1e6,
    "qwen3_omni_moe": 1e6, "qwen3_vl": 5e5, "qwen3_vl_moe": 5e5, "sarvam_moe": 8e6, "smollm3": 2e6,
    "solar_open": 1e6, "t5gemma2": 1e6, "t5gemma2_decoder": 1e6,
}  # fmt: skip
DEFAULT_SHARE = {
    "bamba": 0.5, "chatglm": 0.5, "fuyu": 0.5, "glm": 0.5, "glm4": 0.5, "glm4_moe": 0.5,
    "glm4v_moe": 0.5, "gpt_neox": 0.25, "moonshine": 0.9, "nemotron": 0.5, "persimmon": 0.5,
    "phi": 0.5, "qwen3_5": 0.25, "qwen3_5_moe": 0.25, "qwen3_next": 0.25,
    "recurrent_gemma": 0.5, "stablelm": 0.25,
}  # fmt: skip
DEFAULT_HEAD_DIM = {
    "afmoe": 128, "cosmos3_edge": 128, "cwm": 128, "dia_decoder": 128, "diffusion_gemma": 256,
    "embedding_gemma2": 256, "ernie4_5": 128, "gemma": 256, "gemma2": 256, "gemma3": 256,
    "gemma3n": 256, "gemma4": 256, "gemma4_unified": 256, "glm": 128, "glm4": 128, "gpt_oss": 64,
    "helium": 128, "higgs_audio_v2": 128, "hy_v3": 128, "internlm3": 128, "laguna": 128,
    "lfm3": 128, "llama4": 128, "mellum": 128, "mimo_v2_flash": 192, "minimax_m2": 128,
    "minimax_m3_vl": 128, "ministral3": 128, "muse_glimmer": 128, "muse_spark": 64,
    "openai_privacy_filter": 64, "paddleocr_vl": 128, "qwen2_5_omni_talker": 128, "qwen3": 128,
    "qwen3_5": 256, "qwen3_5_moe": 256, "qwen3_next": 256, "qwen3_vl": 128, "sarvam_moe": 64,
    "seed_oss": 128, "solar_open": 128, "step3p5": 128, "t5_gemma_module": 256, "t5gemma": 256,
    "t5gemma2": 256, "t5gemma2_decoder": 256, "vaultgemma": 256, "zaya": 128,
}  # fmt: skip
# Of full-attention layers, which are wider in these models.
DEFAULT_GLOBAL_HEAD_DIM = dict.fromkeys(
    ("diffusion_gemma", "embedding_gemma2", "gemma4", "gemma4_unified"), 512
)
DEFAULT_ROTARY_DIM = {"codegen": 64, "gptj": 64}
# MLA: dimensions of a query that rotate, and that do not.
DEFAULT_LATENT = {
    "axk1": (64, 128), "deepseek_v2": (64, 128), "deepseek_v3": (64, 128),
    "deepseek_v32": (64, 128), "glm4_moe_lite": (64, 192), "glm_moe_dsa": (64, 192),
    "kimi_k2": (64, 128), "longcat_flash": (64, 128), "minicpm3": (32, 64), "mistral4": (64, 64),
    "mistral_large4": (64, 64), "sarvam_mla": (64, 128), "youtu": (64, 128),
}  # fmt: skip
_LLAMA3_OF_APERTUS = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
_OF_GEMMA4 = {
    "full_attention": {
        "rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6,
    },
    "sliding_attention": {"rope_theta": 1e4},
}  # fmt: skip
_YARN_OF_GPT_OSS = {
    "rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096,
    "truncate": False,
}  # fmt: skip
# Settings of a file without any, of all layers or per layer type; a base or share of the file wins
# over one here.
DEFAULT_SETTINGS: dict[str, dict[str, Any]] = {
    "apertus": _LLAMA3_OF_APERTUS,
    "apertus1p5": _LLAMA3_OF_APERTUS,
    "cwm": {**_LLAMA3_OF_APERTUS, "factor": 16.0},
    "diffusion_gemma": _OF_GEMMA4,
    "embedding_gemma2": {
        "full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4},
    },
    "gemma4": _OF_GEMMA4,
    "gemma4_unified": _OF_GEMMA4,
    "gpt_oss": _YARN_OF_GPT_OSS,
    "higgs_audio_v2": {
        "rope_type": "llama3", "factor": 32.0, "low_freq_factor": 0.125, "high_freq_factor": 0.5,
        "original_max_position_embeddings": 1024,
    },
    "laguna": {
        "full_attention": {"rope_theta": 5e5, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_theta": 1e4, "partial_rotary_factor": 1.0},
    },
    "lfm3": {
        "full_attention": {
            "rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 1e6,
        },
        "sliding_attention": {"rope_theta": 1e4},
    },
    "mellum": {
        "full_attention": {"rope_theta": 5e5}, "sliding_attention": {"rope_theta": 1e4},
    },
    "mimo_v2_flash": {
        "full_attention": {"rope_theta": 5e6, "partial_rotary_factor": 0.334},
        "sliding_attention": {"rope_theta": 1e4, "partial_rotary_factor": 0.334},
    },
    "ministral3": {
        "rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 16384,
        "rope_theta": 1e6, "mscale": 1.0, "mscale_all_dim": 1.0,
    },
    "mistral4": {
        "rope_type": "yarn", "factor": 128.0, "original_max_position_embeddings": 8192,
        "mscale": 1.0, "mscale_all_dim": 1.0,
    },
    "mistral_large4": {
        "rope_type": "yarn", "factor": 2048.0, "original_max_position_embeddings": 512,
        "attention_factor": 1.0,
    },
    "openai_privacy_filter": _YARN_OF_GPT_OSS,
    "zaya": {
        "hybrid": {"rope_theta": 5e6, "partial_rotary_factor": 0.5},
        "hybrid_sliding": {"rope_theta": 1e4, "partial_rotary_factor": 0.5},
    },
}  # fmt: skip
DEFAULT_TRAINED_CONTEXT = {"phi3": 4096, "phi3_v": 4096, "phi4_multimodal": 4096}

# Old files give these one set of settings; it is the full-attention layers' own, and those of the
# others are a base, None where it is the same one. ModernBERT scales all of them.
SPLIT = {"gemma3": 1e4, "gemma3n": 1e4, "modernbert": 1e4, "modernbert_decoder": 1e4,
         "olmo3": None, "t5gemma2": 1e4, "t5gemma2_decoder": 1e4}  # fmt: skip
ALL_SCALED = {"modernbert", "modernbert_decoder"}
# Their settings have names of their own, not those of layer types (configuration_deepseek_v4.py).
LABELLED = {"deepseek_v4": ("main", "compress")}
# Names of layer types (configuration_utils.py, ALLOWED_ATTN_LAYER_TYPES), and older ones.
LAYER_TYPES = {
    "attention", "chunked_attention", "compressed_sparse_attention", "conv", "full_attention",
    "heavily_compressed_attention", "hybrid", "hybrid_sliding", "indexed_attention",
    "linear_attention", "mamba", "mamba2", "minimax_m3_sparse", "moe", "recurrent",
    "reference_sliding_attention", "sliding_attention", "window_attention",
}  # fmt: skip
# Layer types without attention: configuration_utils.py, and RecurrentGemma's own.
WITHOUT_ATTENTION = {"conv", "linear_attention", "mamba", "mamba2", "mlp", "moe", "recurrent"}
# Layers without RoPE: the full-attention ones, if the model has others (modeling_cohere2.py,
# modeling_exaone4.py), or every fourth (configuration_llama4.py, configuration_smollm3.py).
FULL_IS_NOPE = {"cohere2", "cohere2_moe", "exaone4", "exaone_moe"}
NOPE_INTERVAL = {"llama4": 4, "smollm3": 4}
# One full-attention layer in so many, the last of them but for FULL_FIRST.
PATTERN = {
    "cohere2": 4, "cohere2_moe": 4, "cwm": 4, "diffusion_gemma": 6, "embedding_gemma2": 6,
    "exaone4": 4, "exaone_moe": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gemma4": 6,
    "gemma4_unified": 6, "gpt_oss": 2, "modernbert": 3, "modernbert_decoder": 3, "olmo3": 4,
    "qwen3_5": 4, "qwen3_5_moe": 4, "qwen3_next": 4, "t5_gemma_module": 2, "t5gemma": 2,
    "t5gemma2": 6, "t5gemma2_decoder": 6, "vaultgemma": 2,
}  # fmt: skip
FULL_FIRST = {"cwm", "modernbert", "modernbert_decoder"}
LAST_IS_FULL = set(DEFAULT_GLOBAL_HEAD_DIM)
# Type of the other layers, if not sliding_attention.
OTHER_LAYERS = dict.fromkeys(("qwen3_5", "qwen3_5_moe", "qwen3_next"), "linear_attention")
# All layers are full-attention ones if the window is null; without the key they slide.
BY_WINDOW = {"exaone4", "exaone_moe"}

# Encodings of model types without RoPE.
T5 = {"longt5", "mt5", "pop2piano", "switch_transformers", "t5", "udop", "umt5"}
LEARNED = {
    "albert", "bart", "bert", "big_bird", "biogpt", "blenderbot", "blenderbot_small", "camembert",
    "clip", "convbert", "data2vec_text", "distilbert", "electra", "ernie", "galactica",
    "gpt2", "gpt_bigcode", "gpt_neo", "gptsan", "layoutlm", "led", "longformer", "mbart",
    "megatron_bert", "mobilebert", "mpnet", "openai_gpt", "opt", "roberta", "splinter", "vit",
    "whisper", "xlm_roberta", "xlm_roberta_xl", "xmod",
}  # fmt: skip
SINUSOIDAL = {"ctrl", "m2m_100", "marian", "nllb_moe", "pegasus", "speech_to_text", "xglm"}
NONE = {"falcon_mamba", "jamba", "mamba", "mamba2", "rwkv"}
OTHERS = {
    **dict.fromkeys(T5, "t5_bias"), **dict.fromkeys(LEARNED, "learned"),
    **dict.fromkeys(SINUSOIDAL, "sinusoidal"), **dict.fromkeys(NONE, "none"),
    "bloom": "alibi", "deberta": "disentangled", "deberta_v2": "disentangled",
    "transfo_xl": "transformer_xl", "xlnet": "transformer_xl",
}  # fmt: skip
BY_POSITION_TYPE = {
    "absolute": "learned", "learned": "learned", "learned_absolute": "learned", "alibi": "alibi",
    "relative_key": "shaw", "relative_key_query": "shaw", "rope": "rope", "rotary": "rope",
    "nope": "none", "sinusoidal": "sinusoidal",
}  # fmt: skip
# Rows of a learned table before position 0: OPT and BART fix 2, RoBERTa counts its padding row.
TWO_ROWS = {"bart", "biogpt", "galactica", "led", "mbart", "opt"}
PADDING_ROWS = {"camembert", "data2vec_text", "longformer", "roberta", "xlm_roberta",
                 "xlm_roberta_xl", "xmod"}  # fmt: skip

INTERLEAVED = {
    "blt", "chatglm", "codegen", "cohere", "cohere2", "cohere2_moe", "deepseek_v2", "deepseek_v3",
    "deepseek_v32", "deepseek_v4", "ernie4_5", "ernie4_5_moe", "glm", "glm4", "glm4_moe_lite",
    "glm_moe_dsa", "gptj", "helium", "kimi_k2", "llama4", "longcat_flash", "mistral4",
    "moonshine", "roformer", "youtu",
}  # fmt: skip
HALF = {
    "apertus", "baichuan", "bitnet", "dbrx", "esm", "exaone", "exaone4", "falcon", "falcon_h1",
    "flex_olmo", "gemma", "gemma2", "gemma3", "gemma3n", "gemma4", "glm4_moe", "gpt_neox",
    "gpt_oss", "granite", "granitemoe", "gte", "hunyuan_v1_dense", "hunyuan_v1_moe", "internlm",
    "internlm2", "internlm3", "jetmoe", "lfm2", "llama", "minicpm", "minicpm3", "minimax",
    "minimax_m2", "ministral", "ministral3", "mistral", "mixtral", "mllama", "modernbert",
    "modernbert_decoder", "nemotron", "nomic_bert", "olmo", "olmo2", "olmo3", "olmoe",
    "persimmon", "phi", "phi3", "phi3_v", "phi4_multimodal", "phimoe", "qwen", "qwen2",
    "qwen2_5_omni", "qwen2_5_vl", "qwen2_moe", "qwen2_vl", "qwen3", "qwen3_5", "qwen3_5_moe",
    "qwen3_moe", "qwen3_next", "qwen3_omni_moe", "qwen3_vl", "qwen3_vl_moe", "recurrent_gemma",
    "seed_oss", "smollm3", "stablelm", "starcoder2", "zamba2",
}  # fmt: skip
