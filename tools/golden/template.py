#!/usr/bin/env python3
"""Golden renders of chat templates, made with transformers' own renderer.

Writes tests/data/template/language.jsonl (small templates that cover the language: template, variables, and the output or
that there is an error), tests/data/template/chats.jsonl (whole chat templates of tests/data/template/*.jinja on conversations),
tests/data/template/tokenizer/ (a small tokenizer with the special tokens of those templates) and
tests/data/template/masks.jsonl (ids and loss masks of the conversations: transformers' own for templates with
{% generation %}, else from the rule, applied to renders that are prefixes of each other). With arguments TEMPLATE.jinja... it writes the same conversations on those templates to standard output, for
comparisons that are not kept.
"""
import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import _compile_jinja_template, render_jinja_template

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "template"

VARIABLES = {
    "s": "Hello, World", "empty": "", "uni": "Straße ΑΣ Σ. 查询天气 🥳é", "lines": "one\n  two\n\nthree\n", "n": 7, "neg": -7, "f": 2.5,
    "yes": True, "no": False, "nil": None, "l": [3, 1, 2], "names": ["bob", "Al", "carl"], "quote": "it's \"so\"",
    "d": {"b": 1, "a": [1, 2.0, None], "C": {"x": True}}, "ctl": "a\tb\\c\u0001\u00a0",
    "people": [{"name": "Zoe", "age": 30, "tags": ["x"]}, {"name": "adam", "age": 25}, {"name": "Bea", "age": 30}],
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": []}, {"v": 3, "kids": [{"v": 4, "kids": []}]}]}],
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": " yes\n", "age": 3}],
    "ws": "  \t pad \n ", "html": "<a href='x'>&\"</a>", "json": {"k": "v\n\"</q>", "n": [1, 1.5, 1e20, True, None], "e": {}, "z": []},
}

EXPRESSIONS = r"""
1+2 | 7/2 | 7//2 | -7//2 | 7%3 | -7%3 | 7%-3 | 2**10 | 2**-1 | 2**3**2 | -2**2 | 1.5+1 | 0.1+0.2 | 1e16 | 1e15 | 123456789.0 | 1e-5
0.0001 | 1.0 | -0.0 | 3 * 'ab' | [1]*2 | 'a' + 'b' | 'a' ~ 1 ~ none ~ true | 1 ~ 2.0 | 5.0//2 | -5.5//2 | 5.5%2 | -5.5%2 | 100000.0
1/3 | 2/3 | 1e22 | 1e21 | 1.7976931348623157e308 | 5e-324 | 1_000 | 0x1F | 0o17 | 0b101 | 1_0.5_0 | 1e3 | true + true | 7 / 0 | 7 // 0 | 7 % 0
1 < 2 | 1 < 2 < 3 | 1 < 3 < 2 | 1 == 1.0 | true == 1 | 'a' < 'b' | [1,2] < [1,3] | (1,2) == (1,2) | [1] == (1,) | none == none | none == false
'a' in 'abc' | 'd' not in 'abc' | 1 in l | 'b' in d | 4 in l | not 1 | not '' | 1 and 2 | 0 or 'x' | none or '' | '' and 1 | not not l
1 if yes else 2 | 1 if no else 2 | 1 if no | (1 if no) is undefined | 'a' if no else 'b' if no else 'c' | 1 < 'a' | none < 1 | undef < 1 | 'x' in 5
s | s[0] | s[-1] | s[100] | s[1:4] | s[::-1] | s[::2] | s[-3:] | s[:-3] | s[5:2] | s[::0] | l[0] | l[-1] | l[5] | l[1:] | l[::-1] | l['x'] | d.b | d['b']
d.zzz | d.zzz.y | d['zzz'] is defined | undef | undef.x | undef['x'] | undef is defined | undef + 1 | undef ~ 'x' | undef | default('q') | d.a[1] | d.C.x
uni | uni[0:6] | uni|length | uni[-1] | uni[::-1] | uni|upper | uni|lower | uni|title | uni|capitalize | uni.title() | uni.upper() | 'ǆ ß ŉ'.title() | 'ΑΣ ΑΣΑ'.lower()
l | d | names | quote | [quote] | ctl | [ctl] | [uni] | (1,) | () | [] | {} | (1, 'a') | {'a': 1, 2: 'b', none: [true]} | [1.0, 1e100, -0.0] | ['\n\\'] | "a\x41\u00e9\n\q"
"it's" | ["it's"] | ['"'] | ['\'"'] | nil | yes | no | f | n | neg | -n | +n | -f | - -n | range(3) | range(3)|list | range(1,10,3)|list | range(5,0,-2)|list | range(2,5)
range(100001) | range(0) | range(3)[1] | range(10)[2:5] | range(3)|length | range(1, 5, 0) | dict(a=1) | dict(d, z=2) | dict([('a',1)]) | dict(a=1).a | namespace(a=1).a
'a,b,c'.split(',') | 'a b  c '.split() | 'a,b,c'.split(',', 1) | 'a,b,c'.rsplit(',', 1) | ' a b c '.split(none, 1) | ' a b c '.rsplit(none, 1) | 'aXbX'.split('X') | ''.split() | ''.split(',')
'abc'.split('') | lines.splitlines() | lines.splitlines(true) | 'a\r\nb\rc\x0bd\x1ce\u2028f'.splitlines() | ws.strip() | ws.lstrip() | ws.rstrip() | 'xxaxx'.strip('x') | 'xyax'.strip('xy')
'\u3000é\u00a0'.strip() | 'abc'.startswith('ab') | 'abc'.startswith(('x','a')) | 'abc'.endswith('bc') | 'abc'.startswith('b', 1) | 'abc'.endswith('b', 0, 2) | 'abc'.startswith(1) | s.find('o') | s.find('zz')
uni.find('天') | s.rfind('o') | s.index('W') | s.index('zz') | s.count('o') | 'aaa'.count('aa') | ''.count('') | 'abc'.count('') | s.replace('o','0') | s.replace('o','0',1) | 'abc'.replace('','-') | 'abc'.replace('','-',2)
s.upper() | s.lower() | s.title() | s.capitalize() | "they're bill's".title() | ', '.join(names) | ''.join(['a']) | ','.join([1]) | ','.join('abc') | 'a-b'.partition('-') | 'a-b-c'.rpartition('-') | 'ab'.partition('-')
'ab'.rpartition('-') | 'prefix-x'.removeprefix('prefix-') | 'x.py'.removesuffix('.py') | 'abc'.isalpha() | '12'.isdigit() | 'a1'.isalnum() | ' '.isspace() | 'Ab'.islower() | 'AB'.isupper() | ''.isalpha()
'ab'.center(5) | 'ab'.center(6, '*') | 'ab'.ljust(4, '.') ~ '|' | 'ab'.rjust(4) | 'abc'.center(4) | 'abcd'.center(7) | s.nosuch | s.nosuch() | s.upper | d.get('b') | d.get('q') | d.get('q', 5) | d.items() | d.keys() | d.values()
d.items()|list | d|items|list | 'a' in d.keys() | 1 in d.values() | d.keys()|length | d.copy() | d.pop('b') | d.update({}) | l.append(1) | l.index(1) | l.count(1) | l.index(9) | l.copy() | d.clear | l.sort()
'%s and %d' % ('a', 3) | '%5.2f|' % 3.14159 | '%05d' % 42 | '%-5s|' % 'ab' | '%x %X %o' % (255, 255, 8) | '%+d' % 5 | '%e' % 12345.678 | '%g' % 0.0001 | '%r' % 'a' | '%%' % () | '%(a)s' % {'a': 1} | '%s' % none | '%s' % l
'%s' % (1, 2) | '%s %s' % 1 | '%d' % 'a' | '%c' % 65 | '%5s|%.2s' % ('a', 'xyz') | '%#x' % 255 | '% d' % 5 | '%i' % 3.9 | '%s %%' % 1 | '{} {}'.format(1, 'a') | '{0} {1} {0}'.format('a', 'b') | '{x}'.format(x=2)
'{:>5}|{:<5}|{:^5}'.format('a','b','c') | '{:05d} {:x} {:,}'.format(42, 255, 1234567) | '{:.2f} {:e} {:%}'.format(3.14159, 12345.678, 0.5) | '{:*^9}'.format('mid') | '{0[a]} {1.b}'.format({'a':1}, {'b':2}) | '{{}}'.format() | '{!r}'.format('a')
'{}'.format() | '{:+d} {: d}'.format(5, 5) | '{:10.3}|'.format('abcdef') | '{:g} {}'.format(1e10, 1e10) | '{:b} {:o} {:#x}'.format(5, 8, 255) | '{:<6}|{:>6}'.format(1, 2) | '{}'.format(none) | '{:5}|'.format(true) | '{:.3}'.format(3.14159)
s|length | l|length | d|length | n|length | undef|length | l|count | names|join | names|join(', ') | l|join('-') | people|join(', ', attribute='name') | l|first | l|last | []|first | []|last | s|first | s|last | d|first
l|sort | names|sort | names|sort(case_sensitive=true) | l|sort(reverse=true) | people|sort(attribute='age')|map(attribute='name')|list | people|sort(attribute='age,name')|map(attribute='name')|join(',') | [1,'a']|sort | d|dictsort
d|dictsort(true) | {'b':2,'a':3}|dictsort(by='value') | {'b':2,'a':3}|dictsort(reverse=true) | d|dictsort(by='x') | l|sum | people|sum(attribute='age') | []|sum | [0.5,1]|sum | l|min | l|max | names|max | []|min is undefined | people|min(attribute='age')
[1,2,1,3]|unique|list | ['a','A','b']|unique|list | ['a','A']|unique(true)|list | people|unique(attribute='age')|map(attribute='name')|list | l|reverse|list | s|reverse | l|list | s|list|length | d|list | nil|list | range(7)|batch(3)|list | range(7)|batch(3, 'x')|list
range(7)|slice(3)|list | range(7)|slice(3, 'x')|list | people|groupby('age')|list | people|groupby('age')|map(attribute='grouper')|list | (people|groupby('age'))[1].list|length | ['a','A','b']|groupby(0)|list | people|groupby('tags', default='none')|length
people|map(attribute='name')|list | people|map(attribute='zip', default='?')|list | names|map('upper')|list | names|map('replace', 'a', 'x')|list | l|map('string')|join | people|map(attribute='tags.0')|list | names|map|list | names|map('nofilter')|list
l|select('odd')|list | l|reject('odd')|list | [0,1,'']|select|list | l|select('gt', 1)|list | l|select('greaterthan', 1)|list | people|selectattr('tags')|map(attribute='name')|list | people|selectattr('age', 'equalto', 30)|map(attribute='name')|list
people|rejectattr('age', '==', 30)|map(attribute='name')|list | people|selectattr('tags', 'defined')|list|length | people|rejectattr('tags', 'defined')|list|length | (people|selectattr('zzz'))|length | 1 if people|selectattr('zzz') else 2 | people|selectattr('name','in',['Zoe'])|list
s|upper | s|lower | 'a-b (c'|title | 'hello WORLD'|capitalize | 12|string ~ 1 | nil|string | s|replace('o', 'x') | s|replace('o','x',1) | 121|replace(1, 'x') | ws|trim | 'xax'|trim('x') | 12|trim | undef|trim | nil|trim
'3.7'|int | '12'|int | 'abc'|int | 'abc'|int(5) | '0x1f'|int(0,16) | '1f'|int(base=16) | 3.9|int | -3.9|int | nil|int | true|int | ' 42 '|int | '1_000'|int | '1e3'|int | '3.5'|float | 'x'|float | 'x'|float(1.5) | 3|float | '1e400'|float | ' 2 '|float | 'inf'|float
-3|abs | -3.5|abs | 's'|abs | 42.55|round | 2.5|round | 3.5|round | 42.55|round(1) | 2.675|round(2) | 42.55|round(1,'floor') | 42.1|round(0,'ceil') | 5|round | 1234.5|round(-2) | 42.55|round|int | 7|round(1,'floor')
lines|indent | lines|indent(2) | lines|indent(2, true) | lines|indent(2, true, true) | lines|indent('> ') | ''|indent | 'a'|indent(first=true) | 'a\n'|indent ~ '|' | 'a\n\n'|indent ~ '|'
'foo bar baz qux'|truncate(9) | 'foo bar baz qux'|truncate(9, true) | 'foo bar baz qux'|truncate(11) | 'foo bar baz qux'|truncate(11, false, '...', 0) | 'hello world foo'|wordcount | uni|wordcount | 'ab'|center(6) ~ '|' | "%s-%s"|format(1, 'b') | "%(x)s"|format(x=3)
html|escape | html|e | html|safe | html|e|e | (html|safe)|e | (html|safe) ~ '<' | ('<'|safe) + '<' | '<' + ('<'|safe) | d|attr('get') is callable | d|attr('b') is defined | undef|default('x') | ''|default('x') | ''|default('x', true) | nil|default('x') | nil|d('x', true) | undef|d
json|tojson | json|tojson(indent=2) | json|tojson(indent=0) | json|tojson(indent='\t') | json|tojson(sort_keys=true) | json|tojson(separators=(',', ':')) | json|tojson(separators=(',', ':'), indent=1) | uni|tojson | uni|tojson(ensure_ascii=true) | ctl|tojson | html|tojson
'\x7f\u2028'|tojson | l|tojson | (1,2)|tojson | {1: 2, none: 3, true: 4, 1.5: 5}|tojson | 1e16|tojson | 1.0|tojson | undef|tojson | range(3)|tojson | d.items()|tojson | nil|tojson | true|tojson | []|tojson(indent=2) | {}|tojson(indent=2) | '"\\/'|tojson | d|tojson(true) | '€'|tojson(true)
n is odd | n is even | 9 is divisibleby 3 | 9 is divisibleby(2) | s is string | n is string | n is number | yes is number | n is integer | yes is integer | f is float | yes is boolean | n is boolean | nil is none | none is none | undef is none | d is mapping | l is mapping | l is sequence
s is sequence | d is sequence | n is sequence | l is iterable | n is iterable | undef is iterable | s is iterable | 'abc' is lower | 'ABC' is upper | 'aB' is lower | '' is lower | yes is true | 1 is true | no is false | n is sameas n | l is sameas l | [1] is sameas [1] | none is sameas none
1 is in [1,2] | 'x' is in 'abc' | n is eq 7 | n is ne 7 | n is lt 8 | n is ge 7 | n is not odd | n is not defined | range is callable | s.upper is callable | n is callable | 'upper' is filter | 'nope' is filter | 'odd' is test | html|e is escaped | html is escaped
l is not mapping and s is string | n is defined and n is odd or no | (n is odd) == true | 1 is string or 2 is number | not n is odd | l is sequence and l is not string | -n|abs | -1|abs | (-1)|abs | -n.x | 2 * 3 ~ 4 | 1 ~ 2 + 3 | 10 - 2 - 3 | 2 + 3 * 4 ** 2 | 'a' 'b' "c"
d.items()[0] | (d.items()|list)[0] | [1,2,3,] | (1,2,) | {'a':1,} | l.0 | d.a.1 | 'x' if s == 'Hello, World' else 'y' | [l[0], l[1]]|join | (l + [9])[-1] | l + (1,) | 'a' + 1 | 1 + 'a' | none + 1 | l * 2 | 'ab' * 0 | 'ab' * -1 | [] + [] | {} == {} | {'a':1} == {'a':1.0}
s.split(', ')[1][::-1]|upper | names|map('length')|sum | (names|map('upper')|list)[0] | names[0][0]|upper + names[0][1:] | d.get('a')[0] | d['a'][1] | d['get'] | d['items'] is defined | s['upper'] is callable | s.split is defined | nil.x | n.x | l.x | nil['x'] | nil.x.y | n['x'] is undefined
"a\
b" | '\'' | "\"" | '\t|' | '\101' | '{{' | '%}' | '}}' | '#}' | {'a': {'b': 1}} | {'a': {'b': {}}}['a'] | [[1,[2]],[3]] | ((1)) | ((1,),) | undef == undef2 | undef != 1 | [undef] | [undef, none] | {'a': undef} | undef in [1] | 1 in undef | [] if [] else 'e'
loop | varargs | caller | 1 is foo | s|foo | {[1]: 2} | d[l] | d[[1]] is undefined | l[1.0] is undefined | l[true] | s[true] | 9223372036854775807 | -9223372036854775807 | 1 == '1' | 2 in (1,2) | none in [none] | 'b' in ['a','b'] and 1
"""

TEMPLATES = [
    "a\n{% if yes %}\nb\n{% endif %}\nc", "a {%- if yes -%} b {%- endif -%} c", "  {% if yes %}x{% endif %}  y", "  {%+ if yes %}x{% endif +%}\n  y",
    "{{ s -}}  \n x", "x \n {{- s }}", "a\n  {# c #}\nb", "a {#- c -#} b", "a\n  {{ s }}\n\n", "x\n", "x\n\n", "\n{% if yes %}\n\n{% endif %}\n",
    "a\r\nb\rc{{ '\\r' }}", "{% raw %}{{ x }}{% endraw %}", "a  {%- raw -%}  {% if %}  {%- endraw -%}  b", "x\n  {% raw %}\n  y\n  {% endraw %}\nz", "{#\n{{ x }}\n#}y",
    "\t{% set x = 1 %}\t{{ x }}", "a\n\t {% set x = 1 %}\nb", "{{ 1 }}\n{% set x = 1 %}\n{{ 2 }}", "{{-5}}", "{{ -5 }}", "{{+5}}", "x{{- ' y ' -}}z", "{%- set x = 1 -%}\n\n x", "{% if yes -%}\n  a\n{%- else %}\nb{% endif %}",
    "{% for x in l %}{{ x }}{% endfor %}", "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
    "{% for x in [] %}{{ x }}{% else %}none{% endfor %}", "{% for x in l if x > 1 %}{{ x }}:{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% else %}no{% endfor %}", "{% for x in l if x > 9 %}{{ x }}{% else %}no{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}", "{% for a, b in [(1,2),(3,4)] %}{{ a+b }} {% endfor %}", "{% for a, b in [(1,2,3)] %}{% endfor %}", "{% for a, (b, c) in [(1,(2,3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in l recursive %}{{ x }}{% endfor %}", "{% for t in tree recursive %}{{ t.v }}@{{ loop.depth }}({{ loop(t.kids) }}){% endfor %}", "{% for x in l %}{{ loop(l) }}{% endfor %}",
    "{% for x in l %}{{ loop.previtem|default('-') }}{{ loop.nextitem|default('-') }} {% endfor %}", "{% for x in l %}{{ loop.cycle('a','b') }}{% endfor %}", "{% for x in [1,1,2,2] %}{{ loop.changed(x) }} {% endfor %}",
    "{% for x in range(10) %}{% if x == 3 %}{% continue %}{% endif %}{% if x == 6 %}{% break %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% break %}{% else %}e{% endfor %}ok", "{% for x in l %}{% for y in l %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in undef %}{{ x }}{% else %}e{% endfor %}", "{% for x in nil %}{% endfor %}", "{% for x in 5 %}{% endfor %}", "{% for c in uni %}[{{ c }}]{% endfor %}", "{% for x in l %}{% set y = x %}{% endfor %}{{ y }}", "{% set y = 0 %}{% for x in l %}{{ y }}{% set y = x %}{% endfor %}{{ y }}",
    "{% set ns = namespace(t=0) %}{% for x in l %}{% set ns.t = ns.t + x %}{% endfor %}{{ ns.t }}", "{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}{{ ns.b }}", "{% set d.x = 1 %}", "{% set ns = namespace({'a': 2}, b=3) %}{{ ns.a }}{{ ns.b }}", "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a = 1, 2 %}{{ a }}", "{% set a, b = [1] %}", "{% set x = 'a' %}{% if yes %}{% set x = 'b' %}{% endif %}{{ x }}", "{% set x %}a{{ s }}b{% endset %}{{ x }}", "{% set x | upper | replace('L','_') %}{{ s }}{% endset %}{{ x }}", "{% set x %}{% set z = 1 %}{% endset %}{{ z }}",
    "{% set ns = namespace(x=1) %}{% set ns.x, y = 2, 3 %}{{ ns.x }}{{ y }}", "{% if no %}a{% elif n == 7 %}b{% elif yes %}c{% else %}d{% endif %}", "{% if undef %}a{% else %}b{% endif %}", "{% if undef.x %}{% endif %}", "{% if no %}{% set q = 1 %}{% endif %}{{ q }}", "{% if yes: %}x{% endif %}",
    "{% macro f(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(b=5, a=4) }} {{ f() }}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(z=2) }}", "{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, k=3) }}",
    "{% macro f(x) %}<{{ x }}|{{ caller() }}>{% endmacro %}{% call f(1) %}in{{ s }}{% endcall %}", "{% macro f() %}{% for i in l %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) f() %}[{{ x }}]{% endcall %}", "{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}", "{% macro f() %}x{% endmacro %}{% call f() %}y{% endcall %}",
    "{% macro fact(n) %}{% if n < 2 %}1{% else %}{{ n * fact(n-1)|int }}{% endif %}{% endmacro %}{{ fact(10) }}", "{% set g = 1 %}{% macro f() %}{{ g }}{% endmacro %}{% set g = 2 %}{{ f() }}", "{% macro f() %}{% set q = 5 %}{{ q }}{% endmacro %}{{ f() }}{{ q }}", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f(*[1]) }}{{ f(**{'a': 2}) }}", "{{ f(1) }}{% macro f(a) %}{{ a }}{% endmacro %}",
    "{% macro f(a) -%}\n  {{ a }}\n{%- endmacro %}[{{ f(1) }}]", "{% macro f(a) %}{{ a }}{% endmacro %}{{ f.name }}", "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter replace('o','0') | upper %}{{ s }}{% endfilter %}", "{% with a=1, b=2 %}{{ a }}{{ b }}{% endwith %}{{ a }}", "{% set a = 5 %}{% with a=1, b=a %}{{ b }}{% endwith %}", "{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z }}",
    "{% print s %}", "{% print s, n %}", "{% generation %}a{{ s }}{% endgeneration %}b", "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}", "{%- generation -%}  a  {%- endgeneration -%}", "{{ raise_exception('no: ' ~ n) }}", "{{ strftime_now('%%') }}", "{{ 'x' if no else raise_exception('boom') }}",
    "{% for p in people %}{{ p.name }}{{ ', ' if not loop.last }}{% endfor %}", "{% for p in people|sort(attribute='name') %}{{ p.name }} {% endfor %}", "{% for g in people|groupby('age') %}{{ g.grouper }}:{{ g.list|map(attribute='name')|join(',') }};{% endfor %}", "{% for age, ps in people|groupby('age') %}{{ age }}={{ ps|length }};{% endfor %}",
    "{% set it = l|map('string') %}{{ it|join }}-{{ it|join }}", "{% set it = l|select %}{{ it|first }}{{ it|first }}", "{% for x in l|reverse %}{{ x }}{% endfor %}", "{% for row in range(5)|batch(2) %}{{ row }}{% endfor %}", "{% for k, v in d|dictsort %}{{ k }}{% endfor %}", "{% for k, v in d|items %}{{ k }}{{ v }}{% endfor %}", "{% for k, v in undef|items %}{% endfor %}ok",
    "{% for x in l %}{% if loop.first %}{% set z = 'f' %}{% endif %}{{ z }}{% endfor %}", "{% for i in range(2) %}{% for j in range(2) %}{{ loop.index }}{% endfor %}{{ loop.index }} {% endfor %}", "{% for x in l %}{% with y = loop.index %}{{ y }}{% endwith %}{% endfor %}", "{% for x in l %}{% filter upper %}a{{ loop.index }}{% endfilter %}{% endfor %}",
    "{% set loop_ = 1 %}{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}", "{% set l2 = [] %}{% for x in l %}{% set _ = l2.append(x) %}{% endfor %}", "{% set ns = namespace(l=[]) %}{% for x in l %}{% set ns.l = ns.l + [x * 2] %}{% endfor %}{{ ns.l }}", "{{ [1, 2,\n 3]\n | join( ',' ) }}", "{{ {\n'a': 1,\n} }}", "{{ s\n.upper\n() }}",
    "{% set x = {'a': 1} %}{{ x.a }}{{ x['a'] }}{{ x.items() }}", "{% set x = dict(a=1, **{'b': 2}) %}{{ x }}", "{{ namespace(a=1) }}", "{% set a = b = 1 %}", "{% if %}{% endif %}", "{% for %}{% endfor %}", "{% endif %}", "{% if yes %}", "{{ }}", "{{ 1", "{% nope %}", "{{ 1 2 }}", "{# open", "{% raw %}x", "{{ 'a }}", "{{ (1 }}", "{{ 1) }}", "{{ [1} }}", "{{ a b }}", "{% break %}", "{% for x in l %}{% endif %}",
    "{% set %}", "{% set 1 = 2 %}", "{% set x.y.z = 1 %}", "{% for loop in l %}{% endfor %}", "{{ a. }}", "{{ .a }}", "{{ a[ }}", "{{ f(a=1, 2) }}", "{{ f(*a, 1) }}", "{{ 1 is }}", "{{ 1 | }}", "{{ s|upper() }}", "{{ s|replace('l') }}", "{{ s|upper(1) }}", "{{ s.strip(1) }}", "{{ {'a' 1} }}", "{{ @ }}", "{{ $x }}", "{{ 'a' if }}", "{% macro %}{% endmacro %}", "{% macro f(a=1, b) %}{% endmacro %}", "{% call s %}{% endcall %}",
    "{% if not yes and no or n %}t{% endif %}", "{% if 'a' not in s and s is string %}t{% endif %}", "{% if l is iterable and l is not string and l is not mapping %}t{% endif %}", "{%if yes%}x{%endif%}", "{%-if yes-%} x {%-endif-%}", "{{s}}{{n}}", "{{ s }}{# #}{{ n }}", "a{% if yes %}\n\n b{% endif %}", "{% set x -%} a {%- endset %}[{{ x }}]", "{{ '{{ x }}' }}", "{{ \"{% if %}\" }}", "{% set e = '\\n' %}{{ e }}|", "{{ '\\\\n' }}", "}} %} #}", "{ { x } }", "{", "{{{'a':1}}}", "a { b } c",
]

CONVERSATIONS = {
    "user": [{"role": "user", "content": "Hi"}],
    "system": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}],
    "turns": [{"role": "user", "content": " One? "}, {"role": "assistant", "content": "1"}, {"role": "user", "content": "Zwei 二?"},
              {"role": "assistant", "content": " 2\n"}, {"role": "user", "content": "3?"}, {"role": "assistant", "content": "3"}],
    "think": [{"role": "user", "content": "Alpha"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nBravo"}, {"role": "user", "content": "Carla"},
              {"role": "assistant", "content": "<think>\nso\n</think>\n\nDelta"}],
    "reasoning": [{"role": "user", "content": "Alpha"}, {"role": "assistant", "reasoning_content": "hm", "content": "Bravo"}],
    "tools": [{"role": "user", "content": "weather?"},
              {"role": "assistant", "content": "let me look", "tool_calls": [
                  {"type": "function", "id": "call12345", "function": {"name": "weather", "arguments": {"city": "北京", "days": 2, "hourly": True, "unit": None, "f": 1.5}}}]},
              {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": "{\"t\": 21}"}, {"role": "assistant", "content": "21 °C"}],
    "calls": [{"role": "user", "content": "weather?"},
              {"role": "assistant", "content": "", "tool_calls": [
                  {"type": "function", "id": "call12345", "function": {"name": "weather", "arguments": {"city": "Aachen"}}},
                  {"type": "function", "id": "call12346", "function": {"name": "weather", "arguments": {"city": "Bonn"}}}]},
              {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": "1"}, {"role": "tool", "tool_call_id": "call12346", "name": "weather", "content": "2"},
              {"role": "assistant", "content": "1 and 2"}],
    "string_arguments": [{"role": "user", "content": "weather?"},
                         {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "id": "call12345", "function": {"name": "weather", "arguments": "{\"city\": \"Aachen\"}"}}]},
                         {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": "1"}],
    "no_user": [{"role": "system", "content": "Only a system message."}],
    "assistant_twice": [{"role": "user", "content": "Alpha"}, {"role": "assistant", "content": "Bravo"}, {"role": "assistant", "content": "Carla"}],
    "empty": [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "part one"}, {"type": "text", "text": " two"}]}, {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}],
}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "查询天气", "parameters": {"type": "object", "properties": {
    "city": {"type": "string", "description": "The \"city\""}, "days": {"type": "integer", "default": 1.5}, "hourly": {"type": "boolean", "enum": [True, None]}},
    "required": ["city"]}}}]
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def language():
    rows = [e.strip() for line in EXPRESSIONS.replace("\\\n", "\\\x00").strip().split("\n") for e in split_bar(line.replace("\\\x00", "\\\n"))]
    for template in ["{{ " + e + " }}" for e in rows if e] + TEMPLATES:
        row = {"template": template}
        try:
            row["output"] = _compile_jinja_template(template).render(**VARIABLES)
        except Exception as error:  # any: the reference refuses it
            row["error"] = f"{type(error).__name__}: {error}"
        if " object at 0x" in row.get("output", "") or "<function" in row.get("output", ""):
            continue
        yield row


def split_bar(line):
    """Cut at ' | ' outside of quotes (filters are written without the spaces)."""
    out, quote, i = [""], None, 0
    while i < len(line):
        c = line[i]
        if quote:
            if c == "\\":
                out[-1] += line[i:i + 2]
                i += 2
                continue
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif line[i:i + 3] == " | ":
            out.append("")
            i += 3
            continue
        out[-1] += c
        i += 1
    return out


def chats(paths):
    for path in paths:
        source = path.read_text()
        for name, messages in CONVERSATIONS.items():
            for tools in (None, TOOLS):
                for prompt, kwargs in ((False, {}), (True, {}), (True, {"enable_thinking": False})):
                    if kwargs and "enable_thinking" not in source:
                        continue
                    row = {"template": path.name, "case": name, "variables": {
                        "messages": messages, "tools": tools, "documents": None, "add_generation_prompt": prompt, **SPECIAL, **kwargs}}
                    try:
                        row["output"] = _compile_jinja_template(source).render(**row["variables"])
                    except Exception as error:
                        row["error"] = f"{type(error).__name__}: {error}"
                    yield row


TOKENS = ["<s>", "</s>", "<pad>", "<unk>", "<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]  # added, not special


def make_tokenizer():
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    text = [json.dumps(CONVERSATIONS)] + [p.read_text() for p in sorted(OUT.glob("*.jinja"))]
    tok.train_from_iterator(text, trainers.BpeTrainer(vocab_size=420, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, **SPECIAL, additional_special_tokens=TOKENS[4:])
    fast.add_tokens(MARKS)
    folder = OUT / "tokenizer"
    fast.save_pretrained(folder)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def rule_spans(tok, messages, render, text, offsets):
    """Byte spans by the rule, or None where renders are no prefixes of each other (those cases are in tests/unit)."""
    spans = []
    for i, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        start, region = render(messages[:i], True), render(messages[:i + 1], False)
        if start is None or region is None or not text.startswith(start) or not text.startswith(region):
            return None
        content = (message["content"] if isinstance(message["content"], str) else "").split("</think>")[-1].strip()
        last = max(region.rfind(content) + len(content) if content else 0, len(start))
        for call in message.get("tool_calls") or []:  # the last copied byte is the last string of the arguments
            arguments = call["function"]["arguments"]
            city = arguments if isinstance(arguments, str) else [v for v in arguments.values() if isinstance(v, str)][-1]
            last = max(last, region.rfind(city) + len(city))
        ends = [b for a, b, special in offsets if special and last <= a < len(region)]
        spans.append((len(start), ends[0] if ends else len(region)))
    return spans


def masks(tok):
    special = {i for i, t in tok.added_tokens_decoder.items() if t.special}
    for path in sorted(OUT.glob("*.jinja")):
        tok.chat_template = path.read_text()
        for name, messages in CONVERSATIONS.items():
            for tools in (None, TOOLS):
                for kwargs in ({}, {"enable_thinking": False}):
                    if kwargs and "enable_thinking" not in tok.chat_template:
                        continue
                    def render(some, prompt):
                        try:
                            return tok.apply_chat_template(some, tools=tools, tokenize=False, add_generation_prompt=prompt, **kwargs)
                        except Exception:
                            return None
                    text = render(messages, False)
                    row = {"template": path.name, "case": name, "messages": messages, "tools": tools, "chat_template_kwargs": kwargs}
                    if text is None:
                        continue
                    coded = tok(text, add_special_tokens=False, return_offsets_mapping=True)
                    row["ids"] = coded["input_ids"]
                    if "generation %}" in tok.chat_template:
                        out = tok.apply_chat_template(messages, tools=tools, return_dict=True, return_assistant_tokens_mask=True, **kwargs)
                        row["mask"] = out["assistant_masks"]
                    else:
                        offsets = [(a, b, i in special) for (a, b), i in zip(coded["offset_mapping"], coded["input_ids"])]
                        spans = rule_spans(tok, messages, render, text, offsets)
                        if spans is None:
                            continue
                        row["mask"] = [int(any(a < e and b > s for s, e in spans)) for a, b, _ in offsets]
                    yield row


def dump(file, rows):
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        dump(sys.stdout, chats([pathlib.Path(p) for p in sys.argv[1:]]))
        sys.exit()
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "variables.json", "w") as f:
        f.write(json.dumps(VARIABLES, ensure_ascii=False, indent=1) + "\n")
    with open(OUT / "language.jsonl", "w") as f:
        dump(f, language())
    with open(OUT / "chats.jsonl", "w") as f:
        dump(f, chats(sorted(OUT.glob("*.jinja"))))
    with open(OUT / "masks.jsonl", "w") as f:
        dump(f, masks(make_tokenizer()))
