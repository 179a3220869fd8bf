// BridgeStan's C interface over a Stan model that stanc has translated to C++: what the tests of Stan models are built
// with, linked with the model. It needs the headers of Stan, as PyPI's httpstan has them (build.sh).
#include <stan/math.hpp>

#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/model/model_base.hpp>
#include <stan/version.hpp>
#include <stan/services/util/create_rng.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

// of the file that stanc wrote
stan::model::model_base &new_model(stan::io::var_context &data, unsigned int seed, std::ostream *messages);

namespace {

typedef void (*print_fn)(const char *text, size_t size);

print_fn print = nullptr;
std::mutex print_mutex;

char *copy(const std::string &text)
{
    char *to = static_cast<char *>(std::malloc(text.size() + 1));
    if (to != nullptr) std::memcpy(to, text.c_str(), text.size() + 1);
    return to;
}

// What the model has printed in a call goes out when the call ends.
class messages : public std::ostringstream {
public:
    ~messages()
    {
        const std::string text = str();
        if (text.empty()) return;
        std::lock_guard<std::mutex> lock(print_mutex);
        if (print != nullptr)
            print(text.data(), text.size());
        else
            std::cout << text << std::flush;
    }
};

template <class F> int guarded(char **error, const char *where, F f)
{
    try {
        f();
        return 0;
    } catch (const std::exception &e) {
        if (error != nullptr) *error = copy(std::string(where) + "() failed with exception: " + e.what());
    } catch (...) {
        if (error != nullptr) *error = copy(std::string(where) + "() failed with unknown exception");
    }
    return -1;
}

// Derivatives need memory that each thread has of its own; functions that solve for something use them inside.
void make_tape()
{
#ifdef STAN_THREADS
    thread_local stan::math::ChainableStack stack;
#endif
}

std::string joined(const std::vector<std::string> &names)
{
    std::string all;
    for (const std::string &name : names) all += (all.empty() ? "" : ",") + name;
    return all;
}

} // namespace

struct bs_rng {
    explicit bs_rng(unsigned seed) : rng(stan::services::util::create_rng(seed, 0)) {}
    decltype(stan::services::util::create_rng(0, 0)) rng;
};

struct bs_model {
    stan::model::model_base *model = nullptr;
    std::string name, info, unconstrained, constrained[2][2];
    int counts[2][2];
    ~bs_model() { delete model; }
};

extern "C" {

int bs_major_version = 2, bs_minor_version = 6, bs_patch_version = 0;

void bs_model_destruct(bs_model *m)
{
    delete m;
}

bs_model *bs_model_construct(const char *data, unsigned seed, char **error)
{
    bs_model *m = new bs_model;
    int code = guarded(error, "bs_model_construct", [&] {
        messages out;
        std::string text = data != nullptr ? data : "";
        if (text.empty()) {
            stan::io::empty_var_context nothing;
            m->model = &new_model(nothing, seed, &out);
        } else {
            std::ifstream file;
            std::istringstream given(text);
            bool is_file = text.size() > 5 && text.compare(text.size() - 5, 5, ".json") == 0;
            if (is_file) file.open(text);
            if (is_file && !file) throw std::runtime_error("Cannot read input file: " + text);
            stan::json::json_data context(is_file ? static_cast<std::istream &>(file) : given);
            m->model = &new_model(context, seed, &out);
        }
        m->name = m->model->model_name();
        std::vector<std::string> names;
        m->model->unconstrained_param_names(names, false, false);
        m->unconstrained = joined(names);
        for (int tp = 0; tp < 2; tp++)
            for (int gq = 0; gq < 2; gq++) {
                names.clear();
                m->model->constrained_param_names(names, tp != 0, gq != 0);
                m->constrained[tp][gq] = joined(names);
                m->counts[tp][gq] = static_cast<int>(names.size());
            }
        m->info = "BridgeStan version: 2.6.0\nStan version: " + std::to_string(STAN_MAJOR) + "." +
                  std::to_string(STAN_MINOR) + "." + std::to_string(STAN_PATCH) + "\nStan C++ Defines:\n\tSTAN_THREADS=" +
#ifdef STAN_THREADS
                  "true\n";
#else
                  "false\n";
#endif
    });
    if (code == 0) return m;
    delete m;
    return nullptr;
}

void bs_free_error_msg(char *text)
{
    std::free(text);
}

const char *bs_name(const bs_model *m)
{
    return m->name.c_str();
}

const char *bs_model_info(const bs_model *m)
{
    return m->info.c_str();
}

const char *bs_param_names(const bs_model *m, bool tp, bool gq)
{
    return m->constrained[tp][gq].c_str();
}

const char *bs_param_unc_names(const bs_model *m)
{
    return m->unconstrained.c_str();
}

int bs_param_num(const bs_model *m, bool tp, bool gq)
{
    return m->counts[tp][gq];
}

int bs_param_unc_num(const bs_model *m)
{
    return static_cast<int>(m->model->num_params_r());
}

int bs_param_constrain(const bs_model *m, bool tp, bool gq, const double *theta_unc, double *theta, bs_rng *rng,
                       char **error)
{
    return guarded(error, "bs_param_constrain", [&] {
        messages out;
        make_tape();
        if (gq && rng == nullptr) throw std::invalid_argument("the generated quantities need an rng");
        bs_rng unused(0);
        Eigen::VectorXd values = Eigen::Map<const Eigen::VectorXd>(theta_unc, bs_param_unc_num(m)), all;
        m->model->write_array(rng != nullptr ? rng->rng : unused.rng, values, all, tp, gq, &out);
        Eigen::VectorXd::Map(theta, all.size()) = all;
    });
}

int bs_param_unconstrain(const bs_model *m, const double *theta, double *theta_unc, char **error)
{
    return guarded(error, "bs_param_unconstrain", [&] {
        messages out;
        Eigen::VectorXd values = Eigen::Map<const Eigen::VectorXd>(theta, bs_param_num(m, false, false)), all;
        m->model->unconstrain_array(values, all, &out);
        Eigen::VectorXd::Map(theta_unc, all.size()) = all;
    });
}

int bs_log_density(const bs_model *m, bool propto, bool jacobian, const double *theta_unc, double *lp, char **error)
{
    return guarded(error, "bs_log_density", [&] {
        messages out;
        make_tape();
        Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(theta_unc, bs_param_unc_num(m));
        if (propto) throw std::invalid_argument("this library has no log density up to a constant");
        *lp = jacobian ? m->model->log_prob_jacobian(x, &out) : m->model->log_prob(x, &out);
    });
}

int bs_log_density_gradient(const bs_model *m, bool propto, bool jacobian, const double *theta_unc, double *lp,
                            double *gradient, char **error)
{
    return guarded(error, "bs_log_density_gradient", [&] {
        messages out;
        make_tape();
        stan::math::nested_rev_autodiff nested;
        int n = bs_param_unc_num(m);
        Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1> x(n);
        for (int i = 0; i < n; i++) x[i] = theta_unc[i];
        stan::math::var value = propto ? (jacobian ? m->model->log_prob_propto_jacobian(x, &out)
                                                   : m->model->log_prob_propto(x, &out))
                                       : (jacobian ? m->model->log_prob_jacobian(x, &out) : m->model->log_prob(x, &out));
        stan::math::grad(value.vi_);
        *lp = value.val();
        for (int i = 0; i < n; i++) gradient[i] = x[i].adj();
    });
}

bs_rng *bs_rng_construct(unsigned seed, char **error)
{
    bs_rng *rng = nullptr;
    guarded(error, "bs_rng_construct", [&] { rng = new bs_rng(seed); });
    return rng;
}

void bs_rng_destruct(bs_rng *rng)
{
    delete rng;
}

int bs_set_print_callback(print_fn fn, char **)
{
    std::lock_guard<std::mutex> lock(print_mutex);
    print = fn;
    return 0;
}

} // extern "C"
