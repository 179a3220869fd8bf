"""NumPyro's NUTS on two densities written down here once more, beside what gess sampled (nuts.sh).

nuts.py GESS SOURCE_FOLDER, in a folder with german-credit.json and stochastic-volatility.json, the summaries of
gess. Effective sizes of both come from `gess summary`, so that they are the same estimate."""
import json
import math
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax.scipy.special import gammaln
from numpyro.infer import MCMC, NUTS

jax.config.update("jax_enable_x64", True)
gess, source = sys.argv[1:]
CHAINS, WARMUP, DRAWS = 4, 1000, 2500


def german_credit():
    """Logistic regression, columns divided by their population standard deviation, prior variance 100."""
    table = np.loadtxt(f"{source}/data/german_credit.csv", delimiter=",", skiprows=1)
    x = np.column_stack([np.ones(len(table)), table[:, :-1] / table[:, :-1].std(axis=0)])
    signs = np.where(table[:, -1] == 2, 1.0, -1.0)

    def minus_log(q):
        return jnp.sum(jnp.logaddexp(0.0, -signs * (x @ q))) + jnp.sum(q * q) / 200.0

    return minus_log, 25, lambda q: q, ["intercept"] + [f"a{i}" for i in range(1, 25)]


def stochastic_volatility():
    """nu on a log scale, with its Jacobian; log volatilities; their precision integrated out."""
    r = np.loadtxt(f"{source}/data/sv_returns.csv", delimiter=",", skiprows=1)[:, 0]
    n = len(r)

    def minus_log(q):
        nu, h = jnp.exp(q[0]), q[1:]
        z = (r * jnp.exp(-h)) ** 2
        t = n * (gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * jnp.log(nu * math.pi))
        t -= 0.5 * (nu + 1) * jnp.sum(jnp.log1p(z / nu))
        walk = 0.5 * (n + 1) * jnp.log(0.01 + 0.5 * jnp.sum(jnp.diff(h) ** 2))
        return -(-0.01 * nu + h[0] - 0.01 * jnp.exp(h[0]) + t - jnp.sum(h) - walk + q[0])

    def out(q):
        return np.concatenate([np.exp(q[..., :1]), q[..., 1:]], axis=-1)

    return minus_log, n + 1, out, ["nu"] + [f"h{i}" for i in range(1, n + 1)]


def summary_of(name, draws, names):
    files = []
    for c, chain in enumerate(draws):
        files.append(f"{name}-{c}.csv")
        np.savetxt(files[-1], chain, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    text = subprocess.run([gess, "summary", "--json", *files], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def numpyro_run(name, minus_log, dim, out, names):
    sampler = MCMC(NUTS(potential_fn=minus_log, target_accept_prob=0.8, max_tree_depth=10), num_warmup=WARMUP,
                   num_samples=DRAWS, num_chains=CHAINS, chain_method="sequential", progress_bar=False)
    starts = np.random.default_rng(1).normal(size=(CHAINS, dim))
    sampler.run(jax.random.PRNGKey(5), init_params=jnp.array(starts), extra_fields=("num_steps",))
    gradients = int(np.sum(sampler.get_extra_fields()["num_steps"]))
    return summary_of(name, out(np.array(sampler.get_samples(group_by_chain=True))), names), gradients


def by_name(summary, names):
    rows = {p["name"]: p for p in summary["parameters"]}
    return [rows[n] for n in names]


def apart(ours, theirs, figure, error):
    """The largest difference of a figure in its standard errors."""
    return max(abs(a[figure] - b[figure]) / math.hypot(a[error], b[error]) for a, b in zip(ours, theirs))


def compare(name, density):
    minus_log, dim, out, names = density
    whole, gradients = numpyro_run(name, minus_log, dim, out, names)
    mine = json.load(open(f"{name}.json"))
    ours, theirs = by_name(mine, names), by_name(whole, names)
    ess = [min(p["ess_bulk"] for p in rows) for rows in (ours, theirs)]
    cost = [mine["evals_sampling"] / ess[0], gradients / ess[1]]
    means, sds = apart(ours, theirs, "mean", "mcse_mean"), apart(ours, theirs, "sd", "mcse_sd")
    rhat = max(p["r_hat"] for p in ours + theirs)
    print(f"{name}: means within {means:.2f}, standard deviations within {sds:.2f} standard errors; worst R-hat "
          f"{rhat:.4f}; gradients for an effective draw: gess {cost[0]:.1f}, NumPyro {cost[1]:.1f} (ratio "
          f"{cost[0] / cost[1]:.2f}; smallest bulk ESS {ess[0]:.0f} and {ess[1]:.0f})", flush=True)
    # the largest of up to 51 differences is about 2.5 standard errors
    return means < 4.5 and sds < 4.5 and rhat < 1.02 and 1 / 1.5 < cost[0] / cost[1] < 1.5


print(f"numpyro {numpyro.__version__}, jax {jax.__version__}")
good = [compare("german-credit", german_credit()), compare("stochastic-volatility", stochastic_volatility())]
sys.exit(0 if all(good) else 1)
