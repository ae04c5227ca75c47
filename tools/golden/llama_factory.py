"""Ids and labels that LLaMA-Factory 0.9.5 makes of configs and data sets, for tests/golden/llama_factory.c.

    python -m venv /tmp/lf && /tmp/lf/bin/pip install llamafactory==0.9.5 transformers==5.6.0
    /tmp/lf/bin/python tools/golden/llama_factory.py tests/data/llamafactory
    /tmp/lf/bin/python tools/golden/llama_factory.py --random build/hone WORK [--seed 1] [--count 100] [--rows 20]

The first form writes small tokenizers, data sets and, for each case, what LLaMA-Factory's own data code gives. The second
draws configs and data sets, and holds `hone inspect data --json` against it.

Rows go to LLaMA-Factory's converter and processor one by one, as its get_dataset gives them in batches, so that a row
that makes it fail ends no run; every case without such rows and without packing is checked against get_dataset itself.
Rows are read with Python's json module: keys that a row lacks are null, as in the tables that `datasets` makes, but objects inside
rows are not given each other's keys.
"""
import argparse
import copy
import gzip
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import tempfile

os.environ.update(DISABLE_VERSION_CHECK="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", HF_DATASETS_DISABLE_PROGRESS_BARS="1",
                  CUDA_VISIBLE_DEVICES="")
os.environ.setdefault("HF_HOME", tempfile.mkdtemp())

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

DATE = "29 Nov 2026"

# ---- tokenizers ----

CORPUS = [
    "The quick brown fox jumps over the lazy dog. user assistant system tool function name arguments parameters description",
    '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "units": null}} <tool_call> </tool_call> <think> </think>',
    "You are a helpful assistant. Human: User: Assistant: ### Instruction: ### Response: Action: Action Input: [INST] [/INST]",
    "你好，世界。今天天气怎么样？ 中文 日本語 한국어 🦙🥳 é à ü ß", "1234567890 3.14 1e-5\n\n\nnew lines\tand tabs",
    "<|im_start|> <|im_end|> <|user|> <|assistant|> <start_of_turn>"] * 3


def special(text, **flags):
    return AddedToken(text, special=True, normalized=False, **flags)


def plain(text, **flags):
    return AddedToken(text, special=False, normalized=False, **flags)


def byte_level(added=(), size=420):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    for a in added:
        t.add_tokens([a])
    return t


def sentencepiece_like():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    bytes_ = ["<0x%02X>" % i for i in range(256)]
    t.train_from_iterator([c.replace("\n", " ") for c in CORPUS],
                          trainers.BpeTrainer(vocab_size=600, special_tokens=["<unk>", "<s>", "</s>"] + bytes_))
    j = json.loads(t.to_str())
    j["added_tokens"] = [a for a in j["added_tokens"] if a["content"] not in bytes_]
    t = Tokenizer.from_str(json.dumps(j))
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return t


def write_tokenizers(folder):
    def save(name, tok, **config):
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "tokenizer.json"), "w") as f:
            f.write(json.dumps(json.loads(tok.to_str()), ensure_ascii=False, separators=(",", ":")))
        config["tokenizer_class"] = "PreTrainedTokenizerFast"
        json.dump(config, open(os.path.join(path, "tokenizer_config.json"), "w"), ensure_ascii=False)
        # LLaMA-Factory reads no weights here; hone inspect data looks at the size of the vocabulary.
        json.dump({"model_type": "llama", "vocab_size": 4096, "hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2,
                   "num_key_value_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5},
                  open(os.path.join(path, "config.json"), "w"))

    save("chatml", byte_level([special("<|endoftext|>"), special("<|im_start|>"), special("<|im_end|>"), plain("<tool_call>"),
                               plain("</tool_call>"), plain("<think>"), plain("</think>")]),
         eos_token="<|endoftext|>", pad_token="<|endoftext|>")
    t = byte_level([special(s) for s in ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
                                         "<|eot_id|>")])
    t.post_processor = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B",
        special_tokens=[("<|begin_of_text|>", t.token_to_id("<|begin_of_text|>"))])
    save("llama3", t, eos_token="<|end_of_text|>", bos_token="<|begin_of_text|>")
    save("bare", byte_level(size=350))
    save("many", byte_level([special(s) for s in (
        "<s>", "</s>", "<pad>", "<|user|>", "<|assistant|>", "<|system|>", "<|observation|>", "[gMASK]", "<sop>", "sop",
        "<start_of_turn>", "<end_of_turn>", "<eos>", "<sep>", "<eod>", "<|end|>", "[INST]", "[/INST]", "<｜User｜>", "<｜Assistant｜>",
        "<|channel|>", "<|message|>", "<|start|>", "<|eom_id|>", "<|end_of_text|>")]),
         eos_token="</s>", bos_token="<s>", pad_token="<pad>")
    save("spm", sentencepiece_like(), eos_token="</s>", bos_token="<s>", unk_token="<unk>")


# ---- the reference ----

def lf():
    """LLaMA-Factory's modules, imported when first needed."""
    if not hasattr(lf, "cache"):
        from types import SimpleNamespace
        import datasets
        import transformers
        import llamafactory.data.loader as loader
        import llamafactory.data.template as template
        import llamafactory.data.tool_utils as tool_utils
        from llamafactory.data.converter import get_dataset_converter
        from llamafactory.data.parser import get_dataset_list
        from llamafactory.hparams import get_train_args
        from llamafactory.model import load_tokenizer
        logging.disable(logging.CRITICAL)
        datasets.disable_progress_bars()

        class Today(tool_utils.datetime):
            @classmethod
            def now(cls, tz=None):
                return cls(2026, 11, 29)
        tool_utils.datetime = Today
        for t in template.TEMPLATES.values():       # rows of text need no processor of images
            t.mm_plugin = template.get_mm_plugin("base")
        lf.cache = SimpleNamespace(loader=loader, template=template, converter=get_dataset_converter, datasets_of=get_dataset_list,
                                   args=get_train_args, tokenizer=load_tokenizer,
                                   originals=copy.deepcopy(template.TEMPLATES), datasets=datasets)
    return lf.cache


def read_rows(path):
    if path.endswith(".jsonl"):
        rows = [json.loads(line) for line in open(path) if line.strip()]
    elif path.endswith(".txt"):
        return [{"text": line.rstrip("\n")} for line in open(path)]
    else:
        rows = json.load(open(path))
    keys = {}
    for r in rows:
        keys.update(dict.fromkeys(r))
    return [{k: r.get(k) for k in keys} for r in rows]


def quiet(fn, *args, **kwargs):
    with open(os.devnull, "w") as null:
        out, err = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = null
        try:
            return fn(*args, **kwargs)
        finally:
            sys.stdout, sys.stderr = out, err


def reference(config, check=False):
    """A list of (row, {"ids": …} | None where LLaMA-Factory drops the row | text of the exception)."""
    m = lf()
    m.template.TEMPLATES.clear()
    m.template.TEMPLATES.update(copy.deepcopy(m.originals))
    args = {"finetuning_type": "full", "do_train": True, "output_dir": tempfile.gettempdir(), "report_to": "none",
            "overwrite_cache": True, "trust_remote_code": False, **config}
    for own in ("llamafactory_quirks", "bad_rows", "tool_date"):
        args.pop(own, None)
    model_args, data_args, training_args, finetuning_args, _ = quiet(m.args, args)
    tokenizer = quiet(m.tokenizer, model_args)["tokenizer"]
    template = m.template.get_template_and_fix_tokenizer(tokenizer, data_args)
    stage = "rm" if finetuning_args.stage == "dpo" else finetuning_args.stage
    packing, data_args.packing = data_args.packing, False       # rows, not packs; cutoff_len is already lowered
    if stage == "pt" and packing:
        data_args.cutoff_len = 10 ** 9                          # documents, not blocks
    processor = m.loader._get_dataset_processor(data_args, stage, template, tokenizer, None)
    out, broken = [], False
    for name, attr in zip(data_args.dataset, m.datasets_of(data_args.dataset, data_args.dataset_dir)):
        convert = m.converter(attr.formatting, attr, data_args)
        rows = read_rows(os.path.join(data_args.dataset_dir, attr.dataset_name))[:data_args.max_samples]
        for i, row in enumerate(rows):
            try:
                aligned = quiet(convert, row)
                made = quiet(processor.preprocess_dataset, {k: [v] for k, v in aligned.items()})
                out.append((i, {k: v[0] for k, v in made.items()} if made and len(made["input_ids" if stage != "rm" else "chosen_input_ids"]) else None))
            except Exception as e:
                out.append((i, repr(e)))
                broken = True
    if check and not broken and all(r for _, r in out):
        m.template.TEMPLATES.update(copy.deepcopy(m.originals))
        whole = quiet(m.loader.get_dataset, template, model_args, data_args, training_args, stage, tokenizer)["train_dataset"]
        for (_, r), w in zip(out, whole, strict=True):
            for k in ("input_ids", "labels", "chosen_input_ids", "chosen_labels", "rejected_input_ids", "rejected_labels"):
                assert r.get(k) == w.get(k), (config, k)
    return [(i, tidy(r, stage) if isinstance(r, dict) else r) for i, r in out]


def tidy(r, stage):
    if stage == "pt":
        return {"ids": r["input_ids"], "labels": r["input_ids"]}
    if stage == "rm":
        return {"chosen_ids": r["chosen_input_ids"], "chosen_labels": r["chosen_labels"], "rejected_ids": r["rejected_input_ids"],
                "rejected_labels": r["rejected_labels"]}
    out = {"ids": r["input_ids"], "labels": r["labels"]}
    if len(out["ids"]) != len(out["labels"]):       # a turn cut to nothing still gets EOS as its first label
        del out["labels"]
    if stage == "kto":
        out["desirable"] = r["kto_tags"]
    return out


def learns_nothing(r, config):
    if config.get("stage") == "pt" and "packing" not in config:
        return False            # a document of a stream
    pairs = [("ids", "labels"), ("chosen_ids", "chosen_labels"), ("rejected_ids", "rejected_labels")]
    return any(label in r and not any(l >= 0 for l in r[label][1:]) for k, label in pairs)


# ---- data sets ----

TOOLS = [{"name": "get_weather", "description": "查询天气", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "description": "name of the city"},
                                     "days": {"type": ["integer", "null"], "description": "how many"},
                                     "units": {"type": "string", "enum": ["C", "F"]},
                                     "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["city"]}},
         {"type": "function", "function": {"name": "add", "description": "a + b", "parameters": {
             "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number", "description": "it's \"b\""}}}}}]
CALL = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "x": [1.0, 1e-7, 1e22, None, True, {"é": "\n\"q\""}]}}


def write_data(folder):
    os.makedirs(folder, exist_ok=True)
    info = {}

    def save(name, rows, file=None, **entry):
        file = file or name + ".json"
        info[name] = {"file_name": file, **entry}
        with open(os.path.join(folder, file), "w") as f:
            if file.endswith(".jsonl"):
                f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
            elif file.endswith(".txt"):
                f.writelines(r + "\n" for r in rows)
            else:
                json.dump(rows, f, ensure_ascii=False, indent=0)

    save("alpaca", [{"instruction": "Add the numbers.", "input": "2 2", "output": "4"},
                    {"instruction": "Say hi.", "input": "", "output": ""},
                    {"instruction": "", "input": "", "output": "你好，🦙 <|im_end|> {{content}} {{idx}}"}])
    save("alpaca_full", [
        {"q": "And 3+3?", "x": "{{idx}} {{idx}}", "a": "6", "s": "Be brief.", "h": [["1+1?", "2"], ["2+2 {{idx}}?", "4"]], "t": json.dumps(TOOLS)},
        {"q": "Why?", "x": None, "a": "<think>\nBecause.\n</think>\n\nSo.", "s": "", "h": [["a", "<think>\nx\n</think>\n\n\nb"]], "t": "[]"},
        {"q": "No answer", "x": "", "a": None, "s": None, "h": None, "t": ""},
        {"q": "Plain", "x": "", "a": "text", "s": None, "h": [], "t": None}], "alpaca_full.jsonl",
         columns={"prompt": "q", "query": "x", "response": "a", "system": "s", "history": "h", "tools": "t"})
    human, gpt, obs, call = "human", "gpt", "observation", "function_call"

    def chat(*turns):
        return [{"from": r, "value": v} for r, v in turns]
    save("sharegpt", [
        {"conversations": chat(("system", "You are terse."), (human, "Weather in Paris?"), (call, json.dumps(CALL)),
                               (obs, '{"t": 21}'), (gpt, "21 degrees.")), "tools": json.dumps(TOOLS, ensure_ascii=False)},
        {"conversations": chat((human, "Both?"), (call, json.dumps([CALL, {"name": "add", "arguments": {"b": 2, "a": 1}}])), (obs, "ok"),
                               (call, "<think>\nhm\n</think>\n\n" + json.dumps(CALL)), (obs, "ok"),
                               (gpt, "<think>done</think>Done.")), "tools": json.dumps(TOOLS)},
        {"conversations": chat((human, "x"), (call, "I call. <tool_call>\n" + json.dumps(CALL) + "\n</tool_call> Now."), (obs, ""),
                               (gpt, "")), "tools": ""},
        {"conversations": chat((human, "a"), (human, "b"), (gpt, "c")), "tools": ""},
        {"conversations": chat((gpt, "a"), (human, "b")), "tools": ""},
        {"conversations": chat((human, "a"), (gpt, "b"), (human, "c")), "tools": ""},
        {"conversations": chat((human, "one"), (gpt, "1"), (human, "two"), (gpt, "<think>\nt\n</think>\n\n2"), (human, "three"), (gpt, "3")),
         "tools": "[]"}], formatting="sharegpt", columns={"messages": "conversations", "tools": "tools"})
    role = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant", "observation_tag": "tool",
            "function_tag": "function", "system_tag": "system"}

    def messages(*turns):
        return [{"role": r, "content": v} for r, v in turns]
    calls = [{"id": "1", "type": "function", "function": {"name": "add", "arguments": json.dumps({"a": 1, "b": 2.5})}}]
    save("openai", [
        {"messages": messages(("system", "Sys."), ("user", "1+2.5?")) + [{"role": "assistant", "content": "lost", "tool_calls": calls}] +
         messages(("tool", "3.5"), ("tool", "again"), ("assistant", "3.5")), "tools": json.dumps(TOOLS)},
        {"messages": messages(("user", "hi"), ("assistant", "hello"), ("user", "bye"), ("assistant", "<think>\nb\n</think>\n\nbye")),
         "tools": ""},
        {"messages": messages(("system", "detailed thinking on"), ("user", "hi"), ("assistant", "hello")), "tools": ""},
        {"messages": messages(("system", "x"), ("user", "hi"), ("assistant", "hello"), ("tool", "late")), "tools": ""}],
         formatting="openai", columns={"messages": "messages", "tools": "tools"}, tags=role)
    save("pairs", [{"instruction": "Good?", "input": "", "chosen": "Yes, very much so.", "rejected": "No."},
                   {"instruction": "A", "input": "b", "chosen": "<think>\nc\n</think>\n\nd", "rejected": ""}], ranking=True,
         columns={"prompt": "instruction", "query": "input", "chosen": "chosen", "rejected": "rejected"})
    save("pairs_chat", [
        {"conversations": chat((human, "a"), (gpt, "<think>\nq\n</think>\n\nb"), (human, "c")), "chosen": {"from": gpt, "value": "good"},
         "rejected": {"from": gpt, "value": "bad one, longer than the other"}},
        {"conversations": chat((human, "a"), (gpt, "b")), "chosen": {"from": gpt, "value": "x"}, "rejected": {"from": gpt, "value": "y"}}],
         formatting="sharegpt", ranking=True, columns={"messages": "conversations", "chosen": "chosen", "rejected": "rejected"})
    save("kto", [{"instruction": "A?", "input": "", "output": "Aye.", "tag": True}, {"instruction": "B?", "input": "x", "output": "No", "tag": False},
                 {"instruction": "C?", "input": "", "output": "", "tag": True}],
         columns={"prompt": "instruction", "query": "input", "response": "output", "kto_tag": "tag"})
    save("kto_chat", [{"messages": messages(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")), "label": False},
                      {"messages": messages(("system", "s"), ("user", "a"), ("assistant", "<think>\nb\n</think>\n\nb")), "label": True}],
         formatting="sharegpt", columns={"messages": "messages", "kto_tag": "label"}, tags=role)
    save("long", [{"conversations": chat(*[t for k in range(n) for t in ((human, "question number %d of %s" % (k, "many " * (k * 3 % 5))),
                                                                          (gpt, "answer %s %d" % ("yes " * ((k * 7 + n) % 9), k)))]), "system": "Be good." if n % 2 else ""}
                  for n in (1, 2, 4)], formatting="sharegpt", columns={"messages": "conversations", "system": "system"})
    save("text", [{"text": "Once upon a time, 你好."}, {"text": ""}, {"text": "ends with a space "}, {"text": "with <|im_end|> and </s> in it"}],
         "text.jsonl", columns={"prompt": "text"})
    save("text_lines", ["first document", "second one \t"], "lines.txt", columns={"prompt": "text"})
    json.dump(info, open(os.path.join(folder, "dataset_info.json"), "w"), indent=0)


# ---- cases ----

def cases():
    """(tokenizer, config)."""
    names = [n for n in lf().originals if not n.startswith("paligemma")]
    home = {"llama": "llama3", "mllama": "llama3", "mistral": "spm", "ministral": "many", "gemma": "many", "glm": "many",
            "chatglm3": "many", "yuan": "many", "deepseek": "many", "gpt_oss": "many", "vicuna": "spm", "default": "spm", "alpaca": "bare",
            "zephyr": "spm", "phi": "many", "openchat-3.6": "llama3", "breeze": "spm", "solar": "bare", "empty": "bare", "minimax": "many"}
    for n in names:
        tok = next((t for p, t in home.items() if n.startswith(p)), "chatml")
        yield tok, {"template": n, "dataset": "sharegpt"}
    for tok, n in (("chatml", "qwen"), ("llama3", "llama3"), ("spm", "mistral"), ("many", "glm4"), ("bare", "default"), ("chatml", "qwen3"),
                   ("many", "gemma2"), ("many", "deepseekr1")):
        yield tok, {"template": n, "dataset": "alpaca,alpaca_full,openai", "llamafactory_quirks": True}
        yield tok, {"template": n, "dataset": "alpaca_full,long", "mask_history": True}
        if n not in ("glm4", "gemma2"):
            yield tok, {"template": n, "dataset": "alpaca_full,sharegpt", "train_on_prompt": True, "cutoff_len": 60}
        yield tok, {"template": n, "dataset": "pairs,pairs_chat", "stage": "dpo", "cutoff_len": 40}
        yield tok, {"template": n, "dataset": "pairs", "stage": "rm"}
        yield tok, {"template": n, "dataset": "kto,kto_chat", "stage": "kto"}
        yield tok, {"template": n, "dataset": "kto", "stage": "kto", "cutoff_len": 11}
        yield tok, {"template": n, "dataset": "text,text_lines", "stage": "pt", "packing": False, "cutoff_len": 12}
        yield tok, {"template": n, "dataset": "text", "stage": "pt"}
    for tok, n in (("chatml", "qwen3"), ("many", "glm4_7"), ("many", "gpt_oss"), ("many", "gemma4"), ("bare", "seed_oss")):
        for thinking in (True, False, None):
            for extra in ({}, {"mask_history": True}, {"mask_history": True, "preserve_thinking": True}):
                yield tok, {"template": n, "dataset": "alpaca_full,sharegpt", "enable_thinking": thinking, **extra}
            yield tok, {"template": n, "dataset": "pairs,pairs_chat", "stage": "rm", "enable_thinking": thinking, "preserve_thinking": thinking is None}
    for f in ("default", "gemma4", "glm4", "glm4_moe", "lfm2", "ling", "llama3", "minimax1", "minimax2", "mistral", "qwen", "qwen3_5", "seed_oss"):
        yield "chatml", {"template": "qwen", "dataset": "sharegpt", "tool_format": f}
        yield "many", {"template": "glm4", "dataset": "sharegpt", "tool_format": f, "default_system": "Default."}
    for cut in (1, 2, 3, 5, 8, 13, 21, 27, 34, 43, 55, 70, 89, 110, 144):
        for extra in ({}, {"mask_history": True}):
            yield "chatml", {"template": "qwen3", "dataset": "long", "cutoff_len": cut, **extra}
            yield "many", {"template": "glm4", "dataset": "long", "cutoff_len": cut, **extra}
        yield "llama3", {"template": "llama3", "dataset": "long,alpaca", "cutoff_len": cut + 1, "packing": True}
        yield "spm", {"template": "mistral", "dataset": "long", "cutoff_len": cut, "neat_packing": True, "mask_history": True}
    yield "chatml", {"template": "qwen", "dataset": "alpaca,long", "default_system": "", "max_samples": 2}
    yield "chatml", {"template": "qwen", "dataset": "alpaca", "split_special_tokens": True}
    yield "chatml", {"template": "qwen", "dataset": "alpaca", "add_tokens": "quick,you", "add_special_tokens": "<new>,[INST]"}


def compact(r):
    """Labels as spans that are learned as they are, and those that differ."""
    out = {}
    for k, v in r.items():
        if not k.endswith("labels"):
            out[k] = v
            continue
        ids, spans, other = r[k.replace("labels", "ids")], [], {}
        for t, label in enumerate(v):
            if label == ids[t]:
                if spans and spans[-1][1] == t:
                    spans[-1][1] = t + 1
                else:
                    spans.append([t, t + 1])
            elif label != -100:
                other[str(t)] = label
        out[k] = spans
        if other:
            out[k + "_other"] = other
    return out


def generate(folder):
    shutil.rmtree(folder, ignore_errors=True)
    write_tokenizers(os.path.join(folder, "tokenizers"))
    write_data(os.path.join(folder, "data"))
    os.chdir(folder)
    n = 0
    with open("cases.jsonl.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as f:
        for tok, config in cases():
            rows = reference({"model_name_or_path": "tokenizers/" + tok, "dataset_dir": "data", **config}, check=True)
            out = []
            for i, r in rows:
                # A row that LLaMA-Factory drops, fails at or learns nothing from is one that hone leaves out.
                out.append(compact(r) if isinstance(r, dict) and not learns_nothing(r, config) else None)
            f.write(json.dumps({"tokenizer": tok, "config": config, "rows": out}, separators=(",", ":")).encode() + b"\n")
            n += 1
    print(n, "cases")


# ---- random configs ----

class Draw:
    WORDS = ["hello", "The fox", "你好", "🦙", " x ", "\n", "<think>\n", "\n</think>\n\n", "<think>", "</think>", "{{content}}", "{{idx}}",
             "<|im_end|>", "a'b\"c", "<tool_call>", "</tool_call>", "tool", "1+1?", "<|user|>", "\n\n", "ok.", "é", "\t", "[INST]",
             "<|eot_id|>", "</s>", "detailed thinking on"]
    TEMPLATES = None

    def __init__(self, seed):
        self.r = random.Random(seed)

    def some(self, *choices):
        return self.r.choice(choices)

    def text(self, k=5):
        return "".join(self.r.choice(self.WORDS) + self.some("", " ") for _ in range(self.r.randint(0, k)))

    def answer(self):
        r = self.r
        thought = self.some("<think>\n", "<think>") + self.text(2) + self.some("\n</think>\n\n", "</think>") if r.random() < .4 else ""
        return thought + self.text()

    def value(self, depth=0):
        r = self.r
        return [lambda: r.randint(-5, 10 ** r.choice([1, 5, 18, 30])), lambda: r.uniform(-1, 1) * 10.0 ** r.randint(-20, 20), lambda: None,
                lambda: True, lambda: self.text(2), lambda: "x y\n\"q\"\\ \x01é", lambda: float(r.choice(["1e5", "1e16", "1e22", "0.1", "1e-5", "5e-324"])),
                lambda: 0, lambda: [self.value(depth + 1) for _ in range(r.randint(0, 3))],
                lambda: {r.choice("abcxyz"): self.value(depth + 1) for _ in range(r.randint(0, 3))}][r.randint(0, 9 if depth < 3 else 7)]()

    def call(self):
        return {"name": self.some("get", "f_1", "查询"), "arguments": {self.some("city", "days", "Zed", "é"): self.value() for _ in range(self.r.randint(0, 4))}}

    def dumps(self, v):
        return json.dumps(v, ensure_ascii=self.r.random() < .3, indent=self.some(None, None, 2))

    def function(self):
        r = self.r.random()
        if r < .04:
            return self.text()
        s = self.dumps(self.call() if self.r.random() < .5 else [self.call() for _ in range(self.r.randint(0, 3))])
        if r < .3:
            return self.some("<think>\n" + self.text(2) + "\n</think>\n\n", "<think>" + self.text(1) + "</think>") + s
        return self.text(2) + "<tool_call>" + s + "</tool_call>" + self.text(1) if r < .5 else s

    def tools(self):
        def one():
            p = {"type": self.some("object", ["object", "null"]), "properties": {self.some("city", "days", "it's"): {
                k: v for k, v in {"type": self.some("string", ["string", "null"]), "description": self.some("d", self.text(2), 5),
                                  "enum": self.some(["a", "b"], [], ["x"]), "items": self.some({"type": "string"}, {})}.items() if self.r.random() < .6}
                for _ in range(self.r.randint(0, 3))}}
            if self.r.random() < .6:
                p["required"] = self.some(["city"], [], ["days", "city"])
            f = {"name": self.some("get", "查询"), "description": self.text(2), "parameters": p}
            if self.r.random() < .05:
                del f[self.r.choice(list(f))]
            if self.r.random() < .2:
                f["x"] = self.value()
            return self.some(f, {"type": "function", "function": f})
        r = self.r.random()
        return "" if r < .4 else "[]" if r < .47 else "not json" if r < .49 else self.dumps([one() for _ in range(self.r.randint(1, 3))])

    def turns(self, odd=False):
        """(kind, text) in order; now and then out of order."""
        out = []
        for _ in range(self.r.randint(1, 4)):
            out.append((self.some("u", "u", "u", "o"), self.text()))
            out.append(("f", self.function()) if self.r.random() < .3 else ("a", self.answer()))
        if self.r.random() < .08:
            out.insert(self.r.randrange(len(out)), (self.some("u", "a", "o"), self.text()))
        return out[:-1] if odd else out

    def data(self, stage, folder, n):
        """Writes one data set and dataset_info.json; its name."""
        r = self.r
        fmt = self.some("alpaca", "sharegpt", "openai") if stage != "pt" else "alpaca"
        file = self.some("d.json", "d.jsonl")
        entry = {"file_name": file, "formatting": fmt}
        rows = []
        if stage in ("rm", "dpo"):
            entry["ranking"] = True
        if stage == "pt":
            entry["columns"] = {"prompt": "text"}
            rows = [{"text": self.text(8)} for _ in range(n)]
        elif fmt == "alpaca":
            entry["columns"] = {"prompt": "instruction", "query": "input", "history": "history", "system": "system", "tools": "tools"}
            for _ in range(n):
                row = {"instruction": self.text(), "input": self.some("", self.text(), None), "system": self.some("", None, self.text()),
                       "history": self.some(None, [], [[self.text(), self.answer()] for _ in range(r.randint(1, 3))]), "tools": self.tools()}
                if stage in ("rm", "dpo"):
                    row.update(chosen="c" + self.answer(), rejected="r" + self.answer())
                else:
                    row["output"] = self.answer() if r.random() < .93 else None
                if stage == "kto":
                    row["tag"] = r.random() < .5
                    row["output"] = row["output"] or ""
                rows.append(row)
            entry["columns"].update({"chosen": "chosen", "rejected": "rejected"} if stage in ("rm", "dpo") else {"response": "output"})
            if stage == "kto":
                entry["columns"]["kto_tag"] = "tag"
        else:
            tags = self.some(None, {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant",
                                    "observation_tag": "tool", "function_tag": "function", "system_tag": "system"})
            if tags:
                entry["tags"] = tags
            rk, ck = (tags["role_tag"], tags["content_tag"]) if tags else ("from", "value")
            names = {"u": "user", "a": "assistant", "o": "tool", "f": "function", "s": "system"} if tags else \
                {"u": "human", "a": "gpt", "o": "observation", "f": "function_call", "s": "system"}
            entry["columns"] = {"messages": "conversations", "system": "system", "tools": "tools"}

            def message(kind, text):
                if fmt == "openai" and kind == "f" and r.random() < .7:
                    args = self.call()
                    if r.random() < .5:
                        args["arguments"] = self.dumps(args["arguments"])
                    else:
                        args["arguments"] = {k: v for k, v in args["arguments"].items() if not isinstance(v, (int, list, dict)) or abs(hash(str(v))) and "0" * 10 not in str(v) and len(str(v)) < 15}
                    return {rk: names["a"], ck: self.some("", "lost"), "tool_calls": [{"id": "x", "type": "function", "function": args}]}
                return {rk: names[kind], ck: text}
            for _ in range(n):
                list_ = [message(*t) for t in self.turns(odd=stage in ("rm", "dpo"))]
                if r.random() < .3:
                    list_.insert(0, {rk: names["s"], ck: self.text()})
                if fmt == "openai" and r.random() < .2:
                    k = r.randrange(len(list_) + 1)
                    list_.insert(k, {rk: names["o"], ck: self.text(2)})
                row = {"conversations": list_, "system": self.some("", "", self.text()), "tools": self.tools()}
                if stage in ("rm", "dpo"):
                    row["chosen"], row["rejected"] = {rk: names["a"], ck: "c" + self.answer()}, {rk: names["a"], ck: "r" + self.answer()}
                if stage == "kto":
                    row["tag"] = r.random() < .5
                rows.append(row)
            if stage in ("rm", "dpo"):
                entry["columns"].update(chosen="chosen", rejected="rejected")
            if stage == "kto":
                entry["columns"]["kto_tag"] = "tag"
        with open(os.path.join(folder, file), "w") as f:
            if file.endswith("l"):
                f.writelines(json.dumps(x, ensure_ascii=r.random() < .5) + "\n" for x in rows)
            else:
                json.dump(rows, f)
        json.dump({"d": entry}, open(os.path.join(folder, "dataset_info.json"), "w"))

    def config(self, number):
        r, names = self.r, sorted(lf().originals)
        names = [n for n in names if not n.startswith("paligemma")]
        stage = self.some("sft", "sft", "sft", "sft", "rm", "dpo", "kto", "pt")
        c = {"stage": stage, "template": names[number % len(names)], "dataset": "d"}
        if r.random() < .6:
            c["cutoff_len"] = r.choice([1, 2, 5, 10, 17, 30, 50, 80, 120, 200, 400])
        if stage == "sft":
            k = r.random()
            if k < .25:
                c["mask_history"] = True
            elif k < .4 and not lf().originals[c["template"]].efficient_eos:
                c["train_on_prompt"] = True
            if r.random() < .2:
                c[self.some("packing", "neat_packing")] = True
        if stage == "pt":
            c["packing"] = self.some(None, False, False)
            if c["packing"] is None:
                del c["packing"]
        if r.random() < .3:
            c["enable_thinking"] = self.some(False, None)
        if r.random() < .3:
            c["preserve_thinking"] = True
        if r.random() < .2:
            c["default_system"] = self.some("", "Default system.")
        if r.random() < .2:
            c["tool_format"] = self.some("default", "gemma4", "glm4", "glm4_moe", "lfm2", "ling", "llama3", "minimax1", "minimax2", "mistral", "qwen",
                                         "qwen3_5", "seed_oss")
        if r.random() < .1:
            c["max_samples"] = 7
        if r.random() < .05:
            c["split_special_tokens"] = True
        if r.random() < .05:
            c["add_tokens"] = "hello,fox"
        c["llamafactory_quirks"] = True
        return c


def compare(hone, work, tok, config):
    """Number of rows, and those that differ."""
    full = {"model_name_or_path": os.path.join(work, "tokenizers", tok), "dataset_dir": work, "tool_date": DATE, "bad_rows": "drop", **config}
    path = os.path.join(work, "config.yaml")
    json.dump(full, open(path, "w"))
    p = subprocess.run([hone, "inspect", "data", path, "--json"], capture_output=True, text=True)
    try:
        want = reference(full)
    except Exception as e:
        return 0, [] if p.returncode else [("hone accepts", repr(e)[:200])]
    if p.returncode and config["template"] in ("chatglm3", "yuan") and "needs the token" in p.stderr:
        return 0, []        # LLaMA-Factory puts the unknown token, or none, where the vocabulary lacks one that the template names
    if p.returncode:
        return len(want), [("hone refuses", p.stderr[-400:])]
    got = [json.loads(line) for line in p.stdout.splitlines()]
    bad = []
    if len(got) != len(want):
        return len(want), [("rows", len(got), len(want), p.stderr[-300:])]
    for (i, w), g in zip(want, got):
        if i != g["row"]:
            bad.append(("row number", i, g["row"]))
        elif not isinstance(w, dict) or learns_nothing(w, config):
            if "dropped" not in g:
                bad.append((i, "kept", str(w)[:300]))
        elif "dropped" in g:
            bad.append((i, g["dropped"]))
        elif any(g.get(k) != v for k, v in w.items()):
            k = next(k for k, v in w.items() if g.get(k) != v)
            bad.append((i, k, w[k], g.get(k)))
    return len(want), bad


def draw_and_compare(hone, work, seed, count, rows):
    work = os.path.abspath(work)
    os.makedirs(work, exist_ok=True)
    write_tokenizers(os.path.join(work, "tokenizers"))
    total = failed = 0
    for k in range(count):
        d = Draw(seed * 1000003 + k)
        config = d.config(seed * count + k)
        tok = d.some("chatml", "llama3", "bare", "many", "spm")
        d.data(config["stage"], work, rows)
        n, bad = compare(os.path.abspath(hone), work, tok, config)
        total += n
        failed += len(bad)
        if bad:
            shutil.copytree(work, os.path.join(work, "..", "failed-%d-%d" % (seed, k)), dirs_exist_ok=True, ignore=shutil.ignore_patterns("tokenizers"))
            print(seed, k, tok, json.dumps(config, ensure_ascii=False))
            for b in bad[:3]:
                print("    ", str(b)[:700])
    print("%d rows, %d differ" % (total, failed), flush=True)
    return failed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", nargs="?")
    p.add_argument("--random", nargs=2, metavar=("HONE", "WORK"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--rows", type=int, default=20)
    a = p.parse_args()
    if a.random:
        sys.exit(draw_and_compare(*a.random, a.seed, a.count, a.rows) > 0)
    generate(a.folder)


if __name__ == "__main__":
    main()
