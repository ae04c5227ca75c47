#!/usr/bin/env python3
"""Hold `hone forward` against transformers on random tiny models of every family.

    python tools/golden/fuzz_models.py build/hone KEEP [--seed N] [--first I] [--count N] [--large] [--refusals]

Case I of seed N is always the same model. Each runs in both spellings of config.json, in f32, bf16 and f64, with the bounds of
tests/golden/models.c; README.md says what the references are. A line per case: the worst of each measure as a part of its
bound, and in brackets PyTorch's own f32 error of the logits and the distance between transformers' f64 model and one whose
norms and softmax are f64 too, on the same scale. A model in which the larger of these is above one half is ill conditioned (a
hidden size of one or two, say): it is listed as such, and only counts as failed if hone is further off than four times PyTorch.
Failing cases are kept in KEEP. --large draws larger models and longer samples. --refusals instead tries config files that hone
must refuse by name. The exit code is 1 if anything failed.
"""
import argparse
import copy
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys

import safetensors.torch
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

import models as M

ACTS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu", "swish"]


def maybe(r, p, **kw):
    return {k: v for k, v in kw.items() if r.random() < p}


def draw_gpt2(r):
    heads = r.choice([1, 1, 2, 3, 4, 7])
    hidden = heads * r.choice([1, 2, 3, 5, 8, 13, 16, 33])
    args = M.gpt2(r.choice([2, 3, 17, 50, 129, 400]), hidden, heads, layers=r.choice([1, 2, 3, 4]),
                  positions=r.choice([40, 130, 300]),
                  **maybe(r, 0.5, n_inner=r.choice([1, 7, 31, 64, 100]), activation_function=r.choice(ACTS),
                          layer_norm_epsilon=r.choice([1e-6, 1e-3, 1e-12]), tie_word_embeddings=False),
                  **maybe(r, 0.3, scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True,
                          reorder_and_upcast_attn=True))
    return args, args["n_positions"]


def draw_rope(r, positions):
    kind = r.choice(["default", "default", "linear", "dynamic", "yarn", "yarn", "llama3"])
    short = r.choice([8, 16, 30, 64, 512])
    kw = {}
    if kind == "linear":
        kw = dict(factor=r.choice([1.0, 1.5, 2.0, 8.0]))
    elif kind == "dynamic":
        kw = dict(factor=r.choice([1.0, 2.0, 4.0]))
    elif kind == "yarn":
        kw = dict(factor=r.choice([1.0, 2.0, 4.0, 40.0]), original_max_position_embeddings=short,
                  **maybe(r, 0.4, beta_fast=r.choice([32, 16, 2.5]), beta_slow=r.choice([1, 0.5]), truncate=r.choice([True, False]),
                          attention_factor=r.choice([None, 1.0, 1.2, 0.5]), mscale=r.choice([1.0, 0.707]),
                          mscale_all_dim=r.choice([1.0, 0.5, 0])))
    elif kind == "llama3":
        kw = dict(factor=r.choice([8.0, 32.0, 1.5]), low_freq_factor=r.choice([1.0, 0.5]), high_freq_factor=r.choice([4.0, 2.0]),
                  original_max_position_embeddings=short)
    return M.rope(kind, r.choice([1e4, 1e4, 1e6, 5e5, 1234.5, 10.0]), **kw)


def draw_rotary(r, family):
    kv = r.choice([1, 1, 2, 3, 5])
    heads = kv * r.choice([1, 1, 2, 3, 4])
    positions = r.choice([16, 32, 128, 2048])
    dim = r.choice([2, 4, 6, 8, 10, 16, 22, 32, 34, 64])
    own_dim = family == "qwen3" or r.random() < 0.5
    hidden = r.choice([1, 2, 3, 4, 7, 10, 16, 24, 33, 50, 64]) if own_dim else heads * dim
    if own_dim and family == "llama":
        hidden *= heads                 # LlamaConfig wants a multiple
    kw = dict(head_dim=dim) if own_dim else {}
    kw |= maybe(r, 0.3, hidden_act=r.choice(ACTS), rms_norm_eps=r.choice([1e-5, 1e-12, 1e-2]))
    if family != "qwen2":
        kw |= maybe(r, 0.4, attention_bias=True)
    if family == "llama":
        kw |= maybe(r, 0.4, mlp_bias=True)
    layers = r.choice([1, 2, 3, 4])
    if family != "llama" and r.random() < 0.5:
        kw |= dict(use_sliding_window=True, sliding_window=r.choice([1, 2, 7, 33, 200]), max_window_layers=r.choice([0, 1, 2]))
        if r.random() < 0.3:
            kw["layer_types"] = [r.choice(["full_attention", "sliding_attention"]) for _ in range(layers)]
    args = M.rotary(r.choice([2, 3, 17, 50, 129, 400]), hidden, heads, kv, r.choice([1, 5, 16, 37, 64]), layers=layers,
                    positions=positions, tie_word_embeddings=r.random() < 0.5, rope_parameters=draw_rope(r, positions), **kw)
    return args, 300


def enlarge(r, family, args):
    """The same kind of model in sizes that fill vectors, tiles and blocks of the kernels."""
    if family == "gpt2":
        args |= dict(n_embd=args["n_head"] * r.choice([16, 33, 64]), n_positions=1100, vocab_size=r.choice([1031, 2000]))
        return
    heads, dim = args["num_attention_heads"], r.choice([16, 40, 64, 96, 128])
    hidden = r.choice([64, 129, 256]) * (heads if family == "llama" else 1)
    args |= dict(head_dim=dim, hidden_size=hidden, intermediate_size=r.choice([131, 256, 500]), vocab_size=r.choice([1031, 2000]))


def draw(seed, index, large):
    r = random.Random(f"{seed}/{index}")
    family = r.choice(["gpt2", "llama", "qwen2", "qwen3"])
    args, longest = draw_gpt2(r) if family == "gpt2" else draw_rotary(r, family)
    lengths = [1, r.choice([2, 3, 5, 17]), r.choice([16, 31, 40]), min(longest, r.choice([40, 65, 130, 300]))]
    if large:
        enlarge(r, family, args)
        lengths.append(r.choice([513, 700, 1030]))
    r.shuffle(lengths)
    opt = dict(lengths=lengths, type_key=r.choice(["type", "rope_type", "both"]), minimal=r.random() < 0.4,
               dtype=r.choice([torch.float32] * 4 + [torch.bfloat16, torch.float16]), shards=r.random() < 0.3,
               hub_names=family == "gpt2" and r.random() < 0.2,
               init=r.choice(["random", "random", "default", 0.1]))
    if opt["hub_names"]:
        opt |= dict(shards=False)
    return family, args, opt


def save(dir, name, family, args, opt):
    """As models.py, with weights as transformers initialises them in some cases, and in several files in some."""
    shutil.rmtree(dir, ignore_errors=True)
    dir.mkdir(parents=True)
    if opt["init"] == "random":
        M.save_model(dir, name, family, args, opt)
        if opt["shards"]:
            model = AutoModelForCausalLM.from_pretrained(dir, dtype=opt["dtype"])
    else:
        torch.manual_seed(len(name) + sum(name.encode()))
        more = {} if opt["init"] == "default" else dict(initializer_range=opt["init"])
        model = AutoModelForCausalLM.from_config(M.CONFIG[family](**copy.deepcopy(args), **more)).to(opt["dtype"])
        model.save_pretrained(dir)
        M.write_v4(dir, family, opt)
    if opt["shards"]:
        (dir / "model.safetensors").unlink()
        bytes = sum(p.numel() * p.element_size() for p in model.parameters())
        model.save_pretrained(dir, max_shard_size=max(1, bytes // 3))


def file_names(dir, model):
    names = set()
    for file in dir.glob("*.safetensors"):
        if file.name.startswith("model"):
            names |= set(safetensors.torch.load_file(file))
    return {k: k if k in names else k.removeprefix("transformer.") for k, _ in model.named_parameters()}


def reference(dir, name, family, args, opt):
    samples = M.make_samples(name, args["vocab_size"], opt["lengths"])
    inputs = {}
    for k, (tokens, labels) in enumerate(samples):
        inputs |= {f"tokens.{k}": tokens.to(torch.int32), f"labels.{k}": labels.to(torch.int32)}
    safetensors.torch.save_file(inputs, dir / "input.safetensors")
    m64 = M.load_f64(dir)
    r = dict(names=file_names(dir, m64))
    r["logits"], r["loss"], r["grads"] = M.run(m64, samples, True)
    logits32, _, r["grads32"] = M.run(M.load(dir, torch.float32), samples, True)
    r["exact"], r["exact_loss"], _ = M.run_exact(m64, family, samples)
    bf16, _, r["grads_bf16"] = M.run(M.load(dir, torch.bfloat16), samples, True)
    r["std"] = float(torch.cat([l.flatten() for l in r["logits"]]).std(correction=0))
    r["bf16"] = M.distance(bf16, r["logits"])
    config = AutoConfig.from_pretrained(dir / "config.v4.json")
    v4 = [M.forward(M.load(dir, torch.float32, config=config), tokens).detach() for tokens, _ in samples]
    r["v4_equal"] = max_error(v4, logits32) <= 1e-4 * r["std"]
    r["torch32"] = max_error(logits32, r["logits"])
    return r


def max_error(a, b):
    return max(float((x.double() - y.double()).abs().max()) for x, y in zip(a, b))


def measure(r, got, dtype, exact_math):
    """Each measure as a part of its bound."""
    logits = [got[f"logits.{k}"] for k in range(len(r["logits"]))]
    grads = {k: got[f"grad.{r['names'][k]}"] for k in r["grads"]}
    count = len(logits) + len(grads) + 1
    out = {"outputs": 0.0 if len(got) == count else math.inf}
    loss = float(r["exact_loss" if dtype == "f64" else "loss"])
    error = abs(float(got["loss"]) / loss - 1)
    if dtype == "bf16":
        return out | {"logits": M.distance(logits, r["logits"]) / (1.25 * r["bf16"])}
    if dtype == "f64":
        return out | {"logits": max_error(logits, r["exact"]) / (r["std"] * (1e-9 if exact_math else 3e-6)), "loss": error / 1e-7}
    out |= {"logits": max_error(logits, r["logits"]) / (2e-5 * r["std"]), "loss": error / 1e-6}
    largest = max(M.norm(g) for g in r["grads"].values())
    part = {k: M.norm(grads[k].double() - g) / (max(1e-5 * M.norm(g), 2 * M.norm(r["grads32"][k].double() - g)) + 1e-7 * largest)
            for k, g in r["grads"].items()}
    worst = max(part, key=part.get)
    return out | {f"grad {worst}": part[worst]}


def run_hone(hone, dir, dtype):
    out = dir / f"out.{dtype}.safetensors"
    p = subprocess.run([hone, "forward", str(dir), "--input", str(dir / "input.safetensors"), "--output", str(out), "--grads",
                        "--dtype", dtype], capture_output=True, text=True)
    return (safetensors.torch.load_file(out), "") if p.returncode == 0 else (None, f"exit {p.returncode}: {p.stderr.strip()}")


def case(hone, root, seed, index, large):
    name = f"{seed}-{index}"
    family, args, opt = draw(seed, index, large)
    dir = root / name
    try:
        save(dir, name, family, args, opt)
        r = reference(dir, name, family, args, opt)
    except Exception as e:
        print(f"{name} {family}: transformers refuses: {type(e).__name__} {str(e).splitlines()[0][:120]}", flush=True)
        shutil.rmtree(dir)
        return True
    if not r["v4_equal"]:
        print(f"{name} {family}: the two spellings differ in transformers", flush=True)
    scale = 2e-5 * r["std"]
    if scale == 0:
        print(f"{name} {family}: all logits are equal", flush=True)
        shutil.rmtree(dir)
        return True
    torch32, apart = r["torch32"] / scale, max_error(r["exact"], r["logits"]) / scale
    room = max(1, 4 * torch32) if max(torch32, apart) > 0.5 else 1
    lines, failed = ["ill conditioned"] if room > 1 else [], False
    for spelling in (5, 4):
        if spelling == 4:
            if not r["v4_equal"]:
                continue
            shutil.copy(dir / "config.json", dir / "config.v5.json")
            shutil.copy(dir / "config.v4.json", dir / "config.json")
        for dtype in ("f32", "bf16", "f64"):
            got, error = run_hone(hone, dir, dtype)
            m = measure(r, got, dtype, family == "gpt2") if got else {}
            bad = not got or any(not v <= room for v in m.values())
            failed |= bad
            if bad or spelling == 5:
                text = error or " ".join(f"{k} {v:.2f}" for k, v in m.items() if k != "outputs" or v)
                lines.append(f"{'BAD ' if bad else ''}{'' if spelling == 5 else 'v4 '}{dtype} {text}")
    print(f"{name} {family}: {'; '.join(lines)} [torch {torch32:.2f}, exact {apart:.2f}]", flush=True)
    if failed:
        print("   ", {k: v for k, v in args.items() if "token_id" not in k}, opt, flush=True)
    else:
        shutil.rmtree(dir)
    return not failed


# What hone must not compute: family, keys to set (None: remove), exit code (README of the project: 3 malformed, 4 not
# implemented, 11 shapes), and what the message must name.
REFUSALS = [
    ("llama", dict(hidden_act="quick_gelu"), 4, "quick_gelu"),
    ("qwen3", dict(hidden_act="mish"), 4, "mish"),
    ("gpt2", dict(activation_function="tanh"), 4, "tanh"),
    ("llama", dict(rope_parameters=dict(rope_type="longrope", rope_theta=1e4, factor=2.0)), 4, "longrope"),
    ("llama", dict(rope_parameters=dict(rope_type="Linear", rope_theta=1e4, factor=2.0)), 4, "Linear"),
    ("llama", dict(rope_parameters=None, rope_scaling=dict(type="su", factor=2.0)), 4, "su"),
    ("llama", dict(rope_parameters=None, rope_scaling=dict(type=3, factor=2.0)), 3, "type"),
    ("llama", dict(rope_parameters=dict(rope_type="linear", rope_theta=1e4)), 3, "factor"),
    ("llama", dict(rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor=-1)), 3, "factor"),
    ("llama", dict(rope_parameters=dict(rope_type="linear", rope_theta=1e4, factor="2")), 3, "factor"),
    ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=0)), 3, "rope_theta"),
    ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=-5.0)), 3, "rope_theta"),
    ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta="1e4")), 3, "rope_theta"),
    ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=1e4, partial_rotary_factor=0.5)), 4,
     "partial_rotary_factor"),
    ("llama", dict(rope_parameters=dict(rope_type="default", rope_theta=1e4, wobble=1)), 4, "wobble"),
    ("llama", dict(rope_parameters=dict(rope_type="yarn", rope_theta=1e4, factor=2.0, truncate="no")), 3, "truncate"),
    ("llama", dict(rope_parameters=dict(rope_type="yarn", rope_theta=1.0, factor=2.0)), 3, "rope_theta"),
    ("llama", dict(rope_parameters=dict(rope_type="yarn", rope_theta=1e4, factor=2.0, original_max_position_embeddings=0)), 3,
     "original_max_position_embeddings"),
    ("llama", dict(rope_parameters=dict(rope_type="llama3", rope_theta=1e4, factor=8.0, low_freq_factor=1.0)), 3, "high_freq_factor"),
    ("llama", dict(rope_parameters=dict(rope_type="llama3", rope_theta=1e4, factor=8.0, low_freq_factor=2.0, high_freq_factor=2.0)),
     4, "low_freq_factor"),
    ("llama", dict(rope_parameters=dict(rope_type="yarn", rope_theta=1e4, factor=2.0, attention_factor=-1.0)), 3,
     "attention_factor"),
    ("llama", dict(rope_parameters=[1]), 3, "rope"),
    ("llama", dict(rope_parameters=None, rope_scaling="linear"), 3, "rope"),
    ("llama", dict(rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=1e4))), 4, "full_attention"),
    ("llama", dict(partial_rotary_factor=0.5), 4, "partial_rotary_factor"),
    ("llama", dict(head_dim=7), 3, "even"),
    ("llama", dict(head_dim=0), 3, "head_dim"),
    ("llama", dict(num_attention_heads=0), 3, "num_attention_heads"),
    ("llama", dict(num_attention_heads=3), None, ""),
    ("llama", dict(num_key_value_heads=3), 4, "num_key_value_heads"),
    ("llama", dict(hidden_size=-16), 3, "hidden_size"),
    ("llama", dict(hidden_size="16"), 3, "hidden_size"),
    ("llama", dict(hidden_size=16.5), 3, "hidden_size"),
    ("llama", dict(hidden_size=1e300), 3, "hidden_size"),
    ("llama", dict(hidden_size=18), 11, "shape"),
    ("llama", dict(vocab_size=49), 11, "shape"),
    ("llama", dict(num_hidden_layers=3), 3, "layers.2"),
    ("llama", dict(num_hidden_layers=1), 4, "layers.1"),
    ("llama", dict(attention_bias=True), 3, "bias"),
    ("llama", dict(mlp_bias="yes"), 3, "mlp_bias"),
    ("llama", dict(rms_norm_eps="tiny"), 3, "rms_norm_eps"),
    ("gpt2", dict(n_head=0), 3, "n_head"),
    ("qwen2", dict(hidden_size=-1, num_attention_heads=0, num_key_value_heads=0, head_dim=None), 3, "hidden_size"),
    ("gpt2", dict(layer_norm_epsilon=-1e-5), 3, "layer_norm_epsilon"),
    ("llama", dict(rms_norm_eps=-1.0), 3, "rms_norm_eps"),
    ("llama", dict(attention_dropout=1.5), 3, "attention_dropout"),
    ("llama", dict(sliding_window=8), 4, "sliding_window"),
    ("llama", dict(layer_types=["sliding_attention"] * 2), 4, "layer_types"),
    ("llama", dict(quantization_config=dict(quant_method="fp8")), 4, "quantization_config"),
    ("llama", dict(logit_scale=0.5), 4, "logit_scale"),
    ("llama", dict(embedding_multiplier=2.0), 4, "embedding_multiplier"),
    ("llama", dict(use_mrope=True), 4, "use_mrope"),
    ("llama", dict(pretraining_tp=2), None, ""),
    ("llama", dict(is_encoder_decoder=True), 4, "is_encoder_decoder"),
    ("llama", dict(architectures=["LlamaForSequenceClassification"]), 4, "LlamaForSequenceClassification"),
    ("llama", dict(model_type="mixtral"), 4, "mixtral"),
    ("llama", dict(model_type=None), 3, "model_type"),
    ("llama", dict(model_type=7), 3, "model_type"),
    ("qwen2", dict(use_sliding_window=True, sliding_window=-4), 3, "sliding_window"),
    ("qwen2", dict(layer_types=["full_attention"]), 3, "layer_types"),
    ("qwen2", dict(layer_types=["full_attention", "chunked_attention"]), 4, "chunked_attention"),
    ("qwen2", dict(layer_types=["full_attention", 3]), 4, "layer type"),
    ("qwen2", dict(use_sliding_window=1), 3, "use_sliding_window"),
    ("qwen3", dict(mlp_bias=True), 4, "mlp_bias"),
    ("qwen3", dict(num_experts=8), 4, "num_experts"),
    ("gpt2", dict(n_head=5), 4, "n_head"),
    ("gpt2", dict(n_embd=0), 3, "n_embd"),
    ("gpt2", dict(n_positions=8), 11, "wpe"),
    ("gpt2", dict(add_cross_attention=True), 4, "add_cross_attention"),
    ("gpt2", dict(scale_attn_weights="no"), 3, "scale_attn_weights"),
    ("gpt2", dict(layer_norm_epsilon=None, layer_norm_eps=1e-3), 4, "layer_norm_eps"),
    ("gpt2", dict(rope_parameters=dict(rope_type="default")), 4, "rope_parameters"),
]


def refusals(hone, root):
    """Each edit of a good config.json; an exit code of None asks only that transformers' own verdict is not contradicted."""
    failures = 0
    for family in M.CONFIG:
        args = M.gpt2(50, 16, 4) if family == "gpt2" else M.rotary(50, 16, 4, 2, 24, head_dim=8)
        save(root / family, family, family, args, dict(init="default", dtype=torch.float32, shards=False))
        safetensors.torch.save_file({"tokens.0": torch.arange(9, dtype=torch.int32), "labels.0": torch.arange(9, dtype=torch.int32)},
                                    root / family / "input.safetensors")
        assert run_hone(hone, root / family, "f32")[0], family
    for family, edit, code, named in REFUSALS:
        dir = root / family
        config = json.loads((dir / "config.json").read_text())
        good = (dir / "config.json").read_text()
        config = {k: v for k, v in (config | edit).items() if v is not None}
        (dir / "config.json").write_text(json.dumps(config))
        p = subprocess.run([hone, "forward", str(dir), "--input", str(dir / "input.safetensors"), "--output", str(dir / "out"),
                            "--grads"], capture_output=True, text=True)
        (dir / "config.json").write_text(good)
        wrong = p.returncode < 0 or code is not None and (p.returncode != code or named not in p.stderr)
        failures += wrong
        print(f"{'BAD ' if wrong else ''}{family} {edit}: exit {p.returncode}{'' if code is None else f', want {code}'}: "
              f"{p.stderr.strip().splitlines()[0] if p.stderr.strip() else ''}", flush=True)
    print(f"{failures} of {len(REFUSALS)} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hone")
    parser.add_argument("keep", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--refusals", action="store_true")
    o = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    if o.refusals:
        return refusals(o.hone, o.keep)
    results = [case(o.hone, o.keep, o.seed, i, o.large) for i in range(o.first, o.first + o.count)]
    print(f"{results.count(False)} of {len(results)} cases failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
