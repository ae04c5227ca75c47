#!/usr/bin/env python3
"""Random small templates over the whole template language, with what transformers' renderer makes of each.

    template_random.py COUNT [SEED]        rows on standard output, for tests/golden/template.c to compare (a file as argument)
    template_random.py --corpus            writes tests/data/template/random.jsonl, the set that is kept

A row holds the template and its output, or the class and line of the error. Variables are those of language.jsonl. What
prints addresses, or takes integers beyond 64 bits, is left out.
"""
import copy
import json
import pathlib
import random
import re
import sys
import traceback
from unittest import mock

import jinja2

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from template import OUT, VARIABLES  # noqa: E402
from transformers.utils.chat_template_utils import _compile_jinja_template  # noqa: E402

STRINGS = ["", "a", "Ab", "hello world", "x,y,,z", "  pad\\t", "l1\\nl2\\n\\nl3", "é天🥳", "ß ŉ ΑΣ", "<b>&'</b>", "12", "-3.5", "0x1f", "a_b-c", "%s|%d", "{} {}", "İı ǅ", "aXbXc", "ªº",
           "www.example.com", "see (http://a.org/b?c=1(d)). a@b.io, tel:12 <www.x.de>", "mailto:me@x.com x+y://z http://[::1]/ 1.2.3.4 q.net:80/p", "foo bar baz qux quux", "100%", "{0!r:>5}", "\\u2028q", "ﬁ²½", "true"]
WORDS = ["s", "uni", "lines", "quote", "ctl", "ws", "html"]
INTS = ["0", "1", "2", "3", "-1", "-2", "7", "10", "1_0", "0x1F", "255", "n", "neg", "-7"]
FLOATS = ["0.0", "1.0", "2.5", "-0.5", "1e3", "0.1", "3.14159", "f", "1e16", "1e-5", "123456.789", "1_0.5e1", "2e0"]
LISTS = ["l", "names", "[]", "(1, 2)", "people", "tree", "range(4)", "range(5, 0, -2)", "[[1, 'a'], [2, 'b']]", "['b', 'A', 'c', 'a']", "[none, 1, '']", "(1,)", "[1.5, 1, true]", "'abc'",
         "d.items()", "d.keys()", "d.values()", "names|map('upper')", "l|select('odd')", "people|map(attribute='age')", "messages"]
DICTS = ["d", "{}", "{'a': 1, 'b': [2]}", "json", "people[0]", "dict(a=1, b='x')", "{1: 'one', 'k': none, (1, 2): 3}", "messages[0]"]
KEYS = ["'a'", "'b'", "'zz'", "1", "'name'", "'items'", "'get'", "'role'"]
TESTS = ["defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float", "boolean", "true", "false", "callable", "odd", "even", "lower", "upper", "escaped",
         "divisibleby 3", "divisibleby(2)", "eq 1", "ne('a')", "lt 3", "gt(2)", "ge 0", "le(1.5)", "in [1, 2]", "in('abc')", "sameas none", "sameas(true)", "filter", "test", "equalto 'a'", "== 1"]
STR_METHODS = ["upper()", "lower()", "title()", "capitalize()", "strip()", "lstrip()", "rstrip('a')", "strip('ab')", "split()", "split(',')", "split('X', 1)", "rsplit(none, 1)", "rsplit(' ', maxsplit=1)",
               "splitlines()", "splitlines(true)", "replace('a', 'b')", "replace('', '-', 2)", "startswith('a')", "endswith(('a', 'z'))", "find('a')", "rfind('l', 1, -1)", "index('a')", "count('a')", "count('')",
               "partition(',')", "rpartition('X')", "removeprefix('a')", "removesuffix('c')", "islower()", "isupper()", "isdigit()", "isdecimal()", "isnumeric()", "isalpha()", "isalnum()", "isspace()", "istitle()",
               "isascii()", "isidentifier()", "isprintable()", "center(9)", "center(8, '*')", "ljust(7, '.')", "rjust(7)", "zfill(6)", "swapcase()", "casefold()", "expandtabs()", "expandtabs(3)", "join(names)",
               "join(['x', 'y'])", "format(1, 'a')", "format(a=1)", "format_map(d)", "translate({97: 'X', 98: none})", "translate({97: 66})", "nosuch()", "nosuch", "__class__", "upper"]
FILTERS_STR = ["upper", "lower", "title", "capitalize", "trim", "trim('a')", "length", "reverse", "list", "first", "last", "replace('a', 'o')", "replace('l', 'L', 1)", "escape", "e", "safe", "forceescape",
               "indent", "indent(2, true)", "indent('> ', blank=true)", "truncate(5)", "truncate(9, true)", "truncate(11, false, '..', 0)", "wordcount", "wordwrap(6)", "wordwrap(5, false)", "wordwrap(7, true, '|')",
               "center(12)", "int", "int(7)", "int(0, 16)", "float", "float(1.5)", "string", "tojson", "tojson(ensure_ascii=true)", "default('q')", "d('q', true)", "urlencode", "striptags", "pprint", "join('-')",
               "sort", "unique|list", "batch(2)|list", "min", "max", "format(1, 2)", "wordwrap(4, break_on_hyphens=false)", "xmlattr", "filesizeformat", "urlize", "urlize(8, true)", "urlize(target='_x', rel='me')", "urlize(extra_schemes=['tel:', 'x+y://'])", "map('upper')|join", "select('lower')|list", "string|length"]
FILTERS_LIST = ["length", "count", "list", "first", "last", "reverse|list", "join", "join(', ')", "join('/', attribute='name')", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "sort(attribute='age')", "unique|list",
                "unique(true)|list", "sum", "sum(start=1)", "sum(attribute='age')", "min", "max", "max(attribute='age')", "batch(2)|list", "batch(3, 0)|list", "slice(2)|list", "slice(3, 'f')|list", "tojson", "tojson(indent=2)",
                "string", "map('string')|list", "map(attribute='name')|list", "map(attribute='age', default=0)|list", "map('length')|list", "map('upper')|join", "map('default', 'x')|list", "select|list", "reject|list",
                "select('string')|list", "reject('gt', 1)|list", "selectattr('age')|list", "selectattr('age', 'gt', 26)|map(attribute='name')|list", "rejectattr('name', 'in', ['Bea'])|list", "groupby('age')|list", "groupby(0)|list",
                "groupby('age')|map(attribute='list')|map('length')|list", "dictsort", "items|list", "pprint", "urlencode", "xmlattr", "select('mapping')|list|length", "map('first')|list", "map('nope')|list",
                "first|default('none')", "reverse|first", "tojson(separators=(',', ':'))", "tojson(sort_keys=true)"]
FILTERS_DICT = ["length", "items|list", "dictsort", "dictsort(true)", "dictsort(by='value')", "dictsort(false, 'key', true)", "tojson", "tojson(indent=1)", "tojson(sort_keys=true, indent='\\t')", "list", "string", "first", "xmlattr",
                "urlencode", "pprint", "join(',')", "attr('get') is defined", "attr('a') is defined", "map('string')|list", "sort", "max", "tojson(true, 2, [', ', '=> '])"]
FILTERS_NUM = ["abs", "int", "float", "round", "round(1)", "round(2, 'floor')", "round(-1)", "round(0, 'ceil')", "string", "tojson", "filesizeformat", "filesizeformat(true)", "default(1)", "format", "center(5)", "trim", "e", "length", "upper",
               "pprint", "list", "urlencode"]
FORMATS = ["'%s' % {0}", "'%5s|%-5s|' % ({0}, {1})", "'%d' % {0}", "'%05.1f' % {0}", "'%x' % {0}", "'%r' % ({0},)", "'%(a)s' % {{'a': {0}}}", "'%+d' % {0}", "'%.3g' % {0}", "'%e' % {0}", "'%c' % {0}", "'%s %s' % ({0}, {1})", "'%i%%' % {0}", "'%#o' % {0}",
           "'{{}}'.format({0})", "'{{:>8}}|'.format({0})", "'{{:*^9}}'.format({0})", "'{{!r:<10}}'.format({0})", "'{{:+d}}'.format({0})", "'{{:,}}'.format({0})", "'{{:.2f}}'.format({0})", "'{{:08.3f}}'.format({0})", "'{{:x}}'.format({0})", "'{{:%}}'.format({0})",
           "'{{0}}{{1}}{{0}}'.format({0}, {1})", "'{{a.b}}{{a[0]}}'.format(a={0})", "'{{:{{w}}}}|'.format({0}, w={1})", "'{{:g}}'.format({0})", "'{{:_}}'.format({0})", "'{{:e}}'.format({0})", "'{{!s:.3}}'.format({0})", "'{{:b}}'.format({0})", "'{{:#X}}'.format({0})",
           "'{{!a}}'.format({0})", "'{{:=+6}}'.format({0})", "'{{:n}}'.format({0})", "'{{:c}}'.format({0})", "'{{:<}}'.format({0})", "'{{:5}}'.format({0})", "'%-*d|' % ({0}, {1})", "'%a' % ({0},)", "'%10.4s|' % ({0},)", "'%G' % {0}", "'% .2e' % {0}"]


class Gen:
    def __init__(self, rng):
        self.r = rng
        self.vars = []
        self.macros = []
        self.loops = 0
        self.ns = False
        self.blocks = 0

    def pick(self, items):
        return self.r.choice(items)

    def chance(self, p):
        return self.r.random() < p

    # ---- expressions ----
    def expr(self, kind=None, depth=3):
        if self.chance(0.06):
            kind = None
        kind = kind or self.pick(["int", "float", "str", "str", "list", "dict", "bool", "any"])
        return getattr(self, kind)(depth)

    def any(self, depth):
        r = self.r.random()
        if r < 0.2 and self.vars:
            return self.pick(self.vars)
        if r < 0.3:
            return self.pick(["undef", "none", "undef.x", "nil", "d.zz", "l[9]", "loop", "true", "False"])
        if r < 0.4 and self.loops:
            return "loop." + self.pick(["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem", "nextitem", "cycle('x', 'y')", "changed(1)", "changed(loop.index // 2)", "nope"])
        if r < 0.5 and self.ns:
            return "ns." + self.pick(["a", "b", "zz"])
        if r < 0.6 and self.macros:
            name, arity = self.pick(self.macros)
            return self.call(name, arity, depth)
        if depth <= 0:
            return self.pick(INTS + FLOATS)
        if r < 0.75:
            return f"{self.expr(None, depth - 1)} if {self.expr('bool', depth - 1)}" + (f" else {self.expr(None, depth - 1)}" if self.chance(0.8) else "")
        if r < 0.85:
            return f"({self.expr(None, depth - 1)})[{self.pick(KEYS)}]"
        if r < 0.93:
            return f"({self.expr(None, depth - 1)}).{self.pick(['a', 'b', 'name', 'age', 'x', 'get', '0', 'real', 'role', 'content'])}"
        return f"({self.expr(None, depth - 1)}){self.pick(['()', '(1)', '|string', '|list', '|tojson', '|default(3)', '|string|length'])}"

    def call(self, name, arity, depth):
        args = [self.expr(None, depth - 1) for _ in range(self.r.randint(0, arity + self.chance(0.1)))]
        if self.chance(0.2):
            args.append(f"{self.pick(['a', 'b', 'p1', 'zz'])}={self.expr(None, 1)}")
        if self.chance(0.08):
            args.append(f"*{self.pick(['[1, 2]', 'l', '(5,)', 'n'])}")
        if self.chance(0.08):
            args.append(f"**{self.pick(['{}', chr(123) + chr(39) + 'a' + chr(39) + ': 9}', 'd', 'n'])}")
        return f"{name}({', '.join(args)})"

    def int(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.3:
            return self.pick(INTS)
        a, b = self.expr("int", depth - 1), self.expr("int", depth - 1)
        if r < 0.6:
            return f"{a} {self.pick(['+', '-', '*', '//', '%', '/', '+', '-'])} {b}"
        if r < 0.63:
            return f"({a}) ** {self.pick(['2', '3', '0', '-1', '0.5', '1.0'])}"
        if r < 0.68:
            return f"-({a})"
        if r < 0.75:
            return f"({self.expr(None, depth - 1)})|length"
        if r < 0.85:
            return f"({a})|{self.pick(FILTERS_NUM)}"
        if r < 0.9:
            return f"({a}).{self.pick(['real', 'imag', 'numerator', 'denominator', 'bit_length()', 'is_integer()', 'conjugate()', 'bit_count()', 'nope'])}"
        return f"({self.expr('str', depth - 1)})|int"

    def float(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.35:
            return self.pick(FLOATS)
        a, b = self.expr("float", depth - 1), self.expr(self.pick(["float", "int"]), depth - 1)
        if r < 0.65:
            return f"{a} {self.pick(['+', '-', '*', '//', '%', '/', '**'])} {b}"
        if r < 0.85:
            return f"({a})|{self.pick(FILTERS_NUM)}"
        return f"({a}).{self.pick(['is_integer()', 'real', 'imag', 'conjugate()', 'hex()', 'as_integer_ratio()'])}"

    def str(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.25:
            return self.pick(WORDS) if self.chance(0.4) else "'" + self.pick(STRINGS).replace("'", "\\'") + "'"
        a = self.expr("str", depth - 1)
        if r < 0.4:
            return f"({a}).{self.pick(STR_METHODS)}"
        if r < 0.58:
            return f"({a})|{self.pick(FILTERS_STR)}"
        if r < 0.66:
            return f"{a} ~ {self.expr(None, depth - 1)}"
        if r < 0.7:
            return f"{a} + {self.expr('str', depth - 1)}"
        if r < 0.73:
            return f"({a}) * {self.pick(['2', '0', '-1', '3', 'true'])}"
        if r < 0.82:
            return f"({a})[{self.slice(depth)}]"
        if r < 0.94:
            return "(" + self.pick(FORMATS).format(self.expr(self.pick(["int", "float", "str", None]), depth - 1), self.expr(self.pick(["int", None]), 0)) + ")"
        return f"({self.expr(None, depth - 1)})|string"

    def slice(self, depth):
        i = lambda: self.pick(["", "0", "1", "-1", "2", "-3", "5", "100", "-100", "none"])
        if self.chance(0.4):
            return self.pick(INTS)
        return f"{i()}:{i()}" + (f":{self.pick(['', '1', '2', '-1', '-2', '0'])}" if self.chance(0.4) else "")

    def list(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.3:
            return self.pick(LISTS)
        if r < 0.42:
            items = [self.expr(None, depth - 1) for _ in range(self.r.randint(0, 3))]
            return self.pick(["[{}]", "({},)" if items else "({})"]).format(", ".join(items))
        a = self.expr("list", depth - 1)
        if r < 0.75:
            return f"({a})|{self.pick(FILTERS_LIST)}"
        if r < 0.85:
            return f"({a})[{self.slice(depth)}]"
        if r < 0.9:
            return f"({a} + {self.expr('list', depth - 1)})"
        if r < 0.93:
            return f"({a}) * {self.pick(['2', '0', '-1'])}"
        return f"({a}).{self.pick(['index(1)', 'count(1)', 'copy()', 'append(1)', 'pop', 'index(1, 1)', 'start', 'step', 'isdisjoint([])', 'nope', '0'])}"

    def dict(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.35:
            return self.pick(DICTS)
        if r < 0.5:
            return "{" + ", ".join(f"{self.pick(KEYS)}: {self.expr(None, depth - 1)}" for _ in range(self.r.randint(0, 3))) + "}"
        a = self.expr("dict", depth - 1)
        if r < 0.75:
            return f"({a})|{self.pick(FILTERS_DICT)}"
        if r < 0.9:
            return f"({a}).{self.pick(['a', 'b', 'get(1)', 'get(%s)', 'get(%s, 5)', 'items()', 'keys()', 'values()', 'copy()', 'pop(1)', 'update({})', 'fromkeys([1])', 'name', 'items()|list'])}".replace("%s", self.pick(KEYS))
        return f"({a})[{self.pick(KEYS)}]"

    def bool(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.15:
            return self.pick(["yes", "no", "true", "false", "none", "undef", "l", "''"])
        a, b = self.expr(None, depth - 1), self.expr(None, depth - 1)
        if r < 0.4:
            return f"{a} {self.pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in', '==', 'in'])} {b}"
        if r < 0.46:
            return f"{self.expr('int', 0)} < {self.expr('int', 0)} <= {self.expr('int', 1)}"
        if r < 0.62:
            return f"{a} {self.pick(['and', 'or'])} {b}"
        if r < 0.72:
            return f"not {a}"
        return f"({a}) is {'not ' if self.chance(0.2) else ''}{self.pick(TESTS)}"

    # ---- statements ----
    def tag(self, body):
        return "{%" + self.pick(["", "", "", "-", "+"]) + " " + body + " " + self.pick(["", "", "", "-", "+"]) + "%}"

    def text(self):
        return self.pick(["", " ", "\n", "a", "b \n", "  ", "\n\n", "x\n  y", "|", "é", "\t", "<s>", "{ ", "} ", "\r\n"])

    def body(self, depth):
        return "".join(self.text() + self.stmt(depth) for _ in range(self.r.randint(1, 3))) + self.text()

    def scoped(self, depth):
        kept = list(self.vars), list(self.macros)
        out = self.body(depth)
        self.vars, self.macros = kept
        return out

    def name(self):
        v = self.pick(["v1", "v2", "v3", "s", "n"])
        return v

    def print(self):
        return self.pick(["{{ %s }}", "{{- %s }}", "{{ %s -}}", "{{%s}}", "{% print %s %}"]).replace("%s", self.expr())

    def stmt(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.4:
            return self.print()
        if r < 0.5:
            out = self.tag("if " + self.expr("bool", 2)) + self.body(depth - 1)
            if self.chance(0.3):
                out += self.tag("elif " + self.expr("bool", 1)) + self.body(depth - 1)
            if self.chance(0.5):
                out += self.tag("else") + self.body(depth - 1)
            return out + self.tag("endif")
        if r < 0.63:
            return self.loop(depth)
        if r < 0.72:
            return self.set(depth)
        if r < 0.78:
            return self.macro(depth)
        if r < 0.81 and self.macros:
            name, arity = self.pick(self.macros)
            sig = self.pick(["", "", "(q)", "(q, r=1)"])
            return self.tag(f"call{sig} {self.call(name, arity, 1)}") + self.scoped(depth - 1) + self.tag("endcall")
        if r < 0.84:
            return self.tag("filter " + self.pick(["upper", "trim", "replace('a', 'o')", "upper|trim", "length", "indent(2)", "title"])) + self.scoped(depth - 1) + self.tag("endfilter")
        if r < 0.88:
            kept = list(self.vars)
            w = self.name()
            out = self.tag(self.pick([f"with {w} = {self.expr(None, 1)}", f"with {w}={self.expr(None, 1)}, v9={w}", "with"])) + self.scoped(depth - 1) + self.tag("endwith")
            self.vars = kept
            return out
        if r < 0.9:
            return self.tag("generation") + self.gen_body(depth) + self.tag("endgeneration")
        if r < 0.92:
            return "{#" + self.pick(["", "-"]) + " c {{ x }} " + self.pick(["", "-"]) + "#}"
        if r < 0.935:
            return "{%" + self.pick(["", "-"]) + " raw " + self.pick(["", "-"]) + "%} {{ x }}\n{% if %}" + self.tag("endraw")
        if r < 0.955:
            self.ns = True
            return self.pick(["{% set ns = namespace(a=1, b='x') %}", "{% set ns = namespace() %}{% set ns.a = " + self.expr(None, 1) + " %}", "{% set ns = namespace(d) %}"])
        if r < 0.97:
            self.blocks += 1
            return self.tag(f"block b{self.blocks}{self.pick(['', ' scoped'])}") + self.scoped(depth - 1) + self.tag(f"endblock{self.pick(['', f' b{self.blocks}'])}")
        if r < 0.985:
            return self.pick(["{% set c = cycler('x', 'y', 3) %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.pos }}{{ c.reset() }}{{ c.next() }}", "{% set j = joiner('|') %}{{ j() }}a{{ j() }}b{{ j() }}", "{{ dict.fromkeys([1, 2], 'x') }}",
                              "{{ raise_exception('no') }}", "{{ strftime_now('%%') }}", "{% autoescape false %}<{% endautoescape %}"])
        return self.print()

    def gen_body(self, depth):
        kept = self.loops, list(self.vars), list(self.macros)
        self.loops = 0
        out = self.body(depth - 1)
        self.loops, self.vars, self.macros = kept
        return out

    def loop(self, depth):
        kept = list(self.vars), list(self.macros)
        target = self.pick(["x", "x", "x", "y", "x, y", "(x, y)", "k, v", "x, (y, z)"])
        src = self.pick(["d.items()", "d|items", "d|dictsort", "[(1, 2), (3, 4)]", "[[1, 'a'], [2, 'b']]", "people|groupby('age')"]) if "," in target else self.expr("list", 1)
        head = f"for {target} in {src}"
        names = [c for c in target if c.isalpha()]
        self.vars += names
        if self.chance(0.2):
            head += f" if {self.pick(names + ['n', 'loop.index'])}{self.pick(['', ' is odd', ' != 1', ' is defined'])}"
        recursive = self.chance(0.12)
        self.loops += 1
        body = self.body(depth - 1)
        if recursive:
            head += " recursive"
            body += self.pick(["{% if loop.depth < 3 %}{{ loop([1, 2]) }}{% endif %}", "{{ loop(x.kids) if x.kids }}"])
        if self.chance(0.15):
            body += self.tag("if " + self.expr("bool", 1)) + self.tag(self.pick(["break", "continue"])) + self.tag("endif") + self.body(0)
        self.loops -= 1
        self.vars, self.macros = kept
        out = self.tag(head) + body
        if self.chance(0.25):
            out += self.tag("else") + self.scoped(depth - 1)
        return out + self.tag("endfor")

    def set(self, depth):
        v = self.name()
        r = self.r.random()
        if r < 0.55:
            out = self.tag(f"set {v} = {self.expr(None, 2)}")
        elif r < 0.65:
            out = self.tag(f"set {v}, v3 = {self.pick(['1, 2', 'l[:2]', '(n, s)', 'names', self.expr(None, 1)])}")
        elif r < 0.75 and self.ns:
            return self.tag(f"set ns.{self.pick(['a', 'b', '_c'])} = {self.expr(None, 2)}")
        else:
            out = self.tag(f"set {v}{self.pick(['', '', ' | upper', ' | trim | length'])}") + self.scoped(depth - 1) + self.tag("endset")
        self.vars.append(v)
        return out

    def macro(self, depth):
        name = self.pick(["m1", "m2", "m3"])
        arity = self.r.randint(0, 2)
        params = ["a", "b"][:arity]
        if self.chance(0.4):
            params += ["p1=" + self.pick(["1", "n", "'x'", "[]", "a"])]
        kept = list(self.vars), self.loops, self.macros
        self.vars = self.vars + ["a", "b"][:arity]
        self.loops = 0
        self.macros = []
        body = self.body(depth - 1)
        if self.chance(0.25):
            body += self.pick(["{{ caller() }}", "{{ caller(1) if caller }}", "{{ varargs }}", "{{ kwargs }}", "{{ varargs|length }}{{ kwargs }}"])
        self.vars, self.loops, self.macros = kept
        self.macros.append((name, arity))
        out = self.tag(f"macro {name}({', '.join(params)})") + body + self.tag("endmacro")
        if self.chance(0.3):
            out += "{{ " + name + self.pick([".name", ".arguments", ".catch_kwargs", ".catch_varargs", ".caller"]) + " }}"
        return out + ("{{ " + self.call(name, arity, 1) + " }}" if self.chance(0.7) else "")

    def template(self):
        r = self.r.random()
        if r < 0.5:
            out = "{{ " + self.expr(None, self.r.randint(1, 4)) + " }}"
        else:
            out = self.body(self.r.randint(1, 3))
        if self.chance(0.03):       # damage it
            i = self.r.randrange(len(out) or 1)
            out = out[:i] + self.pick(["", "{", "}", "%", "(", "]", "'", " not ", " if ", ".", "|", ",", "0", "{% endif %}", "=="]) + out[i + self.pick([0, 1, 2]):]
        return out


def line_of(error):
    if getattr(error, "lineno", None):
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "<template>" or f.filename == "<unknown>"]
    return lines[-1] if lines else 0


# Inside these the renderer's own line numbers are those of some statement around the faulty one.
VAGUE = re.compile(r"{%[-+]?\s*(set \w+( \|.*?)?\s*[-+]?%}|filter|macro|call|generation|with|block|for.*recursive)")


def row_of(template):
    """The row, or None where the renderer's optimiser changes the result (it turns errors of constant expressions into nothing)."""
    row = {"template": template}
    try:
        compiled = _compile_jinja_template(template)
        row["output"] = compiled.render(**copy.deepcopy(VARIABLES))
        with mock.patch.object(jinja2.nodes.Getitem, "as_const", side_effect=jinja2.nodes.Impossible):
            compiled.environment.optimized = False
            if compiled.environment.from_string(template).render(**copy.deepcopy(VARIABLES)) != row["output"]:
                return None
    except MemoryError:
        raise
    except BaseException as error:
        if "output" in row:
            return None
        row["error"], row["line"] = type(error).__name__, line_of(error)
        if VAGUE.search(template):
            row["line"] = 0
    return row


def keep(row):
    if row is None:
        return False
    text = row.get("output", "").lower()
    if " at 0x" in text or "0x7f" in text or len(text) > 4000 or len(row["template"]) > 900 or "object at" in text:
        return False
    try:
        json.dumps(row).encode()
        (row.get("output", "") + row["template"]).encode()
    except UnicodeError:
        return False
    return True


def rows(count, seed):
    rng = random.Random(seed)
    while count:
        row = row_of(Gen(rng).template())
        if keep(row):
            count -= 1
            yield row


def main():
    if sys.argv[1] == "--corpus":
        kept = [r for r in rows(7000, "11") if len(r["template"]) + len(r.get("output", "")) < 240]
        kept = [r for i, r in enumerate(kept) if "output" in r or i % 3 == 0]
        with open(OUT / "random.jsonl", "w") as f:
            for row in kept:
                f.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    for row in rows(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else 1):
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
