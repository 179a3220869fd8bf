/* Starts the shell that kills programs when this process is gone, and writes it the list of them. */
#include "parallel/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Descriptors below this are left to standard streams, whether open or not. */
enum { FIRST_DESCRIPTOR = 10 };

static const char script[] = "trap '' HUP INT QUIT TERM USR1 USR2 PIPE\n"
                             "all=\n"
                             "while read -r what group; do\n"
                             "  left=\n"
                             "  for one in $all; do [ \"$one\" = \"$group\" ] || left=\"$left $one\"; done\n"
                             "  all=$left\n"
                             "  if [ \"$what\" = + ]; then all=\"$all $group\"; fi\n"
                             "done\n"
                             "for one in $all; do kill -9 -\"$one\"; done\n";

static int raise_descriptor(int *descriptor)
{
    int higher = fcntl(*descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (higher < 0) return -1;
    close(*descriptor);
    *descriptor = higher;
    return 0;
}

int gess__pipe(int ends[2], gess_error *err)
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gess__fail(err, GESS_ERR_INTERNAL, "cannot make a pipe to a program: %s", strerror(errno));
    if (raise_descriptor(&ends[0]) == 0 && raise_descriptor(&ends[1]) == 0) return GESS_OK;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    return gess__fail(err, GESS_ERR_INTERNAL, "cannot make a pipe to a program: %s", strerror(code));
}

static int spawn(gess__keeper *k, int input, gess_error *err)
{
    char name[] = "sh", option[] = "-c", text[sizeof script];
    char *arguments[] = {name, option, text, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none;
    memcpy(text, script, sizeof script);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
    /* a group of its own, so that a signal to that of this process does not end it first */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_adddup2(&files, input, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    int code = posix_spawn(&k->process, "/bin/sh", &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (code == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_INTERNAL, "cannot start /bin/sh: %s", strerror(code));
}

int gess__keeper_start(gess__keeper *k, gess_error *err)
{
    int ends[2];
    GESS_TRY(gess__pipe(ends, err));
    k->pipe = ends[1];
    k->input = ends[0]; /* kept open: without a reader, writing would raise SIGPIPE */
    fcntl(k->pipe, F_SETFL, O_NONBLOCK);
    int status = spawn(k, k->input, err);
    if (status != GESS_OK) gess__keeper_abandon(k);
    return status;
}

void gess__keeper_abandon(gess__keeper *k)
{
    if (k->pipe > 0) close(k->pipe);
    if (k->input > 0) close(k->input);
    *k = (gess__keeper){0};
}

void gess__keeper_end(gess__keeper *k)
{
    pid_t process = k->process;
    gess__keeper_abandon(k);
    if (process > 0)
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
}

int gess__keeper_pipe(const gess__keeper *k)
{
    return k->pipe;
}

void gess__keeper_forget(const gess__keeper *k, pid_t group)
{
    char line[32];
    int length = snprintf(line, sizeof line, "- %ld\n", (long)group);
    if (k->pipe > 0 && write(k->pipe, line, (size_t)length) < length) return; /* the keeper is gone */
}
