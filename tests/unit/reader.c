/* Readers: rows of every kind of file, across the borders of buffers and blocks; what is refused, and where it stands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/rng.h"
#include "data/reader/reader_int.h"
#include "hone_test.h"

static char dir[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return hone_dir_remove(dir) == HONE_OK ? 0 : -1;
}

/* dir/name; static storage, good until the next call. */
static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void write_text(const char *name, const char *text) { write_bytes(name, text, strlen(text)); }

static void gzip(hone_str *out, const char *text, size_t n)
{
    z_stream z = { 0 };
    char    *to = malloc(n + 1024);

    assert_non_null(to);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)(n + 1024);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    hone_str_append(out, to, n + 1024 - z.avail_out);
    deflateEnd(&z);
    free(to);
}

static void zstd(hone_str *out, const char *text, size_t n)
{
    size_t cap = ZSTD_compressBound(n);
    char  *to = malloc(cap);

    assert_non_null(to);
    hone_str_append(out, to, ZSTD_compress(to, cap, text, n, 3));
    free(to);
}

/* All rows as "line:JSON;…", and how many; or the failure. */
static hone_status read_all(hone_str *out, int64_t *rows, hone_reader *r, size_t max_rows, size_t max_bytes)
{
    hone_row_block block = { 0 };
    hone_status    st = HONE_OK;

    hone_str_clear(out);
    *rows = 0;
    do {
        HONE_GO(hone_reader_next(r, &block, max_rows, max_bytes));
        assert_true(block.rows.len <= max_rows);
        for (size_t i = 0; i < block.rows.len; i++) {
            json_t *value;

            assert_int_equal(block.rows.data[i].row, (*rows)++);
            HONE_GO(hone_reader_parse(&value, r, &block, i));
            hone_str_printf(out, "%lld:", (long long)block.rows.data[i].line);
            hone_json_dump(out, value, false);
            hone_str_putc(out, ';');
            json_decref(value);
        }
    } while (block.rows.len);
out:
    hone_row_block_deinit(&block);
    return st;
}

/* Counting and going back change nothing. */
static void read_again(const hone_str *want, int64_t want_rows, hone_reader *r)
{
    hone_str again = HONE_STR_INIT;
    int64_t  rows;

    T_OK(hone_reader_count(r, -1, &rows));
    assert_int_equal(rows, want_rows);
    T_OK(read_all(&again, &rows, r, 7, 100));
    assert_string_equal(hone_str_c(&again), hone_str_c(want));
    T_OK(hone_reader_count(r, 1, &rows));
    assert_int_equal(rows, HONE_MIN(want_rows, 1));
    T_OK(hone_reader_rewind(r));
    T_OK(read_all(&again, &rows, r, 2, 100));
    assert_string_equal(hone_str_c(&again), hone_str_c(want));
    hone_str_deinit(&again);
}

/* Read the file in several ways, which must agree; `out` is as from read_all. */
static hone_status read_file(hone_str *out, const char *name)
{
    static const size_t ways[][3] = { { 1 << 18, 1000000, 1 << 20 }, { 16, 1, 1 << 20 }, { 17, 3, 5 }, { 64, 1000, 1 } };
    hone_str     one = HONE_STR_INIT;
    hone_reader *r;
    hone_status  st = HONE_OK;

    for (size_t i = 0; i < HONE_COUNTOF(ways); i++) {
        int64_t     rows = 0;
        hone_status way = reader_open(&r, path_of(name), ways[i][0]);

        if (way == HONE_OK)
            way = read_all(i ? &one : out, &rows, r, ways[i][1], ways[i][2]);
        if (i == 0)
            st = way;
        assert_int_equal(way, st);
        if (way == HONE_OK && i > 0)
            assert_string_equal(hone_str_c(&one), hone_str_c(out));
        if (way == HONE_OK)
            read_again(out, rows, r);
        hone_reader_close(&r);
    }
    hone_str_deinit(&one);
    return st;
}

static void reads(const char *name, const char *text, const char *rows)
{
    hone_str out = HONE_STR_INIT;

    write_text(name, text);
    T_OK(read_file(&out, name));
    assert_string_equal(hone_str_c(&out), rows);
    hone_str_deinit(&out);
}

static void refuses(const char *name, const char *text, size_t n, hone_status want, const char *message)
{
    hone_str out = HONE_STR_INIT;

    write_bytes(name, text, n ? n : strlen(text));
    T_STATUS(read_file(&out, name), want);
    T_ERROR_HAS(name);
    T_ERROR_HAS(message);
    hone_str_deinit(&out);
}

/* ---- kinds ---- */

/* Byte order mark, CRLF, blank lines, no final newline, a line separator of Unicode inside a string. */
static void lines_with_odd_ends(void **state)
{
    (void)state;
    reads("a.jsonl", "\xEF\xBB\xBF{\"a\": 1}\r\n\r\n  \t\n {\"a\": \"x\xE2\x80\xA8y\"} \n{\"a\": 3}",
          "1:{\"a\":1};4:{\"a\":\"x\xE2\x80\xA8y\"};5:{\"a\":3};");
    reads("a.txt", "\xEF\xBB\xBFone\r\n\r\n\n two \x0B\xE2\x80\xA8 \r\n \nthree", "1:\"one\";4:\" two \\u000b\xE2\x80\xA8 \";5:\" \";6:\"three\";");
    for (const char *names = "a.json\0a.jsonl\0a.csv\0a.tsv\0a.txt\0"; *names; names += strlen(names) + 1) {
        reads(names, "", "");
        reads(names, "\n", "");
        reads(names, "\xEF\xBB\xBF\r\n\n", "");
    }
}

/* Rows need not have the same keys, nor a key the same type. */
static void rows_of_any_shape(void **state)
{
    (void)state;
    reads("a.jsonl", "{\"messages\":[]}\n{\"messages\":[],\"id\":1}\n{\"messages\":[{\"arguments\":{}}]}\n{\"messages\":[{\"arguments\":\"{}\"}]}\n"
          "{\"messages\":[],\"tools\":null}\n",
          "1:{\"messages\":[]};2:{\"messages\":[],\"id\":1};3:{\"messages\":[{\"arguments\":{}}]};4:{\"messages\":[{\"arguments\":\"{}\"}]};"
          "5:{\"messages\":[],\"tools\":null};");
}

static void json_arrays_and_values(void **state)
{
    static const char *const names[] = { "a.json", "a.jsonl" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        reads(names[i], " [ ]\n", "");
        reads(names[i], "[{\"a\":\"\\n\"},{\"a\":\"\\u0041]\\\\\"}]", "1:{\"a\":\"\\n\"};1:{\"a\":\"A]\\\\\"};");
        reads(names[i], "[{\"a\":1},{\"b\":\"]},{\\\"\\\\\"} , {\"c\":[[],{}]}]", "1:{\"a\":1};1:{\"b\":\"]},{\\\"\\\\\"};1:{\"c\":[[],{}]};");
        reads(names[i], "\n[\n  {\n    \"a\": [1,\n 2]},\n  {\"a\": 3}\n]\n\n", "3:{\"a\":[1,2]};6:{\"a\":3};");
    }
    reads("a.json", "{\n\"a\":\n[1, 2]}\n", "1:{\"a\":[1,2]};");
    reads("a.json", "{\"a\":1}\r\n{\"a\":2}\n\n{\"a\":3}", "1:{\"a\":1};2:{\"a\":2};4:{\"a\":3};");
    reads("a.json", "{\n \"a\":1\n}\n{\n \"a\":2\n}\n", "1:{\"a\":1};4:{\"a\":2};");
}

static void broken_json(void **state)
{
    char deep[5000];

    (void)state;
    refuses("a.jsonl", "{\"a\": 1}\n\n{\"a\": 1\n", 0, HONE_E_FORMAT, "line 3: broken JSON at column 7");
    refuses("a.jsonl", "{\"a\": 1}\n{\"a\": 1} x\n", 0, HONE_E_FORMAT, "line 2: broken JSON at column 10");
    refuses("a.jsonl", "{\"a\": 1}\n\n{\"a\": \"\xC3\x28\"}\n", 0, HONE_E_FORMAT, "line 3: invalid UTF-8: byte 0xc3 at byte 8 of the line");
    refuses("a.json", "[{\"a\": 1},\n {\"b\": \"\n\xFF\"}]", 0, HONE_E_FORMAT, "line 2: broken JSON at column 9: a line ends inside a string");
    refuses("a.json", "[{\"a\": 1},\n {\"a\": [1\n, 2}]", 0, HONE_E_FORMAT, "line 3: broken JSON at column 4: a bracket");
    refuses("a.json", "[{\"a\": 1},  {\"a\" 2}]", 0, HONE_E_FORMAT, "line 1: broken JSON at column 18");
    refuses("a.json", "[{\"a\": 1},\n{\"a\": 2}\n", 0, HONE_E_FORMAT, "line 3: the array of rows is not closed");
    refuses("a.json", "[{\"a\": 1},\n{\"a\": ", 0, HONE_E_FORMAT, "line 2: the array of rows is not closed");
    refuses("a.json", "[{\"a\": 1}\n{\"a\": 2}]", 0, HONE_E_FORMAT, "line 2: broken JSON: expected \",\"");
    refuses("a.json", "[{\"a\": 1},\n]", 0, HONE_E_FORMAT, "line 2: a row is missing before \"]\"");
    refuses("a.json", "[,{\"a\": 1}]", 0, HONE_E_FORMAT, "a row is missing before \",\"");
    refuses("a.json", "[{\"a\": 1}]\n{}", 0, HONE_E_FORMAT, "line 2: more text");
    refuses("a.json", "{\"a\": 1},\n{\"a\": 2}", 0, HONE_E_FORMAT, "line 1: broken JSON at column");
    refuses("a.json", "{\"a\": 1", 0, HONE_E_FORMAT, "line 1: broken JSON");
    refuses("a.json", "}\n", 0, HONE_E_FORMAT, "line 1: broken JSON");
    memset(deep, '[', sizeof deep);
    refuses("a.json", deep, sizeof deep, HONE_E_FORMAT, "more than 2048 deep");
}

/* What is before a fault is read before it is told. */
static void rows_before_a_fault(void **state)
{
    hone_row_block block = { 0 };
    hone_reader   *r;

    (void)state;
    write_text("a.json", "[{\"a\": 1}, {\"a\": 2},\n{\"a\": 3]]");
    T_OK(hone_reader_open(&r, path_of("a.json")));
    for (int pass = 0; pass < 2; pass++) {
        T_OK(hone_reader_next(r, &block, 100, 1000));
        assert_int_equal(block.rows.len, 2);
        for (int again = 0; again < 2; again++) {
            T_STATUS(hone_reader_next(r, &block, 100, 1000), HONE_E_FORMAT);
            T_ERROR_HAS("a.json: line 2: broken JSON at column 8");
            assert_int_equal(block.rows.len, 0);
        }
        T_OK(hone_reader_rewind(r));
    }
    hone_reader_close(&r);
    hone_row_block_deinit(&block);
}

static void csv_records(void **state)
{
    (void)state;
    reads("a.csv", "a,b\n1,2\n", "2:{\"a\":\"1\",\"b\":\"2\"};");
    reads("a.csv", "\xEF\xBB\xBF\"a\",b c\r\n\r\n\"x, \"\"y\"\"\r\n\n\",  z \r\n ,\"\"\r\n",
          "3:{\"a\":\"x, \\\"y\\\"\\r\\n\\n\",\"b c\":\"  z \"};6:{\"a\":\" \",\"b c\":null};");
    reads("a.csv", "a\n\n\"\"\n  \nx", "3:{\"a\":null};5:{\"a\":\"x\"};");
    reads("a.csv", "a,b\n5\" pipe,NA\n", "2:{\"a\":\"5\\\" pipe\",\"b\":\"NA\"};");
    reads("a.csv", ",a,\n0,x,1\n", "2:{\"a\":\"x\"};");      /* columns without a name: a table's index */
    reads("a.csv", "a;b\n1;2\n", "2:{\"a;b\":\"1;2\"};");
    reads("a.csv", "a,b\n", "");
    reads("a.csv", "a,b", "");
    reads("a.tsv", "a\tb\n1,2\t\"x\ty\"\n\t\n", "2:{\"a\":\"1,2\",\"b\":\"x\\ty\"};3:{\"a\":null,\"b\":null};");
}

static void broken_csv(void **state)
{
    (void)state;
    refuses("a.csv", "a,b\n1,2\n1\n", 0, HONE_E_FORMAT, "line 3: 1 fields, but the header names 2");
    refuses("a.csv", "a,b\n\n1,2,3\n", 0, HONE_E_FORMAT, "line 3: more than 2 fields, but the header names 2");
    refuses("a.csv", "a,b,a\n1,2,3\n", 0, HONE_E_FORMAT, "line 1: the header names the column \"a\" twice");
    refuses("a.csv", "a,b\n\"1\n2\",3\n\"x\" y,2\n", 0, HONE_E_FORMAT, "line 4: text behind the closing quote");
    refuses("a.csv", "a,b\n1,2\n1,\"2\n3,4\n", 0, HONE_E_FORMAT, "line 3: a quoted field is not closed");
    refuses("a.csv", "\"a,b\n1,2\n", 0, HONE_E_FORMAT, "line 1: a quoted field is not closed");
    refuses("a.csv", "a,b\n1,\"\n\xFF\"\n", 0, HONE_E_FORMAT, "line 3: invalid UTF-8: byte 0xff at byte 1");
    refuses("a.csv", "a\xFF,b\n", 0, HONE_E_FORMAT, "line 1: invalid UTF-8: byte 0xff at byte 2");
    refuses("a.csv", "a\0,b\n", 5, HONE_E_FORMAT, "line 1: a NUL byte");
    refuses("a.tsv", "a\tb\n1\n", 0, HONE_E_FORMAT, "a field with a tab");
    refuses("a.txt", "a\nb\xF0\x9F\nc\n", 0, HONE_E_FORMAT, "line 2: invalid UTF-8: byte 0xf0 at byte 2");
}

/* ---- archives ---- */

static void packed(const char *text, const char *name, hone_str *out)
{
    hone_str_clear(out);
    (hone_ends_with(name, ".gz") ? gzip : zstd)(out, text, strlen(text));
}

static void archives(void **state)
{
    hone_str    bytes = HONE_STR_INIT, more = HONE_STR_INIT, rows = HONE_STR_INIT, whole = HONE_STR_INIT;
    const char *inner[][3] = { { "a.jsonl", "{\"a\":1}\n{\"a\":2}", "1:{\"a\":1};2:{\"a\":2};" },
                               { "a.json", "[{\"a\":1},\n{\"a\":2}]", "1:{\"a\":1};2:{\"a\":2};" },
                               { "a.csv", "a\n\"1\n\"\n2", "2:{\"a\":\"1\\n\"};4:{\"a\":\"2\"};" },
                               { "a.txt", "\xEF\xBB\xBF" "1\n2\n", "1:\"1\";2:\"2\";" } };

    (void)state;
    for (size_t i = 0; i < 2 * HONE_COUNTOF(inner); i++) {
        char name[32];

        snprintf(name, sizeof name, "%s.%s", inner[i / 2][0], i % 2 ? "gz" : "zst");
        packed(inner[i / 2][1], name, &bytes);
        write_bytes(name, bytes.data, bytes.len);
        T_OK(read_file(&rows, name));
        assert_string_equal(hone_str_c(&rows), inner[i / 2][2]);

        /* cut short anywhere, it is an error */
        for (size_t n = 0; n < bytes.len; n++) {
            write_bytes(name, bytes.data, n);
            T_STATUS(read_file(&rows, name), HONE_E_FORMAT);
            T_ERROR_HAS(name);
        }
        /* several members are one text; then zeros are padding for gzip, anything else is an error */
        packed("", name, &whole);
        hone_str_append(&whole, bytes.data, bytes.len);
        packed("", name, &more);
        hone_str_append(&whole, more.data, more.len);
        write_bytes(name, whole.data, whole.len);
        T_OK(read_file(&rows, name));
        assert_string_equal(hone_str_c(&rows), inner[i / 2][2]);
        hone_str_append(&whole, "\0\0\0\0\0\0\0\0", 8);
        write_bytes(name, whole.data, whole.len);
        T_STATUS(read_file(&rows, name), i % 2 ? HONE_OK : HONE_E_FORMAT);
        hone_str_puts(&whole, "garbage");
        write_bytes(name, whole.data, whole.len);
        T_STATUS(read_file(&rows, name), HONE_E_FORMAT);
        T_ERROR_HAS("the archive is broken near its byte");
        /* a byte changed in the middle: the checksum of gzip, the structure of zstd */
        if (i % 2) {
            bytes.data[bytes.len / 2] ^= 0x10;
            write_bytes(name, bytes.data, bytes.len);
            T_STATUS(read_file(&rows, name), HONE_E_FORMAT);
        }
    }
    hone_str_deinit(&bytes);
    hone_str_deinit(&more);
    hone_str_deinit(&rows);
    hone_str_deinit(&whole);
}

static void archives_of_archives(void **state)
{
    hone_str a = HONE_STR_INIT, b = HONE_STR_INIT;

    (void)state;
    gzip(&a, "{}\n", 3);
    zstd(&b, a.data, a.len);
    refuses("a.jsonl.zst", b.data, b.len, HONE_E_FORMAT, "what is packed in it is gzip data; unpack it once");
    refuses("a.jsonl.gz.zst", b.data, b.len, HONE_E_UNSUPPORTED, "an archive of an archive");
    refuses("a.gz", a.data, a.len, HONE_E_UNSUPPORTED, "does not say what is packed in it; it must end as in data.jsonl.gz");
    hone_str_deinit(&a);
    hone_str_deinit(&b);
}

/* A window beyond what is set aside for unpacking. */
static void a_wide_zstd_window(void **state)
{
    static const char wide[] = "\x28\xB5\x2F\xFD\x00\xA0\x01\x00\x00";      /* a frame with a window of 1 GiB, an empty block */

    (void)state;
    refuses("a.txt.zst", wide, sizeof wide - 1, HONE_E_UNSUPPORTED, "without --long");
}

/* ---- what is refused ---- */

static void names_and_contents(void **state)
{
    static const struct { const char *name, *bytes; size_t n; hone_status status; const char *message; } cases[] = {
        { "a.parquet", "PAR1", 4, HONE_E_UNSUPPORTED, "hone does not read .parquet files; write it as .jsonl" },
        { "a.arrow", "x", 1, HONE_E_UNSUPPORTED, ".arrow files; write it as .jsonl" },
        { "a.feather", "x", 1, HONE_E_UNSUPPORTED, ".feather files; write it as .jsonl" },
        { "a.xlsx", "x", 1, HONE_E_UNSUPPORTED, "save the sheet as .csv" },
        { "a.tar.gz", "x", 1, HONE_E_UNSUPPORTED, ".tar files; unpack it" },
        { "a.tgz", "x", 1, HONE_E_UNSUPPORTED, "unpack it" },
        { "a.zip", "x", 1, HONE_E_UNSUPPORTED, "unpack it" },
        { "a.jsonl.bz2", "x", 1, HONE_E_UNSUPPORTED, "pack it with gzip or zstd" },
        { "a.jsonl.xz", "x", 1, HONE_E_UNSUPPORTED, "pack it with gzip or zstd" },
        { "a.yaml", "x", 1, HONE_E_UNSUPPORTED, "hone reads .json, .jsonl, .csv, .tsv, .txt, each also as .gz or .zst" },
        { "json", "x", 1, HONE_E_UNSUPPORTED, "goes by the ending" },
        { "a.jsonl", "\x1F\x8B\x08", 3, HONE_E_FORMAT, "it is gzip data, which its name does not say; give it the ending .gz" },
        { "a.csv", "\x28\xB5\x2F\xFD", 4, HONE_E_FORMAT, "it is zstd data" },
        { "a.csv", "PK\x03\x04", 4, HONE_E_FORMAT, "it is a zip archive" },
        { "a.txt", "\xFF\xFEh\0i\0", 6, HONE_E_FORMAT, "it is UTF-16 text, which its name does not say; save it as UTF-8" },
        { "a.jsonl.gz", "{\"a\": 1}\n", 9, HONE_E_FORMAT, "it is not gzip data, which its name says; if it is not packed" },
        { "a.jsonl.zst", "{\"a\": 1}\n", 9, HONE_E_FORMAT, "it is not zstd data" },
        { "a.jsonl.zst", "\x1F\x8B\x08", 3, HONE_E_FORMAT, "but gzip data; name it .gz" },
        { "a.jsonl.gz", "", 0, HONE_E_FORMAT, "it is empty" },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        refuses(cases[i].name, cases[i].bytes, cases[i].n, cases[i].status, cases[i].message);
    assert_true(hone_reader_knows("x/a.json.gz"));
    assert_false(hone_reader_knows("x.json/a"));
    assert_false(hone_reader_knows("x.json/.gz"));
    assert_false(hone_reader_knows(".gz"));
    assert_false(hone_reader_knows("/"));
}

static void what_is_no_file(void **state)
{
    hone_reader *r;

    (void)state;
    T_STATUS(hone_reader_open(&r, path_of("none.jsonl")), HONE_E_IO);
    T_ERROR_HAS("No such file");
    assert_null(r);
    assert_int_equal(mkdir(path_of("dir.jsonl"), 0777), 0);
    T_STATUS(hone_reader_open(&r, path_of("dir.jsonl")), HONE_E_IO);
    T_ERROR_HAS("it is a folder");
    assert_int_equal(mkfifo(path_of("pipe.csv"), 0666), 0);
    T_STATUS(hone_reader_open(&r, path_of("pipe.csv")), HONE_E_IO);
    T_ERROR_HAS("not a regular file");
    assert_int_equal(symlink("/dev/zero", path_of("zero.txt")), 0);
    T_STATUS(hone_reader_open(&r, path_of("zero.txt")), HONE_E_IO);
    assert_int_equal(symlink("loop.txt", path_of("loop.txt")), 0);
    T_STATUS(hone_reader_open(&r, path_of("loop.txt")), HONE_E_IO);
    T_ERROR_HAS(strerror(ELOOP));
}

/* ---- much data ---- */

/* Rows of random lengths, some longer than the buffer and the block. */
static void long_rows(void **state)
{
    hone_str lines = HONE_STR_INIT, array = HONE_STR_INIT, csv = HONE_STR_INIT, bytes = HONE_STR_INIT;
    hone_str want = HONE_STR_INIT, got = HONE_STR_INIT;
    hone_rng rng = hone_rng_make(1, 2);

    (void)state;
    hone_str_puts(&csv, "a,n\n");
    for (int row = 0; row < 60; row++) {
        size_t n = row == 20 ? 700000 : row % 7 == 0 ? hone_rng_below(&rng, 40000) : hone_rng_below(&rng, 40);

        hone_str_clear(&bytes);
        for (size_t i = 0; i < n; i++)
            hone_str_putc(&bytes, "abc ,]}{[:"[hone_rng_below(&rng, 10)]);
        hone_str_puts(&array, row ? ",\n" : "[");
        hone_str_printf(&lines, "{\"a\":\"%s\",\"n\":\"%d\"}\n", hone_str_c(&bytes), row);
        hone_str_printf(&array, "{\"a\":\"%s\",\"n\":\"%d\"}", hone_str_c(&bytes), row);
        hone_str_printf(&csv, "\"%s\",%d\n", hone_str_c(&bytes), row);
    }
    hone_str_puts(&array, "]");
    write_bytes("a.jsonl", lines.data, lines.len);
    write_bytes("a.json", array.data, array.len);
    write_bytes("b.json", lines.data, lines.len);
    T_OK(read_file(&want, "a.jsonl"));
    T_OK(read_file(&got, "a.json"));
    assert_string_equal(got.data, want.data);
    T_OK(read_file(&got, "b.json"));
    assert_string_equal(got.data, want.data);
    hone_str_clear(&bytes);
    gzip(&bytes, lines.data, lines.len);
    write_bytes("a.jsonl.gz", bytes.data, bytes.len);
    T_OK(read_file(&got, "a.jsonl.gz"));
    assert_string_equal(got.data, want.data);
    hone_str_clear(&bytes);
    zstd(&bytes, csv.data, csv.len);
    write_bytes("a.csv.zst", bytes.data, bytes.len);
    T_OK(read_file(&got, "a.csv.zst"));
    assert_int_equal(strlen(got.data) > 600000, 1);
    write_bytes("a.csv", csv.data, csv.len);
    T_OK(read_file(&want, "a.csv"));
    assert_string_equal(got.data, want.data);
    hone_str_deinit(&lines);
    hone_str_deinit(&array);
    hone_str_deinit(&csv);
    hone_str_deinit(&bytes);
    hone_str_deinit(&want);
    hone_str_deinit(&got);
}

/* ---- faults ---- */

static void running_out_of_memory_is_an_error(void **state)
{
    hone_str bytes = HONE_STR_INIT, rows = HONE_STR_INIT;

    (void)state;
    gzip(&bytes, "a,b\n\"x\"\"\",2\n", 12);
    write_bytes("a.csv.gz", bytes.data, bytes.len);
    for (int64_t n = 0;; n++) {
        hone_reader *r = NULL;
        hone_status  st;
        bool         reached;
        int64_t      count;

        hone_str_deinit(&rows);
        hone_mem_fail_at(n);
        st = hone_reader_open(&r, path_of("a.csv.gz"));
        if (st == HONE_OK)
            st = read_all(&rows, &count, r, 10, 100);
        reached = hone_mem_fail_reached();
        hone_mem_fail_at(-1);
        hone_reader_close(&r);
        if (!reached) {
            T_OK(st);
            assert_true(n > 5);
            assert_string_equal(hone_str_c(&rows), "2:{\"a\":\"x\\\"\",\"b\":\"2\"};");
            break;
        }
        if (!rows.failed)       /* the test's own text */
            T_STATUS(st, HONE_E_NOMEM);
    }
    hone_str_deinit(&bytes);
    hone_str_deinit(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_odd_ends),  cmocka_unit_test(rows_of_any_shape), cmocka_unit_test(json_arrays_and_values),
        cmocka_unit_test(broken_json),          cmocka_unit_test(rows_before_a_fault),
        cmocka_unit_test(csv_records),       cmocka_unit_test(broken_csv),
        cmocka_unit_test(archives),             cmocka_unit_test(archives_of_archives),
        cmocka_unit_test(a_wide_zstd_window),   cmocka_unit_test(names_and_contents), cmocka_unit_test(what_is_no_file),
        cmocka_unit_test(long_rows),            cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
