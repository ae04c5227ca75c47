"""What transformers makes of config.json files: tests/data/configs/expected.json.

    python3 tools/golden/configs.py tests/data/configs

tests/data/configs/<name>.json hold the keys and values of config.json files as they are published. Beside them stands, for each
family, a config that holds little more than model_type, which shows what its class takes for absent keys. Each is read by
transformers' own classes, its model is built without storage, and what the model then is (sizes, biases, norms, windows, rotary
frequencies, scales) is written down under the names of tests/support/decoder_json.c.
"""

import contextlib
import inspect
import io
import json
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.simplefilter("ignore")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

FAMILIES = """apertus arcee cohere cohere2 ernie4_5 exaone4 gemma gemma2 gemma3_text glm glm4 gpt2 gpt_neox granite helium
hunyuan_v1_dense llama ministral ministral3 mistral nanochat nemotron olmo olmo2 olmo3 phi phi3 qwen2 qwen3 seed_oss smollm3 stablelm
starcoder2""".split()
NEEDED = {"ministral": {"head_dim": 128}, "hunyuan_v1_dense": {"head_dim": 128},
          "nemotron": {"num_key_value_heads": 8}}       # without it no model can be built
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
ODD = [     # what is easily read otherwise
    {"model_type": "apertus", "original_max_position_embeddings": 4096},
    {"model_type": "apertus", "rope_theta": 10000.0},
    {"model_type": "glm", "partial_rotary_factor": None},
    {"model_type": "llama", "num_key_value_heads": None, "head_dim": None, "rope_scaling": {}, "rope_parameters": None},
    {"model_type": "llama", "original_max_position_embeddings": 512, "rope_scaling": YARN},
    {"model_type": "llama", "rope_theta": 5000.0, "rope_parameters": {"type": "yarn", "rope_theta": 20000.0, **YARN, "truncate": False}},
    {"model_type": "olmo3", "rope_theta": 10000.0, "rope_scaling": YARN},
    {"model_type": "olmo3", "rope_parameters": {"full_attention": {**YARN, "truncate": False}, "sliding_attention": None}},
    {"model_type": "gemma3_text", "sliding_window_pattern": 3, "rope_theta": 5e5, "rope_local_base_freq": 2e4},
    {"model_type": "gemma3_text", "_sliding_window_pattern": 3},
    {"model_type": "gemma2", "attn_logit_softcapping": None, "final_logit_softcapping": None},
    {"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 5},
    {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": None},
    {"model_type": "smollm3", "use_sliding_window": True, "sliding_window": 512, "no_rope_layer_interval": 3},
    {"model_type": "cohere2", "sliding_window_pattern": 2, "head_dim": 64},
    {"model_type": "ministral", "head_dim": 128, "sliding_window": None},
    {"model_type": "gemma", "hidden_act": "gelu"},
    {"model_type": "ernie4_5", "attention_dropout": 0.5},
    {"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True},
    {"model_type": "nanochat", "final_logit_softcapping": None},
]
ALL_SLIDE = {"mistral", "phi3", "starcoder2"}
BY_TYPE = {"ministral", "qwen2", "qwen3", "gemma2", "gemma3_text", "cohere2", "exaone4", "olmo3", "smollm3"}
PROBE = torch.tensor([-1.7, -0.4, 0.3, 2.1])
ACTS = {
    "silu": nn.functional.silu(PROBE),
    "gelu": nn.functional.gelu(PROBE),
    "gelu tanh": nn.functional.gelu(PROBE, approximate="tanh"),
    "relu": nn.functional.relu(PROBE),
    "relu2": nn.functional.relu(PROBE) ** 2,
}


def child(module, *names):
    """The first of these attributes that the module has."""
    for name in names:
        if getattr(module, name, None) is not None:
            return getattr(module, name)
    return None


def runs(values):
    out = []
    for v in values:
        if out and out[-2] == v:
            out[-1] += 1
        else:
            out += [v, 1]
    return out


def is_norm(module):
    return "Norm" in type(module).__name__


def norm_facts(norm):
    """kind, eps, bias, weight, offset"""
    name = type(norm).__name__
    eps = child(norm, "eps", "variance_epsilon")
    if eps is None:
        assert name == "OlmoLayerNorm" and "eps=1e-05" in inspect.getsource(type(norm)).replace("1e-5", "1e-05")
        eps = 1e-5
    return ("layer" if "LayerNorm" in name else "rms", eps, float(getattr(norm, "bias", None) is not None),
            float(getattr(norm, "weight", None) is not None), float(name.startswith("Gemma") or name.endswith("1P")))


def describe_act(mlp):
    act = child(mlp, "act_fn", "activation_fn", "act")
    if "XIELU" in type(act).__name__:
        return "xielu"
    with torch.device("cpu"):
        y = act(PROBE)
    return next(name for name, want in ACTS.items() if torch.allclose(y, want, atol=1e-6))


def rope_facts(model, layer_type, positions):
    """The frequencies and the factor for a short sample and for a long one, each from a fresh module."""
    out = []
    rotary = type(model.base_model.rotary_emb)
    for length in (8, 2 * positions):
        with torch.device("cpu"):
            module = rotary(model.config)
            # a sample is as long as its last position says
            args = (torch.zeros(1, 1, 1), torch.tensor([[length - 1]]))
            module(*args, **({"layer_type": layer_type} if layer_type else {}))
            freq = getattr(module, f"{layer_type}_inv_freq" if layer_type else "inv_freq")
            factor = getattr(module, f"{layer_type}_attention_scaling" if layer_type else "attention_scaling")
        n = len(freq)
        out.append([2 * n, float(factor)] + [float(freq[i]) for i in (0, n // 3, n // 2, n - 1)])
    return out


def rope_pairs(model):
    rotate = sys.modules[type(model).__module__].rotate_half
    y = rotate(torch.tensor([1.0, 2.0, 3.0, 4.0])).tolist()
    return {(-3, -4, 1, 2): "half", (-2, 1, -4, 3): "interleaved", (3, 4, -1, -2): "reversed"}[tuple(y)]


def describe_attention(out, model, layer, family):
    c = model.config
    a = child(layer, "self_attn", "attention", "attn")
    q = child(a, "q_proj", "qkv_proj", "query_key_value", "c_attn")
    o = child(a, "o_proj", "dense", "c_proj")
    head_dim = child(a, "head_dim", "head_size") or c.hidden_size // c.num_attention_heads
    heads = o.weight.shape[1] // head_dim
    split = hasattr(a, "q_proj")
    out["heads"] = heads
    out["kv heads"] = (a.k_proj.weight.shape[0] // head_dim if split else
                       heads if family in ("gpt2", "gpt_neox") else (q.weight.shape[0] // head_dim - heads) // 2)
    out["head dim"] = head_dim
    out["qkv"] = "split" if split else "fused by head" if family == "gpt_neox" else "fused"
    out["qkv bias"] = q.bias is not None
    out["out bias"] = o.bias is not None
    norm = child(a, "q_norm", "q_layernorm", "query_layernorm")
    if norm is None:
        out["qk norm"] = ""
    else:
        one = norm.norms[0] if hasattr(norm, "norms") else norm
        kind, eps, bias, weight, offset = norm_facts(one)
        w = getattr(one, "weight", None)
        out["qk norm"] = ("each head" if hasattr(norm, "norms") or (weight and w.dim() == 2) else
                          "whole" if weight and w.numel() == heads * head_dim and w.numel() != head_dim else "head")
        out["qk norm kind"], out["qk norm eps"], out["qk norm bias"] = kind, eps, bias
        out["qk norm weight"], out["qk norm offset"] = weight, offset
        source = inspect.getsource(type(a).forward)
        name = next(n for n in ("q_norm(", "q_layernorm(", "query_layernorm(") if n in source)
        out["qk norm after rope"] = source.index(name) > source.index("apply_rotary_pos_emb")
    out["clip"] = (getattr(c, "clip_qkv", None) or 0) if family == "olmo" else 0
    out["scores cap"] = (a.attn_logit_softcapping or 0) if family == "gemma2" else 0
    dropout = a.attn_dropout.p if family == "gpt2" else a.attention_dropout
    out["attention dropout"] = dropout


def describe_layers(out, model, family):
    c = model.config
    layers = child(model.base_model, "layers", "h")
    attention = [child(layer, "self_attn", "attention", "attn") for layer in layers]
    types = list(c.layer_types) if family in BY_TYPE else ["full_attention"] * len(layers)
    window = getattr(c, "sliding_window", None) or 0
    slides = [family in ALL_SLIDE or t == "sliding_attention" for t in types]
    out["windows"] = runs([window if s else 0 for s in slides])
    if family == "gpt2":
        out["ropes"] = runs([-1] * len(layers))
    elif family in ("gemma3_text", "olmo3"):
        out["ropes"] = runs([int(s) for s in slides])
    elif family == "smollm3":
        out["ropes"] = runs([0 if r else -1 for r in c.no_rope_layers])
    elif family == "cohere2":
        out["ropes"] = runs([0 if a.sliding_window is not None else -1 for a in attention])
    elif family == "exaone4":
        out["ropes"] = runs([0 if a.sliding_window is None or a.is_sliding else -1 for a in attention])
    else:
        out["ropes"] = runs([0] * len(layers))
    out["scales"] = runs([getattr(a, "scaling", None) or gpt2_scale(a) for a in attention])
    nested = family in ("gemma3_text", "olmo3")
    for i, layer_type in enumerate(["full_attention", "sliding_attention"]):
        used = i in out["ropes"][::2]
        out[f"rope {i}"] = rope_facts(model, layer_type if nested else None, c.max_position_embeddings) if used else None
    out["rope pairs"] = rope_pairs(model) if out["rope 0"] else ""


def gpt2_scale(a):
    scale = a.head_dim ** -0.5 if a.scale_attn_weights else 1.0
    return scale / (a.layer_idx + 1) if a.scale_attn_by_inverse_layer_idx else scale


def describe_blocks(out, model, layer, family):
    c = model.config
    norms = [n for n, m in layer.named_children() if is_norm(m)]
    attention_in, attention_out, mlp_in, mlp_out = "", "", "", ""
    order = ["input_layernorm", "attention_layernorm", "ln_1"]
    attention_in = next((n for n in order if n in norms), "")
    after = "pre_feedforward_layernorm" in norms or attention_in == ""
    attention_out = "post_self_attn_layernorm" if "post_self_attn_layernorm" in norms else "post_attention_layernorm" if after else ""
    mlp_in = ("pre_feedforward_layernorm" if "pre_feedforward_layernorm" in norms else
              "" if after else next((n for n in ("post_attention_layernorm", "feedforward_layernorm", "ln_2") if n in norms), ""))
    mlp_out = next((n for n in ("post_feedforward_layernorm", "post_mlp_layernorm") if n in norms), "")
    assert sorted(norms) == sorted(n for n in (attention_in, attention_out, mlp_in, mlp_out) if n), norms
    out["norms"] = [attention_in, attention_out, mlp_in, mlp_out]
    out["parallel"] = mlp_in == "" and attention_in != "" or family == "gpt_neox" and c.use_parallel_residual

    m = layer.mlp
    up = child(m, "gate_up_proj", "up_proj", "fc1", "c_fc", "dense_h_to_4h")
    out["act"] = describe_act(m)
    out["mlp"] = "gated" if hasattr(m, "gate_proj") else "gated fused" if hasattr(m, "gate_up_proj") else "plain"
    width = up.weight.shape[1 if family == "gpt2" else 0]
    out["intermediate"] = width // 2 if out["mlp"] == "gated fused" else width
    out["mlp bias"] = up.bias is not None


def describe_rest(out, model, layer, family):
    c, base = model.config, model.base_model
    final = child(base, "norm", "final_layernorm", "final_layer_norm", "ln_f")
    first = next(m for m in layer.children() if is_norm(m))
    assert norm_facts(final) == norm_facts(first)
    out["norm kind"], out["norm eps"], out["norm bias"], out["norm weight"], out["norm offset"] = norm_facts(final)
    out["norm on embeddings"] = family == "nanochat"
    table = child(base, "embed_tokens", "embed_in", "wte")
    out["vocab"], out["hidden"] = table.weight.shape
    out["layers"] = len(child(base, "layers", "h"))
    out["positions"] = c.max_position_embeddings
    out["embedding scale"] = getattr(table, "scalar_embed_scale", None) or getattr(base, "embedding_multiplier", 1)
    out["residual scale"] = getattr(layer, "residual_multiplier", 1)
    out["logit scale"] = c.logit_scale if family in ("cohere", "cohere2") else 1 / c.logits_scaling if family == "granite" else 1
    out["logit cap"] = (c.final_logit_softcapping or 0) if family in ("gemma2", "gemma3_text", "nanochat") else 0
    out["tied"] = c.tie_word_embeddings
    out["head bias"] = model.lm_head.bias is not None

    attention = child(layer, "self_attn", "attention", "attn")
    drops = {
        "phi": lambda: (base.embed_dropout.p, layer.resid_dropout.p, layer.resid_dropout.p),
        "phi3": lambda: (0, layer.resid_attn_dropout.p, layer.resid_mlp_dropout.p),
        "gpt_neox": lambda: (base.emb_dropout.p, layer.post_attention_dropout.p, layer.post_mlp_dropout.p),
        "gpt2": lambda: (base.drop.p, attention.resid_dropout.p, layer.mlp.dropout.p),
        "stablelm": lambda: (0, 0, layer.dropout.p),
        "starcoder2": lambda: (base.embedding_dropout, attention.residual_dropout, layer.mlp.residual_dropout),
        "seed_oss": lambda: (0, attention.residual_dropout, layer.mlp.residual_dropout),
    }.get(family, lambda: (0, 0, 0))()
    out["embedding dropout"], out["attention out dropout"], out["mlp out dropout"] = drops


def describe(config):
    """config: a dict as config.json has it."""
    family = config["model_type"]
    config = json.loads(json.dumps(config))         # the classes keep and change what they are given
    with contextlib.redirect_stderr(io.StringIO()):
        c = CONFIG_MAPPING[family].from_dict(config)
        c.dtype = torch.float32
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(c)
        out = {}
        layer = child(model.base_model, "layers", "h")[0]
        describe_attention(out, model, layer, family)
        describe_layers(out, model, family)
        describe_blocks(out, model, layer, family)
        describe_rest(out, model, layer, family)
    return {k: float(v) if isinstance(v, (bool, int)) else v for k, v in out.items()}


def main():
    folder = Path(sys.argv[1])
    lines = []
    for path in sorted(folder.glob("*.json")):
        if path.stem != "expected":
            print(path.name)
            lines.append(f"{json.dumps(path.stem)}: {json.dumps(describe(json.loads(path.read_text())))}")
    short = []
    for config in [{"model_type": family, **NEEDED.get(family, {})} for family in FAMILIES] + ODD:
        print(config)
        short.append(json.dumps({"config": config, "expected": describe(config)}))
    text = '{"files": {\n%s\n}, "short": [\n%s\n]}\n' % (",\n".join(lines), ",\n".join(short))
    (folder / "expected.json").write_text(text)


if __name__ == "__main__":
    main()
