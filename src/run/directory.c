/* Makes and locks the run directory, refuses one that is in use or holds another run, removes old files for
 * --overwrite, and replaces JSON files. */
#include "run/directory.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/shell.h"
#include "run/aside.h"
#include "run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Every file that a run writes, in the order in which --overwrite removes them: checkpoints first, so that a crash in
 * between leaves no checkpoint of draws that are gone. config.json is replaced, never removed. */
static const char *const run_files[] = {"checkpoint",    "checkpoint.old",  "draws.gess",    "warmup.gess",
                                        "summary.json",  "history.json",    "report.html",   "log.txt",
                                        "nans.csv",      "crash.csv",       "crashes.csv",   "journal",
                                        "evidence.json", "evidence.values", "progress.json", "config.json"};
/* Temporary files and the lock: a folder that holds nothing else is no run directory. */
static const char *const temporary_files[] = {"checkpoint.tmp",
                                              "config.json.tmp",
                                              "summary.json.tmp",
                                              "history.json.tmp",
                                              "evidence.json.tmp",
                                              "progress.json.tmp",
                                              "lock"};
enum {
    RUN_FILES = sizeof run_files / sizeof *run_files,
    TEMPORARY_FILES = sizeof temporary_files / sizeof *temporary_files
};
static const char lock_file[] = "lock";

#define LOCK_SECONDS 0.5

int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err)
{
    int length = snprintf(path, size, "%s/%s", directory, file);
    if (length > 0 && (size_t)length < size) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE, "the path of the run directory is too long: %.200s…", directory);
}

/* *made: how many of them did not exist. */
static int make_folders(const char *directory, size_t *made, gess_error *err)
{
    char path[4096];
    *made = 0;
    GESS_TRY(gess__directory_path(directory, "", path, sizeof path, err));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) == 0)
            ++*made;
        else if (errno != EEXIST)
            return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s: %s", path, strerror(errno));
        *slash = '/';
    }
    return GESS_OK;
}

int gess__make_folders(const char *directory, gess_error *err)
{
    size_t made;
    return make_folders(directory, &made, err);
}

/* Counts the entries of a folder without temporary files, and how many of them are files of a run. */
static int count_files(const char *directory, size_t *entries, size_t *ours, gess_error *err)
{
    DIR *folder = opendir(directory);
    *entries = *ours = 0;
    if (folder == NULL)
        return gess__fail(err, GESS_ERR_FILE, "cannot open the folder %s: %s", directory, strerror(errno));
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        int temporary = 0;
        for (size_t i = 0; i < TEMPORARY_FILES; i++) temporary |= strcmp(entry->d_name, temporary_files[i]) == 0;
        if (temporary || strcmp(entry->d_name, GESS__ASIDE) == 0) continue;
        ++*entries;
        for (size_t i = 0; i < RUN_FILES; i++) *ours += strcmp(entry->d_name, run_files[i]) == 0;
    }
    closedir(folder);
    return GESS_OK;
}

/* The number under which the user knows this process: that of its supervising parent, if there is one. */
static long process_number(void)
{
    const char *text = getenv("GESS_SUPERVISOR");
    long parent = text != NULL ? strtol(text, NULL, 10) : 0;
    return parent > 0 && parent == (long)getppid() ? parent : (long)getpid();
}

/* A process that was just killed may hold its lock for a moment longer. */
static int take_lock(int file)
{
    double until = gess__seconds() + LOCK_SECONDS;
    struct timespec pause = {.tv_nsec = 10000000};
    int taken;
    while (!(taken = flock(file, LOCK_EX | LOCK_NB) == 0) && gess__seconds() < until) nanosleep(&pause, NULL);
    return taken;
}

/* Whether a path, beneath a folder or AT_FDCWD, is the file behind the descriptor. */
static int is_same_file(int folder, const char *path, int flags, int file)
{
    struct stat there, open_one;
    return fstatat(folder, path, &there, flags) == 0 && fstat(file, &open_one) == 0 &&
           there.st_ino == open_one.st_ino && there.st_dev == open_one.st_dev;
}

/* Opens and locks the lock file. A run that fails at its start removes the file while others wait for it, so whoever
 * gets the lock looks whether the file is still there. */
static int open_lock(gess_run *run, const char *path, gess_error *err)
{
    for (;;) {
        run->lock = gess__folder_file(run->folder, path, O_RDWR | O_CREAT);
        if (run->lock < 0) return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
        if (!take_lock(run->lock)) break;
        if (is_same_file(run->folder, lock_file, AT_SYMLINK_NOFOLLOW, run->lock)) return GESS_OK;
        close(run->lock);
    }
    char owner[32] = "";
    ssize_t length = read(run->lock, owner, sizeof owner - 1);
    owner[length > 0 ? length : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    close(run->lock);
    run->lock = -1;
    return gess__fail(err, GESS_ERR_USAGE,
                      "another gess (process %s) is writing to %s; wait for it, or choose another directory with -o",
                      owner, run->directory);
}

/* The kernel releases a flock() when its process ends, in whatever way, so a lock left by a dead process is ignored.
 * The file itself stays, with the number of the last process that held the lock. */
int gess__directory_lock(gess_run *run, gess_error *err)
{
    char path[4096], owner[32];
    GESS_ASSERT(run->directory != NULL && run->folder < 0 && run->lock < 0);
    GESS_TRY(gess__directory_path(run->directory, lock_file, path, sizeof path, err));
    run->folder = gess__folder_open(run->directory);
    if (run->folder < 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot open the folder %s: %s", run->directory, strerror(errno));
    run->start_folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    GESS_TRY(open_lock(run, path, err));
    int length = snprintf(owner, sizeof owner, "%ld\n", process_number());
    if (ftruncate(run->lock, 0) != 0 || pwrite(run->lock, owner, (size_t)length, 0) != length)
        return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    return GESS_OK;
}

int gess__directory_check(const gess_run *run, gess_error *err)
{
    const char *changed = NULL;
    int draws = gess__writer_descriptor(run->writer);
    int moved = !is_same_file(AT_FDCWD, run->directory, 0, run->folder);
    if (moved && run->start_folder >= 0 && is_same_file(run->start_folder, run->directory, 0, run->folder))
        return gess__fail(err, GESS_ERR_FILE,
                          "the working directory of this process was changed while the run in %s was under way, by its "
                          "density perhaps, so that this path leads elsewhere. Nothing was written there; give the "
                          "whole path, which begins with a slash, with -o or to `gess resume`",
                          run->directory);
    if (moved)
        return gess__fail(err, GESS_ERR_FILE,
                          "%s is no longer the directory of this run: it was moved or removed, or replaced by another "
                          "run, while this one was under way. Nothing was written there; if it was moved, "
                          "`gess resume` continues it from its last checkpoint, otherwise start it again",
                          run->directory);
    if (!is_same_file(run->folder, lock_file, AT_SYMLINK_NOFOLLOW, run->lock)) changed = lock_file;
    if (!is_same_file(run->folder, "draws.gess", AT_SYMLINK_NOFOLLOW, draws)) changed = "draws.gess";
    if (changed == NULL) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE,
                      "%s/%s is no longer the file of this run: it was removed, or replaced by another run, while this "
                      "one was under way. Nothing was written there; start this run again, in a directory of its own",
                      run->directory, changed);
}

void gess__directory_unlock(gess_run *run)
{
    /* unlocked first: a worker process of another run may have inherited the descriptor */
    if (run->lock >= 0) flock(run->lock, LOCK_UN);
    if (run->lock >= 0) close(run->lock);
    if (run->folder >= 0) close(run->folder);
    if (run->start_folder >= 0) close(run->start_folder);
    run->folder = run->lock = run->start_folder = -1;
}

static int is_kept(const char *file)
{
    return strcmp(file, "config.json") == 0 || strcmp(file, "journal") == 0 || strcmp(file, "crashes.csv") == 0;
}

/* Removes the files of a run that has no checkpoint, except for its configuration, its journal, and the list of the
 * points that crashed, whose values may be in the journal. */
static int clear(const gess_run *run, gess_error *err)
{
    for (size_t i = 0; i < RUN_FILES; i++) {
        if (is_kept(run_files[i])) continue;
        if (gess__folder_unlink(run->folder, run_files[i]) != 0 && errno != ENOENT)
            return gess__fail(err, GESS_ERR_FILE, "cannot remove %s/%s: %s", run->directory, run_files[i],
                              strerror(errno));
    }
    return GESS_OK;
}

const char *gess__directory_file(size_t i)
{
    return i < RUN_FILES ? run_files[i] : NULL;
}

int gess__directory_make(gess_run *run, int overwrite, int again, gess_error *err)
{
    char quoted[4096];
    const char *directory = run->directory;
    size_t entries, ours;
    GESS_ASSERT(directory != NULL);
    GESS_TRY(make_folders(directory, &run->folders_made, err));
    GESS_TRY(count_files(directory, &entries, &ours, err));
    if (entries > 0 && ours == 0)
        return gess__fail(err, GESS_ERR_USAGE, "%s exists and is not a run directory; choose another with -o",
                          directory);
    GESS_TRY(gess__directory_lock(run, err));
    GESS_TRY(count_files(directory, &entries, &ours, err)); /* another run may have come in between */
    if (ours == 0) return GESS_OK;
    if (!overwrite)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%s holds a run already; continue it with `gess resume %s`, choose another with -o, or "
                          "replace it with --overwrite",
                          directory, gess__shell_quote(directory, quoted, sizeof quoted));
    return again ? clear(run, err) : gess__aside_put(run, err);
}

int gess__directory_write_json(int folder, const char *directory, const char *file, json_t *root, gess_error *err)
{
    char path[4096], temporary[4096 + 8];
    int status = gess__directory_path(directory, file, path, sizeof path, err);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *out = status == GESS_OK && root != NULL ? gess__folder_stream(folder, temporary, "w") : NULL;
    bool good = out != NULL && json_dumpf(root, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER) == 0 &&
                fputc('\n', out) != EOF && fflush(out) == 0 && fsync(fileno(out)) == 0;
    if (out != NULL && fclose(out) != 0) good = false;
    json_decref(root);
    if (status != GESS_OK) return status;
    if (good && gess__folder_rename(folder, temporary, path) == 0) return GESS_OK;
    int code = errno;
    gess__folder_unlink(folder, temporary);
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(code));
}
