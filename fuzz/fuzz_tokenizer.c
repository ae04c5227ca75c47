/* A tokenizer.json, then after a zero byte a text: refused, or the text's tokens lie in it and decode. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/tokenizer.h"

static void encode(const hone_tokenizer *tok, const char *text, size_t n)
{
    hone_encoding e = { 0 };
    hone_str      out = HONE_STR_INIT;
    hone_vec_i32  ids = { 0 };
    hone_status   st = hone_tokenizer_encode(tok, &e, text, n, true);

    if (st == HONE_OK && hone_utf8_valid_prefix(text, n) < n)
        abort();
    for (size_t i = 0; i < e.len; i++) {
        if (e.data[i].begin > e.data[i].end || e.data[i].end > n || e.data[i].id < 0)
            abort();
        if (HONE_VEC_PUSH(&ids, e.data[i].id) != HONE_OK)
            abort();
        if (hone_tokenizer_token_bytes(tok, &out, e.data[i].id) != HONE_OK)
            abort();
    }
    hone_str_clear(&out);
    if (hone_tokenizer_decode(tok, &out, ids.data, ids.len, false) != HONE_OK ||
        hone_utf8_valid_prefix(hone_str_c(&out), out.len) != out.len)
        abort();
    HONE_VEC_DEINIT(&e);
    HONE_VEC_DEINIT(&ids);
    hone_str_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char usual[] = "It's 12345 caf\xC3\xA9s: <|im_end|>\n\n  e\xCC\x81 \xF0\x9F\xA6\x99 x";
    const uint8_t  *zero = memchr(data, 0, size);
    size_t          n = zero ? (size_t)(zero - data) : size;
    hone_tokenizer *tok;

    if (hone_tokenizer_create(&tok, (const char *)data, n, "input") != HONE_OK) {
        if (tok || !hone_status_text()[0])
            abort();
        return 0;
    }
    encode(tok, usual, sizeof usual - 1);
    if (zero)
        encode(tok, (const char *)zero + 1, size - n - 1);
    hone_tokenizer_destroy(&tok);
    return 0;
}
