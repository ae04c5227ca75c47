#!/usr/bin/env python3
"""Make tests/data/tokenizer: small byte-level BPE tokenizers of the three published kinds, and what the reference library
makes of texts with them and with many variations of their parts.

Needs tokenizers==0.23.3 and xxhash. Run from the project's root: python tools/golden/tokenizer.py
("cases" after it makes only the variations anew, with the tokenizers that are there).
Training text is found on the machine that runs it (licence texts and message catalogues), so another machine gives other
vocabularies of the same shape; the tests only need the files to agree with each other.
"""
import gettext
import glob
import json
import os
import random
import struct
import sys

import tokenizers
import xxhash
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, processors, trainers
from tokenizers import pre_tokenizers as pre

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__

OUT = "tests/data/tokenizer"
WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = {
    "gpt2": ["<|endoftext|>"],
    "qwen2": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    "llama3": ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"],
}
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BLOCK = 4096

PHRASES = [
    "The quick brown fox jumps over the lazy dog.", "It's what we'd've said, they'll say; I'M HERE, YOU'RE NOT",
    "Größe, Straße, übermäßig – „Zitat“", "L'été à la plage, ça va ? Où est-ce ?", "¿Qué tal, señor? Mañana, ¡olé!",
    "Привет, мир! Съешь ещё этих мягких булок.", "Καλημέρα κόσμε, ΑΣ ας", "שלום עולם", "مرحبا بالعالم ١٢٣", "नमस्ते दुनिया क़",
    "สวัสดีชาวโลก", "你好，世界。今天天气很好", "こんにちは世界、カタカナ ｶﾀｶﾅ", "안녕하세요 세계 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "e\u0301te\u0301 a\u0323\u0302 \u0041\u030a \u212b \u1e9b\u0323", "Tiếng Việt: Xin chào thế giới", "🦙.cpp 🥳🥳🥳 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "for (int i = 0; i < n; ++i) {\n\treturn x[i] * 2.5e-3f;\n}\n", "def f(x):\n    return {'a': [1, 2, 3], \"b\": None}\n",
    "<div class=\"x\">&amp;</div>\r\n\r\n", "1234567 12 3,141.59 0x7fff ²³ ½ Ⅻ ①", "eBay mL NaOH pH iPhone", "   \t\t  \n \n\n x  ",
    "a!! b12345", "\u2029 \ua4e3", "\u00a0\u3000\u200b\u200d\ufeff", "'ſ 'S '\u212a", "http://example.org/?q=%20&r=1#frag", "日本語とEnglishの混在123",
    "\U0001d400\U0001d7d8 \U000e0041 \U00010330", "ﬁﬂ Ǆ ŉ ﷺ", "x\u0000y\u0007z\u007f", "......-----=====*****", "naïve café coöperate",
]


def corpus():
    texts = [open(p, encoding="utf-8", errors="ignore").read() for p in sorted(glob.glob("/usr/share/common-licenses/*"))]
    for mo in sorted(glob.glob("/usr/share/locale/*/LC_MESSAGES/*.mo")):
        try:
            with open(mo, "rb") as f:
                catalog = gettext.GNUTranslations(f)._catalog
        except (OSError, UnicodeDecodeError, ValueError, IndexError):
            continue
        texts.append("\n".join(v for v in catalog.values() if isinstance(v, str))[:3000])
    return texts + PHRASES * 3


def train(kind, texts, size):
    t = Tokenizer(models.BPE(ignore_merges=kind == "llama3"))
    if kind == "gpt2":
        t.pre_tokenizer = pre.ByteLevel(add_prefix_space=False)
        t.post_processor = processors.ByteLevel(trim_offsets=False)
    else:
        pattern = WORDS % (r"\p{N}" if kind == "qwen2" else r"\p{N}{1,3}")
        t.pre_tokenizer = pre.Sequence([pre.Split(Regex(pattern), "isolated"),
                                        pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    if kind == "qwen2":
        t.normalizer = normalizers.NFC()
        t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre.ByteLevel.alphabet(),
                                                     show_progress=False))
    t.add_special_tokens(SPECIAL[kind])
    if kind == "llama3":
        bos = SPECIAL[kind][0]
        t.post_processor = processors.Sequence([
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single=f"{bos} $A", pair=f"{bos} $A {bos}:1 $B:1",
                                          special_tokens=[(bos, t.token_to_id(bos))])])
    return t


def digest(list_of_ids):
    """Hash of all ids as int32, -1 after each text."""
    h = xxhash.xxh3_128()
    for ids in list_of_ids:
        h.update(struct.pack(f"<{len(ids) + 1}i", *ids, -1))
    return h.hexdigest()


def digest_texts(t, texts, special):
    return digest(e.ids for e in t.encode_batch_fast(texts, add_special_tokens=special))


def mixed_text(rng):
    out = []
    while sum(map(len, out)) < 60000:
        out.append(rng.choice(PHRASES) if rng.random() < 0.8 else "".join(rng.sample("abc XYZ12é世🥳'\n\t.,-_", 6)))
        out.append(rng.choice([" ", "\n", "", "  ", " \n\n ", ", "]))
    return "".join(out)


# ---- variations of the parts ----

REGEXES = [
    r"\d", r"\s+", r"\p{N}{1,3}", r"[A-Z][a-z]+", r"(?i:he|LL)", r"\w+|[^\w\s]+", r"^a|b$", r"\b", r"\Bx", r"x*", r"(?<=e)",
    r"\W", r"[\s\p{P}]", r".", r"(a|e)+", r"[^\S\n]", r"\h+", r"\P{L}", r"\p{^Lu}\p{Lu}", r"[一-龥]+", r"[\x{4e00}-\x{9fff}]+",
    "\u3000|é", r"[!-/]", r" ?\p{Sc}", r"\D\S", r"[a-f\d]{2,}", r"o{,2}w", r"$", r"^", r"(?=[A-Z])",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]
# Replace with a match of the empty string at the start is not supported.
NOT_EMPTY = [x for x in REGEXES if x not in (r"\b", r"x*", r"(?<=e)", r"$", r"^", r"(?=[A-Z])")]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
CONTENTS = ["<|im", "<|im_end|>", "<|im_end|>x", "the", "The", " the", "é", "e\u0301", "  ", "\n", "12", "X", "fi", "ﬁ", "<s>", "</s>",
            "<|user|>", "<|assistant|>", "好", "ABC", "ab", "Straße", "ß", "'s", "ing", ".", "😀"]
TEXTS = ["", "a", " ", "  ", " the", "the end.", "The THE the  the\n\nthe", "e\u0301é\u0323\u0302 x", "<|user|>\n你好<|assistant|>\n",
         "<|im_end|>x <|im <|im_end|>", "  <s>  uns", "a</s>b</s>c", "x12 12x 12 123456", "  <|im_end|>  \n ab ABC aABCb",
         "Straße STRASSE ß fi ﬁ ing singing ing", "한국어 각각 \u1100\u1161\u11a8", "\u0915\u093c\u0958 \u0344", "a\u0300\u0316\u0334b",
         "½ ² ٣ Ⅻ", "a_b-c", "$5.00 €3", "İstanbul ΑΣ"] + PHRASES


def split(r):
    pattern = {"String": r.choice([" ", "e", "the", "", "\n", "é", "  "])} if r.random() < 0.3 else {"Regex": r.choice(REGEXES)}
    return {"type": "Split", "pattern": pattern, "behavior": r.choice(BEHAVIORS), "invert": r.random() < 0.5}


def byte_level(r, use_regex=None):
    return {"type": "ByteLevel", "add_prefix_space": r.random() < 0.5, "trim_offsets": r.random() < 0.5,
            "use_regex": r.random() < 0.5 if use_regex is None else use_regex}


def pre_tokenizer(r, depth=0):
    k = r.random()
    if k < 0.35:
        return split(r)
    if k < 0.5 or depth > 2:
        return byte_level(r)
    if k < 0.58:
        return {"type": "Digits", "individual_digits": r.random() < 0.5}
    if k < 0.66:
        return {"type": "Punctuation", "behavior": r.choice(BEHAVIORS)}
    if k < 0.74:
        return {"type": r.choice(["Whitespace", "WhitespaceSplit"])}
    return {"type": "Sequence", "pretokenizers": [pre_tokenizer(r, depth + 1) for _ in range(r.randint(0, 4))]}


def normalizer(r, depth=0):
    k = r.random()
    if k < 0.6 or depth > 2:
        return {"type": r.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase"])}
    if k < 0.75:
        pattern = {"String": r.choice(["e", " ", "é", ".."])} if r.random() < 0.5 else {"Regex": r.choice(NOT_EMPTY)}
        return {"type": "Replace", "pattern": pattern, "content": r.choice(["", "X", " ", "éé"])}
    if k < 0.82:
        return {"type": "Prepend", "prepend": r.choice(["_", " ", "xy"])}
    return {"type": "Sequence", "normalizers": [normalizer(r, depth + 1) for _ in range(r.randint(0, 3))]}


def added(r):
    return [{"id": 9000 + i, "content": c, "single_word": r.random() < 0.3, "lstrip": r.random() < 0.3,
             "rstrip": r.random() < 0.3, "normalized": r.random() < 0.5, "special": r.random() < 0.5}
            for i, c in enumerate(r.sample(CONTENTS, r.randint(0, 8)))]


def token(i, content, **flags):
    return {"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": False, **flags}


def encode(t, text):
    try:
        return t.encode(text).ids
    except BaseException:       # the library panics on some overlaps of stripped white space
        return None


def case(base, name, change, texts):
    spec = json.loads(json.dumps(base))
    model = change.pop("model", {})
    spec.update(change)
    spec["model"].update(model)
    t = Tokenizer.from_str(json.dumps(spec))
    ids = [encode(t, x) for x in texts]
    kept = [(x, i) for x, i in zip(texts, ids) if i is not None]
    return {"name": name, "change": {**change, **({"model": model} if model else {})},
            "texts": [x for x, _ in kept] if texts is not TEXTS or len(kept) < len(texts) else "all",
            "hash": digest(i for _, i in kept), "decoded": xxhash.xxh3_128(t.decode(sum((i for _, i in kept), [])).encode()).hexdigest()}


def cases(base):
    r = random.Random(3)
    byte = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    out = [case(base, "punctuation, bytes, digits, split", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Punctuation", "behavior": "Contiguous"}, byte, {"type": "Digits", "individual_digits": False},
        {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False}]}}, TEXTS)]
    for regex in (r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}", r"[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+|\p{N}"):
        out.append(case(base, "split " + regex, {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}, {**byte, "use_regex": False}]}},
            ["eBay", "mL", "NaOH", "pH", "iPhone USA 12"] + TEXTS))
    for normalized in (False, True):
        for n in (None, {"type": "Lowercase"}, {"type": "NFC"}):
            tokens = [token(9000 + i, c, normalized=normalized) for i, c in enumerate(["<|user|>", "<|assistant|>", "<|im", "<|im_end|>"])]
            out.append(case(base, f"added tokens, normalized {normalized}, {n}", {"added_tokens": tokens, "normalizer": n}, TEXTS))
    for flag in ("single_word", "lstrip", "rstrip"):
        for c in ("the", "<s>", "  ", "12", "é"):
            out.append(case(base, f"added token {c!r}, {flag}", {"added_tokens": [token(9000, c, **{flag: True})]}, TEXTS))
    for i in range(150):
        change = {"added_tokens": added(r)}
        if r.random() < 0.6:
            change["normalizer"] = normalizer(r)
        k = r.random()
        if k < 0.55:
            change["pre_tokenizer"] = pre_tokenizer(r)
        elif k < 0.9:
            change["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split(r), byte_level(r, False)]}
        else:
            change["pre_tokenizer"] = None
        if r.random() < 0.2:
            change["model"] = {"unk_token": r.choice(["!", "a"]), "fuse_unk": r.random() < 0.5, "ignore_merges": r.random() < 0.5}
        if r.random() < 0.2:
            change["decoder"] = r.choice([None, {"type": "Fuse"}, {"type": "Sequence", "decoders": [{"type": "Fuse"}, byte]}])
        out.append(case(base, f"variation {i}", change, TEXTS))
    return out


def main():
    texts = [] if sys.argv[1:] == ["cases"] else corpus()
    for kind in SPECIAL if texts else []:
        t = train(kind, texts, 2500)
        os.makedirs(f"{OUT}/{kind}", exist_ok=True)
        spec = json.loads(t.to_str())
        if kind == "gpt2":      # old files join the halves of a merge, and some do not name the model's type
            spec["model"]["merges"] = [" ".join(m) for m in spec["model"]["merges"]]
            del spec["model"]["type"]
        with open(f"{OUT}/{kind}/tokenizer.json", "w", encoding="utf-8") as f:
            json.dump(spec, f, ensure_ascii=False, separators=(",", ":"))
        t = Tokenizer.from_file(f"{OUT}/{kind}/tokenizer.json")
        mixed = mixed_text(random.Random(2))
        with open(f"{OUT}/mixed.txt", "w", encoding="utf-8", newline="") as f:
            f.write(mixed)
        lines = mixed.split("\n")
        golden = {
            "alone": [digest_texts(t, [chr(c) for c in CODE_POINTS if c // BLOCK == b], False) for b in range(0x110000 // BLOCK)],
            "between": [digest_texts(t, [f"a{chr(c)}b" for c in CODE_POINTS if c // BLOCK == b], False)
                        for b in range(0x110000 // BLOCK)],
            "around": [digest_texts(t, [f"x1 {chr(c)} \n{chr(c)}{chr(c)}'{chr(c)}'s" for c in CODE_POINTS if c // BLOCK == b], False)
                       for b in range(0x110000 // BLOCK)],
            "mixed": digest([t.encode(mixed).ids]), "lines": digest_texts(t, lines, True),
        }
        with open(f"{OUT}/{kind}/golden.json", "w") as f:
            json.dump(golden, f, indent=0)
    base = json.load(open(f"{OUT}/gpt2/tokenizer.json", encoding="utf-8"))
    with open(f"{OUT}/cases.json", "w", encoding="utf-8") as f:
        json.dump({"all": TEXTS, "cases": cases(base)}, f, ensure_ascii=False, indent=0)


main()
