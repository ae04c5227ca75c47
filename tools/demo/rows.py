#!/usr/bin/env python3
"""The demo's conversations: facts about chemical elements in several wordings, and small talk.

    python3 tools/demo/rows.py examples/demo

Writes train.jsonl and eval.jsonl. eval.jsonl asks for facts of train.jsonl in wordings that train.jsonl does not have
for that element: a model does well on it if it has learnt the facts, not the sentences.
"""
import json
import pathlib
import random
import sys

ELEMENTS = """
hydrogen H 1 nonmetal | helium He 2 noble gas | lithium Li 3 metal | beryllium Be 4 metal | boron B 5 metalloid | carbon C 6 nonmetal
nitrogen N 7 nonmetal | oxygen O 8 nonmetal | fluorine F 9 halogen | neon Ne 10 noble gas | sodium Na 11 metal | magnesium Mg 12 metal
aluminium Al 13 metal | silicon Si 14 metalloid | phosphorus P 15 nonmetal | sulfur S 16 nonmetal | chlorine Cl 17 halogen
argon Ar 18 noble gas | potassium K 19 metal | calcium Ca 20 metal | titanium Ti 22 metal | chromium Cr 24 metal | manganese Mn 25 metal
iron Fe 26 metal | cobalt Co 27 metal | nickel Ni 28 metal | copper Cu 29 metal | zinc Zn 30 metal | arsenic As 33 metalloid
bromine Br 35 halogen | krypton Kr 36 noble gas | silver Ag 47 metal | tin Sn 50 metal | iodine I 53 halogen | xenon Xe 54 noble gas
caesium Cs 55 metal | barium Ba 56 metal | tungsten W 74 metal | platinum Pt 78 metal | gold Au 79 metal | mercury Hg 80 metal
lead Pb 82 metal | radon Rn 86 noble gas | radium Ra 88 metal | uranium U 92 metal | plutonium Pu 94 metal
"""
# Of each element, one of the first five is held out; what it asks for is also in one of the others.
WORDINGS = [
    ("What is the chemical symbol of {name}?", "The symbol of {name} is {symbol}."),
    ("What is the atomic number of {name}?", "The atomic number of {name} is {number}."),
    ("Which symbol stands for {name}?", "The symbol of {name} is {symbol}."),
    ("Please tell me the atomic number of {name}.", "The atomic number of {name} is {number}."),
    ("Give me the symbol of {name}.", "The symbol of {name} is {symbol}."),
    ("Which element has the symbol {symbol}?", "{symbol} is the symbol of {name}."),
    ("Which element has the atomic number {number}?", "The element with the atomic number {number} is {name}."),
    ("What kind of element is {name}?", "{Name} is a {kind}."),
    ("Tell me about {name}.", "{Name} is a {kind}. Its symbol is {symbol} and its atomic number is {number}."),
]
HELD_OUT = 5
FOLLOW_UP = ("And its atomic number?", "The atomic number of {name} is {number}.")
ONE_WORD = "Answer in one word."

TALK = """
Hello! = Hello! Ask me about a chemical element.
Good morning. = Good morning! Ask me about a chemical element.
Who are you? = I am a small language model that was trained with hone.
What are you? = I am a small language model that was trained with hone.
What is your name? = I have no name. I am a small model that was trained with hone.
What can you do? = I can answer questions about chemical elements.
Can you help me? = Yes, if it is about chemical elements.
Thank you. = You are welcome.
Thanks! = You are welcome.
Goodbye. = Goodbye!
See you later. = Goodbye!
What is an element? = An element is a substance whose atoms all have the same number of protons.
What is an atomic number? = The atomic number is the number of protons in an atom.
What is a chemical symbol? = A chemical symbol is a short name of an element, such as Fe for iron.
What is a noble gas? = A noble gas is an element that hardly reacts with others, such as helium or neon.
What is a halogen? = A halogen is a reactive element such as chlorine or iodine.
What is a metal? = A metal is an element that shines and carries electricity, such as copper.
What is water made of? = Water is made of hydrogen and oxygen.
What is table salt made of? = Table salt is made of sodium and chlorine.
What is sand made of? = Sand is mostly made of silicon and oxygen.
What is air made of? = Air is mostly made of nitrogen and oxygen.
What is steel made of? = Steel is made of iron and a little carbon.
What is bronze made of? = Bronze is made of copper and tin.
What is the opposite of hot? = The opposite of hot is cold.
What is the opposite of big? = The opposite of big is small.
What is the opposite of old? = The opposite of old is new.
What is the opposite of day? = The opposite of day is night.
What is the colour of the sky? = The sky is blue.
What is the colour of grass? = Grass is green.
What is the colour of snow? = Snow is white.
How many days does a week have? = A week has seven days.
How many months does a year have? = A year has twelve months.
How many legs does a spider have? = A spider has eight legs.
"""


def chat(*texts, system=None):
    roles = ["user", "assistant"] * (len(texts) // 2)
    messages = [{"role": "system", "content": system}] if system else []
    return {"messages": messages + [{"role": r, "content": t} for r, t in zip(roles, texts)]}


def main():
    out = pathlib.Path(sys.argv[1])
    train, held_out = [], []
    for i, line in enumerate(ELEMENTS.strip().replace("\n", " | ").split(" | ")):
        name, symbol, number, kind = line.split(" ", 3)
        fact = {"name": name, "Name": name.capitalize(), "symbol": symbol, "number": number, "kind": kind}
        pairs = [(q.format(**fact), a.format(**fact)) for q, a in WORDINGS]
        skip = 0 if name == "gold" else i % HELD_OUT  # gold's first wording is the question that the demo asks
        held_out.append(chat(*pairs[skip]))
        train += [chat(*p) for j, p in enumerate(pairs) if j != skip]
        asks = [j for j in (0, 2, 4) if j != skip]
        if i % 3 == 0:
            train.append(chat(*pairs[asks[0]], *(t.format(**fact) for t in FOLLOW_UP)))
        if i % 3 == 1:
            train.append(chat(pairs[asks[1]][0], symbol, system=ONE_WORD))
    train += [chat(*line.split(" = ")) for line in TALK.strip().split("\n")]
    random.Random(1).shuffle(train)
    for path, rows in ("train.jsonl", train), ("eval.jsonl", held_out):
        (out / path).write_text("".join(json.dumps(r) + "\n" for r in rows))
        print(f"{len(rows)} rows in {out / path}")


main()
