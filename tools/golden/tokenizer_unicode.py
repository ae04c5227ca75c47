#!/usr/bin/env python3
"""Write src/text/unicode/table.c: what the reference tokenizers library takes each code point to be.

The library mixes several Unicode versions (its regular expressions, its standard library and its normalizer each bring
their own), so the tables are read off the library itself, code point by code point.

Made with tokenizers==0.23.3. Run: python tools/golden/tokenizer_unicode.py > src/text/unicode/table.c
and, for the named sets of regular expressions, python tools/golden/tokenizer_unicode.py sets > src/text/unicode/sets.c
"""
import struct
import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
GC = "Cn Cc Cf Co Cs Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp".split()
WORD_REGEX, WORD_RUST, NUMERIC_RUST, PUNCT, DECOMP, DECOMP_COMPAT, CCC, NFC_ACTIVE, SPACE, CONTROL, NONSPACING, MARK = (
    1 << i for i in range(12))
# Names that \\p{...} takes beside general categories: long/short names of scripts, then properties.
SCRIPTS = """
Adlam/Adlm Ahom Anatolian_hieroglyphs/Hluw Arabic/Arab Armenian/Armn Avestan/Avst Balinese/Bali Bamum/Bamu
Bassa_vah/Bass Batak/Batk Bengali/Beng Bhaiksuki/Bhks Bopomofo/Bopo Brahmi/Brah Braille/Brai Buginese/Bugi Buhid/Buhd
Canadian_aboriginal/Cans Carian/Cari Caucasian_albanian/Aghb Chakma/Cakm Cham Cherokee/Cher Chorasmian/Chrs
Common/Zyyy Coptic/Copt Cuneiform/Xsux Cypriot/Cprt Cypro_minoan/Cpmn Cyrillic/Cyrl Deseret/Dsrt Devanagari/Deva
Dives_akuru/Diak Dogra/Dogr Duployan/Dupl Egyptian_hieroglyphs/Egyp Elbasan/Elba Elymaic/Elym Ethiopic/Ethi
Georgian/Geor Glagolitic/Glag Gothic/Goth Grantha/Gran Greek/Grek Gujarati/Gujr Gunjala_gondi/Gong Gurmukhi/Guru
Han/Hani Hangul/Hang Hanifi_rohingya/Rohg Hanunoo/Hano Hatran/Hatr Hebrew/Hebr Hiragana/Hira Imperial_aramaic/Armi
Inherited/Zinh Inscriptional_pahlavi/Phli Inscriptional_parthian/Prti Javanese/Java Kaithi/Kthi Kannada/Knda
Katakana/Kana Kayah_li/Kali Kharoshthi/Khar Khitan_small_script/Kits Khmer/Khmr Khojki/Khoj Khudawadi/Sind Lao/Laoo
Latin/Latn Lepcha/Lepc Limbu/Limb Linear_a/Lina Linear_b/Linb Lisu Lycian/Lyci Lydian/Lydi Mahajani/Mahj Makasar/Maka
Malayalam/Mlym Mandaic/Mand Manichaean/Mani Marchen/Marc Masaram_gondi/Gonm Medefaidrin/Medf Meetei_mayek/Mtei
Mende_kikakui/Mend Meroitic_cursive/Merc Meroitic_hieroglyphs/Mero Miao/Plrd Modi Mongolian/Mong Mro/Mroo Multani/Mult
Myanmar/Mymr Nabataean/Nbat Nandinagari/Nand New_tai_lue/Talu Newa Nko/Nkoo Nushu/Nshu Nyiakeng_puachue_hmong/Hmnp
Ogham/Ogam Ol_chiki/Olck Old_hungarian/Hung Old_italic/Ital Old_north_arabian/Narb Old_permic/Perm Old_persian/Xpeo
Old_sogdian/Sogo Old_south_arabian/Sarb Old_turkic/Orkh Old_uyghur/Ougr Oriya/Orya Osage/Osge Osmanya/Osma
Pahawh_hmong/Hmng Palmyrene/Palm Pau_cin_hau/Pauc Phags_pa/Phag Phoenician/Phnx Psalter_pahlavi/Phlp Rejang/Rjng
Runic/Runr Samaritan/Samr Saurashtra/Saur Sharada/Shrd Shavian/Shaw Siddham/Sidd SignWriting/Sgnw Sinhala/Sinh
Sogdian/Sogd Sora_sompeng/Sora Soyombo/Soyo Sundanese/Sund Syloti_nagri/Sylo Syriac/Syrc Tagalog/Tglg Tagbanwa/Tagb
Tai_le/Tale Tai_tham/Lana Tai_viet/Tavt Takri/Takr Tamil/Taml Tangsa/Tnsa Tangut/Tang Telugu/Telu Thaana/Thaa Thai
Tibetan/Tibt Tifinagh/Tfng Tirhuta/Tirh Toto Ugaritic/Ugar Vai/Vaii Vithkuqi/Vith Wancho/Wcho Warang_citi/Wara
Yezidi/Yezi Yi/Yiii Zanabazar_square/Zanb Garay/Gara Gurung_Khema/Gukh Kirat_Rai/Krai Ol_Onal/Onao Sunuwar/Sunu
Todhri/Todr Tulu_Tigalari/Tutg Kawi Nag_Mundari/Nagm
"""
PROPERTIES = ("Alnum Alpha/Alphabetic Blank Cntrl Graph Lower/Lowercase Print Punct PosixPunct Space/White_Space Upper/Uppercase XDigit Word "
              "ASCII Any Assigned Emoji Emoji_Presentation Extended_Pictographic Ideographic Unified_Ideograph Math Hex_Digit "
              "Cased Dash Diacritic Extender ID_Start ID_Continue Default_Ignorable_Code_Point")
GRAPHEME = ("OTHER CONTROL EXTEND INCB_EXTEND LINKER ZWJ SPACING PREPEND CONSONANT PICTOGRAPH HANGUL_L HANGUL_V HANGUL_T "
            "HANGUL_LV HANGUL_LVT").split()


def removed_by(pre):
    """Code points that a pre-tokenizer with behaviour "removed" takes away."""
    out = set()
    for i in range(0, len(CODE_POINTS), 4096):
        chunk = CODE_POINTS[i:i + 4096]
        kept = "".join(s for s, _ in pre.pre_tokenize_str("".join(map(chr, chunk))))
        out.update(set(chunk) - set(map(ord, kept)))
    return out


def removed_in_normalizing(normalizer):
    return {c for c in CODE_POINTS if normalizer.normalize_str("a" + chr(c)) == "a"}


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


def graphemes():
    """Class of each code point in the breaking of grapheme clusters, seen through the Precompiled normalizer.

    It looks up each cluster of fewer than six bytes as a whole and longer ones code point by code point. With a table that
    turns any first byte into "X", the length of what it makes tells where the clusters are. What cannot be seen so cannot
    matter either: the library has no other use for clusters.
    """
    units = [0] * 1024                      # a double array: the root's children at 256 ^ byte, their leaves at 512 + byte
    units[0] = 256 << 10
    for b in [*range(1, 128), *range(0xC2, 0xF5)]:
        units[256 ^ b] = ((256 ^ b) ^ (512 + b)) << 10 | 1 << 8 | b
        units[512 + b] = 1 << 31
    table = struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + b"X\0"
    norm = normalizers.Precompiled(table)
    names = {n: i for i, n in enumerate(GRAPHEME)}
    out = [0] * 0x110000

    def seen(fmt):
        """Length of what becomes of fmt with each code point for @ (U+0000 is never looked up)."""
        return {c: len(norm.normalize_str(fmt.replace("@", chr(c)))) for c in CODE_POINTS[1:]}

    joins = {c for c, n in seen("a@").items() if n == 1}
    prepend = {c for c, n in seen("@a").items() if n == 1}
    control = {c for c, n in seen("@\u0301").items() if n == 2 and c not in joins and c < 0x10000}
    control |= {c for c in CODE_POINTS if c >= 0x10000 and c not in joins and unicodedata.category(chr(c)) == "Cf"}
    control |= {c for c in range(0xE0000, 0xE1000) if c not in joins}      # default ignorable, assigned or not
    control -= prepend
    first_pict = {c for c, n in seen("@\u200d\u00a9\u0301").items() if n == 4}
    second_pict = {c for c, n in seen("\u00a9\u200d@\u0301").items() if n == 4 and c < 0x10000} - joins - control
    first_pict -= joins | control
    assert {c for c in first_pict if c < 0x10000} == second_pict
    extend = {c for c, n in seen("\u00a9@\u200d\u00a9\u0301").items() if n == 5} & joins
    ka, virama = "\u0915", "\u094d"
    first = {c for c, n in seen("@" + virama + ka + "\u0301").items() if n == 4} - joins
    second = {c for c, n in seen(ka + virama + "@\u0301").items() if n == 4 and c < 0x10000} - joins - control
    assert {c for c in first if c < 0x10000} == second, (len(first), len(second))
    linker = {c for c, n in seen(ka + "@" + ka + "\u0301").items() if n == 4} & joins
    incb = {c for c, n in seen(ka + virama + "@" + ka + "\u0301").items() if n == 5} & joins - linker - {0x200D}
    assert linker <= extend and incb <= extend, (linker - extend, incb - extend)
    for members, name in ((control, "CONTROL"), (joins - extend, "SPACING"), (extend, "EXTEND"), (incb, "INCB_EXTEND"),
                          (linker, "LINKER"), ({0x200D}, "ZWJ"), (prepend, "PREPEND"), (first, "CONSONANT"),
                          (first_pict, "PICTOGRAPH"),
                          ({*range(0x1100, 0x1160), *range(0xA960, 0xA97D)}, "HANGUL_L"),
                          ({*range(0x1160, 0x11A8), *range(0xD7B0, 0xD7C7)}, "HANGUL_V"),
                          ({*range(0x11A8, 0x1200), *range(0xD7CB, 0xD7FC)}, "HANGUL_T"),
                          (set(range(0xAC00, 0xD7A4)), "HANGUL_LVT"), (set(range(0xAC00, 0xD7A4, 28)), "HANGUL_LV")):
        for c in members:
            out[c] = names[name]
    return out


def script_runs():
    """(first, last, script) of runs that the UnicodeScripts pre-tokenizer takes for one script; what is in none goes with
    any. Kana and Han are one script there. The numbers mean nothing."""
    split = pre_tokenizers.UnicodeScripts()

    def any_script(c):
        return pieces(split, c) == 1 and len(split.pre_tokenize_str("\u0436" + chr(c) + "\u0436")) == 1

    runs, known = [], []
    for c in CODE_POINTS:
        if any_script(c):
            continue
        if runs and runs[-1][1] == c - 1 and len(split.pre_tokenize_str(chr(c - 1) + chr(c))) == 1:
            runs[-1][1] = c
            continue
        for k, other in enumerate(known):
            if len(split.pre_tokenize_str(chr(other) + chr(c))) == 1:
                break
        else:
            k = len(known)
            known.append(c)
        runs.append([c, c, k])
    assert len(known) < 256
    return runs


def runs_of(pattern):
    """Where membership in a set changes, from "not". Surrogates fall in anywhere: text has none."""
    pre, out = pre_tokenizers.Split(Regex(pattern), "removed"), []
    for first in range(0, len(CODE_POINTS), 1 << 14):
        chunk = CODE_POINTS[first:first + (1 << 14)]
        at = 0
        for _, (begin, end) in pre.pre_tokenize_str("".join(map(chr, chunk))) + [("", (len(chunk), len(chunk)))]:
            if at < begin:                              # chunk[at:begin] was removed
                if out and (out[-1] == chunk[at] or (out[-1], chunk[at]) == (0xD800, 0xE000)):
                    out.pop()
                else:
                    out.append(chunk[at])
                out.append(chunk[begin - 1] + 1)
            at = end
    return out


def script_lists():
    """Bounds of each script: first where the scripts change, all at once, then which of them each run is."""
    firsts = [e.split("/")[0] for e in SCRIPTS.split()]
    pre = pre_tokenizers.Split(Regex("|".join(r"\p{%s}+" % f for f in firsts)), "isolated")
    runs = []
    for first in range(0, len(CODE_POINTS), 1 << 14):
        chunk = CODE_POINTS[first:first + (1 << 14)]
        for _, (begin, end) in pre.pre_tokenize_str("".join(map(chr, chunk))):
            runs.append((chunk[begin], chunk[end - 1] + 1))
    heads = "".join(chr(b) for b, _ in runs)
    for name in firsts:
        bounds, at = [], 0
        one = pre_tokenizers.Split(Regex(r"\p{%s}" % name), "removed")
        for _, (begin, end) in one.pre_tokenize_str(heads) + [("", (len(heads), len(heads)))]:
            for first, last in runs[at:begin]:
                if bounds and bounds[-1] == first:
                    bounds.pop()
                    bounds.append(last)
                else:
                    bounds += [first, last]
            at = end
        yield bounds


def sets():
    lists, names = [], []
    entries = [*zip(SCRIPTS.split(), script_lists()),
               *((e, runs_of(r"[\p{%s}]" % e.split("/")[0])) for e in PROPERTIES.split())]
    for entry, runs in entries:
        for name in entry.split("/"):
            pre_tokenizers.Split(Regex(r"\p{%s}" % name), "removed")       # it knows the name
            names.append((name.replace("_", "").lower(), sum(map(len, lists)), len(runs)))
        lists.append(runs)
    known = dict(entries)
    assert runs_of(r"[\w]") == known["Word"] and runs_of(r"[[:punct:]]") == known["PosixPunct"]
    names.sort()
    print("/* Made by tools/golden/tokenizer_unicode.py from the tokenizers library; do not edit. */")
    print('#include "text/unicode/unicode.h"\n')
    emit("hone_unicode_set_bounds", "uint32_t", [b for l in lists for b in l], 20)
    print(f"const size_t hone_unicode_n_sets = {len(names)};")
    print(f"const hone_unicode_named_set hone_unicode_sets[{len(names)}] = {{")
    for n in names:
        print('    { "%s", %d, %d },' % n)
    print("};")


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
        CONTROL: removed_in_normalizing(normalizers.BertNormalizer(True, False, False, False)),
        NONSPACING: removed_in_normalizing(normalizers.BertNormalizer(False, False, True, False)),
        MARK: removed_in_normalizing(normalizers.StripAccents()),
    }
    grapheme = graphemes()
    flags = [0] * 0x110000
    for bit, members in sets.items():
        for c in members:
            flags[c] |= bit
    records, record_of, values = [], {}, []
    for c in range(0x110000):
        r = (category[c], grapheme[c], flags[c])
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
    print(f"const size_t hone_unicode_n_records = {len(records)};")
    print(f"const hone_unicode_record hone_unicode_records[{len(records)}] = {{")
    for i in range(0, len(records), 8):
        print("    " + ", ".join("{ %d, %d, %d }" % r for r in records[i:i + 8]) + ",")
    print("};\n")
    emit("hone_unicode_index", "uint16_t", index)
    emit("hone_unicode_values", "uint8_t", [v for b in blocks for v in b], 32)
    runs = lower_runs()
    print(f"const size_t hone_unicode_n_lower = {len(runs)};")
    print(f"const hone_unicode_lower_run hone_unicode_lower[{len(runs)}] = {{")
    for i in range(0, len(runs), 3):
        print("    " + ", ".join("{ 0x%x, 0x%x, %d, %d }" % r for r in runs[i:i + 3]) + ",")
    print("};")
    scripts = script_runs()
    print(f"\nconst size_t hone_unicode_n_scripts = {len(scripts)};")
    print(f"const hone_unicode_script_run hone_unicode_scripts[{len(scripts)}] = {{")
    for i in range(0, len(scripts), 4):
        print("    " + ", ".join("{ 0x%x, 0x%x, %d }" % tuple(r) for r in scripts[i:i + 4]) + ",")
    print("};")
    print(f"{len(records)} records, {len(blocks)} blocks, {len(runs)} lower case runs, {len(scripts)} script runs", file=sys.stderr)


sets() if sys.argv[1:] == ["sets"] else main()
