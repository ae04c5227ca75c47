#!/usr/bin/env python3
"""Hold `hone forward` against transformers on random tiny models of every family.

    python tools/golden/fuzz_models.py build/hone KEEP [--seed N] [--first I] [--count N] [--large] [--families NAME ...]
    python tools/golden/fuzz_models.py build/hone KEEP --refusals

Case I of seed N is always the same model (given the same --families). Each runs in both spellings of config.json, in f32, bf16 and
f64, with the bounds of tests/golden/models.c; README.md says what the reference is. A line per case: the worst of each measure as a
part of its bound, and in brackets PyTorch's own f32 error of the logits on the same scale. A model in which that is above one half is
ill conditioned (a hidden size of one or two, say): it is listed as such, and only counts as failed if hone is further off than four
times PyTorch.
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
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

import models as M
from variants import F, S, gpt2, llama3, longrope, rope, rotary, yarn

ACTS = ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu", "relu2", "swish"]

# What the configs of a family have. `head`: how the size of a head is given: by a key ("key"), by a key or hidden / heads ("free"),
# by hidden / heads ("derived"), or by a key whose product with the heads is hidden ("whole"). `window`: one for all layers ("all"),
# qwen's keys ("qwen"), by layer_types that must be there ("types"), smollm3's. `partial`: factors of the rotary part. `by_type`:
# rope settings by layer type.
FAMILIES = {
    "llama": dict(head="free", whole_heads=True, flags=["attention_bias", "mlp_bias"]),
    "qwen2": dict(head="free", window="qwen"),
    "qwen3": dict(head="key", window="qwen", flags=["attention_bias"]),
    "mistral": dict(head="free", window="all"),
    "ministral": dict(head="key", window="types"),
    "ministral3": dict(head="key", window="all", beta=True),
    "phi": dict(head="derived", eps="layer_norm_eps", flags=["qk_layernorm"], partial=[0.25, 0.4, 0.5, 0.75, 1.0], even=True,
                dropouts=["resid_pdrop", "embd_pdrop", "attention_dropout"]),
    "phi3": dict(head="derived", window="all", partial=[0.5, 0.75, 1.0], even=True, kinds=["default", "longrope", "longrope"]),
    "arcee": dict(head="free", whole_heads=True, flags=["attention_bias", "mlp_bias"]),
    "granite": dict(head="free", flags=["attention_bias", "mlp_bias"],
                    numbers=dict(embedding_multiplier=[0.5, 3.0, 12], logits_scaling=[0.5, 4.0, 8], residual_multiplier=[0.22, 1.5],
                                 attention_multiplier=[0.1, 0.5])),
    "ernie4_5": dict(head="key", flags=["use_bias"]),
    "helium": dict(head="whole", flags=["attention_bias", "mlp_bias"]),
    "glm": dict(head="key", flags=["attention_bias"], partial=[0.25, 0.5, 0.67, 1.0]),
    "glm4": dict(head="key", flags=["attention_bias"], partial=[0.25, 0.5, 0.67, 1.0]),
    "seed_oss": dict(head="key", flags=["attention_bias", "attention_out_bias", "mlp_bias"]),
    "starcoder2": dict(head="free", eps="norm_epsilon", window="all", flags=["use_bias"]),
    "stablelm": dict(head="derived", eps="layer_norm_eps", flags=["use_qkv_bias", "qk_layernorm", "use_parallel_residual"],
                     partial=[0.25, 0.5, 0.67, 1.0], even=True),
    "olmo": dict(head="free", eps=None, flags=["attention_bias"], numbers=dict(clip_qkv=[0.3, 1.0, 8.0])),
    "olmo2": dict(head="free", flags=["attention_bias"]),
    "olmo3": dict(head="free", window="types", flags=["attention_bias"], by_type=5e5),
    "gemma": dict(head="key", flags=["attention_bias"]),
    "gemma2": dict(head="key", act="hidden_activation", whole_heads=True, window="types", flags=["attention_bias"],
                   numbers=dict(query_pre_attn_scalar=[4, 16, 100], attn_logit_softcapping=[None, 0.7, 3.0, 50.0],
                                final_logit_softcapping=[None, 1.0, 5.0, 30.0])),
    "gemma3_text": dict(head="key", act="hidden_activation", whole_heads=True, window="types", flags=["attention_bias"],
                        by_type=1e6, numbers=dict(query_pre_attn_scalar=[4, 16, 100], final_logit_softcapping=[None, 1.0, 30.0])),
    "smollm3": dict(head="free", window="smollm3", flags=["attention_bias", "mlp_bias"]),
    "cohere": dict(head="free", eps="layer_norm_eps", flags=["attention_bias", "use_qk_norm"], numbers=dict(logit_scale=[0.25, 1.5])),
    "cohere2": dict(head="derived", eps="layer_norm_eps", window="types", flags=["attention_bias"],
                    numbers=dict(logit_scale=[0.25, 1.5])),
    "gpt_neox": dict(head="derived", eps="layer_norm_eps", groups=False, flags=["attention_bias", "use_parallel_residual"],
                     partial=[0.25, 0.5, 0.67, 1.0]),
    "exaone4": dict(head="free", window="exaone4"),
    "hunyuan_v1_dense": dict(head="key", flags=["attention_bias"], alpha=True),
    "nanochat": dict(head="free", flags=["attention_bias"], numbers=dict(final_logit_softcapping=[None, 1.0, 15.0])),
    "nemotron": dict(head="free", eps="norm_eps", flags=["attention_bias", "mlp_bias"], partial=[0.25, 0.5, 0.67, 1.0]),
    "apertus": dict(head="free", flags=["attention_bias"], acts=["xielu", "xielu", "silu"]),
}


def maybe(r, p, **kw):
    return {k: v for k, v in kw.items() if r.random() < p}


def draw_gpt2(r, large):
    heads = r.choice([1, 1, 2, 3, 4, 7])
    hidden = heads * r.choice([16, 33, 64] if large else [1, 2, 3, 5, 8, 13, 16, 33])
    return gpt2(r.choice([1031, 2000] if large else [2, 3, 17, 50, 129, 400]), hidden, heads, layers=r.choice([1, 2, 3, 4]),
                positions=1100 if large else 300,
                **maybe(r, 0.5, n_inner=r.choice([1, 7, 31, 64, 100]), activation_function=r.choice(ACTS),
                        layer_norm_epsilon=r.choice([1e-6, 1e-3, 1e-12]), tie_word_embeddings=False),
                **maybe(r, 0.3, scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True))


def draw_rope(r, dim, theta, kinds=("default", "default", "linear", "dynamic", "yarn", "yarn", "llama3", "longrope")):
    """Settings for a rotary part of `dim` elements."""
    kind = r.choice(kinds)
    short = r.choice([8, 16, 30, 64, 512])
    if kind == "default":
        return rope(kind, theta)
    if kind == "linear":
        return rope(kind, theta, factor=r.choice([1.0, 1.5, 2.0, 8.0]))
    if kind == "dynamic":
        return rope(kind, theta, factor=r.choice([1.0, 2.0, 4.0]))
    if kind == "yarn":
        return yarn(theta, r.choice([1.0, 2.0, 4.0, 40.0]), short,
                    **maybe(r, 0.4, beta_fast=r.choice([32, 16, 2.5]), beta_slow=r.choice([1, 0.5]),
                            truncate=r.choice([True, False]), attention_factor=r.choice([None, 1.0, 1.2, 0.5]),
                            mscale=r.choice([1.0, 0.707]), mscale_all_dim=r.choice([1.0, 0.5, 0])))
    if kind == "llama3":
        return llama3(theta, r.choice([8.0, 32.0, 1.5]), r.choice([1.0, 0.5]), r.choice([4.0, 2.0]), short)
    return longrope(dim, theta, factor=r.choice([1.0, 2.0, 16.0]), original_max_position_embeddings=short,
                    **maybe(r, 0.3, attention_factor=r.choice([1.0, 1.3])))


def draw_ropes(r, family, f, head, positions):
    """rope_parameters and what goes with them: other arguments, options for config.v4.json."""
    theta = r.choice([1e4, 1e4, 1e6, 5e5, 1234.5, 10.0])
    if "by_type" in f:
        local = 1e4 if family == "gemma3_text" else f["by_type"]
        full = draw_rope(r, head, theta)
        return {F: full, S: rope("default", r.choice([local, 77.0]) if family == "gemma3_text" else local)}, {}, {}
    factors = f.get("partial", [1.0])
    partial = r.choice([p for p in factors if int(head * p) > 1 and (int(head * p) % 2 == 0 or "even" not in f)] or [1.0])
    dim = int(head * partial)
    parameters = draw_rope(r, dim + dim % 2, theta, *[f[k] for k in ("kinds",) if k in f])
    kind, more, opt = parameters["rope_type"], {}, {}
    if "partial" in f:
        parameters["partial_rotary_factor"] = partial
    if f.get("beta"):
        parameters |= dict(llama_4_scaling_beta=r.choice([0.1, 0.5]))
        parameters.setdefault("original_max_position_embeddings", r.choice([8, 16, 64]))
    if f.get("alpha") and r.random() < 0.3:
        parameters = rope("dynamic", theta, factor=1.0, alpha=r.choice([3.0, 1000.0]))
    if family == "phi3" and kind == "longrope":
        more["original_max_position_embeddings"] = parameters.pop("original_max_position_embeddings")
        parameters.pop("factor")
    if family in ("apertus", "ministral3") and kind == "default":     # their own default is another
        opt["v4"] = dict(rope_scaling={k: v for k, v in parameters.items() if k != "rope_theta"})
    return parameters, more, opt


def draw_windows(r, kind, layers):
    window = r.choice([2, 7, 33, 200])
    types = [r.choice([F, S]) for _ in range(layers)]
    if kind == "all":
        return dict(sliding_window=r.choice([None, window]))
    if kind == "types":
        return dict(sliding_window=window, layer_types=types)
    if kind == "exaone4":
        return r.choice([dict(sliding_window=window, layer_types=types), dict(sliding_window=None, layer_types=[F] * layers)])
    if kind == "smollm3":
        no_rope = dict(no_rope_layers=[r.choice([0, 1]) for _ in range(layers)]) if r.random() < 0.5 else dict(
            no_rope_layer_interval=r.choice([1, 2, 3]))
        return no_rope | (dict(use_sliding_window=True, sliding_window=window) if r.random() < 0.5 else {})
    if r.random() < 0.5:
        return {}
    return dict(use_sliding_window=True, sliding_window=window, max_window_layers=r.choice([0, 1, 2])) | maybe(
        r, 0.3, layer_types=types)


def draw_rotary(r, family, large):
    f = FAMILIES[family]
    kv = r.choice([1, 1, 2, 3, 5])
    heads = kv * r.choice([1, 1, 2, 3, 4])
    head = r.choice([16, 40, 64, 96, 128] if large else [4, 6, 8, 10, 16, 22, 32, 34, 64])
    own = f["head"] == "key" or f["head"] == "free" and r.random() < 0.5
    hidden = heads * head
    if own:
        hidden = r.choice([64, 129, 256] if large else [7, 10, 16, 24, 33, 50, 64]) * (heads if f.get("whole_heads") else 1)
    positions, layers = r.choice([16, 32, 128, 2048]), r.choice([1, 2, 3, 4])
    parameters, kw, opt = draw_ropes(r, family, f, head, positions)
    kw |= dict(head_dim=head) if own or f["head"] == "whole" else {}
    kw |= {k: r.random() < 0.5 for k in f.get("flags", [])}
    kw |= {k: r.choice(v) for k, v in f.get("numbers", {}).items() if r.random() < 0.6}
    kw |= {k: 0.1 for k in f.get("dropouts", []) if r.random() < 0.5}
    kw |= maybe(r, 0.4, **{f.get("act", "hidden_act"): r.choice(f.get("acts", ACTS))})
    if f.get("eps", "rms_norm_eps"):
        kw |= maybe(r, 0.3, **{f.get("eps", "rms_norm_eps"): r.choice([1e-5, 1e-12, 1e-2])})
    if "window" in f:
        kw |= draw_windows(r, f["window"], layers)
    args = rotary(r.choice([1031, 2000] if large else [2, 3, 17, 50, 129, 400]), hidden, heads,
                  kv if f.get("groups", True) else None, r.choice([131, 256, 500] if large else [5, 16, 37, 64]),
                  layers=layers, positions=positions, tie_word_embeddings=r.random() < 0.5, rope_parameters=parameters, **kw)
    return args, opt


def draw(seed, index, large, only):
    r = random.Random(f"{seed}/{index}")
    family = r.choice(only or ["gpt2", *FAMILIES])
    args, more = (draw_gpt2(r, large), {}) if family == "gpt2" else draw_rotary(r, family, large)
    lengths = [1, r.choice([2, 3, 5, 17]), r.choice([16, 31, 40]), r.choice([40, 65, 130, 300])]
    if large:
        lengths.append(r.choice([513, 700, 1030]))
    r.shuffle(lengths)
    opt = dict(lengths=lengths, type_key=r.choice(["type", "rope_type", "both"]), minimal=r.random() < 0.4,
               dtype=r.choice([torch.float32] * 4 + [torch.bfloat16, torch.float16]), shards=r.random() < 0.3,
               hub_names=family == "gpt2" and r.random() < 0.2,
               init=r.choice(["random", "random", "default", 0.1]), **more)
    if "by_type" in FAMILIES.get(family, {}) and opt["type_key"] == "type":
        opt["type_key"] = "both"                # "type" alone is not read there
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
        model = AutoModelForCausalLM.from_config(CONFIG_MAPPING[family](**copy.deepcopy(args), **more)).to(opt["dtype"])
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
    return M.spell(names, model)


def reference(dir, name, family, args, opt):
    samples = M.make_samples(name, args["vocab_size"], opt["lengths"])
    inputs = {}
    for k, (tokens, labels) in enumerate(samples):
        inputs |= {f"tokens.{k}": tokens.to(torch.int32), f"labels.{k}": labels.to(torch.int32)}
    safetensors.torch.save_file(inputs, dir / "input.safetensors")
    m64 = M.load_f64(dir)
    r = dict(names=file_names(dir, m64))
    r["logits"], r["loss"], r["grads"] = M.run_exact(m64, samples)
    logits32, _, r["grads32"] = M.run(M.load(dir, torch.float32), samples, True)
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
    error = abs(float(got["loss"]) / float(r["loss"]) - 1)
    if dtype == "bf16":
        return out | {"logits": M.distance(logits, r["logits"]) / (1.25 * r["bf16"])}
    if dtype == "f64":
        return out | {"logits": max_error(logits, r["logits"]) / (r["std"] * (1e-9 if exact_math else 3e-6)), "loss": error / 1e-7}
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


def case(hone, root, seed, index, large, only):
    name = f"{seed}-{index}"
    family, args, opt = draw(seed, index, large, only)
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
    torch32 = r["torch32"] / scale
    room = max(1, 4 * torch32) if torch32 > 0.5 else 1
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
    print(f"{name} {family}: {'; '.join(lines)} [torch {torch32:.2f}]", flush=True)
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
    ("llama", dict(rope_parameters=dict(rope_type="longrope", rope_theta=1e4, factor=2.0)), 3, "short_factor"),
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
    for family in sorted({family for family, *_ in REFUSALS}):
        args = gpt2(50, 16, 4) if family == "gpt2" else rotary(50, 16, 4, 2, 24, head_dim=8)
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
    parser.add_argument("--families", nargs="*")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--refusals", action="store_true")
    o = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    if o.refusals:
        return refusals(o.hone, o.keep)
    results = [case(o.hone, o.keep, o.seed, i, o.large, o.families) for i in range(o.first, o.first + o.count)]
    print(f"{results.count(False)} of {len(results)} cases failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
