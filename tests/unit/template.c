/* Templates: refusals with their place, limits, and the origin of every byte. */
#include <stdio.h>

#include "base/mem.h"
#include "hone_test.h"
#include "text/template.h"

static void refused(const char *source, hone_status code, const char *part)
{
    hone_template *t;

    T_STATUS(hone_template_compile(&t, source, strlen(source), "t"), code);
    T_ERROR_HAS(part);
    assert_null(t);
}

static void syntax_is_refused_with_its_place(void **state)
{
    (void)state;
    refused("a\n{% nope %}", HONE_E_FORMAT, "t:2:4: unknown tag 'nope'");
    refused("{% extends 'x' %}", HONE_E_UNSUPPORTED, "t:1:4: the tag 'extends' is not supported");
    refused("{% include 'x' %}", HONE_E_UNSUPPORTED, "'include'");
    refused("{% from 'x' import y %}", HONE_E_UNSUPPORTED, "'from'");
    refused("é{{ x|nope }}", HONE_E_UNSUPPORTED, "t:1:7: there is no filter 'nope' in the template language");
    refused("{{ x is weird }}", HONE_E_UNSUPPORTED, "t:1:9: there is no test 'weird'");
    refused("{% if x %}{% for a in b %}{{ a|x.y }}{% endfor %}{% endif %}", HONE_E_UNSUPPORTED, "no filter 'x.y'");
    refused("{% do x %}", HONE_E_FORMAT, "t:1:4: the tag 'do' belongs to an extension");
    refused("{% autoescape true %}{% endautoescape %}", HONE_E_UNSUPPORTED, "t:1:15: only 'autoescape false'");
    refused("{% block a %}{% endblock %}{% block a %}{% endblock %}", HONE_E_FORMAT, "the block 'a' is defined twice");
    refused("{% block a required %}{% endblock %}", HONE_E_UNSUPPORTED, "leave 'required' out");
    refused("{% if x %}", HONE_E_FORMAT, "ends before this block's 'endif' or 'else' or 'elif'");
    refused("\n\n{{ 'a", HONE_E_FORMAT, "t:3:4: string without its closing quote");
    refused("{{ 1 +", HONE_E_FORMAT, "tag without its end '}}'");
    refused("{{ 1 + }}", HONE_E_FORMAT, "t:1:8: expected an expression, got '}}'");
    refused("{{ 99999999999999999999 }}", HONE_E_UNSUPPORTED, "beyond 64 bits");
    refused("{{ '\\ud800' }}", HONE_E_FORMAT, "malformed escape");
    refused("a\xff", HONE_E_FORMAT, "t:1:2: invalid UTF-8");
}

static hone_status render(hone_template_output *out, const char *source, const char *vars, const hone_template_limits *limits)
{
    hone_template *t;
    json_t        *v;
    hone_status    st;

    T_OK(hone_template_compile(&t, source, strlen(source), "t"));
    T_OK(hone_json_parse(&v, vars, strlen(vars), "vars"));
    st = hone_template_render(t, out, (const json_t *const[]){ v }, 1, limits);
    hone_template_destroy(&t);
    json_decref(v);
    return st;
}

static void fails(const char *source, hone_status code, const char *part)
{
    hone_template_output out = { 0 };

    T_STATUS(render(&out, source, "{\"m\": {\"a\": [1]}}", NULL), code);
    T_ERROR_HAS(part);
    hone_template_output_deinit(&out);
}

static void failures_have_their_place(void **state)
{
    (void)state;
    fails("x\n {{ m.b.c }}", HONE_E_DATA, "t:2:9: 'dict object' has no attribute 'b'");
    fails("{{ nope.c }}", HONE_E_DATA, "'nope' is undefined");
    fails("{{ m.a.append(1) }}", HONE_E_DATA, "changes its object");
    fails("{{ 'a'.encode() }}", HONE_E_UNSUPPORTED, "the method 'encode' of str is not supported");
    fails("{{ raise_exception('no way') }}", HONE_E_DATA, "t:1:4: no way");
    fails("{{ 1 / 0 }}", HONE_E_DATA, "t:1:6: division by zero");
    fails("{{ 9223372036854775807 + 1 }}", HONE_E_DATA, "beyond 64-bit");
}

static void hostile_templates_end(void **state)
{
    static const hone_template_limits limits = { .steps = 100000, .memory = 8 << 20, .output = 1 << 20 };
    static const struct { const char *source, *part; } cases[] = {
        { "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "limit of" },
        { "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested too deep" },
        { "{{ 'abcdefghabcdefghabcdefghabcdefgh' * 30000 }}{{ 'abcdefghabcdefghabcdefghabcdefgh' * 30000 }}", "limit of 1048576 bytes" },
        { "{% set ns = namespace(s='abcdefgh') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", "limit" },
        { "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}", "limit of" },
        { "{{ 'a' * 9999999999 }}", "steps" },
        { "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}"
          "{% endfor %}{{ ns.a == ns.b }}", "steps" },
        { "{% set ns = namespace(a=(1,)) %}{% for i in range(60) %}{% set ns.a = (ns.a, ns.a) %}{% endfor %}{{ {ns.a: 1} }}", "steps" },
        { "{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a|tojson }}", "limit" },
        { "{% set ns = namespace(a=[1]) %}{% for i in range(2000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a|pprint }}", "too deep" },
        { "{% set ns = namespace(a=[1]) %}{% for i in range(2000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a|tojson }}", "too deep" },
        { "{% set s = 'a' * 90000 %}{% for i in range(99999) %}{% if 'b' in s %}{% endif %}{% endfor %}", "steps" },
        { "{% set s = 'a' * 90000 %}{% for i in range(99999) %}{{ s.rfind('b' ~ 'a' * 99) }}{% endfor %}", "steps" },
        { "{% set s = 'a' * 90000 %}{% set d = {'a': 1} %}{% for i in range(99999) %}{% if s in d %}{% endif %}{% endfor %}", "steps" },
        { "{% macro f(n) %}{{ f(n - 1) }}{{ f(n - 1) }}{% endmacro %}{{ f(9999) }}", "nested too deep" },
        { "{% block a %}{{ self.a() }}{% endblock %}", "nested too deep" },
        { "{{ 'a'.center(9999999999) }}", "steps" }, { "{{ 'a'.zfill(9999999999) }}", "steps" },
        { "{{ '{:9999999999}'.format(1) }}", "Too many decimal digits" }, { "{{ '\\t'.expandtabs(9999999999) }}", "steps" },
        { "{{ ('a' * 90000)|replace('', 'b' * 90000) }}", "limit" }, { "{{ [1]|batch(9999999999, 0)|list }}", "limit" },
        { "{{ [1]|slice(9999999999)|list }}", "limit" }, { "{{ 'x\\n'|indent(9999999999) }}", "steps" },
        { "{{ '%99999999d' % 1 }}", "too big" },
        { "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}", "nested too deep" },
        { "{% set x = range(3) %}{% for i in x recursive %}{{ loop(x) }}{% endfor %}", "nested too deep" },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        hone_template_output out = { 0 };

        T_STATUS(render(&out, cases[i].source, "{}", &limits), HONE_E_DATA);
        T_ERROR_HAS(cases[i].part);
        hone_template_output_deinit(&out);
    }
}

static void nesting_of_syntax_is_bounded(void **state)
{
    static const char *const chains[] = { " + 1", ".a", "|string", " and 1", " if 1", "()", "**1", "[0]" };
    hone_str s = HONE_STR_INIT;

    (void)state;
    hone_str_puts(&s, "{{ ");
    for (int i = 0; i < 100000; i++)
        hone_str_puts(&s, "-");
    refused(hone_str_c(&s), HONE_E_FORMAT, "tag without its end");
    hone_str_puts(&s, "1 }}");
    refused(hone_str_c(&s), HONE_E_FORMAT, "nested more than");
    for (size_t k = 0; k < HONE_COUNTOF(chains); k++) {
        hone_str_clear(&s);
        hone_str_puts(&s, "{{ x");
        for (int i = 0; i < 100000; i++)
            hone_str_puts(&s, chains[k]);
        hone_str_puts(&s, " }}");
        refused(hone_str_c(&s), HONE_E_FORMAT, "nested more than");
    }
    hone_str_clear(&s);
    for (int i = 0; i < 1000; i++)
        hone_str_puts(&s, "{% if x %}");
    refused(hone_str_c(&s), HONE_E_FORMAT, "nested more than");
    hone_str_deinit(&s);
}

/* "text" with each run of one origin as <source/work:…>; '-' = none, 'r' behind the source = role, 'g' = generation. */
static void origins(const char *source, const char *want)
{
    static const char vars[] = "{\"messages\": [{\"role\": \"user\", \"content\": \" Hé \"}, {\"role\": \"bot\", \"content\": \"a<b\"}]}";
    hone_template_output out = { 0 };
    hone_str             got = HONE_STR_INIT;
    size_t               from = 0;

    T_OK(render(&out, source, vars, NULL));
    for (size_t i = 0; i < out.spans.len; i++) {
        const hone_template_span *s = &out.spans.data[i];

        hone_str_printf(&got, "<%d%s/%d%s:%.*s>", s->source, s->role ? "r" : "", s->work, s->generation ? "g" : "",
                        (int)(s->end - from), out.text.data + from);
        from = s->end;
    }
    assert_int_equal(from, out.text.len);
    assert_string_equal(hone_str_c(&got), want);
    hone_str_deinit(&got);
    hone_template_output_deinit(&out);
}

static void every_byte_has_its_origin(void **state)
{
    (void)state;
    origins("a{% for m in messages %}{{ '[' + m.role ~ ']' }}{{ m.content|trim }}{% endfor %}b",
            "<-1/-1:a><-1/0:[><0r/0:user><-1/0:]><0/0:Hé><-1/1:[><1r/1:bot><-1/1:]><1/1:a<b><-1/-1:b>");
    origins("{% set a = messages[0].content + messages[1].content %}{{ a[2:6]|upper }}", "<0/-1:É ><1/-1:A<>");
    origins("{{ messages[1].content|e }}{{ messages[1].content.replace('<', '--') }}", "<1/-1:a&lt;ba><-1/-1:--><1/-1:b>");
    origins("{{ [messages[0].content]|tojson }}", "<-1/-1:[\"><0/-1: Hé ><-1/-1:\"]>");
    origins("{{ '%s|%3s' % (messages[0].role, messages[1].role[0]) }}", "<0r/-1:user><-1/-1:|  ><1r/-1:b>");
    origins("{% set x %}{{ messages[0].content }}{% endset %}{% for m in messages[1:] %}{{ x.strip() }}{% endfor %}", "<0/1:Hé>");
    origins("{% macro f(m) %}<{{ m.content }}>{% endmacro %}{% for m in messages[1:] %}{{ f(m) }}{% endfor %}",
            "<-1/1:<><1/1:a<b><-1/1:>>");
    origins("{% for i in range(2) %}{{ i }}{{ messages[i].content }};{% endfor %}",
            "<-1/0:0><0/0: Hé ><-1/0:;><-1/1:1><1/1:a<b><-1/1:;>");
    origins("x{% generation %}{{ messages[1].role }}y{% endgeneration %}z", "<-1/-1:x><1r/-1g:bot><-1/-1g:y><-1/-1:z>");
    origins("{% for p in messages[1].content.split('<') %}{{ p }}{% endfor %}", "<1/1:ab>");
}

static void allocation_failures_are_errors(void **state)
{
    static const char source[] = "{% macro f(a, b=[1]) %}{{ a ~ b|join(',') }}{% endmacro %}{% for m in messages|sort(attribute='role') %}"
                                 "{{ f(m.content) }}{{ m|tojson(indent=2) }}{% endfor %}";
    static const char vars[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}";
    json_t *v;

    (void)state;
    T_OK(hone_json_parse(&v, vars, strlen(vars), "vars"));
    for (int64_t n = 0;; n++) {
        hone_template       *t = NULL;
        hone_template_output out = { 0 };
        hone_status          st;
        bool                 reached;

        hone_mem_fail_at(n);
        st = hone_template_compile(&t, source, strlen(source), "t");
        if (st == HONE_OK)
            st = hone_template_render(t, &out, (const json_t *const[]){ v }, 1, NULL);
        reached = hone_mem_fail_reached();
        hone_mem_fail_at(-1);
        hone_template_output_deinit(&out);
        hone_template_destroy(&t);
        if (!reached) {
            assert_int_equal(st, HONE_OK);
            assert_true(n > 5);
            break;
        }
        assert_int_equal(st, HONE_E_NOMEM);
    }
    json_decref(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_is_refused_with_its_place), cmocka_unit_test(failures_have_their_place),
        cmocka_unit_test(hostile_templates_end), cmocka_unit_test(nesting_of_syntax_is_bounded),
        cmocka_unit_test(every_byte_has_its_origin), cmocka_unit_test(allocation_failures_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
