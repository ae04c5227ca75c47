/*
 * op/param.h -- what an op knows of a parameter: its leaf tensor and where its gradient goes. nn/param.h lays them out.
 */
#ifndef HONE_OP_PARAM_H
#define HONE_OP_PARAM_H

#include "tensor/tensor.h"

typedef struct hone_param {
    char        *name;          /* dotted, as in the checkpoint */
    int          ndim;
    int64_t      dims[HONE_MAX_DIMS];
    hone_tensor *value;         /* the leaf that ops read, in the compute dtype */
    hone_tensor *grad;          /* accumulation type, same shape; NULL if not trained */
    bool         grad_ready;    /* holds this step's sum so far; false = the next writer overwrites */
    bool         decay;         /* weight decay applies */
    struct hone_group *group;   /* nn/param.h */
    int64_t      offset;        /* elements into the group's flat buffers */
} hone_param;

#endif /* HONE_OP_PARAM_H */
