/* The default plan: sound for every model directory, as meant for each kind of module, and transformers' but for what is said. */
#include "hone_test.h"

#include <glob.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/load.h"
#include "runtime/ctx.h"

#define MODELS TEST_DATA "/data/models/"

typedef struct loaded { hone_ctx *ctx; hone_loaded *model; const hone_plan *plan; } loaded;

static loaded open_model(const char *path)
{
    hone_ctx_options o = { .threads = 1, .meta = true };
    loaded           l;

    T_OK(hone_ctx_create(&l.ctx, &o));
    T_OK(hone_model_load(&l.model, l.ctx, path, &(hone_load_options){ HONE_DTYPE_F32, HONE_PARAMS_FROZEN, -1 }));
    l.plan = &l.model->model->plan;
    return l;
}

static void close_model(loaded *l)
{
    hone_loaded_destroy(&l->model);
    hone_ctx_destroy(&l->ctx);
}

static void star_is_one_number(void **state)
{
    static const struct { const char *pattern, *name; bool match; } cases[] = {
        { "model.layers.*.mlp", "model.layers.3.mlp", true }, { "model.layers.*.mlp", "model.layers.13.mlp", true },
        { "model.layers.1", "model.layers.1", true }, { "model.layers.1", "model.layers.10", false },
        { "model.layers.1", "model.layers.1.mlp", false }, { "model.layers.*", "model.layers", false },
        { "model.layers.*", "model.layers.", false }, { "model.*.mlp", "model.layers.mlp", false },
        { "model.*", "model.3.mlp", false }, { "*", "7", true }, { "*", "7a", false }, { "a.*.b", "a.*.b", true },
        { "a", "a.", false }, { "a.", "a", false }, { "a", "ab", false }, { "ab", "a", false },
        { "", "", true }, { "", "a", false },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        if (hone_plan_match(cases[i].pattern, cases[i].name) != cases[i].match)
            fail_msg("\"%s\" on \"%s\": not %d", cases[i].pattern, cases[i].name, cases[i].match);
}

static void put(hone_plan *plan, const char *name, hone_treatment treatment, int64_t pieces)
{
    hone_plan_row row = { .treatment = treatment, .parts = pieces > 0, .part = { { pieces, 1, false } } };

    T_OK(hone_plan_declare(plan, name, &row));
}

static const char *pattern_for(const hone_plan *plan, const char *name, hone_treatment kind)
{
    const hone_plan_row *row = hone_plan_find(plan, name, kind);

    return row ? row->pattern : "none";
}

static void layers_share_rows_until_one_differs(void **state)
{
    hone_plan plan = { { NULL, 0, 0 } };

    (void)state;
    for (int pass = 0; pass < 2; pass++) {      /* the second adds nothing */
        put(&plan, "m.0", HONE_TREAT_UNIT, 0);
        put(&plan, "m.0.a", HONE_TREAT_COLWISE, 8);
        put(&plan, "m.1", HONE_TREAT_UNIT, 0);
        put(&plan, "m.2.a", HONE_TREAT_COLWISE, 8);
    }
    assert_int_equal(plan.rows.len, 2);
    put(&plan, "m.1.a", HONE_TREAT_COLWISE, 4);
    put(&plan, "m.2.b", HONE_TREAT_ROWWISE, 4);
    assert_int_equal(plan.rows.len, 4);
    assert_string_equal(pattern_for(&plan, "m.0.a", HONE_TREAT_COLWISE), "m.*.a");
    assert_string_equal(pattern_for(&plan, "m.1.a", HONE_TREAT_ROWWISE), "m.1.a");
    assert_string_equal(pattern_for(&plan, "m.10.a", HONE_TREAT_COLWISE), "m.*.a");
    assert_string_equal(pattern_for(&plan, "m.1.a.weight", HONE_TREAT_COLWISE), "m.1.a");
    assert_string_equal(pattern_for(&plan, "m.1.a.weight", HONE_TREAT_UNIT), "m.*");
    assert_string_equal(pattern_for(&plan, "m.1", HONE_TREAT_COLWISE), "none");
    assert_string_equal(pattern_for(&plan, "m.1.ab", HONE_TREAT_COLWISE), "none");
    assert_string_equal(pattern_for(&plan, "m", HONE_TREAT_UNIT), "none");
    hone_plan_deinit(&plan);
}

static void cuts_leave_pieces_whole(void **state)
{
    const hone_plan_row heads = { .treatment = HONE_TREAT_COLWISE, .parts = 3,
                                  .part = { { 12, 64, false }, { 4, 64, true }, { 4, 64, true } } };
    const hone_plan_row table = { .treatment = HONE_TREAT_VOCAB, .parts = 1, .part = { { 10, 1, false } } };
    static const bool   cut_heads[] = { true, true, false, true, false, false, false, false, false, false, false, true };
    static const bool   cut_table[] = { true, true, true, true, true, false, false, false, false, true, false, false };

    (void)state;
    for (int64_t ranks = 1; ranks <= 12; ranks++) {
        assert_int_equal(hone_plan_can_cut(&heads, ranks), cut_heads[ranks - 1]);
        assert_int_equal(hone_plan_can_cut(&table, ranks), cut_table[ranks - 1]);     /* 6 ranks: 2 2 2 2 2 0 */
    }
}

/* ---- every model directory ----------------------------------------------------------------------------------------------- */

static bool match_any(const char *pattern, const hone_module *m)
{
    bool found = hone_plan_match(pattern, m->name);

    for (size_t i = 0; i < m->children.len && !found; i++)
        found = match_any(pattern, m->children.data[i]);
    return found;
}

static const char *unit_of(const hone_params *params, const hone_param *p)
{
    for (size_t i = 0; i < params->units.len; i++)
        if (&params->units.data[i]->group == p->group)
            return params->units.data[i]->name;
    return "none";
}

/* Units of the plan are the units that the parameters lie in. */
static void check_unit(const loaded *l, const hone_param *p)
{
    const hone_plan_row *row = hone_plan_find(l->plan, p->name, HONE_TREAT_UNIT);
    char                *name = hone_strdup(p->name);

    assert_non_null(row);
    while (!row->unit && !hone_plan_match(row->pattern, name))
        *strrchr(name, '.') = '\0';
    assert_string_equal(row->unit ? row->unit : name, unit_of(l->model->model->params, p));
    hone_free(name);
}

/* Pieces make up exactly the dimension that is cut, of weight and bias. */
static void check_parts(const hone_plan_row *row, const hone_param *p)
{
    bool    rowwise = row->treatment == HONE_TREAT_ROWWISE;
    int64_t total = 0;

    for (int i = 0; i < row->parts; i++)
        total += row->part[i].pieces * row->part[i].size;
    if (row->parts == 0)
        assert_true(row->treatment == HONE_TREAT_REPLICATE);
    else if (p->ndim == 2)
        assert_int_equal(total, p->dims[rowwise != row->transposed]);
    else if (!rowwise)
        assert_int_equal(total, p->dims[0]);
}

static void every_model_has_a_sound_plan(void **state)
{
    glob_t found;

    (void)state;
    assert_int_equal(glob(MODELS "*", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 30);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        loaded             l = open_model(found.gl_pathv[i]);
        const hone_params *params = l.model->model->params;

        for (size_t k = 0; k < l.plan->rows.len; k++)
            if (!match_any(l.plan->rows.data[k].pattern, l.model->model->root))
                fail_msg("%s: %s matches nothing", found.gl_pathv[i], l.plan->rows.data[k].pattern);
        for (size_t k = 0; k < params->all.len; k++) {
            const hone_param    *p = params->all.data[k];
            const hone_plan_row *row = hone_plan_find(l.plan, p->name, HONE_TREAT_REPLICATE);

            if (!row)
                fail_msg("%s: no row says how %s is cut", found.gl_pathv[i], p->name);
            check_unit(&l, p);
            check_parts(row, p);
        }
        close_model(&l);
    }
    globfree(&found);
}

static void kinds_of_modules_are_treated_as_meant(void **state)
{
    static const struct { const char *model, *name, *text; } cases[] = {
        { "llama-base", "model.layers.1.self_attn.q_proj", "colwise 3 x 8" },
        { "llama-base", "model.layers.1.self_attn.k_proj", "colwise 1 x 8 shared" },
        { "llama-base", "model.layers.1.self_attn.o_proj", "rowwise 3 x 8" },
        { "llama-base", "model.layers.1.mlp.gate_proj", "colwise 41" },
        { "llama-base", "model.layers.1.mlp.down_proj", "rowwise 41" },
        { "llama-base", "model.layers.1.input_layernorm", "replicated" },
        { "llama-base", "model.embed_tokens", "vocabulary 97" },
        { "llama-base", "lm_head", "vocabulary 97" },
        { "phi3-base", "model.layers.0.self_attn.qkv_proj", "colwise 4 x 4 | 2 x 4 shared | 2 x 4 shared" },
        { "phi3-base", "model.layers.0.mlp.gate_up_proj", "colwise 23 | 23" },
        { "gpt_neox-base", "gpt_neox.layers.0.attention.query_key_value", "colwise 2 x 48" },
        { "gpt2-base", "transformer.h.0.attn.c_attn", "colwise 3 x 8 | 3 x 8 | 3 x 8, stored transposed" },
        { "gpt2-base", "transformer.h.0.mlp.c_proj", "rowwise 96, stored transposed" },
        { "gpt2-base", "transformer.wpe", "replicated" },
        { "olmo2-base", "model.layers.0.self_attn.k_proj", "colwise 4 x 4, gathered" },
        { "olmo2-base", "model.layers.0.self_attn.o_proj", "rowwise 4 x 4, of whole rows" },
        { "olmo2-base", "model.layers.0.self_attn.q_norm", "replicated" },
        { "qwen3-base", "model.layers.0.self_attn.q_norm", "replicated, gradients summed" },
        { "cohere-qk-norm", "model.layers.0.self_attn.k_norm", "colwise 2 shared" },
        { "stablelm-qk-norm-tied", "model.layers.0.self_attn.q_layernorm.norms.*", "colwise 4" },
        { "apertus-base", "model.layers.0.mlp.act_fn", "replicated, gradients summed" },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        char     path[512];
        hone_str text = HONE_STR_INIT;
        loaded   l;

        snprintf(path, sizeof path, MODELS "%s", cases[i].model);
        l = open_model(path);
        hone_plan_describe(&text, hone_plan_find(l.plan, cases[i].name, HONE_TREAT_COLWISE));
        if (strcmp(hone_str_c(&text), cases[i].text) != 0)
            fail_msg("%s, %s: \"%s\" instead of \"%s\"", cases[i].model, cases[i].name, hone_str_c(&text), cases[i].text);
        hone_str_deinit(&text);
        close_model(&l);
    }
}

/* ---- against transformers (tests/data/plans.json, made by tools/golden/plans.py) ----------------------------------------- */

/* Where hone's plan is another, and why. `pattern` is the end of it; `ours` NULL: whatever it is. */
typedef struct difference { const char *family, *pattern, *theirs, *ours; } difference;

static const difference differences[] = {
    /* hone's loss works on each rank's own logits; the reference gathers them */
    { "*", "lm_head", "colwise_gather_output", "vocab" },
    /* and its table of embeddings is cut like the head's, with which it may be tied; the reference cuts two families' */
    { "*", ".embed_tokens", "none", "vocab" },
    { "hunyuan_v1_dense", ".embed_tokens", "embedding_rowwise", "vocab" },
    { "gpt_neox", ".embed_in", "embedding_rowwise", "vocab" },
    /* fused matrices: a row boundary for each part lets every rank have its share of each; the reference cuts without regard to
     * parts and gathers what comes out */
    { "phi3", ".qkv_proj", "colwise_gather_output", "colwise" },
    { "phi3", ".o_proj", "rowwise_split_input", "rowwise" },
    { "phi3", ".gate_up_proj", "colwise_gather_output", "colwise" },
    { "phi3", ".down_proj", "rowwise_split_input", "rowwise" },
    { "glm", ".gate_up_proj", "colwise_gather_output", "colwise" },
    { "glm", ".down_proj", "rowwise_split_input", "rowwise" },
    { "glm4", ".gate_up_proj", "colwise_gather_output", "colwise" },
    { "glm4", ".down_proj", "rowwise_split_input", "rowwise" },
    /* the reference leaves the two parameters of xielu out: each rank's gradient is that of its columns alone */
    { "apertus", ".act_fn", "none", "replicated_with_grad_allreduce" },
    /* and the norms behind the rotation, which work on a rank's own heads */
    { "hunyuan_v1_dense", ".query_layernorm", "none", "replicated_with_grad_allreduce" },
    { "hunyuan_v1_dense", ".key_layernorm", "none", "replicated_with_grad_allreduce" },
    /* norms of single heads: one weight each is cut like the heads, one for all is whole */
    { "cohere", ".q_norm", "none", "colwise" },
    { "cohere", ".k_norm", "none", "colwise" },
    { "phi", ".q_layernorm", "none", "replicated_with_grad_allreduce" },
    { "phi", ".k_layernorm", "none", "replicated_with_grad_allreduce" },
    /* families for which the reference has no plan of their layers */
    { "hunyuan_v1_dense", "_proj", "none", NULL },
    { "gpt2", "", "none", NULL },
    { "stablelm", "", "none", NULL },
};

static const char *style_of(const hone_plan_row *row)
{
    switch (row->treatment) {
    case HONE_TREAT_COLWISE:   return row->whole ? "colwise_gather_output" : "colwise";
    case HONE_TREAT_ROWWISE:   return row->whole ? "rowwise_split_input" : "rowwise";
    case HONE_TREAT_VOCAB:     return "vocab";
    case HONE_TREAT_REPLICATE: return row->replica == HONE_REPLICA_PART ? "replicated_with_grad_allreduce" : "none";
    default:                   return "none";
    }
}

/* The names of gpt_neox' heads differ between files and classes. */
static const char *their_name(const loaded *l, const char *pattern)
{
    return strcmp(pattern, l->model->model->head_name) == 0 ? "lm_head" : pattern;
}

static bool explained(const char *family, const char *name, const char *theirs, const char *ours, bool *used)
{
    for (size_t i = 0; i < HONE_COUNTOF(differences); i++) {
        const difference *d = &differences[i];

        if ((strcmp(d->family, "*") == 0 || strcmp(d->family, family) == 0) && hone_ends_with(name, d->pattern)
            && strcmp(d->theirs, theirs) == 0 && (!d->ours || strcmp(d->ours, ours) == 0)) {
            used[i] = true;
            return true;
        }
    }
    return false;
}

static void compare(const loaded *l, const json_t *plan, bool *used)
{
    const char   *family = l->model->model->family, *name;
    const json_t *style;

    for (size_t i = 0; i < l->plan->rows.len; i++) {
        const hone_plan_row *row = &l->plan->rows.data[i];
        const char          *key = their_name(l, row->pattern);
        const char          *theirs = json_string_value(json_object_get(plan, key)), *ours = style_of(row);

        if (row->treatment == HONE_TREAT_UNIT || row->treatment == HONE_TREAT_RECOMPUTE)
            continue;
        theirs = theirs ? theirs : "none";
        if (strcmp(theirs, ours) != 0 && !explained(family, key, theirs, ours, used))
            fail_msg("%s: %s is %s, and %s in transformers", family, row->pattern, ours, theirs);
    }
    json_object_foreach((json_t *)plan, name, style) {
        bool found = l->model->model->tied && strcmp(name, "lm_head") == 0;

        for (size_t i = 0; i < l->plan->rows.len && !found; i++)
            found = strcmp(their_name(l, l->plan->rows.data[i].pattern), name) == 0;
        if (!found)
            fail_msg("%s: no row for %s, which is %s in transformers", family, name, json_string_value(style));
    }
}

static void plans_are_those_of_transformers(void **state)
{
    bool    used[HONE_COUNTOF(differences)] = { false };
    json_t *root;
    glob_t  found;

    (void)state;
    T_OK(hone_json_read(&root, TEST_DATA "/data/plans.json"));
    assert_int_equal(glob(MODELS "*", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        loaded        l = open_model(found.gl_pathv[i]);
        const json_t *plan = json_object_get(json_object_get(root, "plans"), l.model->model->family);

        if (!plan)
            fail_msg("tests/data/plans.json has no %s: run tools/golden/plans.py", l.model->model->family);
        compare(&l, plan, used);
        close_model(&l);
    }
    for (size_t i = 0; i < HONE_COUNTOF(used); i++)
        if (!used[i])
            fail_msg("no difference left at %s, %s", differences[i].family, differences[i].pattern);
    globfree(&found);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(star_is_one_number),
        cmocka_unit_test(layers_share_rows_until_one_differs),
        cmocka_unit_test(cuts_leave_pieces_whole),
        cmocka_unit_test(every_model_has_a_sound_plan),
        cmocka_unit_test(kinds_of_modules_are_treated_as_meant),
        cmocka_unit_test(plans_are_those_of_transformers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
