/* cli/data_progress.h -- a line on the terminal while samples are made, if that takes long. */
#ifndef HONE_CLI_DATA_PROGRESS_H
#define HONE_CLI_DATA_PROGRESS_H

#include "data/dataset.h"

typedef struct hone_data_progress { double start, shown; bool open; } hone_data_progress;

/* For hone_dataset_context.progress; the argument is a hone_data_progress of zeros. On a terminal the line is overwritten,
 * elsewhere one is written every half minute; nothing in the first two seconds. */
void hone_data_progress_show(void *arg, const hone_dataset_progress *progress);

#endif /* HONE_CLI_DATA_PROGRESS_H */
