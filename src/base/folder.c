/* Opens, renames and removes files by the *at() calls. */
#include "base/folder.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int gess__folder_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int descriptor(int folder)
{
    return folder >= 0 ? folder : AT_FDCWD;
}

static const char *name_in(int folder, const char *path)
{
    const char *slash = strrchr(path, '/');
    return folder >= 0 && slash != NULL ? slash + 1 : path;
}

int gess__folder_file(int folder, const char *path, int flags)
{
    return openat(descriptor(folder), name_in(folder, path), flags | O_CLOEXEC | O_NOFOLLOW, 0666);
}

FILE *gess__folder_stream(int folder, const char *path, const char *mode)
{
    int flags = O_RDWR;
    if (mode[0] == 'w') flags = O_WRONLY | O_CREAT | O_TRUNC;
    if (mode[0] == 'a') flags = O_WRONLY | O_CREAT | O_APPEND;
    GESS_ASSERT(mode[0] == 'w' || mode[0] == 'a' || strncmp(mode, "r+", 2) == 0);
    int file = gess__folder_file(folder, path, flags);
    FILE *stream = file >= 0 ? fdopen(file, mode) : NULL;
    int code = errno;
    if (file >= 0 && stream == NULL) close(file);
    errno = code;
    return stream;
}

int gess__folder_rename(int folder, const char *from, const char *to)
{
    return renameat(descriptor(folder), name_in(folder, from), descriptor(folder), name_in(folder, to));
}

int gess__folder_unlink(int folder, const char *path)
{
    return unlinkat(descriptor(folder), name_in(folder, path), 0);
}
