#!/usr/bin/env python3
"""Make tests/data/models: tiny model directories of each family and what transformers computes with them.

    python tools/golden/models.py OUT [VARIANT ...]

README.md beside this file says what each file holds. Everything is seeded: the same versions of torch and transformers
give the same weights and inputs, and outputs equal to rounding.
"""
import contextlib
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
from torch.overrides import TorchFunctionMode
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.trainer_pt_utils import get_parameter_names

from variants import VARIANTS

DEFAULT_LENGTHS = [1, 5, 17, 40]


def stream(name, what):
    """A generator of its own for each use, so that adding one changes no other."""
    seed = int.from_bytes(f"{name}/{what}".encode(), "little") % (2**31 - 1)
    return torch.Generator().manual_seed(seed)


def randomise(model, gen):
    """Weights of a size that makes logits spread by about one. What is no matrix (norms, biases, coefficients of an activation)
    goes away from where it begins, which is where it would not matter."""
    tied = model.config.tie_word_embeddings
    with torch.no_grad():
        for name, p in model.named_parameters():
            r = torch.randn(p.shape, generator=gen)
            if p.ndim == 1 or "norm" in name:
                p.add_(0.2 * r)
            elif any(e in name for e in ("embed_tokens", "embed_in", "wte", "wpe")):
                p.copy_(r * (0.3 if "wpe" in name else 0.4 if tied else 1.0))
            else:
                fan_in = p.shape[0] if ".h." in name else p.shape[1]  # gpt2's Conv1D keeps [in, out]
                p.copy_(r / math.sqrt(fan_in))


def save_model(dir, name, family, args, opt):
    config = CONFIG_MAPPING[family](**copy.deepcopy(args))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    randomise(model, stream(name, "weights"))
    model.to(opt.get("dtype", torch.float32)).save_pretrained(dir)
    if opt.get("hub_names") or opt.get("buffers"):
        old_file(dir / "model.safetensors", config, opt)
    write_v4(dir, family, opt)


def old_file(path, config, opt):
    """The names and buffers that old checkpoints have."""
    tensors = safetensors.torch.load_file(path)
    n = config.max_position_embeddings
    mask = torch.tril(torch.ones(n, n)).view(1, 1, n, n)
    if opt.get("hub_names"):
        tensors = {k.removeprefix("transformer."): v for k, v in tensors.items()}
        tensors |= {f"h.{i}.attn.bias": mask.clone() for i in range(config.num_hidden_layers)}
    if opt.get("buffers"):
        for i in range(config.num_hidden_layers):
            tensors |= {f"gpt_neox.layers.{i}.attention.bias": mask.bool(),
                        f"gpt_neox.layers.{i}.attention.masked_bias": torch.tensor(-1e9),
                        f"gpt_neox.layers.{i}.attention.rotary_emb.inv_freq": torch.ones(2)}
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})


def write_v4(dir, family, opt):
    """The same config as transformers 4 wrote it."""
    v5 = json.loads((dir / "config.json").read_text())
    v4 = {k: v for k, v in v5.items() if k not in ("rope_parameters", "dtype", "transformers_version")}
    plain = CONFIG_MAPPING[family]().to_dict()
    for key in opt.get("drop", []):
        v4.pop(key)
    if opt.get("minimal"):
        keep = ("model_type", "architectures")
        v4 = {k: v for k, v in v4.items() if k in keep or k not in plain or plain[k] != v}
    if "rope_parameters" in v5 and not opt.get("plain_rope"):
        write_v4_rope(v4, v5, plain, opt)
    v4["torch_dtype"] = v5["dtype"]
    v4["transformers_version"] = "4.51.3"
    v4.update(opt.get("v4", {}))
    (dir / "config.v4.json").write_text(json.dumps(v4, indent=2, sort_keys=True) + "\n")


def write_v4_rope(v4, v5, plain, opt):
    """Settings by layer type were spelled as those of full attention, and gemma3's other base as rope_local_base_freq."""
    new, default = v5["rope_parameters"], plain["rope_parameters"]
    names = ("rotary_emb_base", "rotary_pct") if v5["model_type"] == "gpt_neox" else ("rope_theta", "partial_rotary_factor")
    if "full_attention" in new:
        sliding, default = new["sliding_attention"], default["full_attention"]
        new = new["full_attention"]
        assert sliding["rope_type"] == "default"
        if v5["model_type"] == "gemma3_text":
            v4["rope_local_base_freq"] = sliding["rope_theta"]
    scaling = dict(new)
    kind = scaling.pop("rope_type")
    for key, name in zip(("rope_theta", "partial_rotary_factor"), names):
        value = scaling.pop(key, None)
        if value is not None and not (opt.get("minimal") and value == default.get(key)):
            v4[name] = value
    if "original_max_position_embeddings" in v5 and "type_name" not in opt:
        scaling.pop("original_max_position_embeddings", None)
    if kind != "default":
        key, kind = opt.get("type_key", "rope_type"), opt.get("type_name", kind)
        kinds = {"type": kind, "rope_type": kind} if key == "both" else {key: kind}
        v4["rope_scaling"] = {**scaling, **kinds}
    elif not opt.get("minimal"):
        v4["rope_scaling"] = None


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
    if emb is None:
        return
    emb.max_seq_len_cached = emb.original_max_seq_len
    for name, first in list(emb.named_buffers()):
        if name.endswith("original_inv_freq"):
            prefix = name.removesuffix("original_inv_freq")
            setattr(emb, prefix + "inv_freq", first.clone())
            if prefix:
                setattr(emb, prefix + "max_seq_len_cached", emb.original_max_seq_len)


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


class NoF32(TorchFunctionMode):
    """Fails where anything that depends on a parameter is not f64."""
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor) and out.requires_grad:
            assert out.dtype == torch.float64, f"{func} gives {out.dtype}"
        return out


@contextlib.contextmanager
def exact_math(model):
    """All in f64 but rotary cosines and sines, which are f32 in every mode of transformers: what the modeling file converts to
    float32 stays as it is."""
    modeling, to_f32 = sys.modules[type(model).__module__], torch.Tensor.float
    modeling.torch = F64Only()
    torch.Tensor.float = lambda self, *args, **kw: self if self.dtype == torch.float64 else to_f32(self, *args, **kw)
    try:
        with NoF32():
            yield
    finally:
        modeling.torch = torch
        torch.Tensor.float = to_f32


def run_exact(model, samples):
    with exact_math(model):
        return run(model, samples, True)


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


def spell(names, model):
    """Parameter name -> which of `names` it has in the file."""
    out = {}
    for k, _ in model.named_parameters():
        spellings = [k, k.removeprefix("transformer."), "embed_out.weight" if k == "lm_head.weight" else k]
        out[k] = next(s for s in spellings if s in names)
    return out


def file_names(dir, model):
    return spell(set(safetensors.torch.load_file(dir / "model.safetensors")), model)


def norm(t):
    return float(t.double().norm())


def distance(a, b):
    return math.sqrt(sum(norm(x.double() - y.double()) ** 2 for x, y in zip(a, b)))


def check_v4(dir, name, samples, want):
    """config.v4.json must mean the same to transformers, except that its two spellings of tanh gelu round differently."""
    config = AutoConfig.from_pretrained(dir / "config.v4.json")
    got = [forward(load(dir, torch.float32, config=config), tokens).detach() for tokens, _ in samples]
    worst = max(float((a - b).abs().max()) for a, b in zip(got, want)) / float(torch.cat([l.flatten() for l in want]).std())
    assert worst < 1e-5, f"{name}: config.v4.json gives other logits ({worst})"


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
    logits, loss, grads = run_exact(m64, samples)
    logits32, loss32, grads32 = run(m32, samples, True)
    bf16, _, grads_bf16 = run(load(dir, torch.bfloat16), samples, True)
    check_v4(dir, name, samples, logits32)

    kept = torch.float64 if opt.get("f64") else torch.float32
    out = {f"logits.{k}": l.to(kept) for k, l in enumerate(logits)}
    out |= {f"grad.{names[k]}": g.to(kept) for k, g in grads.items()}
    safetensors.torch.save_file({k: v.contiguous() for k, v in out.items()}, dir / "expected.safetensors")

    flat = torch.cat([l.flatten() for l in logits])
    record = {
        "family": family,
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
        "predicted_tokens": predicted(samples),
        "loss": float(loss),
        "loss_f32": float(loss32),
        "logits_std": float(flat.std(correction=0)),
        "logits_max_abs_f32": max(float((a - b).abs().max()) for a, b in zip(logits32, logits)),
        "logits_l2_bf16": distance(bf16, logits),
        "grads_l2_bf16": distance(grads_bf16.values(), grads.values()),
        "grads": {names[k]: {"norm": norm(g), "distance_f32": norm(grads32[k].double() - g)} for k, g in grads.items()},
    }
    if opt.get("train"):
        record["train"] = train(dir, name, args["vocab_size"])
    if opt.get("generate"):
        record["generate"] = generate(dir, name, args["vocab_size"])
    (dir / "expected.json").write_text(json.dumps(record, indent=1) + "\n")
    report(name, dir, record)


def train(dir, name, vocab):
    """Twenty steps of AdamW on the rows of train.jsonl, all of them in each step: in f64, and how far f32 is from that."""
    gen = stream(name, "train")
    samples = []
    for n in (5, 31, 12, 20):
        tokens = torch.randint(0, vocab, (n,), generator=gen)
        labels = torch.where(torch.rand(n, generator=gen) < 0.2, -100, tokens)
        samples.append((tokens, labels))
    rows = [json.dumps({"input_ids": t.tolist(), "labels": l.tolist()}) for t, l in samples]
    (dir / "train.jsonl").write_text("\n".join(rows) + "\n")

    model, m64 = load(dir, torch.float32), load_f64(dir)
    names = file_names(dir, model)
    with exact_math(m64):
        loss, grad_norm, decayed = adamw_steps(m64, samples)
    loss_f32, grad_norm_f32, _ = adamw_steps(model, samples)
    return {"learning_rate": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1, "max_grad_norm": 1.0,
            "decayed": sorted(names[k] for k in names if k in decayed), "loss": loss, "grad_norm": grad_norm,
            "loss_error_f32": max(abs(a / b - 1) for a, b in zip(loss_f32, loss)),
            "grad_norm_error_f32": max(abs(a / b - 1) for a, b in zip(grad_norm_f32, grad_norm))}


def adamw_steps(model, samples):
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
    return losses, norms, decayed


def generate(dir, name, vocab):
    """Sixteen greedy tokens after the first prompt that gives a telling run. The margin is the least lead of a chosen token's
    logit over the next."""
    model = load(dir, torch.float32)
    eos = model.config.eos_token_id
    for attempt in range(100):
        prompt = torch.randint(0, vocab, (7,), generator=stream(name, f"prompt{attempt or ''}"))
        ids, margin = prompt, math.inf
        with torch.no_grad():
            for _ in range(16):
                top = forward(model, ids)[-1].topk(2)
                margin = min(margin, float(top.values[0] - top.values[1]))
                ids = torch.cat([ids, top.indices[:1]])
        new = ids.tolist()[len(prompt):]
        stops = set(eos) if isinstance(eos, list) else {eos}
        if len(set(new)) > 5 and margin > 1e-3 and not stops & set(new):
            break
    else:
        raise AssertionError(f"{name}: every generation runs in a circle, hangs on a small margin or meets EOS")
    with torch.no_grad():
        out = model.generate(prompt[None], attention_mask=torch.ones(1, len(prompt)), max_new_tokens=16, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert out[0].tolist() == ids.tolist(), "generation with and without cache differ"
    return {"prompt": prompt.tolist(), "ids": new, "margin": margin}


def report(name, dir, r):
    std = r["logits_std"]
    worst = max(g["distance_f32"] / max(g["norm"], 1e-30) for g in r["grads"].values())
    least = min(g["norm"] for g in r["grads"].values()) / max(g["norm"] for g in r["grads"].values())
    size = sum(f.stat().st_size for f in dir.iterdir()) / 1024
    print(f"{name:32} {size:4.0f} KiB  loss {r['loss']:.4f}  std {std:.3f}  f32 max/std {r['logits_max_abs_f32'] / std:.1e}"
          f"  f32 loss {abs(r['loss_f32'] / r['loss'] - 1):.1e}  worst f32 grad {worst:.1e}  least grad {least:.1e}"
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
