/* Checks between options, and the values that follow from others. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "option/option_int.h"

#include <string.h>

#include "base/mem.h"

/* The place of an option in errors: "config.yaml:12: ", or "" when it has its default. */
static const char *at(char buf[256], const hone_options *o, const char *name)
{
    const char *source = hone_options_source(o, name);

    if (strcmp(source, "default") == 0)
        return "";
    snprintf(buf, 256, "%s: ", source);
    return buf;
}

#define REFUSE_IF(cond, key, ...) \
    do { if (cond) { char at_[256], text_[400]; \
        snprintf(text_, sizeof text_, __VA_ARGS__); \
        return HONE_FAIL(HONE_E_USAGE, "%s%s", at(at_, o, #key), text_); } } while (0)

/* Whether samples depend on a row that is known, but not implemented for training. */
static bool data_depends(const hone_options *o, const option_row *row)
{
    static const char *const others[] = { "cache_dir", "new_special_tokens_config", "predict_with_generate" };

    if (strcmp(row->name, "stage") == 0)
        return o->stage == HONE_STAGE_PPO;
    for (size_t i = 0; i < HONE_COUNTOF(others); i++)
        if (strcmp(row->name, others[i]) == 0)
            return true;
    return strcmp(row->group, "Data") == 0;
}

/* Does the row hold what is known, but not implemented? `value` and `def` are its value and its default as text. */
static bool is_refused(const hone_options *o, const option_row *row, const hone_str *value, const hone_str *def)
{
    char choice[64];
    bool later = false;

    if (row->state == STATE_LATER)
        return strcmp(hone_str_c(value), hone_str_c(def)) != 0;
    if (row->kind == KIND_E) {
        int v = *(const int *)(const void *)((const char *)o + row->offset);

        if (v != HONE_ENUM_NULL)
            (void)hone_option_choice_at(row, (size_t)v, choice, &later);
    }
    return later;
}

hone_status hone_option_refuse_unimplemented(const hone_options *o, const hone_options *defaults, option_use use)
{
    hone_str    text = HONE_STR_INIT, value = HONE_STR_INIT, def = HONE_STR_INIT;
    int         count = 0;
    hone_status st = HONE_OK;
    char        place[256];

    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];

        hone_str_clear(&value);
        hone_str_clear(&def);
        hone_option_write(&value, o, row);
        hone_option_write(&def, defaults, row);
        if (!is_refused(o, row, &value, &def) || (use == OPTION_USE_DATA && !data_depends(o, row)))
            continue;
        count++;
        hone_str_printf(&text, "\n  %s%s: %.80s", at(place, o, row->name), row->name, hone_str_c(&value));
        if (strcmp(row->name, "finetuning_type") == 0)
            hone_str_puts(&text, ": hone trains all weights so far: write finetuning_type: full");
        else if (row->state == STATE_LATER)
            hone_str_printf(&text, " (%s): leave it out", row->help);
        else
            hone_str_printf(&text, ": hone help options %s lists what works", row->name);
    }
    HONE_GO(hone_str_ok(&value));
    HONE_GO(hone_str_ok(&def));
    HONE_GO(hone_str_ok(&text));
    HONE_GO_CHECK(count == 0, HONE_E_UNSUPPORTED, "not implemented yet, and the result would depend on %s:%s",
                  count == 1 ? "it" : "them", hone_str_c(&text));
out:
    hone_str_deinit(&text);
    hone_str_deinit(&value);
    hone_str_deinit(&def);
    return st;
}

static hone_status check_probs(const hone_options *o)
{
    bool   all = o->mix_strategy == HONE_MIX_INTERLEAVE_OVER || o->mix_strategy == HONE_MIX_INTERLEAVE_ONCE;
    double sum = 0;

    for (size_t i = 0; i < o->interleave_probs.n; i++) {
        const char *text = o->interleave_probs.v[i];
        char       *end;
        double      p = strtod(text, &end);

        REFUSE_IF(end == text || *end || !(p >= 0) || p > 1, interleave_probs,
                  "interleave_probs: \"%.80s\" is no number from 0 to 1", text);
        REFUSE_IF(p == 0 && all, interleave_probs, "interleave_probs: a data set of probability 0 is never through, and "
                  "mix_strategy: %s waits for it; leave it out of dataset", hone_option_choice("mix_strategy", o->mix_strategy));
        sum += p;
    }
    REFUSE_IF(fabs(sum - 1) > 1e-8, interleave_probs, "interleave_probs sum to %.9g, not to 1", sum);
    return HONE_OK;
}

static hone_status check_mix(const hone_options *o)
{
    size_t n = o->interleave_probs.n;

    REFUSE_IF(o->eval_on_each_dataset && !o->eval_dataset.n, eval_on_each_dataset,
              "eval_on_each_dataset evaluates each data set of eval_dataset, which is missing");
    if (n == 0)
        return HONE_OK;
    REFUSE_IF(o->mix_strategy == HONE_MIX_CONCAT, interleave_probs,
              "interleave_probs says how data sets are interleaved, and mix_strategy: concat does not; set mix_strategy to "
              "interleave_under, interleave_over or interleave_once");
    REFUSE_IF(o->dataset.n && o->dataset.n != n, interleave_probs,
              "interleave_probs has %zu numbers for %zu data sets (dataset); give one for each", n, o->dataset.n);
    /* one data set is not mixed, and with eval_on_each_dataset several are not */
    REFUSE_IF(o->eval_dataset.n > 1 && !o->eval_on_each_dataset && o->eval_dataset.n != n, interleave_probs,
              "interleave_probs has %zu numbers for %zu data sets (eval_dataset); with eval_on_each_dataset: true these are "
              "not mixed", n, o->eval_dataset.n);
    return check_probs(o);
}

static hone_status check_data(const hone_options *o)
{
    bool sft = o->stage == HONE_STAGE_SFT;

    REFUSE_IF(!sft && o->train_on_prompt, train_on_prompt, "train_on_prompt works with stage: sft only");
    REFUSE_IF(!sft && o->mask_history, mask_history, "mask_history works with stage: sft only");
    REFUSE_IF(!sft && o->neat_packing, neat_packing, "neat_packing works with stage: sft only; stage: pt packs anyway");
    REFUSE_IF(o->stage != HONE_STAGE_PT && !o->append_eos, append_eos, "append_eos works with stage: pt only; what ends an answer "
              "is the template's to say");
    REFUSE_IF(o->train_on_prompt && o->mask_history, mask_history,
              "mask_history and train_on_prompt contradict each other");
    REFUSE_IF(o->neat_packing && o->packing == HONE_TRI_FALSE, packing,
              "neat_packing: true turns packing on; packing: false contradicts it");
    REFUSE_IF(o->val_size > 0 && o->eval_dataset.n, val_size,
              "val_size and eval_dataset both name held-out rows; keep one");
    REFUSE_IF(o->val_size > 0 && !o->dataset.n, val_size, "val_size holds back rows of dataset, which is missing");
    REFUSE_IF(o->val_size > 1 && o->val_size != (double)(int64_t)o->val_size, val_size,
              "val_size above 1 is a number of rows: write it without fraction");
    REFUSE_IF(o->truncation == HONE_TRUNCATION_FIT && o->stage == HONE_STAGE_PT, truncation,
              "truncation: fit cuts the turns of a conversation, and stage: pt has none; write truncation: cut-right");
    REFUSE_IF(o->stage == HONE_STAGE_PT && o->packing == HONE_TRI_TRUE && o->truncation != HONE_TRUNCATION_CUT_RIGHT, truncation,
              "stage: pt with packing joins its documents and cuts none of them: leave truncation out, or set packing: false");
    REFUSE_IF(o->truncation == HONE_TRUNCATION_FIT && !o->template, truncation, "truncation: fit cuts turn by turn "
              "as LLaMA-Factory's templates do: set template, or write truncation: cut-right");
    REFUSE_IF(o->pack_length < o->cutoff_len, pack_length,
              "a packed row of pack_length %lld cannot hold a sample of cutoff_len %lld tokens",
              (long long)o->pack_length, (long long)o->cutoff_len);
    return HONE_OK;
}

/* What acts with a named template only. */
static hone_status check_template(const hone_options *o)
{
    REFUSE_IF(!o->template && o->tool_format, tool_format, "tool_format acts with template; the chat template that the model "
              "brings writes tools in its own way");
    REFUSE_IF(!o->template && o->tool_date, tool_date, "tool_date acts with template; for the chat template that the model "
              "brings, give the day it takes in a row's chat_template_kwargs");
    return HONE_OK;
}

/* What needs to know all rows before the first step. */
static hone_status check_streaming(const hone_options *o)
{
    if (!o->streaming)
        return HONE_OK;
    REFUSE_IF(o->max_steps < 0, max_steps, "streaming: true does not know how many rows there are: set max_steps");
    REFUSE_IF(o->val_size > 0 && o->val_size < 1, val_size, "streaming: true does not know how many rows there are: write "
              "val_size as a number of rows");
    REFUSE_IF(o->max_samples != HONE_INT_NULL, max_samples, "max_samples does not go with streaming: true, where max_steps "
              "says how much of the data is used");
    REFUSE_IF(o->tokenized_path && *o->tokenized_path, tokenized_path, "prepared data is mapped, not held in memory: leave streaming out to train "
              "on it, or tokenized_path to read the rows while training");
    REFUSE_IF(o->buffer_size > 1 << 30, buffer_size, "buffer_size is at most %d rows", 1 << 30);
    return HONE_OK;
}

static hone_status check_training(const hone_options *o)
{
    bool size = o->global_batch_size != HONE_INT_NULL, tokens = o->global_batch_tokens != HONE_INT_NULL;

    REFUSE_IF(o->eval_strategy != HONE_WHEN_NO && !o->eval_dataset.n && o->val_size == 0, eval_strategy,
              "eval_strategy needs held-out rows: set val_size or eval_dataset");
    REFUSE_IF(o->do_eval && !o->eval_dataset.n && o->val_size == 0, do_eval,
              "do_eval needs held-out rows: set val_size or eval_dataset");
    REFUSE_IF(o->adam_beta1 >= 1, adam_beta1, "adam_beta1 must be below 1");
    REFUSE_IF((float)o->adam_epsilon < FLT_MIN, adam_epsilon, "adam_epsilon must be above 0 in f32: a weight whose gradient is 0 "
              "would become NaN");
    REFUSE_IF(o->adam_beta2 >= 1, adam_beta2, "adam_beta2 must be below 1");
    REFUSE_IF(o->max_steps == 0, max_steps, "max_steps: 0 trains nothing; -1 leaves the length to num_train_epochs");
    REFUSE_IF(o->num_train_epochs == 0 && o->max_steps < 0, num_train_epochs, "num_train_epochs: 0 trains nothing");
    REFUSE_IF(size && tokens, global_batch_tokens,
              "global_batch_size and global_batch_tokens both set the size of a step; keep one");
    REFUSE_IF((size || tokens) && o->gradient_accumulation_steps != 1, gradient_accumulation_steps,
              "gradient_accumulation_steps and %s both set the size of a step; keep one",
              size ? "global_batch_size" : "global_batch_tokens");
    REFUSE_IF(size && o->global_batch_size % o->per_device_train_batch_size != 0, global_batch_size,
              "global_batch_size %lld is not a multiple of per_device_train_batch_size %lld",
              (long long)o->global_batch_size, (long long)o->per_device_train_batch_size);
    REFUSE_IF(o->lr_scheduler_kwargs && !json_is_object(o->lr_scheduler_kwargs), lr_scheduler_kwargs,
              "lr_scheduler_kwargs is a mapping, such as {num_cycles: 0.5}");
    REFUSE_IF(o->save_strategy == HONE_WHEN_STEPS && o->save_steps == 0, save_steps,
              "save_steps must be above 0; save_strategy: no saves only the end");
    REFUSE_IF(o->logging_steps == 0, logging_steps, "logging_steps must be above 0");
    REFUSE_IF(o->eval_strategy == HONE_WHEN_STEPS && o->eval_steps == 0, eval_steps, "eval_steps must be above 0");
    REFUSE_IF((float)o->dropout >= 1, dropout, "dropout must be below 1");
    return HONE_OK;
}

/* A value that follows from another option, as if `from` had been its source. */
static hone_status derived(hone_options *o, const char *name, const char *from)
{
    char **slot = &o->state->sources[hone_option_find(name) - hone_option_rows];
    char  *text = hone_asprintf("from %s", from);

    HONE_CHECK(text, HONE_E_NOMEM, "out of memory while reading options");
    hone_free(*slot);
    *slot = text;
    return HONE_OK;
}

static hone_status settle(hone_options *o)
{
    if (o->packing == HONE_TRI_NULL) {
        HONE_TRY(derived(o, "packing", o->neat_packing ? "neat_packing" : "stage"));
        o->packing = o->neat_packing || o->stage == HONE_STAGE_PT ? HONE_TRI_TRUE : HONE_TRI_FALSE;
    }
    if (o->data_seed == HONE_INT_NULL) {
        HONE_TRY(derived(o, "data_seed", "seed"));
        o->data_seed = o->seed;
    }
    if (hone_float_is_null(o->eval_steps)) {
        HONE_TRY(derived(o, "eval_steps", "logging_steps"));
        o->eval_steps = o->logging_steps;
    }
    if (o->recompute == HONE_ENUM_NULL) {
        HONE_TRY(derived(o, "recompute", "disable_gradient_checkpointing"));
        o->recompute = o->disable_gradient_checkpointing ? HONE_RECOMPUTE_NONE : HONE_RECOMPUTE_LAYER;
    }
    if (o->pack_length == HONE_INT_NULL) {
        HONE_TRY(derived(o, "pack_length", "cutoff_len"));
        o->pack_length = o->cutoff_len;
    }
    if (o->truncation == HONE_TRUNCATION_AUTO) {
        HONE_TRY(derived(o, "truncation", "template"));
        o->truncation = o->template && o->stage != HONE_STAGE_PT ? HONE_TRUNCATION_FIT : HONE_TRUNCATION_CUT_RIGHT;
    }
    if (o->eval_strategy != HONE_WHEN_NO && !o->do_eval) {
        HONE_TRY(derived(o, "do_eval", "eval_strategy"));
        o->do_eval = true;
    }
    return HONE_OK;
}

hone_status hone_option_validate(hone_options *o, const hone_options *defaults, option_use use)
{
    if (use != OPTION_USE_SHOW)
        HONE_TRY(hone_option_refuse_unimplemented(o, defaults, use));
    HONE_TRY(settle(o));
    HONE_TRY(check_data(o));
    HONE_TRY(check_mix(o));
    HONE_TRY(check_template(o));
    if (use == OPTION_USE_DATA)
        return HONE_OK;
    HONE_TRY(check_streaming(o));
    return check_training(o);
}

hone_status hone_options_check_train(const hone_options *o)
{
    REFUSE_IF(!o->do_train, do_train, "do_train: false trains nothing; hone eval CONFIG.yaml evaluates");
    HONE_CHECK(o->model_name_or_path && *o->model_name_or_path, HONE_E_USAGE,
               "model_name_or_path is missing: the model directory to start from");
    HONE_CHECK(o->dataset.n, HONE_E_USAGE, "dataset is missing: names in %s/dataset_info.json, or paths of files, "
               "folders or patterns%s", o->dataset_dir,
               o->tokenized_path && *o->tokenized_path ? " (with tokenized_path too, which is checked against them)" : "");
    HONE_CHECK(o->output_dir && *o->output_dir, HONE_E_USAGE, "output_dir is missing: the folder for the trained model");
    return HONE_OK;
}
