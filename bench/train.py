#!/usr/bin/env python3
"""What bench/train.sh runs; its head says how."""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import sys

import measure
import train_setup

BATCH = 2
TOKENS = BATCH * train_setup.LENGTH
PEERS = {"f32": ["f32"], "bf16": ["bf16", "autocast"]}     # what each mode of hone is compared with
CONFIG = """\
model_name_or_path: {dir}/model
stage: sft
finetuning_type: full
dataset: {dir}/rows.jsonl
cutoff_len: {length}
disable_shuffling: true
per_device_train_batch_size: {batch}
gradient_accumulation_steps: 1
max_steps: {steps}
learning_rate: 1.0e-4
lr_scheduler_type: constant
max_grad_norm: 1.0
bf16: {bf16}
disable_gradient_checkpointing: true
output_dir: {out}
overwrite_output_dir: true
save_strategy: "no"
logging_steps: 1
threads: {threads}
"""


def run_hone(args, dir, mode):
    out, config = dir / "out", dir / "config.yaml"
    shutil.rmtree(out, ignore_errors=True)
    config.write_text(CONFIG.format(dir=dir, out=out, length=train_setup.LENGTH, batch=BATCH, steps=args.steps,
                                    bf16=str(mode == "bf16").lower(), threads=len(args.cores)))
    _, _, peak = measure.run([args.hone, "train", config], args.cores)
    steps = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    if len(steps) != args.steps or any(s["tokens"] not in (TOKENS, TOKENS * s["step"]) for s in steps):
        sys.exit(f"hone did not do {args.steps} steps of {TOKENS} tokens: see {out}/metrics.jsonl")
    shutil.rmtree(out)
    return {"tokens_per_second": statistics.median(s["tokens_per_second"] for s in steps[args.warmup:]),
            "peak_bytes": peak, "loss": [s["loss"] for s in steps]}


def run_torch(args, dir, mode):
    peer = pathlib.Path(__file__).with_name("peer_transformers.py")
    text, _, _ = measure.run([sys.executable, peer, "--model", dir / "model", "--data", dir / "rows.jsonl", "--mode", mode,
                              "--steps", str(args.steps), "--warmup", str(args.warmup), "--batch", str(BATCH)], args.cores)
    return {**json.loads(text.splitlines()[-1]), "loss": [float(x) for x in re.findall(r"^step \d+ loss (\S+)", text, re.M)]}


def run_llmc(args, dir):
    seen = []

    def enough(line):
        m = re.match(r"step \d+: train loss (\S+) \(took (\S+) ms\)", line)
        if m:
            seen.append((float(m[1]), float(m[2])))
        return len(seen) == args.steps

    # stdbuf: its lines would otherwise come when it ends.
    _, _, peak = measure.run(["stdbuf", "-oL", args.llmc], args.cores, cwd=dir / "llm.c", stop_at=enough)
    median = statistics.median(ms for _, ms in seen[args.warmup:])
    return {"tokens_per_second": TOKENS / median * 1000, "peak_bytes": peak, "loss": [loss for loss, _ in seen]}


def contenders(args, shape):
    """(name, function) in the order in which they run."""
    out = []
    for mode in args.modes:
        out.append((f"hone {mode}", lambda dir, m=mode: run_hone(args, dir, m)))
        out += [(f"torch {m}", lambda dir, m=m: run_torch(args, dir, m)) for m in PEERS[mode]]
    if args.llmc and shape == "gpt2" and "f32" in args.modes:
        out.append(("llm.c f32", lambda dir: run_llmc(args, dir)))
    return out


def summary(shape, results, parameters):
    """Medians over rounds, the spread of the speeds, and the ratios that are promised."""
    speed = {k: statistics.median(r["tokens_per_second"] for r in v) for k, v in results.items()}
    peak = {k: max(r["peak_bytes"] for r in v) for k, v in results.items()}
    print(f"\n{shape}: {parameters / 1e6:.1f} M parameters, {TOKENS} tokens a step")
    print("| | tokens/s | lowest to highest | peak GB | of which fixed state |\n|---|---|---|---|---|")
    for k, v in results.items():
        each = [r["tokens_per_second"] for r in v]
        print(f"| {k} | {speed[k]:.0f} | {min(each):.0f} to {max(each):.0f} | {peak[k] / 1e9:.2f} | "
              f"{fixed_bytes(k) * parameters / 1e9:.2f} |")

    if "torch f32" in results:
        start = statistics.median(r["start_bytes"] for r in results["torch f32"])
        print(f"(of PyTorch's peak, {start / 1e9:.2f} GB are there before the model is loaded)")

    def beyond(k):
        return peak[k] - fixed_bytes(k) * parameters

    if "hone f32" in speed:
        print(f"f32: {speed['hone f32'] / speed['torch f32']:.2f} times PyTorch's speed; memory beyond the fixed state "
              f"{beyond('hone f32') / beyond('torch f32'):.2f} of PyTorch's")
        if "llm.c f32" in speed:
            print(f"f32: {speed['hone f32'] / speed['llm.c f32']:.1f} times llm.c's speed")
    if "hone bf16" in speed:
        best = max(speed["torch bf16"], speed["torch autocast"])
        print(f"bf16: {speed['hone bf16'] / best:.2f} times the better of PyTorch's two; memory beyond the fixed state "
              f"{beyond('hone bf16') / beyond('torch autocast'):.2f} of PyTorch's with autocast")
    sys.stdout.flush()


def fixed_bytes(contender):
    """Bytes a parameter that no implementation can avoid: weights, gradients and two moments in f32; hone's bf16 adds a
    compute copy; pure bf16 has 8."""
    return {"hone bf16": 18, "torch bf16": 8}.get(contender, 16)


def parse():
    p = argparse.ArgumentParser(description="see the head of bench/train.sh")
    p.add_argument("--shapes", default=",".join(train_setup.SHAPES))
    p.add_argument("--modes", default="f32,bf16")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=6)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--cores", default="0,1")
    p.add_argument("--hone", default=str(pathlib.Path(__file__).parent.parent / "build/hone"))
    p.add_argument("--llmc", help="path of llm.c's train_gpt2, built as bench/train.sh says")
    p.add_argument("--work", default="/tmp/hone-bench")
    p.add_argument("--json", help="also write every figure here")
    args = p.parse_args()
    args.shapes, args.modes = args.shapes.split(","), args.modes.split(",")
    args.cores = {int(c) for c in args.cores.split(",")}
    args.hone = os.path.abspath(args.hone)
    args.llmc = args.llmc and os.path.abspath(args.llmc)
    for value, known in ((args.shapes, train_setup.SHAPES), (args.modes, PEERS)):
        if unknown := set(value) - set(known):
            p.error(f"unknown: {', '.join(unknown)}; one of {', '.join(known)}")
    if args.steps <= args.warmup:
        p.error("--steps must exceed --warmup")
    return args


def main():
    args = parse()
    if os.getloadavg()[0] > 0.5:
        print("warning: this machine is busy; the figures will not be worth much, PyTorch's least of all", file=sys.stderr)
    everything = {}
    for shape in args.shapes:
        dir = train_setup.setup(args.work, shape).absolute()
        results = {}
        for round in range(args.rounds):
            for name, run in contenders(args, shape):
                r = run(dir)
                results.setdefault(name, []).append(r)
                print(f"{shape} round {round + 1} {name}: {r['tokens_per_second']:.0f} tokens/s, peak {r['peak_bytes'] / 1e9:.2f} GB, "
                      f"loss {r['loss'][0]:.4f} to {r['loss'][-1]:.4f}", flush=True)
        everything[shape] = results
        summary(shape, results, int((dir / "parameters").read_text()))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
