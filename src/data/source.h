/*
 * data/source.h -- which files a data set is made of, and what their rows hold: names of dataset_info.json, or paths.
 */
#ifndef HONE_DATA_SOURCE_H
#define HONE_DATA_SOURCE_H

#include "base/json.h"
#include "base/vec.h"
#include "option/option.h"

typedef enum hone_row_format {
    HONE_ROWS_AUTO,             /* by the keys of the first row */
    HONE_ROWS_MESSAGES,         /* {"messages": [{"role", "content", …}], "tools"?, "chat_template_kwargs"?} */
    HONE_ROWS_SHAREGPT,         /* {"conversations": [{"from", "value"}], "system"?, "tools"?} */
    HONE_ROWS_OPENAI,           /* dataset_info.json's `formatting: openai`: messages under the names that `tags` gives */
    HONE_ROWS_SWIFT,            /* ms-swift: {"query", "response", "history"?, …} under any of their names, conversation */
    HONE_ROWS_TRL,              /* TRL: {"prompt"?, "completion"} or {"prompt"?, "chosen", "rejected"}, texts or messages */
    HONE_ROWS_ALPACA,           /* {"instruction", "input"?, "output", "system"?, "history"?} */
    HONE_ROWS_IDS,              /* {"input_ids": [..], "labels"?: [..]} */
    HONE_ROWS_TEXT              /* {"text": ".."}, or a line of a .txt file */
} hone_row_format;

/* Names of columns and roles; NULL where a row has no such thing. */
typedef struct hone_row_columns {
    const char *prompt, *query, *response, *history, *system, *messages, *tools;
    const char *chosen, *rejected, *kto_tag, *images, *videos, *audios;
    const char *role_tag, *content_tag, *user_tag, *assistant_tag, *observation_tag, *function_tag, *system_tag;
} hone_row_columns;

/* A file. Those of a data set (a folder, a pattern) are in order and one after another: together they are its rows. */
typedef struct hone_source {
    char            *path;
    char            *name;      /* of its data set, as `dataset` has it */
    int32_t          set;       /* number of its data set: its place in `dataset` */
    hone_row_format  format;
    hone_row_columns columns;   /* strings borrowed from `info` or static */
    json_t          *info;      /* the entry of LLaMA-Factory's dataset_info.json, or NULL */
    json_t          *renames;   /* of ms-swift's dataset_info.json: {a column of the file: its name here}, or NULL */
    bool             ranking;   /* it says that the rows are pairs of a chosen and a rejected answer */
    int64_t          num_samples;   /* rows to draw from its data set, more than it has included; -1 = every row once */
    int64_t          max_rows;  /* of its data set (after that draw) the first so many; -1 = all */
} hone_source;

typedef HONE_VEC(hone_source) hone_sources;

/*
 * Append the files that `names` mean: names in dataset_dir/dataset_info.json, paths of files and folders, patterns ("*",
 * "?", "[…]" and "**" for folders below folders); each also with ms-swift's "#count".
 * Errors: E_IO, E_FORMAT, E_USAGE (an unknown name, with the nearest one; an entry that does not go with the stage),
 * E_UNSUPPORTED (what is not read here, with the way out).
 */
hone_status hone_sources_find(hone_sources *out, const hone_strings *names,
                              const hone_options *options) HONE_MUST_CHECK;
void        hone_sources_deinit(hone_sources *sources);

#endif /* HONE_DATA_SOURCE_H */
