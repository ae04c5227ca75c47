/* config.json of a model: whatever the text, reading it ends with a decoder's configuration that can be used, or an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/family.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_ropes(const hone_decoder_config *d)
{
    for (int i = 0; i < HONE_DECODER_ROPES; i++) {
        const hone_rope_spec *s = &d->rope[i];
        int64_t               n = hone_rope_pairs(s);
        float                *freq = hone_calloc((size_t)n, sizeof *freq);

        must(2 * n <= d->attention.head_dim);
        for (int64_t length = 1; freq && n > 0 && length <= 4096; length *= 64)
            (void)hone_rope_frequencies(freq, s, length);
        hone_free(freq);
    }
}

static void check(const hone_decoder_config *d)
{
    const hone_attention_config *a = &d->attention;

    must(d->layer && d->vocab > 0 && d->hidden > 0 && d->layers > 0 && d->mlp.intermediate > 0 && a->head_dim > 0);
    must(a->kv_heads > 0 && a->heads % a->kv_heads == 0);
    must(d->norm.eps >= 0 && a->dropout < 1 && isfinite(d->embed_scale) && isfinite(d->logit_scale));
    for (int64_t i = 0; i < d->layers; i++)
        must(d->layer[i].window >= 0 && d->layer[i].rope >= -1 && d->layer[i].rope < HONE_DECODER_ROPES);
    check_ropes(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t             *root = NULL;
    const char         *type;
    const hone_family  *family = NULL;
    hone_decoder_config d = { 0 };
    hone_config         c;

    hone_status_clear();
    if (hone_json_parse(&root, (const char *)data, size, "config.json") != HONE_OK)
        return 0;
    type = json_string_value(json_object_get(root, "model_type"));
    if (type)
        family = hone_family_find(type);
    if (family) {
        if (hone_config_begin(&c, root, family->model_type) == HONE_OK)
            family->read(&c, &d);
        if (hone_config_end(&c) == HONE_OK)
            check(&d);
    }
    hone_free(d.layer);
    json_decref(root);
    return 0;
}
