#!/usr/bin/env python3
"""Make tests/data/tokenizer/models: small SentencePiece models of both types, small tokenizers of every kind of model, and what
the tokenizers library, and transformers' AutoTokenizer for folders without tokenizer.json, make of texts with them.

Needs tokenizers==0.23.3, transformers==5.24.0, sentencepiece==0.2.3, protobuf and xxhash. Run from the project's root:
python tools/golden/tokenizer_models.py ("cases" after it keeps the models that are there).
"""
import glob
import json
import os
import shutil
import struct
import sys
import tempfile

os.environ.update(TRANSFORMERS_VERBOSITY="critical", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
import sentencepiece
import tokenizers
import transformers
import xxhash
from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from tokenizers import pre_tokenizers as pre
from transformers import AutoTokenizer

assert (tokenizers.__version__, transformers.__version__) == ("0.23.3", "5.24.0")

OUT = "tests/data/tokenizer/models"
MIXED = open("tests/data/tokenizer/mixed.txt", encoding="utf-8", newline="").read()
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
PLANE = 0x10000
TEXTS = ["", " ", "  ", "a", "▁", " ▁a", "<s>", " <s> x</s>", "<tool>the<tool> the", "a  b   c", "\n\n the\t", "x<|user|>y", "plain plain",
         "é<0x41>", "🦙🦙", "<ctl>", "foo bar foo", "unaffable", "İSTANBUL Straße", "<extra_id_0> a", "<pad><mask>", "世界the", "\u0000\u00a0x"]
RULES = "0041\t0061\n00DF\t0073 0073\nFF01\t0021\n3000\t0020\n200B\t\n0065 0301\t00E9\n"      # of normalization: a small table


def digest(list_of_ids):
    h = xxhash.xxh3_128()
    for ids in list_of_ids:
        h.update(struct.pack(f"<{len(ids) + 1}i", *ids, -1))
    return h.hexdigest()


def train():
    texts = MIXED + "\n".join(open(p, encoding="utf-8", errors="ignore").read() for p in sorted(glob.glob("/usr/share/common-licenses/*")))
    with tempfile.TemporaryDirectory() as tmp:
        open(f"{tmp}/text", "w", encoding="utf-8").write(texts)
        open(f"{tmp}/rules", "w", encoding="utf-8").write(RULES)
        for kind, size in (("bpe", 900), ("unigram", 900)):
            own = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False} if kind == "bpe" else \
                {"normalization_rule_tsv": f"{tmp}/rules", "pad_id": 3}
            sentencepiece.SentencePieceTrainer.train(
                input=f"{tmp}/text", model_prefix=f"{OUT}/spm_{kind}", vocab_size=size, model_type=kind, byte_fallback=True,
                user_defined_symbols=["<tool>", "foo bar"], control_symbols=["<ctl>"], character_coverage=0.98, minloglevel=2,
                max_sentence_length=20000, input_sentence_size=4000, **own)
            os.remove(f"{OUT}/spm_{kind}.vocab")
    lines = texts.split("\n")
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=1000, special_tokens=["[UNK]"], limit_alphabet=150, show_progress=False))
    save(t, "wordpiece")
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.pre_tokenizer = pre.Whitespace()
    t.train_from_iterator(lines, trainers.WordLevelTrainer(vocab_size=500, special_tokens=["[UNK]"], show_progress=False))
    save(t, "wordlevel")
    t = Tokenizer(models.Unigram())
    t.pre_tokenizer = pre.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator(lines[:3000], trainers.UnigramTrainer(vocab_size=800, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
    save(t, "unigram")
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.pre_tokenizer = pre.Whitespace()
    t.decoder = decoders.BPEDecoder()
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>"], end_of_word_suffix="</w>", limit_alphabet=120,
                                                     show_progress=False))
    save(t, "bpe_suffix")


def save(t, name):
    with open(f"{OUT}/{name}.json", "w", encoding="utf-8") as f:
        json.dump(json.loads(t.to_str()), f, ensure_ascii=False, separators=(",", ":"))


def special(content):
    return {"content": content, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}


NAMED = {"0": special("<unk>"), "1": special("<s>"), "2": special("</s>")}
PLAIN = {"content": "plain", "lstrip": False, "rstrip": False, "normalized": True, "single_word": False, "special": False}
SPM = [     # name, model, file name, model_type, tokenizer_config.json
    ("llama", "bpe", "tokenizer.model", "llama", {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}),
    ("llama, legacy", "bpe", "tokenizer.model", "llama", {"tokenizer_class": "LlamaTokenizerFast", "legacy": True, "add_eos_token": True}),
    ("llama, no prefix", "bpe", "tokenizer.model", "llama",
     {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False, "added_tokens_decoder": {**NAMED, "1200": special("<|user|>"), "1201": PLAIN}}),
    ("llama, a Unigram model", "unigram", "tokenizer.model", "llama", {"tokenizer_class": "LlamaTokenizer", "extra_special_tokens": []}),
    ("code llama", "bpe", "tokenizer.model", "llama", {"tokenizer_class": "CodeLlamaTokenizer"}),
    ("gemma", "bpe", "tokenizer.model", "gemma2", {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True, "bos_token": "<s>"}),
    ("mistral", "bpe", "tokenizer.model", "mistral", {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "legacy": True}),
    ("mistral, renamed", "bpe", "tokenizer.model", "mistral",
     {"tokenizer_class": "LlamaTokenizer", "legacy": False, "added_tokens_decoder": {**NAMED, "6": special("<|user|>")}}),
    ("no class", "bpe", "tokenizer.model", "internlm2", {"tokenizer_class": "NobodyTokenizer"}),
    ("no class, Unigram", "unigram", "tokenizer.model", "internlm2", {"tokenizer_class": "NobodyTokenizer", "add_bos_token": True}),
    ("t5", "unigram", "spiece.model", "t5", {"tokenizer_class": "T5Tokenizer", "extra_ids": 10}),
    ("xlm-roberta", "unigram", "sentencepiece.bpe.model", "xlm-roberta", {"tokenizer_class": "XLMRobertaTokenizer"}),
]


def ids(t, texts, special_tokens):
    return [e.ids for e in t.encode_batch(texts, add_special_tokens=special_tokens)]


def results(t, planes):
    out = {"texts": digest(ids(t, TEXTS, True)), "mixed": digest(ids(t, [MIXED], True)), "lines": digest(ids(t, MIXED.split("\n"), False)),
           "decoded": xxhash.xxh3_128(t.decode(t.encode(MIXED).ids, skip_special_tokens=True).encode()).hexdigest()}
    if planes:
        out["planes"] = [digest(ids(t, [f"a{chr(c)}b{chr(c)} " for c in CODE_POINTS if c // PLANE == p], False)) for p in range(17)]
    return out


def main():
    os.makedirs(OUT, exist_ok=True)
    if sys.argv[1:] != ["cases"]:
        train()
    cases = [{"name": n, "file": f"{n}.json", **results(Tokenizer.from_file(f"{OUT}/{n}.json"), True)}
             for n in ("wordpiece", "wordlevel", "unigram", "bpe_suffix")]
    for name, kind, as_name, model_type, config in SPM:
        with tempfile.TemporaryDirectory() as d:
            shutil.copy(f"{OUT}/spm_{kind}.model", f"{d}/{as_name}")
            json.dump(config, open(f"{d}/tokenizer_config.json", "w"))
            json.dump({"model_type": model_type}, open(f"{d}/config.json", "w"))
            t = AutoTokenizer.from_pretrained(d)
            named = [-1 if i is None else i for i in (t.bos_token_id, t.eos_token_id, t.pad_token_id)]
            cases.append({"name": name, "model": f"spm_{kind}.model", "as": as_name, "model_type": model_type, "config": config, "named": named,
                          **results(t._tokenizer, name in ("llama", "no class, Unigram"))})
    with open(f"{OUT}/cases.json", "w", encoding="utf-8") as f:
        json.dump({"texts": TEXTS, "cases": cases}, f, ensure_ascii=False, indent=0)


main()
