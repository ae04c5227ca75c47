/* hone inspect model, for people. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/inspect_model.h"

/* A line of the tree: module, kind, parameters, treatment. */
enum { COLUMNS = 4 };
typedef struct line { hone_str cell[COLUMNS]; } line;
typedef struct table { HONE_VEC(line) lines; } table;

static void table_deinit(table *t)
{
    for (size_t i = 0; i < t->lines.len; i++)
        for (int c = 0; c < COLUMNS; c++)
            hone_str_deinit(&t->lines.data[i].cell[c]);
    HONE_VEC_DEINIT(&t->lines);
}

static void table_print(hone_str *out, const table *t)
{
    size_t width[COLUMNS] = { 0 };

    for (size_t i = 0; i < t->lines.len; i++)
        for (int c = 0; c < COLUMNS; c++)
            width[c] = HONE_MAX(width[c], t->lines.data[i].cell[c].len);
    for (size_t i = 0; i < t->lines.len; i++) {
        int last = COLUMNS - 1;

        while (last > 0 && t->lines.data[i].cell[last].len == 0)
            last--;
        for (int c = 0; c < last; c++)
            hone_str_printf(out, "%-*s  ", (int)width[c], hone_str_c(&t->lines.data[i].cell[c]));
        hone_str_printf(out, "%s\n", hone_str_c(&t->lines.data[i].cell[last]));
    }
}

/* 12345678 -> "12,345,678" */
static void put_count(hone_str *out, int64_t n)
{
    if (n >= 1000) {
        put_count(out, n / 1000);
        hone_str_printf(out, ",%03lld", (long long)(n % 1000));
    } else {
        hone_str_printf(out, "%lld", (long long)n);
    }
}

static void put_bytes(hone_str *out, size_t n)
{
    double bytes = (double)n;

    if (bytes >= 1e9)
        hone_str_printf(out, "%.2f GB", bytes / 1e9);
    else
        hone_str_printf(out, "%.2f MB", bytes / 1e6);
}

/* "0-4, 6-10", or "1, 3, ... 25" */
static void put_numbers(hone_str *out, const hone_vec_i32 *v)
{
    size_t  n = v->len, steady = 1;
    int32_t step = n > 1 ? v->data[1] - v->data[0] : 0;

    while (steady < n && v->data[steady] - v->data[steady - 1] == step)
        steady++;
    if (steady == n && step > 1 && n > 3) {
        hone_str_printf(out, "%d, %d, ... %d", v->data[0], v->data[1], v->data[n - 1]);
        return;
    }
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && v->data[k] == v->data[k - 1] + 1; k++)
            ;
        hone_str_printf(out, "%s%d", i ? ", " : "", v->data[i]);
        if (k > i + 1)
            hone_str_printf(out, "-%d", v->data[k - 1]);
    }
}

static void put_params(hone_str *out, const hone_model_view *v, const hone_module *m)
{
    for (size_t i = 0; i < m->params.len; i++) {
        const hone_param *p = m->params.data[i];
        const char       *dot = strrchr(p->name, '.');

        hone_str_printf(out, "%s%s [", i ? ", " : "", dot ? dot + 1 : p->name);
        for (int d = 0; d < p->ndim; d++)
            hone_str_printf(out, "%s%lld", d ? ", " : "", (long long)p->dims[d]);
        hone_str_printf(out, "] %s", hone_view_file_dtype(v, p));
        if (p == v->loaded->model->head && v->loaded->model->tied)
            hone_str_puts(out, ", also the head");
    }
}

static const char *local_name(const hone_module *m)
{
    return m->parent && *m->parent->name ? m->name + strlen(m->parent->name) + 1 : m->name;
}

/* How many blocks have the modules of this one, which is the first that has them. */
static size_t alike(const hone_model_view *v, const hone_module *block)
{
    size_t n = 0;

    for (size_t i = 0; i < v->kinds.len; i++)
        n += v->kinds.data[v->kinds.data[i].modules].first == block ? v->kinds.data[i].blocks.len : 0;
    return n;
}

static hone_status put_module(table *t, const hone_model_view *v, const hone_module *m, int depth)
{
    line      fresh = { { HONE_STR_INIT, HONE_STR_INIT, HONE_STR_INIT, HONE_STR_INIT } };
    hone_str *cell;

    HONE_TRY(HONE_VEC_PUSH(&t->lines, fresh));
    cell = t->lines.data[t->lines.len - 1].cell;
    hone_str_printf(&cell[0], "%*s%s", 2 * depth, "", local_name(m));
    hone_str_puts(&cell[1], m->kind);
    put_params(&cell[2], v, m);
    if (m->params.len == 0)
        put_count(&cell[2], hone_view_numel(m));
    if (strcmp(m->kind, "block") == 0 && alike(v, m) > 1)
        hone_str_printf(&cell[2], " in each of %zu", alike(v, m));
    hone_view_treatment(&cell[3], v, m);
    for (int c = 0; c < COLUMNS; c++)
        HONE_TRY(hone_str_ok(&cell[c]));
    return HONE_OK;
}

/* Whether no block before this one has the same modules. */
static bool has_new_modules(const hone_model_view *v, const hone_module *block)
{
    for (size_t i = 0; i < v->kinds.len; i++)
        if (v->kinds.data[i].first == block && v->kinds.data[i].modules == i)
            return true;
    return false;
}

/* Of blocks with the same modules, one is enough. */
static hone_status put_tree(table *t, const hone_model_view *v, const hone_module *m, int depth)
{
    HONE_TRY(put_module(t, v, m, depth));
    for (size_t i = 0; i < m->children.len; i++)
        if (strcmp(m->children.data[i]->kind, "block") != 0 || has_new_modules(v, m->children.data[i]))
            HONE_TRY(put_tree(t, v, m->children.data[i], depth + 1));
    return HONE_OK;
}

static void put_kinds(hone_str *out, const hone_model_view *v)
{
    for (size_t i = 0; i < v->kinds.len; i++) {
        const hone_block_kind *k = &v->kinds.data[i];

        hone_str_puts(out, k->blocks.len > 1 ? "blocks " : "block ");
        put_numbers(out, &k->blocks);
        if (k->modules > 0)
            hone_str_printf(out, " (modules of %s)", v->kinds.data[k->modules].first->name);
        hone_str_printf(out, ": %s\n", k->text);
    }
}

static void put_file_dtypes(hone_str *out, const hone_model_dir *dir)
{
    int64_t n[HONE_DTYPE_COUNT] = { 0 };
    bool    any = false;

    for (size_t i = 0; i < hone_model_dir_len(dir); i++)
        n[hone_model_dir_at(dir, i)->dtype]++;
    for (int d = 0; d < HONE_DTYPE_COUNT; d++) {
        if (n[d] == 0)
            continue;
        hone_str_printf(out, "%s%lld %s", any ? ", " : "", (long long)n[d], hone_dtype_file_name((hone_dtype)d));
        any = true;
    }
}

static void put_header(hone_str *out, const hone_model_view *v)
{
    const hone_model *m = v->loaded->model;
    size_t            shards = hone_model_dir_shards(v->loaded->dir);

    hone_utf8_append_clean(out, v->path, strlen(v->path));
    hone_str_printf(out, "\n%s, ", m->family);
    put_count(out, hone_params_numel(m->params));
    hone_str_puts(out, " parameters; tensors: ");
    put_file_dtypes(out, v->loaded->dir);
    hone_str_printf(out, " in %zu file%s\n", shards, shards == 1 ? "" : "s");
    m->ops->describe(out, m);
    hone_str_puts(out, "\n\n");
}

static hone_status put_plan(hone_str *out, const hone_model_view *v)
{
    hone_vec_i64 splits = { NULL, 0, 0 };
    hone_status  st = HONE_OK;

    hone_str_puts(out, "plan: a unit is gathered, released and updated together; recompute: its activations may be made again.\n"
                       "      n x m: n pieces of m that are never cut (heads); | parts of a fused matrix, each cut for itself;\n"
                       "      shared: with more ranks than pieces, several hold the same one.\n"
                       "      tensor parallel over ");
    HONE_GO(hone_view_splits(&splits, v));
    for (size_t i = 0; i < splits.len; i++)
        hone_str_printf(out, "%s%lld", i ? ", " : "", (long long)splits.data[i]);
    hone_str_printf(out, " rank%s\n\n", splits.len > 1 ? "s" : "");
out:
    HONE_VEC_DEINIT(&splits);
    return st;
}

/* By unit, blocks together. */
static void put_parameters(hone_str *out, const hone_model_view *v)
{
    const hone_params *params = v->loaded->model->params;
    const hone_model  *m = v->loaded->model;
    int64_t            total = hone_params_numel(params), head = m->tied ? 0 : hone_param_numel(m->head), embedding, rest;

    if (m->head_bias)
        head += hone_param_numel(m->head_bias);
    embedding = hone_unit_numel(params->units.data[0]);
    rest = hone_unit_numel(params->units.data[params->units.len - 1]) - head;
    hone_str_puts(out, "parameters: embedding ");
    put_count(out, embedding);
    hone_str_puts(out, m->tied ? " (tied head included), blocks " : ", blocks ");
    put_count(out, total - embedding - rest - head);
    if (rest > 0) {
        hone_str_puts(out, ", last norm ");
        put_count(out, rest);
    }
    hone_str_puts(out, ", head ");
    put_count(out, head);
    hone_str_puts(out, "\n");
}

static void put_unread(hone_str *out, const hone_model_view *v)
{
    for (size_t i = 0; i < v->unread.len; i++) {
        const hone_unread *u = &v->unread.data[i];

        hone_str_puts(out, "unread: ");
        hone_utf8_append_clean(out, u->pattern, strlen(u->pattern));
        hone_str_printf(out, ", %lld tensor%s (kept as %s on export)\n", (long long)u->tensors, u->tensors == 1 ? "" : "s",
                        u->tensors == 1 ? "it is" : "they are");
    }
}

static void put_memory(hone_str *out, const hone_model_view *v)
{
    hone_str_printf(out, "\nmemory to train all weights, %lld sample%s of %lld tokens at once:\n", (long long)v->samples,
                    v->samples == 1 ? "" : "s", (long long)v->cutoff_len);
    for (int i = 0; i < HONE_MEMORY_CASES; i++) {
        const hone_memory_case *c = &v->cases[i];

        hone_str_printf(out, "  %-4s recompute %-5s  ", c->compute == HONE_DTYPE_F32 ? "f32" : "bf16",
                        c->recompute ? "layer" : "none");
        put_bytes(out, v->memory[i].peak);
        hone_str_puts(out, " = ");
        put_bytes(out, v->memory[i].fixed);
        hone_str_printf(out, " fixed (%d bytes a parameter) + ", c->compute == HONE_DTYPE_F32 ? 16 : 18);
        put_bytes(out, v->memory[i].peak - v->memory[i].fixed);
        hone_str_puts(out, " activations and work space\n");
    }
}

hone_status hone_view_print_text(const hone_model_view *v)
{
    table       tree = { { NULL, 0, 0 } };
    hone_str    out = HONE_STR_INIT;
    hone_status st = HONE_OK;

    put_header(&out, v);
    for (size_t i = 0; i < v->loaded->model->root->children.len; i++)
        HONE_GO(put_tree(&tree, v, v->loaded->model->root->children.data[i], 0));
    table_print(&out, &tree);
    hone_str_puts(&out, "\n");
    put_kinds(&out, v);
    hone_str_puts(&out, "\n");
    HONE_GO(put_plan(&out, v));
    put_parameters(&out, v);
    put_unread(&out, v);
    put_memory(&out, v);
    HONE_GO(hone_str_ok(&out));
    fwrite(out.data, 1, out.len, stdout);
out:
    table_deinit(&tree);
    hone_str_deinit(&out);
    return st;
}
