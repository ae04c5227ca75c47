/* hone inspect render DIR FILE.jsonl: conversations as the model's chat template writes them, with ids and loss masks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "io/model_dir.h"
#include "text/chat.h"

typedef struct request {
    const char *dir, *file;
    bool        prompt;
} request;

static hone_status read_arguments(request *r, int argc, char **argv)
{
    const char    *words[2] = { NULL, NULL };
    const hone_arg args[] = { { "generation-prompt", HONE_ARG_FLAG, &r->prompt, "end with what opens the answer" } };

    *r = (request){ NULL, NULL, false };
    HONE_TRY(hone_args_parse(args, HONE_COUNTOF(args), words, 2, "hone inspect render DIR FILE.jsonl [--generation-prompt]", argc, argv));
    r->dir = words[0];
    r->file = words[1];
    HONE_CHECK(r->dir && r->file, HONE_E_USAGE, "usage: hone inspect render DIR FILE.jsonl [--generation-prompt]");
    return HONE_OK;
}

/* A key's value, NULL where it is absent or null. */
static const json_t *given(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);

    return json_is_null(v) ? NULL : v;
}

static hone_status render_row(const hone_chat *chat, hone_chat_render *out, const json_t *row, bool prompt)
{
    const hone_chat_options options = { .tools = given(row, "tools"), .template_kwargs = given(row, "chat_template_kwargs"),
                                        .generation_prompt = prompt };

    HONE_CHECK(json_is_object(row), HONE_E_DATA, "the row is not an object but %s", hone_json_type_name(row));
    HONE_CHECK(given(row, "messages"), HONE_E_DATA, "the row has no \"messages\"");
    return hone_chat_render_messages(chat, out, given(row, "messages"), &options);
}

static void put_render(hone_str *line, const hone_chat_render *r)
{
    hone_str_puts(line, "{\"text\": ");
    hone_json_quote(line, hone_str_c(&r->text), r->text.len);
    hone_str_puts(line, ", \"ids\": [");
    for (size_t i = 0; i < r->tokens.len; i++)
        hone_str_printf(line, i ? ", %d" : "%d", r->tokens.data[i].id);
    hone_str_puts(line, "], \"mask\": [");
    for (size_t i = 0; i < r->mask.len; i++)
        hone_str_puts(line, i ? (r->mask.data[i] ? ", 1" : ", 0") : (r->mask.data[i] ? "1" : "0"));
    hone_str_puts(line, "]}\n");
}

/* Render one line of the file and print what came of it. A row that cannot be rendered is printed as {"error"} and counted. */
static hone_status print_row(const hone_chat *chat, hone_chat_render *render, hone_str *line, const json_t *row, bool prompt,
                             size_t *refused)
{
    hone_status st = render_row(chat, render, row, prompt);

    hone_str_clear(line);
    if (st == HONE_OK) {
        put_render(line, render);
    } else if (st == HONE_E_DATA || st == HONE_E_UNSUPPORTED) {
        ++*refused;
        hone_str_puts(line, "{\"error\": ");
        hone_json_quote(line, hone_status_text(), strlen(hone_status_text()));
        hone_str_puts(line, "}\n");
        hone_status_clear();
    } else {
        return HONE_TRACE(st);
    }
    HONE_TRY(hone_str_ok(line));
    HONE_CHECK(fwrite(line->data, 1, line->len, stdout) == line->len, HONE_E_IO, "standard output cannot be written: %s",
               strerror(errno));
    return HONE_OK;
}

static bool is_blank(const char *s, size_t n)
{
    while (n > 0 && strchr(" \t\r", s[n - 1]) && s[n - 1])
        n--;
    return n == 0;
}

static hone_status print_all(const hone_chat *chat, const request *r, const char *text, size_t n)
{
    hone_chat_render render = { 0 };
    hone_str         line = HONE_STR_INIT, where = HONE_STR_INIT;
    hone_status      st = HONE_OK;
    size_t           rows = 0, refused = 0, number = 0, end;
    json_t          *row = NULL;

    for (size_t i = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; i < n; i = end + 1) {
        const char *lf = memchr(text + i, '\n', n - i);

        end = lf ? (size_t)(lf - text) : n;
        number++;
        if (is_blank(text + i, end - i))
            continue;
        hone_str_clear(&where);
        hone_str_printf(&where, "%s:%zu", r->file, number);
        HONE_GO(hone_str_ok(&where));
        HONE_GO(hone_json_parse(&row, text + i, end - i, where.data));
        HONE_GO(print_row(chat, &render, &line, row, r->prompt, &refused));
        json_decref(row);
        row = NULL;
        rows++;
    }
    HONE_GO_CHECK(!refused, HONE_E_DATA, "%s: %zu of %zu rows cannot be rendered; each one's \"error\" says why", r->file,
                  refused, rows);
out:
    json_decref(row);
    hone_chat_render_deinit(&render);
    hone_str_deinit(&line);
    hone_str_deinit(&where);
    return st;
}

hone_status hone_inspect_render(int argc, char **argv)
{
    request         r;
    hone_tokenizer *tok = NULL;
    hone_chat      *chat = NULL;
    hone_mapped     map = { 0 };
    char           *dir = NULL;
    hone_status     st;

    HONE_TRY(read_arguments(&r, argc, argv));
    HONE_GO(hone_model_dir_locate(&dir, r.dir, NULL));
    HONE_GO(hone_tokenizer_load(&tok, dir));
    HONE_GO(hone_chat_load(&chat, dir, tok));
    HONE_GO(hone_file_map(&map, r.file));
    HONE_GO(print_all(chat, &r, (const char *)map.data, map.size));
out:
    hone_file_unmap(&map);
    hone_chat_destroy(&chat);
    hone_tokenizer_destroy(&tok);
    hone_free(dir);
    return st;
}
