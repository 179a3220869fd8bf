/* The reader of checkpoints, behind its checksum: magic, version, size and checksum are corrected, so that the fuzzer
 * changes the contents. A run that accepts a checkpoint must be able to end cleanly. */
#include "fuzz.h"

#include "base/archive.h"
#include "run/run.h"

#include <zlib.h>

/* The input's ninth byte (of the version, which is corrected) selects the run. In the last two, `auto` has learned a
 * map and a mixture of t. run.sh makes seeds of the same runs. */
static const struct configuration {
    const char *model;
    uint64_t chains, ensembles, warmup, draws, max_evals;
} configurations[] = {
    {"mixture", 4, 2, 10, GESS_AUTO, 2000},
    {"funnel", 12, 1, 1000, 3, 0},
    {"mixture", 12, 1, 600, 3, 0},
};
enum { CONFIGURATIONS = sizeof configurations / sizeof *configurations };

static char folders[CONFIGURATIONS][64];
static gess_options all_options[CONFIGURATIONS];
static const gess_model *models[CONFIGURATIONS];

static void begin(size_t i)
{
    const struct configuration *c = &configurations[i];
    gess_options *options = &all_options[i];
    gess_run *run = NULL;
    gess_error err;
    fuzz_folder(folders[i]);
    gess__options_init(options);
    options->chains = c->chains;
    options->ensembles = c->ensembles;
    options->warmup = c->warmup;
    options->draws = c->draws;
    if (c->max_evals > 0) options->max_evals = c->max_evals;
    options->threads = 1;
    options->overwrite = 1;
    if (gess_model_open(&models[i], c->model, NULL, &err) != GESS_OK ||
        gess_run_new(&run, models[i], options, folders[i], &err) != GESS_OK || gess_run_go(run, &err) != GESS_OK)
        abort();
    const gess__ensemble *e = run->ensemble[0];
    if (i == 1 && gess__learned_layers(e->frozen.map) == 0) abort();
    if (i == 2 && e->frozen.mixture->count == 1) abort();
    gess_run_free(run);
    char path[128];
    snprintf(path, sizeof path, "%s/checkpoint.old", folders[i]);
    remove(path);
}

/* Under sanitizers, making the runs takes longer than an input may take. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    for (size_t i = 0; i < CONFIGURATIONS; i++) begin(i);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    gess_error err = {0};
    gess_run *run = NULL;
    uint32_t head[4] = {0};
    uint64_t bytes = size > 24 ? size - 24 : 0;
    size_t which = size > 24 && data[8] != GESS__ARCHIVE_FORMAT ? (data[8] + 2U) % CONFIGURATIONS : 0;
    memcpy(head, "gesssave", 8);
    head[2] = GESS__ARCHIVE_FORMAT;
    head[3] = (uint32_t)crc32_z(crc32_z(0, (const Bytef *)&bytes, sizeof bytes), data + (size - bytes), bytes);
    snprintf(path, sizeof path, "%s/checkpoint", folders[which]);
    FILE *file = fopen(path, "wb");
    if (file == NULL) abort();
    if (size > 0 && data[0] == 'g') { /* correct the header only if the input begins like a good one */
        fwrite(head, sizeof head, 1, file);
        fwrite(&bytes, sizeof bytes, 1, file);
        fwrite(data + (size - bytes), 1, bytes, file);
    } else {
        fwrite(data, 1, size, file);
    }
    fclose(file);
    int status = gess_run_resume(&run, models[which], &all_options[which], folders[which], &err);
    if (status != GESS_OK && err.text[0] == '\0') abort(); /* an error must have a message */
    gess_run_free(run);
    return 0;
}
