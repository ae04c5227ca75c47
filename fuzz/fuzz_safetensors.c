/* Any bytes as a safetensors file: refused, or every tensor lies in the data and can be found by its name. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/safetensors.h"

static void check(const uint8_t *data, size_t size)
{
    hone_safetensors *f;
    size_t            at;

    if (hone_safetensors_parse(&f, data, size, "input") != HONE_OK) {
        if (f || !hone_status_text()[0])
            abort();
        return;
    }
    at = size;
    for (size_t i = 0; i < hone_safetensors_len(f); i++)
        at -= hone_safetensors_at(f, i)->bytes;
    for (size_t i = 0; i < hone_safetensors_len(f); i++) {
        const hone_safetensor *t = hone_safetensors_at(f, i);

        if (t->data != data + at || hone_safetensors_find(f, t->name) != t)
            abort();
        at += t->bytes;
    }
    if (at != size)
        abort();
    hone_safetensors_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t   end = size;
    uint8_t *fixed;

    check(data, size);
    /* A change of length alone would hide the rest of the checks: once more with the header ending at its last brace. */
    while (end > 8 && data[end - 1] != '}')
        end--;
    if (end <= 8)
        return 0;
    fixed = hone_calloc(size, 1);
    if (!fixed)
        return 0;
    memcpy(fixed, data, size);
    for (int i = 0; i < 8; i++)
        fixed[i] = (uint8_t)((uint64_t)(end - 8) >> 8 * i);
    check(fixed, size);
    hone_free(fixed);
    return 0;
}
