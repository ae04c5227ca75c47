/*
 * hone forward DIR --input IN --output OUT [--grads] [--dtype f32|bf16|f64] [--threads N]: logits, loss and gradients of
 * given tokens. This is how anyone holds hone against a reference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "io/safetensors.h"
#include "model/load.h"
#include "runtime/ctx.h"
#include "train/batch.h"

typedef struct forward {
    const char       *model, *input, *output;
    bool              grads;
    hone_dtype        dtype;
    int64_t           threads;
    hone_ctx         *ctx;
    hone_loaded      *loaded;
    hone_safetensors *in;
    int64_t           samples;
    int32_t          *values;       /* tokens and labels of all samples: a file need not align its tensors */
    hone_batch       *batch;
    hone_tensor     **logits;       /* [samples] */
    double            loss;
    bool              has_labels;
} forward;

static hone_status parse(forward *f, int argc, char **argv)
{
    const char *dtype = "f32";
    hone_arg    args[] = {
        { "input", HONE_ARG_STRING, &f->input, "safetensors file with tokens.<k> (and labels.<k>), int32 [T]" },
        { "output", HONE_ARG_STRING, &f->output, "safetensors file to write" },
        { "grads", HONE_ARG_FLAG, &f->grads, "also the gradient of the loss by every parameter" },
        { "dtype", HONE_ARG_STRING, &dtype, "f32 (default), bf16 or f64" },
        { "threads", HONE_ARG_INT, &f->threads, "threads; 0 = all processors" },
    };

    HONE_TRY(hone_args_parse(args, HONE_COUNTOF(args), &f->model, 1, "hone forward DIR --input IN --output OUT", argc, argv));
    HONE_CHECK(f->model && f->input && f->output, HONE_E_USAGE,
               "hone forward needs a model directory, --input FILE and --output FILE");
    if (strcmp(dtype, "f32") == 0)
        f->dtype = HONE_DTYPE_F32;
    else if (strcmp(dtype, "bf16") == 0)
        f->dtype = HONE_DTYPE_BF16;
    else if (strcmp(dtype, "f64") == 0)
        f->dtype = HONE_DTYPE_F64;
    else
        return HONE_FAIL(HONE_E_USAGE, "--dtype %s is not known; give f32, bf16 or f64", dtype);
    return HONE_OK;
}

static const hone_safetensor *find(const forward *f, const char *kind, int64_t k)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%lld", kind, (long long)k);
    return hone_safetensors_find(f->in, name);
}

static hone_status check_vector(const forward *f, const hone_safetensor *t, const hone_safetensor *tokens)
{
    HONE_CHECK(t->dtype == HONE_DTYPE_I32 && t->rank == 1, HONE_E_FORMAT, "%s: \"%s\" must be an int32 vector", f->input, t->name);
    HONE_CHECK(t->numel > 0 && t->numel == tokens->numel, HONE_E_FORMAT, "%s: \"%s\" has %lld elements; tokens and labels of a "
               "sample have the same length, at least 1", f->input, t->name, (long long)t->numel);
    return HONE_OK;
}

static const int32_t *take(int32_t **next, const hone_safetensor *t)
{
    int32_t *values = *next;

    memcpy(values, t->data, t->bytes);
    *next += t->numel;
    return values;
}

static hone_status read_samples(forward *f)
{
    hone_sample_view *views = NULL;
    hone_status       st = HONE_OK;
    int64_t           numel = 0;
    int32_t          *next;

    while (find(f, "tokens", f->samples))
        f->samples++;
    HONE_CHECK(f->samples > 0, HONE_E_FORMAT, "%s has no tensor \"tokens.0\"", f->input);
    for (size_t i = 0; i < hone_safetensors_len(f->in); i++) {
        const hone_safetensor *t = hone_safetensors_at(f->in, i);
        const char            *name = t->name;
        bool                   known = hone_starts_with(name, "tokens.") || hone_starts_with(name, "labels.");
        long long              k = known ? strtoll(name + strlen("tokens."), NULL, 10) : -1;

        /* found again by its number: "tokens.00" is not */
        HONE_CHECK(k >= 0 && k < f->samples && t == find(f, *name == 't' ? "tokens" : "labels", k), HONE_E_FORMAT,
                   "%s: tensor \"%s\" is neither tokens.<k> nor labels.<k> with k counted from 0 without gaps", f->input, name);
    }
    for (size_t i = 0; i < hone_safetensors_len(f->in); i++)
        numel += hone_safetensors_at(f->in, i)->numel;
    views = hone_calloc((size_t)f->samples, sizeof *views);
    next = f->values = hone_calloc((size_t)numel, sizeof *f->values);
    HONE_GO(views && next ? HONE_OK : HONE_E_NOMEM);
    for (int64_t k = 0; k < f->samples; k++) {
        const hone_safetensor *tokens = find(f, "tokens", k), *labels = find(f, "labels", k);

        HONE_GO(check_vector(f, tokens, tokens));
        if (labels)
            HONE_GO(check_vector(f, labels, tokens));
        views[k] = (hone_sample_view){ take(&next, tokens), labels ? take(&next, labels) : NULL, tokens->numel, (uint32_t)k };
        f->has_labels |= labels != NULL;
    }
    HONE_GO(hone_batch_create(&f->batch, f->ctx, views, f->samples, f->loaded->model->vocab, NULL));
    HONE_GO_CHECK(!f->has_labels || f->batch->predicted > 0, HONE_E_DATA,
                  "%s: no label is predicted (the first of a sample never is, and −100 means none): the loss has no value", f->input);
    HONE_GO_CHECK(f->has_labels || !f->grads, HONE_E_USAGE, "--grads needs labels.<k> in %s", f->input);
out:
    hone_free(views);
    return st;
}

/* The mean over predicted tokens, and by it the gradients. */
static hone_status run_loss(forward *f, const hone_trunk_options *trunk)
{
    hone_status  st = HONE_OK;
    hone_tape   *tape = NULL;
    hone_tensor *nll;

    for (int64_t t = 0; t < f->batch->tokens; t++)
        f->batch->weights[t] = 1.0 / (double)f->batch->predicted;
    hone_params_clear_grads(f->loaded->model->params);
    if (f->grads) {
        HONE_GO(hone_tape_create(&tape));
        hone_tape_attach(f->ctx, tape);
    }
    hone_scope_open(f->ctx);
    nll = hone_trunk_nll(f->ctx, f->loaded->model, f->batch, trunk);
    if (f->ctx->status == HONE_OK)
        f->loss = hone_nll_sum(nll) / (double)f->batch->predicted;
    hone_scope_close(f->ctx, NULL, 0);
    st = f->ctx->status;
    if (st == HONE_OK && f->grads)
        st = hone_tape_backward(f->ctx, tape, NULL, NULL);
    hone_params_finish_grads(f->loaded->model->params);
out:
    hone_tape_attach(f->ctx, NULL);
    hone_tape_destroy(&tape);
    return st;
}

static hone_status run_logits(forward *f, const hone_trunk_options *trunk)
{
    const hone_batch *b = f->batch;
    hone_tensor      *hidden;

    f->logits = hone_calloc((size_t)f->samples, sizeof *f->logits);
    if (!f->logits)
        return HONE_E_NOMEM;
    hone_scope_open(f->ctx);
    hidden = hone_trunk_hidden(f->ctx, f->loaded->model, f->batch, trunk);
    for (int64_t k = 0; k < f->samples && f->ctx->status == HONE_OK; k++) {
        int64_t      dims[2] = { b->cu[k + 1] - b->cu[k], f->loaded->model->hidden };
        hone_tensor *rows = hone_scope_adopt(f->ctx, hone_tensor_view(hidden, b->cu[k] * dims[1], 2, dims));
        hone_tensor *logits = hone_trunk_logits(f->ctx, f->loaded->model, rows);

        if (f->ctx->status == HONE_OK)
            f->logits[k] = hone_tensor_retain(logits);
    }
    hone_scope_close(f->ctx, NULL, 0);
    return f->ctx->status;
}

/* Names of the output's tensors live in one string each; the loss and logits come first, then gradients. */
static hone_status write_output(forward *f)
{
    hone_status              st = HONE_OK;
    size_t                   n_dir = hone_model_dir_len(f->loaded->dir), cap = (size_t)f->samples + 1 + n_dir, n = 0;
    hone_safetensor         *list = hone_calloc(cap, sizeof *list);
    hone_binding            *source = hone_calloc(cap, sizeof *source);
    hone_safetensors_writer *w = NULL;
    hone_dtype               out_type = hone_acc_dtype(f->dtype);

    HONE_GO(list && source ? HONE_OK : HONE_E_NOMEM);
    for (int64_t k = 0; k < f->samples; k++, n++) {
        list[n] = (hone_safetensor){ .name = hone_asprintf("logits.%lld", (long long)k), .dtype = out_type, .rank = 2,
                                     .shape = { f->logits[k]->dims[0], f->logits[k]->dims[1] } };
        HONE_GO(list[n].name ? HONE_OK : HONE_E_NOMEM);
    }
    if (f->has_labels) {
        list[n] = (hone_safetensor){ .name = hone_strdup("loss"), .dtype = out_type };
        HONE_GO(list[n++].name ? HONE_OK : HONE_E_NOMEM);
    }
    for (size_t i = 0; f->grads && i < n_dir; i++) {
        const hone_safetensor *t = hone_model_dir_at(f->loaded->dir, i);
        hone_binding           b = f->loaded->bound[i];
        bool                   again = false;

        for (size_t k = 0; k < n; k++)
            again |= source[k].param == b.param && source[k].at == b.at;
        if (!b.param || again)
            continue;               /* a tied weight once */
        source[n] = b;
        list[n] = (hone_safetensor){ .name = hone_asprintf("grad.%s", t->name), .dtype = out_type, .rank = t->rank,
                                     .numel = t->numel };
        memcpy(list[n].shape, t->shape, sizeof t->shape);
        HONE_GO(list[n++].name ? HONE_OK : HONE_E_NOMEM);
    }
    HONE_GO(hone_safetensors_writer_create(&w, f->output, list, n, NULL));
    for (size_t i = 0; i < n; i++) {
        const hone_tensor *t = i < (size_t)f->samples ? f->logits[i] : source[i].param ? source[i].param->grad : NULL;
        size_t             at = t ? (size_t)source[i].at * hone_dtype_bytes(t->dtype) : 0;

        if (t)
            HONE_GO(hone_safetensors_writer_put(w, (const char *)hone_tensor_data(t) + at, t->dtype,
                                                source[i].param ? list[i].numel : hone_tensor_numel(t), false));
        else
            HONE_GO(hone_safetensors_writer_put(w, &f->loss, HONE_DTYPE_F64, 1, false));
    }
    HONE_GO(hone_safetensors_writer_commit(&w, NULL, NULL));
out:
    hone_safetensors_writer_abandon(&w);
    for (size_t i = 0; list && i < n; i++)
        hone_free((char *)list[i].name);
    hone_free(list);
    hone_free(source);
    return st;
}

hone_status hone_cmd_forward(int argc, char **argv)
{
    forward            f = { 0 };
    hone_status        st = HONE_OK;
    char              *path = NULL;
    hone_trunk_options trunk = { 0 };
    hone_ctx_options   options = { .log = hone_log_stderr(HONE_LOG_INFO) };

    HONE_TRY(parse(&f, argc, argv));
    options.threads = (int)f.threads;
    HONE_GO(hone_model_dir_locate(&path, f.model, NULL));
    HONE_GO(hone_safetensors_open(&f.in, f.input));
    HONE_GO(hone_ctx_create(&f.ctx, &options));
    HONE_GO(hone_model_load(&f.loaded, f.ctx, path, &(hone_load_options){
        f.dtype, f.grads ? HONE_PARAMS_GRADIENT : HONE_PARAMS_FROZEN, 0 }));
    HONE_GO(read_samples(&f));
    HONE_GO(run_logits(&f, &trunk));
    if (f.has_labels)
        HONE_GO(run_loss(&f, &trunk));
    HONE_GO(write_output(&f));
    printf("wrote %s: %lld samples, %lld tokens", f.output, (long long)f.samples, (long long)f.batch->tokens);
    if (f.has_labels)
        printf(", loss %.9g over %lld tokens", f.loss, (long long)f.batch->predicted);
    printf("\n");
out:
    for (int64_t k = 0; f.logits && k < f.samples; k++)
        hone_tensor_release(&f.logits[k]);
    hone_free(f.logits);
    hone_batch_destroy(&f.batch);
    hone_free(f.values);
    hone_loaded_destroy(&f.loaded);
    hone_safetensors_close(&f.in);
    hone_ctx_destroy(&f.ctx);
    hone_free(path);
    return st;
}
