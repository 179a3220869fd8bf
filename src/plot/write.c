/* Writes a drawing to a file of the kind that the end of its name says, whole or not at all. */
#include "plot/canvas.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOTS_PER_INCH 200.0

typedef int writer_fn(const gess__canvas *canvas, FILE *out, gess_error *err);

static int png(const gess__canvas *canvas, FILE *out, gess_error *err)
{
    return gess__canvas_png(canvas, DOTS_PER_INCH, out, err);
}

static writer_fn *writer_of(const char *path)
{
    const char *end = strrchr(path, '.');
    if (end == NULL) return NULL;
    if (strcasecmp(end, ".svg") == 0) return gess__canvas_svg;
    if (strcasecmp(end, ".pdf") == 0) return gess__canvas_pdf;
    return strcasecmp(end, ".png") == 0 ? png : NULL;
}

int gess__canvas_ending(const char *path, gess_error *err)
{
    if (writer_of(path) != NULL) return GESS_OK;
    return gess__fail(err, GESS_ERR_USAGE,
                      "the name of a plot ends in .pdf, .svg or .png, which says what it is: %.300s", path);
}

static int write_to(const gess__canvas *canvas, writer_fn *write, const char *path, const char *named, gess_error *err)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", named, strerror(errno));
    int status = write(canvas, out, err), bad = fflush(out) != 0 || ferror(out), reason = errno;
    if (fclose(out) != 0 && !bad) {
        bad = 1;
        reason = errno;
    }
    if (status != GESS_OK || !bad) return status;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", named, strerror(reason));
}

int gess__canvas_write(const gess__canvas *canvas, const char *path, gess_error *err)
{
    char temporary[4096];
    struct stat information;
    GESS_TRY(gess__canvas_ending(path, err));
    writer_fn *write = writer_of(path);
    if (stat(path, &information) == 0 && !S_ISREG(information.st_mode)) return write_to(canvas, write, path, path, err);
    int length = snprintf(temporary, sizeof temporary, "%s.tmp", path);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return gess__fail(err, GESS_ERR_USAGE, "the path of the plot is too long: %.200s…", path);
    int status = write_to(canvas, write, temporary, path, err);
    if (status == GESS_OK && rename(temporary, path) != 0)
        status = gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    if (status != GESS_OK) unlink(temporary);
    return status;
}
