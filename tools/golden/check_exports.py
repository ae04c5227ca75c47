#!/usr/bin/env python3
"""Train each model of tests/data/models with hone and load what it writes with transformers.

    python tools/golden/check_exports.py build/hone WORK [VARIANT ...]

Three steps on rows of the model's own golden input; then transformers must load the directory with no key missing, unexpected or
of another shape, and its f32 logits must be those that `hone forward` gives for it. Both spellings of config.json are tried. A line
per variant; the exit code is 1 if any failed.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import safetensors.torch
import torch
import transformers
from transformers import AutoModelForCausalLM

import models as M

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data/models"
OPTIONS = dict(stage="sft", finetuning_type="full", per_device_train_batch_size=2, max_steps=3, learning_rate=1e-3,
               lr_scheduler_type="constant", save_strategy="no")


def prepare(work, variant, spelling):
    model = work / "model"
    shutil.rmtree(work, ignore_errors=True)
    model.mkdir(parents=True)
    for name in ("model.safetensors", "generation_config.json"):
        shutil.copy(DATA / variant / name, model / name)
    shutil.copy(DATA / variant / ("config.json" if spelling == 5 else "config.v4.json"), model / "config.json")
    inputs = safetensors.torch.load_file(DATA / variant / "input.safetensors")
    samples = [(inputs[f"tokens.{k}"], inputs[f"labels.{k}"]) for k in range(len(inputs) // 2)]
    rows = [json.dumps({"input_ids": t.tolist(), "labels": l.tolist()}) for t, l in samples if len(t) > 1]
    (work / "rows.jsonl").write_text("\n".join(rows) + "\n")
    options = OPTIONS | dict(model_name_or_path=str(model), dataset=str(work / "rows.jsonl"), output_dir=str(work / "out"))
    (work / "config.yaml").write_text(json.dumps(options) + "\n")
    return samples


def hone(*args):
    p = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f"exit {p.returncode}: {p.stderr.strip().splitlines()[0]}")


def check(program, work, variant, spelling):
    samples = prepare(work, variant, spelling)
    hone(program, "train", work / "config.yaml")
    model, info = AutoModelForCausalLM.from_pretrained(work / "out", dtype=torch.float32, attn_implementation="eager",
                                                       output_loading_info=True)
    wrong = {k: sorted(v) for k, v in info.items() if v and k in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs")}
    if wrong:
        raise RuntimeError(f"transformers: {wrong}")
    before = safetensors.torch.load_file(DATA / variant / "model.safetensors")
    after = safetensors.torch.load_file(work / "out/model.safetensors")
    if list(before) != list(after) or any(before[k].dtype != after[k].dtype for k in before):
        raise RuntimeError("names or dtypes differ from what was read")
    hone(program, "forward", work / "out", "--input", DATA / variant / "input.safetensors", "--output", work / "logits",
         "--dtype", "f32")
    got = safetensors.torch.load_file(work / "logits")
    with torch.no_grad():
        want = [M.forward(model.eval(), tokens) for tokens, _ in samples]
    std = float(torch.cat([w.flatten() for w in want]).std())
    return max(float((got[f"logits.{k}"] - w).abs().max()) for k, w in enumerate(want)) / std


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    variants = sys.argv[3:] or sorted(d.name for d in DATA.iterdir())
    failed = 0
    for variant in variants:
        try:
            apart = max(check(program, work, variant, spelling) for spelling in (5, 4))
            failed += not apart < 1e-4
            print(f"{'' if apart < 1e-4 else 'BAD '}{variant}: loaded, logits within {apart:.1e} of their standard deviation", flush=True)
        except Exception as e:
            failed += 1
            print(f"BAD {variant}: {type(e).__name__} {e}", flush=True)
    print(f"{len(variants) - failed} of {len(variants)} exports load with no missing or unexpected key")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
