"""The models of tests/data/models: for each variant its family, the arguments of the config class and options.

Options: `lengths` of the samples; `train` and `generate`; `dtype` of the weights in the file; `f64` to store outputs in f64.
`hub_names` (gpt2): names without prefix and with the causal mask buffers, as the hub's gpt2 has them; `buffers`: extra tensors
that old checkpoints carry and nothing reads.
How config.v4.json is spelled: `type_key` for the kind of rope scaling, `type_name` where it had another name; `minimal` leaves out
what equals the class's default; `drop` leaves out keys that transformers derives; `plain_rope` leaves out all rope settings; `v4`
holds keys to set, most of them as the family's files on the hub have them.
"""
import torch

OLD_LENGTHS = [1, 6, 17, 66]


def gpt2(vocab, hidden, heads, layers=2, positions=72, **kw):
    return dict(vocab_size=vocab, n_embd=hidden, n_head=heads, n_layer=layers, n_positions=positions,
                bos_token_id=vocab - 1, eos_token_id=vocab - 1, **kw)


def rotary(vocab, hidden, heads, kv, inter, layers=2, positions=128, **kw):
    """kv None: the family's config has no such key."""
    groups = {} if kv is None else dict(num_key_value_heads=kv)
    return dict(vocab_size=vocab, hidden_size=hidden, num_attention_heads=heads, intermediate_size=inter,
                num_hidden_layers=layers, max_position_embeddings=positions, **groups,
                **(dict(bos_token_id=None, eos_token_id=None, pad_token_id=None) | kw))


def rope(kind, theta=10000.0, **kw):
    return dict(rope_type=kind, rope_theta=theta, **kw)


def yarn(theta=1000.0, factor=4.0, original=12, **kw):
    return rope("yarn", theta, factor=factor, original_max_position_embeddings=original, **kw)


def llama3(theta=20000.0, factor=8.0, low=1.0, high=4.0, original=24, **kw):
    return rope("llama3", theta, factor=factor, low_freq_factor=low, high_freq_factor=high,
                original_max_position_embeddings=original, **kw)


def longrope(dim, theta=10000.0, **kw):
    """Factors for a rotary part of `dim` elements."""
    n = dim // 2
    return rope("longrope", theta, short_factor=[1.0 + 0.15 * i for i in range(n)],
                long_factor=[1.5 + 0.7 * i for i in range(n)], **kw)


S, F = "sliding_attention", "full_attention"

GPT2 = {
    "gpt2-base": ("gpt2", gpt2(97, 24, 3, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0),
                  dict(train=True, v4=dict(n_ctx=72))),
    "gpt2-untied-gelu": ("gpt2", gpt2(131, 27, 3, n_inner=53, activation_function="gelu", tie_word_embeddings=False),
                         dict(generate=True)),
    "gpt2-upcast-relu": ("gpt2", gpt2(101, 20, 5, layers=3, activation_function="relu", reorder_and_upcast_attn=True,
                                      scale_attn_by_inverse_layer_idx=True, layer_norm_epsilon=1e-3), {}),
    "gpt2-unscaled": ("gpt2", gpt2(97, 16, 1, scale_attn_weights=False, n_inner=31),
                      dict(minimal=True, v4=dict(activation_function="gelu_pytorch_tanh"))),
    "gpt2-hub-names": ("gpt2", gpt2(89, 24, 2, positions=40, scale_attn_by_inverse_layer_idx=True),
                       dict(lengths=[1, 2, 19, 40], hub_names=True)),
}
for _, _, options in GPT2.values():
    options |= dict(f64=True, lengths=options.get("lengths", OLD_LENGTHS))

LLAMA = {
    "llama-base": ("llama", rotary(97, 24, 3, 1, 41), dict(train=True, generate=True, minimal=True, lengths=OLD_LENGTHS)),
    "llama-biases-linear": ("llama", rotary(131, 36, 6, 2, 29, attention_bias=True, mlp_bias=True, head_dim=10,
                                            tie_word_embeddings=True, rms_norm_eps=1e-5,
                                            rope_parameters=rope("linear", factor=2.5)),
                            dict(type_key="type", v4=dict(pretraining_tp=1), lengths=OLD_LENGTHS)),
    "llama-llama3": ("llama", rotary(97, 32, 4, 4, 33, positions=256, head_dim=16,
                                     rope_parameters=rope("llama3", 20000.0, factor=8.0, low_freq_factor=1.0,
                                                          high_freq_factor=4.0, original_max_position_embeddings=32)),
                     dict(lengths=OLD_LENGTHS)),
    "llama-dynamic": ("llama", rotary(101, 24, 2, 2, 37, positions=24, mlp_bias=True,
                                      rope_parameters=rope("dynamic", factor=2.0)),
                      dict(type_key="type", lengths=[66, 1, 24, 25, 7])),
    "llama-yarn-full": ("llama", rotary(97, 24, 4, 2, 31, positions=64, head_dim=14, attention_bias=True,
                                        rope_parameters=rope("yarn", 5000.0, factor=4.0, beta_fast=1.5, beta_slow=0.25,
                                                             mscale=0.8, mscale_all_dim=0.3, truncate=False,
                                                             original_max_position_embeddings=16)), dict(lengths=OLD_LENGTHS)),
    "llama-longrope-relu2": ("llama", rotary(61, 16, 2, 1, 23, positions=48, hidden_act="relu2", rope_parameters=longrope(
                                 8, factor=3.0, original_max_position_embeddings=16)), dict(lengths=[40, 1, 16, 17])),
}

QWEN = {
    "qwen2-base": ("qwen2", rotary(97, 28, 2, 1, 43, tie_word_embeddings=True, rope_parameters=rope("default", 1e6)),
                   dict(train=True, v4=dict(use_sliding_window=False, sliding_window=4, max_window_layers=1),
                        lengths=OLD_LENGTHS)),
    "qwen2-window": ("qwen2", rotary(131, 20, 2, 2, 27, layers=3, use_sliding_window=True, sliding_window=5,
                                     max_window_layers=1),
                     dict(minimal=True, drop=["layer_types"], generate=True, lengths=OLD_LENGTHS)),
    "qwen2-yarn-bf16": ("qwen2", rotary(97, 24, 2, 1, 35, positions=64, rope_parameters=rope(
                            "yarn", 1000.0, factor=4.0, original_max_position_embeddings=16)),
                        dict(type_key="type", dtype=torch.bfloat16, lengths=OLD_LENGTHS)),
    "qwen2-layer-types": ("qwen2", rotary(101, 36, 5, 5, 25, layers=3, positions=20, head_dim=6, use_sliding_window=True,
                                          sliding_window=9, rms_norm_eps=1e-4, layer_types=[S, F, S],
                                          rope_parameters=rope("dynamic", factor=3.0)),
                          dict(lengths=[1, 9, 10, 20, 41])),

    "qwen3-base": ("qwen3", rotary(97, 24, 4, 2, 39, head_dim=8, tie_word_embeddings=True,
                                   rope_parameters=rope("default", 1e6)), dict(train=True, lengths=OLD_LENGTHS)),
    "qwen3-window-biases": ("qwen3", rotary(131, 20, 3, 1, 31, layers=3, head_dim=16, attention_bias=True,
                                            use_sliding_window=True, sliding_window=6, max_window_layers=2),
                            dict(drop=["layer_types"], lengths=OLD_LENGTHS)),
    "qwen3-yarn-factor": ("qwen3", rotary(97, 30, 5, 5, 23, positions=200, head_dim=12, rms_norm_eps=1e-5,
                                          tie_word_embeddings=True,
                                          rope_parameters=rope("yarn", 1000.0, factor=5.0, attention_factor=1.3, beta_fast=1.5,
                                                               beta_slow=0.4, original_max_position_embeddings=40)),
                          dict(type_key="both", lengths=OLD_LENGTHS)),
    "qwen3-linear": ("qwen3", rotary(113, 36, 4, 4, 45, head_dim=18, rope_parameters=rope("linear", 1e6, factor=4.0)),
                     dict(type_key="type", minimal=True, generate=True, lengths=OLD_LENGTHS)),
}

MISTRAL = {
    "mistral-base": ("mistral", rotary(61, 16, 4, 2, 23, sliding_window=None), dict(train=True, minimal=True)),
    "mistral-window": ("mistral", rotary(67, 20, 2, 1, 19, head_dim=12, sliding_window=7, hidden_act="gelu",
                                         attention_dropout=0.1, rope_parameters=rope("default", 1e6)), dict(generate=True)),
    "mistral-defaults-llama3": ("mistral", rotary(61, 32, 8, 8, 13, rope_parameters=llama3()),
                                dict(minimal=True, drop=["head_dim"])),
    "mistral-yarn-tied": ("mistral", rotary(71, 18, 3, 3, 17, layers=3, head_dim=6, sliding_window=25, rms_norm_eps=1e-3,
                                            tie_word_embeddings=True, rope_parameters=yarn(beta_fast=2.0, beta_slow=0.5)),
                          dict(type_key="type")),

    "ministral-base": ("ministral", rotary(61, 16, 4, 2, 23, head_dim=4, sliding_window=6),
                       dict(train=True, generate=True, minimal=True, drop=["layer_types"])),
    "ministral-layer-types": ("ministral", rotary(67, 20, 2, 1, 19, layers=4, head_dim=10, sliding_window=9,
                                                  layer_types=[S, F, S, F], tie_word_embeddings=True, hidden_act="gelu_new",
                                                  rope_parameters=yarn()), {}),
    "ministral-full-linear": ("ministral", rotary(61, 24, 3, 3, 17, head_dim=6, layer_types=[F, F], rms_norm_eps=1e-4,
                                                  rope_parameters=rope("linear", 1e5, factor=3.0)),
                              dict(type_key="type")),

    "ministral3-base": ("ministral3", rotary(61, 16, 4, 2, 23, head_dim=8, rope_parameters=yarn(
                            1e4, 4.0, 12, llama_4_scaling_beta=0.3, mscale=1.0, mscale_all_dim=1.0)),
                        dict(train=True, generate=True, type_key="both")),
    "ministral3-window": ("ministral3", rotary(67, 20, 2, 1, 19, head_dim=10, sliding_window=7, tie_word_embeddings=True,
                                               hidden_act="gelu", rope_parameters=yarn(
                                                   5000.0, 8.0, 8, llama_4_scaling_beta=0.1, beta_fast=4.0, beta_slow=0.5,
                                                   truncate=False)), dict(type_key="type")),
    "ministral3-llama3": ("ministral3", rotary(61, 24, 3, 3, 17, head_dim=6, rms_norm_eps=1e-3,
                                               rope_parameters=llama3(llama_4_scaling_beta=0.5)), {}),
    "ministral3-defaults": ("ministral3", rotary(61, 16, 8, 8, 11, head_dim=8), dict(minimal=True, plain_rope=True)),
}

PHI = {
    "phi-base": ("phi", rotary(61, 16, 2, 2, 37), dict(train=True, generate=True, minimal=True)),
    "phi-qk-norm": ("phi", rotary(67, 40, 4, 2, 23, qk_layernorm=True, hidden_act="gelu", resid_pdrop=0.1, embd_pdrop=0.1,
                                  attention_dropout=0.1, layer_norm_eps=1e-3,
                                  rope_parameters=rope("default", 1e4, partial_rotary_factor=0.4)), {}),
    "phi-tied-dynamic": ("phi", rotary(61, 24, 3, 1, 29, positions=12, hidden_act="relu", tie_word_embeddings=True,
                                       rope_parameters=rope("dynamic", 5e3, factor=2.0, partial_rotary_factor=0.75)),
                         dict(lengths=[12, 1, 40, 13, 5])),
    "phi-yarn-gelu-tanh": ("phi", rotary(61, 32, 2, 1, 19, layers=3, hidden_act="gelu_pytorch_tanh", qk_layernorm=True,
                                         rope_parameters=yarn(partial_rotary_factor=0.5)), dict(type_key="type")),

    "phi3-base": ("phi3", rotary(61, 16, 4, 2, 23), dict(train=True, generate=True, minimal=True)),
    "phi3-longrope": ("phi3", rotary(67, 24, 3, 1, 19, positions=64, original_max_position_embeddings=16,
                                     sliding_window=11, resid_pdrop=0.1, embd_pdrop=0.2, attention_dropout=0.1,
                                     rope_parameters=longrope(8)),
                      dict(lengths=[1, 16, 17, 40, 5], type_name="su", type_key="type")),
    "phi3-longrope-partial": ("phi3", rotary(61, 32, 2, 1, 17, positions=48, original_max_position_embeddings=24,
                                             tie_word_embeddings=True, hidden_act="gelu", rms_norm_eps=1e-3,
                                             rope_parameters=longrope(12, partial_rotary_factor=0.75, attention_factor=1.25)),
                              dict(lengths=[40, 24, 25, 1], v4=dict(full_attn_mod=1, interpolate_factor=1, lm_head_bias=False,
                                                                   mlp_bias=False, attention_bias=False))),
    "phi3-window": ("phi3", rotary(61, 20, 2, 2, 13, layers=3, sliding_window=6, rope_parameters=rope("default", 1e5)),
                    dict(v4=dict(attention_bias=False))),
}

OTHERS = {
    "arcee-base": ("arcee", rotary(61, 16, 4, 2, 37), dict(train=True, generate=True, minimal=True)),
    "arcee-biases-yarn": ("arcee", rotary(67, 20, 2, 1, 29, head_dim=12, attention_bias=True, mlp_bias=True,
                                          tie_word_embeddings=True, rope_parameters=yarn()), dict(type_key="type")),
    "arcee-silu-dynamic": ("arcee", rotary(61, 24, 4, 4, 23, positions=12, hidden_act="silu", rms_norm_eps=1e-3,
                                           rope_parameters=rope("dynamic", 5e3, factor=2.0)), dict(lengths=[12, 1, 40, 13])),
    "arcee-mlp-bias-llama3": ("arcee", rotary(61, 18, 3, 3, 19, layers=3, mlp_bias=True, hidden_act="gelu_new",
                                              rope_parameters=llama3()), {}),

    "nemotron-base": ("nemotron", rotary(61, 16, 2, 1, 37), dict(train=True, generate=True, minimal=True, drop=["head_dim"])),
    "nemotron-biases-tied": ("nemotron", rotary(67, 12, 2, 2, 29, head_dim=12, attention_bias=True, mlp_bias=True,
                                                tie_word_embeddings=True, norm_eps=1e-3, attention_dropout=0.1,
                                                rope_parameters=rope("linear", 1e5, factor=2.0, partial_rotary_factor=0.75)),
                             dict(type_key="type", v4=dict(kv_channels=12))),
    "nemotron-odd-dynamic": ("nemotron", rotary(61, 16, 2, 1, 23, layers=3, positions=12, head_dim=10, mlp_bias=True,
                                                hidden_act="gelu", rope_parameters=rope("dynamic", 5e3, factor=2.0)),
                             dict(lengths=[12, 1, 40, 13])),
    "nemotron-whole-yarn": ("nemotron", rotary(61, 18, 3, 3, 19, attention_bias=True, hidden_act="silu",
                                               rope_parameters=yarn(partial_rotary_factor=1.0)), {}),
    "nemotron-llama3": ("nemotron", rotary(61, 24, 3, 1, 17, rope_parameters=llama3()), {}),

    "granite-base": ("granite", rotary(61, 16, 4, 2, 23, embedding_multiplier=3.0, logits_scaling=2.5, residual_multiplier=0.6,
                                       attention_multiplier=0.4), dict(train=True, generate=True)),
    "granite-defaults": ("granite", rotary(61, 12, 3, 3, 17, layers=3), dict(minimal=True)),
    "granite-biases-tied": ("granite", rotary(67, 20, 2, 1, 19, attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
                                              embedding_multiplier=0.7, attention_multiplier=0.25, hidden_act="gelu",
                                              attention_dropout=0.1, rope_parameters=rope("linear", 1e5, factor=2.0)),
                            dict(type_key="type")),
    "granite-head-dim-yarn": ("granite", rotary(61, 20, 2, 2, 15, head_dim=6, residual_multiplier=0.22, logits_scaling=8,
                                                rms_norm_eps=1e-4, rope_parameters=yarn()), {}),

    "ernie4_5-base": ("ernie4_5", rotary(61, 16, 4, 2, 23, head_dim=8), dict(train=True, minimal=True)),
    "ernie4_5-biases": ("ernie4_5", rotary(67, 20, 2, 1, 19, head_dim=10, use_bias=True, tie_word_embeddings=False,
                                           hidden_act="gelu", rms_norm_eps=1e-3, rope_parameters=rope("default", 1e4)),
                        dict(generate=True)),
    "ernie4_5-derived-yarn": ("ernie4_5", rotary(61, 24, 4, 4, 17, layers=3, head_dim=None, rope_parameters=yarn()),
                              dict(type_key="type", drop=["head_dim"], v4=dict(head_dim=6))),
    "ernie4_5-dynamic": ("ernie4_5", rotary(61, 16, 2, 2, 19, positions=12, head_dim=6, tie_word_embeddings=False,
                                            rope_parameters=rope("dynamic", 5e3, factor=3.0)), dict(lengths=[12, 1, 40, 13])),

    "helium-base": ("helium", rotary(61, 16, 2, 1, 23, head_dim=8), dict(train=True, generate=True, minimal=True)),
    "helium-biases": ("helium", rotary(67, 24, 4, 2, 19, head_dim=6, attention_bias=True, mlp_bias=True, hidden_act="gelu",
                                       tie_word_embeddings=True, rms_norm_eps=1e-3, rope_parameters=rope("default", 1e4)), {}),
    "helium-llama3": ("helium", rotary(61, 20, 2, 2, 17, layers=3, head_dim=10, attention_dropout=0.1,
                                       rope_parameters=llama3()), {}),
    "helium-linear": ("helium", rotary(61, 16, 4, 4, 13, head_dim=4, mlp_bias=True,
                                       rope_parameters=rope("linear", 1e5, factor=2.0)), dict(type_key="type")),

    "glm-base": ("glm", rotary(61, 16, 4, 2, 23, head_dim=8), dict(train=True, generate=True, minimal=True)),
    "glm-no-bias-tied": ("glm", rotary(67, 20, 2, 1, 19, head_dim=12, attention_bias=False, tie_word_embeddings=True,
                                       hidden_act="gelu", rms_norm_eps=1e-3, attention_dropout=0.1,
                                       rope_parameters=rope("default", 1e5, partial_rotary_factor=1.0)), {}),
    "glm-odd-rotary": ("glm", rotary(61, 24, 3, 3, 17, layers=3, head_dim=10), {}),
    "glm-yarn": ("glm", rotary(61, 24, 2, 1, 13, head_dim=16, rope_parameters=yarn(partial_rotary_factor=0.75)),
                 dict(type_key="type")),

    "glm4-base": ("glm4", rotary(61, 16, 4, 2, 23, head_dim=8), dict(train=True, generate=True, minimal=True)),
    "glm4-no-bias-tied": ("glm4", rotary(67, 20, 2, 1, 19, head_dim=12, attention_bias=False, tie_word_embeddings=True,
                                         hidden_act="relu", rms_norm_eps=1e-3, attention_dropout=0.1,
                                         rope_parameters=rope("default", 1e5, partial_rotary_factor=0.34)), {}),
    "glm4-dynamic": ("glm4", rotary(61, 24, 3, 3, 17, layers=3, positions=12, head_dim=16,
                                    rope_parameters=rope("dynamic", 5e3, factor=2.0, partial_rotary_factor=0.5)),
                     dict(lengths=[12, 1, 40, 13])),

    "seed_oss-base": ("seed_oss", rotary(61, 16, 4, 2, 23, head_dim=8, attention_dropout=0.0, residual_dropout=0.0),
                      dict(train=True, generate=True)),
    "seed_oss-defaults": ("seed_oss", rotary(61, 16, 8, 8, 13, head_dim=4, layers=3), dict(minimal=True)),
    "seed_oss-biases": ("seed_oss", rotary(67, 20, 2, 1, 19, head_dim=12, attention_bias=False, attention_out_bias=True,
                                           mlp_bias=True, tie_word_embeddings=True, hidden_act="gelu", rms_norm_eps=1e-3,
                                           rope_parameters=llama3()), dict(v4=dict(pretraining_tp=1))),
    "seed_oss-derived-linear": ("seed_oss", rotary(61, 24, 4, 2, 17, head_dim=None, attention_out_bias=True,
                                                   rope_parameters=rope("linear", 1e7, factor=2.0)),
                                dict(type_key="type")),

    "starcoder2-base": ("starcoder2", rotary(61, 16, 4, 2, 37),
                        dict(train=True, minimal=True, v4=dict(mlp_type="default", norm_type="layer_norm"))),
    "starcoder2-window": ("starcoder2", rotary(67, 20, 2, 1, 29, use_bias=False, sliding_window=6, tie_word_embeddings=False,
                                               hidden_act="relu", norm_epsilon=1e-3, attention_dropout=0.1,
                                               residual_dropout=0.1, embedding_dropout=0.1,
                                               rope_parameters=rope("default", 1e6)), dict(generate=True)),
    "starcoder2-head-dim-yarn": ("starcoder2", rotary(61, 24, 3, 3, 23, layers=3, head_dim=10, tie_word_embeddings=False,
                                                      hidden_act="gelu", rope_parameters=yarn()), dict(type_key="type")),

    "stablelm-base": ("stablelm", rotary(61, 32, 4, 4, 23), dict(train=True, generate=True, minimal=True)),
    "stablelm-parallel-qk-norm": ("stablelm", rotary(67, 24, 2, 1, 19, use_qkv_bias=True, qk_layernorm=True,
                                                     use_parallel_residual=True, hidden_act="gelu", layer_norm_eps=1e-3,
                                                     hidden_dropout=0.1, attention_dropout=0.1,
                                                     rope_parameters=rope("default", 1e5, partial_rotary_factor=0.5)), {}),
    "stablelm-qk-norm-tied": ("stablelm", rotary(61, 24, 4, 2, 17, layers=3, qk_layernorm=True, tie_word_embeddings=True,
                                                 rope_parameters=rope("linear", factor=2.0, partial_rotary_factor=0.67)),
                              dict(type_key="type")),
    "stablelm-parallel-bias": ("stablelm", rotary(61, 16, 2, 2, 21, positions=12, use_qkv_bias=True,
                                                  use_parallel_residual=True, rope_parameters=rope(
                                                      "dynamic", 5e3, factor=2.0, partial_rotary_factor=1.0)),
                               dict(lengths=[12, 1, 40, 13])),
}

OLMO = {
    "olmo-base": ("olmo", rotary(61, 16, 4, 4, 23), dict(train=True, generate=True, minimal=True)),
    "olmo-clip": ("olmo", rotary(67, 20, 2, 1, 19, layers=3, clip_qkv=0.6, hidden_act="gelu",
                                 rope_parameters=rope("default", 5e5)), {}),
    "olmo-clip-biases-tied": ("olmo", rotary(61, 24, 4, 2, 17, attention_bias=True, clip_qkv=1.0, tie_word_embeddings=True,
                                             attention_dropout=0.1, rope_parameters=rope("linear", factor=2.0)),
                              dict(type_key="type")),
    "olmo-head-dim-yarn": ("olmo", rotary(61, 16, 2, 2, 15, head_dim=6, clip_qkv=0.9, rope_parameters=yarn()), {}),

    "olmo2-base": ("olmo2", rotary(61, 16, 4, 4, 23), dict(train=True, generate=True, minimal=True)),
    "olmo2-biases-tied": ("olmo2", rotary(67, 20, 2, 1, 19, attention_bias=True, tie_word_embeddings=True, hidden_act="gelu",
                                          rms_norm_eps=1e-3, rope_parameters=rope("default", 5e5)), {}),
    "olmo2-padding-last": ("olmo2", rotary(17, 16, 2, 1, 19, pad_token_id=-1), {}),
    "olmo2-head-dim-yarn": ("olmo2", rotary(61, 24, 4, 2, 17, layers=3, head_dim=10, attention_dropout=0.1,
                                            rope_parameters=yarn()), dict(type_key="type")),
    "olmo2-dynamic": ("olmo2", rotary(61, 16, 2, 2, 15, positions=12, rope_parameters=rope("dynamic", 5e3, factor=2.0)),
                      dict(lengths=[12, 1, 40, 13])),

    "olmo3-base": ("olmo3", rotary(61, 16, 4, 4, 13, layers=4, sliding_window=6),
                   dict(train=True, generate=True, minimal=True, drop=["layer_types"])),
    "olmo3-yarn": ("olmo3", rotary(67, 20, 2, 1, 15, layers=3, sliding_window=9, layer_types=[S, F, S], attention_bias=True,
                                   tie_word_embeddings=True, hidden_act="gelu", rms_norm_eps=1e-3,
                                   rope_parameters={F: yarn(5e5, attention_factor=1.2, beta_fast=2, beta_slow=1),
                                                    S: rope("default", 5e5)}), {}),
    "olmo3-two-bases": ("olmo3", rotary(61, 24, 4, 2, 17, layers=2, positions=12, head_dim=10, sliding_window=8,
                                        layer_types=[F, S], rope_parameters={F: rope("linear", 1e4, factor=2.0),
                                                                             S: rope("default", 5e5)}), {}),
    "olmo3-sliding-scaled": ("olmo3", rotary(61, 16, 2, 1, 15, layers=3, positions=12, sliding_window=7, layer_types=[S, S, F],
                                             rope_parameters={F: rope("dynamic", 5e5, factor=2.0), S: rope("default", 5e5)}),
                             dict(lengths=[12, 1, 40, 13])),
}

GEMMA = {
    "gemma-base": ("gemma", rotary(61, 16, 4, 1, 23, head_dim=6), dict(train=True, minimal=True)),
    "gemma-biases-untied": ("gemma", rotary(67, 20, 2, 2, 19, head_dim=12, attention_bias=True, tie_word_embeddings=False,
                                            rms_norm_eps=1e-3, attention_dropout=0.1, rope_parameters=rope("default", 1e5)),
                            dict(generate=True, v4=dict(hidden_act="gelu", hidden_activation=None))),
    "gemma-relu-linear": ("gemma", rotary(61, 24, 3, 3, 17, layers=3, head_dim=8, hidden_act="relu",
                                          rope_parameters=rope("linear", factor=2.0)), dict(type_key="type")),
    "gemma-yarn": ("gemma", rotary(61, 20, 2, 1, 15, head_dim=8, use_bidirectional_attention=False, rope_parameters=yarn()),
                   dict(v4=dict(hidden_activation="gelu_pytorch_tanh"))),

    "gemma-padding": ("gemma", rotary(17, 16, 2, 1, 19, head_dim=8, pad_token_id=0), dict(minimal=True)),

    "gemma2-base": ("gemma2", rotary(61, 16, 4, 2, 23, layers=2, head_dim=6, sliding_window=5, query_pre_attn_scalar=9,
                                     attn_logit_softcapping=1.5, final_logit_softcapping=2.0),
                    dict(train=True, drop=["layer_types"],
                         v4=dict(hidden_act="gelu_pytorch_tanh", cache_implementation="hybrid"))),
    "gemma2-no-caps-biases": ("gemma2", rotary(67, 20, 2, 1, 19, layers=3, head_dim=12, sliding_window=7, layer_types=[F, S, S],
                                               attn_logit_softcapping=None, final_logit_softcapping=None,
                                               attention_bias=True, tie_word_embeddings=False, hidden_activation="gelu",
                                               query_pre_attn_scalar=16, rms_norm_eps=1e-3,
                                               rope_parameters=rope("default", 1e5)), dict(generate=True)),
    "gemma2-defaults": ("gemma2", rotary(61, 16, 8, 4, 13, layers=4, head_dim=4), dict(minimal=True, drop=["layer_types"])),
    "gemma2-cap-linear": ("gemma2", rotary(61, 24, 3, 3, 17, layers=2, head_dim=8, sliding_window=6, query_pre_attn_scalar=4,
                                           attn_logit_softcapping=0.8, final_logit_softcapping=None,
                                           rope_parameters=rope("linear", factor=2.0)),
                          dict(type_key="type")),

    "gemma3_text-base": ("gemma3_text", rotary(61, 16, 4, 2, 13, layers=4, head_dim=6, sliding_window=5,
                                               query_pre_attn_scalar=9, sliding_window_pattern=2),
                         dict(train=True, drop=["layer_types", "_sliding_window_pattern"],
                              v4=dict(sliding_window_pattern=2, cache_implementation="hybrid"))),
    "gemma3_text-linear": ("gemma3_text", rotary(67, 20, 2, 1, 15, layers=3, head_dim=12, sliding_window=7,
                                                 layer_types=[F, S, S], attention_bias=True, query_pre_attn_scalar=16,
                                                 tie_word_embeddings=False, hidden_activation="gelu", rms_norm_eps=1e-3,
                                                 rope_parameters={F: rope("linear", 5e5, factor=8.0), S: rope("default", 777.0)}),
                           dict(generate=True)),
    "gemma3_text-defaults": ("gemma3_text", rotary(61, 16, 8, 4, 9, layers=6, head_dim=4), dict(minimal=True, drop=["layer_types"])),
    "gemma3_text-caps": ("gemma3_text", rotary(61, 24, 3, 3, 17, layers=2, head_dim=8, sliding_window=6, layer_types=[S, F],
                                               query_pre_attn_scalar=4, attn_logit_softcapping=0.8,
                                               final_logit_softcapping=1.5, use_bidirectional_attention=False,
                                               rope_parameters={F: yarn(), S: rope("default", 1e4)}),
                         dict(type_key="both")),
    "gemma3_text-local-scaled": ("gemma3_text", rotary(61, 16, 2, 1, 15, layers=2, positions=12, head_dim=8, sliding_window=9,
                                                       layer_types=[S, F], query_pre_attn_scalar=8, rope_parameters={
                                                           F: rope("dynamic", 5e3, factor=2.0), S: rope("default", 1e4)}),
                                 dict(lengths=[12, 1, 40, 13])),
}

MORE = {
    "smollm3-base": ("smollm3", rotary(61, 16, 4, 2, 13, layers=4, no_rope_layer_interval=2),
                     dict(train=True, drop=["layer_types", "no_rope_layers"], v4=dict(max_window_layers=28))),
    "smollm3-window": ("smollm3", rotary(67, 20, 2, 1, 15, layers=3, no_rope_layers=[1, 0, 1], use_sliding_window=True,
                                         sliding_window=6, attention_bias=True, mlp_bias=True, tie_word_embeddings=False,
                                         hidden_act="gelu", rms_norm_eps=1e-3, rope_parameters=rope("default", 1e4)),
                       dict(generate=True, drop=["layer_types"])),
    "smollm3-defaults": ("smollm3", rotary(61, 16, 4, 4, 13, layers=4), dict(minimal=True, drop=["layer_types", "no_rope_layers"])),
    "smollm3-layer-types-yarn": ("smollm3", rotary(61, 24, 3, 3, 17, layers=3, head_dim=10, no_rope_layers=[0, 1, 1],
                                                   use_sliding_window=True, sliding_window=7, layer_types=[F, S, F],
                                                   attention_dropout=0.1, rope_parameters=yarn()), dict(type_key="type")),

    "cohere-base": ("cohere", rotary(61, 16, 4, 2, 23), dict(train=True, minimal=True)),
    "cohere-qk-norm": ("cohere", rotary(67, 24, 4, 2, 19, use_qk_norm=True, logit_scale=0.8, layer_norm_eps=1e-3,
                                        tie_word_embeddings=False, rope_parameters=rope("default", 8e6)), dict(generate=True)),
    "cohere-biases-linear": ("cohere", rotary(61, 20, 2, 1, 17, layers=3, attention_bias=True, hidden_act="gelu",
                                              attention_dropout=0.1, rope_parameters=rope("linear", 1e4, factor=2.0)),
                             dict(type_key="type", v4=dict(model_max_length=131072))),
    "cohere-head-dim-dynamic": ("cohere", rotary(61, 16, 2, 1, 15, positions=12, head_dim=6, use_qk_norm=True,
                                                 tie_word_embeddings=False, rope_parameters=rope("dynamic", 5e3, factor=2.0)),
                                dict(lengths=[12, 1, 40, 13])),

    "cohere2-base": ("cohere2", rotary(61, 16, 4, 2, 13, layers=4, sliding_window=6),
                     dict(train=True, minimal=True, drop=["layer_types"])),
    "cohere2-layer-types": ("cohere2", rotary(67, 20, 2, 1, 15, layers=3, sliding_window=9, layer_types=[F, S, S],
                                              attention_bias=True, logit_scale=0.9, tie_word_embeddings=False,
                                              hidden_act="gelu", layer_norm_eps=1e-3, rope_parameters=rope("default", 5e4)),
                            dict(generate=True)),
    "cohere2-pattern-linear": ("cohere2", rotary(61, 24, 3, 3, 17, layers=2, sliding_window=7, layer_types=[S, F],
                                                 rope_parameters=rope("linear", 5e4, factor=2.0)),
                               dict(type_key="type", drop=["layer_types"], v4=dict(
                                   sliding_window_pattern=2, cache_implementation="hybrid", layer_switch=2,
                                   order_of_interleaved_layers="local_attn_first", position_embedding_type="rope_gptj",
                                   rotary_pct=1.0, use_embedding_sharing=True, use_gated_activation=True,
                                   use_parallel_block=True, use_parallel_embedding=True))),

    "gpt_neox-base": ("gpt_neox", rotary(61, 32, 2, None, 37), dict(train=True, generate=True, minimal=True)),
    "gpt_neox-sequential": ("gpt_neox", rotary(67, 24, 4, None, 29, use_parallel_residual=False, attention_bias=False,
                                               hidden_act="gelu_new", layer_norm_eps=1e-3, hidden_dropout=0.1,
                                               attention_dropout=0.1,
                                               rope_parameters=rope("default", 1e4, partial_rotary_factor=1.0)), {}),
    "gpt_neox-tied-odd-rotary": ("gpt_neox", rotary(61, 24, 2, None, 23, layers=3, tie_word_embeddings=True, hidden_act="relu",
                                                    rope_parameters=rope("linear", 1e5, factor=2.0, partial_rotary_factor=0.25)),
                                 dict(type_key="type")),
    "gpt_neox-old-buffers": ("gpt_neox", rotary(61, 16, 2, None, 19, positions=40, rope_parameters=rope(
                                 "dynamic", 5e3, factor=2.0, partial_rotary_factor=0.5)),
                             dict(buffers=True, lengths=[40, 1, 5, 17])),

    "exaone4-base": ("exaone4", rotary(61, 16, 4, 2, 13, layers=4, sliding_window=6),
                     dict(train=True, generate=True, drop=["layer_types"])),
    "exaone4-layer-types-llama3": ("exaone4", rotary(67, 20, 2, 1, 15, layers=3, head_dim=12, sliding_window=9,
                                                     layer_types=[F, S, S], sliding_window_pattern="LLLG",
                                                     tie_word_embeddings=True, hidden_act="gelu", rms_norm_eps=1e-3,
                                                     rope_parameters=llama3()), {}),
    "exaone4-full": ("exaone4", rotary(61, 24, 3, 3, 17, layers=2, sliding_window=None, layer_types=[F, F],
                                       attention_dropout=0.1, rope_parameters=rope("linear", 1e6, factor=2.0)),
                     dict(type_key="type")),
    "exaone4-pattern": ("exaone4", rotary(61, 32, 32, 32, 9, layers=2, sliding_window=5, sliding_window_pattern=2, head_dim=2),
                        dict(minimal=True, drop=["layer_types"])),

    "hunyuan_v1_dense-base": ("hunyuan_v1_dense", rotary(61, 16, 4, 4, 23, head_dim=6),
                              dict(train=True, generate=True, minimal=True)),
    "hunyuan_v1_dense-alpha": ("hunyuan_v1_dense", rotary(67, 20, 2, 1, 19, head_dim=12, tie_word_embeddings=True,
                                                          rope_parameters=rope("dynamic", 1e4, factor=1.0, alpha=1000.0,
                                                                               beta_fast=32, beta_slow=1, mscale=1.0,
                                                                               mscale_all_dim=1.0)),
                               dict(type_key="type", v4=dict(
                                   use_qk_norm=True, use_cla=False, norm_type="rms", mlp_bias=False, use_rotary_pos_emb=True,
                                   position_embedding_xdrope=False, cla_share_factor=2, add_classification_head=False,
                                   class_num=0, pool_type="last", dense_list=[20, 0], num_media_embeds=257,
                                   org_vocab_size=67, im_start_id=5, im_end_id=6, im_newline_id=11, image_token_id=8,
                                   mask_init_id=12, text_start_id=7, text_end_id=8, pad_id=9, enable_lm_head_fp32=True))),
    "hunyuan_v1_dense-biases-dynamic": ("hunyuan_v1_dense", rotary(61, 24, 4, 2, 17, layers=3, positions=12, head_dim=10,
                                                                   attention_bias=True, hidden_act="gelu", rms_norm_eps=1e-3,
                                                                   attention_dropout=0.1,
                                                                   rope_parameters=rope("dynamic", 5e3, factor=2.0)),
                                        dict(lengths=[12, 1, 40, 13])),
    "hunyuan_v1_dense-yarn": ("hunyuan_v1_dense", rotary(61, 16, 2, 2, 15, head_dim=8, rope_parameters=yarn()), {}),

    "nanochat-base": ("nanochat", rotary(61, 16, 4, 4, 37, final_logit_softcapping=1.5), dict(train=True, generate=True)),
    "nanochat-defaults": ("nanochat", rotary(61, 24, 6, 6, 19, layers=3), dict(minimal=True)),
    "nanochat-biases-no-cap": ("nanochat", rotary(67, 20, 2, 1, 29, attention_bias=True, final_logit_softcapping=None,
                                                  tie_word_embeddings=True, hidden_act="gelu", rms_norm_eps=1e-3,
                                                  rope_parameters=rope("default", 1e5)), {}),
    "nanochat-head-dim-linear": ("nanochat", rotary(61, 16, 2, 1, 23, head_dim=12, attention_dropout=0.1, hidden_act="silu",
                                                    rope_parameters=rope("linear", factor=2.0)), dict(type_key="type")),

    "apertus-base": ("apertus", rotary(61, 16, 4, 2, 37, rope_parameters=llama3(12e6)),
                     dict(train=True, generate=True, type_key="both", v4=dict(qk_norm=True, post_norm=False, mlp_bias=False))),
    "apertus-defaults": ("apertus", rotary(61, 12, 2, 2, 23, layers=3), dict(minimal=True, plain_rope=True)),
    "apertus-biases-tied": ("apertus", rotary(67, 20, 2, 1, 29, head_dim=6, attention_bias=True, tie_word_embeddings=True,
                                              rms_norm_eps=1e-3, attention_dropout=0.1,
                                              rope_parameters=rope("default", 1e5)),
                            dict(v4=dict(rope_scaling=dict(rope_type="default")))),
    "apertus-silu-yarn": ("apertus", rotary(61, 24, 3, 3, 19, hidden_act="silu", rope_parameters=yarn()), dict(type_key="type")),
}

VARIANTS = GPT2 | LLAMA | QWEN | MISTRAL | PHI | OTHERS | OLMO | GEMMA | MORE
