#!/usr/bin/env python3
"""Make what bench/train.py trains: model directories with random weights in f32, and rows of token ids.

    python bench/train_setup.py WORK SHAPE

WORK/SHAPE/model is the model directory, WORK/SHAPE/rows.jsonl holds rows {"input_ids": [512 ids]}. For gpt2 also
WORK/gpt2/llm.c, the files that llm.c's train_gpt2 expects in its working directory.
"""
import json
import pathlib
import struct
import sys

import numpy as np

SEED = 1
ROWS, LENGTH = 128, 512
SHAPES = {
    "qwen3-10m": dict(model_type="qwen3", num_hidden_layers=6, hidden_size=256, intermediate_size=768,
                      num_attention_heads=8, num_key_value_heads=4, head_dim=32, vocab_size=8192,
                      max_position_embeddings=2048, tie_word_embeddings=False),
    # No dropout, so that llm.c, which has none, does the same work.
    "gpt2": dict(model_type="gpt2", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0),
    "qwen2-0.5b": dict(model_type="qwen2", num_hidden_layers=24, hidden_size=896, intermediate_size=4864,
                       num_attention_heads=14, num_key_value_heads=2, vocab_size=151936,
                       max_position_embeddings=32768, tie_word_embeddings=True),
}


def make_model(dir, shape):
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(SEED)
    config = AutoConfig.for_model(**SHAPES[shape])
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.save_pretrained(dir)
    return model


def make_rows(path, vocab):
    rows = np.random.default_rng(SEED).integers(0, vocab, (ROWS, LENGTH))
    path.write_text("".join(json.dumps({"input_ids": row.tolist()}) + "\n" for row in rows))
    return rows


def make_llmc(dir, model, rows):
    """llm.c's checkpoint (version 3: 256 ints, then each kind of weight for all layers, matrices as [out, in], the
    vocabulary padded to a multiple of 128) and token files (256 ints, then uint16)."""
    data = dir / "dev/data/tinyshakespeare"
    data.mkdir(parents=True)
    c, w = model.config, {k: v.detach().numpy() for k, v in model.transformer.state_dict().items()}
    padded = (c.vocab_size + 127) // 128 * 128

    def layers(name, matrix=False):
        for i in range(c.n_layer):
            t = w[f"h.{i}.{name}"]
            yield t.T if matrix else t

    parts = [np.pad(w["wte.weight"], ((0, padded - c.vocab_size), (0, 0))), w["wpe.weight"]]
    for block, matrix in (("ln_1", False), ("attn.c_attn", True), ("attn.c_proj", True), ("ln_2", False),
                          ("mlp.c_fc", True), ("mlp.c_proj", True)):
        parts += layers(block + ".weight", matrix)
        parts += layers(block + ".bias")
    parts += [w["ln_f.weight"], w["ln_f.bias"]]
    with open(dir / "gpt2_124M.bin", "wb") as f:
        header = [20240326, 3, c.n_positions, c.vocab_size, c.n_layer, c.n_head, c.n_embd, padded]
        f.write(struct.pack("256i", *header, *[0] * (256 - len(header))))
        for part in parts:
            f.write(np.ascontiguousarray(part, dtype=np.float32).tobytes())
    for name in ("train", "val"):
        with open(data / f"tiny_shakespeare_{name}.bin", "wb") as f:
            f.write(struct.pack("256i", 20240520, 1, rows.size, *[0] * 253))
            f.write(rows.astype(np.uint16).tobytes())


def setup(work, shape):
    """Do what is not yet done."""
    dir = pathlib.Path(work) / shape
    if (dir / "done").exists():
        return dir
    dir.mkdir(parents=True, exist_ok=True)
    model = make_model(dir / "model", shape)
    rows = make_rows(dir / "rows.jsonl", model.config.vocab_size)
    if shape == "gpt2":
        make_llmc(dir / "llm.c", model, rows)
    (dir / "parameters").write_text(str(sum(p.numel() for p in model.parameters())))
    (dir / "done").touch()
    return dir


if __name__ == "__main__":
    setup(sys.argv[1], sys.argv[2])
