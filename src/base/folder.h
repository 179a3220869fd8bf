/* Files beneath a folder that is held open: if its path comes to name another folder, or a file of it is replaced by a
 * link, nothing is written elsewhere.
 *
 * These functions take the whole path of a file, for messages, and its folder's descriptor; only the last part of the
 * path counts. Without a folder (GESS__NO_FOLDER) they take the path as it is. Links are not followed. They return what
 * the system calls return, with errno. */
#ifndef GESS_BASE_FOLDER_H
#define GESS_BASE_FOLDER_H

#include <stdio.h>

#define GESS__NO_FOLDER (-1)

/* A descriptor of the folder itself, through which its files are reached; -1: see errno. */
int gess__folder_open(const char *path);

/* `flags` as for open(); a new file gets mode 0666 less the umask. */
int gess__folder_file(int folder, const char *path, int flags);
FILE *gess__folder_stream(int folder, const char *path, const char *mode); /* "w", "a" or "r+", with or without b */
int gess__folder_rename(int folder, const char *from, const char *to);
int gess__folder_unlink(int folder, const char *path);

#endif
