"""Words as the search compares them, and those it knows beside the pages' and the core's.

All but the Chinese ones are English message ids.
"""

from __future__ import annotations

import re
import unicodedata

# Other words for what the core calls by one name; beside those that configs use.
ENCODING_WORDS = {
    "none": ("NoPE", "no positional encoding"),
    "sinusoidal": ("absolute sinusoidal", "sinusoidal position encoding", "sin cos"),
    "learned": ("learned absolute", "learned position embedding"),
    "shaw": ("relative position representations", "relative keys"),
    "t5": ("relative attention bias", "bucketed bias"),
    "transformer_xl": ("XL", "TXL"),
    "rope": ("rotary position embedding", "RoFormer"),
    "alibi": ("attention with linear biases",),
    "xpos": ("LeX", "length-extrapolatable"),
}
METHOD_WORDS = {
    "default": ("no scaling", "unscaled"),
    "linear": ("position interpolation", "linear scaling", "linear"),
    "ntk": ("NTK-aware", "static NTK", "alpha"),
    "dynamic": ("dynamic NTK", "dynamic scaling"),
    "yarn": ("NTK-by-parts", "yet another RoPE extension"),
    "llama3": ("Llama 3.1", "Llama 3 rule"),
    "longrope": ("LongRoPE", "su", "su scaled"),
    "proportional": ("proportional RoPE", "p-RoPE"),
}
PITFALL_WORDS = {
    "pairing": ("wrong pairing",),
    "left_padding": ("left padding", "position_ids"),
    "slopes_off_by_one": ("off by one",),
}
# Part of a page that is about an encoding, where the page has several.
ENCODING_PARTS = {"shaw": "shaw", "t5": "buckets"}
# Config keys that are handles, where each one is, and what it does if the core does not say it.
KEYS = {
    "rope_theta": ("rope", ""),
    "head_dim": ("rope", ""),
    "partial_rotary_factor": ("rope?part=partial", "Which share of each head turns."),
    "rotary_pct": ("rope?part=partial", "Which share of each head turns."),
    "kv_lora_rank": ("rope?part=mla", "Numbers that are cached for each token without RoPE."),
    "qk_rope_head_dim": ("rope?part=mla", "Dimensions that turn, beside those that do not."),
    "alibi_bias_max": ("alibi", "Exponent of the flattest slope."),
    "relative_attention_num_buckets": ("relative?part=buckets", "Rows of T5's table."),
    "relative_attention_max_distance": (
        "relative?part=buckets", "Distance from which T5's last bucket serves."),
    "clamp_len": ("transformer_xl?part=distance", "Distance at which Transformer-XL stops."),
    "factor": ("scaling", ""),
    "original_max_position_embeddings": ("scaling", ""),
    "beta_fast": ("scaling?pinned=yarn", ""),
    "beta_slow": ("scaling?pinned=yarn", ""),
    "truncate": ("scaling?pinned=yarn", "Whether the ends of YaRN's ramp are rounded."),
    "mscale": (
        "scaling?model=DeepSeek-V2-Lite",
        "How much YaRN raises the scores. Counts only together with mscale_all_dim."),
    "mscale_all_dim": (
        "scaling?model=DeepSeek-V2-Lite",
        "The factor by mscale is divided by the factor by mscale_all_dim; DeepSeek-V2 sets both."),
    "attention_factor": (
        "scaling?pinned=yarn", "What cos and sin are multiplied by; YaRN has a formula for it."),
    "low_freq_factor": (
        "scaling?pinned=llama3", "Pairs with fewer turns are slowed by the whole factor."),
    "high_freq_factor": ("scaling?pinned=llama3", "Pairs with more turns are kept."),
    "short_factor": ("scaling?pinned=longrope", "What each pair is divided by in short texts."),
    "long_factor": ("scaling?pinned=longrope", "What each pair is divided by in long texts."),
    "mrope_section": ("models?find=mrope", "How many pairs count time, height and width."),
    "sliding_window": ("models?find=sliding", "How many tokens a layer looks back."),
}  # fmt: skip

# Words that mean the same, and plurals that are not formed by an s.
SAME = {
    "positional": "position", "embedding": "encoding", "biases": "bias", "matrices": "matrix",
    "indices": "index",
}  # fmt: skip
# Words of a question that say nothing of its subject.
QUIET = (
    "a", "about", "an", "and", "are", "by", "can", "do", "does", "explain", "for", "from", "how",
    "i", "in", "is", "it", "me", "mean", "my", "of", "on", "or", "tell", "than", "the", "there",
    "to", "use", "using", "we", "what", "when", "which", "why", "with", "work", "you",
)  # fmt: skip

# What the search is asked for in Chinese, and the English words that are looked for instead.
CHINESE = {
    "位置编码": "position encoding", "位置嵌入": "position encoding", "位置": "position",
    "编码": "encoding", "嵌入": "encoding", "绝对位置编码": "absolute position embedding",
    "旋转位置编码": "RoPE", "旋转位置嵌入": "RoPE", "旋转": "rotary", "旋转矩阵": "rotation matrix",
    "部分旋转": "partial rotary", "正弦位置编码": "sinusoidal position encoding",
    "正弦": "sinusoidal", "余弦": "cosine", "可学习位置编码": "learned", "可学习": "learned",
    "相对位置编码": "relative position encoding", "相对位置偏置": "relative position bias",
    "相对位置": "relative position", "相对": "relative", "线性偏置": "linear bias",
    "偏置": "bias", "斜率": "slope", "分桶": "bucket", "外推": "extrapolation",
    "长度外推": "extrapolation", "长度泛化": "length generalization",
    "长上下文": "long context", "上下文": "context", "上下文长度": "context length",
    "上下文窗口": "context window", "上下文扩展": "context extension",
    "位置插值": "position interpolation", "线性插值": "position interpolation",
    "插值": "interpolation", "缩放": "scaling", "频率": "frequency", "波长": "wavelength",
    "底数": "base", "基数": "base", "滑动窗口": "sliding window", "窗口": "window",
    "注意力": "attention", "自注意力": "attention", "注意力头": "head",
    "注意力分数": "score", "多头潜在注意力": "MLA", "因果掩码": "causal mask",
    "查询": "query", "键": "key", "值": "value", "权重": "weight", "词元": "token",
    "令牌": "token", "编码器": "encoder", "解码器": "decoder", "缓存": "cache",
    "键值缓存": "KV cache", "衰减": "decay", "温度": "temperature", "困惑度": "perplexity",
    "损失": "loss", "随机种子": "seed", "大海捞针": "needle in a haystack",
    "归纳头": "induction head", "复制": "copying", "训练": "training", "精度": "precision",
    "半精度": "half precision", "左填充": "left padding", "填充": "padding",
    "配置文件": "config.json", "配置": "config", "模型": "model", "词序": "order",
    "顺序": "order", "比较": "compare", "对比": "compare", "区别": "compare",
    "选择": "choose", "选": "choose", "哪种": "choose", "哪个": "choose",
    "推荐": "recommendation", "误区": "misconceptions",
    "常见错误": "mistakes", "错误": "mistakes", "术语": "glossary", "术语表": "glossary",
    "词汇表": "glossary", "导出": "export", "下载": "download",
}  # fmt: skip
# Chinese words of a question that say nothing of its subject.
CHINESE_QUIET = (
    "什么是", "是什么", "什么", "怎么", "怎样", "如何", "为什么", "为何", "应该", "意思", "有哪些",
    "哪些", "关于", "解释", "请问", "一下", "可以", "以及", "用", "的", "和", "与", "或", "是",
    "吗", "呢",
)  # fmt: skip

_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"  # scripts without spaces between words
_FIRST_UNSPACED = _UNSPACED[0]


def normal(words: str) -> str:
    """Words as they are compared: one form of each letter, no case, signs as spaces.

    A run of a script that puts no spaces between words is one word. Thousands are not set apart.
    """
    plain = unicodedata.normalize("NFKC", words).casefold()
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", plain)
    plain = re.sub(rf"([{_UNSPACED}]+)", r" \1 ", plain)
    return " ".join(re.findall(rf"(?:[^\W_]|[{_UNSPACED}])+", plain))


_PLURALS = {"ies": "y", "sses": "ss", "xes": "x", "ches": "ch", "s": ""}


def root(word: str) -> str:
    """A normal word without its ending of a plural or of -ate, -ation; one for all that mean it."""
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "aiosu" and word not in SAME:
        ending = next(ending for ending in _PLURALS if word.endswith(ending))
        word = word.removesuffix(ending) + _PLURALS[ending]
    return re.sub(r"(?<=...at)(e|ed|ing|ion)$", "", SAME.get(word, word))


def comparable(words: str) -> str:
    """The normal words, each after a space, and roots that do not begin them."""
    found = []
    for word in normal(words).split():
        found.append(word)
        if not word.startswith(root(word)):
            found.append(root(word))
    return f" {' '.join(found)} "


def is_unspaced(word: str) -> bool:
    """Whether a normal word is of a script that puts no spaces between words."""
    return re.match(f"[{_UNSPACED}]", word) is not None


def has(told: str, word: str) -> bool:
    """Whether comparable words have one that ``word`` begins; a number must be the whole one.

    A word of a script without spaces may stand anywhere.
    """
    if word >= _FIRST_UNSPACED:
        return word in told
    if word.isdecimal():
        return re.search(rf" {word}(?!\d)", told) is not None
    return f" {word}" in told


def edits_between(one: str, other: str) -> int:
    """Letters to add, drop, change or swap with the next that make one word another."""
    before: list[int] = []
    last: list[int] = [*range(len(other) + 1)]
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != wanted)))
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], wanted):
                row[-1] = min(row[-1], before[j - 2] + 1)
        before, last = last, row
    return last[-1]
