// The posterior of a rate from counts, through libgess, from C++. The answer is known: with k events in
// n counts and a Gamma(2, 1) prior it is Gamma(2 + k, 1 + n).
//
//   c++ -std=c++17 sample.cpp $(pkg-config --cflags --libs gess) -o sample && ./sample
#include <gess/gess.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

class Counts {
public:
    explicit Counts(std::vector<int> counts) : counts_(std::move(counts)) {}

    double log_posterior(double rate) const
    {
        double value = std::log(rate) - rate; // the prior
        for (int count : counts_) value += count * std::log(rate) - rate;
        return value;
    }

    double exact_mean() const
    {
        double events = 0.0;
        for (int count : counts_) events += count;
        return (2.0 + events) / (1.0 + static_cast<double>(counts_.size()));
    }

private:
    std::vector<int> counts_;
};

// Exceptions must not pass through the library: any other return value than 0 ends the run.
static int logp(void *user, unsigned, std::size_t n, std::size_t, const double *x, double *values) noexcept
{
    try {
        const auto &model = *static_cast<const Counts *>(user);
        for (std::size_t i = 0; i < n; i++) values[i] = model.log_posterior(x[i]);
        return 0;
    } catch (...) {
        return 1;
    }
}

static int take_draws(void *user, std::size_t, std::size_t chains, std::uint64_t, std::uint64_t draws,
                       std::size_t columns, const double *rows)
{
    auto &kept = *static_cast<std::vector<double> *>(user);
    for (std::size_t row = 0; row < chains * draws; row++) kept.push_back(rows[row * columns + 1]);
    return 0;
}

static void check(int status, const gess_error &err)
{
    if (status != GESS_OK) throw std::runtime_error(err.text);
}

int main()
try {
    Counts counts({3, 1, 4, 1, 5, 9, 2, 6});
    const char *const names[] = {"rate"};
    const double lower[] = {0.0};
    gess_model model = GESS_MODEL_INIT;
    model.name = "counts";
    model.dim = 1;
    model.names = names;
    model.lower = lower;
    model.logp = logp;
    model.user = &counts;

    gess_options options;
    gess_error err;
    gess_options_init(&options);
    check(gess_options_set(&options, "draws", "500", &err), err);

    std::vector<double> kept;
    gess_run *made = nullptr;
    int status = gess_run_new(&made, &model, &options, nullptr, &err);
    std::unique_ptr<gess_run, decltype(&gess_run_free)> run(made, gess_run_free);
    check(status, err);
    gess_run_on_draw(run.get(), take_draws, &kept, NULL);
    check(gess_run_go(run.get(), &err), err);

    double mean = 0.0, square = 0.0;
    for (double rate : kept) mean += rate / static_cast<double>(kept.size());
    for (double rate : kept) square += (rate - mean) * (rate - mean) / static_cast<double>(kept.size());
    std::printf("rate: mean %.3f, sd %.3f, exact mean %.3f\n", mean, std::sqrt(square), counts.exact_mean());
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "sample: %s\n", error.what());
    return 1;
}
