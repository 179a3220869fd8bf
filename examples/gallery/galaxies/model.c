/* Velocities of 82 galaxies (M. Postman, J. P. Huchra and M. J. Geller, 1986; K. Roeder, 1990), in 1000 km/s, as a mixture
 * of three Gaussians. Nothing orders the components, so the posterior has six modes that differ by their labels only: a
 * sampler that has found all of them gives each a sixth. */
#include "frame.h"

#define MODEL "galaxies"
enum { COLUMNS = 1, PARTS = 3 };
enum { MEAN = 0, SD = PARTS, STICK = 2 * PARTS, DIM = 3 * PARTS - 1 };
static const char *const names[DIM] = {"mean1", "mean2", "mean3", "sd1", "sd2", "sd3", "share1", "share2_of_rest"};
static const double lower[DIM] = {5.0, 5.0, 5.0, 0.2, 0.2, 0.2, 0.0, 0.0};
static const double upper[DIM] = {40.0, 40.0, 40.0, 10.0, 10.0, 10.0, 1.0, 1.0};

/* The means in order, which no relabelling changes. */
#define DERIVED 3
static const char *const derived_names[DERIVED] = {"lowest_mean", "middle_mean", "highest_mean"};

static int derive(void *user, unsigned worker, size_t dim, const double *p, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    double a = p[MEAN], b = p[MEAN + 1], c = p[MEAN + 2];
    out[0] = fmin(a, fmin(b, c));
    out[2] = fmax(a, fmax(b, c));
    out[1] = fmax(fmin(a, b), fmin(fmax(a, b), c));
    return 0;
}

static double log_posterior(const struct table *data, const double *p)
{
    double share[PARTS] = {p[STICK], (1.0 - p[STICK]) * p[STICK + 1], (1.0 - p[STICK]) * (1.0 - p[STICK + 1])};
    /* N(20, 10²) for each mean, 1/sd² ~ Gamma(2, 2) (in sd: sd⁻⁵ e^(−2/sd²)), and a uniform distribution of the shares */
    double sum = log(1.0 - p[STICK]);
    for (int k = 0; k < PARTS; k++) {
        double sd = p[SD + k];
        sum += -0.5 * (p[MEAN + k] - 20.0) * (p[MEAN + k] - 20.0) / 100.0 - 5.0 * log(sd) - 2.0 / (sd * sd);
    }
    for (size_t i = 0; i < data->rows; i++) {
        double density = 0.0;
        for (int k = 0; k < PARTS; k++) {
            double z = (data->values[i] - p[MEAN + k]) / p[SD + k];
            density += share[k] / p[SD + k] * exp(-0.5 * z * z);
        }
        sum += log(density);
    }
    return sum;
}

#include "frame.h"
