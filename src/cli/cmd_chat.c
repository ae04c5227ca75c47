/*
 * hone chat MODEL [--prompt S] [--max-new-tokens N] [--temperature T] [--seed N] [--ids] [--dtype] [--threads N].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "io/model_dir.h"
#include "model/load.h"
#include "nn/generate.h"
#include "runtime/ctx.h"
#include "text/chat.h"

typedef struct talk {
    const char     *model, *prompt, *system, *dtype;
    int64_t         max_new, seed, threads;
    double          temperature;
    bool            ids, warned_length;
    hone_ctx       *ctx;
    hone_loaded    *loaded;
    hone_tokenizer *tokenizer;      /* NULL where the directory has none: ids only */
    hone_chat      *chat;           /* NULL where the directory has no template: plain continuation */
    hone_generator *generator;
    hone_vec_i32    stops;
    json_t         *messages;
    hone_rng        rng;
} talk;

static hone_status parse(talk *t, int argc, char **argv)
{
    hone_arg args[] = {
        { "prompt", HONE_ARG_STRING, &t->prompt, "answer this and end; without it, a conversation" },
        { "system", HONE_ARG_STRING, &t->system, "system message" },
        { "max-new-tokens", HONE_ARG_INT, &t->max_new, "longest answer (default 256)" },
        { "temperature", HONE_ARG_NUMBER, &t->temperature, "0 = always the most probable token (default)" },
        { "seed", HONE_ARG_INT, &t->seed, "of the draws (default 42)" },
        { "ids", HONE_ARG_FLAG, &t->ids, "print the answer's token ids as JSON; a prompt like [1, 2] is taken as ids" },
        { "dtype", HONE_ARG_STRING, &t->dtype, "f32 or bf16; default: as the checkpoint" },
        { "threads", HONE_ARG_INT, &t->threads, "threads; 0 = all processors" },
    };

    t->max_new = 256;
    t->seed = 42;
    HONE_TRY(hone_args_parse(args, HONE_COUNTOF(args), &t->model, 1, "hone chat MODEL [flags]", argc, argv));
    HONE_CHECK(t->model, HONE_E_USAGE, "hone chat needs a model: a directory, or a hub id in the local cache");
    HONE_CHECK(t->max_new > 0 && t->max_new < 1 << 20, HONE_E_USAGE, "--max-new-tokens must be from 1 to 1048575");
    HONE_CHECK(t->temperature >= 0, HONE_E_USAGE, "--temperature must not be negative");
    HONE_CHECK(!t->dtype || strcmp(t->dtype, "f32") == 0 || strcmp(t->dtype, "bf16") == 0, HONE_E_USAGE,
               "--dtype %s is not known; give f32 or bf16", t->dtype);
    return HONE_OK;
}

static hone_status open_all(talk *t)
{
    hone_status      st = HONE_OK;
    hone_ctx_options options = { .threads = (int)t->threads, .log = hone_log_stderr(HONE_LOG_INFO) };
    hone_model_dir  *probe = NULL;
    char            *path = NULL;
    hone_dtype       dtype;

    HONE_GO(hone_model_dir_locate(&path, t->model, NULL));
    HONE_GO(hone_model_dir_open(&probe, path));
    dtype = t->dtype ? (strcmp(t->dtype, "f32") == 0 ? HONE_DTYPE_F32 : HONE_DTYPE_BF16) : hone_model_dir_compute_dtype(probe);
    if (hone_tokenizer_is_in(path)) {
        HONE_GO(hone_tokenizer_load(&t->tokenizer, path));
        st = hone_chat_load(&t->chat, path, t->tokenizer);
        if (st == HONE_E_DATA)      /* no template: continue the text as it stands */
            st = HONE_OK;
        HONE_GO(st);
    }
    HONE_GO(hone_ctx_create(&t->ctx, &options));
    HONE_GO(hone_model_load(&t->loaded, t->ctx, path, &(hone_load_options){ dtype, HONE_PARAMS_FROZEN, 0 }));
    HONE_GO(hone_generator_create(&t->generator, t->ctx, t->loaded->model));
    HONE_GO(hone_model_dir_eos_ids(&t->stops, t->loaded->dir));
    if (t->tokenizer && hone_tokenizer_eos(t->tokenizer) >= 0)
        HONE_GO(HONE_VEC_PUSH(&t->stops, hone_tokenizer_eos(t->tokenizer)));
    t->rng = hone_rng_make((uint64_t)t->seed, 0x63686174);
out:
    hone_model_dir_close(&probe);
    hone_free(path);
    return st;
}

static bool is_stop(const talk *t, int32_t id)
{
    for (size_t i = 0; i < t->stops.len; i++)
        if (t->stops.data[i] == id)
            return true;
    return false;
}

/* Print the characters of `bytes` that are complete; the rest waits for the next token. */
static void print_complete(hone_str *bytes)
{
    size_t good = hone_utf8_valid_prefix(bytes->data, bytes->len);

    if (bytes->len - good > 3)      /* not the start of a character: show it as broken */
        good = bytes->len;
    fwrite(bytes->data, 1, good, stdout);
    fflush(stdout);
    memmove(bytes->data, bytes->data + good, bytes->len - good);
    bytes->len -= good;
}

/* Once: rotary positions go on past what the model is made for, but it was not trained there. */
static void warn_length(talk *t, int64_t n)
{
    int64_t  rated = t->loaded->model->rated_positions;
    hone_log log = hone_log_stderr(HONE_LOG_INFO);

    if (t->warned_length || rated == 0 || n <= rated)
        return;
    t->warned_length = true;
    hone_warn(&log, "the conversation has %lld tokens, and the model is made for max_position_embeddings %lld (config.json)",
              (long long)n, (long long)rated);
}

/* Generate after `ids`; the answer is printed as it comes and, as text, appended to `answer`. */
static hone_status answer_to(talk *t, const int32_t *ids, int64_t n, hone_str *answer)
{
    hone_status st = HONE_OK;
    hone_str    pending = HONE_STR_INIT, bytes = HONE_STR_INIT;
    int32_t     id;
    bool        first = true;

    warn_length(t, n);
    HONE_GO(hone_generator_prompt(t->generator, ids, n));
    if (t->ids)
        printf("[");
    for (int64_t i = 0; i < t->max_new && hone_generator_room(t->generator) > 0; i++) {
        HONE_GO(hone_generator_next(t->generator, &id, t->temperature, &t->rng));
        if (t->ids) {
            printf("%s%d", first ? "" : ", ", id);
            first = false;
        }
        if (is_stop(t, id))
            break;
        if (!t->tokenizer)
            continue;
        hone_str_clear(&bytes);
        HONE_GO(hone_tokenizer_token_bytes(t->tokenizer, &bytes, id));
        hone_str_append(answer, hone_str_c(&bytes), bytes.len);
        hone_str_append(&pending, hone_str_c(&bytes), bytes.len);
        HONE_GO(hone_str_ok(&pending));
        if (!t->ids && pending.len)
            print_complete(&pending);
    }
    printf(t->ids ? "]\n" : "\n");
out:
    hone_str_deinit(&pending);
    hone_str_deinit(&bytes);
    return st;
}

static hone_status say(json_t *messages, const char *role, const char *text, size_t n)
{
    json_t *m = json_object();

    HONE_CHECK(hone_utf8_valid_prefix(text, n) == n, HONE_E_DATA, "the %s message is not well-formed UTF-8", role);
    json_object_set_new(m, "role", json_string(role));
    json_object_set_new(m, "content", json_stringn(text, n));
    return json_array_append_new(messages, m) == 0 ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

/* A prompt that is itself ids, "[1, 2, 3]". */
static hone_status answer_ids(talk *t)
{
    hone_status  st = HONE_OK;
    hone_vec_i32 ids = { NULL, 0, 0 };
    hone_str     answer = HONE_STR_INIT;
    json_t      *list = NULL, *item;
    size_t       i;

    HONE_GO(hone_json_parse(&list, t->prompt, strlen(t->prompt), "--prompt"));
    json_array_foreach(list, i, item) {
        HONE_GO_CHECK(json_is_integer(item) && json_integer_value(item) >= 0 && json_integer_value(item) <= INT32_MAX, HONE_E_USAGE,
                      "--prompt: entry %zu is no token id", i);
        HONE_GO(HONE_VEC_PUSH(&ids, (int32_t)json_integer_value(item)));
    }
    HONE_GO(answer_to(t, ids.data, (int64_t)ids.len, &answer));
out:
    json_decref(list);
    HONE_VEC_DEINIT(&ids);
    hone_str_deinit(&answer);
    return st;
}

static hone_status answer_text(talk *t, const char *text, size_t n)
{
    hone_status       st = HONE_OK;
    hone_chat_render  render = { 0 };
    hone_encoding     plain = { NULL, 0, 0 };
    hone_encoding    *tokens = &plain;
    hone_vec_i32      ids = { NULL, 0, 0 };
    hone_str          answer = HONE_STR_INIT;
    hone_chat_options options = { .generation_prompt = true };

    HONE_CHECK(t->tokenizer, HONE_E_DATA, "%s has no tokenizer; give ids: --ids --prompt \"[1, 2, 3]\"", t->model);
    if (t->chat) {
        HONE_GO(say(t->messages, "user", text, n));
        HONE_GO(hone_chat_render_messages(t->chat, &render, t->messages, &options));
        tokens = &render.tokens;
    } else {
        HONE_GO(hone_tokenizer_encode(t->tokenizer, &plain, text, n, true));
    }
    for (size_t i = 0; i < tokens->len; i++)
        HONE_GO(HONE_VEC_PUSH(&ids, tokens->data[i].id));
    HONE_GO(answer_to(t, ids.data, (int64_t)ids.len, &answer));
    if (t->chat)
        HONE_GO(say(t->messages, "assistant", hone_str_c(&answer), hone_utf8_valid_prefix(hone_str_c(&answer), answer.len)));
out:
    hone_chat_render_deinit(&render);
    HONE_VEC_DEINIT(&plain);
    HONE_VEC_DEINIT(&ids);
    hone_str_deinit(&answer);
    return st;
}

static hone_status converse(talk *t)
{
    hone_status st = HONE_OK;
    char       *line = NULL;
    size_t      cap = 0;
    ssize_t     n;
    bool        terminal = isatty(STDIN_FILENO);

    for (;;) {
        if (terminal) {
            printf("> ");
            fflush(stdout);
        }
        n = getline(&line, &cap, stdin);
        if (n <= 0)
            break;
        if (line[n - 1] == '\n')
            n--;
        if (n == 0)
            continue;
        HONE_GO(answer_text(t, line, (size_t)n));
    }
    if (terminal)
        printf("\n");
out:
    free(line);
    return st;
}

hone_status hone_cmd_chat(int argc, char **argv)
{
    talk        t = { 0 };
    hone_status st = HONE_OK;

    HONE_TRY(parse(&t, argc, argv));
    HONE_GO(open_all(&t));
    t.messages = json_array();
    if (t.system)
        HONE_GO(say(t.messages, "system", t.system, strlen(t.system)));
    if (t.prompt && t.ids && t.prompt[0] == '[')
        HONE_GO(answer_ids(&t));
    else if (t.prompt)
        HONE_GO(answer_text(&t, t.prompt, strlen(t.prompt)));
    else
        HONE_GO(converse(&t));
out:
    json_decref(t.messages);
    hone_generator_destroy(&t.generator);
    hone_chat_destroy(&t.chat);
    hone_tokenizer_destroy(&t.tokenizer);
    hone_loaded_destroy(&t.loaded);
    hone_ctx_destroy(&t.ctx);
    HONE_VEC_DEINIT(&t.stops);
    return st;
}
