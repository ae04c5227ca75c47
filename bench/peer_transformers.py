#!/usr/bin/env python3
"""Training steps of transformers + PyTorch, as hone's peer: AdamW (fused), clipping at 1, no recomputation.

    python bench/peer_transformers.py --model DIR --data rows.jsonl --mode f32|exact|bf16|autocast|masters [--steps N]
                                      [--warmup N] [--batch N] [--learning-rate R] [--schedule NAME --warmup-steps N] [--weight-decay D]

Rows hold input_ids and perhaps labels (-100 = none; else the ids themselves), and are taken in order. Decay, as in
transformers' Trainer, is for all weights but biases and norms. --warmup: steps that the speed leaves out.

f32: everything in f32. exact: the loss in f64, for PyTorch's sum over a large vocabulary in f32 is off by some 1e-5. bf16:
weights, gradients and moments in bfloat16. autocast: f32 weights and moments, products in bfloat16, the residual stream in f32.
masters: forward and backward as in bf16, with f32 weights, moments and steps, as FSDP's mixed precision has it.

Prints a line per step, then a JSON object: tokens_per_second (median of the steps after the warm-up), and peak_bytes and
start_bytes (anonymous memory of the process: its peak, and what it is before the model is loaded).
"""
import argparse
import contextlib
import json
import os
import statistics
import time

import torch
from transformers import AutoModelForCausalLM, get_scheduler
from transformers.trainer_pt_utils import get_parameter_names

from measure import Peak, rss_anon


NOT_DECAYED = [r"bias", r"layernorm", r"rmsnorm", r"(?:^|\.)norm(?:$|\.)", r"_norm(?:$|\.)"]    # as in Trainer


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--model", required=True)
    p.add_argument("--data", required=True)
    p.add_argument("--mode", choices=["f32", "exact", "bf16", "autocast", "masters"], required=True)
    p.add_argument("--steps", type=int, default=6)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--batch", type=int, default=2)
    p.add_argument("--learning-rate", type=float, default=1e-4)
    p.add_argument("--schedule", default="constant")
    p.add_argument("--warmup-steps", type=int, default=0)
    p.add_argument("--weight-decay", type=float, default=0.0)
    args = p.parse_args()

    start_bytes = rss_anon(os.getpid())
    peak = Peak(os.getpid())
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    dtype = torch.bfloat16 if args.mode in ("bf16", "masters") else torch.float32
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=dtype)
    model.train()
    with open(args.data) as f:
        rows = [json.loads(line) for line in f]
    decayed = set(get_parameter_names(model, [torch.nn.LayerNorm], NOT_DECAYED))
    weights = dict(model.named_parameters())
    masters = {n: p.detach().float().requires_grad_() for n, p in weights.items()} if args.mode == "masters" else weights
    groups = [{"params": [p for n, p in masters.items() if (n in decayed) == decay],
               "weight_decay": args.weight_decay if decay else 0.0} for decay in (True, False)]
    adamw = torch.optim.AdamW(groups, lr=args.learning_rate, fused=True)
    schedule = get_scheduler(args.schedule, adamw, args.warmup_steps, args.steps)
    cast = torch.autocast("cpu", torch.bfloat16) if args.mode == "autocast" else contextlib.nullcontext()

    seconds = []
    for step in range(args.steps):
        begin = time.monotonic()
        at = step * args.batch
        batch = [rows[(at + i) % len(rows)] for i in range(args.batch)]
        ids, labels = (torch.tensor([row.get(key, row["input_ids"]) for row in batch]) for key in ("input_ids", "labels"))
        with cast:
            if args.mode == "exact":
                logits = model(input_ids=ids, use_cache=False).logits[:, :-1].double()
                loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten())
                del logits
            else:
                loss = model(input_ids=ids, labels=labels, use_cache=False).loss
        loss.backward()
        if masters is not weights:
            for n, p in weights.items():
                masters[n].grad, p.grad = p.grad.float(), None
        norm = torch.nn.utils.clip_grad_norm_(masters.values(), 1.0)
        adamw.step()
        schedule.step()
        if masters is not weights:
            with torch.no_grad():
                for n, p in weights.items():
                    p.copy_(masters[n])
        adamw.zero_grad(set_to_none=True)
        seconds.append(time.monotonic() - begin)
        print(f"step {step + 1} loss {loss.item():.9g} grad_norm {norm.item():.9g} seconds {seconds[-1]:.3f}", flush=True)
    median = statistics.median(seconds[args.warmup:])
    print(json.dumps({"tokens_per_second": ids.numel() / median, "peak_bytes": peak.stop(),
                      "start_bytes": start_bytes}))


if __name__ == "__main__":
    main()
