"""What a ``model_type`` of Hugging Face implies about positions when its file leaves it out.

Source: transformers 5.24.0, ``configuration_*.py`` and ``modeling_*.py`` of each type, unless
another one is named. Names are without ``_text`` and with ``_`` for ``-``.
"""

# Defaults of model classes, for keys that a file leaves out: transformers 5.24.0,
# configuration_*.py; chatglm from its own modeling_chatglm.py (rotary_dim // 2).
DEFAULT_THETA = {
    "apertus": 12e6, "bitnet": 5e5, "blt": 5e5, "cohere": 5e5, "csm": 5e5, "cwm": 1e6,
    "emu3": 1e6, "ernie4_5": 5e5, "ernie4_5_moe": 5e5, "ernie4_5_vl_moe": 5e5, "exaone": 5e5,
    "flex_olmo": 5e5, "fuyu": 25e3, "gemma3": 1e6, "gemma3n": 1e6, "gemma4": 1e6,
    "gpt_oss": 15e4, "gte": 16e4, "helium": 1e5, "jina_embeddings_v3": 2e4, "lfm2": 1e6,
    "lfm2_moe": 1e6, "llama4": 5e5, "longcat_flash": 1e7, "minimax": 1e6, "minimax_m2": 5e6,
    "mixtral": 1e6, "mllama": 5e5, "modernbert": 16e4, "modernbert_decoder": 16e4,
    "nomic_bert": 1e3, "olmo3": 5e5, "paddleocr_vl": 5e5, "phimoe": 1e6, "qwen2_5_omni": 1e6,
    "qwen2_5_vl": 1e6, "qwen2_vl": 1e6, "qwen3_omni_moe": 1e6, "qwen3_vl": 5e5,
    "qwen3_vl_moe": 5e5, "smollm3": 2e6, "t5gemma2": 1e6,
}  # fmt: skip
DEFAULT_SHARE = {
    "bamba": 0.5, "chatglm": 0.5, "fuyu": 0.5, "glm": 0.5, "glm4": 0.5, "glm4_moe": 0.5,
    "glm4v_moe": 0.5, "gpt_neox": 0.25, "nemotron": 0.5, "persimmon": 0.5, "phi": 0.5,
    "qwen3_5": 0.25, "qwen3_5_moe": 0.25, "qwen3_next": 0.25, "recurrent_gemma": 0.5,
    "stablelm": 0.25,
}  # fmt: skip
DEFAULT_HEAD_DIM = {
    "cwm": 128, "gemma": 256, "gemma2": 256, "gemma3": 256, "gemma3n": 256, "gemma4": 256,
    "glm": 128, "glm4": 128, "gpt_oss": 64, "helium": 128, "llama4": 128, "minimax_m2": 128,
    "ministral3": 128, "qwen3": 128, "qwen3_5": 256, "qwen3_next": 256, "qwen3_vl": 128,
    "seed_oss": 128,
}  # fmt: skip
DEFAULT_ROTARY_DIM = {"codegen": 64, "gptj": 64}
# MLA: dimensions of a query that rotate, and that do not.
DEFAULT_LATENT = {
    "deepseek_v2": (64, 128), "deepseek_v3": (64, 128), "deepseek_v32": (64, 128),
    "glm4_moe_lite": (64, 192), "kimi_k2": (64, 128), "longcat_flash": (64, 128),
    "minicpm3": (32, 64), "mistral4": (64, 64),
}  # fmt: skip
# Settings of a file without any; a base of the file wins over one here.
DEFAULT_SETTINGS: dict[str, dict[str, object]] = {
    "apertus": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "cwm": {
        "rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "gpt_oss": {
        "rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096,
        "truncate": False,
    },
    "ministral3": {
        "rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 16384,
        "rope_theta": 1e6, "mscale": 1.0, "mscale_all_dim": 1.0,
    },
    "mistral4": {
        "rope_type": "yarn", "factor": 128.0, "original_max_position_embeddings": 8192,
        "mscale": 1.0, "mscale_all_dim": 1.0,
    },
}  # fmt: skip
DEFAULT_TRAINED_CONTEXT = {"phi3": 4096, "phi3_v": 4096, "phi4_multimodal": 4096}

# Old files give Gemma 3 and OLMo 3 one set of settings; it is the full-attention layers' own.
SPLIT = {"gemma3": 1e4, "gemma3n": 1e4, "t5gemma2": 1e4, "olmo3": None}
# Layers without RoPE: the full-attention ones, if the model has others (modeling_cohere2.py,
# modeling_exaone4.py), or every fourth (configuration_llama4.py, configuration_smollm3.py).
FULL_IS_NOPE = {"cohere2", "exaone4"}
NOPE_INTERVAL = {"llama4": 4, "smollm3": 4}
# One full-attention layer in so many.
PATTERN = {"cohere2": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma4": 6, "gpt_oss": 2,
            "olmo3": 4}  # fmt: skip

# Encodings of model types without RoPE.
T5 = {"longt5", "mt5", "pop2piano", "switch_transformers", "t5", "udop", "umt5"}
LEARNED = {
    "albert", "bart", "bert", "big_bird", "biogpt", "blenderbot", "blenderbot_small", "camembert",
    "clip_text_model", "convbert", "data2vec_text", "distilbert", "electra", "ernie", "galactica",
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
