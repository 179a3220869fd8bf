// The posterior of a rate from counts, through libgess, from C++. The answer is known: with k events in
// n counts and a Gamma(2, 1) prior it is Gamma(2 + k, 1 + n).
//
//   c++ -std=c++17 sample.cpp $(pkg-config --cflags --libs gess) -o sample && ./sample
#include <gess/gess.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>
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
                      std::size_t columns, const double *rows) noexcept
{
    try {
        auto &kept = *static_cast<std::vector<double> *>(user);
        for (std::size_t row = 0; row < chains * draws; row++) kept.push_back(rows[row * columns + 1]);
        return 0;
    } catch (...) {
        return 1;
    }
}

static void check(int status, const gess_error &err)
{
    if (status != GESS_OK) throw std::runtime_error(err.text);
}

// A handle that releases itself.
template <class Handle, class Maker>
static std::unique_ptr<Handle, void (*)(Handle *)> make(void (*release)(Handle *), Maker maker, const gess_error &err)
{
    Handle *handle = nullptr;
    check(maker(&handle), err); // a function that fails leaves no handle
    return {handle, release};
}

int main()
try {
    Counts counts({3, 1, 4, 1, 5, 9, 2, 6});
    const char *const names[] = {"rate"};
    const double lower[] = {0.0};
    gess_density density{};
    density.size = sizeof density;
    density.name = "counts";
    density.dim = 1;
    density.names = names;
    density.lower = lower;
    density.logp = logp;
    density.user = &counts;

    gess_error err{};
    auto model = make<gess_model>(gess_model_free, [&](auto **out) { return gess_model_new(out, &density, &err); }, err);
    auto options = make<gess_options>(gess_options_free, [&](auto **out) { return gess_options_new(out, &err); }, err);
    check(gess_options_set(options.get(), "draws", "500", &err), err);

    std::vector<double> kept;
    auto run = make<gess_run>(
        gess_run_free, [&](auto **out) { return gess_run_new(out, model.get(), options.get(), nullptr, &err); }, err);
    check(gess_run_on_draw(run.get(), take_draws, &kept, &err), err);
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
