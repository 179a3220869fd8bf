/* Divides chains into groups and lays the draws of a group out as one long chain; posterior.c computes the R-hat. */
#include "diagnose/groups.h"

#include "base/assert.h"

size_t gess__nested_groups(size_t chains)
{
    return chains >= 32 ? 8 : chains >= 16 ? 4 : 0;
}

size_t gess__compared_groups(size_t chains, size_t ensembles)
{
    return ensembles > 1 ? ensembles : gess__nested_groups(chains);
}

size_t gess__group_common(size_t chains, size_t groups)
{
    GESS_ASSERT(groups > 0 && groups <= chains);
    return chains / groups;
}

size_t gess__group_first(size_t chains, size_t groups, size_t g)
{
    GESS_ASSERT(groups > 0 && g <= groups);
    size_t extra = chains % groups;
    return g * (chains / groups) + (g < extra ? g : extra);
}

double gess__rhat_of_groups(gess__posterior_workspace *work, size_t chains, size_t groups, size_t n, const double *x,
                            double *scratch)
{
    size_t width = gess__group_common(chains, groups);
    for (size_t g = 0; g < groups; g++)
        for (size_t c = 0; c < width; c++)
            for (size_t i = 0; i < n; i++)
                scratch[(g * n + i) * width + c] = x[(gess__group_first(chains, groups, g) + c) * n + i];
    gess__posterior_load(work, scratch);
    return gess__posterior_rhat(work);
}
