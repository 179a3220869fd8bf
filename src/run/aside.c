/* Moves the files of a run into the folder `previous` of its directory and back. config.json moves last in both
 * directions: as long as it is in the directory, the move away is not complete, and as long as it is in `previous`, the
 * move back is not. */
#include "run/aside.h"

#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Paths of a file here and in `previous`. */
static int paths_of(const char *directory, const char *file, char here[4096], char there[4096], gess_error *err)
{
    char in_folder[64];
    snprintf(in_folder, sizeof in_folder, "%s/%s", GESS__ASIDE, file);
    GESS_TRY(gess__directory_path(directory, file, here, 4096, err));
    return gess__directory_path(directory, in_folder, there, 4096, err);
}

static int exists(const char *directory, const char *file, int aside)
{
    char here[4096], there[4096];
    return paths_of(directory, file, here, there, NULL) == GESS_OK && access(aside ? there : here, F_OK) == 0;
}

static int move_all(const char *directory, int away, gess_error *err)
{
    const char *file;
    for (size_t i = 0; (file = gess__directory_file(i)) != NULL; i++) {
        char here[4096], there[4096];
        GESS_TRY(paths_of(directory, file, here, there, err));
        if (rename(away ? here : there, away ? there : here) != 0 && errno != ENOENT)
            return gess__fail(err, GESS_ERR_FILE, "cannot move %s: %s", away ? here : there, strerror(errno));
    }
    return GESS_OK;
}

static int remove_all(const char *directory, int aside, gess_error *err)
{
    const char *file;
    for (size_t i = 0; (file = gess__directory_file(i)) != NULL; i++) {
        char here[4096], there[4096];
        GESS_TRY(paths_of(directory, file, here, there, err));
        if (unlink(aside ? there : here) != 0 && errno != ENOENT && errno != ENOTDIR)
            return gess__fail(err, GESS_ERR_FILE, "cannot remove %s: %s", aside ? there : here, strerror(errno));
    }
    return GESS_OK;
}

static int folder_of(const gess_run *run, char path[4096], gess_error *err)
{
    return gess__directory_path(run->directory, GESS__ASIDE, path, 4096, err);
}

int gess__aside_put(gess_run *run, gess_error *err)
{
    char folder[4096];
    GESS_TRY(folder_of(run, folder, err));
    gess__aside_recover(run->directory);
    run->set_aside = 1;
    if (exists(run->directory, "config.json", 1)) return remove_all(run->directory, 0, err);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", folder, strerror(errno));
    return move_all(run->directory, 1, err);
}

int gess__aside_drop(gess_run *run, gess_error *err)
{
    char folder[4096];
    GESS_TRY(folder_of(run, folder, err));
    run->set_aside = 0;
    if (access(folder, F_OK) != 0) return GESS_OK;
    GESS_TRY(remove_all(run->directory, 1, err));
    rmdir(folder); /* it stays if someone else put a file there */
    return GESS_OK;
}

/* Removes the directory and the folders above it that this run made. */
static void remove_folders(const gess_run *run)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s", run->directory) >= (int)sizeof path) return;
    for (size_t i = 0; i < run->folders_made; i++) {
        if (rmdir(path) != 0) return;
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path) return;
        *slash = '\0';
    }
}

void gess__aside_undo(gess_run *run)
{
    char path[4096];
    if (run->directory == NULL || run->lock < 0) {
        if (run->directory != NULL) remove_folders(run);
        return;
    }
    if (!run->set_aside && run->folders_made == 0 && exists(run->directory, "checkpoint", 0)) return; /* not ours */
    gess__writer_free(run->writer);
    gess__writer_free(run->warmup_writer);
    run->writer = run->warmup_writer = NULL;
    if (run->journal == NULL && !run->set_aside) return; /* refused before anything was written */
    remove_all(run->directory, 0, NULL);
    if (run->set_aside && move_all(run->directory, 0, NULL) == GESS_OK && folder_of(run, path, NULL) == GESS_OK)
        rmdir(path);
    run->set_aside = 0;
    if (run->folders_made == 0) return;
    if (gess__directory_path(run->directory, "lock", path, sizeof path, NULL) == GESS_OK) unlink(path);
    remove_folders(run);
}

void gess__aside_recover(const char *directory)
{
    int here = exists(directory, "config.json", 0), there = exists(directory, "config.json", 1);
    char folder[4096];
    if (gess__directory_path(directory, GESS__ASIDE, folder, sizeof folder, NULL) != GESS_OK ||
        access(folder, F_OK) != 0 || (here && there))
        return;
    if (here != there) move_all(directory, 0, NULL); /* all of it belongs to the run whose config.json there is */
    rmdir(folder);
}
