/*
 * The fuzzers as tests: runs LLVMFuzzerTestOneInput on every seed, then on a fixed number of mutations of them.
 *
 *     fuzz_NAME COUNT PATH...     PATH: a seed or a folder of seeds; COUNT: mutations to try
 *
 * Mutation k depends on k and the seeds only, so a run is the same everywhere. The input being run is kept in
 * fuzz_NAME.input in the current folder: after a crash or a hang it is the culprit, and `fuzz_NAME 0 fuzz_NAME.input` runs
 * it again. A good run removes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"

enum { MAX_INPUT = 1 << 18, MAX_WORD = 24, MAX_WORDS = 4096, SECONDS_PER_INPUT = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes { const char *p; size_t n; } bytes;
typedef HONE_VEC(bytes) bytes_list;

typedef struct fuzz {
    bytes_list seeds;       /* owned */
    bytes_list words;       /* runs of letters and digits, and of other marks, found in the seeds; borrowed from them */
    char      *kept;        /* path of the input being run */
    int        fd;
} fuzz;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "fuzz driver: %s: %s\n", what, hone_status_text());
    exit(2);
}

static void *must(void *p)
{
    if (!p)
        die("out of memory");
    return p;
}

static void run(fuzz *f, const char *data, size_t size)
{
    /* A heap copy of exactly this size, so that a sanitizer sees a read past the end. */
    uint8_t *copy = must(hone_calloc(size, 1));

    if (size)
        memcpy(copy, data, size);
    if (pwrite(f->fd, data, size, 0) != (ssize_t)size || ftruncate(f->fd, (off_t)size) != 0) {
        perror(f->kept);
        exit(2);
    }
    alarm(SECONDS_PER_INPUT);
    (void)LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    hone_free(copy);
}

static void add_seeds(fuzz *f, const char *path)
{
    char **names, *data;
    size_t n;

    if (!hone_path_is_dir(path)) {
        if (hone_file_read_all(&data, &n, path) != HONE_OK)
            die("cannot read a seed");
        if (HONE_VEC_PUSH(&f->seeds, (bytes){ data, n }) != HONE_OK)
            die("out of memory");
        return;
    }
    if (hone_dir_list(&names, &n, path) != HONE_OK)
        die("cannot list seeds");
    for (size_t i = 0; i < n; i++) {
        char *child = must(hone_path_join(path, names[i]));

        add_seeds(f, child);
        hone_free(child);
    }
    hone_dir_list_free(names, n);
}

static int kind(char c)
{
    unsigned char u = (unsigned char)c;

    return u <= ' ' ? 0 : (u >= '0' && u <= '9') || ((u | 32) >= 'a' && (u | 32) <= 'z') || u == '_' || u >= 0x80 ? 1 : 2;
}

static void find_words(fuzz *f)
{
    for (size_t s = 0; s < f->seeds.len; s++) {
        bytes b = f->seeds.data[s];

        for (size_t i = 0, end; i < b.n && f->words.len < MAX_WORDS; i = end) {
            for (end = i + 1; end < b.n && kind(b.p[end]) == kind(b.p[i]); end++)
                ;
            if (kind(b.p[i]) != 0 && end - i <= MAX_WORD && HONE_VEC_PUSH(&f->words, (bytes){ b.p + i, end - i }) != HONE_OK)
                die("out of memory");
        }
    }
}

/* Replace s[at, at + cut) by `with`; a result that grows too long is left as it was. */
static void replace(hone_str *s, size_t at, size_t cut, bytes with)
{
    hone_str out = HONE_STR_INIT;

    if (s->len - cut + with.n > MAX_INPUT)
        return;
    hone_str_append(&out, hone_str_c(s), at);
    hone_str_append(&out, with.p, with.n);
    hone_str_append(&out, hone_str_c(s) + at + cut, s->len - at - cut);
    if (hone_str_ok(&out) != HONE_OK)
        die("out of memory");
    hone_str_deinit(s);
    *s = out;
}

/* A piece of `of`, short ones more often than long ones. */
static bytes piece(hone_rng *r, bytes of)
{
    size_t at = hone_rng_below(r, of.n + 1), most = (size_t)1 << hone_rng_below(r, 14);

    return (bytes){ of.p + at, hone_rng_below(r, HONE_MIN(of.n - at, most) + 1) };
}

static void mutate_once(const fuzz *f, hone_str *s, hone_rng *r)
{
    static const char edges[] = { 0, 1, 0x7F, (char)0x80, (char)0xFF, '"', '\\', '{', '[', '\n', '-', '9' };
    size_t at = hone_rng_below(r, s->len + 1), cut = hone_rng_below(r, HONE_MIN(s->len - at, (size_t)64) + 1);
    bytes  other = f->seeds.data[hone_rng_below(r, f->seeds.len)];
    bytes  word = f->words.len ? f->words.data[hone_rng_below(r, f->words.len)] : (bytes){ "0", 1 };
    char   one = (char)hone_rng_u64(r), copied[1 << 13];
    bytes  from;

    switch (hone_rng_below(r, 9)) {
    case 0:     /* flip a bit */
        if (at < s->len)
            s->data[at] = (char)(s->data[at] ^ 1 << hone_rng_below(r, 8));
        break;
    case 1:     /* set a byte, to an edge value half of the time */
        if (at < s->len)
            s->data[at] = one & 1 ? one : edges[hone_rng_below(r, sizeof edges)];
        break;
    case 2:     /* delete */
        replace(s, at, cut, (bytes){ "", 0 });
        break;
    case 3:     /* insert a byte */
        replace(s, at, 0, (bytes){ &one, 1 });
        break;
    case 4:     /* copy a piece of itself elsewhere */
    case 5:     /* or over something */
        from = piece(r, (bytes){ hone_str_c(s), s->len });
        from.n = HONE_MIN(from.n, sizeof copied);
        memcpy(copied, from.p, from.n);
        replace(s, at, one & 1 ? cut : 0, (bytes){ copied, from.n });
        break;
    case 6:     /* a word of the seeds, in place of something or between */
        replace(s, at, one & 1 ? cut : 0, word);
        break;
    case 7:     /* go on as another seed */
        from = piece(r, other);
        replace(s, at, s->len - at, (bytes){ from.p, (size_t)(other.p + other.n - from.p) });
        break;
    default:    /* a piece of another seed */
        replace(s, at, cut, piece(r, other));
    }
}

static void run_mutation(fuzz *f, uint64_t number)
{
    hone_rng r = hone_rng_make(0x68, number);
    hone_str s = HONE_STR_INIT;
    bytes    seed = f->seeds.data[hone_rng_below(&r, f->seeds.len)];

    hone_str_append(&s, seed.p, seed.n);
    for (uint64_t i = 0, n = 1 + hone_rng_below(&r, 6); i < n; i++)
        mutate_once(f, &s, &r);
    run(f, hone_str_c(&s), s.len);
    hone_str_deinit(&s);
}

static void on_alarm(int sig)
{
    static const char text[] = "fuzz driver: an input takes too long\n";

    (void)sig;
    (void)!write(2, text, sizeof text - 1);
    abort();
}

int main(int argc, char **argv)
{
    fuzz     f = { 0 };
    uint64_t count;

    if (argc < 3) {
        fprintf(stderr, "usage: %s COUNT PATH...\n", argv[0]);
        return 2;
    }
    count = strtoull(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++)
        add_seeds(&f, argv[i]);
    if (f.seeds.len == 0) {
        fprintf(stderr, "fuzz driver: no seeds\n");
        return 2;
    }
    find_words(&f);
    f.kept = must(hone_asprintf("%s.input", hone_path_base(argv[0])));
    f.fd = open(f.kept, O_RDWR | O_CREAT, 0666);
    if (f.fd < 0) {
        perror(f.kept);
        return 2;
    }
    signal(SIGALRM, on_alarm);
    for (size_t i = 0; i < f.seeds.len; i++)
        run(&f, f.seeds.data[i].p, f.seeds.data[i].n);
    for (uint64_t k = 0; k < count; k++)
        run_mutation(&f, k);
    close(f.fd);
    unlink(f.kept);
    printf("%zu seeds, %" PRIu64 " mutations\n", f.seeds.len, count);
    for (size_t i = 0; i < f.seeds.len; i++)
        hone_free((char *)f.seeds.data[i].p);
    HONE_VEC_DEINIT(&f.seeds);
    HONE_VEC_DEINIT(&f.words);
    hone_free(f.kept);
    return 0;
}
