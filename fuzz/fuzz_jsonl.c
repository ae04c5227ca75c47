/* Data files: whatever the text, reading it as .jsonl, .json and .txt ends with a data set or an error that names the
 * file; the counts of a data set add up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "data/dataset.h"
#include "data/loader.h"

static const char template_source[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}{{ c | tojson "
    "}}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Made once, kept to the end. */
static void open_text(hone_dataset_context *c)
{
    static hone_tokenizer *tokenizer;
    static hone_chat      *chat;

    if (!tokenizer) {
        char *dir = hone_strndup(__FILE__, strlen(__FILE__) - strlen("fuzz/fuzz_jsonl.c"));
        char *path = hone_asprintf("%stests/data/template/tokenizer", dir);

        must(hone_tokenizer_load(&tokenizer, path) == HONE_OK);
        must(hone_chat_create(&chat, template_source, strlen(template_source), "fuzz", tokenizer) == HONE_OK);
        hone_free(dir);
        hone_free(path);
    }
    c->tokenizer = tokenizer;
    c->chat = chat;
}

static void check(const hone_dataset *d, const hone_options *o)
{
    const hone_dataset_report *r = hone_dataset_get_report(d);
    int64_t        rows = 0, tokens = 0;
    hone_loader   *loader;
    hone_step_plan plan;

    for (int f = 0; f < HONE_ROW_FATES; f++)
        rows += r->fates[f];
    for (int64_t i = 0; i < hone_dataset_len(d); i++) {
        hone_sample s = hone_dataset_at(d, i);

        must(s.n > 0 && s.n <= o->cutoff_len && s.supervised > 0);
        tokens += s.n;
    }
    must(rows == r->rows && tokens == r->tokens_kept
         && r->tokens_in == r->tokens_kept + r->tokens_cut + r->tokens_dropped);
    must(hone_loader_create(&loader, d, o) == HONE_OK);
    must(hone_loader_step(loader, 0, &plan) == HONE_OK && plan.tokens > 0);
    hone_loader_destroy(&loader);
}

static void load(const char *path, const char *options)
{
    hone_dataset_context c = { 0 };
    hone_options        *o;
    hone_dataset        *train, *eval;
    char *text = hone_asprintf("finetuning_type: full\nthreads: 1\ncutoff_len: 64\ndataset: %s\n%s", path, options);

    must(text != NULL);
    must(hone_options_load_text(&o, text, strlen(text), "fuzz") == HONE_OK);
    open_text(&c);
    c.options = o;
    if (hone_dataset_load(&train, &eval, &c) == HONE_OK)
        check(train, o);
    else
        must(!train && !eval && *hone_status_text());
    hone_dataset_destroy(&train);
    hone_dataset_destroy(&eval);
    hone_options_destroy(&o);
    hone_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *ending, *options;
    } runs[] = {
        { "jsonl", "" },
        { "jsonl", "bad_rows: drop\npacking: true\ntruncation: cut-left\n" },
        { "json", "bad_rows: drop\n" },
        { "json", "stage: pt\n" },
        { "txt", "stage: pt\n" },
    };
    char path[64];

    for (size_t i = 0; i < HONE_COUNTOF(runs); i++) {
        FILE *f;

        snprintf(path, sizeof path, "fuzz_jsonl.%ld.%s", (long)getpid(), runs[i].ending);
        f = fopen(path, "wb");
        must(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
        load(path, runs[i].options);
        unlink(path);
    }
    return 0;
}
