#!/usr/bin/env python3
"""Write src/text/unicode/table.c: what the reference tokenizers library takes each code point to be.

The library mixes several Unicode versions (its regular expressions, its standard library and its normalizer each bring
their own), so the tables are read off the library itself, code point by code point.

Made with tokenizers==0.23.3. Run: python tools/golden/tokenizer_unicode.py > src/text/unicode/table.c
"""
import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
GC = "Cn Cc Cf Co Cs Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp".split()
WORD_REGEX, WORD_RUST, NUMERIC_RUST, PUNCT, DECOMP, DECOMP_COMPAT, CCC, NFC_ACTIVE, SPACE = (1 << i for i in range(9))


def removed_by(pre):
    """Code points that a pre-tokenizer with behaviour "removed" takes away."""
    out = set()
    for i in range(0, len(CODE_POINTS), 4096):
        chunk = CODE_POINTS[i:i + 4096]
        kept = "".join(s for s, _ in pre.pre_tokenize_str("".join(map(chr, chunk))))
        out.update(set(chunk) - set(map(ord, kept)))
    return out


def regex_set(pattern):
    return removed_by(pre_tokenizers.Split(Regex(pattern), "removed"))


def pieces(pre, c):
    return len(pre.pre_tokenize_str("a" + chr(c) + "a"))


def normalization():
    """Sets of code points: with a canonical / compatibility decomposition, with a combining class, not inert under NFC."""
    nfc, nfd, nfkd = normalizers.NFC(), normalizers.NFD(), normalizers.NFKD()
    decomp = {c for c in CODE_POINTS if nfd.normalize_str(chr(c)) != chr(c)}
    compat = {c for c in CODE_POINTS if nfkd.normalize_str(chr(c)) != chr(c)}
    # A mark with combining class k != 0 stays in place exactly where canonical ordering keeps it. Classes never change
    # once assigned, so the only question is whether the library's version knows the mark: it is moved by a neighbour.
    ccc = set()
    for c in CODE_POINTS:
        k = unicodedata.combining(chr(c))
        if not k:
            continue
        if k > 1:
            moved = nfd.normalize_str("a" + chr(c) + "\u0334") == "a\u0334" + nfd.normalize_str(chr(c))    # class 1
        else:
            moved = nfd.normalize_str("a\u0345" + chr(c)) == "a" + chr(c) + "\u0345"                    # class 240
        if moved:
            ccc.add(c)
    second = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for c in decomp:
        parts = unicodedata.decomposition(chr(c)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            a, b = (int(p, 16) for p in parts)
            if nfc.normalize_str(chr(a) + chr(b)) == chr(c):
                second.add(b)
    active = ccc | second | {c for c in CODE_POINTS if nfc.normalize_str(chr(c)) != chr(c)}
    return decomp, compat, ccc, active


def lower_runs():
    """(first, last, step, delta) of simple lower case mappings, and the few that give two code points."""
    low = normalizers.Lowercase()
    single, multi, runs = [], [], []
    for c in CODE_POINTS:
        r = low.normalize_str(chr(c))
        if r != chr(c):
            (single if len(r) == 1 else multi).append((c, [ord(x) for x in r]))
    assert multi == [(0x130, [0x69, 0x307])], multi
    for c, (l,) in single:
        if runs and runs[-1][3] == l - c:
            first, last, step, _ = runs[-1]
            gap = c - last
            if gap <= 2 and (first == last or gap == step):
                runs[-1] = (first, c, gap, l - c)
                continue
        runs.append((c, c, 1, l - c))
    return runs


def emit(name, type_, values, per_line=24):
    print(f"const {type_} {name}[{len(values)}] = {{")
    for i in range(0, len(values), per_line):
        print("    " + ", ".join(str(v) for v in values[i:i + per_line]) + ",")
    print("};\n")


def main():
    category = dict.fromkeys(range(0x110000), GC.index("Cn"))
    category.update(dict.fromkeys(range(0xD800, 0xE000), GC.index("Cs")))
    for g in GC:
        if g not in ("Cn", "Cs"):
            for c in regex_set(r"\p{%s}" % g):
                category[c] = GC.index(g)
    space = regex_set(r"\s")
    assert space == removed_by(pre_tokenizers.WhitespaceSplit())
    decomp, compat, ccc, active = normalization()
    whitespace, digits = pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False)
    sets = {
        WORD_REGEX: regex_set(r"\w"),
        WORD_RUST: {c for c in CODE_POINTS if pieces(whitespace, c) == 1},
        NUMERIC_RUST: {c for c in CODE_POINTS if pieces(digits, c) == 3},
        PUNCT: removed_by(pre_tokenizers.Punctuation("removed")),
        DECOMP: decomp, DECOMP_COMPAT: compat, CCC: ccc, NFC_ACTIVE: active, SPACE: space,
    }
    flags = [0] * 0x110000
    for bit, members in sets.items():
        for c in members:
            flags[c] |= bit
    records, record_of, values = [], {}, []
    for c in range(0x110000):
        r = (category[c], flags[c])
        if r not in record_of:
            record_of[r] = len(records)
            records.append(r)
        values.append(record_of[r])
    assert len(records) < 256
    blocks, block_of, index = [], {}, []
    for i in range(0, 0x110000, 128):
        b = tuple(values[i:i + 128])
        if b not in block_of:
            block_of[b] = len(blocks)
            blocks.append(b)
        index.append(block_of[b])
    assert len(blocks) < 65536
    print("/* Made by tools/golden/tokenizer_unicode.py from the tokenizers library; do not edit. */")
    print('#include "text/unicode/unicode.h"\n')
    print(f"const hone_unicode_record hone_unicode_records[{len(records)}] = {{")
    for i in range(0, len(records), 8):
        print("    " + ", ".join("{ %d, %d }" % r for r in records[i:i + 8]) + ",")
    print("};\n")
    emit("hone_unicode_index", "uint16_t", index)
    emit("hone_unicode_values", "uint8_t", [v for b in blocks for v in b], 32)
    runs = lower_runs()
    print(f"const size_t hone_unicode_n_lower = {len(runs)};")
    print(f"const hone_unicode_lower_run hone_unicode_lower[{len(runs)}] = {{")
    for i in range(0, len(runs), 3):
        print("    " + ", ".join("{ 0x%x, 0x%x, %d, %d }" % r for r in runs[i:i + 3]) + ",")
    print("};")
    print(f"{len(records)} records, {len(blocks)} blocks, {len(runs)} lower case runs", file=sys.stderr)


main()
