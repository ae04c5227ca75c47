"""Learning rates of transformers' schedules, for tests/unit/schedule.c: one JSON object per schedule and settings."""
import json
import sys

import torch
from transformers import get_scheduler

CASES = [
    ("linear", {}), ("cosine", {}), ("cosine", {"num_cycles": 1.25}), ("constant", {}), ("constant_with_warmup", {}),
    ("cosine_with_restarts", {}), ("cosine_with_restarts", {"num_cycles": 3}), ("polynomial", {}),
    ("polynomial", {"lr_end": 1e-5, "power": 2.0}), ("inverse_sqrt", {}), ("inverse_sqrt", {"timescale": 25}),
    ("cosine_with_min_lr", {"min_lr": 1e-5}), ("cosine_with_min_lr", {"min_lr_rate": 0.1, "num_cycles": 0.5}),
    # LLaMA-Factory fills in the steps that the user leaves out: a third of the rest is stable
    ("warmup_stable_decay", {}), ("warmup_stable_decay", {"num_stable_steps": 20, "num_decay_steps": 30, "min_lr_ratio": 0.1,
                                                          "warmup_type": "cosine", "decay_type": "1-sqrt"}),
    ("warmup_stable_decay", {"num_decay_steps": 40, "warmup_type": "1-sqrt", "decay_type": "linear"}),
]
TOTAL, PEAK = 100, 3e-4

for name, kwargs in CASES:
    for warmup in (0, 10):
        full = dict(kwargs)
        if name == "warmup_stable_decay":
            stable = (TOTAL - warmup) // 3
            full = {"num_stable_steps": stable, "num_decay_steps": TOTAL - warmup - stable, **kwargs}
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
        schedule = get_scheduler(name, optimizer, num_warmup_steps=warmup, num_training_steps=TOTAL,
                                 scheduler_specific_kwargs=full or None)
        rates = []
        for step in range(TOTAL):
            rates.append(schedule.get_last_lr()[0])
            optimizer.step()
            schedule.step()
        json.dump({"type": name, "kwargs": kwargs, "warmup": warmup, "total": TOTAL, "peak": PEAK, "rates": rates}, sys.stdout)
        print()
