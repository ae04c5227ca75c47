#!/usr/bin/env python3
"""Make tests/data/models: tiny model directories of each family and what transformers computes with them.

    python tools/golden/models.py OUT [VARIANT ...]

README.md beside this file says what each file holds. Everything is seeded: the same versions of torch and transformers
give the same weights and inputs, and outputs equal to rounding.
"""
import copy
import json
import math
import pathlib
import shutil
import sys

import safetensors.torch
import torch
import torch.nn.functional as F
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, GPT2Config, LlamaConfig, Qwen2Config, Qwen3Config
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.llama import modeling_llama
from transformers.models.qwen2 import modeling_qwen2
from transformers.models.qwen3 import modeling_qwen3
from transformers.trainer_pt_utils import get_parameter_names

CONFIG = {"gpt2": GPT2Config, "llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config}
MODELING = {"gpt2": modeling_gpt2, "llama": modeling_llama, "qwen2": modeling_qwen2, "qwen3": modeling_qwen3}
DEFAULT_LENGTHS = [1, 6, 17, 66]


def gpt2(vocab, hidden, heads, layers=2, positions=72, **kw):
    return dict(vocab_size=vocab, n_embd=hidden, n_head=heads, n_layer=layers, n_positions=positions,
                bos_token_id=vocab - 1, eos_token_id=vocab - 1, **kw)


def rotary(vocab, hidden, heads, kv, inter, layers=2, positions=128, **kw):
    return dict(vocab_size=vocab, hidden_size=hidden, num_attention_heads=heads, num_key_value_heads=kv,
                intermediate_size=inter, num_hidden_layers=layers, max_position_embeddings=positions,
                bos_token_id=None, eos_token_id=None, pad_token_id=None, **kw)


def rope(kind, theta=10000.0, **kw):
    return dict(rope_type=kind, rope_theta=theta, **kw)


# name -> (family, config class arguments, options). Options: `lengths` of the samples; `train` and `generate`; `dtype` of the
# weights in the file; `hub_names` (gpt2: names without prefix and with the causal mask buffers, as the hub's gpt2 has them).
# How config.v4.json is spelled: `type_key` for the kind of rope scaling; `minimal` leaves out what equals the class default;
# `v4` holds keys to set.
VARIANTS = {
    "gpt2-base": ("gpt2", gpt2(97, 24, 3, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0),
                  dict(train=True, v4=dict(n_ctx=72))),
    "gpt2-untied-gelu": ("gpt2", gpt2(131, 27, 3, n_inner=53, activation_function="gelu", tie_word_embeddings=False),
                         dict(generate=True)),
    "gpt2-upcast-relu": ("gpt2", gpt2(101, 20, 5, layers=3, activation_function="relu", reorder_and_upcast_attn=True,
                                      scale_attn_by_inverse_layer_idx=True, layer_norm_epsilon=1e-3), {}),
    "gpt2-unscaled": ("gpt2", gpt2(97, 16, 1, scale_attn_weights=False, n_inner=31),
                      dict(minimal=True, v4=dict(activation_function="gelu_pytorch_tanh"))),
    "gpt2-hub-names": ("gpt2", gpt2(89, 24, 2, positions=40, scale_attn_by_inverse_layer_idx=True),
                       dict(lengths=[1, 2, 19, 40], hub_names=True)),

    "llama-base": ("llama", rotary(97, 24, 3, 1, 41), dict(train=True, generate=True, minimal=True)),
    "llama-biases-linear": ("llama", rotary(131, 36, 6, 2, 29, attention_bias=True, mlp_bias=True, head_dim=10,
                                            tie_word_embeddings=True, rms_norm_eps=1e-5,
                                            rope_parameters=rope("linear", factor=2.5)),
                            dict(type_key="type", v4=dict(pretraining_tp=1))),
    "llama-llama3": ("llama", rotary(97, 32, 4, 4, 33, positions=256, head_dim=16,
                                     rope_parameters=rope("llama3", 20000.0, factor=8.0, low_freq_factor=1.0,
                                                          high_freq_factor=4.0, original_max_position_embeddings=32)), {}),
    "llama-dynamic": ("llama", rotary(101, 24, 2, 2, 37, positions=24, mlp_bias=True,
                                      rope_parameters=rope("dynamic", factor=2.0)),
                      dict(type_key="type", lengths=[66, 1, 24, 25, 7])),
    "llama-yarn-full": ("llama", rotary(97, 24, 4, 2, 31, positions=64, head_dim=14, attention_bias=True,
                                        rope_parameters=rope("yarn", 5000.0, factor=4.0, beta_fast=1.5, beta_slow=0.25,
                                                             mscale=0.8, mscale_all_dim=0.3, truncate=False,
                                                             original_max_position_embeddings=16)), {}),

    "qwen2-base": ("qwen2", rotary(97, 28, 2, 1, 43, tie_word_embeddings=True, rope_parameters=rope("default", 1e6)),
                   dict(train=True, v4=dict(use_sliding_window=False, sliding_window=4, max_window_layers=1))),
    "qwen2-window": ("qwen2", rotary(131, 20, 2, 2, 27, layers=3, use_sliding_window=True, sliding_window=5,
                                     max_window_layers=1), dict(minimal=True, drop=["layer_types"], generate=True)),
    "qwen2-yarn-bf16": ("qwen2", rotary(97, 24, 2, 1, 35, positions=64, rope_parameters=rope(
                            "yarn", 1000.0, factor=4.0, original_max_position_embeddings=16)),
                        dict(type_key="type", dtype=torch.bfloat16)),
    "qwen2-layer-types": ("qwen2", rotary(101, 36, 5, 5, 25, layers=3, positions=20, head_dim=6, use_sliding_window=True,
                                          sliding_window=9, rms_norm_eps=1e-4,
                                          layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                                          rope_parameters=rope("dynamic", factor=3.0)),
                          dict(lengths=[1, 9, 10, 20, 41])),

    "qwen3-base": ("qwen3", rotary(97, 24, 4, 2, 39, head_dim=8, tie_word_embeddings=True,
                                   rope_parameters=rope("default", 1e6)), dict(train=True)),
    "qwen3-window-biases": ("qwen3", rotary(131, 20, 3, 1, 31, layers=3, head_dim=16, attention_bias=True,
                                            use_sliding_window=True, sliding_window=6, max_window_layers=2),
                            dict(drop=["layer_types"])),
    "qwen3-yarn-factor": ("qwen3", rotary(97, 30, 5, 5, 23, positions=200, head_dim=12, rms_norm_eps=1e-5,
                                          tie_word_embeddings=True,
                                          rope_parameters=rope("yarn", 1000.0, factor=5.0, attention_factor=1.3, beta_fast=1.5,
                                                               beta_slow=0.4, original_max_position_embeddings=40)),
                          dict(type_key="both")),
    "qwen3-linear": ("qwen3", rotary(113, 36, 4, 4, 45, head_dim=18, rope_parameters=rope("linear", 1e6, factor=4.0)),
                     dict(type_key="type", minimal=True, generate=True)),
}


def stream(name, what):
    """A generator of its own for each use, so that adding one changes no other."""
    seed = int.from_bytes(f"{name}/{what}".encode(), "little") % (2**31 - 1)
    return torch.Generator().manual_seed(seed)


def randomise(model, gen):
    """Weights of a size that makes logits spread by about one; norms and biases away from their initial 1 and 0."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            r = torch.randn(p.shape, generator=gen)
            if p.ndim == 1:
                norm = name.endswith("weight")
                p.copy_(1.0 + 0.2 * r if norm else 0.2 * r)
            elif any(e in name for e in ("embed_tokens", "wte", "wpe")):
                p.copy_(r * (0.3 if "wpe" in name else 1.0 if not model.config.tie_word_embeddings else 0.4))
            else:
                fan_in = p.shape[0] if "h." in name else p.shape[1]  # gpt2's Conv1D keeps [in, out]
                p.copy_(r / math.sqrt(fan_in))


def save_model(dir, name, family, args, opt):
    config = CONFIG[family](**copy.deepcopy(args))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    randomise(model, stream(name, "weights"))
    model.to(opt.get("dtype", torch.float32)).save_pretrained(dir)
    if opt.get("hub_names"):
        path = dir / "model.safetensors"
        tensors = {k.removeprefix("transformer."): v for k, v in safetensors.torch.load_file(path).items()}
        n = config.n_positions
        for i in range(config.n_layer):
            tensors[f"h.{i}.attn.bias"] = torch.tril(torch.ones(n, n)).view(1, 1, n, n)
        safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    write_v4(dir, family, opt)


def write_v4(dir, family, opt):
    """The same config as transformers 4 wrote it."""
    v5 = json.loads((dir / "config.json").read_text())
    v4 = {k: v for k, v in v5.items() if k not in ("rope_parameters", "dtype", "transformers_version")}
    for key in opt.get("drop", []):
        v4.pop(key)
    if opt.get("minimal"):
        plain = CONFIG[family]().to_dict()
        keep = ("model_type", "architectures")
        v4 = {k: v for k, v in v4.items() if k in keep or k not in plain or plain[k] != v}
    if "rope_parameters" in v5:
        scaling = dict(v5["rope_parameters"])
        theta = scaling.pop("rope_theta")
        kind = scaling.pop("rope_type")
        if not (opt.get("minimal") and theta == 10000.0):
            v4["rope_theta"] = theta
        if kind != "default":
            key = opt.get("type_key", "rope_type")
            kinds = {"type": kind, "rope_type": kind} if key == "both" else {key: kind}
            v4["rope_scaling"] = {**scaling, **kinds}
        elif not opt.get("minimal"):
            v4["rope_scaling"] = None
    v4["torch_dtype"] = v5["dtype"]
    v4["transformers_version"] = "4.51.3"
    v4.update(opt.get("v4", {}))
    (dir / "config.v4.json").write_text(json.dumps(v4, indent=2, sort_keys=True) + "\n")


def make_samples(name, vocab, lengths):
    """Token ids, and labels: the ids themselves in the longest sample, else a tenth ignored and a tenth replaced."""
    gen = stream(name, "tokens")
    samples = []
    for n in lengths:
        tokens = torch.randint(0, vocab, (n,), generator=gen)
        labels = tokens.clone()
        if n != max(lengths):
            u = torch.rand(n, generator=gen)
            other = torch.randint(0, vocab, (n,), generator=gen)
            labels = torch.where(u < 0.1, -100, torch.where(u < 0.2, other, tokens))
        samples.append((tokens, labels))
    return samples


def fresh_rope(model):
    """Dynamic scaling keeps the longest length it has seen: forget it, since samples are isolated."""
    emb = getattr(model.base_model, "rotary_emb", None)
    if emb is not None:
        emb.inv_freq = emb.original_inv_freq.clone()
        emb.max_seq_len_cached = emb.original_max_seq_len


def forward(model, tokens):
    fresh_rope(model)
    return model(input_ids=tokens[None].long(), use_cache=False).logits[0]


def predicted(samples):
    return sum(int((labels[1:] != -100).sum()) for _, labels in samples)


def loss_of(logits, samples):
    """Sum of negative log-likelihoods over the predicted tokens of all samples, over their number."""
    total = 0.0
    for out, (_, labels) in zip(logits, samples):
        if len(labels) > 1:
            total = total + F.cross_entropy(out[:-1], labels[1:].long(), ignore_index=-100, reduction="sum")
    return total / predicted(samples)


def run(model, samples, grads):
    logits = [forward(model, tokens) for tokens, _ in samples]
    loss = loss_of([l.float() if l.dtype == torch.bfloat16 else l for l in logits], samples)
    if grads:
        model.zero_grad(set_to_none=True)
        loss.backward()
    got = {k: p.grad.detach().clone() for k, p in model.named_parameters()} if grads else {}
    return [l.detach() for l in logits], loss.detach(), got


class F64Only:
    """Stands for `torch` inside a modeling file, so that norms and softmax, which ask for float32, stay in f64."""
    float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def run_exact(model, family, samples):
    """The f64 model whose norms and softmax are f64 too. Rotary cosines and sines are f32 in every mode of transformers."""
    MODELING[family].torch = F64Only()
    try:
        with torch.no_grad():
            return run(model, samples, False)
    finally:
        MODELING[family].torch = torch


def load(dir, dtype, **kw):
    return AutoModelForCausalLM.from_pretrained(dir, dtype=dtype, attn_implementation="eager", **kw).eval()


def load_f64(dir):
    model = load(dir, torch.float32).double()
    # This switch keeps the scores in f32, which transformers cannot do in f64; it does not change what is computed.
    model.config.reorder_and_upcast_attn = False
    for m in model.modules():
        if hasattr(m, "reorder_and_upcast_attn"):
            m.reorder_and_upcast_attn = False
    return model


def file_names(dir, model):
    """Parameter name -> name in the file."""
    names = set(safetensors.torch.load_file(dir / "model.safetensors"))
    out = {}
    for k, _ in model.named_parameters():
        out[k] = k if k in names else k.removeprefix("transformer.")
        assert out[k] in names, k
    return out


def norm(t):
    return float(t.double().norm())


def distance(a, b):
    return math.sqrt(sum(norm(x.double() - y.double()) ** 2 for x, y in zip(a, b)))


def check_v4(dir, name, samples, want):
    """config.v4.json must mean the same to transformers, except that its two spellings of tanh gelu round differently."""
    config = AutoConfig.from_pretrained(dir / "config.v4.json")
    got = [forward(load(dir, torch.float32, config=config), tokens).detach() for tokens, _ in samples]
    worst = max(float((a - b).abs().max()) for a, b in zip(got, want))
    assert worst < 1e-5, f"{name}: config.v4.json gives other logits ({worst})"


def rope_record(model, samples):
    """Frequencies as f32, for each sample, since dynamic scaling depends on its length."""
    emb = getattr(model.base_model, "rotary_emb", None)
    if emb is None:
        return {}, None
    out = {}
    for k, (tokens, _) in enumerate(samples):
        with torch.no_grad():
            forward(model, tokens)
        out[f"inv_freq.{k}"] = emb.inv_freq.float().clone()
    return out, float(emb.attention_scaling)


def make(root, name):
    family, args, opt = VARIANTS[name]
    dir = root / name
    shutil.rmtree(dir, ignore_errors=True)
    dir.mkdir(parents=True)
    save_model(dir, name, family, args, opt)
    samples = make_samples(name, args["vocab_size"], opt.get("lengths", DEFAULT_LENGTHS))

    inputs = {}
    for k, (tokens, labels) in enumerate(samples):
        inputs[f"tokens.{k}"] = tokens.to(torch.int32)
        inputs[f"labels.{k}"] = labels.to(torch.int32)
    safetensors.torch.save_file(inputs, dir / "input.safetensors")

    m64, m32 = load_f64(dir), load(dir, torch.float32)
    names = file_names(dir, m64)
    logits, loss, grads = run(m64, samples, True)
    logits32, loss32, grads32 = run(m32, samples, True)
    exact, exact_loss, _ = run_exact(m64, family, samples)
    bf16, _, grads_bf16 = run(load(dir, torch.bfloat16), samples, True)
    check_v4(dir, name, samples, logits32)
    freqs, attention_scaling = rope_record(m32, samples)

    out = {f"logits.{k}": l for k, l in enumerate(logits)}
    out |= {f"exact.{k}": l for k, l in enumerate(exact)}
    out |= {f"grad.{names[k]}": g for k, g in grads.items()}
    out |= freqs
    out["loss"] = loss
    safetensors.torch.save_file({k: v.contiguous() for k, v in out.items()}, dir / "expected.safetensors")

    flat = torch.cat([l.flatten() for l in logits])
    record = {
        "family": family,
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
        "predicted_tokens": predicted(samples),
        "loss": float(loss),
        "exact_loss": float(exact_loss),
        "logits_std": float(flat.std(correction=0)),
        "logits_max_abs_f32": max(float((a - b).abs().max()) for a, b in zip(logits32, logits)),
        "loss_f32": float(loss32),
        "logits_l2_bf16": distance(bf16, logits),
        "grads_l2_bf16": distance(grads_bf16.values(), grads.values()),
        "grads": {names[k]: {"norm": norm(g), "distance_f32": norm(grads32[k].double() - g)} for k, g in grads.items()},
    }
    if attention_scaling is not None:
        record["attention_scaling"] = attention_scaling
    if opt.get("train"):
        record["train"] = train(dir, name, args["vocab_size"])
    if opt.get("generate"):
        record["generate"] = generate(dir, name, args["vocab_size"])
    (dir / "expected.json").write_text(json.dumps(record, indent=1) + "\n")
    report(name, dir, record, exact, logits)


def train(dir, name, vocab):
    """Twenty steps of AdamW in f32 on the rows of train.jsonl, all of them in each step."""
    gen = stream(name, "train")
    samples = []
    for n in (5, 31, 12, 20):
        tokens = torch.randint(0, vocab, (n,), generator=gen)
        labels = torch.where(torch.rand(n, generator=gen) < 0.2, -100, tokens)
        samples.append((tokens, labels))
    rows = [json.dumps({"input_ids": t.tolist(), "labels": l.tolist()}) for t, l in samples]
    (dir / "train.jsonl").write_text("\n".join(rows) + "\n")

    model = load(dir, torch.float32)
    model.train()
    # Which weights transformers' Trainer decays: all but biases and norms.
    forbidden = [r"bias", r"layernorm", r"rmsnorm", r"(?:^|\.)norm(?:$|\.)", r"_norm(?:$|\.)"]
    decayed = set(get_parameter_names(model, [torch.nn.LayerNorm], forbidden))
    groups = [{"params": [p for k, p in model.named_parameters() if k in decayed], "weight_decay": 0.1},
              {"params": [p for k, p in model.named_parameters() if k not in decayed], "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.999), eps=1e-8)
    losses, norms = [], []
    for _ in range(20):
        _, loss, _ = run(model, samples, True)
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)))
        losses.append(float(loss))
        adamw.step()
    names = file_names(dir, model)
    return {"learning_rate": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1, "max_grad_norm": 1.0,
            "decayed": sorted(names[k] for k, _ in model.named_parameters() if k in decayed),
            "loss": losses, "grad_norm": norms}


def generate(dir, name, vocab):
    """Sixteen greedy tokens after a prompt. The margin is the least lead of a chosen token's logit over the next."""
    prompt = torch.randint(0, vocab, (7,), generator=stream(name, "prompt"))
    model = load(dir, torch.float32)
    ids, margin = prompt, math.inf
    with torch.no_grad():
        for _ in range(16):
            top = forward(model, ids)[-1].topk(2)
            margin = min(margin, float(top.values[0] - top.values[1]))
            ids = torch.cat([ids, top.indices[:1]])
        out = model.generate(prompt[None], max_new_tokens=16, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert out[0].tolist() == ids.tolist(), "generation with and without cache differ"
    assert len(set(ids.tolist()[len(prompt):])) > 5, f"{name}: generation runs in a circle"
    assert margin > 1e-3, f"{name}: a greedy choice hangs on {margin}"
    eos = model.config.eos_token_id
    assert eos is None or eos not in ids.tolist()[len(prompt):], f"{name}: generation meets EOS"
    return {"prompt": prompt.tolist(), "ids": ids.tolist()[len(prompt):], "margin": margin}


def report(name, dir, r, exact, logits):
    std = r["logits_std"]
    apart = max(float((a - b).abs().max()) for a, b in zip(exact, logits)) / std
    worst = max(g["distance_f32"] / max(g["norm"], 1e-30) for g in r["grads"].values())
    size = sum(f.stat().st_size for f in dir.iterdir()) / 1024
    print(f"{name:22} {size:5.0f} KiB  loss {r['loss']:.4f}  std {std:.3f}  f32 max/std {r['logits_max_abs_f32'] / std:.1e}"
          f"  exact max/std {apart:.1e}  f32 loss {abs(r['loss_f32'] / r['loss'] - 1):.1e}  worst f32 grad {worst:.1e}"
          f"  bf16 l2/std {r['logits_l2_bf16'] / std:.2f}", flush=True)


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    root = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or VARIANTS:
        make(root, name)


if __name__ == "__main__":
    main()
