"""What bench/prepare.sh runs; see there."""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def text(rng, words, n):
    """Phrases of the documentation, n words in all."""
    out = []
    while len(out) < n:
        at, length = rng.randrange(len(words) - 30), rng.randint(3, 25)
        out += words[at : at + length]
    return " ".join(out[:n]) + rng.choice([".", "?", "!\n", ":\n- 42\n", " (3.14)."])


def make_chats(path, size):
    """Conversations of one to four rounds, a kilobyte or so each, up to `size` bytes."""
    rng = random.Random(1)
    words = " ".join(f.read_text(encoding="utf-8") for f in sorted((ROOT / "docs").glob("*.md"))).split()
    pool = [text(rng, words, rng.randint(5, 120)) for _ in range(20000)]
    written = 0
    with open(path, "w", encoding="utf-8") as f:
        while written < size:
            messages = []
            if rng.random() < 0.3:
                messages.append({"role": "system", "content": rng.choice(pool)})
            for _ in range(rng.randint(1, 4)):
                messages.append({"role": "user", "content": rng.choice(pool)})
                messages.append({"role": "assistant", "content": rng.choice(pool)})
            written += f.write(json.dumps({"messages": messages}) + "\n")


def measure(command):
    """Seconds and the peak of resident memory in megabytes."""
    start = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command}: {log}")
    return time.monotonic() - start, usage.ru_maxrss / 1000, log


def time_to_plan(command):
    """Seconds from the start of the process until it has planned its first step, which it says."""
    start = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = ""
    for line in process.stderr:
        log += line
        if " an epoch, " in line:
            seconds = time.monotonic() - start
            process.kill()
            process.wait()
            return seconds
    raise SystemExit(f"{command} planned no step: {log}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=float, default=1.0)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--model", default=str(ROOT / "examples/demo/model"))
    p.add_argument("--hone", default=str(ROOT / "build/hone"))
    p.add_argument("--work", default="/tmp/hone-bench")
    a = p.parse_args()
    work = Path(a.work)
    work.mkdir(parents=True, exist_ok=True)
    data, ready, out = work / f"chats-{a.size}.jsonl", work / "prepared", work / "prepare-run"
    if not data.exists():
        make_chats(data, a.size * 1e9)
    options = [f"model_name_or_path={a.model}", "stage=sft", "finetuning_type=full", f"dataset={data}", "max_steps=1",
               f"tokenized_path={ready}", f"output_dir={out}", f"threads={a.threads}", "per_device_train_batch_size=1"]
    seconds, memory = [], []
    for _ in range(a.rounds):
        shutil.rmtree(ready, ignore_errors=True)
        s, m, log = measure([a.hone, "prepare", *options])
        seconds.append(s)
        memory.append(m)
    print(log)
    mb = data.stat().st_size / 1e6
    print(f"prepare: {mb:.0f} MB in {statistics.median(seconds):.1f} s, {mb / statistics.median(seconds):.1f} MB/s; "
          f"peak memory {max(memory):.0f} MB")
    size = sum(f.stat().st_size for f in ready.iterdir()) / 1e6
    print(f"prepared folder: {size:.0f} MB")
    starts = []
    for _ in range(a.rounds):
        shutil.rmtree(out, ignore_errors=True)
        starts.append(time_to_plan([a.hone, "train", *options]))
    shutil.rmtree(out, ignore_errors=True)
    print(f"start of a run to its first plan: {statistics.median(starts):.2f} s (of {[round(s, 2) for s in starts]})")


if __name__ == "__main__":
    main()
