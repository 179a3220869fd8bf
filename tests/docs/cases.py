"""What blocks.py needs to know of the pages: the files that a page takes for granted, commands that are shortened, and commands that
cannot run in a test. Each command left out has its reason; one that no page has any more is a failure."""

# A launcher may start more ranks than there are cores, and as root where CI is.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_plm_rsh_agent": "false",
    "OMPI_MCA_btl": "self,vader,tcp",
}

LINE = "gess new line > /dev/null; make -s -C line\n"
RUN = "gess sample german-credit -q\n"
STARTS = """awk 'BEGIN { OFS = ","; srand(1); print "intercept,slope,sigma"; for (i = 0; i < 256; i++) print rand(), rand(), 0.1 + rand() }' > starts.csv
"""
# a shared object with BridgeStan's interface, as tests/cli/stan.sh uses it
STAN = "cc -shared -fPIC -O1 -o {} \"$SOURCE/tests/stan/fake.c\" -lm; echo '{{\"y\": [0.5, -1, 2]}}' > {}\n"

PREPARE = {
    "README.md": 'cp "$SOURCE/examples/exec/model.py" .\n' + STAN.format("schools_model.so", "schools.json"),
    "docs/sampling.md": LINE + """printf '0,0\\n1,1\\n' > points.csv
printf '2,0.5\\n0.5,1\\n' > precision.csv
awk 'BEGIN { srand(1); for (i = 0; i < 40; i++) print rand() "," rand() }' > starts.csv
gess sample ./line/line.so --data line/data.csv -q -o run1
""",
    "docs/choosing.md": "awk 'BEGIN { srand(1); for (i = 0; i < 500; i++) print rand() + rand() \",\" rand() + rand() }' > points.csv\n",
    "docs/modes.md": LINE + STARTS,
    "docs/results.md": RUN + "for i in 1 2; do awk 'BEGIN { srand('$i'); print \"x\"; for (i = 0; i < 500; i++) print rand() }' > chain$i.csv; done\n",
    "docs/figures.md": RUN,
    "docs/evidence.md": RUN + "gess sample eight-schools -q; gess sample eight-schools:centred=0 -q\n",
    "docs/exports.md": RUN,
    "docs/file-formats.md": RUN,
    "docs/clusters.md": LINE,
    "docs/stan.md": STAN.format("eight_schools_model.so", "eight_schools.json"),
    "docs/other-samplers.md": LINE + STAN.format("model_model.so", "data.json"),
}

# Shorter, or by the Python that the package is installed for, and the same otherwise.
INSTEAD = {
    "docs/choosing.md": {
        "gess sample mixture --kernel mh --schedule tempering --chains 100 --draws 100000":
            "gess sample mixture --kernel mh --schedule tempering --chains 100 --draws 1000 --warmup 1000 -o draws-1000",
        "gess sample mixture --kernel mh --schedule tempering --chains 80 --ensembles 4 --hottest 20 --ladder tuned":
            "gess sample mixture --kernel mh --schedule tempering --chains 80 --ensembles 4 --hottest 20 --ladder tuned "
            "--warmup 1000 --draws 1000 -o tuned",
    },
}

# Pages on which blocks of text are what the commands before them printed.
OUTPUT = {"README.md"}

MEASURED = "a measurement that takes minutes to hours"
CLUSTER = "needs a cluster"
NOT_RUN = {
    "README.md": {
        r"\./run": "installs packages: tests/fresh/prove runs it on a bare system",
        r"\./test": "the same",
        r"make( python)?": "builds what is tested here; the same",
        r"\. build/env/bin/activate": "is made by make python",
        r"build/gess bench cost .*": MEASURED,
    },
    "docs/index.md": {r"\./run": "installs packages"},
    "docs/first-run.md": {r"tests/fresh/prove first": "sets up a bare system"},
    "docs/first-steps.md": {r"\./run": "installs packages", r"make python": "installs packages", r"\. build/env/bin/activate": "is made by the former"},
    "docs/python.md": {r"make python": "installs packages", r"\. build/env/bin/activate": "is made by the former"},
    "docs/platforms.md": {r"make deb": "installs packages: tests/fresh/prove runs it", r"make dist": "writes into the source tree: install/dist runs it"},
    "docs/models.md": {r"python3 pyline/pyline.py": "needs the Python package: examples/new_python runs it"},
    "docs/clusters.md": {r"srun .*": CLUSTER},
    "docs/stan.md": {r"make -C bridgestan .*": "needs BridgeStan's sources: statistical/stan and examples/new_stan build models with them"},
    "docs/library.md": {r"cc shortest.c .*": "needs an installed gess: install/install builds it"},
    "docs/gpus.md": {r"gess (sample|resume|bench) .*(german-credit|gpu).*": "needs a GPU: make test-gpu"},
    "docs/measurements.md": {r".*": MEASURED},
    "docs/performance.md": {r".*": MEASURED},
    "docs/reproduction/README.md": {r".*": MEASURED + "; reproduce/reproduce runs the command"},
}

# What surrounds the blocks in C, so that a compiler takes them.
C_FRAME = {
    "README.md": ("""#include <gess/gess.h>
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out);
int block(void); int block(void) { gess_model *model; gess_options *options; gess_run *run; gess_error err;""",
                  "return 0; }\nstatic int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out) "
                  "{ (void)user, (void)worker, (void)n, (void)dim, (void)x, (void)out; return 0; }"),
    "docs/gpus.md": ("#include <gess/gess.h>\n", "gess_device_logp_fn *const used = device_logp;"),
    "docs/library.md": ("""#include <gess/draws.h>
#include <stdio.h>
#include <stdlib.h>
int block(void); int block(void) {""", "free(x); return 0; }"),
    "docs/models.md": ("""#include <gess/gess.h>
double log_prior(const double *x); double log_likelihood(const double *x);""",
                       "int (*const used)(void *, unsigned, size_t, size_t, const double *, double *, double *) = logp_blobs;"),
}

# What programs in Python are started with.
PYTHON_ARGUMENTS = {"docs/file-formats.md": ["gess-runs/german-credit-1/draws.gess"]}

# Lines of programs in Python that cannot run.
PYTHON_NOT_RUN = {
    "docs/gpus.md": {r".*jax.*": "needs JAX: python/libraries runs such functions"},
    "docs/exports.md": {r"arviz\.from_cmdstan.*": "needs ArviZ: readers/readers reads such files with it"},
}
