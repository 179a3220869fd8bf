// Stan's own NUTS on a model that stanc has translated to C++, linked with the model: the reference of stan.sh.
//   reference DATA.json SEED CHAIN WARMUP DRAWS DELTA OUT.csv
// Writes the draws with CmdStan's names, and prints how many gradients warm-up and sampling took.
#include <stan/math.hpp>

#include <stan/callbacks/interrupt.hpp>
#include <stan/callbacks/logger.hpp>
#include <stan/callbacks/writer.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/model/model_base.hpp>
#include <stan/services/sample/hmc_nuts_diag_e_adapt.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

stan::model::model_base &new_model(stan::io::var_context &data, unsigned int seed, std::ostream *messages);

namespace {

// Draws after warm-up go to the file; leapfrog steps, one gradient each, are counted.
class draws_writer : public stan::callbacks::writer {
public:
    draws_writer(std::ostream &file, int warmup) : file_(file), warmup_(warmup) { file_.precision(17); }

    void operator()(const std::vector<std::string> &names) override
    {
        for (size_t i = 0; i < names.size(); i++) {
            if (names[i] == "n_leapfrog__") leapfrog_ = i;
            file_ << (i > 0 ? "," : "") << names[i];
        }
        file_ << "\n";
    }

    void operator()(const std::vector<double> &draw) override
    {
        gradients[seen_ >= warmup_] += draw[leapfrog_];
        if (seen_++ < warmup_) return;
        for (size_t i = 0; i < draw.size(); i++) file_ << (i > 0 ? "," : "") << draw[i];
        file_ << "\n";
    }

    void operator()(const std::string &) override {}
    void operator()() override {}
    double gradients[2] = {0, 0};

private:
    std::ostream &file_;
    int warmup_, seen_ = 0;
    size_t leapfrog_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    if (argc != 8) return 1;
    std::ifstream data(argv[1]);
    std::ofstream out(argv[7]);
    stan::json::json_data context(data);
    stan::model::model_base &model = new_model(context, 1, &std::cerr);
    stan::io::empty_var_context no_starts;
    stan::callbacks::interrupt interrupt;
    stan::callbacks::logger logger;
    stan::callbacks::writer nowhere;
    int warmup = std::atoi(argv[4]);
    draws_writer writer(out, warmup);
    int code = stan::services::sample::hmc_nuts_diag_e_adapt(
        model, no_starts, static_cast<unsigned>(std::atoi(argv[2])), static_cast<unsigned>(std::atoi(argv[3])), 2.0,
        warmup, std::atoi(argv[5]), 1, true, 0, 1.0, 0.0, 12, std::atof(argv[6]), 0.05, 0.75, 10.0, 75, 50, 25,
        interrupt, logger, nowhere, writer, nowhere);
    std::cout << "warmup " << writer.gradients[0] << " sampling " << writer.gradients[1] << "\n";
    return code;
}
