"""What run.py and single.py share: building the densities, one run of gess, results in a JSON file."""
import concurrent.futures
import ctypes
import hashlib
import json
import math
import os
import random
import shutil
import struct
import subprocess
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ['modes.c', 'mixtures.c', 'surfaces.c', 'posteriors.c', 'singles.c', 'attacks.c']
CHAINS = 64  # gess's default; the number of starts in files for --init
BATCHES = 20
MIN_CHAINS = 8  # fewer: standard errors are from batch means


def build(folder):
    """Compiles modes.so into a folder and returns its path."""
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, 'modes.so')
    sources = [os.path.join(HERE, name) for name in SOURCES]
    new = max(os.path.getmtime(os.path.join(HERE, name)) for name in SOURCES + ['modes.h', 'families.def'])
    if not os.path.exists(target) or os.path.getmtime(target) < new:
        partial = '%s.%d' % (target, os.getpid())
        subprocess.run([os.environ.get('CC', 'cc'), '-std=c17', '-O2', '-fPIC', '-shared', '-fvisibility=hidden',
                        '-I' + os.path.join(HERE, '..', '..', 'include'), '-o', partial, *sources, '-lm'], check=True)
        os.replace(partial, target)
    return target


class Family:
    """A family of modes.so."""

    def __init__(self, library, name):
        self.c = library
        self.c.modes_find.restype = ctypes.c_void_p
        self.c.modes_truth.restype = ctypes.POINTER(ctypes.c_double)
        found = self.c.modes_find(name.encode())
        if not found:
            raise SystemExit('no family `%s`; families.def lists them' % name)
        self.pointer, self.name = ctypes.c_void_p(found), name
        described = (ctypes.c_char_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.POINTER(ctypes.c_double)(),
                     ctypes.POINTER(ctypes.c_double)())
        self.c.modes_describe(self.pointer, *map(ctypes.byref, described))
        self.set, self.dim, self.modes = described[0].value.decode(), described[1].value, described[2].value
        self.lower, self.upper = described[3][:self.dim], described[4][:self.dim]

    def truth(self):
        return self.c.modes_truth(self.pointer)[:self.modes]

    def assign(self, address, n, stride):
        """The modes of n points from an address on, one byte each."""
        modes = ctypes.create_string_buffer(n)
        self.c.modes_assign(self.pointer, ctypes.c_size_t(n), ctypes.c_size_t(stride), ctypes.c_void_p(address), modes)
        return modes.raw

    def logp(self, address, n, out):
        self.c.modes_logp(self.pointer, ctypes.c_size_t(n), ctypes.c_void_p(address), ctypes.c_void_p(out))


def open_library(path):
    return ctypes.CDLL(path)


def all_families(library):
    library.modes_name.restype = ctypes.c_char_p
    names, i = [], 0
    while (name := library.modes_name(ctypes.c_size_t(i))) is not None:
        names.append(name.decode())
        i += 1
    return [Family(library, name) for name in names]


# ---- draws ----

def modes_of_chains(path, family):
    """For every chain the modes of its draws, as bytes. The file's format is in docs/file-formats.md; it may be larger
    than memory."""
    with open(path, 'rb') as file:
        _, _, length = struct.unpack('<8sII', file.read(16))
        head = json.loads(file.read(length))
        file.read(4)
        width, chains = len(head['columns']), [[] for _ in range(head['chains'])]
        while len(start := file.read(40)) == 40:
            magic, _, first, count, _, draws = struct.unpack('<IIQQQQ', start)
            rows = bytearray(file.read(8 * count * draws * width))
            if magic != 0x314b4c42 or len(rows) < 8 * count * draws * width:
                raise ValueError('%s is damaged before byte %d' % (path, file.tell()))
            block = (ctypes.c_double * (count * draws * width)).from_buffer(rows)
            modes = family.assign(ctypes.addressof(block) + 8, count * draws, width)  # past lp__
            for c in range(count):
                chains[first + c].append(modes[c * draws:(c + 1) * draws])
    return [b''.join(pieces) for pieces in chains]


def error_of(means):
    """The standard error of the mean of independent means; 0, the strictest, if there is one only."""
    if len(means) < 2:
        return 0.0
    centre = sum(means) / len(means)
    return math.sqrt(sum((m - centre) ** 2 for m in means) / (len(means) - 1) / len(means))


def weights_of(chains, modes):
    """The weight of every mode and its standard error, from the means of chains; from batch means of few chains."""
    chains = [c for c in chains if c]
    total = sum(map(len, chains))
    if total == 0:
        return None, None
    pieces = chains
    if len(chains) < MIN_CHAINS:
        size = max(1, min(map(len, chains)) // BATCHES)
        pieces = [c[i:i + size] for c in chains for i in range(0, len(c) - size + 1, size)]
    weights = [sum(c.count(k) for c in chains) / total for k in range(modes)]
    errors = [error_of([p.count(k) / len(p) for p in pieces]) for k in range(modes)]
    return weights, errors


def is_right(weights, errors, truth):
    return weights is not None and all(abs(w - t) <= 5 * (e + 0.004) for w, e, t in zip(weights, errors, truth))


# ---- starts ----

def write_starts(path, name, seed):
    """Starts for --init where the family has its own; returns whether it has."""
    numbers = random.Random('%s %d' % (name, seed))
    if name == 'pair':
        rows = [[numbers.gauss(0, 25) for _ in range(2)] for _ in range(CHAINS)]
    elif name == 'box':
        rows = [[numbers.uniform(-20, 20) for _ in range(8)] for _ in range(CHAINS)]
    else:
        return False
    with open(path, 'w') as file:
        for row in rows:
            file.write(','.join(map(repr, row)) + '\n')
    return True


# ---- one run of gess ----

def sample(gess, model, folder, options, timeout, environment=None):
    """Runs `gess sample` and `gess diagnose`; a dictionary of verdict, findings and costs."""
    command = ['nice', gess, 'sample', *model, '-q', '--threads', '1', '-o', folder, '--overwrite', *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return {'status': 'timeout'}
    result = {'status': done.returncode}
    if done.returncode not in (0, 3, 6):
        result['message'] = done.stderr.strip()[-500:]
        return result
    said = subprocess.run([gess, 'diagnose', '--json', folder], capture_output=True, text=True, check=False)
    if said.returncode not in (0, 6):
        return {'status': said.returncode, 'message': said.stderr.strip()[-500:]}
    result['pass'] = said.returncode == 0
    result['findings'] = [[f['level'], f['code']] for f in json.loads(said.stdout)['findings']]
    with open(os.path.join(folder, 'summary.json')) as file:
        summary = json.load(file)
    for key in ('evals', 'evals_sampling', 'seconds', 'method', 'targets_met', 'draws', 'chains'):
        result[key] = summary.get(key)
    return result


def digest(gess):
    """Of the executable and the library beside it, so that two builds of one version are told apart."""
    total = hashlib.sha256()
    library = os.path.join(os.path.dirname(gess), 'libgess.so')
    for path in [gess, library]:
        if os.path.exists(path):
            with open(path, 'rb') as file:
                total.update(file.read())
    return total.hexdigest()[:16]


def version(gess):
    return subprocess.run([gess, '--version'], capture_output=True, text=True, check=True).stdout.split('\n')[0]


# ---- results ----

def rounded(run):
    """A run with its weights and their errors to six digits after the point."""
    lists = {key: [round(value, 6) for value in run[key]] for key in ('weights', 'errors') if run.get(key)}
    return {**run, **lists}


class Results:
    """A JSON file of runs, one object per model and seed; made by one build with one set of options."""

    def __init__(self, path, about, overwrite=False):
        self.path, self.lock = path, threading.Lock()
        self.data = {**about, 'runs': {}}
        if path and os.path.exists(path) and not overwrite:
            with open(path) as file:
                old = json.load(file)
            if any(old.get(key) != value for key, value in about.items()):
                raise SystemExit('%s is of another build or of other options; give another -o, or --overwrite' % path)
            self.data = old

    def has(self, name, seed):
        """Whether there is a run; one that a signal ended is repeated."""
        run = self.data['runs'].get(name, {}).get(str(seed))
        return run is not None and (run['status'] == 'timeout' or run['status'] >= 0)

    def of(self, name, seeds):
        runs = self.data['runs'].get(name, {})
        return [runs[str(seed)] for seed in seeds if str(seed) in runs]

    def add(self, name, seed, run):
        with self.lock:
            self.data['runs'].setdefault(name, {})[str(seed)] = run
            self.save()

    def save(self):
        """Writes the file: one line per run."""
        if not self.path:
            return
        os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        head = {key: value for key, value in self.data.items() if key != 'runs'}
        with open(self.path + '.tmp', 'w') as file:
            file.write('{' + ''.join('%s: %s,\n' % (json.dumps(key), json.dumps(head[key])) for key in sorted(head)))
            models = []
            for name, runs in sorted(self.data['runs'].items()):
                lines = ['\n"%s": %s' % (seed, json.dumps(rounded(runs[seed]), sort_keys=True))
                         for seed in sorted(runs, key=int)]
                models.append('\n%s: {%s}' % (json.dumps(name), ','.join(lines)))
            file.write('"runs": {' + ','.join(models) + '}}\n')
        os.replace(self.path + '.tmp', self.path)


def run_all(tasks, jobs, one, results):
    """Calls one(name, seed) for the tasks that have no result yet, several at a time."""
    todo = [task for task in tasks if not results.has(*task)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(one, *task): task for task in todo}
        try:
            for future in concurrent.futures.as_completed(futures):
                results.add(*futures[future], future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)


def median(values):
    values = sorted(values)
    n = len(values)
    return math.nan if n == 0 else (values[(n - 1) // 2] + values[n // 2]) / 2
