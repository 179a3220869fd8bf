/* `gess manual`: the manual page, made from the tables of options, kernels, schedules, models and commands. */
#include "command.h"

/* Writes text with everything escaped that man(7) would take for a request or an escape. */
static void put(FILE *out, const char *text)
{
    for (int start = 1; *text != '\0'; start = *text == '\n', text++) {
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", out);
        if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

static void put_item(FILE *out, const char *bold, const char *rest, const char *help)
{
    fputs(".TP\n\\fB", out);
    put(out, bold);
    fputs("\\fR", out);
    if (rest != NULL && rest[0] != '\0') {
        fputc(' ', out);
        put(out, rest);
    }
    fputc('\n', out);
    put(out, help);
    fputc('\n', out);
}

static void put_options(FILE *out)
{
    gess_entry row;
    for (size_t i = 0; list_row(GESS_LIST_OPTIONS, i, &row); i++) {
        char name[64], help[512];
        snprintf(name, sizeof name, "--%s", row.name);
        option_help(&row, help, sizeof help);
        put_item(out, name, row.unit, help);
    }
}

static void put_list(FILE *out, int kind)
{
    gess_entry row;
    for (size_t i = 0; list_row(kind, i, &row); i++) put_item(out, row.name, row.dimension, row.help);
}

static void put_examples(FILE *out)
{
    const char *name, *line, *help;
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; example_row(i, &name, &line, &help); i++) put_item(out, line, NULL, help);
}

int print_manual(FILE *out)
{
    fprintf(out,
            ".\\\" Made by `gess manual` from the program's own tables.\n.TH GESS 1 \"\" \"gess %s\" \"User "
            "Commands\"\n",
            gess_version());
    fputs(".SH NAME\ngess \\- samples from any probability density that can be evaluated\n.SH SYNOPSIS\n", out);
    for (size_t i = 0; command_row(i) != NULL; i++) {
        fprintf(out, "%s.B gess %s\n", i > 0 ? ".br\n" : "", command_row(i)->name);
        put(out, command_row(i)->arguments);
        if (command_row(i)->arguments[0] != '\0') fputc('\n', out);
    }
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; command_row(i) != NULL; i++) put_item(out, command_row(i)->name, NULL, command_row(i)->help);
    fputs(".SH OPTIONS OF SAMPLE\n", out);
    put_item(out, "-o", "DIR", "run directory (default: gess-runs/MODEL-SEED)");
    put_item(out, "-q", NULL, "show no progress and no summary");
    put_item(out, "--config", "FILE", "take model and options from a run's config.json; other options override them");
    put_options(out);
    fputs(".SH KERNELS\n", out);
    put_list(out, GESS_LIST_KERNELS);
    fputs(".SH SCHEDULES\n", out);
    put_list(out, GESS_LIST_SCHEDULES);
    fputs(".SH MODELS\n", out);
    put_list(out, GESS_LIST_MODELS);
    fputs(".SH EXPORT FORMATS\n", out);
    put_list(out, GESS_LIST_EXPORTERS);
    fputs(".SH SEVERAL PROCESSES\nUnder mpirun, srun and the like,\n.B gess sample\nand\n.B gess resume\ndo one run "
          "with all processes: the first writes the files and prints, the others compute. The draws are those of one "
          "process, bit for bit. Other commands run in the first process only. Several processes need libgess_mpi.so "
          "and "
          "are refused without it.\n",
          out);
    fputs(".SH EXIT STATUS\n", out);
#define GESS_STATUS(name, value, text) put_item(out, #value, NULL, text);
#include <gess/status.def>
#undef GESS_STATUS
    put_examples(out);
    fputs(".SH ENVIRONMENT\n", out);
    put_item(out, "GESS_DATA", NULL, "folder that is searched first for the data of built-in models");
    put_item(out, "SLURM_JOB_END_TIME", NULL,
             "set by Slurm: a run without --max-time stops, with a checkpoint, before its job ends");
    put_item(out, "GESS_DENSITIES", NULL, "numpy reference of the densities, for `gess bench models`");
    return ferror(out) ? GESS_ERR_FILE : GESS_OK;
}

int command_manual(int argc, char **argv, gess_error *err)
{
    static const struct argp argp = {.doc = "Prints the manual page of gess, for man(1)."};
    TRY(parse_arguments(&argp, argc, argv, NULL));
    print_manual(stdout);
    return finish_output(err);
}
