/* hone prepare CONFIG.yaml [--out DIR] [--key value]: make the samples of a config once, for runs that start at once. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/data_progress.h"
#include "cli/start_log.h"
#include "data/prepared.h"
#include "io/model_dir.h"

/* --out is tokenized_path. Owns: hone_free(*text), which argv then points into. */
static hone_status take_out(int *argc, char **argv, char **text)
{
    const char *out = NULL;
    int         n = 0;

    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--out") == 0) {
            HONE_CHECK(i + 1 < *argc, HONE_E_USAGE, "--out takes the folder to write");
            out = argv[++i];
        } else if (hone_starts_with(argv[i], "--out=")) {
            out = argv[i] + strlen("--out=");
        } else {
            argv[n++] = argv[i];
        }
    }
    if (!out)
        return HONE_OK;
    *text = hone_asprintf("--tokenized_path=%s", out);
    if (!*text)
        return HONE_E_NOMEM;
    argv[n++] = *text;
    *argc = n;
    return HONE_OK;
}

static hone_status prepare(const hone_options *o)
{
    hone_data_progress   progress = { 0 };
    hone_log             log = hone_start_log(o);
    hone_dataset_context context = { .options = o, .log = &log, .progress = hone_data_progress_show, .progress_arg = &progress };
    hone_tokenizer      *tokenizer = NULL;
    hone_chat           *chat = NULL;
    hone_slots          *slots = NULL;
    char                *dir = NULL;
    bool                 made;
    hone_status          st = HONE_OK;

    HONE_GO(hone_model_dir_locate(&dir, o->model_name_or_path, o->model_revision));
    HONE_GO(hone_dataset_open_text(&tokenizer, &chat, &slots, dir, o));
    context.model_dir = dir;
    context.tokenizer = tokenizer;
    context.chat = chat;
    context.slots = slots;
    HONE_GO(hone_prepare(&context, &made));
    if (!made)
        hone_info(&log, "%s holds just these samples already: nothing to do", o->tokenized_path);
out:
    hone_slots_destroy(&slots);
    hone_chat_destroy(&chat);
    hone_tokenizer_destroy(&tokenizer);
    hone_free(dir);
    return st;
}

hone_status hone_cmd_prepare(int argc, char **argv)
{
    hone_options *options = NULL;
    char         *out = NULL;
    hone_status   st = HONE_OK;

    HONE_GO(take_out(&argc, argv, &out));
    HONE_GO_CHECK(argc > 0, HONE_E_USAGE, "hone prepare needs a config: hone prepare CONFIG.yaml [--out DIR] [--key value]");
    HONE_GO(hone_options_load_data(&options, argc, argv));
    HONE_GO_CHECK(options->model_name_or_path, HONE_E_USAGE,
                  "model_name_or_path is missing: the model whose tokenizer and chat template the data goes through");
    HONE_GO_CHECK(options->tokenized_path, HONE_E_USAGE, "tokenized_path is missing: give the folder to write, as --out DIR");
    HONE_GO(prepare(options));
out:
    hone_options_destroy(&options);
    hone_free(out);
    return st;
}
