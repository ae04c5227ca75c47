/*
 * A folder without tokenizer.json: refused, or usual texts and the input itself become tokens that lie in them and decode.
 * The input is tokenizer_config.json on one line, a line with the name of a vocabulary file, then its bytes; after those of
 * vocab.json a zero byte and merges.txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "text/tokenizer.h"

static const char *const configs[] = {
    "{\"tokenizer_class\":\"LlamaTokenizer\",\"legacy\":true}", "{\"tokenizer_class\":\"T5Tokenizer\"}",
    "{\"tokenizer_class\":\"Nobody\"}", "{\"tokenizer_class\":\"GPT2Tokenizer\"}", "{\"tokenizer_class\":\"BertTokenizer\"}",
};

#define DIR "fuzz_tokenizer_model.dir"

static const char *const files[] = { "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt" };

/* Written plainly: syncing each file would take all the time. */
static void put(const char *name, const void *data, size_t n)
{
    char  path[128];
    FILE *f;

    snprintf(path, sizeof path, DIR "/%s", name);
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(2);
    }
}

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
        if (HONE_VEC_PUSH(&ids, e.data[i].id) != HONE_OK || hone_tokenizer_token_bytes(tok, &out, e.data[i].id) != HONE_OK)
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

/* Take a line off the front. */
static size_t line(const uint8_t **data, size_t *size, const uint8_t **out)
{
    const uint8_t *lf = memchr(*data, '\n', *size);
    size_t         n = lf ? (size_t)(lf - *data) : *size;

    *out = *data;
    *data += n + (lf != NULL);
    *size -= n + (lf != NULL);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char usual[] = "It's unaffable <tool>  caf\xC3\xA9 \xE2\x96\x81the<s>\n \xF0\x9F\xA6\x99 abc";
    const uint8_t    *config, *name, *zero;
    size_t            n_config = line(&data, &size, &config), n_name = line(&data, &size, &name), which = HONE_COUNTOF(files);
    hone_tokenizer   *tok;

    for (size_t i = 0; i < HONE_COUNTOF(files); i++) {
        char path[128];

        if (n_name == strlen(files[i]) && memcmp(name, files[i], n_name) == 0)
            which = i;
        snprintf(path, sizeof path, DIR "/%s", files[i]);
        (void)unlink(path);
    }
    if (which == HONE_COUNTOF(files))
        return 0;
    (void)mkdir(DIR, 0777);
    put("tokenizer_config.json", config, n_config);
    zero = which == 3 ? memchr(data, 0, size) : NULL;
    put(files[which], data, zero ? (size_t)(zero - data) : size);
    put("merges.txt", zero ? zero + 1 : data, zero ? size - (size_t)(zero + 1 - data) : 0);
    if (hone_tokenizer_load(&tok, DIR) != HONE_OK) {
        if (tok || !hone_status_text()[0])
            abort();
        /* Perhaps the config was at fault: once more with a plain one. */
        put("tokenizer_config.json", configs[(n_config + size) % HONE_COUNTOF(configs)],
            strlen(configs[(n_config + size) % HONE_COUNTOF(configs)]));
        if (hone_tokenizer_load(&tok, DIR) != HONE_OK)
            return 0;
    }
    encode(tok, usual, sizeof usual - 1);
    encode(tok, (const char *)data, size);
    hone_tokenizer_destroy(&tok);
    return 0;
}
