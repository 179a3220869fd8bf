/* Ends a session: saves the last checkpoint, writes history.json and nans.csv, and logs the outcome. loop.c calls
 * it. */
#include "run/finish.h"

#include "run/checkpoint.h"
#include "run/directory.h"
#include "run/isolation.h"
#include "run/log.h"
#include "run/method_text.h"
#include "run/modes.h"
#include "run/nans_csv.h"
#include "run/run.h"
#include "run/stats.h"

int gess__run_write_history(gess_run *run, gess_error *err)
{
    if (run->directory == NULL) return GESS_OK;
    json_t *modes = NULL, *exploration;
    GESS_TRY(gess__modes_json(run, &modes, err));
    json_t *root = gess__history_json(&run->history, run->ensembles, run->sampler, &run->stats);
    if ((exploration = gess__exploration_json(run)) != NULL) json_object_set_new(root, "exploration", exploration);
    if (modes != NULL) json_object_set_new(root, "modes", modes);
    return gess__directory_write_json(run->folder, run->directory, "history.json", root, err);
}

int gess__run_set_stopped(gess_run *run, gess_error *err)
{
    return gess__fail(err, GESS_ERR_STOPPED, "%sstopped without waiting for the density",
                      run->out_of_time ? "the time limit --max-time is over: " : "");
}

int gess__run_finish(gess_run *run, int status, gess_error *err)
{
    if (run->abandoned) status = GESS_ERR_MODEL; /* until here: nothing may be saved */
    gess__run_update_stats(run);
    run->finished = status == GESS_OK;
    gess__run_describe_method(run);
    if (status == GESS_OK || status == GESS_ERR_STOPPED) {
        GESS_TRY(gess__checkpoint_save(run, err));
        GESS_TRY(gess__run_write_history(run, err));
    }
    /* After an error of the model the draws before it can be read; resuming cuts them back to the last checkpoint. */
    if (status == GESS_ERR_MODEL && run->writer != NULL) gess__writer_sync(run->writer, NULL);
    if (run->directory != NULL && run->stats.nans > 0) GESS_TRY(gess__nans_write(run, err));
    if (run->abandoned)
        status = gess__run_set_stopped(run, err);
    else if (status == GESS_ERR_STOPPED && run->out_of_time)
        gess__fail(err, status, "the time limit --max-time is over");
    gess__run_log_ranks(run);
    gess__isolation_log(run);
    if (run->model->remarks != NULL) {
        char text[1024] = "";
        run->model->remarks(run->model->user, text, sizeof text);
        if (text[0] != '\0') gess__run_log(run, "the model: %s", text);
    }
    gess__progress_estimate(run);
    gess__progress_file_write(run,
                              status == GESS_OK            ? "finished"
                              : status == GESS_ERR_STOPPED ? "stopped"
                                                           : "failed",
                              status != GESS_OK && err != NULL ? err->text : NULL);
    gess__run_log(run, "ended: %s; evaluations %llu, draws %llu", gess_status_text(status),
                  (unsigned long long)run->stats.evals, (unsigned long long)run->stats.draws);
    return status;
}
