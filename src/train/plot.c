/* The loss curve as a picture. */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"
#include "train/metrics.h"

typedef struct point { double step, loss; } point;
typedef HONE_VEC(point) curve;

enum { WIDTH = 900, HEIGHT = 540, LEFT = 80, RIGHT = 24, TOP = 44, BOTTOM = 56 };

static hone_status read_curves(curve *loss, curve *eval, const char *path)
{
    char       *text;
    size_t      n;
    hone_status st = HONE_OK;

    HONE_TRY(hone_file_read_all(&text, &n, path));
    for (char *p = text; st == HONE_OK && *p;) {
        char   *end = strchrnul(p, '\n');
        json_t *line = json_loadb(p, (size_t)(end - p), 0, NULL);
        double  step = json_number_value(json_object_get(line, "step"));

        if (json_is_number(json_object_get(line, "loss")))
            st = HONE_VEC_PUSH(loss, (point){ step, json_number_value(json_object_get(line, "loss")) });
        if (st == HONE_OK && json_is_number(json_object_get(line, "eval_loss")))
            st = HONE_VEC_PUSH(eval, (point){ step, json_number_value(json_object_get(line, "eval_loss")) });
        json_decref(line);
        p = *end ? end + 1 : end;
    }
    hone_free(text);
    return st;
}

typedef struct frame { cairo_t *cr; double x0, x1, y0, y1; } frame;

static double px(const frame *f, double step) { return LEFT + (step - f->x0) / (f->x1 - f->x0) * (WIDTH - LEFT - RIGHT); }
static double py(const frame *f, double loss) { return HEIGHT - BOTTOM - (loss - f->y0) / (f->y1 - f->y0) * (HEIGHT - TOP - BOTTOM); }

static void include(frame *f, const curve *c)
{
    for (size_t i = 0; i < c->len; i++) {
        f->x0 = fmin(f->x0, c->data[i].step);
        f->x1 = fmax(f->x1, c->data[i].step);
        f->y0 = fmin(f->y0, c->data[i].loss);
        f->y1 = fmax(f->y1, c->data[i].loss);
    }
}

/* A round step (1, 2 or 5 times a power of ten) that gives about `n` marks. */
static double tick(double range, int n)
{
    double raw = range / n, power = pow(10, floor(log10(raw))), lead = raw / power;

    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static void text_at(cairo_t *cr, double x, double y, double align, const char *text)
{
    cairo_text_extents_t e;

    cairo_text_extents(cr, text, &e);
    cairo_move_to(cr, x - align * e.x_advance, y);
    cairo_show_text(cr, text);
}

static void draw_axes(const frame *f)
{
    double dy = tick(f->y1 - f->y0, 6), dx = fmax(tick(f->x1 - f->x0, 8), 1);
    char   text[32];

    cairo_set_font_size(f->cr, 13);
    cairo_set_line_width(f->cr, 1);
    for (double y = ceil(f->y0 / dy) * dy; y <= f->y1; y += dy) {
        cairo_set_source_rgb(f->cr, 0.88, 0.88, 0.88);
        cairo_move_to(f->cr, LEFT, round(py(f, y)) + 0.5);
        cairo_line_to(f->cr, WIDTH - RIGHT, round(py(f, y)) + 0.5);
        cairo_stroke(f->cr);
        cairo_set_source_rgb(f->cr, 0.25, 0.25, 0.25);
        snprintf(text, sizeof text, "%.4g", fabs(y) < dy / 2 ? 0.0 : y);      /* neither -0 nor what rounding left of 0 */
        text_at(f->cr, LEFT - 8, py(f, y) + 4, 1, text);
    }
    for (double x = ceil(f->x0 / dx) * dx; x <= f->x1; x += dx) {
        snprintf(text, sizeof text, "%.0f", x);
        text_at(f->cr, px(f, x), HEIGHT - BOTTOM + 20, 0.5, text);
    }
    text_at(f->cr, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, 0.5, "optimizer step");
    text_at(f->cr, LEFT, TOP - 14, 0, "loss per token");
}

static void draw_curve(const frame *f, const curve *c, double r, double g, double b, double width, bool dots)
{
    cairo_set_source_rgb(f->cr, r, g, b);
    cairo_set_line_width(f->cr, width);
    cairo_new_path(f->cr);      /* text leaves a current point behind */
    for (size_t i = 0; i < c->len; i++)
        cairo_line_to(f->cr, px(f, c->data[i].step), py(f, c->data[i].loss));
    cairo_stroke(f->cr);
    for (size_t i = 0; (dots || c->len == 1) && i < c->len; i++) {
        cairo_arc(f->cr, px(f, c->data[i].step), py(f, c->data[i].loss), 3.5, 0, 6.2832);
        cairo_fill(f->cr);
    }
}

/* The curve's moving average. How much of the past each point keeps grows with the run, as in LLaMA-Factory's plots. */
static hone_status smooth(curve *out, const curve *in)
{
    double mean = 0, keep = 1.8 * (1 / (1 + exp(-0.05 * (double)in->len)) - 0.5);

    for (size_t i = 0; i < in->len; i++) {
        mean = i ? keep * mean + (1 - keep) * in->data[i].loss : in->data[i].loss;
        HONE_TRY(HONE_VEC_PUSH(out, (point){ in->data[i].step, mean }));
    }
    return HONE_OK;
}

static void draw(cairo_t *cr, const curve *loss, const curve *average, const curve *eval)
{
    frame f = { cr, INFINITY, -INFINITY, INFINITY, -INFINITY };

    include(&f, loss);
    include(&f, eval);
    if (f.x1 - f.x0 < 1)
        f.x1 = f.x0 + 1;
    if (f.y1 - f.y0 < 1e-6 * (1 + fabs(f.y1)))     /* a range that its marks can be told apart in */
        f.y1 = f.y0 + 1e-6 * (1 + fabs(f.y1));
    f.y1 += 0.05 * (f.y1 - f.y0);
    f.y0 -= 0.05 * (f.y1 - f.y0);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    draw_axes(&f);
    draw_curve(&f, loss, 0.70, 0.80, 0.93, 1.2, false);
    draw_curve(&f, average, 0.11, 0.38, 0.70, 2.2, false);
    draw_curve(&f, eval, 0.85, 0.42, 0.10, 2.0, true);
    cairo_set_source_rgb(cr, 0.11, 0.38, 0.70);
    text_at(cr, WIDTH - RIGHT, TOP - 14, 1, eval->len ? "training (averaged)      " : "training (averaged)");
    cairo_set_source_rgb(cr, 0.85, 0.42, 0.10);
    if (eval->len)
        text_at(cr, WIDTH - RIGHT, TOP + 4, 1, "evaluation");
}

static cairo_status_t append_png(void *closure, const unsigned char *data, unsigned length)
{
    hone_str_append(closure, data, length);
    return CAIRO_STATUS_SUCCESS;
}

hone_status hone_metrics_plot(const char *dir)
{
    hone_status      st = HONE_OK;
    curve            loss = { NULL, 0, 0 }, average = { NULL, 0, 0 }, eval = { NULL, 0, 0 };
    char            *from = hone_path_join(dir, "metrics.jsonl"), *to = hone_path_join(dir, "training_loss.png");
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    cairo_t         *cr = cairo_create(surface);
    hone_str         png = HONE_STR_INIT;

    HONE_GO(from && to ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(read_curves(&loss, &eval, from));
    HONE_GO(smooth(&average, &loss));
    if (loss.len == 0)
        goto out;
    draw(cr, &loss, &average, &eval);
    HONE_GO_CHECK(cairo_surface_write_to_png_stream(surface, append_png, &png) == CAIRO_STATUS_SUCCESS, HONE_E_NOMEM,
                  "cannot draw the loss curve");
    HONE_GO(hone_str_ok(&png));
    HONE_GO(hone_file_write_all(to, png.data, png.len));
out:
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    hone_str_deinit(&png);
    HONE_VEC_DEINIT(&loss);
    HONE_VEC_DEINIT(&average);
    HONE_VEC_DEINIT(&eval);
    hone_free(from);
    hone_free(to);
    return st;
}
