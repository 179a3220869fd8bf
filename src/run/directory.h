/* The run directory: making it, its lock, paths in it, and JSON files that are replaced whole. */
#ifndef GESS_RUN_DIRECTORY_H
#define GESS_RUN_DIRECTORY_H

#include <gess/gess.h>
#include <jansson.h>

/* Makes run->directory and locks it. Refuses a folder that holds other files. A folder with a run in it is refused too,
 * unless `overwrite`, which puts that run aside (run/aside.h); with `again` it is this run, killed before its first
 * checkpoint, and begins once more. */
int gess__directory_make(gess_run *run, int overwrite, int again, gess_error *err);

/* The name of file i of a run, in the order in which they are to be removed: checkpoints first, so that a crash in
 * between leaves no checkpoint of draws that are gone, and config.json last. NULL past the end. */
const char *gess__directory_file(size_t i);

/* GESS_ERR_FILE if run->directory is no longer the folder of this run, or the lock or the file of draws in it no longer
 * the one that this run has open: they were removed, or replaced by another run. */
int gess__directory_check(const gess_run *run, gess_error *err);

/* Opens and locks run->directory against other processes; an error if another process holds the lock. */
int gess__directory_lock(gess_run *run, gess_error *err);
void gess__directory_unlock(gess_run *run);

/* Makes a folder and its parents, if they do not exist. */
int gess__make_folders(const char *directory, gess_error *err);

/* path[size] = directory/file. */
int gess__directory_path(const char *directory, const char *file, char *path, size_t size, gess_error *err);

/* Writes directory/file, beneath `folder` (base/folder.h), under a temporary name, syncs it and renames it. Takes the
 * reference to root; NULL (out of memory) is an error. */
int gess__directory_write_json(int folder, const char *directory, const char *file, json_t *root, gess_error *err);

#endif
