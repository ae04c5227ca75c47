#!/usr/bin/env python3
"""A qwen3-shaped model directory to pre-train: tokenizer, chat template and random weights.

    python3 tools/demo/model.py CORPUS.jsonl OUT

The tokenizer is a byte-level BPE with Qwen2's pattern, trained on the text.
"""
import json
import pathlib
import shutil
import sys

import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

VOCAB = 2560
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def make_tokenizer(texts, out):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(PATTERN), "isolated"),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tok.post_processor = processors.ByteLevel(trim_offsets=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCAB - len(SPECIAL), show_progress=False,
                                                       initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tok.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL])
    assert tok.get_vocab_size() == VOCAB
    tok.save(str(out / "tokenizer.json"))
    added = {str(tok.token_to_id(s)): {"content": s, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
                                       "special": True} for s in SPECIAL}
    config = {"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False, "added_tokens_decoder": added,
              "additional_special_tokens": SPECIAL[1:], "bos_token": None, "clean_up_tokenization_spaces": False,
              "eos_token": SPECIAL[0], "pad_token": SPECIAL[0], "unk_token": None, "model_max_length": 512,
              "split_special_tokens": False}
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    return [tok.token_to_id(s) for s in SPECIAL]


def make_model(eos, turn_end, out):
    config = transformers.Qwen3Config(
        vocab_size=VOCAB, hidden_size=128, intermediate_size=384, num_hidden_layers=6, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=512, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, bos_token_id=None, eos_token_id=eos, pad_token_id=eos)
    torch.manual_seed(1)
    model = transformers.Qwen3ForCausalLM(config).to(torch.bfloat16)
    # A base model stops after a document, a tuned one after its turn: both ids are known from the start.
    model.generation_config = transformers.GenerationConfig(eos_token_id=[turn_end, eos], pad_token_id=eos)
    model.save_pretrained(out)
    print(f"{model.num_parameters()} parameters in {out}")


def main():
    corpus, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    texts = [json.loads(line)["text"] for line in open(corpus)]
    eos, _, turn_end = make_tokenizer(texts, out)
    make_model(eos, turn_end, out)
    shutil.copy(pathlib.Path(__file__).parent / "chat_template.jinja", out)


main()
