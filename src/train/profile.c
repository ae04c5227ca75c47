#include "train/profile.h"

#include "op/dispatch.h"

void hone_profile_log(const hone_ctx *ctx, double seconds)
{
    const hone_profile *p = ctx->profile;
    bool                shown[HONE_OP_COUNT][HONE_PASS_COUNT] = { { false } };
    double              rest = seconds;

    hone_info(&ctx->log, "%-16s %-16s %9s %9s %7s %9s", "op", "pass", "calls", "seconds", "share", "GFLOP/s");
    for (;;) {
        int op = -1, pass = 0;

        for (int i = 0; i < HONE_OP_COUNT; i++)     /* the largest that is left */
            for (int k = 0; k < HONE_PASS_COUNT; k++)
                if (!shown[i][k] && p->op[i][k].calls > 0 && (op < 0 || p->op[i][k].seconds > p->op[op][pass].seconds)) {
                    op = i;
                    pass = k;
                }
        if (op < 0)
            break;
        shown[op][pass] = true;
        rest -= p->op[op][pass].seconds;
        hone_info(&ctx->log, "%-16s %-16s %9lld %9.3f %6.1f%% %9.1f", hone_op_name((hone_op)op), hone_pass_name((hone_pass)pass),
                  (long long)p->op[op][pass].calls, p->op[op][pass].seconds, 100 * p->op[op][pass].seconds / seconds,
                  p->op[op][pass].flops / p->op[op][pass].seconds / 1e9);
    }
    hone_info(&ctx->log, "%-16s %-16s %9s %9.3f %6.1f%%", "all else", "", "", rest, 100 * rest / seconds);
}
