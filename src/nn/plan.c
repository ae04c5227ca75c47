#include "nn/plan.h"

#include <string.h>

void hone_plan_deinit(hone_plan *plan)
{
    for (size_t i = 0; i < plan->rows.len; i++)
        hone_free(plan->rows.data[i].pattern);
    HONE_VEC_DEINIT(&plan->rows);
}

/* Whether the n characters of a name's part are a number, or the "*" of a stack. */
static bool is_number(const char *part, size_t n)
{
    return n > 0 && (strspn(part, "0123456789") >= n || (n == 1 && *part == '*'));
}

/* UNIT and RECOMPUTE go beside anything; the others exclude one another. */
static bool same_kind(hone_treatment a, hone_treatment b)
{
    return a == b || (a >= HONE_TREAT_COLWISE && b >= HONE_TREAT_COLWISE);
}

static bool same_treatment(const hone_plan_row *a, const hone_plan_row *b)
{
    bool same = a->treatment == b->treatment && a->unit == b->unit && a->parts == b->parts && a->whole == b->whole
                && a->transposed == b->transposed && a->replica == b->replica;

    for (int i = 0; i < a->parts && same; i++)
        same = a->part[i].pieces == b->part[i].pieces && a->part[i].size == b->part[i].size
               && a->part[i].shared == b->part[i].shared;
    return same;
}

char *hone_plan_pattern(const char *name)
{
    hone_str out = HONE_STR_INIT;

    for (const char *part = name;; part++) {
        size_t n = strcspn(part, ".");

        if (is_number(part, n))
            hone_str_putc(&out, '*');
        else
            hone_str_append(&out, part, n);
        part += n;
        if (!*part)
            break;
        hone_str_putc(&out, '.');
    }
    return hone_str_take(&out);
}

hone_status hone_plan_declare(hone_plan *plan, const char *name, const hone_plan_row *row)
{
    hone_plan_row copy = *row;

    copy.pattern = hone_plan_pattern(name);
    if (!copy.pattern)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < plan->rows.len; i++) {
        const hone_plan_row *have = &plan->rows.data[i];

        if (!same_kind(have->treatment, row->treatment) || strcmp(have->pattern, copy.pattern) != 0)
            continue;
        hone_free(copy.pattern);
        if (same_treatment(have, row))
            return HONE_OK;
        copy.pattern = hone_strdup(name);
        break;
    }
    if (copy.pattern && HONE_VEC_PUSH(&plan->rows, copy) == HONE_OK)
        return HONE_OK;
    hone_free(copy.pattern);
    return HONE_E_NOMEM;
}

/* The same for the first `len` characters of `name`. */
static bool match(const char *pattern, const char *name, size_t len)
{
    const char *end = name + len;

    for (;; pattern++, name++) {
        const char *dot = memchr(name, '.', (size_t)(end - name));
        size_t      p = strcspn(pattern, "."), n = (size_t)((dot ? dot : end) - name);

        if (p == 1 && *pattern == '*' ? !is_number(name, n) : p != n || memcmp(pattern, name, n) != 0)
            return false;
        pattern += p;
        name += n;
        if (!*pattern || name == end)
            return !*pattern && name == end;
    }
}

bool hone_plan_match(const char *pattern, const char *name) { return match(pattern, name, strlen(name)); }

const hone_plan_row *hone_plan_find(const hone_plan *plan, const char *name, hone_treatment kind)
{
    for (size_t len = strlen(name); len > 0; len--) {
        if (name[len] != '\0' && name[len] != '.')
            continue;       /* not the end of a module's name */
        for (size_t i = plan->rows.len; i-- > 0; )
            if (same_kind(plan->rows.data[i].treatment, kind) && match(plan->rows.data[i].pattern, name, len))
                return &plan->rows.data[i];
    }
    return NULL;
}

bool hone_plan_can_cut(const hone_plan_row *row, int64_t ranks)
{
    for (int i = 0; i < row->parts; i++) {
        const hone_plan_part *p = &row->part[i];
        int64_t               share = (p->pieces + ranks - 1) / ranks;

        if (row->treatment == HONE_TREAT_VOCAB) {       /* the last rank may have fewer rows, but some */
            if ((ranks - 1) * share >= p->pieces)
                return false;
        } else if (p->pieces % ranks != 0 && !(p->shared && ranks % p->pieces == 0)) {
            return false;
        }
    }
    return true;
}

void hone_plan_describe(hone_str *out, const hone_plan_row *row)
{
    static const char *const words[] = { "unit", "recompute", "colwise", "rowwise", "vocabulary", "replicated" };

    hone_str_puts(out, words[row->treatment]);
    for (int i = 0; i < row->parts; i++) {
        const hone_plan_part *p = &row->part[i];

        hone_str_printf(out, "%s %lld", i ? " |" : "", (long long)p->pieces);
        if (p->size > 1)
            hone_str_printf(out, " x %lld", (long long)p->size);
        if (p->shared)
            hone_str_puts(out, " shared");
    }
    if (row->whole)
        hone_str_puts(out, row->treatment == HONE_TREAT_COLWISE ? ", gathered" : ", of whole rows");
    if (row->transposed)
        hone_str_puts(out, ", stored transposed");
    if (row->treatment == HONE_TREAT_REPLICATE && row->replica == HONE_REPLICA_PART)
        hone_str_puts(out, ", gradients summed");
    if (row->unit)
        hone_str_printf(out, " %s", row->unit);
}
