"""Counts false alarms: runs of densities with one mode whose verdict is not PASS.

    python3 bench/modes/single.py --gess build/gess --runs 500 --jobs 2 -o single.json [-- OPTIONS OF GESS]

Seeds are given out in turns; the expensive models get at most as many as MODELS says. Prints how many runs PASS, of all
and of the correct ones, and the codes of the findings of those that do not."""
import argparse
import collections
import csv
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import harness  # noqa: E402

REFERENCE = os.path.join(harness.HERE, '..', 'reference')
# built-in models: the seeds that each gets at most, and what is known: all medians are 0, all means are 0, or the means
# in a file of bench/reference
MODELS = {
    'gaussian': (100, 'median'), 'gaussian:dim=2': (100, 'median'), 'gaussian:dim=30,cor=0.9': (100, 'median'),
    'gaussian:dim=50': (100, 'median'), 'gaussian:dim=3,cor=0.999': (100, 'median'),
    'banana': (100, 'mean'), 'banana:dim=5,curvature=2': (100, 'mean'), 'banana:dim=10': (100, 'mean'),
    'funnel': (100, 'median'), 'funnel:dim=3': (100, 'median'),
    'student-t': (100, 'median'), 'student-t:nu=4': (100, 'median'), 'student-t:dim=10,nu=6': (100, 'median'),
    'wishart': (100, 'median'), 'wishart:dim=20': (100, 'median'),
    'eight-schools': (20, 'reference'), 'eight-schools:centred=0': (100, 'reference'),
    'german-credit': (20, 'reference'), 'breast-cancer': (4, 'reference'), 'seeds': (4, 'reference'),
    'rats': (4, 'reference'), 'stochastic-volatility': (4, 'reference'),
}


def reference_of(model):
    """Means of a long run and their standard errors."""
    path = os.path.join(REFERENCE, model.replace(':', '-').replace('=', '-') + '.csv')
    with open(path) as file:
        rows = csv.DictReader(line for line in file if not line.startswith('#'))
        return [(float(row['mean']), float(row['mcse_mean'])) for row in rows]


def worst_error(folder, model):
    """The largest error of a mean or median, in units of its standard error plus 1/250 of the distance from the 5 % to
    the 95 % quantile, divided by 3.3 as for a normal's standard deviation."""
    known = MODELS[model][1]
    figure, figure_error = ('q50', 'mcse_q50') if known == 'median' else ('mean', 'mcse_mean')
    with open(os.path.join(folder, 'summary.json')) as file:
        rows = [row for row in json.load(file)['parameters'] if row['name'] != 'lp__']
    truth, worst = reference_of(model) if known == 'reference' else [(0.0, 0.0)] * len(rows), 0.0
    for row, (value, error) in zip(rows, truth):
        if row[figure] is None or row[figure_error] is None:  # a verdict on tails may withhold a mean
            continue
        unit = (row[figure_error] ** 2 + error ** 2) ** 0.5 + (row['q95'] - row['q5']) / 3.3 / 250
        worst = max(worst, abs(row[figure] - value) / unit)
    return worst


def one_run(arguments, library, families, work):
    def one(name, seed):
        folder = os.path.join(work, '%s-%d' % (name, seed))
        if name in families:
            data = os.path.join(work, name)
            with open(data, 'w') as file:
                file.write(name + '\n')
            model = [library, '--data', data]
        else:
            model = [name]
        run = harness.sample(arguments.gess, [*model, '--seed', str(seed)], folder, arguments.options,
                             arguments.timeout)
        if 'pass' in run and name in families:
            family = families[name]
            chains = harness.modes_of_chains(os.path.join(folder, 'draws.gess'), family)
            run['weights'], run['errors'] = harness.weights_of(chains, family.modes)
            run['correct'] = harness.is_right(run['weights'], run['errors'], family.truth())
        elif 'pass' in run:
            run['worst_error'] = worst_error(folder, name)
            run['correct'] = run['worst_error'] < 5
        harness.remove(folder)
        return run
    return one


def tasks_of(families, total):
    """`total` pairs of model and seed, the models in turns."""
    most = {name: 100 for name in families} | {name: count for name, (count, _) in MODELS.items()}
    tasks, seed = [], 0
    while len(tasks) < total and seed < max(most.values()):
        seed += 1
        tasks += [(name, seed) for name, count in most.items() if seed <= count]
    return tasks[:total]


def report(results, tasks):
    print('%-26s %5s %5s %8s %14s %11s  %s' % ('model', 'runs', 'PASS', 'correct', 'correct, PASS', 'evals', 'reasons'))
    grand = collections.Counter()
    for name in dict.fromkeys(name for name, _ in tasks):
        runs = results.of(name, [seed for other, seed in tasks if other == name])
        counts, reasons = collections.Counter(runs=len(runs)), collections.Counter()
        for run in runs:
            passed, correct = bool(run.get('pass')), bool(run.get('correct'))
            counts.update({'pass': passed, 'correct': correct, 'both': passed and correct})
            if not passed:
                reasons.update({code for level, code in run.get('findings', []) if level != 'note'}
                               or [str(run.get('message') or run['status'])])
        print('%-26s %5d %5d %8d %14d %11.0f  %s' % (
            name, counts['runs'], counts['pass'], counts['correct'], counts['both'],
            harness.median([run['evals'] for run in runs if run.get('evals')]),
            ', '.join('%s %d' % pair for pair in reasons.most_common())))
        grand += counts
    print('%-26s %5d %5d %8d %14d' % ('all', grand['runs'], grand['pass'], grand['correct'], grand['both']))
    if grand['correct']:
        print('PASS: %.2f %% of the correct runs' % (100 * grand['both'] / grand['correct']))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--gess', default='build/gess')
    parser.add_argument('--runs', type=int, default=500)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=900, help='seconds per run')
    parser.add_argument('--work', help='folder for the run directories; default: a temporary one')
    parser.add_argument('--overwrite', action='store_true', help='replace the results of another build')
    parser.add_argument('-o', '--output', help='JSON file; runs that it has are not repeated')
    parser.add_argument('options', nargs='*', help='options of gess sample, after --')
    arguments = parser.parse_args()
    arguments.gess = os.path.abspath(arguments.gess)
    with tempfile.TemporaryDirectory(prefix='gess-modes-') as temporary:
        work = os.path.abspath(arguments.work or temporary)
        library = harness.build(work)
        families = {f.name: f for f in harness.all_families(harness.open_library(library)) if f.set == 'single'}
        for family in families.values():
            family.truth()  # before the threads start
        about = {'sampler': harness.version(arguments.gess), 'build': harness.digest(arguments.gess),
                 'options': arguments.options}
        results = harness.Results(arguments.output, about, arguments.overwrite)
        tasks = tasks_of(families, arguments.runs)
        harness.run_all(tasks, arguments.jobs, one_run(arguments, library, families, work), results)
        report(results, tasks)


if __name__ == '__main__':
    main()
