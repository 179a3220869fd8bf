/* Writes to PATH.part, and syncs and renames the file when it is complete. */
#include "export/atomic_file.h"

#include "base/assert.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".part";

int gess__partial_begin(gess__partial *p, const char *path, bool overwrite, gess_error *err)
{
    struct stat information;
    *p = (gess__partial){0};
    if (lstat(path, &information) == 0) {
        if (!S_ISREG(information.st_mode))
            return gess__fail(err, GESS_ERR_USAGE,
                              "%s is there already and is not a plain file; choose another with -o", path);
        if (!overwrite)
            return gess__fail(err, GESS_ERR_USAGE,
                              "%s is there already; choose another with -o, or replace it with --overwrite", path);
    }
    GESS_TRY(gess__copy_text(&p->path, path, err));
    size_t size = strlen(path) + sizeof suffix;
    GESS_ALLOC(&p->temporary, size, err);
    snprintf(p->temporary, size, "%s%s", path, suffix);
    if (unlink(p->temporary) == 0 || errno == ENOENT) return GESS_OK; /* a killed export may have left one */
    return gess__fail(err, GESS_ERR_FILE, "cannot remove %s: %s", p->temporary, strerror(errno));
}

int gess__partial_commit(gess__partial *p, gess_error *err)
{
    GESS_ASSERT(p->path != NULL && p->temporary != NULL);
    int file = open(p->temporary, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    int code = errno;
    if (file >= 0) close(file);
    if (good && rename(p->temporary, p->path) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", p->path, strerror(good ? errno : code));
}

void gess__partial_end(gess__partial *p)
{
    if (p->temporary != NULL) unlink(p->temporary); /* fails after a commit, which is right */
    free(p->temporary);
    free(p->path);
    *p = (gess__partial){0};
}
