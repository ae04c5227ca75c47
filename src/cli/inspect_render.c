/* hone inspect render DIR [FILE.jsonl|-]: conversations as the model's chat template writes them, with ids and loss masks,
 * from standard input without a file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "io/model_dir.h"
#include "text/chat.h"

static const char USAGE[] = "hone inspect render DIR [FILE.jsonl|-] [--template NAME|FILE.jinja] [--generation-prompt] [--marked]";

typedef struct request {
    const char *dir, *file, *template;
    bool        prompt, marked;
} request;

static hone_status read_arguments(request *r, int argc, char **argv)
{
    const char    *words[2] = { NULL, NULL };
    const hone_arg args[] = {
        { "template", HONE_ARG_STRING, &r->template, "the model's template of this name, or a file (.jinja)" },
        { "generation-prompt", HONE_ARG_FLAG, &r->prompt, "end with what opens the answer" },
        { "marked", HONE_ARG_FLAG, &r->marked, "print the text, with what is learned in «»" },
    };

    *r = (request){ 0 };
    HONE_TRY(hone_args_parse(args, HONE_COUNTOF(args), words, 2, USAGE, argc, argv));
    r->dir = words[0];
    r->file = words[1] ? words[1] : "-";
    HONE_CHECK(r->dir, HONE_E_USAGE, "usage: %s", USAGE);
    return HONE_OK;
}

/* A key's value, NULL where it is absent or null. */
static const json_t *given(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);

    return json_is_null(v) ? NULL : v;
}

/* A row is an object with "messages", or the messages themselves. */
static hone_status render_row(const hone_chat *chat, hone_chat_render *out, const json_t *row, bool prompt)
{
    const hone_chat_options options = { .tools = given(row, "tools"), .template_kwargs = given(row, "chat_template_kwargs"),
                                        .generation_prompt = prompt };

    if (json_is_array(row))
        return hone_chat_render_messages(chat, out, row, &options);
    HONE_CHECK(json_is_object(row), HONE_E_DATA, "the row is neither an object nor a list of messages but %s",
               hone_json_type_name(row));
    HONE_CHECK(given(row, "messages"), HONE_E_DATA, "the row has no \"messages\", a list of {\"role\", \"content\"} "
               "(hone inspect data shows rows of every kind)");
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

static void put_marked(hone_str *line, const hone_chat_render *r)
{
    const char *text = hone_str_c(&r->text);
    size_t      at = 0;

    for (size_t i = 0; i < r->tokens.len; i++) {
        bool begins = r->mask.data[i] && (i == 0 || !r->mask.data[i - 1]);
        bool ends = r->mask.data[i] && (i + 1 == r->tokens.len || !r->mask.data[i + 1]);

        hone_str_append(line, text + at, r->tokens.data[i].begin - at);
        hone_str_puts(line, begins ? "«" : "");
        hone_str_append(line, text + r->tokens.data[i].begin, r->tokens.data[i].end - r->tokens.data[i].begin);
        hone_str_puts(line, ends ? "»" : "");
        at = r->tokens.data[i].end;
    }
    hone_str_append(line, text + at, r->text.len - at);
    hone_str_puts(line, "\n\n");
}

/* Render one line of the file and print what came of it. A row that cannot be rendered is printed as {"error"} and counted. */
static hone_status print_row(const hone_chat *chat, hone_chat_render *render, hone_str *line, const json_t *row,
                             const request *request, size_t *refused)
{
    hone_status st = render_row(chat, render, row, request->prompt);

    hone_str_clear(line);
    if (st == HONE_OK && request->marked) {
        put_marked(line, render);
    } else if (st == HONE_OK) {
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
        HONE_GO(print_row(chat, &render, &line, row, r, &refused));
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

/* All of standard input. */
static hone_status read_input(hone_str *out)
{
    char   buf[1 << 16];
    size_t n;

    while ((n = fread(buf, 1, sizeof buf, stdin)) > 0)
        hone_str_append(out, buf, n);
    HONE_CHECK(!ferror(stdin), HONE_E_IO, "standard input cannot be read: %s", strerror(errno));
    return hone_str_ok(out);
}

hone_status hone_inspect_render(int argc, char **argv)
{
    request         r;
    hone_tokenizer *tok = NULL;
    hone_chat      *chat = NULL;
    hone_mapped     map = { 0 };
    hone_str        input = HONE_STR_INIT;
    char           *dir = NULL;
    hone_status     st;

    HONE_TRY(read_arguments(&r, argc, argv));
    HONE_GO(hone_model_dir_locate(&dir, r.dir, NULL));
    HONE_GO(hone_tokenizer_load(&tok, dir));
    HONE_GO(hone_chat_load_named(&chat, dir, r.template, tok));
    if (strcmp(r.file, "-") == 0) {
        r.file = "standard input";
        HONE_GO(read_input(&input));
        HONE_GO(print_all(chat, &r, hone_str_c(&input), input.len));
    } else {
        HONE_GO(hone_file_map(&map, r.file));
        HONE_GO(print_all(chat, &r, (const char *)map.data, map.size));
    }
out:
    hone_str_deinit(&input);
    hone_file_unmap(&map);
    hone_chat_destroy(&chat);
    hone_tokenizer_destroy(&tok);
    hone_free(dir);
    return st;
}
