#include "tiny_model.h"

#include "autograd/tape.h"
#include "base/rng.h"
#include "hone_test.h"
#include "op/scope.h"

#include <xxhash.h>

hone_ctx *t_ctx(int threads)
{
    hone_ctx        *ctx;
    hone_ctx_options o = { .threads = threads };

    T_OK(hone_ctx_create(&ctx, &o));
    return ctx;
}

static void fill(hone_params *params)
{
    for (size_t i = 0; i < params->all.len; i++) {
        hone_param *p = params->all.data[i];
        int64_t     n = hone_param_numel(p);
        float      *v = hone_calloc((size_t)n, sizeof *v);
        hone_rng    r = hone_rng_make(XXH3_64bits(p->name, strlen(p->name)), 1);

        for (int64_t k = 0; k < n; k++)
            v[k] = (float)((p->ndim == 1 ? 1 : 0) + 0.3 * hone_rng_normal(&r));
        T_OK(hone_param_load(params, p, v, HONE_DTYPE_F32));
        hone_free(v);
    }
}

hone_model *t_tiny_model(hone_ctx *ctx, const t_tiny_spec *s)
{
    hone_model         *m = hone_calloc(1, sizeof *m);
    hone_decoder_layer  layers[2] = { { .window = 0 }, { .window = s->window } };
    hone_builder        b = { 0 };
    hone_decoder_config c = {
        .vocab = 37, .hidden = 20, .layers = 2, .padding = -1, .tied = !s->untied, .layer = layers, .norm = { .eps = 1e-6 },
        .names = { .root = "model", .embedding = "embed_tokens", .layers = "layers", .attention = "self_attn", .mlp = "mlp",
                   .attention_in = "input_layernorm", .mlp_in = "post_attention_layernorm", .norm = "norm", .head = "lm_head" },
        .attention = { .hidden = 20, .heads = 4, .kv_heads = 2, .head_dim = 6, .qkv_bias = true, .qk_norm = HONE_QK_NORM_HEAD,
                       .norm = { .eps = 1e-6 }, .dropout = s->dropout },
        .mlp = { .hidden = 20, .intermediate = 23 },
        .rope = { { .type = s->rope, .dim = 6, .base = 10000, .factor = 4, .max_positions = 8, .original_max_positions = 8,
                    .attention_factor = -1, .beta_fast = 32, .beta_slow = 1, .low_freq_factor = 1, .high_freq_factor = 4 } },
    };

    T_OK(hone_params_create(&m->params, ctx, s->dtype, HONE_PARAMS_GRADIENT));
    T_OK(hone_module_create(&m->root, NULL, "", "model"));
    b.params = m->params;
    b.at = m->root;
    T_OK(hone_decoder_build(m, &b, &c));
    T_OK(hone_params_allocate(m->params));
    fill(m->params);
    return m;
}

hone_batch *t_tiny_batch(hone_ctx *ctx, const hone_model *m, const int64_t *lengths, int64_t n, uint32_t first_id)
{
    enum { MAX = 64, SAMPLES = 8 };
    int32_t          ids[SAMPLES][MAX], labels[SAMPLES][MAX];
    hone_sample_view views[SAMPLES];
    hone_batch      *b;

    for (int64_t s = 0; s < n; s++) {
        uint32_t id = first_id + (uint32_t)s;

        for (int64_t t = 0; t < lengths[s]; t++) {
            ids[s][t] = (int32_t)((7 * t + 3 * id * id + 5 * id * t) % 37);
            labels[s][t] = (t + id) % 4 == 0 ? -100 : ids[s][t];
        }
        views[s] = (hone_sample_view){ ids[s], labels[s], lengths[s], id };
    }
    T_OK(hone_batch_create(&b, ctx, views, n, m->vocab, NULL));
    return b;
}

double t_run(hone_ctx *ctx, const hone_model *m, hone_batch *b, bool recompute, double weight, bool accumulate)
{
    hone_trunk_options o = { .recompute = recompute };
    hone_tape         *tape;
    hone_tensor       *nll;
    double             sum = 0;

    for (int64_t t = 0; t < b->tokens; t++)
        b->weights[t] = weight;
    if (!accumulate)
        hone_params_clear_grads(m->params);
    T_OK(hone_tape_create(&tape));
    hone_tape_attach(ctx, tape);
    hone_scope_open(ctx);
    nll = hone_trunk_nll(ctx, m, b, &o);
    T_OK(ctx->status);
    for (int64_t t = 0; t < b->tokens; t++)
        sum += ((float *)hone_tensor_data(nll))[t];
    hone_scope_close(ctx, NULL, 0);
    T_OK(hone_tape_backward(ctx, tape, NULL, NULL));
    hone_tape_attach(ctx, NULL);
    hone_tape_destroy(&tape);
    return sum * weight;
}

float *t_gradients(const hone_model *m, size_t *n)
{
    float *all;

    *n = 0;
    for (size_t i = 0; i < m->params->all.len; i++)
        *n += (size_t)hone_param_numel(m->params->all.data[i]);
    all = hone_calloc(*n, sizeof *all);
    *n = 0;
    for (size_t i = 0; i < m->params->all.len; i++) {
        const hone_param *p = m->params->all.data[i];

        memcpy(all + *n, hone_tensor_data(p->grad), (size_t)hone_param_numel(p) * sizeof *all);
        *n += (size_t)hone_param_numel(p);
    }
    return all;
}
