/* Columns: in memory, in a temporary file, in a file of a name. */
#include "base/mem.h"
#include "data/column.h"
#include "hone_test.h"

enum { MANY = 700000 };

/* Append 0, 1, 2, … in pieces of growing size. */
static void fill(hone_column *c, int64_t n)
{
    int32_t *piece = hone_calloc(5000, sizeof *piece);
    int64_t  at = 0;

    for (int64_t size = 0; at < n; size = (size * 7 + 1) % 4999) {
        size = HONE_MIN(size, n - at);
        for (int64_t i = 0; i < size; i++)
            piece[i] = (int32_t)(at + i);
        T_OK(hone_column_append(c, piece, (size_t)size));
        at += size;
    }
    hone_free(piece);
}

static void check(const hone_column *c, int64_t n)
{
    assert_int_equal(c->len, n);
    for (int64_t i = 0; i < n; i++)
        if (((const int32_t *)c->data)[i] != i)
            fail_msg("element %lld is %d", (long long)i, ((const int32_t *)c->data)[i]);
}

static void memory_then_a_file(void **state)
{
    static const size_t limits[] = { 64, 4096, 1 << 21, 1 << 24 };
    const char *dir = t_temp_dir();
    char      **names;
    size_t      n;

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(limits); i++) {
        hone_column c;

        T_OK(hone_column_temporary(&c, sizeof(int32_t), limits[i], dir));
        fill(&c, MANY);
        T_OK(hone_column_finish(&c));
        assert_int_equal(c.fd != 0, limits[i] < MANY * sizeof(int32_t));
        check(&c, MANY);
        T_OK(hone_dir_list(&names, &n, dir));
        assert_int_equal(n, 0);                     /* the file has no name */
        hone_dir_list_free(names, n);
        hone_column_close(&c);
    }
    T_OK(hone_dir_remove(dir));
}

static void a_file_is_read_back(void **state)
{
    char       *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "x.ids");
    hone_column c;

    (void)state;
    T_OK(hone_column_create(&c, sizeof(int32_t), path));
    fill(&c, MANY);
    T_OK(hone_column_finish(&c));
    check(&c, MANY);
    hone_column_close(&c);
    T_OK(hone_column_open(&c, sizeof(int32_t), MANY, path));
    check(&c, MANY);
    hone_column_close(&c);
    T_STATUS(hone_column_open(&c, sizeof(int32_t), MANY + 1, path), HONE_E_FORMAT);
    T_ERROR_HAS("x.ids");
    hone_column_close(&c);
    T_STATUS(hone_column_open(&c, 8, MANY, path), HONE_E_FORMAT);
    hone_column_close(&c);
    T_STATUS(hone_column_create(&c, sizeof(int32_t), path), HONE_E_IO);     /* never over another */
    hone_column_close(&c);
    T_OK(hone_dir_remove(dir));
    hone_free(path);
    hone_free(dir);
}

static void empty_columns(void **state)
{
    char       *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "x");
    hone_column c;

    (void)state;
    T_OK(hone_column_temporary(&c, 8, 64, dir));
    T_OK(hone_column_finish(&c));
    assert_int_equal(c.len, 0);
    assert_non_null(c.data);
    hone_column_close(&c);
    T_OK(hone_column_create(&c, 8, path));
    T_OK(hone_column_finish(&c));
    hone_column_close(&c);
    T_OK(hone_column_open(&c, 8, 0, path));
    assert_non_null(c.data);
    hone_column_close(&c);
    T_OK(hone_dir_remove(dir));
    hone_free(path);
    hone_free(dir);
}

static void no_room_for_temporary_files(void **state)
{
    hone_column c;
    int32_t     piece[64] = { 0 };

    (void)state;
    T_OK(hone_column_temporary(&c, 4, 64, "/nonexistent"));
    T_STATUS(hone_column_append(&c, piece, 64), HONE_E_IO);
    T_ERROR_HAS("TMPDIR");
    hone_column_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_then_a_file),
        cmocka_unit_test(a_file_is_read_back),
        cmocka_unit_test(empty_columns),
        cmocka_unit_test(no_room_for_temporary_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
