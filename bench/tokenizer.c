/*
 * bench_tokenizer TOKENIZER.json TEXT THREADS SECONDS: encode the documents of a text (runs of lines of at least 2,000 bytes)
 * again and again; prints bytes, ids, and the best and the median MB/s of a pass. Driven by bench/tokenizer.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/thread.h"
#include "text/tokenizer.h"

enum { DOCUMENT = 2000, MAX_PASSES = 1000 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

typedef HONE_VEC(hone_text) texts;

static hone_status cut(texts *out, const char *s, size_t n)
{
    for (size_t i = 0, end; i < n; i = end) {
        const char *lf = i + DOCUMENT < n ? memchr(s + i + DOCUMENT, '\n', n - i - DOCUMENT) : NULL;

        end = lf ? (size_t)(lf - s) + 1 : n;
        HONE_TRY(HONE_VEC_PUSH(out, (hone_text){ s + i, end - i }));
    }
    return HONE_OK;
}

static hone_status run(const char *tokenizer, const char *file, int threads, double seconds)
{
    static double   speed[MAX_PASSES];
    hone_tokenizer *tok = NULL;
    hone_mapped     json = { 0 }, text = { 0 };
    hone_pool      *pool = NULL;
    texts           docs = { 0 };
    hone_encoding  *outs = NULL;
    size_t          ids = 0;
    int             passes = 0;
    double          begin;
    hone_status     st;

    HONE_GO(hone_file_map(&json, tokenizer));
    HONE_GO(hone_file_map(&text, file));
    HONE_GO(hone_tokenizer_create(&tok, (const char *)json.data, json.size, tokenizer));
    HONE_GO(cut(&docs, (const char *)text.data, text.size));
    if (threads > 1)
        HONE_GO(hone_pool_create(&pool, threads));
    outs = hone_calloc(docs.len, sizeof *outs);
    HONE_GO_CHECK(outs, HONE_E_NOMEM, "out of memory");
    begin = now();
    do {
        double at = now();

        for (size_t i = 0; i < docs.len; i++)
            outs[i].len = 0;
        HONE_GO(hone_tokenizer_encode_batch(tok, pool, outs, docs.data, docs.len, false));
        speed[passes++] = (double)text.size / 1e6 / (now() - at);
    } while (passes < MAX_PASSES && (now() - begin < seconds || passes < 2));
    for (size_t i = 0; i < docs.len; i++)
        ids += outs[i].len;
    qsort(speed, (size_t)passes, sizeof *speed, by_value);
    printf("%zu %zu %.3f %.3f\n", text.size, ids, speed[passes - 1], speed[passes / 2]);
out:
    for (size_t i = 0; outs && i < docs.len; i++)
        HONE_VEC_DEINIT(&outs[i]);
    hone_free(outs);
    HONE_VEC_DEINIT(&docs);
    hone_pool_destroy(&pool);
    hone_tokenizer_destroy(&tok);
    hone_file_unmap(&json);
    hone_file_unmap(&text);
    return st;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bench_tokenizer TOKENIZER.json TEXT THREADS SECONDS\n");
        return 2;
    }
    if (run(argv[1], argv[2], atoi(argv[3]), atof(argv[4])) != HONE_OK) {
        fprintf(stderr, "%s\n", hone_status_text());
        return 1;
    }
    return 0;
}
