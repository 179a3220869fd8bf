/* The journal of a run: the values of a slow density since the last checkpoint, by point.
 *
 * A run that is killed loses what it computed since its last checkpoint, and draws it again, bit for bit. With the
 * journal it does not evaluate the density again for that: a call whose points are in the journal is answered from
 * there. So a run makes progress in any slot of time that is longer than one evaluation. Only calls that take
 * GESS__JOURNAL_SECONDS per point or more are written: for faster densities it would cost more than it saves. */
#ifndef GESS_MODEL_JOURNAL_H
#define GESS_MODEL_JOURNAL_H

#include "base/status.h"

#include <stdint.h>

#define GESS__JOURNAL_SECONDS 0.0005

typedef struct gess__journal gess__journal;

/* Opens the file `journal` of a folder, if there is one, for writing at its end. With `keep` its entries answer calls,
 * up to the first damaged one, if they were made with the same `source`, a hash of the density's files; otherwise they
 * are dropped. */
int gess__journal_open(gess__journal **journal, int folder, const char *directory, uint64_t source, int keep,
                       gess_error *err);
void gess__journal_close(gess__journal *journal /* or NULL */);

/* Whether calls can be answered. */
int gess__journal_answers(const gess__journal *journal /* or NULL */);

/* Copies the `width` numbers that are stored for the point x; 0: there are none. */
int gess__journal_find(const gess__journal *journal, size_t dim, const double *x, size_t width, double *numbers);

/* Adds n points (n × dim) with their `width` numbers each. Several threads may call it at once. A failure ends the
 * journal, not the run. */
void gess__journal_add(gess__journal *journal, size_t n, size_t dim, const double *x, size_t width,
                       const double *numbers);

/* Forgets the entries that were read when the journal was opened: the density has changed. */
void gess__journal_forget(gess__journal *journal /* or NULL */);

/* Removes the file, after a checkpoint; the next entry makes it again. */
void gess__journal_clear(gess__journal *journal /* or NULL */);

#endif
