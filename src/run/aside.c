/* Moves the files of a run into the folder `previous` of its directory and back. config.json moves last in both
 * directions, and the directory is never without one: on the way away it gets a second name in `previous`, and the new
 * run replaces the first. As long as both names are those of one file, the new run has not begun. */
#include "run/aside.h"

#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
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

static int is_config(const char *file)
{
    return strcmp(file, "config.json") == 0;
}

static int move_one(const char *from, const char *to, int away_config, gess_error *err)
{
    if (away_config && link(from, to) == 0) return GESS_OK;
    /* a file system without links */
    if (rename(from, to) == 0 || errno == ENOENT) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot move %s: %s", from, strerror(errno));
}

static int move_all(const char *directory, int away, gess_error *err)
{
    const char *file;
    for (size_t i = 0; (file = gess__directory_file(i)) != NULL; i++) {
        char here[4096], there[4096];
        GESS_TRY(paths_of(directory, file, here, there, err));
        GESS_TRY(move_one(away ? here : there, away ? there : here, away && is_config(file), err));
    }
    return GESS_OK;
}

/* Whether config.json has two names: the old run was put aside, and the new one has not begun. */
static int is_one_config(const char *directory)
{
    char here[4096], there[4096];
    struct stat a, b;
    return paths_of(directory, "config.json", here, there, NULL) == GESS_OK && stat(here, &a) == 0 &&
           stat(there, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* With keep_config, all but config.json. */
static int remove_all(const char *directory, int aside, int keep_config, gess_error *err)
{
    const char *file;
    for (size_t i = 0; (file = gess__directory_file(i)) != NULL; i++) {
        char here[4096], there[4096];
        GESS_TRY(paths_of(directory, file, here, there, err));
        if (keep_config && is_config(file)) continue;
        if (unlink(aside ? there : here) != 0 && errno != ENOENT && errno != ENOTDIR)
            return gess__fail(err, GESS_ERR_FILE, "cannot remove %s: %s", aside ? there : here, strerror(errno));
    }
    return GESS_OK;
}

static int folder_of(const gess_run *run, char path[4096], gess_error *err)
{
    return gess__directory_path(run->directory, GESS__ASIDE, path, 4096, err);
}

/* Moves everything back, whatever the state; `previous` stays if that fails. */
static void move_back(const char *directory)
{
    char folder[4096], here[4096], there[4096];
    if (is_one_config(directory) && paths_of(directory, "config.json", here, there, NULL) == GESS_OK) unlink(there);
    if (move_all(directory, 0, NULL) == GESS_OK &&
        gess__directory_path(directory, GESS__ASIDE, folder, sizeof folder, NULL) == GESS_OK)
        rmdir(folder);
}

static void recover(const char *directory)
{
    int here = exists(directory, "config.json", 0), there = exists(directory, "config.json", 1);
    if (here != there || is_one_config(directory)) move_back(directory);
}

int gess__aside_put(gess_run *run, gess_error *err)
{
    char folder[4096];
    GESS_TRY(folder_of(run, folder, err));
    recover(run->directory);
    if (exists(run->directory, "config.json", 1)) { /* the run here has never sampled */
        GESS_TRY(remove_all(run->directory, 0, 1, err));
    } else {
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", folder, strerror(errno));
        int status = move_all(run->directory, 1, err);
        if (status != GESS_OK) move_back(run->directory);
        GESS_TRY(status);
    }
    run->set_aside = 1;
    return GESS_OK;
}

int gess__aside_drop(gess_run *run, gess_error *err)
{
    char folder[4096];
    GESS_TRY(folder_of(run, folder, err));
    run->set_aside = 0;
    if (access(folder, F_OK) != 0) return GESS_OK;
    GESS_TRY(remove_all(run->directory, 1, 0, err));
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
    if (remove_all(run->directory, 0, run->set_aside, NULL) == GESS_OK && run->set_aside) move_back(run->directory);
    run->set_aside = 0;
    if (run->folders_made == 0) return;
    if (gess__directory_path(run->directory, "lock", path, sizeof path, NULL) == GESS_OK) unlink(path);
    remove_folders(run);
}

void gess__aside_recover(const char *directory)
{
    char path[4096];
    struct stat about;
    if (gess__directory_path(directory, GESS__ASIDE, path, sizeof path, NULL) != GESS_OK || lstat(path, &about) != 0 ||
        gess__directory_path(directory, "lock", path, sizeof path, NULL) != GESS_OK)
        return;
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) recover(directory);
    if (lock >= 0) close(lock);
}
