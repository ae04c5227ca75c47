/*
 * tokenizer_run FILE|DIR: what hone makes of texts and ids, for tools/golden/tokenizer_suite.py, which compiles it against
 * libhone.a.
 *
 * Standard input is a row of records: a kind ('t' text, 'd' ids), its length in bytes (u32), its bytes. A text's answer is the
 * number of its ids (u32, or ~0 and a message for an error) and the ids with special tokens, then what they decode to without
 * and with special tokens, each with its length; that of ids is only these two.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "text/tokenizer.h"

static hone_vec_i32  ids;
static hone_encoding enc;
static hone_str      text = HONE_STR_INIT;

static void put_u32(uint32_t v) { fwrite(&v, sizeof v, 1, stdout); }

static void put_text(const char *s, size_t n)
{
    put_u32((uint32_t)n);
    fwrite(s, 1, n, stdout);
}

static hone_status run_one(const hone_tokenizer *tok, bool encode)
{
    hone_str back[2] = { HONE_STR_INIT, HONE_STR_INIT };

    enc.len = ids.len = 0;
    if (encode)
        HONE_TRY(hone_tokenizer_encode(tok, &enc, hone_str_c(&text), text.len, true));
    for (size_t i = 0; i < enc.len; i++)
        HONE_TRY(HONE_VEC_PUSH(&ids, enc.data[i].id));
    for (size_t i = 0; !encode && i < text.len / sizeof(int32_t); i++)
        HONE_TRY(HONE_VEC_PUSH(&ids, ((const int32_t *)(const void *)text.data)[i]));
    HONE_TRY(hone_tokenizer_decode(tok, &back[0], ids.data, ids.len, true));
    HONE_TRY(hone_tokenizer_decode(tok, &back[1], ids.data, ids.len, false));
    if (encode) {
        put_u32((uint32_t)ids.len);
        fwrite(ids.data, sizeof *ids.data, ids.len, stdout);
    }
    for (int i = 0; i < 2; i++) {
        put_text(hone_str_c(&back[i]), back[i].len);
        hone_str_deinit(&back[i]);
    }
    return HONE_OK;
}

static hone_status load(hone_tokenizer **out, const char *path)
{
    hone_mapped map;

    if (!hone_ends_with(path, ".json"))
        return hone_tokenizer_load(out, path);
    HONE_TRY(hone_file_map(&map, path));
    return hone_tokenizer_create(out, (const char *)map.data, map.size, path);
}

int main(int argc, char **argv)
{
    hone_tokenizer *tok = NULL;
    char            kind;
    uint32_t        n;

    if (argc != 2 || load(&tok, argv[1]) != HONE_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? hone_status_text() : "one tokenizer.json or its folder");
        return 1;
    }
    while (fread(&kind, 1, 1, stdin) == 1 && fread(&n, sizeof n, 1, stdin) == 1) {
        hone_str_clear(&text);
        if (!hone_str_reserve(&text, n) || fread(text.data, 1, n, stdin) != n)
            return 2;
        text.len = n;
        if (run_one(tok, kind == 't') != HONE_OK) {
            put_u32(UINT32_MAX);
            put_text(hone_status_text(), strlen(hone_status_text()));
            hone_status_clear();
        }
    }
    hone_tokenizer_destroy(&tok);
    return 0;
}
