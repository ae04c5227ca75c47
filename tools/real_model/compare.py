#!/usr/bin/env python3
"""Hold `hone forward` against transformers on a real model and real text: logits and gradients, in f32 and bf16.

    python tools/real_model/compare.py build/hone DIR WORK [--text FILE] [--lengths 32,544] [--dtypes f32,bf16] [--layers]

The reference is the model in f64, its norms too (transformers keeps those in f32; cosines and sines are f32 in every mode). A
line for each dtype of hone and of transformers (eager attention; the model loaded in that dtype): the mean over tokens of
KL(reference ‖ it), in f64; the largest difference of a logit and the distance over all logits, both over the logits' standard
deviation; the distance over all gradients, over their norm; and the tensor whose gradient is farthest, by its own norm. WORK
gets the inputs, the references and hone's outputs: 12 bytes a weight, 12 a logit. Needs 40 bytes a weight and 40 a logit of the
longest sample. --layers: also what the residual stream looks like in each layer.
"""
import argparse
import math
import pathlib
import subprocess

import safetensors.torch
import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def norm_f64(self, x):
    x = x.double()
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * (1.0 + self.weight.double())


def samples(args):
    ids = torch.tensor(AutoTokenizer.from_pretrained(args.dir)(args.text.read_text()).input_ids)
    out, at = [], 0
    for n in args.lengths:
        out.append(ids[at:at + n])
        at += n
    return out


def load(args, dtype):
    """The model as the reference has it; f64 with norms and softmax of its own."""
    if dtype != torch.float64:
        return AutoModelForCausalLM.from_pretrained(args.dir, dtype=dtype, attn_implementation="eager").eval()
    model = AutoModelForCausalLM.from_pretrained(args.dir, dtype=torch.float32, attn_implementation="sdpa").double().eval()
    for m in model.modules():
        if type(m).__name__ == "Gemma3RMSNorm":
            m.forward = norm_f64.__get__(m)
    return model


def run(args, dtype, out):
    """Writes logits.<k> and grad.<name> of the loss over all samples."""
    model, count, tensors = load(args, dtype), sum(n - 1 for n in args.lengths), {}
    for k, ids in enumerate(samples(args)):
        logits = model(input_ids=ids[None], use_cache=False).logits[0]
        wide = logits if dtype == torch.float64 else logits.float()
        (torch.nn.functional.cross_entropy(wide[:-1], ids[1:], reduction="sum") / count).backward()
        tensors[f"logits.{k}"] = logits.detach()
        del logits, wide
    safetensors.torch.save_file(tensors | {f"grad.{n}": p.grad for n, p in model.named_parameters()}, out)


def run_hone(args, dtype, out):
    k = {f"{kind}.{k}": ids.to(torch.int32) for k, ids in enumerate(samples(args)) for kind in ("tokens", "labels")}
    safetensors.torch.save_file({n: t.clone() for n, t in k.items()}, args.work / "input.safetensors")
    subprocess.run([args.hone, "forward", args.dir, "--input", args.work / "input.safetensors", "--output", out, "--grads",
                    "--dtype", dtype], check=True)


def compare(name, a, b):
    """a against the reference b, both open files. Rows of logits and gradients are taken a few at a time."""
    kl = square = total = 0.0
    n = worst = tokens = 0
    mean = 0.0
    for k in sorted(x for x in b.keys() if x.startswith("logits.")):
        x, y = a.get_slice(k), b.get_slice(k)
        for i in range(0, y.get_shape()[0], 32):
            p, q = y[i:i + 32].double(), x[i:i + 32].double()
            log_p, log_q = p.log_softmax(-1), q.log_softmax(-1)
            kl += float((log_p.exp() * (log_p - log_q)).sum())
            worst = max(worst, float((p - q).abs().max()))
            square += float((p - q).square().sum())
            mean, total, n, tokens = mean + float(p.sum()), total + float(p.square().sum()), n + p.numel(), tokens + len(p)
    std = math.sqrt(total / n - (mean / n) ** 2)
    apart = whole = 0.0
    far = (0.0, "")
    for k in sorted(x for x in b.keys() if x.startswith("grad.")):
        g, h = b.get_tensor(k), a.get_tensor(k).double()
        d, l = float((h - g).norm()), float(g.norm())
        apart, whole, far = apart + d * d, whole + l * l, max(far, (d / l, k))
    print(f"| {name} | {kl / tokens:.1e} | {worst / std:.1e} | {math.sqrt(square / n) / std:.1e} | {math.sqrt(apart / whole):.1e} | "
          f"{far[0]:.1e} {far[1].removeprefix('grad.')} |", flush=True)


def show_layers(args):
    """The residual stream after each layer, in f32: its size, its largest element and where, and how far bf16 is off."""
    ids = samples(args)[-1][None]
    with torch.no_grad():
        f32, bf16 = (load(args, d)(input_ids=ids, output_hidden_states=True, logits_to_keep=1).hidden_states for d in DTYPES.values())
    print("\n| after layer | rms | rms of the first token | largest element | its token, channel | distance of bf16 |\n|---|---|---|---|---|---|")
    for i, (x, y) in enumerate(zip(f32, bf16)):
        x, y = x[0], y[0].float()
        at = int(x.abs().argmax())
        print(f"| {i or 'embedding'} | {float(x.square().mean().sqrt()):.1f} | {float(x[0].square().mean().sqrt()):.1f} | "
              f"{float(x.abs().max()):.0f} | {at // x.shape[1]}, {at % x.shape[1]} | {float((x - y).norm() / x.norm()):.1e} |")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("hone")
    p.add_argument("dir", type=pathlib.Path)
    p.add_argument("work", type=pathlib.Path)
    p.add_argument("--text", type=pathlib.Path, default=pathlib.Path(__file__).parents[2] / "README.md")
    p.add_argument("--lengths", default="32,544")
    p.add_argument("--dtypes", default="f32,bf16")
    p.add_argument("--layers", action="store_true")
    args = p.parse_args()
    args.lengths = [int(n) for n in args.lengths.split(",")]
    logging.disable_progress_bar()
    args.work.mkdir(parents=True, exist_ok=True)
    reference = args.work / "f64.safetensors"
    run(args, torch.float64, reference)
    print("| | KL a token | logits, largest | logits, all | gradients, all | gradient that is farthest |\n|---|---|---|---|---|---|")
    with safe_open(reference, "pt") as b:
        for dtype in args.dtypes.split(","):
            for name, make in ((f"hone {dtype}", lambda out: run_hone(args, dtype, out)),
                               (f"transformers {dtype}", lambda out: run(args, DTYPES[dtype], out))):
                out = args.work / (name.replace(" ", "-") + ".safetensors")
                make(out)
                with safe_open(out, "pt") as a:
                    compare(name, a, b)
    if args.layers:
        show_layers(args)


if __name__ == "__main__":
    main()
