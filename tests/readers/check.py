"""Reads the exports of run directories with the programs they are meant for: check.py DIR..."""
import csv
import glob
import io
import json
import os
import sys
import warnings

import arviz
import emcee
import h5py
import netCDF4
import numpy as np
import pandas

warnings.filterwarnings("ignore")
print(f"arviz {arviz.__version__}, netCDF4 {netCDF4.__version__}, emcee {emcee.__version__}, h5py {h5py.__version__}, "
      f"pandas {pandas.__version__}")


def near(a, b):
    return abs(a - b) <= 1e-12 * (1 + abs(b))


def load(run):
    figures = json.load(open(f"{run}/figures.json"))
    means = {p["name"]: p["mean"] for p in figures["parameters"]}
    config = json.load(open(f"{run}/config.json"))
    return figures["chains"], figures["draws"], means, config


def check_netcdf(run):
    chains, draws, means, config = load(run)
    data = arviz.from_netcdf(f"{run}/posterior.nc")
    posterior, stats = data.posterior, data.sample_stats
    if hasattr(posterior, "to_dataset"):
        posterior, stats = posterior.to_dataset(), stats.to_dataset()
    assert dict(posterior.sizes) == {"chain": chains, "draw": draws}, posterior.sizes
    assert list(posterior.chain.values) == list(range(chains)) and posterior.draw.values[-1] == draws - 1
    named = {v.attrs.get("long_name", n): v for n, v in posterior.data_vars.items()}
    assert list(named) == [n for n in means if n != "lp__"], list(named)
    for name, variable in named.items():
        assert variable.dims == ("chain", "draw") and near(float(variable.mean()), means[name]), name
    assert near(float(stats["lp"].mean()), means["lp__"])
    for group in posterior, stats:
        assert group.attrs["inference_library"] == "gess" and group.attrs["created_at"][-6:] == "+00:00"
        assert group.attrs["seed"] == config["options"]["seed"] and group.attrs["model"] == config["model"]
    if config["options"]["save-warmup"] == "1":
        warmup = data.warmup_posterior
        assert warmup.sizes["chain"] == chains and warmup.sizes["draw"] == 50, warmup.sizes
        assert list(warmup.data_vars) == list(posterior.data_vars) and "lp" in data.warmup_sample_stats
    table = arviz.summary(data)
    assert len(table) == len(means) - 1
    print(f"{run}: arviz.from_netcdf: {len(named)} variables of ({chains}, {draws}) and lp; the means agree")
    return {n: v.values for n, v in named.items()}, stats["lp"].values


def check_cmdstan(run, values, lp):
    chains, draws, means, config = load(run)
    files = [f"{run}/csv/chain-{c + 1}.csv" for c in range(chains)]
    assert sorted(files) == sorted(glob.glob(f"{run}/csv/*"))
    # any CSV reader gets the names back, save for the apostrophe before a formula
    text = "".join(line for line in open(files[0], newline="") if not line.startswith("# "))
    header = next(csv.reader(io.StringIO(text)))
    assert [n[1:] if n.startswith("'=") else n for n in header] == ["lp__"] + [n for n in means if n != "lp__"], header
    for c, file in enumerate(files):
        frame = pandas.read_csv(file, comment="#", float_precision="round_trip")
        assert list(frame.columns) == header and len(frame) == draws
        assert np.array_equal(frame["lp__"], lp[c]), "pandas, every bit"
        for column, name in zip(header[1:], values): assert np.array_equal(frame[column], values[name][c]), name
    print(f"{run}: pandas.read_csv and csv: names and every bit of the draws")
    if all(n.isidentifier() for n in means):
        data = arviz.from_cmdstan(files)
        assert dict(data.posterior.sizes) == {"chain": chains, "draw": draws}
        for name in values: assert np.array_equal(data.posterior[name].values, values[name]), name
        assert np.array_equal(data.sample_stats["lp"].values, lp)
        print(f"{run}: arviz.from_cmdstan: every bit of the draws")


def check_emcee(run, values, lp):
    chains, draws, means, config = load(run)
    backend = emcee.backends.HDFBackend(f"{run}/emcee.h5", read_only=True)
    dim, names = config["dim"], list(values)
    assert backend.initialized and backend.iteration == draws and tuple(backend.shape) == (chains, dim)
    chain = backend.get_chain()
    assert chain.shape == (draws, chains, dim)
    for j in range(dim): assert np.array_equal(chain[:, :, j].T, values[names[j]]), names[j]
    assert np.array_equal(backend.get_log_prob().T, lp)
    assert np.array_equal(backend.accepted, np.any(np.diff(chain, axis=0) != 0, axis=2).sum(axis=0))
    blobs = backend.get_blobs()
    if dim == len(names):
        assert blobs is None and not backend.has_blobs()
    else:
        assert blobs.shape == (draws, chains, len(names) - dim)
        for j in range(dim, len(names)): assert np.array_equal(blobs[:, :, j - dim].T, values[names[j]]), names[j]
    assert backend.get_chain(flat=True, discard=3, thin=2).shape[1] == dim
    assert backend.get_last_sample().coords.shape == (chains, dim)
    with h5py.File(f"{run}/emcee.h5") as f:
        stored = [n.decode() for n in f["parameter_names"][()]]
        stored += [n.decode() for n in f["derived_names"][()]] if "derived_names" in f else []
    assert stored == names, stored
    if dim == len(names): # emcee goes on from it
        backend = emcee.backends.HDFBackend(f"{run}/emcee.h5")
        sampler = emcee.EnsembleSampler(chains, dim, lambda x: -0.5 * np.sum(x**2), backend=backend,
                                        moves=emcee.moves.GaussianMove(1e-3))
        sampler.run_mcmc(backend.get_last_sample().coords, 5, skip_initial_state_check=True)
        assert emcee.backends.HDFBackend(f"{run}/emcee.h5", read_only=True).get_chain().shape == (draws + 5, chains, dim)
    print(f"{run}: emcee.backends.HDFBackend: every bit of the draws" + ("" if blobs is None else " and blobs"))


for run in sys.argv[1:]:
    parts = check_netcdf(run)
    check_cmdstan(run, *parts)
    check_emcee(run, *parts)
