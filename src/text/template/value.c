/* Memory, strings with origins, lists and dicts of the template language. */
#include "text/template/value.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

/* ---- memory ---- */
struct tpl_chunk {
    tpl_chunk *next;
    size_t     used, cap;
    max_align_t data[];
};

enum {
    CHUNK = 64 * 1024, MIN_DICT = 8, MAX_TUPLES = 500,
    STEP_BYTES = 16     /* that are looked at for one step */
};

static size_t rounded(size_t n) { return (n + 15) & ~(size_t)15; }

void *tpl_arena_alloc(tpl_arena *a, size_t n)
{
    tpl_chunk *c = a->chunks;
    char      *p;

    if (n > SIZE_MAX / 2 || (a->limit && rounded(n) > a->limit - HONE_MIN(a->used, a->limit))) {
        (void)HONE_FAIL(HONE_E_NOMEM, "values of a template need more than %zu bytes", a->limit);
        a->exhausted = true;
        return NULL;
    }
    n = HONE_MAX(rounded(n), (size_t)16);
    if (!c || c->cap - c->used < n) {
        size_t cap = HONE_MAX((size_t)CHUNK, n);

        c = hone_calloc(1, sizeof *c + cap);
        if (!c)
            return NULL;
        c->cap = cap;
        c->next = a->chunks;
        a->chunks = c;
    }
    p = (char *)c->data + c->used;
    c->used += n;
    a->used += n;
    return p;
}

void *tpl_arena_grow(tpl_arena *a, void *p, size_t old, size_t n)
{
    tpl_chunk *c = a->chunks;
    size_t     have = HONE_MAX(rounded(old), (size_t)16), more = rounded(n) - have;
    void      *fresh;

    if (p && rounded(n) <= have)
        return p;
    if (p && c && (char *)p + have == (char *)c->data + c->used && more <= c->cap - c->used &&
        (!a->limit || more <= a->limit - HONE_MIN(a->used, a->limit))) {
        c->used += more;
        a->used += more;
        return p;
    }
    fresh = tpl_arena_alloc(a, n);
    if (fresh && old)
        memcpy(fresh, p, old);
    return fresh;
}

void *tpl_arena_more(tpl_arena *a, void *p, size_t n, size_t size)
{
    if (n & (n - 1))
        return p;
    return tpl_arena_grow(a, p, n * size, HONE_MAX(2 * n, (size_t)1) * size);
}

void tpl_arena_deinit(tpl_arena *a)
{
    while (a->chunks) {
        tpl_chunk *next = a->chunks->next;

        hone_free(a->chunks);
        a->chunks = next;
    }
    a->used = 0;
}

/* ---- characters ---- */
bool tpl_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

uint32_t tpl_count_chars(const char *data, size_t n)
{
    uint32_t chars = 0;

    for (size_t i = 0; i < n; i++)
        chars += ((unsigned char)data[i] & 0xC0) != 0x80;
    return chars;
}

size_t tpl_str_offset(const tpl_str *s, size_t i)
{
    size_t p = 0;

    if (s->chars == s->len || i >= s->chars)
        return i >= s->chars ? s->len : i;
    while (i--)
        p += hone_utf8_len((unsigned char)s->data[p]);
    return p;
}

bool tpl_str_is(const tpl_str *s, const char *text)
{
    size_t n = strlen(text);

    return s->len == n && memcmp(s->data, text, n) == 0;
}

bool tpl_str_equal(const tpl_str *a, const tpl_str *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

int64_t tpl_str_find(tpl_rt *rt, const tpl_str *s, const tpl_str *needle, size_t from, size_t to, bool last)
{
    const char *p;

    if (to > s->len)
        to = s->len;
    if (from > to || needle->len > to - from)
        return -1;
    if (needle->len == 0)
        return (int64_t)(last ? to : from);
    if (!last) {
        p = memmem(s->data + from, to - from, needle->data, needle->len);
        rt->steps += (p ? (size_t)(p - s->data) - from : to - from) / STEP_BYTES;
        return p ? p - s->data : -1;
    }
    rt->steps += (to - from) / STEP_BYTES;
    for (to -= needle->len - 1; rt->steps <= rt->limits.steps; to = (size_t)(p - s->data)) {
        p = memrchr(s->data + from, needle->data[0], to - from);
        if (!p)
            break;
        rt->steps += needle->len / STEP_BYTES;
        if (memcmp(p, needle->data, needle->len) == 0)
            return p - s->data;
    }
    return -1;
}

/* ---- building strings ---- */
static hone_status room(tpl_rt *rt, tpl_buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 64;
    char  *p;

    TPL_CHECK(n <= rt->limits.output - HONE_MIN(b->len, rt->limits.output), rt, "a text grows beyond the limit of %zu bytes",
              rt->limits.output);
    if (n <= b->cap - b->len)
        return HONE_OK;
    while (cap - b->len < n)
        cap *= 2;
    p = tpl_arena_grow(&rt->arena, b->data, b->cap, cap);
    if (!p)
        return tpl_out_of_memory(rt);
    b->data = p;
    b->cap = cap;
    return HONE_OK;
}

/* Append bytes that all have the origin `seg` (its `end` is not looked at). */
static hone_status put(tpl_rt *rt, tpl_buf *b, const char *data, size_t n, const tpl_seg *seg)
{
    tpl_seg *last = b->nseg ? &b->segs[b->nseg - 1] : NULL;

    if (!n)
        return HONE_OK;
    HONE_TRY(room(rt, b, n));
    memcpy(b->data + b->len, data, n);
    b->len += n;
    if (last && last->source == seg->source && last->work == seg->work && last->role == seg->role &&
        last->generation == seg->generation && b->len - n != b->barrier) {
        last->end = (uint32_t)b->len;
        return HONE_OK;
    }
    if (b->nseg == b->seg_cap) {
        size_t   cap = b->seg_cap ? b->seg_cap * 2 : 4;
        tpl_seg *segs = tpl_arena_grow(&rt->arena, b->segs, b->seg_cap * sizeof *segs, cap * sizeof *segs);

        if (!segs)
            return tpl_out_of_memory(rt);
        b->segs = segs;
        b->seg_cap = cap;
    }
    b->segs[b->nseg] = *seg;
    b->segs[b->nseg++].end = (uint32_t)b->len;
    return HONE_OK;
}

static const tpl_seg OWN = { .source = -1, .work = -1 };

hone_status tpl_buf_put(tpl_rt *rt, tpl_buf *b, const char *data, size_t n) { return put(rt, b, data, n, &OWN); }

hone_status tpl_buf_puts(tpl_rt *rt, tpl_buf *b, const char *text) { return put(rt, b, text, strlen(text), &OWN); }

/* Index of the segment that holds byte `at`. */
static uint32_t segment_of(const tpl_str *s, size_t at)
{
    uint32_t lo = 0, hi = s->nseg - 1;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (s->segs[mid].end > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

hone_status tpl_buf_sub(tpl_rt *rt, tpl_buf *b, const tpl_str *s, size_t from, size_t to)
{
    if (!s->nseg)
        return put(rt, b, s->data + from, to - from, &OWN);
    for (uint32_t i = from < to ? segment_of(s, from) : s->nseg; i < s->nseg && from < to; i++) {
        size_t end = i + 1 == s->nseg ? to : HONE_MIN(to, (size_t)s->segs[i].end);

        HONE_TRY(put(rt, b, s->data + from, end - from, &s->segs[i]));
        from = end;
    }
    return HONE_OK;
}

hone_status tpl_buf_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s) { return tpl_buf_sub(rt, b, s, 0, s->len); }

hone_status tpl_buf_as(tpl_rt *rt, tpl_buf *b, const char *data, size_t n, const tpl_str *s, size_t at)
{
    return put(rt, b, data, n, s->nseg ? &s->segs[segment_of(s, at)] : &OWN);
}

hone_status tpl_emit(tpl_rt *rt, const tpl_str *s)
{
    size_t from = 0;

    for (uint32_t i = 0; i < HONE_MAX(s->nseg, 1u) && from < s->len; i++) {
        tpl_seg seg = s->nseg ? s->segs[i] : OWN;
        size_t  end = i + 1 >= s->nseg ? s->len : HONE_MIN((size_t)s->len, (size_t)seg.end);

        if (rt->work >= 0)
            seg.work = rt->work;
        seg.generation |= rt->generation;
        HONE_TRY(put(rt, rt->out, s->data + from, end - from, &seg));
        from = end;
    }
    return HONE_OK;
}

hone_status tpl_buf_take(tpl_rt *rt, tpl_buf *b, tpl_value *out)
{
    tpl_str *s;

    TPL_ALLOC(s, rt, 1);
    *s = (tpl_str){ .data = b->len ? b->data : "", .len = (uint32_t)b->len, .segs = b->segs, .nseg = (uint32_t)b->nseg };
    s->chars = tpl_count_chars(s->data, s->len);
    if (s->nseg == 1 && s->segs[0].source < 0 && s->segs[0].work < 0 && !s->segs[0].generation)
        s->nseg = 0;
    *out = tpl_string(s);
    *b = (tpl_buf){ 0 };
    return HONE_OK;
}

hone_status tpl_new_str(tpl_rt *rt, tpl_value *out, const char *data, size_t n)
{
    tpl_buf b = { 0 };

    HONE_TRY(tpl_buf_put(rt, &b, data, n));
    return tpl_buf_take(rt, &b, out);
}

hone_status tpl_sub_str(tpl_rt *rt, tpl_value *out, const tpl_str *s, size_t from, size_t to)
{
    tpl_str *sub;

    if (from == 0 && to == s->len && !s->markup) {
        *out = tpl_string(s);
        return HONE_OK;
    }
    TPL_ALLOC(sub, rt, 1);
    *sub = (tpl_str){ .data = s->data + from, .len = (uint32_t)(to - from), .segs = s->segs, .nseg = s->nseg };
    sub->chars = s->chars == s->len ? sub->len : tpl_count_chars(sub->data, sub->len);
    if (s->nseg > 1 && from < to) {     /* the segments that it touches, counted from its start */
        uint32_t first = segment_of(s, from), last = segment_of(s, to - 1);
        tpl_seg *segs;

        TPL_ALLOC(segs, rt, last - first + 1);
        for (uint32_t i = first; i <= last; i++) {
            segs[i - first] = s->segs[i];
            segs[i - first].end = i == last ? sub->len : s->segs[i].end - (uint32_t)from;
        }
        sub->segs = segs;
        sub->nseg = last - first + 1;
    } else if (s->nseg > 1) {
        sub->nseg = 0;
    }
    *out = tpl_string(sub);
    return HONE_OK;
}

/* ---- lists and dicts ---- */
hone_status tpl_new_list(tpl_rt *rt, tpl_list **out, size_t cap)
{
    TPL_ALLOC(*out, rt, 1);
    **out = (tpl_list){ .msg = -1, .cap = (uint32_t)cap };
    if (cap)
        TPL_ALLOC((*out)->items, rt, cap);
    return HONE_OK;
}

hone_status tpl_push(tpl_rt *rt, tpl_list *l, tpl_value v)
{
    if (l->len == l->cap) {
        uint32_t   cap = l->cap ? l->cap * 2 : 4;
        tpl_value *items = tpl_arena_grow(&rt->arena, l->items, l->cap * sizeof *items, cap * sizeof *items);

        if (!items)
            return tpl_out_of_memory(rt);
        l->items = items;
        l->cap = cap;
    }
    l->items[l->len++] = v;
    return HONE_OK;
}

hone_status tpl_pair(tpl_rt *rt, tpl_value *out, tpl_value a, tpl_value b)
{
    tpl_list *l;

    HONE_TRY(tpl_new_list(rt, &l, 2));
    l->items[0] = a;
    l->items[1] = b;
    l->len = 2;
    *out = tpl_tuple_value(l);
    return HONE_OK;
}

static bool hashable(tpl_rt *rt, tpl_value v, int depth)
{
    if (v.kind == TPL_STR)
        rt->steps += v.u.s->len / STEP_BYTES;
    if (v.kind == TPL_TUPLE) {
        rt->steps += 1 + (depth > MAX_TUPLES ? rt->limits.steps : 0);
        for (uint32_t i = 0; i < v.u.l->len && rt->steps <= rt->limits.steps; i++)
            if (!hashable(rt, v.u.l->items[i], depth + 1))
                return false;
        return rt->steps <= rt->limits.steps;
    }
    return v.kind != TPL_LIST && v.kind != TPL_DICT && (v.kind != TPL_VIEW || v.sub == TPL_VIEW_VALUES);
}

bool tpl_hashable(tpl_rt *rt, tpl_value v) { return hashable(rt, v, 0); }

/* Equal values have equal hashes (1 == 1.0 == True). For values that are hashable. */
static uint32_t hash_value(tpl_value v)
{
    uint32_t h = 2166136261u;

    if (v.kind == TPL_STR) {
        for (uint32_t i = 0; i < v.u.s->len; i++)
            h = (h ^ (unsigned char)v.u.s->data[i]) * 16777619u;
    } else if (tpl_is_number(v)) {
        double   f = tpl_as_float(v);
        uint64_t bits;

        memcpy(&bits, &f, sizeof bits);
        h = (f == 0 ? 0 : (uint32_t)(bits ^ bits >> 32)) * 2654435761u;
    } else if (v.kind == TPL_TUPLE) {
        for (uint32_t i = 0; i < v.u.l->len; i++)
            h = (h ^ hash_value(v.u.l->items[i])) * 16777619u;
    }
    return h;
}

hone_status tpl_new_dict(tpl_rt *rt, tpl_dict **out, size_t cap)
{
    TPL_ALLOC(*out, rt, 1);
    **out = (tpl_dict){ .msg = -1 };
    if (cap && cap <= MIN_DICT) {       /* larger ones grow, and get their hash table on the way */
        TPL_ALLOC((*out)->keys, rt, cap);
        TPL_ALLOC((*out)->values, rt, cap);
        TPL_ALLOC((*out)->hashes, rt, cap);
        (*out)->cap = (uint32_t)cap;
    }
    return HONE_OK;
}

/* The slot of a key in the hash table: its entry's or the empty one where it belongs. */
static uint32_t *slot_of(tpl_rt *rt, const tpl_dict *d, tpl_value key, uint32_t hash)
{
    uint32_t i = hash & (d->n_slots - 1);

    while (d->slots[i] && !(d->hashes[d->slots[i] - 1] == hash && tpl_equal(rt, d->keys[d->slots[i] - 1], key))) {
        i = (i + 1) & (d->n_slots - 1);
        rt->steps++;
    }
    return &d->slots[i];
}

static tpl_value *dict_find(tpl_rt *rt, const tpl_dict *d, tpl_value key, uint32_t hash)
{
    uint32_t found;

    if (d->n_slots) {
        found = *slot_of(rt, d, key, hash);
        return found ? &d->values[found - 1] : NULL;
    }
    for (uint32_t i = 0; i < d->len; i++)
        if (d->hashes[i] == hash && tpl_equal(rt, d->keys[i], key))
            return &d->values[i];
    return NULL;
}

tpl_value *tpl_dict_get(tpl_rt *rt, const tpl_dict *d, tpl_value key)
{
    return tpl_hashable(rt, key) ? dict_find(rt, d, key, hash_value(key)) : NULL;
}

/* A hash table that is at most half full once the dict has grown to its capacity. */
static hone_status rehash(tpl_rt *rt, tpl_dict *d)
{
    d->n_slots = 4 * d->cap;
    TPL_ALLOC(d->slots, rt, d->n_slots);
    memset(d->slots, 0, d->n_slots * sizeof *d->slots);
    for (uint32_t k = 0; k < d->len; k++) {
        uint32_t i = d->hashes[k] & (d->n_slots - 1);

        while (d->slots[i])
            i = (i + 1) & (d->n_slots - 1);
        d->slots[i] = k + 1;
    }
    return tpl_step(rt, d->len / 4);
}

/* A new last entry. */
static hone_status dict_add(tpl_rt *rt, tpl_dict *d, tpl_value key, uint32_t hash, tpl_value v)
{
    if (d->len == d->cap) {
        uint32_t   cap = MIN_DICT;
        tpl_value *keys, *values;
        uint32_t  *hashes;

        while (cap <= d->len)
            cap *= 2;
        keys = tpl_arena_grow(&rt->arena, d->keys, d->cap * sizeof *keys, cap * sizeof *keys);
        values = keys ? tpl_arena_grow(&rt->arena, d->values, d->cap * sizeof *values, cap * sizeof *values) : NULL;
        hashes = values ? tpl_arena_grow(&rt->arena, d->hashes, d->cap * sizeof *hashes, cap * sizeof *hashes) : NULL;
        if (!hashes)
            return tpl_out_of_memory(rt);
        d->keys = keys;
        d->values = values;
        d->hashes = hashes;
        d->cap = cap;
        if (cap > 2 * MIN_DICT)
            HONE_TRY(rehash(rt, d));
    }
    if (d->n_slots)
        *slot_of(rt, d, key, hash) = d->len + 1;
    d->keys[d->len] = key;
    d->values[d->len] = v;
    d->hashes[d->len++] = hash;
    return HONE_OK;
}

hone_status tpl_dict_put(tpl_rt *rt, tpl_dict *d, tpl_value key, tpl_value v)
{
    tpl_value *old;
    uint32_t   hash;

    HONE_TRY(tpl_step(rt, 1));
    if (!tpl_hashable(rt, key)) {
        HONE_TRY(tpl_step(rt, 0));
        return TPL_FAIL(rt, "unhashable type: '%s'", tpl_type_name(key));
    }
    hash = hash_value(key);
    old = dict_find(rt, d, key, hash);
    if (!old)
        return dict_add(rt, d, key, hash, v);
    *old = v;
    return HONE_OK;
}

/* ---- JSON in ---- */
static hone_status string_value(tpl_rt *rt, tpl_value *out, const char *data, size_t n, int32_t msg, bool role)
{
    tpl_str *s;
    tpl_seg *seg;

    TPL_CHECK(n < INT32_MAX, rt, "a string is too long");
    TPL_ALLOC(s, rt, 1);
    *s = (tpl_str){ .data = data, .len = (uint32_t)n, .chars = tpl_count_chars(data, n) };
    if (msg >= 0) {
        TPL_ALLOC(seg, rt, 1);
        *seg = (tpl_seg){ .end = UINT32_MAX, .source = msg, .work = -1, .role = role };
        s->segs = seg;
        s->nseg = 1;
    }
    *out = tpl_string(s);
    return HONE_OK;
}

static hone_status from_json(tpl_rt *rt, tpl_value *out, const json_t *j, int32_t msg, bool top, int depth)
{
    const char *key;
    json_t     *item;
    size_t      i, klen;
    tpl_list   *l;
    tpl_dict   *d;

    TPL_CHECK(depth < 200, rt, "a variable is nested more than 200 deep");
    switch (json_typeof(j)) {
    case JSON_NULL:    *out = tpl_none(); return HONE_OK;
    case JSON_TRUE:    *out = tpl_bool(true); return HONE_OK;
    case JSON_FALSE:   *out = tpl_bool(false); return HONE_OK;
    case JSON_INTEGER: *out = tpl_int(json_integer_value(j)); return HONE_OK;
    case JSON_REAL:    *out = tpl_float(json_real_value(j)); return HONE_OK;
    case JSON_STRING:  return string_value(rt, out, json_string_value(j), json_string_length(j), msg, false);
    case JSON_ARRAY:
        HONE_TRY(tpl_new_list(rt, &l, json_array_size(j)));
        l->msg = msg;
        json_array_foreach(j, i, item)
            HONE_TRY(from_json(rt, &l->items[l->len++], item, msg, false, depth + 1));
        *out = tpl_list_value(l);
        return HONE_OK;
    default:
        break;
    }
    HONE_TRY(tpl_new_dict(rt, &d, json_object_size(j)));
    d->msg = msg;
    json_object_keylen_foreach((json_t *)j, key, klen, item) {
        bool      role = top && msg >= 0 && strcmp(key, "role") == 0 && json_is_string(item);
        tpl_value k, v;

        HONE_TRY(string_value(rt, &k, key, klen, msg, false));
        if (role)
            HONE_TRY(string_value(rt, &v, json_string_value(item), json_string_length(item), msg, true));
        else
            HONE_TRY(from_json(rt, &v, item, msg, false, depth + 1));
        HONE_TRY(dict_add(rt, d, k, hash_value(k), v));
    }
    *out = tpl_dict_value(d);
    return HONE_OK;
}

hone_status tpl_from_json(tpl_rt *rt, tpl_value *out, const json_t *j, int32_t msg)
{
    return from_json(rt, out, j, msg, true, 0);
}

int32_t tpl_value_message(tpl_rt *rt, tpl_value v)
{
    int32_t msg = -1;

    if (v.kind == TPL_STR) {
        rt->steps += v.u.s->nseg / 8;
        for (uint32_t i = 0; i < v.u.s->nseg; i++) {
            int32_t source = v.u.s->segs[i].source;

            if (source >= 0 && msg >= 0 && source != msg)
                return -1;
            msg = source >= 0 ? source : msg;
        }
        return msg;
    }
    if (v.kind == TPL_LIST || v.kind == TPL_TUPLE)
        return v.u.l->msg;
    if (v.kind != TPL_DICT || v.u.d->msg >= 0)
        return v.kind == TPL_DICT ? v.u.d->msg : -1;
    rt->steps += v.u.d->len / 8;
    for (uint32_t i = 0; i < v.u.d->len; i++) {     /* a dict that the template made of parts of one message */
        tpl_value item = v.u.d->values[i];
        int32_t   m = item.kind == TPL_STR ? tpl_value_message(rt, item)
                    : item.kind == TPL_DICT ? item.u.d->msg
                    : item.kind == TPL_LIST ? item.u.l->msg : -1;

        if (m >= 0 && msg >= 0 && m != msg)
            return -1;
        msg = m >= 0 ? m : msg;
    }
    return msg;
}
