#include "train/run.h"

#include <math.h>

#include "base/mem.h"
#include "base/vec.h"
#include "io/model_dir.h"

/* Faults of the directory itself (config, files, names, shapes) show before large data is read: on the meta device a model is
 * loaded without its weights. */
static hone_status check_model(const hone_run *run)
{
    hone_ctx_options meta = { .threads = 1, .meta = true, .log = run->log };
    hone_ctx        *ctx;
    hone_loaded     *model;
    hone_status      st;

    HONE_TRY(hone_ctx_create(&ctx, &meta));
    st = hone_model_load(&model, ctx, run->model_path, &(hone_load_options){ HONE_DTYPE_F32, HONE_PARAMS_FROZEN, -1 });
    hone_loaded_destroy(&model);
    hone_ctx_destroy(&ctx);
    return st;
}

/* What every sample must be for this model, before it is trained on. */
static hone_status check_samples(const hone_run *run, const hone_dataset *data)
{
    const hone_model *m = run->loaded->model;

    HONE_TRY(hone_dataset_check_ids(data, &run->data, m->vocab));
    if (m->max_positions == 0 || hone_dataset_get_report(data)->longest <= m->max_positions)
        return HONE_OK;
    for (int64_t i = 0; i < hone_dataset_len(data); i++) {
        hone_sample s = hone_dataset_at(data, i);

        HONE_CHECK(HONE_MAX(s.n, s.rejected_n) <= m->max_positions, HONE_E_DATA, "%s, line %lld: %lld tokens, but the model has "
                   "%lld positions; set cutoff_len to %lld or less", hone_dataset_source_path(data, s.source), (long long)s.line,
                   (long long)HONE_MAX(s.n, s.rejected_n), (long long)m->max_positions, (long long)m->max_positions);
    }
    return HONE_OK;
}

static void warn_of_length(const hone_run *run, const hone_dataset *data)
{
    int64_t rated = run->loaded->model->rated_positions, longest = hone_dataset_get_report(data)->longest;

    if (rated > 0 && longest > rated)
        hone_warn(&run->log, "the longest sample has %lld tokens, and the model is made for max_position_embeddings %lld "
                  "(config.json); cutoff_len leaves out or cuts what is longer", (long long)longest, (long long)rated);
}

/* With eval_on_each_dataset, the data sets of run->eval are told apart. */
static hone_status name_eval_parts(hone_run *run)
{
    if (!run->options->eval_on_each_dataset || !run->eval)
        return HONE_OK;
    run->n_eval_parts = (size_t)hone_dataset_set_count(run->eval);
    run->eval_parts = hone_calloc(run->n_eval_parts, sizeof *run->eval_parts);
    if (!run->eval_parts)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < run->n_eval_parts; i++)
        run->eval_parts[i] = (hone_eval_part){ hone_dataset_set_name(run->eval, (int32_t)i), NAN, 0 };
    return HONE_OK;
}

/* Data and model, checked against each other. */
static hone_status open_inputs(hone_run *run, const hone_options *o, const hone_log *log, hone_param_mode mode)
{
    hone_ctx_options     ctx = { .threads = (int)o->threads, .policy = (hone_op_policy)o->op_policy, .log = *log };
    hone_load_options    load = { .compute = o->bf16 ? HONE_DTYPE_BF16 : HONE_DTYPE_F32, .mode = mode,
                                  .dropout = hone_float_is_null(o->dropout) ? -1 : o->dropout };

    run->options = o;
    run->log = *log;
    run->data = (hone_dataset_context){ .options = o, .log = &run->log, .progress = run->data_progress,
                                        .progress_arg = run->data_progress_arg, .eval_only = mode == HONE_PARAMS_FROZEN };
    HONE_CHECK(o->model_name_or_path, HONE_E_USAGE, "model_name_or_path is missing: give a model directory or a hub id");
    HONE_TRY(hone_model_dir_locate(&run->model_path, o->model_name_or_path, o->model_revision));
    HONE_TRY(hone_ctx_create(&run->ctx, &ctx));
    HONE_TRY(check_model(run));
    HONE_TRY(hone_dataset_open_text(&run->tokenizer, &run->chat, &run->slots, run->model_path, o));
    run->data.model_dir = run->model_path;
    run->data.tokenizer = run->tokenizer;
    run->data.chat = run->chat;
    run->data.slots = run->slots;
    /* evaluation reads a stream only for the rows that it holds out */
    HONE_TRY(o->streaming && (mode == HONE_PARAMS_TRAINED || o->val_size >= 1)
             ? hone_stream_create(&run->stream, &run->eval, &run->data)
             : hone_dataset_load(&run->train, &run->eval, &run->data));
    HONE_TRY(name_eval_parts(run));
    HONE_TRY(hone_model_load(&run->loaded, run->ctx, run->model_path, &load));
    for (int i = 0; i < 2; i++) {
        const hone_dataset *d = i ? run->eval : run->train;

        if (!d)
            continue;
        HONE_TRY(check_samples(run, d));
        warn_of_length(run, d);
    }
    return HONE_OK;
}

/* A model that learns to end its turns with a token that no tool stops at seems never to end: say so before it is trained. The
 * stop tokens of a named template are listed in what is written (train/template_files.h). */
static hone_status check_terminator(const hone_run *run, const hone_dataset *samples)
{
    const hone_dataset_report *data = hone_dataset_get_report(samples);
    hone_status                st = HONE_OK;
    hone_vec_i32 eos = { NULL, 0, 0 };
    hone_str     token = HONE_STR_INIT;
    int32_t      id = data->end_label;

    if (run->options->stage != HONE_STAGE_SFT || !run->chat || 2 * data->end_count <= hone_dataset_len(samples))
        return HONE_OK;
    HONE_GO(hone_model_dir_eos_ids(&eos, run->loaded->dir));
    for (size_t i = 0; i < eos.len; i++)
        if (eos.data[i] == id)
            goto out;
    if (run->tokenizer)
        HONE_GO(hone_tokenizer_token_bytes(run->tokenizer, &token, id));
    hone_warn(&run->log, "most answers end with token %d %s, which is not among the eos_token_id of generation_config.json (else "
              "config.json): tools will not stop there. Add it to that list in %s", id, hone_str_c(&token), run->model_path);
out:
    HONE_VEC_DEINIT(&eos);
    hone_str_deinit(&token);
    return st;
}

/* A window of a stream; the first one that has samples stands for the data. */
static hone_status check_window(void *arg, const hone_dataset *data)
{
    hone_run *run = arg;

    HONE_TRY(check_samples(run, data));
    if (run->judged || hone_dataset_len(data) == 0)
        return HONE_OK;
    run->judged = true;
    warn_of_length(run, data);
    return check_terminator(run, data);
}

hone_status hone_run_open_eval(hone_run *run, const hone_options *o, const hone_log *log)
{
    return open_inputs(run, o, log, HONE_PARAMS_FROZEN);
}

hone_status hone_run_open(hone_run *run, const hone_options *o, const hone_log *log)
{
    hone_str    identity = HONE_STR_INIT;
    hone_status st = HONE_OK;

    HONE_GO(open_inputs(run, o, log, HONE_PARAMS_TRAINED));
    if (run->stream) {
        HONE_GO(hone_loader_create_stream(&run->loader, run->stream, o, check_window, run));
    } else {
        HONE_GO(hone_loader_create(&run->loader, run->train, o));
        HONE_GO(check_terminator(run, run->train));
    }
    run->total_steps = hone_loader_total_steps(run->loader);
    HONE_GO(hone_lr_schedule_make(&run->schedule, o, run->total_steps));
    hone_options_identity(o, &identity);
    run->identity = hone_str_take(&identity);
    HONE_GO(run->identity ? HONE_OK : HONE_E_NOMEM);
out:
    hone_str_deinit(&identity);
    return st;
}

void hone_run_close(hone_run *run)
{
    hone_metrics_destroy(&run->metrics);
    hone_dir_unlock(&run->lock);
    hone_loaded_destroy(&run->loaded);
    hone_loader_destroy(&run->loader);
    hone_stream_destroy(&run->stream);
    hone_dataset_destroy(&run->train);
    hone_dataset_destroy(&run->eval);
    hone_free(run->eval_parts);
    run->eval_parts = NULL;
    hone_chat_destroy(&run->chat);
    hone_slots_destroy(&run->slots);
    hone_tokenizer_destroy(&run->tokenizer);
    hone_ctx_destroy(&run->ctx);
    hone_free(run->model_path);
    hone_free(run->identity);
    run->model_path = run->identity = NULL;
}
