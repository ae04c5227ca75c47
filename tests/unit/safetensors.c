/* Safetensors files: what is written is read back, bytes are kept, and every kind of broken file is refused with a reason. */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/safetensors.h"

/* A file image: length field, header, `data` bytes of 0, 1, 2, … */
static hone_str image(const char *header, size_t data)
{
    hone_str s = HONE_STR_INIT;
    uint64_t n = strlen(header);

    hone_str_append(&s, &n, 8);
    hone_str_puts(&s, header);
    for (size_t i = 0; i < data; i++)
        hone_str_putc(&s, (char)i);
    return s;
}

static void refused(const char *header, size_t data, hone_status want, const char *why)
{
    hone_safetensors *f = (hone_safetensors *)1;
    hone_str          s = image(header, data);

    T_STATUS(hone_safetensors_parse(&f, s.data, s.len, "m.safetensors"), want);
    assert_null(f);
    T_ERROR_HAS("m.safetensors");
    T_ERROR_HAS(why);
    hone_str_deinit(&s);
}

static void a_file_is_read(void **state)
{
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\",\"n\\u00e9\":\"\"},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[3,11]},"
        "\"a\":{\"shape\":[3],\"dtype\":\"U8\",\"data_offsets\":[0,3],\"ignored\":null},"
        "\"s\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[11,13]},"
        "\"e\":{\"dtype\":\"F64\",\"shape\":[4,0],\"data_offsets\":[13,13]}}   ";
    const hone_safetensor *t;
    hone_safetensors      *f;
    hone_str               s = image(header, 13);

    (void)state;
    T_OK(hone_safetensors_parse(&f, s.data, s.len, "m"));
    assert_int_equal(hone_safetensors_len(f), 4);
    assert_string_equal(hone_safetensors_at(f, 0)->name, "a");
    assert_string_equal(hone_safetensors_at(f, 1)->name, "b");
    assert_string_equal(hone_safetensors_at(f, 3)->name, "e");
    t = hone_safetensors_find(f, "b");
    assert_int_equal(t->dtype, HONE_DTYPE_F32);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->shape[0], 2);
    assert_int_equal(t->shape[1], 1);
    assert_int_equal(t->numel, 2);
    assert_int_equal(t->bytes, 8);
    assert_int_equal(((const unsigned char *)t->data)[0], 3);
    t = hone_safetensors_find(f, "s");
    assert_int_equal(t->rank, 0);
    assert_int_equal(t->numel, 1);
    assert_int_equal(hone_safetensors_find(f, "e")->numel, 0);
    assert_null(hone_safetensors_find(f, "__metadata__"));
    assert_null(hone_safetensors_find(f, "c"));
    assert_string_equal(json_string_value(json_object_get(hone_safetensors_metadata(f), "format")), "pt");
    hone_safetensors_close(&f);
    assert_null(f);
    hone_str_deinit(&s);

    s = image("{}", 0);
    T_OK(hone_safetensors_parse(&f, s.data, s.len, "m"));
    assert_int_equal(hone_safetensors_len(f), 0);
    assert_null(hone_safetensors_metadata(f));
    hone_safetensors_close(&f);
    hone_str_deinit(&s);
}

#define A(dtype, shape, range) "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" range "}}"
#define TWO(range_a, range_b)                                                      \
    "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" range_a "},"          \
    "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" range_b "}}"

static void broken_headers_are_refused(void **state)
{
    (void)state;
    refused("[]", 0, HONE_E_FORMAT, "does not start with '{'");
    refused("{\"a\":", 0, HONE_E_FORMAT, "broken JSON at column");
    refused("{\"a\xff\":1}", 0, HONE_E_FORMAT, "invalid UTF-8");
    refused("{} x", 0, HONE_E_FORMAT, "broken JSON");
    refused("{\"a\":1}", 0, HONE_E_FORMAT, "integer instead of an object");
    refused("{\"a\":{}}", 0, HONE_E_FORMAT, "no \"dtype\"");
    refused("{\"a\":{\"dtype\":\"U8\"}}", 0, HONE_E_FORMAT, "no \"shape\"");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}", 0, HONE_E_FORMAT, "data_offsets");
    refused("{\"__metadata__\":[]}", 0, HONE_E_FORMAT, "__metadata__ is array");
    refused("{\"__metadata__\":{\"x\":1}}", 0, HONE_E_FORMAT, "__metadata__ 'x' is integer");
    refused(A("\"F32\"", "[1]", "[0,4]") "}", 4, HONE_E_FORMAT, "broken JSON");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
            "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, HONE_E_FORMAT, "duplicate");
    refused(A("7", "[1]", "[0,4]"), 4, HONE_E_FORMAT, "no \"dtype\"");
    refused(A("\"float32\"", "[1]", "[0,4]"), 4, HONE_E_FORMAT, "unknown dtype \"float32\"");
    refused(A("\"F8_E4M3\"", "[1]", "[0,1]"), 1, HONE_E_UNSUPPORTED, "F8_E4M3");
    refused(A("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, HONE_E_UNSUPPORTED, "9 dimensions");
    refused(A("\"F32\"", "4", "[0,4]"), 4, HONE_E_FORMAT, "shape");
    refused(A("\"F32\"", "[-1]", "[0,4]"), 4, HONE_E_FORMAT, "dimension 0");
    refused(A("\"F32\"", "[1,1.5]", "[0,4]"), 4, HONE_E_FORMAT, "dimension 1");
    refused(A("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, HONE_E_FORMAT, "overflows");
    refused(A("\"F32\"", "[9223372036854775807,1]", "[0,0]"), 0, HONE_E_FORMAT, "overflows");
    refused(A("\"F32\"", "[99999999999999999999]", "[0,4]"), 4, HONE_E_FORMAT, "is not a size");
    refused(A("\"F32\"", "[1]", "[0]"), 4, HONE_E_FORMAT, "data_offsets");
    refused(A("\"F32\"", "[1]", "[0,4,8]"), 4, HONE_E_FORMAT, "data_offsets");
    refused(A("\"F32\"", "[1]", "{}"), 4, HONE_E_FORMAT, "data_offsets");
    refused(A("\"F32\"", "[1]", "[4,0]"), 4, HONE_E_FORMAT, "data_offsets");
    refused(A("\"F32\"", "[1]", "[-4,0]"), 4, HONE_E_FORMAT, "data_offsets");
    refused(A("\"F32\"", "[2]", "[0,4]"), 4, HONE_E_FORMAT, "need 8 bytes, but its data_offsets span 4");
}

static void wrong_ranges_are_refused(void **state)
{
    (void)state;
    refused(TWO("[0,4]", "[3,7]"), 7, HONE_E_FORMAT, "tensors 'a' and 'b' overlap");
    refused(TWO("[0,4]", "[0,4]"), 4, HONE_E_FORMAT, "overlap");
    refused(TWO("[4,8]", "[3,7]"), 8, HONE_E_FORMAT, "bytes 0 to 3");
    refused(TWO("[5,9]", "[0,4]"), 9, HONE_E_FORMAT, "bytes 4 to 5 of the data, before tensor 'a'");
    refused(TWO("[0,4]", "[4,8]"), 7, HONE_E_FORMAT, "the file is cut off");
    refused(TWO("[0,4]", "[4,8]"), 0, HONE_E_FORMAT, "the data of tensor 'a' ends at byte 4, but only 0 are there");
    refused(TWO("[0,4]", "[4,8]"), 9, HONE_E_FORMAT, "1 bytes follow");
    refused(A("\"U8\"", "[9223372036854775807]", "[0,9223372036854775807]"), 9, HONE_E_FORMAT, "cut off");
}

/* Bytes that are no safetensors file at all. */
static void other_files_are_named(void **state)
{
    static const struct { const char *bytes; size_t n; const char *why; } cases[] = {
        { "", 0, "is empty" },
        { "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 5\n", 64, "git lfs pull" },
        { "{}", 2, "too few" },
        { "PK\3\4xxxxxxxxxxxx", 16, "PyTorch" },
        { "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "is cut off or not a safetensors file" },
        { "\3\0\0\0\0\0\0\0{}", 10, "should have 3 bytes, but the file has only 10" },
        { "\0\0\0\0\0\0\0\0{}", 10, "does not start with" },
    };
    char             *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "x.safetensors");
    hone_safetensors *f;

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        T_OK(hone_file_write_all(path, cases[i].bytes, cases[i].n));
        T_STATUS(hone_safetensors_open(&f, path), HONE_E_FORMAT);
        T_ERROR_HAS(path);
        T_ERROR_HAS(cases[i].why);
    }
    T_OK(hone_dir_remove(dir));
    T_STATUS(hone_safetensors_open(&f, path), HONE_E_IO);
    T_ERROR_HAS(path);
    hone_free(path);
    hone_free(dir);
}

/* The limit on headers is the format's, not the file's: 100 MB, held in a sparse file. */
static void a_giant_header_is_refused(void **state)
{
    char             *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "x.safetensors");
    uint64_t          n = 100000001;
    hone_safetensors *f;

    (void)state;
    T_OK(hone_file_write_all(path, &n, 8));
    assert_int_equal(truncate(path, 8 + (off_t)n), 0);
    T_STATUS(hone_safetensors_open(&f, path), HONE_E_FORMAT);
    T_ERROR_HAS("limit of 100000000");
    T_OK(hone_dir_remove(dir));
    hone_free(path);
    hone_free(dir);
}

static const hone_safetensor specs[] = {
    { .name = "wide", .dtype = HONE_DTYPE_F64, .rank = 1, .shape = { 3 } },
    { .name = "none", .dtype = HONE_DTYPE_F32, .rank = 2, .shape = { 0, 5 } },
    { .name = "w\"q\n", .dtype = HONE_DTYPE_BF16, .rank = 2, .shape = { 3, 5 } },
    { .name = "scalar", .dtype = HONE_DTYPE_F32, .rank = 0 },
    { .name = "ids", .dtype = HONE_DTYPE_I32, .rank = 1, .shape = { 2 } },
};

static void a_written_file_is_read_back(void **state)
{
    char             *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "a"), *again = hone_path_join(dir, "b");
    double            wide[3] = { 1, -2, 1e300 };
    float             w[15], scalar = 7;
    int32_t           ids[2] = { -1, 1 << 30 };
    json_t           *meta = json_pack("{s:s}", "format", "pt");
    hone_hash         hash, file_hash;
    int64_t           size;
    hone_safetensors *f;
    hone_safetensors_writer *out;
    const hone_safetensor   *t;
    char             *x, *y;
    size_t            nx, ny;

    (void)state;
    for (int i = 0; i < 15; i++)
        w[i] = (float)i;
    T_OK(hone_safetensors_writer_create(&out, path, specs, HONE_COUNTOF(specs), meta));
    T_OK(hone_safetensors_writer_put(out, wide, HONE_DTYPE_F64, 3, true));
    T_OK(hone_safetensors_writer_put(out, w, HONE_DTYPE_F32, 4, true));      /* in pieces, converted */
    T_OK(hone_safetensors_writer_put(out, w + 4, HONE_DTYPE_F32, 11, true));
    T_OK(hone_safetensors_writer_put(out, &scalar, HONE_DTYPE_F32, 1, true));
    T_OK(hone_safetensors_writer_put(out, ids, HONE_DTYPE_I32, 2, true));
    assert_false(hone_path_exists(path));
    T_OK(hone_safetensors_writer_commit(&out, &hash, &size));
    assert_null(out);
    T_OK(hone_hash_file(&file_hash, path));
    assert_string_equal(hash.hex, file_hash.hex);
    assert_int_equal(size, hone_file_size(path));

    T_OK(hone_safetensors_open(&f, path));
    assert_int_equal(hone_safetensors_len(f), 5);
    for (size_t i = 0; i < 5; i++) {
        t = hone_safetensors_at(f, i);
        assert_string_equal(t->name, specs[i].name);
        assert_int_equal(t->dtype, specs[i].dtype);
        assert_int_equal(t->rank, specs[i].rank);
        assert_memory_equal(t->shape, specs[i].shape, sizeof t->shape);
        if (i < 2)
            assert_int_equal((uintptr_t)t->data % 8, 0);
    }
    assert_memory_equal(hone_safetensors_at(f, 0)->data, wide, sizeof wide);
    for (int i = 0; i < 15; i++)
        assert_true(hone_bf16_to_f32(((const uint16_t *)hone_safetensors_at(f, 2)->data)[i]) == (float)i);
    assert_memory_equal(hone_safetensors_find(f, "ids")->data, ids, sizeof ids);
    assert_true(json_equal(hone_safetensors_metadata(f), meta));

    T_OK(hone_safetensors_writer_create_like(&out, again, f));
    for (size_t i = 0; i < 5; i++) {
        t = hone_safetensors_at(f, i);
        T_OK(hone_safetensors_writer_put(out, t->data, t->dtype, t->numel, false));
    }
    T_OK(hone_safetensors_writer_commit(&out, NULL, NULL));
    hone_safetensors_close(&f);
    T_OK(hone_file_read_all(&x, &nx, path));
    T_OK(hone_file_read_all(&y, &ny, again));
    assert_int_equal(nx, ny);
    assert_memory_equal(x, y, nx);
    hone_free(x);
    hone_free(y);
    json_decref(meta);
    T_OK(hone_dir_remove(dir));
    hone_free(path);
    hone_free(again);
    hone_free(dir);
}

/* What other tools wrote keeps its bytes: keys in another order, odd spaces, an unaligned header. */
static void odd_headers_keep_their_bytes(void **state)
{
    hone_str          s = image("{ \"b\":{\"data_offsets\":[2,6], \"shape\":[1],\"dtype\":\"F32\"},\n"
                                "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 6);
    char             *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "a"), *x;
    hone_safetensors *f;
    size_t            n;
    hone_safetensors_writer *out;

    (void)state;
    T_OK(hone_safetensors_parse(&f, s.data, s.len, "m"));
    T_OK(hone_safetensors_writer_create_like(&out, path, f));
    for (size_t i = 0; i < 2; i++) {
        const hone_safetensor *t = hone_safetensors_at(f, i);

        T_OK(hone_safetensors_writer_put(out, t->data, t->dtype, t->numel, false));
    }
    T_OK(hone_safetensors_writer_commit(&out, NULL, NULL));
    T_OK(hone_file_read_all(&x, &n, path));
    assert_int_equal(n, s.len);
    assert_memory_equal(x, s.data, n);
    hone_free(x);
    hone_safetensors_close(&f);
    hone_str_deinit(&s);
    T_OK(hone_dir_remove(dir));
    hone_free(path);
    hone_free(dir);
}

static void the_writer_refuses_what_it_should(void **state)
{
    static const hone_safetensor twice[] = { { .name = "a", .dtype = HONE_DTYPE_F32, .rank = 0 },
                                             { .name = "a", .dtype = HONE_DTYPE_F32, .rank = 0 } };
    static const hone_safetensor half = { .name = "h", .dtype = HONE_DTYPE_F16, .rank = 1, .shape = { 40000 } };
    char   *dir = hone_strdup(t_temp_dir()), *path = hone_path_join(dir, "a"), **names;
    float  *v = hone_calloc(40000, sizeof *v);
    size_t  n;
    int32_t one = 1;
    hone_safetensors_writer *out;

    (void)state;
    T_STATUS(hone_safetensors_writer_create(&out, path, twice, 2, NULL), HONE_E_FORMAT);
    T_ERROR_HAS("'a'");
    assert_null(out);

    T_OK(hone_safetensors_writer_create(&out, path, &half, 1, NULL));
    T_STATUS(hone_safetensors_writer_put(out, &one, HONE_DTYPE_I32, 1, false), HONE_E_UNSUPPORTED);
    T_STATUS(hone_safetensors_writer_put(out, v, HONE_DTYPE_F32, 40001, false), HONE_E_SHAPE);
    v[35000] = NAN;
    T_STATUS(hone_safetensors_writer_put(out, v, HONE_DTYPE_F32, 40000, true), HONE_E_NUMERIC);
    T_ERROR_HAS("'h', element 35000 is NaN");
    hone_safetensors_writer_abandon(&out);

    T_OK(hone_safetensors_writer_create(&out, path, &half, 1, NULL));
    v[36000] = 1e6f;    /* infinite in F16; the NaN before it is allowed here */
    T_STATUS(hone_safetensors_writer_put(out, v, HONE_DTYPE_F32, 40000, false), HONE_E_NUMERIC);
    T_ERROR_HAS("element 36000: 1e+06 is too large for F16");
    hone_safetensors_writer_abandon(&out);

    T_OK(hone_safetensors_writer_create(&out, path, &half, 1, NULL));
    v[36000] = INFINITY;
    T_OK(hone_safetensors_writer_put(out, v, HONE_DTYPE_F32, 39999, false));
    T_STATUS(hone_safetensors_writer_commit(&out, NULL, NULL), HONE_E_SHAPE);
    T_ERROR_HAS("'h' is not complete");
    assert_null(out);

    T_OK(hone_dir_list(&names, &n, dir));
    assert_int_equal(n, 0);
    hone_dir_list_free(names, n);
    T_OK(hone_dir_remove(dir));
    T_STATUS(hone_safetensors_writer_create(&out, path, &half, 1, NULL), HONE_E_IO);
    hone_free(v);
    hone_free(path);
    hone_free(dir);
}

static void running_out_of_memory_is_clean(void **state)
{
    hone_str          s = image(TWO("[0,4]", "[4,8]"), 8);
    hone_safetensors *f;
    hone_status       st;
    int               n = 0;

    (void)state;
    for (;; n++) {
        hone_mem_fail_at(n);
        st = hone_safetensors_parse(&f, s.data, s.len, "m");
        if (!hone_mem_fail_reached())
            break;
        hone_mem_fail_at(-1);
        T_STATUS(st, HONE_E_NOMEM);
        assert_null(f);
    }
    hone_mem_fail_at(-1);
    assert_true(n > 5);
    T_OK(st);
    hone_safetensors_close(&f);
    hone_str_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(broken_headers_are_refused),
        cmocka_unit_test(wrong_ranges_are_refused),
        cmocka_unit_test(other_files_are_named),
        cmocka_unit_test(a_giant_header_is_refused),
        cmocka_unit_test(a_written_file_is_read_back),
        cmocka_unit_test(odd_headers_keep_their_bytes),
        cmocka_unit_test(the_writer_refuses_what_it_should),
        cmocka_unit_test(running_out_of_memory_is_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
