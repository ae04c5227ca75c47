/* hone inspect model DIR: the module tree, what layers compute, the plan, and the memory that training takes. No weight is read. */
#include "cli/inspect_model.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "option/option.h"
#include "runtime/ctx.h"

enum { CUTOFF_LEN = 2048, TOKENS_MAX = 1 << 24 };

const char *hone_view_file_dtype(const hone_model_view *v, const hone_param *p)
{
    int64_t i = hone_loaded_tensor(v->loaded, p, 0);

    return i < 0 ? "?" : hone_dtype_file_name(hone_model_dir_at(v->loaded->dir, (size_t)i)->dtype);
}

int64_t hone_view_numel(const hone_module *m)
{
    int64_t n = 0;

    for (size_t i = 0; i < m->params.len; i++)
        n += hone_param_numel(m->params.data[i]);
    for (size_t i = 0; i < m->children.len; i++)
        n += hone_view_numel(m->children.data[i]);
    return n;
}

void hone_view_treatment(hone_str *out, const hone_model_view *v, const hone_module *m)
{
    static const hone_treatment kinds[] = { HONE_TREAT_UNIT, HONE_TREAT_RECOMPUTE, HONE_TREAT_COLWISE };
    bool                        any = false;

    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++) {
        const hone_plan_row *row = hone_plan_find(&v->loaded->model->plan, m->name, kinds[i]);

        if (!row || !hone_plan_match(row->pattern, m->name))
            continue;
        if (any)
            hone_str_puts(out, "; ");
        hone_plan_describe(out, row);
        any = true;
    }
}

hone_status hone_view_splits(hone_vec_i64 *list, const hone_model_view *v)
{
    const hone_plan *plan = &v->loaded->model->plan;
    int64_t          most = INT64_MAX;

    for (size_t i = 0; i < plan->rows.len; i++)     /* no rank without a query head, a column or a token */
        for (int k = 0; k < plan->rows.data[i].parts; k++)
            if (!plan->rows.data[i].part[k].shared)
                most = HONE_MIN(most, plan->rows.data[i].part[k].pieces);
    for (int64_t ranks = 1; ranks <= most; ranks++) {
        bool can = true;

        for (size_t i = 0; i < plan->rows.len && can; i++)
            can = hone_plan_can_cut(&plan->rows.data[i], ranks);
        if (can)
            HONE_TRY(HONE_VEC_PUSH(list, ranks));
    }
    return HONE_OK;
}

/* Whether two modules hold the same things under the same names, in files of the same dtypes. */
static bool alike(const hone_model_view *v, const hone_module *a, const hone_module *b)
{
    size_t la = strlen(a->parent->name), lb = strlen(b->parent->name);

    if (strcmp(a->kind, b->kind) != 0 || a->children.len != b->children.len || a->params.len != b->params.len)
        return false;
    if (strcmp(a->kind, "block") != 0 && strcmp(a->name + la, b->name + lb) != 0)
        return false;
    for (size_t i = 0; i < a->params.len; i++) {
        const hone_param *p = a->params.data[i], *q = b->params.data[i];

        if (strcmp(strrchr(p->name, '.'), strrchr(q->name, '.')) != 0 || p->ndim != q->ndim
            || memcmp(p->dims, q->dims, sizeof p->dims) != 0 || strcmp(hone_view_file_dtype(v, p), hone_view_file_dtype(v, q)) != 0)
            return false;
    }
    for (size_t i = 0; i < a->children.len; i++)
        if (!alike(v, a->children.data[i], b->children.data[i]))
            return false;
    return true;
}

/* Put block i with its like, or begin a kind. `text` is taken over. */
static hone_status sort_block(hone_model_view *v, const hone_module *block, int i, char *text)
{
    hone_block_kind kind = { .first = block, .text = text, .modules = v->kinds.len };

    for (size_t k = 0; k < v->kinds.len; k++) {
        hone_block_kind *have = &v->kinds.data[k];

        if (!alike(v, have->first, block))
            continue;
        kind.modules = have->modules;
        if (strcmp(have->text, text) == 0) {
            hone_free(text);
            return HONE_VEC_PUSH(&have->blocks, i);
        }
    }
    if (HONE_VEC_PUSH(&v->kinds, kind) != HONE_OK) {
        hone_free(text);
        return HONE_E_NOMEM;
    }
    return HONE_VEC_PUSH(&v->kinds.data[v->kinds.len - 1].blocks, i);
}

static hone_status sort_blocks(hone_model_view *v, const hone_module *m, int *next)
{
    const hone_model *model = v->loaded->model;

    for (size_t i = 0; i < m->children.len; i++) {
        const hone_module *child = m->children.data[i];
        hone_str           text = HONE_STR_INIT;
        char              *taken;

        if (strcmp(child->kind, "block") != 0) {
            HONE_TRY(sort_blocks(v, child, next));
            continue;
        }
        model->ops->describe_block(&text, model, *next);
        taken = hone_str_take(&text);
        if (!taken)
            return HONE_E_NOMEM;
        HONE_TRY(sort_block(v, child, (*next)++, taken));
    }
    return HONE_OK;
}

static hone_status list_unread(hone_model_view *v)
{
    const hone_loaded *l = v->loaded;

    for (size_t i = 0; i < hone_model_dir_len(l->dir); i++) {
        hone_unread u = { .tensors = 1 };
        size_t      k = 0;

        if (l->bound[i].param)
            continue;
        u.pattern = hone_plan_pattern(hone_model_dir_at(l->dir, i)->name);
        if (!u.pattern)
            return HONE_E_NOMEM;
        while (k < v->unread.len && strcmp(v->unread.data[k].pattern, u.pattern) != 0)
            k++;
        if (k < v->unread.len)
            v->unread.data[k].tensors++;
        if (k < v->unread.len || HONE_VEC_PUSH(&v->unread, u) != HONE_OK)
            hone_free(u.pattern);
        if (k == v->unread.len)
            return HONE_E_NOMEM;
    }
    return HONE_OK;
}

static hone_status measure(hone_model_view *v)
{
    for (int i = 0; i < HONE_MEMORY_CASES; i++) {
        v->cases[i] = (hone_memory_case){ .compute = i < 2 ? HONE_DTYPE_F32 : HONE_DTYPE_BF16, .recompute = i % 2 == 0,
                                          .samples = v->samples, .tokens = v->cutoff_len, .threads = (int)v->threads };
        HONE_TRY(hone_memory_measure(&v->memory[i], v->path, &v->cases[i]));
    }
    return HONE_OK;
}

static hone_status parse(hone_model_view *v, const char **name, bool *json, int argc, char **argv)
{
    static const char usage[] = "hone inspect model DIR [--cutoff_len N] [--per_device_train_batch_size N] [--threads N] "
                                "[--json]";
    const hone_arg    args[] = {
        { "cutoff_len", HONE_ARG_INT, &v->cutoff_len, "tokens of a sample in training; 2048, or as many as there are positions" },
        { "per_device_train_batch_size", HONE_ARG_INT, &v->samples, "samples at once; 1" },
        { "threads", HONE_ARG_INT, &v->threads, "threads that train; 0 = all processors" },
        { "json", HONE_ARG_FLAG, json, "the same for other programs" },
    };

    v->samples = 1;
    v->cutoff_len = HONE_INT_NULL;
    HONE_TRY(hone_args_parse(args, HONE_COUNTOF(args), name, 1, usage, argc, argv));
    HONE_CHECK(*name, HONE_E_USAGE, "hone inspect model needs a model directory");
    HONE_CHECK((v->cutoff_len == HONE_INT_NULL || v->cutoff_len >= 1) && v->samples >= 1 && v->threads >= 0, HONE_E_USAGE,
               "--cutoff_len and --per_device_train_batch_size are at least 1, --threads at least 0");
    HONE_CHECK((v->cutoff_len == HONE_INT_NULL ? CUTOFF_LEN : v->cutoff_len) <= TOKENS_MAX / v->samples, HONE_E_USAGE,
               "--cutoff_len times --per_device_train_batch_size is at most %d tokens", TOKENS_MAX);
    return HONE_OK;
}

static void deinit(hone_model_view *v)
{
    for (size_t i = 0; i < v->kinds.len; i++) {
        hone_free(v->kinds.data[i].text);
        HONE_VEC_DEINIT(&v->kinds.data[i].blocks);
    }
    for (size_t i = 0; i < v->unread.len; i++)
        hone_free(v->unread.data[i].pattern);
    HONE_VEC_DEINIT(&v->kinds);
    HONE_VEC_DEINIT(&v->unread);
    hone_loaded_destroy(&v->loaded);
    hone_free(v->path);
}

hone_status hone_inspect_model(int argc, char **argv)
{
    hone_status      st = HONE_OK;
    hone_ctx_options options = { .threads = 1, .meta = true };
    hone_ctx        *ctx = NULL;
    hone_model_view  v = { 0 };
    const char      *name = NULL;
    bool             json = false;
    int              next = 0;
    int64_t          most;

    HONE_TRY(parse(&v, &name, &json, argc, argv));
    HONE_GO(hone_model_dir_locate(&v.path, name, NULL));
    HONE_GO(hone_ctx_create(&ctx, &options));
    HONE_GO(hone_model_load(&v.loaded, ctx, v.path, &(hone_load_options){ HONE_DTYPE_F32, HONE_PARAMS_FROZEN, -1 }));
    most = v.loaded->model->max_positions;
    if (v.cutoff_len == HONE_INT_NULL)
        v.cutoff_len = most > 0 ? HONE_MIN(most, CUTOFF_LEN) : CUTOFF_LEN;
    HONE_GO(sort_blocks(&v, v.loaded->model->root, &next));
    HONE_GO(list_unread(&v));
    HONE_GO(measure(&v));
    HONE_GO(json ? hone_view_print_json(&v) : hone_view_print_text(&v));
out:
    deinit(&v);
    hone_ctx_destroy(&ctx);
    return st;
}
