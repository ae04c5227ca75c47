/* hone inspect model DIR: the module tree, parameters, dtypes, ties, and the memory that training takes. No weight is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "model/load.h"
#include "runtime/ctx.h"

static const char *file_dtype(const hone_loaded *l, const hone_param *p)
{
    for (size_t i = 0; i < hone_model_dir_len(l->dir); i++)
        if (l->bound[i].param == p)
            return hone_dtype_file_name(hone_model_dir_at(l->dir, i)->dtype);
    return "?";
}

static int64_t numel(const hone_module *m)
{
    int64_t n = 0;

    for (size_t i = 0; i < m->params.len; i++)
        n += hone_param_numel(m->params.data[i]);
    for (size_t i = 0; i < m->children.len; i++)
        n += numel(m->children.data[i]);
    return n;
}

/* Whether two modules hold the same things under the same names. */
static bool alike(const hone_module *a, const hone_module *b)
{
    if (strcmp(a->kind, b->kind) != 0 || a->children.len != b->children.len || a->params.len != b->params.len)
        return false;
    for (size_t i = 0; i < a->params.len; i++) {
        const hone_param *p = a->params.data[i], *q = b->params.data[i];

        if (p->ndim != q->ndim || memcmp(p->dims, q->dims, sizeof p->dims) != 0)
            return false;
    }
    for (size_t i = 0; i < a->children.len; i++)
        if (!alike(a->children.data[i], b->children.data[i]))
            return false;
    return true;
}

/* A name that comes from outside, between two texts. */
static void print_clean(const char *before, const char *name, const char *after)
{
    fputs(before, stdout);
    hone_utf8_print_clean(stdout, name, strlen(name));
    fputs(after, stdout);
}

/* A count of parameters, short. */
static const char *short_count(char buf[32], int64_t n)
{
    if (n < 10000)
        snprintf(buf, 32, "%lld", (long long)n);
    else if (n < 1000000)
        snprintf(buf, 32, "%.1f K", (double)n / 1e3);
    else
        snprintf(buf, 32, "%.1f M", (double)n / 1e6);
    return buf;
}

static void print_param(const hone_loaded *l, const hone_param *p, int depth)
{
    const char *dot = strrchr(p->name, '.');
    hone_str    shape = HONE_STR_INIT;

    for (int i = 0; i < p->ndim; i++)
        hone_str_printf(&shape, "%s%lld", i ? ", " : "", (long long)p->dims[i]);
    printf("%*s%s [%s] %s%s\n", 2 * depth, "", dot ? dot + 1 : p->name, hone_str_c(&shape), file_dtype(l, p),
           p == l->model->head && l->model->tied ? "  (also the head)" : "");
    hone_str_deinit(&shape);
}

static void print_tree(const hone_loaded *l, const hone_module *m, int depth)
{
    const hone_module *parent = m->parent;
    const char        *local = parent && *parent->name ? m->name + strlen(parent->name) + 1 : m->name;
    char               count[32];

    printf("%*s%s  %s, %s\n", 2 * depth, "", *local ? local : l->model->family, m->kind, short_count(count, numel(m)));
    for (size_t i = 0; i < m->params.len; i++)
        print_param(l, m->params.data[i], depth + 1);
    for (size_t i = 0; i < m->children.len; i++) {
        size_t last = i;

        print_tree(l, m->children.data[i], depth + 1);
        if (strcmp(m->children.data[i]->kind, "block") != 0)
            continue;
        while (last + 1 < m->children.len && alike(m->children.data[i], m->children.data[last + 1]))
            last++;
        if (last > i)
            printf("%*s… %s to %s: the same again\n", 2 * (depth + 1), "", m->children.data[i + 1]->name + strlen(m->name) + 1,
                   m->children.data[last]->name + strlen(m->name) + 1);
        i = last;
    }
}

hone_status hone_inspect_model(int argc, char **argv)
{
    hone_status      st = HONE_OK;
    hone_ctx_options options = { .threads = 1, .meta = true };
    hone_ctx        *ctx = NULL;
    hone_loaded     *l = NULL;
    const char      *name = NULL;
    char            *path = NULL;
    double           n;

    HONE_TRY(hone_args_parse(NULL, 0, &name, 1, "hone inspect model DIR", argc, argv));
    HONE_CHECK(name, HONE_E_USAGE, "hone inspect model needs a model directory");
    HONE_GO(hone_model_dir_locate(&path, name, NULL));
    HONE_GO(hone_ctx_create(&ctx, &options));
    HONE_GO(hone_model_load(&l, ctx, path, &(hone_load_options){ HONE_DTYPE_F32, HONE_PARAMS_FROZEN, -1 }));
    print_clean("", path, "\n");
    print_tree(l, l->model->root, 0);
    n = (double)hone_params_numel(l->model->params);
    printf("\n%.0f parameters in %zu tensors, %zu file%s; head %s\n", n, hone_model_dir_len(l->dir),
           hone_model_dir_shards(l->dir), hone_model_dir_shards(l->dir) == 1 ? "" : "s",
           l->model->tied ? "tied to the embedding" : "of its own");
    for (size_t i = 0; i < hone_model_dir_len(l->dir); i++)
        if (!l->bound[i].param)
            print_clean("unread: ", hone_model_dir_at(l->dir, i)->name, " (kept as it is on export)\n");
    printf("memory to train all weights, before activations: f32 %.2f GB (16 bytes a parameter), bf16 %.2f GB (18)\n",
           16 * n / 1e9, 18 * n / 1e9);
out:
    hone_loaded_destroy(&l);
    hone_ctx_destroy(&ctx);
    hone_free(path);
    return st;
}
