/* The reader of config.json, and the check of its options. */
#include "fuzz.h"

#include "base/options.h"
#include "run/config.h"
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gess_error err = {0};
    gess_options options;
    const char *model = NULL;
    json_t *keep = NULL;
    gess__options_init(&options);
    int status = gess__config_read(fuzz_file(data, size), &options, &model, &keep, &err);
    if (status != GESS_OK && err.text[0] == '\0') abort();
    if (status == GESS_OK) {
        if (model == NULL) abort();
        gess__options_check(&options, &err);
    }
    json_decref(keep);
    return 0;
}
