#!/usr/bin/env python3
"""Writes src/text/template/unicode_table.c: what Python's str methods make of each code point.

Python 3.12 (Unicode 15.0) is the reference, read through the str methods themselves. Equal code points share a record; blocks
of 128 record numbers are shared too. Mappings of one code point are stored as differences, longer ones in a list.
"""
import pathlib
import re
import sys
import unicodedata

OUT = pathlib.Path(__file__).resolve().parents[2] / "src" / "text" / "template" / "unicode_table.c"
assert unicodedata.unidata_version == "15.0.0", sys.version
FLAGS = ["ALPHA", "DECIMAL", "DIGIT", "NUMERIC", "LOWER", "UPPER", "TITLE", "CASED", "IGNORED", "PRINT", "ID_START", "ID_NEXT", "WORD"]
word = re.compile(r"\w")


def flags(c):
    u = chr(c)
    # cased and case-ignorable, seen through the final sigma of lower(): "A" + u + "Σ" ends in ς unless u is neither
    ignored = ("A" + u + "\u03a3").lower()[-1] == "\u03c2" and ("1" + u + "\u03a3").lower()[-1] == "\u03c3"
    cased = ("1" + u + "\u03a3").lower()[-1] == "\u03c2"
    bits = [u.isalpha(), u.isdecimal(), u.isdigit(), u.isnumeric(), u.islower(), u.isupper(), unicodedata.category(u) == "Lt", cased or u.islower() or u.isupper() or unicodedata.category(u) == "Lt", ignored,
            u.isprintable(), u.isidentifier(), ("a" + u).isidentifier(), bool(word.match(u))]
    return sum(bit << i for i, bit in enumerate(bits))


def main():
    longer, records, numbers, values = [], {}, [], []

    def mapping(c, text):
        if len(text) == 1:
            return ord(text) - c
        entry = tuple(ord(x) for x in text) + (0,) * (3 - len(text))
        if entry not in longer:
            longer.append(entry)
        return 0x200000 + longer.index(entry)

    for c in range(0x110000):
        u = chr(c)
        record = (0, 0, 0, 0, 0)
        if not 0xD800 <= c < 0xE000:
            record = (flags(c), mapping(c, u.upper()), mapping(c, u.lower()), mapping(c, u.title()), mapping(c, u.casefold()))
        values.append(records.setdefault(record, len(records)))
    blocks, index = {}, []
    for i in range(0, 0x110000, 128):
        index.append(blocks.setdefault(tuple(values[i:i + 128]), len(blocks)))
    assert len(blocks) < 65536 and len(records) < 65536

    def numbers_of(items, width=118):
        lines, line = [], "   "
        for x in items:
            if len(line) + len(str(x)) + 2 > width:
                lines.append(line)
                line = "   "
            line += f" {x},"
        return "\n".join(lines + [line])

    with open(OUT, "w") as f:
        f.write("/* Made by tools/golden/template_unicode.py from Python's str (Unicode %s); do not edit. */\n" % unicodedata.unidata_version)
        f.write('#include "text/template/unicode.h"\n\n')
        f.write("const tpl_uc_record tpl_uc_records[] = {\n")
        for r in records:
            f.write("    { 0x%04x, %d, %d, %d, %d },\n" % r)
        f.write("};\n\nconst tpl_uc_longer tpl_uc_longers[] = {\n")
        for entry in longer:
            f.write("    { { 0x%04X, 0x%04X, 0x%04X } },\n" % entry)
        f.write("};\n\nconst uint16_t tpl_uc_index[] = {\n" + numbers_of(index) + "\n};\n\n")
        f.write("const uint16_t tpl_uc_values[] = {\n" + numbers_of([v for b in blocks for v in b]) + "\n};\n")
    print(len(records), "records", len(longer), "longer", len(blocks), "blocks")


if __name__ == "__main__":
    main()
