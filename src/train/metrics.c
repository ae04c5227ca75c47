#include "train/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

struct hone_metrics {
    FILE    *file;
    char    *path;
    hone_log log;
    int64_t  first, total;
    double   keep_every, peak_flops;
    double   started;           /* monotonic seconds */
    double   speed;             /* tokens/s, smoothed */
    bool     terminal, open;    /* `open`: the cursor stands behind a line that is to be overwritten */
};

/* Keep the lines of steps up to `done` that parse; a line cut by a crash goes too. */
static hone_status cut_after(const char *path, int64_t done)
{
    hone_mapped map;
    const char *text;
    size_t      n, kept = 0;
    hone_status st = HONE_OK;

    if (!hone_path_exists(path))
        return HONE_OK;
    HONE_TRY(hone_file_map(&map, path));
    text = (const char *)map.data;
    n = map.size;
    while (kept < n) {
        const char *end = memchr(text + kept, '\n', n - kept);
        json_t     *line = end ? json_loadb(text + kept, (size_t)(end - text) - kept, 0, NULL) : NULL;
        json_int_t  step = json_integer_value(json_object_get(line, "step"));

        json_decref(line);
        if (!end || step <= 0 || step > done)
            break;
        kept = (size_t)(end - text) + 1;
    }
    if (kept < n)
        st = hone_file_write_all(path, text, kept);
    hone_file_unmap(&map);
    return st;
}

hone_status hone_metrics_create(hone_metrics **out, const char *dir, int64_t done, int64_t total, double keep_every,
                                double peak_flops, const hone_log *log)
{
    hone_status   st = HONE_OK;
    hone_metrics *m = hone_calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return HONE_E_NOMEM;
    m->log = *log;
    m->first = done;
    m->total = total;
    m->keep_every = keep_every < 1 ? ceil(keep_every * (double)total) : floor(keep_every);
    m->keep_every = fmax(m->keep_every, 1);
    m->peak_flops = peak_flops;
    m->started = hone_clock_now();
    m->terminal = isatty(STDERR_FILENO);
    m->path = hone_path_join(dir, "metrics.jsonl");
    HONE_GO(m->path ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(cut_after(m->path, done));
    m->file = fopen(m->path, "a");
    HONE_GO_CHECK(m->file, HONE_E_IO, "cannot write %s: %s", m->path, strerror(errno));
out:
    if (st != HONE_OK)
        hone_metrics_destroy(&m);
    *out = m;
    return st;
}

void hone_metrics_destroy(hone_metrics **metrics)
{
    hone_metrics *m = *metrics;

    if (!m)
        return;
    if (m->open)
        fputc('\n', stderr);
    if (m->file)
        fclose(m->file);
    hone_free(m->path);
    hone_free(m);
    *metrics = NULL;
}

static void put_number(hone_str *s, const char *key, double v)
{
    char buf[32];

    /* JSON has no NaN; null says that there is no value */
    hone_str_printf(s, ",\"%s\":%s", key, isfinite(v) ? hone_format_f64(buf, v) : "null");
}

void hone_eval_part_write(hone_str *s, const hone_eval_part *part)
{
    char     buf[32];
    hone_str key = HONE_STR_INIT;

    hone_str_printf(&key, "eval_%s_loss", part->name);
    hone_str_putc(s, ',');
    hone_json_quote(s, hone_str_c(&key), key.len);
    hone_str_printf(s, ":%s", isfinite(part->loss) ? hone_format_f64(buf, part->loss) : "null");
    s->failed |= key.failed;
    hone_str_deinit(&key);
}

static hone_status write_line(hone_metrics *m, const hone_step_metrics *s)
{
    hone_str    line = HONE_STR_INIT;
    hone_status st;

    hone_str_printf(&line, "{\"step\":%lld", (long long)s->step);
    put_number(&line, "epoch", s->epoch);
    put_number(&line, "loss", s->loss);
    put_number(&line, "learning_rate", s->learning_rate);
    put_number(&line, "grad_norm", s->grad_norm);
    hone_str_printf(&line, ",\"tokens\":%lld,\"supervised_tokens\":%lld", (long long)s->tokens, (long long)s->supervised_tokens);
    if (s->rows)
        hone_str_printf(&line, ",\"rows\":%lld,\"rows_left_out\":%lld", (long long)s->rows, (long long)s->rows_left_out);
    if (s->skipped)
        hone_str_puts(&line, ",\"skipped\":true");
    if (s->has_eval) {
        put_number(&line, "eval_loss", s->eval_loss);
        hone_str_printf(&line, ",\"eval_tokens\":%lld", (long long)s->eval_tokens);
        for (size_t i = 0; i < s->n_eval_parts; i++)
            hone_eval_part_write(&line, &s->eval_parts[i]);
    }
    put_number(&line, "seconds", s->seconds);
    put_number(&line, "tokens_per_second", (double)s->tokens / fmax(s->seconds, 1e-9));
    hone_str_printf(&line, ",\"memory\":%zu,\"rss_anon\":%zu}\n", s->memory, s->rss_anon);
    st = hone_str_ok(&line);
    if (st == HONE_OK && (fwrite(line.data, 1, line.len, m->file) != line.len || fflush(m->file) != 0))
        st = HONE_FAIL(HONE_E_IO, "cannot write %s: %s", m->path, strerror(errno));
    hone_str_deinit(&line);
    return st;
}

static void duration(char buf[32], double seconds)
{
    long t = lround(seconds);

    if (t >= 3600)
        snprintf(buf, 32, "%ldh%02ldm", t / 3600, t / 60 % 60);
    else
        snprintf(buf, 32, "%ldm%02lds", t / 60, t % 60);
}

/* A line that is to be overwritten must not wrap: how much of it the terminal has room for. */
static int visible(const char *text)
{
    struct winsize size = { 0 };
    int            n = (int)strlen(text);

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? HONE_MIN(n, size.ws_col - 1) : n;
}

static void show(hone_metrics *m, const hone_step_metrics *s)
{
    bool   keep = s->step % (int64_t)m->keep_every == 0 || s->step == 1 || s->step == m->total || s->has_eval;
    double rate = (double)s->tokens / fmax(s->seconds, 1e-9);
    double left = (hone_clock_now() - m->started) / (double)(s->step - m->first) * (double)(m->total - s->step);
    char   text[256], eta[32], eval[48] = "";

    m->speed = m->speed > 0 ? 0.8 * m->speed + 0.2 * rate : rate;
    duration(eta, left);
    if (s->has_eval)
        snprintf(eval, sizeof eval, "  eval loss %.4f", s->eval_loss);
    snprintf(text, sizeof text, "step %lld/%lld  epoch %.2f  loss %.4f  %s left  lr %.2e  grad norm %.3f  %.0f tokens/s  %.0f %% of peak  "
             "%.2f GB%s%s", (long long)s->step, (long long)m->total, s->epoch, s->loss, eta, s->learning_rate, s->grad_norm,
             m->speed, m->peak_flops > 0 ? 100 * s->flops / fmax(s->seconds, 1e-9) / m->peak_flops : 0,
             (double)s->memory / 1e9, eval, !s->skipped ? "" : s->supervised_tokens ? "  SKIPPED (not finite)" : "  SKIPPED (no token has a label)");
    if (m->terminal && m->log.write) {
        fprintf(stderr, "\r\033[K%.*s%s", keep ? (int)sizeof text : visible(text), text, keep ? "\n" : "");
        m->open = !keep;
    } else if (keep) {
        hone_info(&m->log, "%s", text);
    }
}

hone_status hone_metrics_step(hone_metrics *m, const hone_step_metrics *s)
{
    HONE_TRY(write_line(m, s));
    show(m, s);
    return HONE_OK;
}
