/* The reader of checkpoints, behind its checksum: magic, version, size and checksum are put right, so that
 * what is fuzzed is everything a checkpoint says. A run that accepts it must be able to end cleanly. */
#include "fuzz.h"

#include "base/archive.h"
#include "run/run.h"

#include <zlib.h>

static char folder[64];
static gess_options options;
static const gess_model *model;

static void begin(void)
{
    gess_run *run = NULL;
    gess_error err;
    fuzz_folder(folder);
    gess_options_init(&options);
    options.chains = 4;
    options.ensembles = 2;
    options.warmup = 10;
    options.max_evals = 2000;
    options.threads = 1;
    options.overwrite = 1;
    if (gess_model_open(&model, "mixture", NULL, &err) != GESS_OK ||
        gess_run_new(&run, model, &options, folder, &err) != GESS_OK || gess_run_go(run, &err) != GESS_OK)
        abort();
    gess_run_free(run);
    char path[128];
    snprintf(path, sizeof path, "%s/checkpoint.old", folder);
    remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    gess_error err = {0};
    gess_run *run = NULL;
    uint32_t head[4] = {0};
    uint64_t bytes = size > 24 ? size - 24 : 0;
    if (model == NULL) begin();
    memcpy(head, "gesssave", 8);
    head[2] = 1;
    head[3] = (uint32_t)crc32_z(crc32_z(0, (const Bytef *)&bytes, sizeof bytes), data + (size - bytes), bytes);
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    FILE *file = fopen(path, "wb");
    if (file == NULL) abort();
    if (size > 0 && data[0] == 'g') { /* as a good header has it, or else as it is */
        fwrite(head, sizeof head, 1, file);
        fwrite(&bytes, sizeof bytes, 1, file);
        fwrite(data + (size - bytes), 1, bytes, file);
    } else {
        fwrite(data, 1, size, file);
    }
    fclose(file);
    int status = gess_run_resume(&run, model, &options, folder, &err);
    if (status != GESS_OK && err.text[0] == '\0') abort(); /* an error says what it is */
    gess_run_free(run);
    return 0;
}
