#include "train/template_files.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"

/* Ids that the template stops at and the model knows, added to those of its files. *more: whether there are new ones. */
static hone_status collect(const hone_run *run, hone_vec_i32 *out, bool *more)
{
    size_t         n, listed;
    const int32_t *stops = hone_slots_stops(run->slots, &n);

    HONE_TRY(hone_model_dir_eos_ids(out, run->loaded->dir));
    listed = out->len;
    for (size_t i = 0; i < n; i++) {
        bool known = stops[i] >= run->loaded->model->vocab;

        for (size_t k = 0; k < out->len; k++)
            known = known || out->data[k] == stops[i];
        if (!known)
            HONE_TRY(HONE_VEC_PUSH(out, stops[i]));
    }
    *more = out->len > listed;
    return HONE_OK;
}

/* The model's own settings, or what its config.json says in their place. New. */
static hone_status read_settings(json_t **out, const hone_model_dir *dir)
{
    static const char *const keys[] = { "bos_token_id", "eos_token_id", "pad_token_id" };

    HONE_TRY(hone_json_read_if_there(out, hone_model_dir_path(dir), "generation_config.json"));
    if (*out)
        return HONE_OK;
    *out = json_object();
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < HONE_COUNTOF(keys); i++) {
        json_t *v = json_object_get(hone_model_dir_config(dir), keys[i]);

        HONE_CHECK(!v || json_is_null(v) || json_object_set(*out, keys[i], v) == 0, HONE_E_NOMEM, "out of memory");
    }
    return HONE_OK;
}

static hone_status set_stops(json_t *settings, const hone_vec_i32 *stops)
{
    json_t *list = json_array();

    for (size_t i = 0; i < stops->len; i++)
        HONE_CHECK(json_array_append_new(list, json_integer(stops->data[i])) == 0, HONE_E_NOMEM, "out of memory");
    HONE_CHECK(json_object_set_new(settings, "eos_token_id", list) == 0, HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

static void put_settings(hone_str *out, const json_t *settings)
{
    const char *key, *comma = "";
    json_t     *v;

    hone_str_putc(out, '{');
    json_object_foreach((json_t *)settings, key, v) {
        hone_str_printf(out, "%s\n  ", comma);
        hone_json_quote(out, key, strlen(key));
        hone_str_puts(out, ": ");
        hone_json_dump(out, v, true);
        comma = ",";
    }
    hone_str_puts(out, "\n}\n");
}

hone_status hone_run_generation_config(const hone_run *run, hone_str *out)
{
    hone_vec_i32 stops = { NULL, 0, 0 };
    json_t      *settings = NULL;
    hone_status  st = HONE_OK;
    bool         more = false;

    if (!run->slots || run->options->stage == HONE_STAGE_PT)
        return HONE_OK;
    HONE_GO(collect(run, &stops, &more));
    if (!more)
        goto out;
    HONE_GO(read_settings(&settings, run->loaded->dir));
    HONE_GO(set_stops(settings, &stops));
    put_settings(out, settings);
    HONE_GO(hone_str_ok(out));
out:
    json_decref(settings);
    HONE_VEC_DEINIT(&stops);
    return st;
}

hone_status hone_run_chat_template(const hone_run *run, hone_str *out)
{
    hone_chat  *chat = NULL;
    hone_status st;

    if (!run->slots || run->options->stage == HONE_STAGE_PT)
        return HONE_OK;
    st = hone_chat_load(&chat, run->model_path, run->tokenizer);
    hone_chat_destroy(&chat);
    hone_status_clear();
    return st == HONE_E_DATA ? hone_slots_chat_template(run->slots, out) : HONE_OK;     /* E_DATA: there is none */
}
