/* The modes of a run as a table, from "modes" of history.json: the largest first, with weight, error, number of chains,
 * and the centre in those parameters in which the modes differ most, by at least the modes' sd. The verdict, its JSON
 * and the report share it. */
#ifndef GESS_REPORT_MODE_TABLE_H
#define GESS_REPORT_MODE_TABLE_H

#include "report/summary.h"

enum { GESS__MAX_MODES = 10, GESS__MAX_MODE_PARAMETERS = 6 };

/* The table as JSON, a new reference:
 *   {"count": modes in all, "parameters": [names], "list": [{"weight", "error", "chains", "centre", "sd"}]}
 * with at most GESS__MAX_MODES modes; `centre` and `sd` follow `parameters`. Unknown numbers are null. NULL if there
 * are fewer than two modes, or if memory runs out. */
json_t *gess__mode_table(const json_t *history, const gess__summary *summary);

#endif
