/* The cache of large tokenizer files: the same tokens with it and without, and never a wrong one from a file that was harmed. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "text/tokenizer.h"

typedef struct fixture { char dir[128], cache[128], file[256]; } fixture;

static void open_fixture(fixture *f)
{
    snprintf(f->dir, sizeof f->dir, "%s", t_temp_dir());
    snprintf(f->cache, sizeof f->cache, "%s", t_temp_dir());
    setenv("HONE_CACHE", f->cache, 1);
}

static void close_fixture(fixture *f)
{
    unsetenv("HONE_CACHE");
    T_OK(hone_dir_remove(f->dir));
    T_OK(hone_dir_remove(f->cache));
}

/* Pieces that grow from each other by a letter; for BPE numbered so that each is another token, with merges of pairs of letters. */
static void random_words(hone_str *pieces, hone_str *merges, bool unigram)
{
    enum { N = 60000 };
    char    (*words)[12] = hone_calloc(N, sizeof *words);
    hone_rng  r = hone_rng_make(3, 0);
    int       n = 26;

    for (int i = 0; i < 26; i++)
        words[i][0] = (char)('a' + i);
    for (int i = 0; i < n; i++)
        hone_str_printf(pieces, unigram ? ",[\"%s\",-20]" : ",\"%s\":%d", words[i], i + 1);
    while (n < N) {
        const char *left = words[hone_rng_below(&r, (uint64_t)n)];
        char        right = (char)('a' + hone_rng_below(&r, 26));

        if (strlen(left) > 9)
            continue;
        snprintf(words[n], sizeof *words, "%s%c", left, right);
        if (unigram)
            hone_str_printf(pieces, ",[\"%s\",-%d.2345678901234567]", words[n], (int)hone_rng_below(&r, 9) + 6);
        else
            hone_str_printf(pieces, ",\"%s#%d\":%d", words[n], n, n + 1);
        if (!unigram)
            hone_str_printf(merges, "%s\"%c %c\"", merges->len ? "," : "", left[0], right);
        n++;
    }
    hone_free(words);
}

/* A tokenizer.json of more than 2 MB. */
static void write_tokenizer(const fixture *f, bool unigram)
{
    hone_str json = HONE_STR_INIT, pieces = HONE_STR_INIT, merges = HONE_STR_INIT;
    char     path[256];

    random_words(&pieces, &merges, unigram);
    hone_str_puts(&json, "{\"added_tokens\":[],\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},");
    if (unigram) {
        hone_str_printf(&json, "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",-30]%s]}}", hone_str_c(&pieces));
    } else {
        /* All pairs of letters are tokens; each is a merge, at the rank of its last mention. */
        for (char a = 'a'; a <= 'z'; a++)
            for (char b = 'a'; b <= 'z'; b++)
                hone_str_printf(&pieces, ",\"%c%c\":%d", a, b, 70000 + (a - 'a') * 26 + b - 'a');
        hone_str_printf(&json, "\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"merges\":[%s],\"vocab\":{\"?\":0%s}}}", hone_str_c(&merges),
                        hone_str_c(&pieces));
    }
    while (json.len < (2 << 20) + 1)
        hone_str_puts(&json, "                                                                \n");
    T_OK(hone_str_ok(&json));
    snprintf(path, sizeof path, "%s/tokenizer.json", f->dir);
    T_OK(hone_file_write_all(path, json.data, json.len));
    hone_str_deinit(&json);
    hone_str_deinit(&pieces);
    hone_str_deinit(&merges);
}

/* What the folder's tokenizer makes of many words, as a hash. */
static hone_hash tokens(const char *dir)
{
    hone_tokenizer *tok;
    hone_encoding   e = { 0 };
    hone_rng        r = hone_rng_make(9, 0);
    char            text[4000];
    hone_hash       hash;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = hone_rng_below(&r, 9) ? (char)('a' + hone_rng_below(&r, 27)) : ' ';
    T_OK(hone_tokenizer_load(&tok, dir));
    T_OK(hone_tokenizer_encode(tok, &e, text, sizeof text, true));
    assert_true(e.len > 500);
    hash = hone_hash_bytes(e.data, e.len * sizeof *e.data);
    HONE_VEC_DEINIT(&e);
    hone_tokenizer_destroy(&tok);
    return hash;
}

/* The one file in the cache; its inode tells whether it was written anew. */
static bool cache_file(fixture *f, ino_t *inode)
{
    char      **names;
    size_t      n;
    struct stat st;

    T_OK(hone_dir_list(&names, &n, f->cache));
    assert_true(n <= 1);
    if (n)
        snprintf(f->file, sizeof f->file, "%s/%s", f->cache, names[0]);
    hone_dir_list_free(names, n);
    if (n == 0 || stat(f->file, &st) != 0)
        return false;
    *inode = st.st_ino;
    return true;
}

static void the_same_tokens(void **state)
{
    (void)state;
    for (int unigram = 0; unigram < 2; unigram++) {
        fixture   f;
        hone_hash plain;
        ino_t     first, second;

        open_fixture(&f);
        write_tokenizer(&f, unigram);
        setenv("HONE_CACHE", "", 1);        /* off */
        plain = tokens(f.dir);
        assert_false(cache_file(&f, &first));
        setenv("HONE_CACHE", f.cache, 1);
        assert_string_equal(tokens(f.dir).hex, plain.hex);      /* writes */
        assert_true(cache_file(&f, &first));
        assert_string_equal(tokens(f.dir).hex, plain.hex);      /* reads */
        assert_true(cache_file(&f, &second));
        assert_true(first == second);
        close_fixture(&f);
    }
}

/* Cut short, a byte changed anywhere, other content: read from the tokenizer.json, and written anew. */
static void harmed_files_are_not_used(void **state)
{
    fixture   f;
    hone_hash plain;
    ino_t     inode;
    char     *data;
    size_t    n;

    (void)state;
    open_fixture(&f);
    write_tokenizer(&f, true);
    plain = tokens(f.dir);
    assert_true(cache_file(&f, &inode));
    T_OK(hone_file_read_all(&data, &n, f.file));
    for (int k = 0; k < 8; k++) {
        static const size_t places[] = { 0, 9, 17, 30, 70, 5000 };
        size_t              at = k < 6 ? places[k] : n - 1;
        char               *now;
        size_t              n_now;

        if (k < 7) {
            data[at] ^= 1;
            T_OK(hone_file_write_all(f.file, data, n));
            data[at] ^= 1;
        } else {
            T_OK(hone_file_write_all(f.file, data, n / 2));
        }
        assert_string_equal(tokens(f.dir).hex, plain.hex);
        T_OK(hone_file_read_all(&now, &n_now, f.file));
        assert_int_equal(n_now, n);
        assert_memory_equal(now, data, n);
        hone_free(now);
    }
    hone_free(data);
    close_fixture(&f);
}

static void a_cache_that_cannot_be_written_is_no_error(void **state)
{
    fixture   f;
    hone_hash plain;

    (void)state;
    open_fixture(&f);
    write_tokenizer(&f, false);
    setenv("HONE_CACHE", "/dev/null/nowhere", 1);
    plain = tokens(f.dir);
    assert_string_equal(tokens(f.dir).hex, plain.hex);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_tokens), cmocka_unit_test(harmed_files_are_not_used),
        cmocka_unit_test(a_cache_that_cannot_be_written_is_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
