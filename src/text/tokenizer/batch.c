/* Many texts at once, over threads. */
#include <pthread.h>

#include "text/tokenizer/parts.h"

enum { TASK_BYTES = 64 << 10 };     /* texts are put together up to this, so that a task is worth handing out */

typedef struct batch {
    const hone_tokenizer *tok;
    hone_encoding        *outs;
    const hone_text      *texts;
    bool                  add_special;
    HONE_VEC(size_t)      ends;         /* of each task: the text after its last */
    pthread_mutex_t       lock;         /* for the rest */
    size_t                failed;       /* the first text that failed */
    hone_error            error;
} batch;

static void note_failure(batch *b, size_t i)
{
    pthread_mutex_lock(&b->lock);
    if (i < b->failed) {
        b->failed = i;
        hone_error_save(&b->error);
    }
    pthread_mutex_unlock(&b->lock);
}

static void encode_task(void *arg, int64_t task, int worker)
{
    batch *b = arg;

    (void)worker;
    for (size_t i = task ? b->ends.data[task - 1] : 0; i < b->ends.data[task]; i++) {
        hone_status st = hone_tokenizer_encode(b->tok, &b->outs[i], b->texts[i].s, b->texts[i].n, b->add_special);

        if (st != HONE_OK) {
            (void)hone_status_context(st, "in text %zu of the batch", i);
            note_failure(b, i);
            return;
        }
    }
}

static hone_status cut_tasks(batch *b, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        bytes += b->texts[i].n;
        if (bytes < TASK_BYTES && i + 1 < n)
            continue;
        HONE_TRY(HONE_VEC_PUSH(&b->ends, i + 1));
        bytes = 0;
    }
    return HONE_OK;
}

hone_status hone_tokenizer_encode_batch(const hone_tokenizer *tok, hone_pool *pool, hone_encoding *outs, const hone_text *texts,
                                        size_t n, bool add_special)
{
    batch       b = { .tok = tok, .outs = outs, .texts = texts, .add_special = add_special, .failed = SIZE_MAX };
    hone_status st;

    pthread_mutex_init(&b.lock, NULL);
    HONE_GO(cut_tasks(&b, n));
    hone_pool_run(pool, (int64_t)b.ends.len, encode_task, &b);
    if (b.failed != SIZE_MAX) {
        hone_error_restore(&b.error);
        st = b.error.st;
    }
out:
    HONE_VEC_DEINIT(&b.ends);
    pthread_mutex_destroy(&b.lock);
    return st;
}
