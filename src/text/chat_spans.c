/* Which bytes of a rendered conversation are trained on. The rule is in text/chat.h; what it leaves open is decided here and
 * written there too. */
#include <string.h>

#include "text/chat_parts.h"

/* A message's bytes in the text. */
typedef struct region {
    size_t begin, end;      /* from its first byte to where the next message begins */
    size_t own_end;         /* end of what was written while working on it */
    bool   known;           /* it was seen being worked on; otherwise only its copied bytes are known */
    bool   cut;             /* a later message's content follows on this one's turn */
} region;

/* The header of the assistant messages that follow a message of one role. */
typedef struct known_header {
    const char *role;           /* "" = they are the first message */
    hone_str    header;         /* empty: not known to be the same for all of them */
    int32_t     first, last;    /* of these messages */
    size_t      n;
} known_header;

typedef struct finder {
    const chat_job             *job;
    const hone_template_output *full;
    const hone_encoding        *tokens;
    size_t                      limit;      /* where the generation prompt begins, or the text's end */
    hone_str                    end_header; /* what a generation prompt adds after the whole conversation */
    hone_str                    used_header;    /* the header found for an earlier message */
    HONE_VEC(known_header)      known;
    int32_t                     last;       /* answer, -1 if there is none */
    bool                        prompt_differs;
} finder;

static size_t span_begin(const hone_template_output *o, size_t i) { return i ? o->spans.data[i - 1].end : 0; }

static bool copied_from(const hone_template_span *s, int32_t msg) { return s->source == msg && !s->role; }

static bool belongs(const hone_template_span *s, int32_t msg)
{
    return (s->work == msg && (s->source <= msg || s->role)) || (s->work < 0 && s->source == msg);
}

/* Written for another message; also a later message's content (a tool's result, say) written on this one's turn. */
static bool is_other(const hone_template_span *s, int32_t msg)
{
    return (s->source > msg && !s->role) || (s->work >= 0 && s->work != msg) || (s->work < 0 && s->source >= 0 && s->source != msg);
}

/* The run of the message's bytes that begins with span *i, which is moved past it; the bytes of content in it. */
static size_t read_run(const finder *f, region *r, int32_t msg, size_t *i)
{
    const hone_template_output *o = f->full;
    size_t content = 0;

    *r = (region){ .begin = span_begin(o, *i) };
    for (; *i < o->spans.len && !is_other(&o->spans.data[*i], msg); ++*i) {
        const hone_template_span *s = &o->spans.data[*i];

        if (belongs(s, msg)) {
            r->own_end = s->end;
            r->known |= s->work == msg;
        }
        if (copied_from(s, msg))
            content += s->end - span_begin(o, *i);
    }
    r->end = span_begin(o, *i);
    r->cut = *i < o->spans.len && o->spans.data[*i].work == msg;
    return content;
}

static void limit_region(const finder *f, region *r)
{
    r->end = HONE_MAX(HONE_MIN(r->end, f->limit), r->begin);
    r->own_end = HONE_MIN(r->own_end, r->end);
}

/* Where a turn begins that holds span i, with all that was written while working on the message or, on its turn, on later ones. */
static size_t turn_begin(const finder *f, int32_t msg, size_t i)
{
    const hone_template_span *s = f->full->spans.data;
    size_t                    begin = i;

    for (; i > 0 && (belongs(&s[i - 1], msg) || s[i - 1].work > msg); i--)
        if (s[i - 1].work == msg)
            begin = i - 1;
    return begin;
}

/* The run of the message's bytes that holds most of its content (a template may mention it elsewhere too), or an earlier one with
 * content on the same turn; `next`: the span behind it. */
static bool find_region(const finder *f, region *r, int32_t msg, size_t *next)
{
    const hone_template_output *o = f->full;
    size_t best = 0, n = o->spans.len, first = 0;

    for (size_t i = 0; i < n; ) {
        region run;
        size_t content, begin = i;

        if (!belongs(&o->spans.data[i], msg)) {
            i++;
            continue;
        }
        content = 1 + read_run(f, &run, msg, &i);
        if (content > best) {
            best = content;
            first = begin;
            *r = run;
            *next = i;
        }
    }
    if (!best)
        return false;
    for (size_t i = r->known ? turn_begin(f, msg, first) : first; i < first; ) {
        region run;
        size_t begin = i;

        if (belongs(&o->spans.data[i], msg) && read_run(f, &run, msg, &i) && run.known) {
            *r = run;
            *next = i;
            break;
        }
        i = HONE_MAX(i, begin + 1);
    }
    for (size_t i = 0; !r->known && i <= n; i++) {      /* its header may lie before the first byte that is surely its own */
        if (i == n || span_begin(o, i) >= r->begin) {
            while (i > 0 && !is_other(&o->spans.data[i - 1], msg))
                i--;
            r->begin = span_begin(o, i);
            break;
        }
    }
    limit_region(f, r);
    return true;
}

/* The first byte in [from, to) copied from the message's content, or `to`; the end of the last such byte (role included), or
 * `from`. */
static size_t first_content(const finder *f, int32_t msg, size_t from, size_t to)
{
    for (size_t i = 0; i < f->full->spans.len; i++)
        if (copied_from(&f->full->spans.data[i], msg) && f->full->spans.data[i].end > from)
            return HONE_MIN(HONE_MAX(span_begin(f->full, i), from), to);
    return to;
}

static size_t last_copied(const finder *f, int32_t msg, size_t from, size_t to)
{
    size_t end = from;

    for (size_t i = 0; i < f->full->spans.len && span_begin(f->full, i) < to; i++)
        if (f->full->spans.data[i].source == msg)
            end = HONE_MAX(end, HONE_MIN((size_t)f->full->spans.data[i].end, to));
    return end;
}

static size_t common_prefix(const char *a, size_t n, const char *b, size_t m)
{
    size_t i = 0;

    while (i < n && i < m && a[i] == b[i])
        i++;
    return i;
}

/* What asking for a generation prompt adds to a render of the first n messages. Empty if the template refuses them, or
 * if it adds nothing. `with`: the render with the prompt. */
static hone_status header_after(const chat_job *job, hone_str *header, hone_template_output *with, size_t n)
{
    hone_template_output without = { 0 };
    hone_status          st;
    size_t               same;

    hone_str_clear(header);
    st = chat_render_text(job, &without, n, false);
    if (st == HONE_OK)
        st = chat_render_text(job, with, n, true);
    if (st == HONE_OK) {
        same = common_prefix(hone_str_c(&without.text), without.text.len, hone_str_c(&with->text), with->text.len);
        if (same < without.text.len) {      /* it also changed what came before: take what follows the last message */
            size_t i = with->spans.len;

            while (i > 0 && with->spans.data[i - 1].work < 0 && with->spans.data[i - 1].source < 0)
                i--;
            same = span_begin(with, i);
        }
        hone_str_append(header, hone_str_c(&with->text) + same, with->text.len - same);
        st = hone_str_ok(header);
    } else if (st == HONE_E_DATA || st == HONE_E_UNSUPPORTED) {
        hone_str_clear(&with->text);
        hone_status_clear();
        st = HONE_OK;
    }
    hone_template_output_deinit(&without);
    return st;
}

static bool text_is(const finder *f, size_t at, size_t end, const hone_str *s)
{
    return s->len && at <= end && s->len <= end - at && memcmp(hone_str_c(&f->full->text) + at, s->data, s->len) == 0;
}

/* `at`, or the last place before it, but not before `from`, that follows a newline or an added token. */
static size_t back_to_boundary(const finder *f, size_t from, size_t at)
{
    size_t best = from;

    for (size_t p = at; p > from && best == from; p--)
        if (hone_str_c(&f->full->text)[p - 1] == '\n')
            best = p;
    for (size_t i = 0; i < f->tokens->len && f->tokens->data[i].end <= at; i++)
        if (f->tokens->data[i].end > best && hone_tokenizer_is_added(f->job->chat->tok, f->tokens->data[i].id))
            best = f->tokens->data[i].end;
    return best;
}

/* Where the message's own text starts, after its header. */
static size_t span_start(finder *f, const region *r, int32_t msg, const hone_str *header, const hone_str *prompted)
{
    const hone_str *const known[] = { header, &f->end_header, &f->used_header };
    const hone_str *h = header->len ? header : &f->end_header;
    const char     *text = hone_str_c(&f->full->text);
    size_t          content = first_content(f, msg, r->begin, r->end), at;

    if (header->len && prompted->len >= r->begin && prompted->len <= r->end && text_is(f, 0, r->end, prompted))
        return prompted->len;
    for (size_t i = 0; i < HONE_COUNTOF(known); i++) {
        if (text_is(f, r->begin, r->end, known[i]))
            return r->begin + known[i]->len;
        if (content < r->end && content - r->begin >= known[i]->len &&
            text_is(f, content - known[i]->len, content, known[i]))
            return content;
    }
    if (!r->known)
        return content;
    /* The template wrote something else here than it would for a prompt: what both share, in whole lines and tokens. */
    at = r->begin + common_prefix(hone_str_c(h), h->len, text + r->begin, HONE_MIN(content, r->end) - r->begin);
    return back_to_boundary(f, r->begin, at);
}

/* The first token that begins at or after `at`. */
static size_t token_at(const finder *f, size_t at)
{
    size_t lo = 0, hi = f->tokens->len;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (f->tokens->data[mid].begin < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The first, or the last, special token within [from, to); NULL if there is none. */
static const hone_token *find_special(const finder *f, size_t from, size_t to, bool last)
{
    const hone_token *found = NULL;

    for (size_t i = token_at(f, from); i < f->tokens->len && f->tokens->data[i].begin < to; i++) {
        const hone_token *t = &f->tokens->data[i];

        if (!hone_tokenizer_is_special(f->job->chat->tok, t->id))
            continue;
        if (!last)
            return t;
        if (t->end <= to)
            found = t;
    }
    return found;
}

/* How far the turn goes that a later message's content continues: what the template also writes without that message. */
static hone_status end_of_own_bytes(const finder *f, const region *r, int32_t msg, size_t *end)
{
    hone_template_output alone = { 0 };
    hone_status          st = chat_render_text(f->job, &alone, (size_t)msg + 1, false);

    *end = r->own_end;
    if (st == HONE_OK) {
        size_t same = common_prefix(hone_str_c(&alone.text), alone.text.len, hone_str_c(&f->full->text), r->own_end);

        *end = r->begin;
        for (size_t i = token_at(f, r->begin); i < f->tokens->len && f->tokens->data[i].end <= same; i++)
            *end = f->tokens->data[i].end;      /* whole tokens of it */
    } else if (st == HONE_E_DATA || st == HONE_E_UNSUPPORTED) {
        st = HONE_OK;
    }
    hone_status_clear();
    hone_template_output_deinit(&alone);
    return st;
}

static bool is_blank(const finder *f, size_t from, size_t to)
{
    while (from < to && strchr(" \t\r\n", hone_str_c(&f->full->text)[from]))
        from++;
    return from >= to;
}

static hone_status span_end(const finder *f, const region *r, int32_t msg, size_t start, size_t *end)
{
    size_t            last = last_copied(f, msg, start, r->end), own = r->own_end;
    const hone_token *t;

    if (r->cut)
        HONE_TRY(end_of_own_bytes(f, r, msg, &own));
    t = r->known ? find_special(f, last, own, true) : NULL;
    if (t && !is_blank(f, t->end, own)) {       /* a mark inside of what is written, not behind it */
        *end = own;
        return HONE_OK;
    }
    if (!t)
        t = find_special(f, last, r->end, false);
    *end = t ? t->end : HONE_MAX(HONE_MAX(own, last), start);
    return HONE_OK;
}

static hone_status use_header(finder *f, const hone_str *header)
{
    hone_str_clear(&f->used_header);
    hone_str_append(&f->used_header, header->data, header->len);
    return hone_str_ok(&f->used_header);
}

/* Where the span of a message starts, and the header that was found there by rendering the messages before it. */
static hone_status measured_start(finder *f, size_t *start, hone_str *header, const region *r, int32_t msg)
{
    hone_template_output prompted = { 0 };
    hone_status          st = header_after(f->job, header, &prompted, (size_t)msg);

    if (st == HONE_OK)
        *start = span_start(f, r, msg, header, &prompted.text);
    if (st == HONE_OK && msg == f->last)
        f->prompt_differs = !chat_begins_with(&f->full->text, &prompted.text);
    hone_template_output_deinit(&prompted);
    return st;
}

static const char *role_of(const json_t *messages, int32_t i)
{
    const char *role = i < 0 ? NULL : json_string_value(json_object_get(json_array_get(messages, (size_t)i), "role"));

    return role ? role : "";
}

static bool by_assistant(const json_t *messages, int32_t i) { return strcmp(role_of(messages, i), "assistant") == 0; }

static known_header *header_of(const finder *f, int32_t msg)
{
    const char *role = role_of(f->job->messages, msg - 1);

    for (size_t i = 0; i < f->known.len; i++)
        if (strcmp(f->known.data[i].role, role) == 0)
            return &f->known.data[i];
    return NULL;
}

/* A long conversation is not rendered again for each of its turns: where the first and the last of the turns that follow a
 * message of one role have the same header, the others have it too. */
static hone_status learn_header(finder *f, known_header *k)
{
    const int32_t ends[2] = { k->first, k->last };
    hone_str      headers[2] = { HONE_STR_INIT, HONE_STR_INIT };
    size_t        start = 0, next;
    bool          same = k->n > 2;
    hone_status   st = HONE_OK;
    region        r;

    for (int i = 0; i < 2 && same; i++) {
        same = find_region(f, &r, ends[i], &next) && r.known;
        if (same)
            HONE_GO(measured_start(f, &start, &headers[i], &r, ends[i]));
        same = same && headers[i].len && start == r.begin + headers[i].len && text_is(f, r.begin, r.end, &headers[i]);
    }
    if (same && headers[0].len == headers[1].len && memcmp(headers[0].data, headers[1].data, headers[0].len) == 0) {
        hone_str_append(&k->header, headers[0].data, headers[0].len);
        st = hone_str_ok(&k->header);
    }
out:
    hone_str_deinit(&headers[0]);
    hone_str_deinit(&headers[1]);
    return st;
}

static hone_status learn_headers(finder *f)
{
    int32_t n = (int32_t)json_array_size(f->job->messages);

    for (int32_t i = 0; i < n; i++) {
        known_header *k;

        if (!by_assistant(f->job->messages, i))
            continue;
        k = header_of(f, i);
        if (!k) {
            HONE_TRY(HONE_VEC_PUSH(&f->known, (known_header){ .role = role_of(f->job->messages, i - 1), .first = i }));
            k = &f->known.data[f->known.len - 1];
        }
        k->last = i;
        k->n++;
    }
    for (size_t i = 0; i < f->known.len; i++)
        HONE_TRY(learn_header(f, &f->known.data[i]));
    return HONE_OK;
}

/* What a template writes of the message behind results of tools that it put on the message's turn. */
static hone_status find_rest(finder *f, chat_spans *out, int32_t msg, size_t next)
{
    const hone_template_output *o = f->full;

    while (next < o->spans.len) {
        chat_span span = { .message = msg };
        region    r;
        size_t    content;

        if (!belongs(&o->spans.data[next], msg)) {
            next++;
            continue;
        }
        content = read_run(f, &r, msg, &next);
        limit_region(f, &r);
        if (!r.known || !content)
            continue;
        span.begin = first_content(f, msg, r.begin, r.end);
        HONE_TRY(span_end(f, &r, msg, span.begin, &span.end));
        if (span.end > span.begin)
            HONE_TRY(HONE_VEC_PUSH(out, span));
    }
    return HONE_OK;
}

static hone_status find_message(finder *f, chat_spans *out, int32_t msg)
{
    const known_header *k = header_of(f, msg);
    hone_str            header = HONE_STR_INIT;
    chat_span           span = { .message = msg };
    hone_status         st = HONE_OK;
    size_t              next = 0;
    region              r;

    if (!find_region(f, &r, msg, &next))
        return HONE_OK;
    if (r.known && text_is(f, r.begin, r.end, &k->header)) {
        span.begin = r.begin + k->header.len;
        HONE_GO(use_header(f, &k->header));
    } else {
        HONE_GO(measured_start(f, &span.begin, &header, &r, msg));
        if (header.len && span.begin == r.begin + header.len)
            HONE_GO(use_header(f, &header));
    }
    HONE_GO(span_end(f, &r, msg, span.begin, &span.end));
    if (span.end > span.begin)
        HONE_GO(HONE_VEC_PUSH(out, span));
    HONE_GO(find_rest(f, out, msg, next));
out:
    hone_str_deinit(&header);
    return st;
}

/* With {% generation %} blocks: exactly their bytes. */
static hone_status marked_spans(chat_spans *out, const hone_template_output *full)
{
    for (size_t i = 0; i < full->spans.len; i++) {
        const hone_template_span *s = &full->spans.data[i];
        chat_span                 span = { span_begin(full, i), s->end, s->work >= 0 ? s->work : s->source };

        if (!s->generation)
            continue;
        if (out->len && out->data[out->len - 1].end == span.begin &&
            (span.message < 0 || out->data[out->len - 1].message == span.message))
            out->data[out->len - 1].end = span.end;
        else
            HONE_TRY(HONE_VEC_PUSH(out, span));
    }
    return HONE_OK;
}

bool chat_begins_with(const hone_str *text, const hone_str *prompt)
{
    return prompt->len <= text->len && memcmp(hone_str_c(text), hone_str_c(prompt), prompt->len) == 0;
}

/* The same question where spans are marked, and no prompt was rendered for them. */
static hone_status compare_prompt(finder *f)
{
    hone_template_output prompted = { 0 };
    hone_status          st = f->last < 0 ? HONE_OK : chat_render_text(f->job, &prompted, (size_t)f->last, true);

    if (st == HONE_OK && f->last >= 0)
        f->prompt_differs = !chat_begins_with(&f->full->text, &prompted.text);
    else if (st == HONE_E_DATA || st == HONE_E_UNSUPPORTED)
        st = HONE_OK;
    hone_status_clear();
    hone_template_output_deinit(&prompted);
    return st;
}

static void keep_in_order(chat_spans *spans)
{
    for (size_t i = 1; i < spans->len; i++) {
        chat_span s = spans->data[i];
        size_t    k = i;

        for (; k > 0 && spans->data[k - 1].begin > s.begin; k--)
            spans->data[k] = spans->data[k - 1];
        spans->data[k] = s;
    }
}

hone_status chat_find_spans(const chat_job *job, chat_spans *out, bool *prompt_differs, const hone_template_output *full,
                            const hone_encoding *tokens)
{
    finder               f = { .job = job, .full = full, .tokens = tokens, .limit = full->text.len, .last = -1 };
    hone_template_output scratch = { 0 };
    size_t               n = json_array_size(job->messages);
    hone_status          st = HONE_OK;

    for (int32_t i = 0; i < (int32_t)n; i++)
        if (by_assistant(job->messages, i))
            f.last = i;
    if (hone_template_has_generation(job->t)) {
        HONE_TRY(marked_spans(out, full));
        st = compare_prompt(&f);
        *prompt_differs = f.prompt_differs;
        return st;
    }
    HONE_GO(header_after(job, &f.end_header, &scratch, n));
    if (job->options->generation_prompt)
        f.limit -= HONE_MIN(f.end_header.len, f.limit);
    HONE_GO(learn_headers(&f));
    for (int32_t i = 0; i < (int32_t)n; i++)
        if (by_assistant(job->messages, i))
            HONE_GO(find_message(&f, out, i));
    keep_in_order(out);
    *prompt_differs = f.prompt_differs;
out:
    for (size_t i = 0; i < f.known.len; i++)
        hone_str_deinit(&f.known.data[i].header);
    HONE_VEC_DEINIT(&f.known);
    hone_str_deinit(&f.end_header);
    hone_str_deinit(&f.used_header);
    hone_template_output_deinit(&scratch);
    return st;
}
