/* `gess models`: lists the built-in models. */
#include "command.h"

int command_models(int argc, char **argv, gess_error *err)
{
    static const struct argp argp = {
        .doc = "Lists the built-in models: name, dimension and description. Parameters follow "
               "the name, as in wishart:dim=50,seed=3."};
    TRY(parse_arguments(&argp, argc, argv, NULL));
    gess_entry row;
    for (size_t i = 0; list_row(GESS_LIST_MODELS, i, &row); i++)
        printf("%-22s %-10s %s\n", row.name, row.dimension, row.help);
    return finish_output(err);
}
