// @NAME@: a straight line through points with noise of unknown size,
//
//   y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.
//
// A model for gess is a shared object with the three symbols at the end of this file. What to change for a density of
// your own: the class Line. README.md has the commands. <gess/gess.h> says what else a model can have.
#include <gess/draws.h>
#include <gess/gess.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Line {
public:
    static constexpr std::size_t dim = 3;
    static constexpr const char *names[dim] = {"intercept", "slope", "sigma"};
    static constexpr double lower[dim] = {-infinity, -infinity, 0.0};
    static constexpr const char *derived_names[] = {"mean_at_20"};

    explicit Line(const char *path) // a file with two columns, x and y
    {
        std::size_t rows = 0, columns = 0;
        double *values = nullptr;
        gess_error err = {};
        if (path == nullptr) throw std::runtime_error("it needs a data file; give it with --data FILE");
        if (gess_csv_read(path, &rows, &columns, &values, &err) != GESS_OK) throw std::runtime_error(err.text);
        for (std::size_t i = 0; columns == 2 && i < rows; i++) {
            x.push_back(values[2 * i]);
            y.push_back(values[2 * i + 1]);
        }
        gess_values_free(values);
        if (x.size() < 3) throw std::runtime_error(std::string(path) + ": 3 points or more, x and y, are needed");
    }

    // Log prior plus log likelihood, up to a constant. No Jacobian: gess adds its own where it samples sigma on a log
    // scale. Several threads call it at the same time.
    double log_posterior(const double *p) const
    {
        const double intercept = p[0], slope = p[1], sigma = p[2];
        if (!(sigma > 0.0)) return -infinity;
        double squares = 0.0;
        for (std::size_t i = 0; i < x.size(); i++) {
            const double residual = y[i] - intercept - slope * x[i];
            squares += residual * residual;
        }
        const double likelihood = -double(x.size()) * std::log(sigma) - 0.5 * squares / (sigma * sigma);
        const double prior = -0.5 * (intercept * intercept + slope * slope) / 100.0 // N(0, 10²) each
                             - sigma;                                               // exponential of mean 1
        return likelihood + prior;
    }

    // What the line says about x = 20; stored with each draw.
    void derive(const double *p, double *out) const
    {
        out[0] = p[0] + 20.0 * p[1];
    }

private:
    std::vector<double> x, y;
};

// ---- the same for C: no exception may leave these functions ----

int logp(void *user, unsigned, std::size_t n, std::size_t dim, const double *x, double *values) noexcept
{
    const Line &line = *static_cast<const Line *>(user);
    for (std::size_t i = 0; i < n; i++) values[i] = line.log_posterior(x + i * dim);
    return 0;
}

int derive(void *user, unsigned, std::size_t, const double *x, std::size_t, double *out) noexcept
{
    static_cast<const Line *>(user)->derive(x, out);
    return 0;
}

} // namespace

extern "C" {

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *message, std::size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *path, gess_density *density, char *message, std::size_t size)
{
    try {
        density->user = new Line(path);
    } catch (const std::exception &failure) {
        std::snprintf(message, size, "%s", failure.what());
        return 1;
    }
    density->name = "@NAME@";
    density->dim = Line::dim;
    density->names = Line::names;
    density->lower = Line::lower;
    density->logp = logp;
    density->derived = 1;
    density->derived_names = Line::derived_names;
    density->derive = derive;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    delete static_cast<Line *>(density->user);
}
}
