/* Data sets of a few rows, written to a fresh folder. */
#ifndef DATA_FIXTURE_H
#define DATA_FIXTURE_H

#include "data/dataset.h"
#include "data/loader.h"

typedef struct t_data {
    char                 dir[64];
    hone_options        *options;
    hone_dataset        *train, *eval;
    hone_dataset_context context;
} t_data;

/* A folder, and no options yet. */
void        t_data_open(t_data *d);
void        t_data_close(t_data *d);
/* Write dir/name; n bytes, or all of `text` if n is 0. */
void        t_data_write(const t_data *d, const char *name, const char *text, size_t n);
/* Read these options alone; "@" in them stands for the folder. */
void        t_data_options(t_data *d, const char *yaml);
/* Load with these options (YAML); "@" in it stands for the folder. */
hone_status t_data_load(t_data *d, const char *yaml);
/* Ids (or labels) of sample i as text: "1 2 3". Static storage, good until the fourth next call. */
const char *t_data_ids(const hone_dataset *d, int64_t i);
const char *t_data_labels(const hone_dataset *d, int64_t i);

#endif /* DATA_FIXTURE_H */
