/*
 * option/option_list.h -- every option, declared once. The table, the fields of hone_options, the readers, --help,
 * docs/options.md and the resolved config of a run are all made from this list.
 *
 * Names, types, meanings and defaults are LLaMA-Factory's (its v0 keys, and those of the Hugging Face training
 * arguments it takes); hone's own options, the last group, take names that it does not use. A row is
 *
 *     S(state, name, default, help)               text
 *     L(state, name, default, help)               list of texts: a YAML list, or one text with commas
 *     I(state, name, default, low, high, help)    whole number
 *     F(state, name, default, low, high, help)    number
 *     B(state, name, default, help)               true or false
 *     T(state, name, default, help)               true, false or null
 *     E(state, name, default, choices, help)      one of `choices`, separated by "|"; one that ends in "?" is refused
 *     M(state, name, default, help)               a mapping (or, as text, the JSON of one)
 *
 * with the default written as in YAML; "null" as default makes null a legal value. States:
 *
 *     YES    implemented, and part of what the result is
 *     RUN    implemented; says how or where the run goes, the trained weights do not depend on it
 *     NOOP   accepted without effect: the result does not depend on it here (the log lists those that were set)
 *     LATER  known, would change the result, not implemented: refused unless it has its default
 */
#ifndef HONE_OPTION_OPTION_LIST_H
#define HONE_OPTION_OPTION_LIST_H

#define HONE_ANY_ 9e15      /* no bound but exactness as a double */

/* Choices that code switches over: V(enumerator, text). */
#define HONE_STAGE_VALUES(V)                                                                                           \
    V(STAGE_PT, "pt") V(STAGE_SFT, "sft") V(STAGE_RM, "rm?") V(STAGE_PPO, "ppo?") V(STAGE_DPO, "dpo?") \
    V(STAGE_KTO, "kto?")
#define HONE_FINETUNING_VALUES(V)                                                                                      \
    V(FINETUNING_LORA, "lora?") V(FINETUNING_OFT, "oft?") V(FINETUNING_FREEZE, "freeze?") V(FINETUNING_FULL, "full")
#define HONE_SCHEDULE_VALUES(V)                                                                                        \
    V(SCHEDULE_LINEAR, "linear") V(SCHEDULE_COSINE, "cosine") V(SCHEDULE_CONSTANT, "constant")                         \
    V(SCHEDULE_CONSTANT_WITH_WARMUP, "constant_with_warmup") V(SCHEDULE_COSINE_WITH_RESTARTS, "cosine_with_restarts") \
    V(SCHEDULE_POLYNOMIAL, "polynomial") V(SCHEDULE_INVERSE_SQRT, "inverse_sqrt")                                    \
    V(SCHEDULE_COSINE_WITH_MIN_LR, "cosine_with_min_lr") V(SCHEDULE_WARMUP_STABLE_DECAY, "warmup_stable_decay")      \
    V(SCHEDULE_REDUCE_LR_ON_PLATEAU, "reduce_lr_on_plateau?")
#define HONE_OPTIM_VALUES(V)                                                                                           \
    V(OPTIM_ADAMW_TORCH, "adamw_torch") V(OPTIM_ADAMW_TORCH_FUSED, "adamw_torch_fused") V(OPTIM_ADAMW_HF, "adamw_hf")  \
    V(OPTIM_ADAMW_8BIT, "adamw_8bit?") V(OPTIM_PAGED_ADAMW_8BIT, "paged_adamw_8bit?") V(OPTIM_ADAFACTOR, "adafactor?") \
    V(OPTIM_SGD, "sgd?") V(OPTIM_LION, "lion_32bit?") V(OPTIM_MUON, "muon?")
#define HONE_WHEN_VALUES(V) V(WHEN_NO, "no") V(WHEN_STEPS, "steps") V(WHEN_EPOCH, "epoch")
#define HONE_BAD_ROWS_VALUES(V) V(BAD_ROWS_ERROR, "error") V(BAD_ROWS_DROP, "drop")
#define HONE_TRUNCATION_VALUES(V)                                                                                      \
    V(TRUNCATION_ERROR, "error") V(TRUNCATION_DROP, "drop") V(TRUNCATION_CUT_LEFT, "cut-left")                         \
    V(TRUNCATION_CUT_RIGHT, "cut-right") V(TRUNCATION_FIT, "fit") V(TRUNCATION_AUTO, "auto")
#define HONE_PACKING_STRATEGY_VALUES(V) V(PACKING_BEST_FIT, "best_fit") V(PACKING_GREEDY, "greedy")
#define HONE_MIX_VALUES(V)                                                                                             \
    V(MIX_CONCAT, "concat") V(MIX_INTERLEAVE_UNDER, "interleave_under") V(MIX_INTERLEAVE_OVER, "interleave_over")      \
    V(MIX_INTERLEAVE_ONCE, "interleave_once")
#define HONE_RECOMPUTE_VALUES(V) V(RECOMPUTE_NONE, "none") V(RECOMPUTE_LAYER, "layer")
#define HONE_NONFINITE_VALUES(V) V(NONFINITE_STOP, "stop") V(NONFINITE_SKIP, "skip")
#define HONE_OP_POLICY_CHOICES_ "auto|native|custom"     /* in the order of hone_op_policy, runtime/ctx.h */
#define HONE_DATA_FORMAT_VALUES(V)                                                                                     \
    V(DATA_FORMAT_AUTO, "auto") V(DATA_FORMAT_MESSAGES, "messages") V(DATA_FORMAT_ALPACA, "alpaca")                    \
    V(DATA_FORMAT_SWIFT, "swift") V(DATA_FORMAT_TRL, "trl") V(DATA_FORMAT_IDS, "ids") V(DATA_FORMAT_TEXT, "text")
#define HONE_EXPORT_DTYPE_VALUES(V)                                                                                    \
    V(EXPORT_DTYPE_AS_INPUT, "as-input") V(EXPORT_DTYPE_F32, "f32") V(EXPORT_DTYPE_BF16, "bf16")

#define HONE_CHOICE_(id, text) text "|"
#define HONE_CHOICES_(VALUES) VALUES(HONE_CHOICE_)

#define HONE_OPTIONS_MODEL(S, L, I, F, B, T, E, M)                                                                     \
    S(YES,   model_name_or_path, "null", "model directory, or the hub id of a model in the local Hugging Face cache")  \
    L(LATER, adapter_name_or_path, "null", "LoRA directories to start from")                                           \
    S(NOOP,  adapter_folder, "null", "folder that holds the adapters; acts with adapter_name_or_path")                 \
    S(LATER, cache_dir, "null", "Hugging Face cache; set the variable HF_HOME or HF_HUB_CACHE instead")                \
    S(YES,   model_revision, "main", "branch, tag or commit of the hub id")                                            \
    B(NOOP,  trust_remote_code, "false", "hone runs no code that comes with a model")                                  \
    B(NOOP,  use_fast_tokenizer, "true", "tokenizer.json is what hone reads")                                          \
    B(LATER, resize_vocab, "false", "grow embedding and head to the tokenizer's length")                               \
    L(LATER, add_tokens, "null", "tokens to append to the vocabulary")                                                 \
    L(LATER, add_special_tokens, "null", "special tokens to append to the vocabulary")                                 \
    S(LATER, new_special_tokens_config, "null", "YAML file of new tokens and their descriptions")                      \
    E(NOOP,  init_special_tokens, "noise_init", "noise_init|desc_init|desc_init_w_noise", "rows of new tokens")        \
    B(YES,   split_special_tokens, "false", "split special tokens that stand in text like any other text")             \
    E(LATER, rope_scaling, "null", "linear|dynamic|yarn|llama3", "stretch positions when cutoff_len passes the "       \
      "model's maximum; "                                                                                              \
      "what config.json says is applied anyway")                                                                       \
    E(NOOP,  flash_attn, "auto", "auto|disabled|sdpa|fa2|fa3", "attention implementation; hone has one, exact and "    \
      "without T x T buffer")                                                                                          \
    B(LATER, shift_attn, "false", "shifted sparse attention (LongLoRA)")                                               \
    B(NOOP,  enable_liger_kernel, "false", "fused kernels of another engine; hone's are always fused")                 \
    B(NOOP,  use_unsloth, "false", "kernels of another engine")                                                        \
    B(NOOP,  use_unsloth_gc, "false", "recomputation of another engine; see recompute")                                \
    B(NOOP,  use_v1_kernels, "false", "kernels of another engine")                                                     \
    F(LATER, moe_aux_loss_coef, "null", 0, HONE_ANY_, "weight of the routers' auxiliary loss")                         \
    B(RUN,   disable_gradient_checkpointing, "false", "keep all activations rather than recompute each layer (see "    \
      "recompute)")                                                                                                    \
    B(NOOP,  use_reentrant_gc, "true", "a detail of PyTorch's recomputation")                                          \
    B(NOOP,  upcast_layernorm, "false", "norms always compute in f32 inside, on f32 masters")                          \
    B(NOOP,  upcast_lmhead_output, "false", "logits are always f32")                                                   \
    B(LATER, train_from_scratch, "false", "random weights of the shapes in config.json")                               \
    E(LATER, mixture_of_depths, "null", "convert|load", "mixture of depths")                                           \
    B(NOOP,  low_cpu_mem_usage, "true", "weights are mapped, never held twice")                                        \
    E(NOOP,  quantization_method, "bnb", "bnb|gptq|awq|aqlm|quanto|eetq|hqq|mxfp4|fp8", "acts with quantization_bit")  \
    I(LATER, quantization_bit, "null", 2, 8, "quantise the frozen weights while loading")                              \
    E(NOOP,  quantization_type, "nf4", "fp4|nf4", "acts with quantization_bit")                                        \
    B(NOOP,  double_quantization, "true", "acts with quantization_bit")                                                \
    E(NOOP,  quantization_device_map, "null", "auto", "acts with quantization_bit")                                    \
    I(NOOP,  image_max_pixels, "589824", 1, HONE_ANY_, "acts on images")                                               \
    I(NOOP,  image_min_pixels, "1024", 1, HONE_ANY_, "acts on images")                                                 \
    B(NOOP,  image_do_pan_and_scan, "false", "acts on images")                                                         \
    B(NOOP,  crop_to_patches, "false", "acts on images")                                                               \
    I(NOOP,  video_max_pixels, "65536", 1, HONE_ANY_, "acts on videos")                                                \
    I(NOOP,  video_min_pixels, "256", 1, HONE_ANY_, "acts on videos")                                                  \
    F(NOOP,  video_fps, "2.0", 0, HONE_ANY_, "acts on videos")                                                         \
    I(NOOP,  video_maxlen, "128", 1, HONE_ANY_, "acts on videos")                                                      \
    B(NOOP,  use_audio_in_video, "false", "acts on videos")                                                            \
    I(NOOP,  audio_sampling_rate, "16000", 1, HONE_ANY_, "acts on audio")                                              \
    E(LATER, infer_backend, "huggingface", "huggingface|vllm|sglang|ktransformers", "engine of generation")            \
    E(NOOP,  infer_dtype, "auto", "auto|float16|bfloat16|float32", "acts while generating")                            \
    B(NOOP,  use_kv_cache, "true", "acts while generating")                                                            \
    S(NOOP,  offload_folder, "offload", "acts while generating")                                                       \
    B(NOOP,  print_param_status, "false", "hone inspect model shows every parameter")                                  \
    S(NOOP,  hf_hub_token, "null", "hone downloads nothing")                                                           \
    S(NOOP,  ms_hub_token, "null", "hone downloads nothing")                                                           \
    S(NOOP,  om_hub_token, "null", "hone downloads nothing")                                                           \
    S(LATER, export_dir, "null", "where to write the model; use hone export SRC OUT")                                  \
    I(NOOP,  export_size, "5", 1, 1000, "acts with export_dir")                                                        \
    E(NOOP,  export_device, "cpu", "cpu|auto", "acts with export_dir")                                                 \
    B(NOOP,  export_legacy_format, "false", "acts with export_dir")                                                    \
    I(LATER, export_quantization_bit, "null", 2, 8, "quantise the exported model")                                     \
    S(NOOP,  export_quantization_dataset, "null", "acts with export_quantization_bit")                                 \
    I(NOOP,  export_quantization_nsamples, "128", 1, HONE_ANY_, "acts with export_quantization_bit")                   \
    I(NOOP,  export_quantization_maxlen, "1024", 1, HONE_ANY_, "acts with export_quantization_bit")                    \
    S(LATER, export_hub_model_id, "null", "upload the exported model")                                                 \
    I(NOOP,  vllm_maxlen, "4096", 1, HONE_ANY_, "another engine's")                                                    \
    F(NOOP,  vllm_gpu_util, "0.7", -1, 1, "another engine's")                                                          \
    B(NOOP,  vllm_enforce_eager, "false", "another engine's")                                                          \
    I(NOOP,  vllm_max_lora_rank, "32", 1, HONE_ANY_, "another engine's")                                               \
    M(NOOP,  vllm_config, "null", "another engine's")                                                                  \
    I(NOOP,  sglang_maxlen, "4096", 1, HONE_ANY_, "another engine's")                                                  \
    F(NOOP,  sglang_mem_fraction, "0.7", -1, 1, "another engine's")                                                    \
    I(NOOP,  sglang_tp_size, "-1", -1, HONE_ANY_, "another engine's")                                                  \
    M(NOOP,  sglang_config, "null", "another engine's")                                                                \
    E(NOOP,  sglang_lora_backend, "triton", "triton|flashinfer", "another engine's")                                   \
    B(LATER, use_kt, "false", "train with KTransformers")                                                              \
    E(NOOP,  kt_cpu_activation, "null", "retain|recompute", "acts with use_kt")                                        \
    S(NOOP,  kt_weight_path, "null", "acts with use_kt")                                                               \
    S(NOOP,  kt_non_expert_weight_path, "null", "acts with use_kt")                                                    \
    S(NOOP,  kt_expert_checkpoint_path, "null", "acts with use_kt")                                                    \
    T(NOOP,  kt_use_lora_experts, "null", "acts with use_kt")                                                          \
    M(NOOP,  kt_config, "null", "acts with use_kt")                                                                    \
    I(NOOP,  kt_lora_expert_num, "null", 0, HONE_ANY_, "acts with use_kt")                                             \
    I(NOOP,  kt_lora_expert_intermediate_size, "null", 0, HONE_ANY_, "acts with use_kt")

#define HONE_OPTIONS_METHOD(S, L, I, F, B, T, E, M)                                                                    \
    E(YES,   stage, "sft", HONE_CHOICES_(HONE_STAGE_VALUES), "what is trained: pt = continued pre-training on "        \
      "text, sft = chats")                                                                                             \
    E(YES,   finetuning_type, "lora", HONE_CHOICES_(HONE_FINETUNING_VALUES), "what is updated; full = all weights")    \
    B(LATER, pure_bf16, "false", "weights, gradients and moments in bf16, no f32 master; use bf16: true")              \
    I(NOOP,  lora_rank, "8", 1, HONE_ANY_, "acts with finetuning_type: lora")                                          \
    I(NOOP,  lora_alpha, "null", 0, HONE_ANY_, "acts with finetuning_type: lora")                                      \
    F(NOOP,  lora_dropout, "0.0", 0, 1, "acts with finetuning_type: lora")                                             \
    L(NOOP,  lora_target, "all", "acts with finetuning_type: lora")                                                    \
    L(NOOP,  additional_target, "null", "acts with finetuning_type: lora")                                             \
    B(LATER, use_rslora, "false", "rank-stabilised LoRA")                                                              \
    B(LATER, use_dora, "false", "weight-decomposed LoRA")                                                              \
    F(LATER, loraplus_lr_ratio, "null", 0, HONE_ANY_, "LoRA+ learning-rate ratio")                                     \
    F(NOOP,  loraplus_lr_embedding, "1e-6", 0, HONE_ANY_, "acts with loraplus_lr_ratio")                               \
    B(LATER, pissa_init, "false", "start the adapter from singular vectors")                                           \
    I(NOOP,  pissa_iter, "16", -1, HONE_ANY_, "acts with pissa_init")                                                  \
    B(NOOP,  pissa_convert, "false", "acts with pissa_init")                                                           \
    B(NOOP,  create_new_adapter, "false", "acts with adapter_name_or_path")                                            \
    I(NOOP,  oft_rank, "0", 0, HONE_ANY_, "acts with finetuning_type: oft")                                            \
    I(NOOP,  oft_block_size, "32", 0, HONE_ANY_, "acts with finetuning_type: oft")                                     \
    L(NOOP,  oft_target, "all", "acts with finetuning_type: oft")                                                      \
    F(NOOP,  module_dropout, "0.0", 0, 1, "acts with finetuning_type: oft")                                            \
    I(NOOP,  freeze_trainable_layers, "2", -1000, 1000, "acts with finetuning_type: freeze")                           \
    L(NOOP,  freeze_trainable_modules, "all", "acts with finetuning_type: freeze")                                     \
    L(NOOP,  freeze_extra_modules, "null", "acts with finetuning_type: freeze")                                        \
    B(NOOP,  freeze_vision_tower, "true", "acts on vision-language models")                                            \
    B(NOOP,  freeze_multi_modal_projector, "true", "acts on vision-language models")                                   \
    B(LATER, freeze_language_model, "false", "freeze the language model of a vision-language model")                   \
    B(LATER, use_llama_pro, "false", "train only the added blocks of an expanded model")                               \
    B(LATER, use_muon, "false", "Muon for matrices, AdamW for the rest")                                               \
    B(LATER, use_galore, "false", "GaLore optimizer")                                                                  \
    L(NOOP,  galore_target, "all", "acts with use_galore")                                                             \
    I(NOOP,  galore_rank, "16", 1, HONE_ANY_, "acts with use_galore")                                                  \
    I(NOOP,  galore_update_interval, "200", 1, HONE_ANY_, "acts with use_galore")                                      \
    F(NOOP,  galore_scale, "2.0", 0, HONE_ANY_, "acts with use_galore")                                                \
    E(NOOP,  galore_proj_type, "std", "std|reverse_std|right|left|full", "acts with use_galore")                       \
    B(NOOP,  galore_layerwise, "false", "acts with use_galore")                                                        \
    B(LATER, use_apollo, "false", "APOLLO optimizer")                                                                  \
    L(NOOP,  apollo_target, "all", "acts with use_apollo")                                                             \
    I(NOOP,  apollo_rank, "16", 1, HONE_ANY_, "acts with use_apollo")                                                  \
    I(NOOP,  apollo_update_interval, "200", 1, HONE_ANY_, "acts with use_apollo")                                      \
    F(NOOP,  apollo_scale, "32.0", 0, HONE_ANY_, "acts with use_apollo")                                               \
    E(NOOP,  apollo_proj, "random", "svd|random", "acts with use_apollo")                                              \
    E(NOOP,  apollo_proj_type, "std", "std|right|left", "acts with use_apollo")                                        \
    E(NOOP,  apollo_scale_type, "channel", "channel|tensor", "acts with use_apollo")                                   \
    B(NOOP,  apollo_layerwise, "false", "acts with use_apollo")                                                        \
    B(NOOP,  apollo_scale_front, "false", "acts with use_apollo")                                                      \
    B(LATER, use_badam, "false", "BAdam optimizer")                                                                    \
    E(NOOP,  badam_mode, "layer", "layer|ratio", "acts with use_badam")                                                \
    I(NOOP,  badam_start_block, "null", 0, HONE_ANY_, "acts with use_badam")                                           \
    E(NOOP,  badam_switch_mode, "ascending", "ascending|descending|random|fixed", "acts with use_badam")               \
    I(NOOP,  badam_switch_interval, "50", -1, HONE_ANY_, "acts with use_badam")                                        \
    F(NOOP,  badam_update_ratio, "0.05", 0, 1, "acts with use_badam")                                                  \
    E(NOOP,  badam_mask_mode, "adjacent", "adjacent|scatter", "acts with use_badam")                                   \
    I(NOOP,  badam_verbose, "0", 0, 2, "acts with use_badam")                                                          \
    B(LATER, use_adam_mini, "false", "Adam-mini optimizer")                                                            \
    B(LATER, use_dft_loss, "false", "weight each token's loss by its probability")                                     \
    B(LATER, use_asft_loss, "false", "DFT loss with a KL term to the start model")                                     \
    F(NOOP,  asft_alpha, "0.1", 0, HONE_ANY_, "acts with use_asft_loss")                                               \
    B(LATER, use_eaft_loss, "false", "weight each token's loss by its entropy")                                        \
    F(NOOP,  eaft_alpha, "1.0", 0, HONE_ANY_, "acts with use_eaft_loss")                                               \
    B(YES,   disable_shuffling, "false", "train in the order of the data")                                             \
    B(LATER, compute_accuracy, "false", "share of labelled tokens predicted right, while evaluating")                  \
    I(LATER, early_stopping_steps, "null", 1, HONE_ANY_, "stop after so many evaluations without a better loss")       \
    B(RUN,   plot_loss, "true", "draw the loss curve into output_dir (LLaMA-Factory's default is false)")                  \
    B(NOOP,  include_effective_tokens_per_second, "false", "always in the progress line and metrics.jsonl")            \
    B(LATER, use_swanlab, "false", "log to SwanLab")                                                                   \
    S(NOOP,  swanlab_project, "llamafactory", "acts with use_swanlab")                                                 \
    S(NOOP,  swanlab_workspace, "null", "acts with use_swanlab")                                                       \
    S(NOOP,  swanlab_run_name, "null", "acts with use_swanlab")                                                        \
    E(NOOP,  swanlab_mode, "cloud", "cloud|local", "acts with use_swanlab")                                            \
    S(NOOP,  swanlab_api_key, "null", "acts with use_swanlab")                                                         \
    S(NOOP,  swanlab_logdir, "null", "acts with use_swanlab")                                                          \
    S(NOOP,  swanlab_lark_webhook_url, "null", "acts with use_swanlab")                                                \
    S(NOOP,  swanlab_lark_secret, "null", "acts with use_swanlab")                                                     \
    B(NOOP,  use_mca, "false", "another back end's switch; the training it runs is the same")                          \
    B(NOOP,  use_megatron_bridge, "false", "another back end's switch; the training it runs is the same")              \
    B(NOOP,  use_hyper_parallel, "false", "another back end's switch; the training it runs is the same")               \
    S(NOOP,  hyper_parallel_args, "null", "acts with use_hyper_parallel")                                              \
    I(NOOP,  hyper_parallel_cp_size, "1", 1, HONE_ANY_, "acts with use_hyper_parallel")                                \
    B(LATER, fp8, "false", "matrix products in fp8")                                                                   \
    E(NOOP,  fp8_backend, "auto", "auto|torchao|te|msamp", "acts with fp8")                                            \
    B(NOOP,  fp8_enable_fsdp_float8_all_gather, "false", "acts with fp8")                                              \
    F(NOOP,  pref_beta, "0.1", 0, HONE_ANY_, "acts in preference stages")                                              \
    E(NOOP,  pref_loss, "sigmoid", "sigmoid|hinge|ipo|kto_pair|orpo|simpo", "acts in preference stages")               \
    F(NOOP,  pref_ftx, "0.0", 0, HONE_ANY_, "acts in preference stages")                                               \
    F(NOOP,  pref_bco_weight, "0.0", 0, HONE_ANY_, "acts in preference stages")                                        \
    F(NOOP,  dpo_label_smoothing, "0.0", 0, 0.5, "acts in preference stages")                                          \
    F(NOOP,  simpo_gamma, "0.5", 0, HONE_ANY_, "acts in preference stages")                                            \
    F(NOOP,  ld_alpha, "null", 0, 1, "acts in preference stages")                                                      \
    F(NOOP,  kto_chosen_weight, "1.0", 0, HONE_ANY_, "acts in preference stages")                                      \
    F(NOOP,  kto_rejected_weight, "1.0", 0, HONE_ANY_, "acts in preference stages")                                    \
    S(NOOP,  ref_model, "null", "acts in preference stages")                                                           \
    S(NOOP,  ref_model_adapters, "null", "acts in preference stages")                                                  \
    I(NOOP,  ref_model_quantization_bit, "null", 2, 8, "acts in preference stages")                                    \
    S(NOOP,  reward_model, "null", "acts in stage: ppo")                                                               \
    S(NOOP,  reward_model_adapters, "null", "acts in stage: ppo")                                                      \
    I(NOOP,  reward_model_quantization_bit, "null", 2, 8, "acts in stage: ppo")                                        \
    E(NOOP,  reward_model_type, "lora", "lora|full|api", "acts in stage: ppo")                                         \
    I(NOOP,  ppo_buffer_size, "1", 1, HONE_ANY_, "acts in stage: ppo")                                                 \
    I(NOOP,  ppo_epochs, "4", 1, HONE_ANY_, "acts in stage: ppo")                                                      \
    B(NOOP,  ppo_score_norm, "false", "acts in stage: ppo")                                                            \
    F(NOOP,  ppo_target, "6.0", 0, HONE_ANY_, "acts in stage: ppo")                                                    \
    B(NOOP,  ppo_whiten_rewards, "false", "acts in stage: ppo")

#define HONE_OPTIONS_DATA(S, L, I, F, B, T, E, M)                                                                      \
    L(YES,   dataset, "null", "names in dataset_info.json, or paths: files, folders, patterns; trained together")      \
    L(RUN,   eval_dataset, "null", "the same, held out")                                                               \
    S(YES,   dataset_dir, "data", "folder of dataset_info.json and of the files it names")                             \
    S(NOOP,  media_dir, "null", "acts on images, videos and audio")                                                    \
    S(YES,   template, "null", "name of one of LLaMA-Factory's templates (docs/data.md); null = the chat template that " \
      "the model brings")                                                                                              \
    I(YES,   cutoff_len, "2048", 1, HONE_ANY_, "most tokens of one sample; see truncation")                            \
    I(YES,   max_samples, "null", 1, HONE_ANY_, "first rows of each data set, at most")                                \
    B(YES,   train_on_prompt, "false", "train on every token, not only on answers (sft)")                              \
    B(YES,   mask_history, "false", "train on the last answer only (sft)")                                             \
    T(YES,   packing, "null", "fill each row with several samples, which never see each other; null = on for pt, "     \
      "off for sft")                                                                                                   \
    B(YES,   neat_packing, "false", "as packing (hone's always keeps samples apart); turns it on")                     \
    F(YES,   val_size, "0.0", 0, HONE_ANY_, "held-out rows: a share if below 1, else a count")                         \
    B(RUN,   eval_on_each_dataset, "false", "an evaluation loss for each of eval_dataset as well (eval_NAME_loss)")    \
    B(YES,   streaming, "false", "read the data while training, and hold neither files nor samples; needs max_steps")  \
    I(YES,   buffer_size, "16384", 1, HONE_ANY_, "rows of a stream that are shuffled at a time")                       \
    E(YES,   mix_strategy, "concat", HONE_CHOICES_(HONE_MIX_VALUES), "how data sets are joined: one after another; or " \
      "in turn until the first is through, until all are (the others begin again), or each row once")                  \
    L(YES,   interleave_probs, "null", "share of each data set while interleaving; null = in turn")                    \
    B(RUN,   overwrite_cache, "false", "prepare tokenized_path anew where it holds data of other options or files")    \
    I(NOOP,  preprocessing_batch_size, "1000", 1, HONE_ANY_, "rows are packed over the whole data, not in batches")    \
    I(NOOP,  preprocessing_num_workers, "null", 1, HONE_ANY_, "see threads; the result depends on neither")            \
    S(RUN,   tokenized_path, "null", "folder of prepared samples: made if it is not there, else used if it was made "  \
      "with these options from these files (hone prepare)")                                                            \
    B(LATER, ignore_pad_token_for_loss, "true", "false trains on padding")                                             \
    S(YES,   tool_format, "null", "how a template writes tools and calls; null = as the template's family does")       \
    S(YES,   default_system, "null", "system prompt of rows without one, in place of the template's own")              \
    T(YES,   enable_thinking, "true", "with template, where an empty thought goes if an answer of a reasoning template " \
      "has none: true = it is trained, false or null = to the prompt; false also removes the thoughts there are. "     \
      "Without it, a variable of the model's chat template, given only where it is set; a row's chat_template_kwargs " \
      "go before it")                                                                                                  \
    B(YES,   preserve_thinking, "false", "keep the reasoning of earlier answers, where the template can")              \
    B(NOOP,  data_shared_file_system, "false", "acts with several machines")                                           \
    I(NOOP,  eval_num_beams, "null", 1, HONE_ANY_, "acts with predict_with_generate")

#define HONE_OPTIONS_TRAIN(S, L, I, F, B, T, E, M)                                                                     \
    S(RUN,   output_dir, "null", "where the run writes the model, its checkpoints and its records")                    \
    B(RUN,   overwrite_output_dir, "false", "start anew and replace what an earlier run left in output_dir")           \
    S(RUN,   resume_from_checkpoint, "null", "checkpoint to go on from; null = the newest in output_dir, if there "    \
      "is one; true = the newest in output_dir, and an error if there is none")                                        \
    B(RUN,   do_train, "true", "hone train trains; false is refused there (LLaMA-Factory's default is false)")         \
    B(RUN,   do_eval, "false", "evaluate; on when eval_strategy is not no")                                            \
    B(LATER, do_predict, "false", "generate an answer to each row")                                                    \
    I(YES,   per_device_train_batch_size, "8", 1, 1000000, "samples (packed rows with packing) of one micro-batch")    \
    I(RUN,   per_device_eval_batch_size, "8", 1, 1000000, "samples of one micro-batch while evaluating")               \
    I(YES,   gradient_accumulation_steps, "1", 1, 1000000, "micro-batches of one step")                                \
    F(YES,   learning_rate, "5e-5", 0, 1000, "peak learning rate")                                                     \
    F(YES,   num_train_epochs, "3.0", 0, 1e9, "passes over the data; may have a fraction")                             \
    I(YES,   max_steps, "-1", -1, 1e12, "steps; if above 0, in place of num_train_epochs")                             \
    E(YES,   lr_scheduler_type, "linear", HONE_CHOICES_(HONE_SCHEDULE_VALUES), "learning rate after the warm-up")      \
    M(YES,   lr_scheduler_kwargs, "null", "arguments of the schedule, such as {num_cycles: 0.5}")                      \
    F(YES,   warmup_ratio, "0.0", 0, 1, "share of all steps in which the learning rate rises")                         \
    F(YES,   warmup_steps, "0", 0, 1e12, "steps in which it rises (a share if below 1); if above 0, in place of "      \
      "warmup_ratio")                                                                                                  \
    F(YES,   weight_decay, "0.0", 0, 1000, "decoupled decay of weights; biases and norms have none")                   \
    F(YES,   adam_beta1, "0.9", 0, 1, "decay of the first moment")                                                     \
    F(YES,   adam_beta2, "0.999", 0, 1, "decay of the second moment")                                                  \
    F(YES,   adam_epsilon, "1e-8", 0, 1, "added to the root of the second moment")                                     \
    F(YES,   max_grad_norm, "1.0", 0, HONE_ANY_, "gradients are scaled down to this norm; 0 = never")                  \
    E(YES,   optim, "adamw_torch", HONE_CHOICES_(HONE_OPTIM_VALUES), "optimizer; the three AdamW are one here")        \
    S(LATER, optim_args, "null", "arguments of other optimizers")                                                      \
    L(LATER, optim_target_modules, "null", "modules of other optimizers")                                              \
    B(YES,   bf16, "false", "compute in bf16, with f32 masters, moments and sums; false = f32")                        \
    B(LATER, fp16, "false", "compute in fp16; use bf16: true")                                                         \
    T(NOOP,  tf32, "null", "acts on GPUs")                                                                             \
    B(LATER, bf16_full_eval, "false", "evaluate with bf16 weights; evaluation computes as training does")              \
    B(LATER, fp16_full_eval, "false", "evaluate with fp16 weights")                                                    \
    I(YES,   seed, "42", 0, 4294967295.0, "of shuffling, splits and dropout")                                          \
    I(YES,   data_seed, "null", 0, 4294967295.0, "of shuffling; null = seed")                                          \
    B(NOOP,  full_determinism, "false", "every run is exactly reproducible")                                           \
    F(RUN,   logging_steps, "500", 0, 1e12, "steps between progress lines that stay (a share if below 1); "            \
      "metrics.jsonl has every step")                                                                                  \
    B(NOOP,  logging_first_step, "false", "metrics.jsonl has every step")                                              \
    E(NOOP,  logging_strategy, "steps", "no|steps|epoch", "metrics.jsonl has every step")                              \
    B(NOOP,  logging_nan_inf_filter, "true", "hone logs what was computed; see nonfinite")                             \
    S(NOOP,  logging_dir, "null", "acts with report_to")                                                               \
    B(NOOP,  log_on_each_node, "true", "acts with several machines")                                                   \
    S(NOOP,  log_level, "passive", "see verbose")                                                                      \
    S(NOOP,  log_level_replica, "warning", "acts with several processes")                                              \
    T(NOOP,  disable_tqdm, "null", "there is one progress line, on a terminal only")                                   \
    E(RUN,   save_strategy, "steps", HONE_CHOICES_(HONE_WHEN_VALUES), "when checkpoints are written; after the "       \
      "last step always, unless no")                                                                                   \
    F(RUN,   save_steps, "500", 0, 1e12, "steps between checkpoints (a share if below 1)")                             \
    I(RUN,   save_total_limit, "null", 1, HONE_ANY_, "newest checkpoints kept; null = all")                            \
    B(RUN,   save_only_model, "false", "checkpoints without state/: smaller, and no run can go on from them")          \
    B(NOOP,  save_safetensors, "true", "hone writes nothing else")                                                     \
    B(NOOP,  save_on_each_node, "false", "acts with several machines")                                                 \
    E(RUN,   eval_strategy, "no", HONE_CHOICES_(HONE_WHEN_VALUES), "when the held-out rows are evaluated")             \
    F(RUN,   eval_steps, "null", 0, 1e12, "steps between evaluations (a share if below 1); null = logging_steps")      \
    B(LATER, eval_on_start, "false", "evaluate before the first step")                                                 \
    F(LATER, eval_delay, "0", 0, 1e12, "steps or epochs before the first evaluation")                                  \
    I(NOOP,  eval_accumulation_steps, "null", 1, HONE_ANY_, "evaluation keeps no logits")                              \
    B(NOOP,  prediction_loss_only, "false", "evaluation keeps no logits")                                              \
    B(NOOP,  batch_eval_metrics, "false", "evaluation keeps no logits")                                                \
    B(NOOP,  eval_do_concat_batches, "true", "evaluation keeps no logits")                                             \
    B(LATER, load_best_model_at_end, "false", "end with the checkpoint of the lowest evaluation loss")                 \
    S(NOOP,  metric_for_best_model, "null", "acts with load_best_model_at_end")                                        \
    T(NOOP,  greater_is_better, "null", "acts with load_best_model_at_end")                                            \
    L(LATER, report_to, "none", "trackers to log to; metrics.jsonl is always written")                                 \
    S(NOOP,  run_name, "null", "acts with report_to")                                                                  \
    I(NOOP,  ddp_timeout, "1800", 1, HONE_ANY_, "acts with several processes")                                         \
    S(NOOP,  ddp_backend, "null", "acts with several processes")                                                       \
    T(NOOP,  ddp_find_unused_parameters, "null", "acts with several processes")                                        \
    I(NOOP,  ddp_bucket_cap_mb, "null", 1, HONE_ANY_, "acts with several processes")                                   \
    T(NOOP,  ddp_broadcast_buffers, "null", "acts with several processes")                                             \
    I(NOOP,  local_rank, "-1", -1, HONE_ANY_, "acts with several processes")                                           \
    I(NOOP,  dataloader_num_workers, "0", 0, HONE_ANY_, "see threads")                                                 \
    B(LATER, dataloader_drop_last, "false", "leave out the last micro-batch of an epoch if it is not full")            \
    B(NOOP,  dataloader_pin_memory, "true", "acts on GPUs")                                                            \
    B(NOOP,  dataloader_persistent_workers, "false", "see threads")                                                    \
    I(NOOP,  dataloader_prefetch_factor, "null", 1, HONE_ANY_, "see threads")                                          \
    B(LATER, group_by_length, "false", "batches of samples of like length")                                            \
    E(LATER, train_sampling_strategy, "random", "random|sequential|group_by_length", "order of the samples; see "      \
      "disable_shuffling")                                                                                             \
    S(NOOP,  length_column_name, "length", "acts with group_by_length")                                                \
    F(LATER, neftune_noise_alpha, "null", 0, HONE_ANY_, "noise added to embeddings while training")                    \
    F(LATER, label_smoothing_factor, "0.0", 0, 1, "share of the target spread over the vocabulary")                    \
    B(NOOP,  average_tokens_across_devices, "true", "the loss is always one mean over all tokens of the step")         \
    E(NOOP,  include_num_input_tokens_seen, "no", "no|all|non_padding|true", "metrics.jsonl always has the tokens")    \
    B(LATER, predict_with_generate, "false", "generate while evaluating")                                              \
    B(NOOP,  sortish_sampler, "false", "acts with predict_with_generate")                                              \
    I(NOOP,  generation_max_length, "null", 1, HONE_ANY_, "acts with predict_with_generate")                           \
    I(NOOP,  generation_num_beams, "null", 1, HONE_ANY_, "acts with predict_with_generate")                            \
    S(NOOP,  generation_config, "null", "acts with predict_with_generate")                                             \
    B(NOOP,  do_sample, "true", "acts while generating")                                                               \
    F(NOOP,  temperature, "0.95", 0, HONE_ANY_, "acts while generating")                                               \
    F(NOOP,  top_p, "0.7", 0, 1, "acts while generating")                                                              \
    I(NOOP,  top_k, "50", -1, HONE_ANY_, "acts while generating")                                                      \
    I(NOOP,  num_beams, "1", 1, HONE_ANY_, "acts while generating")                                                    \
    I(NOOP,  max_length, "1024", 1, HONE_ANY_, "acts while generating (the longest sample is cutoff_len)")             \
    I(NOOP,  max_new_tokens, "1024", 1, HONE_ANY_, "acts while generating")                                            \
    F(NOOP,  repetition_penalty, "1.0", 0, HONE_ANY_, "acts while generating")                                         \
    F(NOOP,  length_penalty, "1.0", -HONE_ANY_, HONE_ANY_, "acts while generating")                                    \
    B(NOOP,  skip_special_tokens, "true", "acts while generating")                                                     \
    M(LATER, deepspeed, "null", "ZeRO settings, or the path of their JSON; there is one process here")                 \
    L(LATER, fsdp, "null", "sharding over processes; there is one process here")                                       \
    M(LATER, fsdp_config, "null", "sharding over processes; there is one process here")                                \
    M(NOOP,  accelerator_config, "null", "another engine's")                                                           \
    B(NOOP,  torch_compile, "false", "another engine's")                                                               \
    S(NOOP,  torch_compile_backend, "null", "another engine's")                                                        \
    S(NOOP,  torch_compile_mode, "null", "another engine's")                                                           \
    I(NOOP,  torch_empty_cache_steps, "null", 1, HONE_ANY_, "another engine's")                                        \
    B(NOOP,  use_liger_kernel, "false", "another engine's")                                                            \
    T(NOOP,  gradient_checkpointing, "null", "LLaMA-Factory sets its own; see disable_gradient_checkpointing")         \
    M(NOOP,  gradient_checkpointing_kwargs, "null", "see disable_gradient_checkpointing")                              \
    B(NOOP,  use_cpu, "false", "training is on the CPU")                                                               \
    B(LATER, auto_find_batch_size, "false", "halve the batch until it fits")                                           \
    B(LATER, ignore_data_skip, "false", "start the data anew on resume")                                               \
    B(NOOP,  remove_unused_columns, "true", "always as LLaMA-Factory does")                                            \
    L(NOOP,  label_names, "null", "always as LLaMA-Factory does")                                                      \
    B(NOOP,  skip_memory_metrics, "true", "memory is always shown")                                                    \
    S(NOOP,  debug, "null", "another engine's")                                                                        \
    B(LATER, push_to_hub, "false", "upload the model; hone uploads nothing")                                           \
    S(NOOP,  hub_model_id, "null", "acts with push_to_hub")                                                            \
    S(NOOP,  hub_strategy, "every_save", "acts with push_to_hub")                                                      \
    S(NOOP,  hub_token, "null", "acts with push_to_hub")                                                               \
    T(NOOP,  hub_private_repo, "null", "acts with push_to_hub")                                                        \
    B(NOOP,  hub_always_push, "false", "acts with push_to_hub")                                                        \
    S(NOOP,  hub_revision, "null", "acts with push_to_hub")                                                            \
    B(NOOP,  enable_torch_profiler, "false", "another engine's profiler")                                              \
    S(NOOP,  profiler_output_dir, "null", "acts with enable_torch_profiler")                                           \
    I(NOOP,  ray_num_workers, "1", 1, HONE_ANY_, "another launcher's")

#define HONE_OPTIONS_OWN(S, L, I, F, B, T, E, M)                                                                       \
    I(RUN,   threads, "0", 0, 1024, "threads that compute; 0 = as many as processors; the result does not depend "     \
      "on it")                                                                                                         \
    B(RUN,   verbose, "false", "show the places in the program that an error passed")                                  \
    B(RUN,   profile, "false", "show at the end where the time went, per op and pass")                                 \
    E(YES,   data_format, "auto", HONE_CHOICES_(HONE_DATA_FORMAT_VALUES), "what rows hold; auto = as "                 \
      "dataset_info.json says, or by the keys of the first row")                                                       \
    E(YES,   bad_rows, "error", HONE_CHOICES_(HONE_BAD_ROWS_VALUES), "rows that cannot be rendered: refuse the "       \
      "data, or leave them out (each is listed)")                                                                      \
    E(YES,   truncation, "auto", HONE_CHOICES_(HONE_TRUNCATION_VALUES), "samples longer than cutoff_len: refuse, "     \
      "leave out, keep their end or start, or cut turn by turn as LLaMA-Factory (fit; needs template); auto = fit "    \
      "where template is set, else cut-right")                                                                         \
    E(YES,   packing_strategy, "best_fit", HONE_CHOICES_(HONE_PACKING_STRATEGY_VALUES), "how packing fills rows: "     \
      "longest sample first into the fullest row that holds it, or in the order of the data (greedy)")                 \
    B(YES,   append_eos, "true", "end each document with the EOS token (pt)")                                          \
    S(YES,   tool_date, "null", "the day that tool texts of format llama3 carry, such as 29 Nov 2026; null = today")    \
    B(YES,   llamafactory_quirks, "false", "do what LLaMA-Factory does even where it seems a fault (docs/data.md lists " \
      "them)")                                                                                                         \
    I(YES,   pack_length, "null", 1, HONE_ANY_, "tokens of a packed row; null = cutoff_len")                           \
    I(YES,   global_batch_size, "null", 1, HONE_ANY_, "samples of one step, in place of gradient_accumulation_steps")  \
    I(YES,   global_batch_tokens, "null", 1, HONE_ANY_, "tokens of one step, in place of gradient_accumulation_steps") \
    F(YES,   dropout, "null", 0, 1, "overrides every dropout of config.json; null = as there")                         \
    E(RUN,   recompute, "null", HONE_CHOICES_(HONE_RECOMPUTE_VALUES), "recompute activations in the backward "         \
      "pass; null = layer, or none with "                                                                              \
      "disable_gradient_checkpointing; the result does not depend on it")                                              \
    E(YES,   nonfinite, "stop", HONE_CHOICES_(HONE_NONFINITE_VALUES), "a loss or gradient that is NaN or "             \
      "infinite: stop, or skip the step")                                                                              \
    E(YES,   op_policy, "auto", HONE_OP_POLICY_CHOICES_, "kernels: the best there is, native = reference only, "       \
      "custom = optimised only")                                                                                       \
    E(RUN,   export_dtype, "as-input", HONE_CHOICES_(HONE_EXPORT_DTYPE_VALUES), "dtype of the weights that are "       \
      "written; bf16 rounds the f32 masters, so the loss of what is written is not quite the run's")

#define HONE_OPTION_GROUPS(G)                                                                                          \
    G("Model", HONE_OPTIONS_MODEL) G("Method", HONE_OPTIONS_METHOD) G("Data", HONE_OPTIONS_DATA)                       \
    G("Training", HONE_OPTIONS_TRAIN) G("hone's own", HONE_OPTIONS_OWN)

/* X(spelling in ms-swift, name here): offered when such a key is met. Not accepted, since defaults and values differ. */
#define HONE_SWIFT_NAMES(X)                                                                                            \
    X(model, model_name_or_path) X(tuner_type, finetuning_type) X(train_type, finetuning_type)                         \
    X(adapters, adapter_name_or_path)                                                                                  \
    X(attn_impl, flash_attn) X(torch_dtype, bf16) X(target_modules, lora_target) X(modules_to_save, additional_target) \
    X(lorap_lr_ratio, loraplus_lr_ratio) X(val_dataset, eval_dataset) X(split_dataset_ratio, val_size)                 \
    X(dataset_num_proc, preprocessing_num_workers) X(load_from_cache_file, overwrite_cache) X(system, default_system)  \
    X(truncation_strategy, truncation) X(packing_length, pack_length) X(padding_free, packing)                         \
    X(max_pixels, image_max_pixels)                                                                                    \
    X(rlhf_type, stage) X(beta, pref_beta) X(loss_type, pref_loss) X(rpo_alpha, pref_ftx)                              \
    X(label_smoothing, dpo_label_smoothing) X(desirable_weight, kto_chosen_weight)                                     \
    X(undesirable_weight, kto_rejected_weight)                                                                         \
    X(freeze_llm, freeze_language_model) X(freeze_vit, freeze_vision_tower)                                            \
    X(freeze_aligner, freeze_multi_modal_projector)                                                                    \
    X(router_aux_loss_coef, moe_aux_loss_coef) X(enable_dft_loss, use_dft_loss) X(dataset_shuffle, disable_shuffling)  \
    X(train_dataloader_shuffle, disable_shuffling) X(shuffle_buffer_size, buffer_size)                                 \
    X(interleave_prob, interleave_probs)                                                                               \
    X(early_stop_interval, early_stopping_steps) X(max_epochs, num_train_epochs) X(strict, bad_rows) \
    X(loss_scale, train_on_prompt)

#endif /* HONE_OPTION_OPTION_LIST_H */
