#!/usr/bin/env python3
"""What bench/real_model.sh runs; its head says how."""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import measure

PEERS = {"f32": ["exact", "f32"], "bf16": ["masters", "autocast", "bf16"]}     # of each mode of hone; the first computes as it does
RATE, DECAY, RISE = 2e-5, 0.1, 2
CONFIG = """\
model_name_or_path: {model}
stage: sft
finetuning_type: full
dataset: {rows}
cutoff_len: {length}
disable_shuffling: true
per_device_train_batch_size: 1
gradient_accumulation_steps: 1
max_steps: {steps}
learning_rate: {rate}
lr_scheduler_type: cosine
warmup_steps: {rise}
weight_decay: {decay}
max_grad_norm: 1.0
bf16: {bf16}
disable_gradient_checkpointing: true
output_dir: {out}
overwrite_output_dir: true
save_strategy: "no"
logging_steps: 1
threads: {threads}
"""


def make_rows(args):
    """Rows of the documentation's text. hone's ids of it must be the tokenizers library's."""
    from transformers import AutoTokenizer

    path, text = args.work / "rows.jsonl", args.work / "text.txt"
    root = pathlib.Path(__file__).parent.parent
    text.write_text("\n".join(f.read_text() for f in [root / "README.md", *sorted((root / "docs").glob("*.md"))]))
    ids = AutoTokenizer.from_pretrained(args.model)(text.read_text()).input_ids
    ours = subprocess.run([args.hone, "inspect", "tokens", args.model, text, "--whole"], check=True, stdout=subprocess.PIPE).stdout
    if json.loads(ours) != ids:
        sys.exit(f"hone's tokens of {text} are not those of transformers")
    rows = [ids[i:i + args.length] for i in range(0, len(ids) - args.length + 1, args.length)]
    blank = args.length // 8
    path.write_text("".join(json.dumps({"input_ids": r, "labels": [-100] * blank + r[blank:]}) + "\n" for r in rows))
    print(f"{len(rows)} rows of {args.length} tokens, {len(text.read_bytes()) / len(ids):.1f} bytes a token")
    return path


def run_hone(args, rows, mode):
    out, config = args.work / "out", args.work / "config.yaml"
    shutil.rmtree(out, ignore_errors=True)
    config.write_text(CONFIG.format(model=args.model, rows=rows, out=out, length=args.length, steps=args.steps, rate=RATE,
                                    decay=DECAY, rise=RISE, bf16=str(mode == "bf16").lower(), threads=len(args.cores)))
    _, _, peak = measure.run([args.hone, "train", config], args.cores)
    steps = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    shutil.rmtree(out)
    return {"seconds": [s["seconds"] for s in steps], "peak": peak, "start": 0,
            "loss": [s["loss"] for s in steps], "grad_norm": [s["grad_norm"] for s in steps]}


def run_torch(args, rows, mode):
    peer = pathlib.Path(__file__).with_name("peer_transformers.py")
    text, _, _ = measure.run([sys.executable, peer, "--model", args.model, "--data", rows, "--mode", mode, "--steps", str(args.steps),
                              "--warmup", str(args.warmup), "--batch", "1", "--learning-rate", str(RATE), "--schedule", "cosine",
                              "--warmup-steps", str(RISE), "--weight-decay", str(DECAY)], args.cores)
    steps = re.findall(r"^step \d+ loss (\S+) grad_norm (\S+) seconds (\S+)", text, re.M)
    loss, norm, seconds = ([float(s[i]) for s in steps] for i in range(3))
    last = json.loads(text.splitlines()[-1])
    return {"seconds": seconds, "peak": last["peak_bytes"], "start": last["start_bytes"], "loss": loss, "grad_norm": norm}


def apart(a, b):
    """Largest relative difference."""
    return max(abs(x - y) / abs(y) for x, y in zip(a, b))


def rms(a, b):
    """Root mean square of the relative differences."""
    return math.sqrt(statistics.mean(((x - y) / y) ** 2 for x, y in zip(a, b)))


def table(title, key, first, digits):
    """One row a step, one column a program."""
    print(f"\n{title}\n| step | " + " | ".join(first) + " |\n|" + "---|" * (len(first) + 1))
    for i in range(len(next(iter(first.values()))[key])):
        print(f"| {i + 1} | " + " | ".join(f"{r[key][i]:.{digits}f}" for r in first.values()) + " |")


def report(args, results):
    first = {k: v[0] for k, v in results.items()}
    table("loss", "loss", first, 6)
    table("norm of the gradient, before clipping", "grad_norm", first, 4)
    print("\n| relative difference over the steps | loss, largest | norm, largest | loss, root mean square | norm, root mean square |\n"
          "|---|---|---|---|---|")
    pairs = [(f"hone {m}", f"torch {p}") for m in args.modes for p in PEERS[m]]
    if "hone bf16" in first and "torch exact" in first:    # how far bf16 is from f32: hone's must not be farther than PyTorch's
        pairs += [(k, "torch exact") for k in ("hone bf16", "torch masters", "torch autocast", "torch bf16")]
    for a, b in pairs:
        figures = [f(first[a][key], first[b][key]) for f in (apart, rms) for key in ("loss", "grad_norm")]
        print(f"| {a} from {b} | " + " | ".join(f"{x:.2e}" for x in figures) + " |")

    print(f"\n{args.length} tokens a step\n| | tokens/s | lowest to highest of the rounds | peak GB | there before the model is loaded |\n"
          "|---|---|---|---|---|")
    speed = {}
    for k, v in results.items():
        each = [args.length / statistics.median(r["seconds"][args.warmup:]) for r in v]
        speed[k] = statistics.median(each)
        print(f"| {k} | {speed[k]:.1f} | {min(each):.1f} to {max(each):.1f} | {max(r['peak'] for r in v) / 1e9:.2f} | "
              f"{max(r['start'] for r in v) / 1e9:.2f} |")
    for m in args.modes:
        best = max(PEERS[m], key=lambda p: speed[f"torch {p}"])
        print(f"{m}: {speed[f'hone {m}'] / speed[f'torch {best}']:.2f} times the speed of PyTorch ({best}, its fastest)")


def parse():
    p = argparse.ArgumentParser(description="see the head of bench/real_model.sh")
    p.add_argument("model", type=pathlib.Path)
    p.add_argument("--modes", default="f32,bf16")
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--length", type=int, default=512)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--cores", default="0,1")
    p.add_argument("--hone", default=str(pathlib.Path(__file__).parent.parent / "build/hone"))
    p.add_argument("--work", type=pathlib.Path, default="/tmp/hone-bench-real")
    p.add_argument("--json", help="also write every figure here")
    args = p.parse_args()
    args.modes = args.modes.split(",")
    args.cores = {int(c) for c in args.cores.split(",")}
    args.model, args.work, args.hone = args.model.absolute(), args.work.absolute(), os.path.abspath(args.hone)
    if unknown := set(args.modes) - set(PEERS):
        p.error(f"unknown: {', '.join(unknown)}; one of {', '.join(PEERS)}")
    if args.steps <= args.warmup:
        p.error("--steps must exceed --warmup")
    return args


def main():
    args = parse()
    if os.getloadavg()[0] > 0.5:
        print(f"warning: this machine is busy (load {os.getloadavg()[0]:.1f}); its speeds will not be worth much", file=sys.stderr)
    args.work.mkdir(parents=True, exist_ok=True)
    rows, results = make_rows(args), {}
    for round in range(args.rounds):
        for mode in args.modes:
            for name, run in [(f"hone {mode}", lambda: run_hone(args, rows, mode)),
                              *((f"torch {p}", lambda p=p: run_torch(args, rows, p)) for p in PEERS[mode])]:
                results.setdefault(name, []).append(r := run())
                print(f"round {round + 1} {name}: {args.length / statistics.median(r['seconds'][args.warmup:]):.1f} tokens/s, "
                      f"peak {r['peak'] / 1e9:.2f} GB, loss {r['loss'][0]:.4f} to {r['loss'][-1]:.4f}", flush=True)
                if len(r["loss"]) != args.steps:
                    sys.exit(f"{name} did {len(r['loss'])} steps of {args.steps}")
                if args.json:
                    pathlib.Path(args.json).write_text(json.dumps(results, indent=1))
    report(args, results)


if __name__ == "__main__":
    main()
