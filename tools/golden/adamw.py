"""Twenty steps of PyTorch's fused AdamW on a few f32 weights, as C arrays: tests/data/op/adamw.inc. Run: python3 tools/golden/adamw.py > FILE"""
import torch

N, STEPS, SCALE = 16, 20, 0.5  # N: whole vectors, since PyTorch rounds the rest in another way
torch.manual_seed(1)
w = torch.nn.Parameter(torch.randn(N) * torch.logspace(-4, 1, N))
grads = torch.randn(STEPS, N) * torch.logspace(1, -6, N)
grads[3] = 0


def table(name, t):
    rows = ",\n".join("    { " + ", ".join(float(v).hex() + "f" for v in row) + " }" for row in t)
    print(f"static const float {name}[][{N}] = {{\n{rows}\n}};")


print(f"/* Made by tools/golden/adamw.py with PyTorch {torch.__version__}. */")
table("WEIGHTS_BEFORE", [w.detach()])
table("GRADIENTS", grads)
opt = torch.optim.AdamW([w], lr=3e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, fused=True)
after = []
for g in grads:
    w.grad = g * SCALE
    opt.step()
    after.append(w.detach().clone())
table("WEIGHTS_AFTER", after)
table("MOMENTS_AFTER", [opt.state[w]["exp_avg"], opt.state[w]["exp_avg_sq"]])
