"""The products of bench/matmul.c by PyTorch, one line each: dtype pass m n k GFLOP/s. One thread is timed by its
processor time, as there. Weight gradients are added to an f32 dw, as training does.

  python bench/matmul_torch.py [threads]
"""
import sys
import time

import torch

SHAPES = [(512, 896, 896), (512, 128, 896), (512, 4864, 896), (512, 896, 4864), (1024, 4864, 896), (1024, 896, 4864),
          (1024, 768, 768), (1024, 2304, 768), (1024, 3072, 768), (1024, 768, 3072), (1024, 256, 256), (1024, 768, 256),
          (256, 8192, 256), (256, 50257, 768)]

threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
torch.set_num_threads(threads)
clock = time.thread_time if threads == 1 else time.perf_counter

for dtype in (torch.float32, torch.bfloat16):
    for name in ("fwd", "bwd", "wgrad"):
        for m, n, k in SHAPES:
            x = torch.rand(m, k).mul_(2).sub_(1).to(dtype)
            w = torch.rand(n, k).mul_(2).sub_(1).to(dtype)
            dy = torch.rand(m, n).mul_(2).sub_(1).to(dtype)
            dw = torch.zeros(n, k)
            run = {"fwd": lambda: torch.nn.functional.linear(x, w), "bwd": lambda: dy @ w,
                   "wgrad": lambda: dw.add_(dy.t() @ x)}[name]
            best, start = 1e30, clock()
            for i in range(200):
                if i >= 3 and clock() - start > 0.4:
                    break
                t = clock()
                run()
                best = min(best, clock() - t)
            print(f"{str(dtype)[6:]:9} {name:6} {m:5} {n:6} {k:5} {2e-9 * m * n * k / best:8.1f} GFLOP/s", flush=True)
