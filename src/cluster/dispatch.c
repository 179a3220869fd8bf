/* Sends, from rank 0 during a stretch, tasks and frozen states to helper ranks, revokes tasks that were taken over, and
 * assigns idle ranks to busy ones. The scheduler (execute/claims.c) decides which tasks these are. */
#include "cluster/coordinator_state.h"

#include <string.h>

void gess__dispatch_frozen(gess__coordinator *c, int i, size_t ensemble)
{
    const gess__packed_frozen *f = &c->frozen[ensemble];
    if (c->peers[i].generation[ensemble] == f->generation) return;
    gess__coordinator_send(c, i, GESS__WIRE_FROZEN, f->packed.bytes, f->packed.size);
    c->peers[i].generation[ensemble] = f->generation;
}

/* ---- tasks ---- */

static void send_task(gess__coordinator *c, int i, const gess__ensemble *e, const gess__claim *claim)
{
    const gess__task *t = &claim->task;
    gess__archive *a = &c->out;
    gess__order order = {.ensemble = e->number,
                         .serial = claim->serial,
                         .block = claim->block,
                         .chain = e->chains.first + t->first,
                         .count = t->count,
                         .keep = t->keep,
                         .warmup = t->warmup,
                         .phase = t->phase,
                         .coordinate = gess__scheduler_stretch(c->scheduler)->moves.coordinate,
                         .start = t->start,
                         .iterations = t->iterations,
                         .from = t->from,
                         .thin = t->thin,
                         .window_start = t->window_start,
                         .window_stride = t->window_stride,
                         .rebind = t->rebind,
                         .points = t->points != NULL};
    int remote;
    order.depth = gess__scheduler_speculation_depth(c->scheduler, &order.sec_per_eval, &remote);
    a->size = 0;
    GESS_ARCHIVE(a, &order);
    gess__chains_archive(t->chains, t->first, t->count, a);
    gess__scheduler_sent(c->scheduler, claim);
    if (a->bad) {
        gess_error error;
        gess__coordinator_fail(c, gess__fail(&error, GESS_ERR_INTERNAL, "out of memory for a task"), &error);
        return;
    }
    gess__peer *p = &c->peers[i];
    p->outstanding[p->count++] =
        (gess__outstanding){.ensemble = e->number, .serial = claim->serial, .block = claim->block};
    gess__dispatch_frozen(c, i, e->number);
    gess__coordinator_send(c, i, GESS__WIRE_TASK, a->bytes, a->size);
}

/* Gives one task to a helper rank; returns whether there was one. */
static int give_one(gess__coordinator *c, int i)
{
    gess__peer *p = &c->peers[i];
    gess__claim claim;
    const gess__ensemble *e = gess__scheduler_ensemble(c->scheduler);
    if (!gess__scheduler_claim(c->scheduler, i + 1, p->sec_per_eval, p->count / p->threads, &claim)) return 0;
    send_task(c, i, e, &claim);
    return 1;
}

/* First a task for every thread of the ranks that speculate for nobody, then for those of the others, then some in
 * reserve. */
int gess__dispatch_tasks(gess__coordinator *c)
{
    enum { UNASSIGNED, ASSIGNED, RESERVE, WAYS };
    int given = 0, more = 1;
    for (int way = UNASSIGNED; way < WAYS; way++)
        for (more = 1; more && c->status == GESS_OK;) {
            more = 0;
            for (int k = 0; k < gess__peer_count(c); k++) {
                int i = (c->first + k) % gess__peer_count(c);
                const gess__peer *p = &c->peers[i];
                if (!p->present || p->count >= (way == RESERVE ? p->room : p->threads)) continue;
                if (way == UNASSIGNED && c->loads[i + 1].owner > 0) continue;
                if (!give_one(c, i)) {
                    c->first = (i + 1) % gess__peer_count(c);
                    return given;
                }
                given = more = 1;
            }
        }
    return given;
}

/* Tells helper ranks of the tasks that others have taken over. */
static void revoke(gess__coordinator *c)
{
    uint64_t takeovers = gess__scheduler_takeovers(c->scheduler);
    size_t number = gess__scheduler_ensemble(c->scheduler)->number;
    if (takeovers == c->takeovers) return;
    c->takeovers = takeovers;
    for (int i = 0; i < gess__peer_count(c); i++)
        for (size_t k = 0; k < c->peers[i].count; k++) {
            gess__outstanding *r = &c->peers[i].outstanding[k];
            if (r->revoked || r->ensemble != number || gess__scheduler_holds(c->scheduler, r->block, r->serial))
                continue;
            uint64_t key[2] = {r->ensemble, r->serial};
            r->revoked = 1;
            c->peers[i].wasted++;
            gess__coordinator_send(c, i, GESS__WIRE_REVOKE, key, sizeof key);
        }
}

/* ---- idle ranks ---- */

/* Notes which helper ranks have tasks; returns whether one has none. */
static int note_loads(gess__coordinator *c)
{
    int idle = 0;
    for (int i = 0; i < gess__peer_count(c); i++) {
        const gess__peer *p = &c->peers[i];
        c->loads[i + 1].tasks = p->present ? (unsigned)p->count : 0;
        c->loads[i + 1].idle = p->present && p->count == 0 ? p->threads : 0;
        idle |= c->loads[i + 1].idle > 0;
    }
    return idle;
}

static void assign(gess__coordinator *c, const gess__assignment *assignment)
{
    if (assignment->threads > 0) c->peers[assignment->helper - 1].assignments++;
    if (assignment->owner == 0)
        gess__helpers_assign(&c->helpers, assignment->helper, assignment->threads);
    else
        gess__coordinator_send(c, assignment->owner - 1, GESS__WIRE_ASSIGN, assignment, sizeof *assignment);
}

/* Assigns ranks without a task to those that have one. */
static void assign_idle(gess__coordinator *c)
{
    int remote, idle = note_loads(c);
    const gess__ensemble *e = gess__scheduler_ensemble(c->scheduler);
    c->backoff.urgent = idle || gess__scheduler_busy(c->scheduler) < gess__team_size(e->team);
    if (!idle && !c->assigned) return;
    size_t depth = gess__scheduler_speculation_depth(c->scheduler, &c->helpers.sec_per_eval, &remote);
    gess__assignment assignment;
    if (!remote && !c->assigned) return;
    c->loads[0].tasks = gess__scheduler_busy(c->scheduler);
    while (c->status == GESS_OK && gess__assign_next(c->loads, c->comm->size, remote ? depth : 0, &assignment))
        assign(c, &assignment);
    c->assigned = 0;
    for (int i = 0; i < gess__peer_count(c); i++) {
        if (c->loads[i + 1].owner == 0) continue;
        c->assigned = 1;
        /* Not while many messages wait to be received: a helper rank in a long evaluation receives nothing. Until it
         * has the frozen state, it refuses points. */
        if (c->comm->pending(c->comm) < 16 + 4 * (size_t)gess__peer_count(c)) gess__dispatch_frozen(c, i, e->number);
    }
    c->backoff.max_seconds = c->assigned ? gess__remote_poll_seconds(c->helpers.sec_per_eval) : 0.0;
}

/* Sends the predicted points of tasks that run here. */
static int send_predicted(gess__coordinator *c)
{
    gess_error error = {0};
    int sent = 0, status = gess__helpers_send(&c->helpers, &sent, &error);
    if (status != GESS_OK) gess__coordinator_fail(c, status, &error);
    return sent;
}

int gess__dispatch(gess__coordinator *c)
{
    int sent = gess__dispatch_tasks(c);
    revoke(c);
    assign_idle(c);
    return sent | send_predicted(c);
}
