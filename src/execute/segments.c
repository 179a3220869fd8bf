/* Cuts a stretch into segments, decides how long they are and how many are held, and delivers complete ones to the sink
 * in order. */
#include "base/mutant.h"
#include "execute/scheduler_state.h"

#include <string.h>

#define TASK_SECONDS 0.005

/* No block is further ahead of another than LEAD_SECONDS, or GESS__MIN_HELD_SEGMENTS: a stop waits for the last block
 * to catch up with the first. */
#define LEAD_SECONDS 3.0

uint64_t gess__record_kept(const gess__record *record, uint64_t start, uint64_t iterations)
{
    uint64_t end = start + iterations;
    if (record->thin == 0 || end <= record->from) return 0;
    uint64_t before = start > record->from ? (start - record->from) / record->thin : 0;
    return (end - record->from) / record->thin - before;
}

uint64_t gess__segment_start(const gess__scheduler *s, uint64_t k)
{
    uint64_t past = k * s->length;
    return s->stretch->start + (past < s->stretch->iterations ? past : s->stretch->iterations);
}

uint64_t gess__segment_kept(const gess__scheduler *s, uint64_t k)
{
    uint64_t start = gess__segment_start(s, k);
    return gess__record_kept(s->record, start, gess__segment_start(s, k + 1) - start);
}

double *gess__segment_rows(const gess__scheduler *s, uint64_t k)
{
    return s->rows + k % s->slots * s->length * s->ensemble->chains.count * s->ensemble->target.columns;
}

/* Seconds that a task should take. */
static double task_seconds(const gess__remote *remote)
{
    if (remote == NULL) return TASK_SECONDS;
    double shared = GESS__REMOTE_TASK_SECONDS_PER_WORKER * (double)remote->workers;
    return shared > GESS__REMOTE_TASK_SECONDS ? shared : GESS__REMOTE_TASK_SECONDS;
}

static size_t choose_slots(const gess__scheduler *s)
{
    double seconds = s->sec_per_iteration * (double)s->length;
    size_t lead = seconds > 0.0 ? (size_t)(LEAD_SECONDS / seconds) : 0;
    size_t slots = GESS__MIN_HELD_SEGMENTS * (size_t)(s->max_length / s->length);
    if (slots > lead) slots = lead > GESS__MIN_HELD_SEGMENTS ? lead : GESS__MIN_HELD_SEGMENTS;
    return slots > GESS__MAX_HELD_SEGMENTS ? GESS__MAX_HELD_SEGMENTS : slots;
}

void gess__segments_plan(gess__scheduler *s, gess__ensemble *e, const gess__stretch *stretch,
                         const gess__record *record)
{
    s->ensemble = e;
    s->stretch = stretch;
    s->record = record;
    s->blocks = (stretch->count + e->block - 1) / e->block;
    double fit = s->sec_per_iteration > 0.0 ? task_seconds(e->remote) / s->sec_per_iteration : 1.0;
    s->length = fit >= (double)s->max_length ? s->max_length : fit > 1.0 ? (uint64_t)fit : 1;
    s->segments = (stretch->iterations + s->length - 1) / s->length;
    s->delivered = s->evals = s->updates = 0;
    s->delivering = 0;
    s->status = GESS_OK;
    s->free = 1; /* the thread that runs the stretch; the others when they come */
    s->claims = 0;
    s->remote_tally = (gess__tally){0};
    memset(s->state, 0, s->blocks * sizeof *s->state);
    s->slots = choose_slots(s);
    for (size_t i = 0; i < s->slots; i++) s->remaining[i] = s->blocks;
}

/* Segment k, complete. */
static gess__segment segment_of(const gess__scheduler *s, uint64_t k)
{
    uint64_t start = gess__segment_start(s, k);
    size_t first = s->stretch->first, end = first + s->stretch->count, kept = s->ensemble->kept;
    return (gess__segment){.first = first,
                           .count = (end < kept ? end : kept) - first,
                           .iterations = gess__segment_start(s, k + 1),
                           .first_draw = gess__record_kept(s->record, 0, start),
                           .draws = gess__segment_kept(s, k),
                           .evals = s->evals,
                           .updates = s->updates,
                           .rows = gess__segment_rows(s, k)};
}

/* Whether a chain has one log density in all draws of a segment. */
static int has_waiting(const gess__scheduler *s, const gess__segment *segment)
{
    size_t columns = s->ensemble->target.columns;
    for (size_t c = 0; c < segment->count; c++) {
        const double *row = segment->rows + c * segment->draws * columns;
        uint64_t same = 0;
        for (uint64_t i = 0; i < segment->draws; i++) same += row[i * columns] == row[0];
        if (same == segment->draws) return 1;
    }
    return 0;
}

void gess__segments_deliver(gess__scheduler *s)
{
    while (!s->delivering && s->status == GESS_OK && s->delivered < s->segments &&
           s->remaining[s->delivered % s->slots] == 0) {
        gess__segment segment = segment_of(s, s->delivered);
        gess_error error = {0};
        int status = GESS_OK;
        s->delivering = 1;
        s->free--;
        pthread_mutex_unlock(&s->lock);
        if (GESS__MUTANT(DROPS_WAITING) && has_waiting(s, &segment)) segment.draws = 0;
        if (s->record->sink != NULL) status = s->record->sink(s->record->user, &segment, &error);
        pthread_mutex_lock(&s->lock);
        s->free++;
        s->delivering = 0;
        if (status != GESS_OK) gess__scheduler_set_error(s, status, &error);
        s->remaining[s->delivered % s->slots] = s->blocks;
        s->delivered++;
        pthread_cond_broadcast(&s->changed);
    }
}
