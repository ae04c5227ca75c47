#!/usr/bin/env python3
"""English for pre-training from the data files of Debian's wordnet-base.

    python3 tools/demo/corpus.py /usr/share/wordnet OUT.jsonl [CHARACTERS]

A row is {"text": …}: neighbouring entries of the dictionary, each "words: definition." and its example sentences.
The rows are in a seeded random order, cut after CHARACTERS characters.
"""
import json
import pathlib
import random
import re
import sys

PAGE = 600  # characters of a row, about 200 tokens
# Insults and the like have no place in a demo; names of species and of places would be half of the text.
UNWANTED = re.compile(r"obscen|slur|vulgar|offensive|disparag|derogat|ethnic|racis|negro|sexual|prostitut|genital|copulat|penis|vagin"
                      r"|genus|famil(y|ies) [A-Z]|species", re.I)
NAMES = {"05", "15", "18", "20"}  # lexicographer files of animals, places, persons, plants: only words counted in running text


def counted(folder):
    """Words with a count in the tagged texts."""
    return {line.split("%")[0] for line in open(folder / "cntlist.rev", encoding="latin-1")}


def entry(line, part, common):
    data, gloss = line.rstrip().split(" | ", 1)
    fields = data.split(" ")
    words = [re.sub(r"\((a|p|ip)\)$", "", w) for w in fields[4:4 + 2 * int(fields[3], 16):2]]
    if fields[1] in NAMES and not any(w.lower() in common for w in words) or UNWANTED.search(gloss):
        return None
    if re.search(r'" ?-', gloss):  # an example that quotes an author
        gloss = gloss[:gloss.index('"')].rstrip("; ")
    meaning, *examples = re.split(r';? *"([^"]*)"[; ]*', gloss)
    examples = [e.strip() for e in examples if e.strip(" ;,.:")]
    words = ", ".join(w.replace("_", " ") for w in words[:3])
    text = f"{'to ' if part == 'verb' else ''}{words}: {meaning.strip('; ')}."
    for e in examples[:2]:
        text += f" {e[0].upper()}{e[1:]}{'' if e[-1] in '.?!' else '.'}"
    return text if meaning.strip("; ") and text.isascii() else None


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else 10**9
    common, pages = counted(folder), []
    for part in ("noun", "verb", "adj", "adv"):
        page = ""
        for line in open(folder / f"data.{part}", encoding="latin-1"):
            text = None if line.startswith("  ") else entry(line, part, common)
            if text:
                page += ("\n" if page else "") + text
            if len(page) >= PAGE:
                pages.append(page)
                page = ""
        pages.append(page)
    random.Random(1).shuffle(pages)
    total = 0
    with open(out, "w") as f:
        for page in pages:
            if page and total < limit:
                f.write(json.dumps({"text": page}) + "\n")
                total += len(page)
    print(f"{total} characters of text in {out}")


main()
