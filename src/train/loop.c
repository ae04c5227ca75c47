/* The training loop: steps, logging, evaluation, checkpoints, stops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "optim/adamw.h"
#include "train/batch.h"
#include "train/checkpoint.h"
#include "train/peak.h"
#include "train/profile.h"
#include "train/run.h"

/* Forward and backward of one micro-batch; adds its losses to *sum. */
static hone_status micro_batch(hone_run *run, const hone_sample *samples, int64_t n, double weight, double *sum)
{
    hone_trunk_options trunk = { .recompute = run->options->recompute == HONE_RECOMPUTE_LAYER };
    hone_batch        *batch;
    hone_status        st;

    HONE_TRY(hone_batch_of_samples(&batch, run, samples, n, weight));
    st = hone_batch_learn(run->ctx, run->loaded->model, batch, &trunk, sum);
    hone_batch_destroy(&batch);
    return st;
}

/* The first weight that is not finite; NULL when all are. */
static const hone_param *broken_weight(const hone_params *params)
{
    for (size_t i = 0; i < params->all.len; i++) {
        const hone_param *p = params->all.data[i];
        hone_dtype        dtype;
        const void       *master = hone_param_master(params, p, &dtype);

        if (hone_dtype_first_nonfinite(master, dtype, hone_param_numel(p)) < hone_param_numel(p))
            return p;
    }
    return NULL;
}

static hone_status not_finite(const hone_run *run, const hone_step_metrics *m)
{
    const hone_param *p = broken_weight(run->loaded->model->params);
    const char       *what = isfinite(m->loss) ? "gradient norm" : "loss";

    if (p)
        return HONE_FAIL(HONE_E_NUMERIC, "step %lld: the %s is not finite, since the weight %s holds a value that is not; %s",
                         (long long)m->step, what, p->name, run->updates ? "resume from an earlier checkpoint with a lower learning_rate"
                         : "the model directory is damaged: download or export it again");
    return HONE_FAIL(HONE_E_NUMERIC, "step %lld: the %s is not finite; the weights are those of step %lld. Lower learning_rate, look "
                     "at the rows of this step, or set nonfinite: skip", (long long)m->step, what, (long long)run->step);
}

static hone_status update(hone_run *run, hone_step_metrics *m)
{
    const hone_options *o = run->options;
    hone_params        *params = run->loaded->model->params;
    hone_adamw_spec     adamw = { .lr = m->learning_rate, .beta1 = o->adam_beta1, .beta2 = o->adam_beta2,
                                  .eps = o->adam_epsilon, .weight_decay = o->weight_decay, .update = run->updates + 1 };

    hone_params_finish_grads(params);
    HONE_TRY(hone_grad_norm(&m->grad_norm, params));
    if (!isfinite(m->loss) || !isfinite(m->grad_norm)) {
        if (o->nonfinite != HONE_NONFINITE_SKIP)
            return not_finite(run, m);
        m->skipped = true;
        return HONE_OK;
    }
    adamw.grad_scale = hone_clip_scale(m->grad_norm, o->max_grad_norm);
    HONE_TRY(hone_adamw_step(params, &adamw));
    run->updates++;
    return HONE_OK;
}

static hone_status one_step(hone_run *run, hone_step_metrics *m)
{
    hone_step_plan plan;
    double         start = hone_clock_now(), flops = run->ctx->profile->flops, sum = 0;

    HONE_TRY(hone_loader_step(run->loader, run->step, &plan));
    *m = (hone_step_metrics){ .step = run->step + 1, .epoch = plan.epoch_end, .ends_epoch = plan.ends_epoch, .tokens = plan.tokens,
                              .supervised_tokens = plan.supervised, .learning_rate = hone_lr_at(&run->schedule, run->step) };
    if (run->stream) {
        hone_stream_place place = hone_stream_tell(run->stream);

        m->rows = place.rows;
        m->rows_left_out = place.too_long + place.bad + place.unsupervised;
    }
    run->ctx->training = true;
    hone_ctx_seed_dropout(run->ctx, (uint64_t)run->options->seed, (uint64_t)run->step);
    hone_params_clear_grads(run->loaded->model->params);
    if (plan.supervised == 0) {     /* nothing to learn from: the optimizer must not move on old moments */
        m->skipped = true;
        m->loss = NAN;
    } else {
        for (int64_t k = 0; k < plan.micro_batches; k++)
            HONE_TRY(micro_batch(run, plan.sample + plan.begin[k], plan.begin[k + 1] - plan.begin[k],
                                 1.0 / (double)plan.supervised, &sum));
        m->loss = sum / (double)plan.supervised;
        HONE_TRY(update(run, m));
    }
    run->step++;
    m->seconds = hone_clock_now() - start;
    run->seconds += m->seconds;
    m->flops = run->ctx->profile->flops - flops;
    m->memory = hone_device_get_stats(run->ctx->device).reserved_peak;
    m->rss_anon = hone_mem_rss_anon();
    return HONE_OK;
}

/* An interval option: steps, or a share of all steps if below 1. */
static int64_t every(double value, int64_t total)
{
    return HONE_MAX((int64_t)(value < 1 ? ceil(value * (double)total) : value), (int64_t)1);
}

static bool due(int when, double interval, const hone_run *run, const hone_step_metrics *m)
{
    switch (when) {
    case HONE_WHEN_STEPS: return run->step % every(interval, run->total_steps) == 0;
    case HONE_WHEN_EPOCH: return m->ends_epoch;
    default:              return false;
    }
}

static bool stop_asked(const hone_run *run) { return run->stop && *run->stop; }

static hone_status after_step(hone_run *run, hone_step_metrics *m)
{
    const hone_options *o = run->options;
    bool                last = run->step == run->total_steps;

    if (run->eval && (due(o->eval_strategy, o->eval_steps, run, m) || (last && o->eval_strategy != HONE_WHEN_NO))) {
        HONE_TRY(hone_run_evaluate(run, run->eval, &m->eval_loss, &m->eval_tokens));
        m->has_eval = true;
        m->eval_parts = run->eval_parts;
        m->n_eval_parts = run->n_eval_parts;
    }
    HONE_TRY(hone_metrics_step(run->metrics, m));
    if (stop_asked(run))        /* with the state whatever save_only_model says: the run is to go on from here */
        return hone_checkpoint_save(run, true);
    if (due(o->save_strategy, o->save_steps, run, m) || (last && o->save_strategy != HONE_WHEN_NO))
        return hone_checkpoint_save(run, !o->save_only_model);
    return HONE_OK;
}

static hone_status write_config(const hone_run *run)
{
    hone_str    text = HONE_STR_INIT;
    char       *path = hone_path_join(run->options->output_dir, "config.resolved.yaml");
    hone_status st = HONE_OK;

    hone_options_dump(run->options, &text, true);
    HONE_GO(path ? hone_str_ok(&text) : HONE_E_NOMEM);
    HONE_GO(hone_file_write_all(path, text.data, text.len));
out:
    hone_str_deinit(&text);
    hone_free(path);
    return st;
}

/* "8 samples a step", with what they come in. */
static void describe_step(char *out, size_t size, const hone_options *o, bool packed)
{
    int64_t     micro = o->per_device_train_batch_size, n = micro * o->gradient_accumulation_steps;
    const char *unit = packed ? "row" : "sample";

    if (o->global_batch_size != HONE_INT_NULL)
        n = o->global_batch_size;
    if (o->global_batch_tokens != HONE_INT_NULL)
        snprintf(out, size, "up to %lld tokens a step, %lld %s%s at once", (long long)o->global_batch_tokens, (long long)micro, unit,
                 micro == 1 ? "" : "s");
    else
        snprintf(out, size, "%lld %s%s a step, %lld at once", (long long)n, unit, n == 1 ? "" : "s", (long long)micro);
}

static void introduce(const hone_run *run)
{
    const hone_model   *m = run->loaded->model;
    const hone_packing *packing = hone_loader_packing(run->loader);
    const char         *dtype = run->options->bf16 ? "bf16 compute, f32 masters" : "f32";
    int64_t             epoch = hone_loader_epoch_steps(run->loader);
    int                 threads = hone_pool_threads(run->ctx->pool);
    char                rows[96] = "", step[96];

    hone_info(&run->log, "%s, %.1f M parameters, %s, %s, %d thread%s", m->family, (double)hone_params_numel(m->params) / 1e6, dtype,
              hone_isa_name(hone_ctx_isa(run->ctx)), threads, threads == 1 ? "" : "s");
    describe_step(step, sizeof step, run->options, packing->length > 0);
    if (run->stream) {
        hone_info(&run->log, "streaming %lld file%s; %s; %lld steps in all", (long long)hone_stream_files(run->stream),
                  hone_stream_files(run->stream) == 1 ? "" : "s", step, (long long)run->total_steps);
        return;
    }
    if (packing->length)
        snprintf(rows, sizeof rows, " packed into %lld rows of %lld tokens, %.1f %% full", (long long)packing->rows,
                 (long long)packing->length, 100 * hone_packing_fill(packing));
    hone_info(&run->log, "%lld samples%s; %s; %lld step%s an epoch, %lld in all", (long long)hone_dataset_len(run->train), rows, step,
              (long long)epoch, epoch == 1 ? "" : "s", (long long)run->total_steps);
}

/* A model that knows nothing has a loss of ln(vocabulary): near that, the weights are hardly those of the data's language. */
static void judge_first_loss(const hone_run *run, double loss)
{
    double guess = log((double)run->loaded->model->vocab);

    if (!isfinite(loss))        /* said elsewhere */
        return;
    if (loss < 0.9 * guess)
        hone_info(&run->log, "first loss %.4f (guessing among %lld tokens: %.4f)", loss, (long long)run->loaded->model->vocab, guess);
    else
        hone_warn(&run->log, "the first loss, %.4f, is %s better than guessing among %lld tokens, %.4f: are these the weights, and "
                  "the tokenizer, that you mean?", loss, loss < guess ? "hardly" : "no", (long long)run->loaded->model->vocab, guess);
}

/* The way on from the checkpoint just saved: where the command says overwrite_output_dir, it would delete it. */
static hone_status stopped(const hone_run *run)
{
    const char *out = run->options->output_dir;
    long long   step = (long long)run->step;

    if (run->options->overwrite_output_dir)
        return HONE_FAIL(HONE_E_INTERRUPT, "stopped by a signal after step %lld; saved as %s/checkpoint-%lld. Go on from there with "
                         "--overwrite_output_dir false: the same command would start anew", step, out, step);
    return HONE_FAIL(HONE_E_INTERRUPT, "stopped by a signal after step %lld; saved as %s/checkpoint-%lld, and the same command goes "
                     "on from there", step, out, step);
}

static hone_status finish(hone_run *run)
{
    const char *out = run->options->output_dir;

    HONE_TRY(hone_checkpoint_export(run, out));
    if (run->options->plot_loss)
        HONE_TRY(hone_metrics_plot(out));
    hone_info(&run->log, "wrote the model, metrics.jsonl%s to %s", run->options->plot_loss ? " and training_loss.png" : "", out);
    return HONE_OK;
}

hone_status hone_run_train(hone_run *run)
{
    const hone_options *o = run->options;
    hone_status         st = HONE_OK;
    char               *resume = NULL;
    hone_step_metrics   m;

    HONE_GO(hone_checkpoint_prepare(run, &resume));
    introduce(run);
    if (resume) {
        HONE_GO(hone_checkpoint_restore(run, resume));
        hone_info(&run->log, "going on from %s%s", resume,
                  run->step < run->total_steps ? "" : ", where the run ended: nothing is left to train");
    }
    HONE_GO(write_config(run));
    HONE_GO(hone_metrics_create(&run->metrics, o->output_dir, run->step, run->total_steps, o->logging_steps,
                                hone_peak_flops(run->ctx, o->bf16 ? HONE_DTYPE_BF16 : HONE_DTYPE_F32), &run->log));
    while (run->step < run->total_steps) {
        HONE_GO(one_step(run, &m));
        if (run->step == 1)
            judge_first_loss(run, m.loss);
        HONE_GO(after_step(run, &m));
        if (stop_asked(run) && run->step < run->total_steps)
            HONE_GO(stopped(run));
    }
    if (run->stream)
        hone_stream_log_report(run->stream, &run->log);
    if (o->profile)
        hone_profile_log(run->ctx, run->seconds);
    if (run->updates < run->step)
        hone_warn(&run->log, "%lld of %lld steps were skipped and taught nothing (\"skipped\" in metrics.jsonl)",
                  (long long)(run->step - run->updates), (long long)run->step);
    HONE_GO_CHECK(run->updates > 0, HONE_E_NUMERIC, "every step was skipped: the weights are those of %s, so no model is written",
                  o->model_name_or_path);
    HONE_GO(finish(run));
out:
    hone_metrics_destroy(&run->metrics);
    hone_free(resume);
    return st;
}
