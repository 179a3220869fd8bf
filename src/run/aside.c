/* Moves the files of a run into the folder `previous` of its directory and back. config.json moves last in both
 * directions, and the directory is never without one: on the way away it gets a second name in `previous`, and the new
 * run replaces the first. As long as both names are those of one file, the new run has not begun. */
#include "run/aside.h"

#include "base/folder.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file's name here, or in `previous`. */
static const char *name_of(const char *file, int aside, char name[64])
{
    snprintf(name, 64, "%s%s", aside ? GESS__ASIDE "/" : "", file);
    return name;
}

static int exists(int folder, const char *file, int aside)
{
    char name[64];
    struct stat about;
    return fstatat(folder, name_of(file, aside, name), &about, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether `previous` is a folder, and not a link to one. */
static int has_previous(int folder)
{
    struct stat about;
    return fstatat(folder, GESS__ASIDE, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode);
}

static int is_config(const char *file)
{
    return strcmp(file, "config.json") == 0;
}

static int move_one(int folder, const char *file, int away, gess_error *err)
{
    char from[64], to[64];
    name_of(file, !away, from);
    name_of(file, away, to);
    if (away && is_config(file) && linkat(folder, from, folder, to, 0) == 0) return GESS_OK;
    /* a file system without links */
    if (renameat(folder, from, folder, to) == 0 || errno == ENOENT) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot move %s of the run directory: %s", from, strerror(errno));
}

static int move_all(int folder, int away, gess_error *err)
{
    const char *file;
    for (size_t i = 0; (file = gess__directory_file(i)) != NULL; i++) GESS_TRY(move_one(folder, file, away, err));
    return GESS_OK;
}

/* Whether config.json has two names: the old run was put aside, and the new one has not begun. */
static int is_one_config(int folder)
{
    char name[64];
    struct stat a, b;
    return fstatat(folder, "config.json", &a, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(folder, name_of("config.json", 1, name), &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

/* With keep_config, all but config.json. */
static int remove_all(int folder, int aside, int keep_config, gess_error *err)
{
    const char *file;
    for (size_t i = 0; (file = gess__directory_file(i)) != NULL; i++) {
        char name[64];
        if (keep_config && is_config(file)) continue;
        if (unlinkat(folder, name_of(file, aside, name), 0) != 0 && errno != ENOENT && errno != ENOTDIR)
            return gess__fail(err, GESS_ERR_FILE, "cannot remove %s of the run directory: %s", name, strerror(errno));
    }
    return GESS_OK;
}

/* Moves everything back, whatever the state; `previous` stays if that fails. */
static void move_back(int folder)
{
    char name[64];
    if (!has_previous(folder)) return;
    if (is_one_config(folder)) unlinkat(folder, name_of("config.json", 1, name), 0);
    if (move_all(folder, 0, NULL) == GESS_OK) unlinkat(folder, GESS__ASIDE, AT_REMOVEDIR);
}

static void recover(int folder)
{
    int here = exists(folder, "config.json", 0), there = has_previous(folder) && exists(folder, "config.json", 1);
    if (here != there || is_one_config(folder)) move_back(folder);
}

int gess__aside_put(gess_run *run, gess_error *err)
{
    int folder = run->folder;
    recover(folder);
    if (has_previous(folder) && exists(folder, "config.json", 1)) { /* the run here has never sampled */
        GESS_TRY(remove_all(folder, 0, 1, err));
    } else {
        if ((mkdirat(folder, GESS__ASIDE, 0777) != 0 && errno != EEXIST) || !has_previous(folder))
            return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s/%s: %s", run->directory, GESS__ASIDE,
                              strerror(errno));
        int status = move_all(folder, 1, err);
        if (status != GESS_OK) move_back(folder);
        GESS_TRY(status);
    }
    run->set_aside = 1;
    return GESS_OK;
}

int gess__aside_drop(gess_run *run, gess_error *err)
{
    run->set_aside = 0;
    if (!has_previous(run->folder)) return GESS_OK;
    GESS_TRY(remove_all(run->folder, 1, 0, err));
    unlinkat(run->folder, GESS__ASIDE, AT_REMOVEDIR); /* it stays if someone else put a file there */
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
    if (run->directory == NULL || run->lock < 0) {
        if (run->directory != NULL) remove_folders(run);
        return;
    }
    if (!run->set_aside && run->folders_made == 0 && exists(run->folder, "checkpoint", 0)) return; /* not ours */
    gess__writer_free(run->writer);
    gess__writer_free(run->warmup_writer);
    run->writer = run->warmup_writer = NULL;
    if (run->journal == NULL && !run->set_aside) return; /* refused before anything was written */
    if (remove_all(run->folder, 0, run->set_aside, NULL) == GESS_OK && run->set_aside) move_back(run->folder);
    run->set_aside = 0;
    if (run->folders_made == 0) return;
    unlinkat(run->folder, "lock", 0);
    remove_folders(run);
}

void gess__aside_recover(const char *directory)
{
    int folder = gess__folder_open(directory);
    int lock = folder >= 0 && has_previous(folder) ? gess__folder_file(folder, "lock", O_RDWR | O_CREAT) : -1;
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) recover(folder);
    if (lock >= 0) close(lock);
    if (folder >= 0) close(folder);
}
