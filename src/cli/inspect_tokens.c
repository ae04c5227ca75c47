/* hone inspect tokens DIR [FILE|-]: token ids of each line of a text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "io/model_dir.h"
#include "text/tokenizer.h"

typedef struct request {
    const char *dir, *file;
    bool        no_special, whole, json;
} request;

static hone_status read_arguments(request *r, int argc, char **argv)
{
    static const char usage[] = "hone inspect tokens DIR [FILE|-] [--no-special] [--whole] [--json]";
    const char       *words[2] = { NULL, NULL };
    const hone_arg    args[] = {
        { "no-special", HONE_ARG_FLAG, &r->no_special, "without the special tokens that the tokenizer adds" },
        { "whole", HONE_ARG_FLAG, &r->whole, "the input is one text" },
        { "json", HONE_ARG_FLAG, &r->json, "each line is a JSON string" },
    };

    *r = (request){ NULL, NULL, false, false, false };
    HONE_TRY(hone_args_parse(args, HONE_COUNTOF(args), words, 2, usage, argc, argv));
    r->dir = words[0];
    r->file = words[1];
    HONE_CHECK(r->dir, HONE_E_USAGE, "usage: %s", usage);
    return HONE_OK;
}

static hone_status read_stdin(hone_str *out)
{
    size_t n;

    do {
        if (!hone_str_reserve(out, 1 << 16))
            break;
        n = fread(out->data + out->len, 1, 1 << 16, stdin);
        out->len += n;
        out->data[out->len] = '\0';
    } while (n > 0);
    HONE_CHECK(!ferror(stdin), HONE_E_IO, "standard input cannot be read: %s", strerror(errno));
    return hone_str_ok(out);
}

/* Print the ids of one text; `line` is its number, from 1. */
static hone_status print_tokens(const hone_tokenizer *tok, hone_encoding *e, hone_str *out, const request *r,
                                const char *text, size_t n)
{
    e->len = 0;
    HONE_TRY(hone_tokenizer_encode(tok, e, text, n, !r->no_special));
    hone_str_clear(out);
    hone_str_putc(out, '[');
    for (size_t i = 0; i < e->len; i++)
        hone_str_printf(out, i ? ", %d" : "%d", e->data[i].id);
    hone_str_puts(out, "]\n");
    HONE_TRY(hone_str_ok(out));
    HONE_CHECK(fwrite(out->data, 1, out->len, stdout) == out->len, HONE_E_IO, "standard output cannot be written: %s",
               strerror(errno));
    return HONE_OK;
}

static hone_status print_json_line(const hone_tokenizer *tok, hone_encoding *e, hone_str *out, const request *r,
                                   const char *text, size_t n, const char *where)
{
    json_t     *v;
    hone_status st = HONE_OK;

    HONE_TRY(hone_json_parse(&v, text, n, where));
    HONE_GO_CHECK(json_is_string(v), HONE_E_DATA, "%s: with --json each line is a string; this is %s", where,
                  hone_json_type_name(v));
    HONE_GO(print_tokens(tok, e, out, r, json_string_value(v), json_string_length(v)));
out:
    json_decref(v);
    return st;
}

/* Ill-formed UTF-8 is refused with its place before a token of its line is printed. */
static hone_status check_utf8(const char *text, size_t n, const char *name, size_t line)
{
    size_t good = hone_utf8_valid_prefix(text, n), start = good;

    if (good == n)
        return HONE_OK;
    for (size_t i = 0; i < good; i++)       /* more than one line with --whole */
        line += text[i] == '\n';
    while (start > 0 && text[start - 1] != '\n')
        start--;
    return HONE_FAIL(HONE_E_DATA, "%s: line %zu, byte %zu: 0x%02x is not valid UTF-8 here; convert the text to UTF-8", name,
                     line, good - start + 1, (unsigned char)text[good]);
}

static hone_status print_all(const hone_tokenizer *tok, const request *r, const char *text, size_t n, const char *name)
{
    hone_encoding e = { 0 };
    hone_str      out = HONE_STR_INIT, where = HONE_STR_INIT;
    hone_status   st = HONE_OK;
    size_t        line = 0, end;

    for (size_t i = 0; i < n || (r->whole && line == 0); i = end + 1) {
        const char *lf = r->whole || i == n ? NULL : memchr(text + i, '\n', n - i);

        end = lf ? (size_t)(lf - text) : n;
        line++;
        HONE_GO(check_utf8(text + i, end - i, name, line));
        if (!r->json) {
            HONE_GO(print_tokens(tok, &e, &out, r, text + i, end - i));
            continue;
        }
        hone_str_clear(&where);
        hone_str_printf(&where, "%s:%zu", name, line);
        HONE_GO(hone_str_ok(&where));
        HONE_GO(print_json_line(tok, &e, &out, r, text + i, end - i, where.data));
    }
out:
    HONE_VEC_DEINIT(&e);
    hone_str_deinit(&out);
    hone_str_deinit(&where);
    return st;
}

hone_status hone_inspect_tokens(int argc, char **argv)
{
    request         r;
    hone_tokenizer *tok = NULL;
    hone_mapped     map = { 0 };
    hone_str        input = HONE_STR_INIT;
    char           *dir = NULL;
    hone_status     st;
    bool            from_stdin;

    HONE_TRY(read_arguments(&r, argc, argv));
    from_stdin = !r.file || strcmp(r.file, "-") == 0;
    HONE_GO(hone_model_dir_locate(&dir, r.dir, NULL));
    HONE_GO(hone_tokenizer_load(&tok, dir));
    if (from_stdin) {
        HONE_GO(read_stdin(&input));
        HONE_GO(print_all(tok, &r, hone_str_c(&input), input.len, "standard input"));
    } else {
        HONE_GO(hone_file_map(&map, r.file));
        HONE_GO(print_all(tok, &r, (const char *)map.data, map.size, r.file));
    }
out:
    hone_file_unmap(&map);
    hone_str_deinit(&input);
    hone_tokenizer_destroy(&tok);
    hone_free(dir);
    return st;
}
