/* Options as text: the resolved config, --help, docs/options.md. */
#include <ctype.h>
#include <string.h>

#include "option/option_int.h"

void hone_options_dump(const hone_options *o, hone_str *out, bool with_sources)
{
    const char *group = "";

    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];
        size_t            start;

        if (with_sources && strcmp(group, row->group) != 0)
            hone_str_printf(out, "%s# %s\n", i ? "\n" : "", row->group);
        group = row->group;
        start = out->len;
        hone_str_printf(out, "%s: ", row->name);
        hone_option_write(out, o, row);
        if (with_sources)
            hone_str_printf(out, "%*s # %s", (int)HONE_MAX(0, 50 - (int)(out->len - start)), "",
                            hone_options_source(o, row->name));
        hone_str_putc(out, '\n');
    }
}

void hone_options_identity(const hone_options *o, hone_str *out)
{
    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];

        if (row->state != STATE_YES)
            continue;
        hone_str_printf(out, "%s: ", row->name);
        hone_option_write(out, o, row);
        hone_str_putc(out, '\n');
    }
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Do samples depend on the option? Of the data options and hone's own all do but those that say where things are, how samples
 * are grouped, or how they are trained on; of the others few. */
static bool makes_samples(const hone_options *o, const option_row *row)
{
    static const char *const none[] = { "dataset_dir", "media_dir", "tokenized_path", "overwrite_cache", "streaming", "buffer_size",
                                        "packing_strategy", "global_batch_size", "global_batch_tokens", "dropout", "nonfinite",
                                        "op_policy" };
    static const char *const more[] = { "stage", "split_special_tokens", "add_tokens", "add_special_tokens",
                                        "new_special_tokens_config" };
    bool own = strcmp(row->group, "hone's own") == 0, data = strcmp(row->group, "Data") == 0;

    if (is_one_of(row->name, more, HONE_COUNTOF(more)))     /* some are implemented for data alone */
        return true;
    if (row->state != STATE_YES && (row->state != STATE_RUN || own))
        return false;
    if (strcmp(row->name, "seed") == 0)
        return o->val_size > 0 || o->interleave_probs.n > 0;
    if (strcmp(row->name, "pack_length") == 0)
        return o->stage == HONE_STAGE_PT;
    return (own || data) && !is_one_of(row->name, none, HONE_COUNTOF(none));
}

void hone_options_data_identity(const hone_options *o, hone_str *out)
{
    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];

        if (!makes_samples(o, row))
            continue;
        hone_str_printf(out, "%s: ", row->name);
        hone_option_write(out, o, row);
        /* chat templates are given it only where it is set */
        if (hone_ends_with(row->name, "_thinking") && strcmp(hone_options_source(o, row->name), "default") != 0)
            hone_str_puts(out, " (set)");
        hone_str_putc(out, '\n');
    }
}

static void write_type(hone_str *out, const option_row *row)
{
    static const char *const names[] = { "text", "list", "int", "float", "bool", "bool", "", "mapping" };
    char buf[64];

    if (row->kind == KIND_E) {
        bool later, first = true;
        size_t n = hone_option_choice_at(row, SIZE_MAX, buf, &later);

        for (size_t i = 0; i < n; i++) {
            (void)hone_option_choice_at(row, i, buf, &later);
            if (later)
                continue;
            hone_str_printf(out, "%s%s", first ? "" : ", ", buf);
            first = false;
        }
        return;
    }
    hone_str_puts(out, names[row->kind]);
    if (row->kind != KIND_I && row->kind != KIND_F)
        return;
    if (row->hi < HONE_ANY_)
        hone_str_printf(out, " %.15g to %.15g", row->lo, row->hi);
    else if (row->lo > -HONE_ANY_)
        hone_str_printf(out, " from %.15g", row->lo);
}

static bool has_later_choice(const option_row *row) { return row->kind == KIND_E && strchr(row->choices, '?'); }

static void write_later_choices(hone_str *out, const option_row *row)
{
    char   buf[64];
    bool   later, first = true;
    size_t n = hone_option_choice_at(row, SIZE_MAX, buf, &later);

    for (size_t i = 0; i < n; i++) {
        (void)hone_option_choice_at(row, i, buf, &later);
        if (!later)
            continue;
        hone_str_printf(out, "%s%s", first ? "" : ", ", buf);
        first = false;
    }
}

static void write_swift_names(hone_str *out, const option_row *row, const char *before)
{
    static const char *const swift[][2] = {
#define PAIR_(theirs, ours) { #theirs, #ours },
        HONE_SWIFT_NAMES(PAIR_)
#undef PAIR_
    };

    for (size_t i = 0; i < HONE_COUNTOF(swift); i++)
        if (strcmp(swift[i][1], row->name) == 0) {
            hone_str_printf(out, "%s%s", before, swift[i][0]);
            before = ", ";
        }
}

static const char *const state_texts[] = { "implemented", "implemented; the trained weights do not depend on it",
                                           "accepted, without effect here",
                                           "not implemented yet: refused unless it has its default" };

static void help_one(hone_str *out, const option_row *row)
{
    hone_str_printf(out, "%s: %s\n", row->name, row->help);
    hone_str_puts(out, "  values:      ");
    write_type(out, row);
    if (has_later_choice(row)) {
        hone_str_puts(out, "\n  not yet:     ");
        write_later_choices(out, row);
    }
    hone_str_printf(out, "\n  default:     %s\n  environment: HONE_", row->def);
    for (const char *p = row->name; *p; p++)
        hone_str_putc(out, (char)toupper((unsigned char)*p));
    write_swift_names(out, row, "\n  ms-swift:    ");
    hone_str_printf(out, "\n  state:       %s\n", state_texts[row->state]);
}

hone_status hone_option_help(hone_str *out, const char *name)
{
    const char *group = "";

    if (name) {
        const option_row *row = hone_option_find(name);

        if (!row)
            return hone_option_unknown("", name);
        help_one(out, row);
        return hone_str_ok(out);
    }
    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];

        if (row->state == STATE_NOOP || row->state == STATE_LATER)
            continue;
        if (strcmp(group, row->group) != 0)
            hone_str_printf(out, "%s%s\n", i ? "\n" : "", row->group);
        group = row->group;
        hone_str_printf(out, "  %-30s %s (", row->name, row->help);
        write_type(out, row);
        hone_str_printf(out, "; default %s)\n", row->def);
    }
    for (int pass = 0; pass < 2; pass++) {
        size_t column = 0;

        hone_str_puts(out, pass ? "\nnot implemented yet (refused unless they have their default)\n"
                                : "\naccepted without effect here\n");
        for (size_t i = 0; i < hone_option_row_count; i++) {
            const option_row *row = &hone_option_rows[i];

            if (row->state != (pass ? STATE_LATER : STATE_NOOP))
                continue;
            if (column == 0 || column + strlen(row->name) > 110) {
                hone_str_printf(out, "%s ", column ? "\n" : "");
                column = 1;
            }
            hone_str_printf(out, " %s", row->name);
            column += strlen(row->name) + 1;
        }
        hone_str_putc(out, '\n');
    }
    return hone_str_ok(out);
}

static void docs_rows(hone_str *out, const char *group, bool implemented)
{
    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];

        if (strcmp(row->group, group) != 0 || (row->state == STATE_YES || row->state == STATE_RUN) != implemented)
            continue;
        hone_str_printf(out, "| `%s` | ", row->name);
        write_type(out, row);
        hone_str_printf(out, " | `%s` | ", row->def);
        if (row->state == STATE_NOOP)
            hone_str_puts(out, "no effect: ");
        else if (row->state == STATE_LATER)
            hone_str_puts(out, "not yet: ");
        hone_str_puts(out, row->help);
        if (has_later_choice(row) && implemented) {
            hone_str_puts(out, " (not yet: ");
            write_later_choices(out, row);
            hone_str_putc(out, ')');
        }
        if (row->state == STATE_RUN)
            hone_str_puts(out, " *");
        hone_str_puts(out, " | ");
        write_swift_names(out, row, "");
        hone_str_puts(out, " |\n");
    }
}

static const char docs_head[] =
    "# Options\n"
    "\n"
    "(Made by `tools/gen-docs` from `src/option/option_list.h`; change it there.)\n"
    "\n"
    "`hone train CONFIG.yaml [--key value | key=value]` reads, in rising priority: defaults, the YAML file, the\n"
    "environment (`HONE_` + the name in capitals), the command line. Names and meanings are LLaMA-Factory's; hone's own\n"
    "options take names it does not use. `hone help options NAME` explains one, `hone help config CONFIG.yaml` shows what a\n"
    "config comes to, with the source of each value, as does the `config.resolved.yaml` that every run writes.\n"
    "\n"
    "- The file is one flat mapping, typed as YAML 1.1 has it (`yes`, `off`, `1_000`), and `1e-4` is a number. A key that\n"
    "  stands twice, an unknown key (the nearest is offered), a wrong type and a value out of range are errors, with file,\n"
    "  line and column.\n"
    "- Lists are YAML lists, or one text with commas. On the command line, a bare `--key` means true, and `-` in a name\n"
    "  is `_`.\n"
    "- *Not yet*: known, but not implemented, and the result would depend on it: refused unless it has its default.\n"
    "  *No effect*: accepted, since the result does not depend on it here; the log lists those that were set.\n"
    "- `*`: the trained weights do not depend on it, so a run may go on from a checkpoint with another value.\n"
    "\n"
    "## Where hone differs from LLaMA-Factory\n"
    "\n"
    "- `finetuning_type: full` must be given to train: the default, `lora`, is not implemented yet.\n"
    "- `do_train` is true by default: `hone train` trains.\n"
    "- Without `template`, prompts are rendered with the chat template that comes with the model itself; LLaMA-Factory\n"
    "  derives slots from it, which gives other tokens at their borders.\n"
    "- `packing` never lets samples see each other, adds no padding, and so does not lower `cutoff_len` by one.\n"
    "- `dataset` and `eval_dataset` also take paths of files, folders and patterns.\n"
    "- Without `template`, a sample longer than `cutoff_len` loses its end (`truncation: cut-right`); with it, turns are\n"
    "  cut as LLaMA-Factory cuts them (`truncation: fit`).\n"
    "- `val_size: 1` is one row.\n"
    "- Without `bf16: true`, training computes in f32 whatever the checkpoint's dtype is.\n"
    "- `report_to` is `none` by default, `plot_loss` is true, and `output_dir` has no default.\n"
    "- With `overwrite_output_dir: true` every start is a new one, so a run that was stopped goes on with\n"
    "  `--overwrite_output_dir false`; without it, the newest checkpoint of `output_dir` is gone on from.\n";

void hone_option_docs(hone_str *out)
{
    static const char *const groups[] = {
#define TITLE_(title, LIST) title,
        HONE_OPTION_GROUPS(TITLE_)
#undef TITLE_
    };
    static const char columns[] = "| option | values | default | meaning | ms-swift |\n|---|---|---|---|---|\n";

    hone_str_puts(out, docs_head);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < HONE_COUNTOF(groups); i++) {
            if (pass && i == HONE_COUNTOF(groups) - 1)
                continue;       /* hone's own are all implemented */
            hone_str_printf(out, "\n## %s%s\n\n%s", groups[i], pass ? ": known, not used" : "", columns);
            docs_rows(out, groups[i], !pass);
        }
}
