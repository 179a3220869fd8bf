"""Runs gess (or emcee) on densities with known modes and counts right, honest and wrong runs.

    python3 bench/modes/run.py --gess build/gess --set develop --seeds 20 --jobs 2 -o out.json [-- OPTIONS OF GESS]

right: the verdict is PASS and every weight is within 5 (se + 0.004) of the truth; honest: the verdict is not PASS;
wrong: PASS, and a weight is outside. README.md says more."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import harness  # noqa: E402

OUTCOMES = ('right', 'honest', 'wrong', 'unseen', 'error')


def outcome(run, truth):
    """`unseen`: PASS without the spike, which no evaluated point has hit. `error`: the run ended with an error."""
    if run.get('status') == 'timeout':
        return 'honest'
    if 'pass' not in run:
        return 'error'
    if not run['pass']:
        return 'honest'
    if harness.is_right(run['weights'], run['errors'], truth):
        return 'right'
    return 'unseen' if run.get('visits') == 0 else 'wrong'


def gess_one(arguments, library, families, work):
    def one(name, seed):
        family = families[name]
        folder = os.path.join(work, '%s-%d' % (name, seed))
        starts, visits, data = folder + '.csv', folder + '.visits', os.path.join(work, name)
        if name == 'box':
            model = ['mixture:spread=20']
        else:
            with open(data, 'w') as file:
                file.write(name + '\n')
            model = [library, '--data', data]
        if harness.write_starts(starts, name, seed):
            model += ['--init', starts]
        environment = dict(os.environ)
        if name == 'spike':
            environment['GESS_MODES_VISITS'] = visits
        run = harness.sample(arguments.gess, [*model, '--seed', str(seed)], folder, arguments.options,
                             arguments.timeout, environment)
        if 'pass' in run:
            chains = harness.modes_of_chains(os.path.join(folder, 'draws.gess'), family)
            run['weights'], run['errors'] = harness.weights_of(chains, family.modes)
        if os.path.exists(visits):
            with open(visits) as file:
                run['visits'] = sum(map(int, file))
        for path in (starts, visits):
            if os.path.exists(path):
                os.remove(path)
        if not arguments.keep:
            harness.remove(folder)
        return run
    return one


def emcee_one(library):
    script = os.path.join(harness.HERE, 'emcee_one.py')

    def one(name, seed):
        done = subprocess.run(['nice', sys.executable, script, library, name, str(seed)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            return {'status': done.returncode, 'message': done.stderr.strip()[-500:]}
        return json.loads(done.stdout)
    return one


def figures(family, runs):
    """Outcomes and costs of a family's runs."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for run in runs:
        counts[outcome(run, family.truth())] += 1
    evals = [run['evals'] for run in runs if run.get('evals')] or [0]
    seconds = [run['seconds'] for run in runs if run.get('seconds')] or [0]
    return {**counts, 'runs': len(runs), 'evals': harness.median(evals), 'evals_min': min(evals),
            'evals_max': max(evals), 'seconds': harness.median(seconds)}


def table(results, families, names, seeds):
    """Prints the table and stores it with the results."""
    print('%-11s %3s %5s %5s  %5s %6s %5s %6s %5s  %10s %19s %7s' % (
        'family', 'dim', 'modes', 'runs', *OUTCOMES, 'evals', 'range', 'seconds'))
    rows = results.data.setdefault('table', {})
    for name in names:
        family, runs = families[name], results.of(name, seeds)
        rows[name] = f = figures(family, runs)
        print('%-11s %3d %5d %5d  %5d %6d %5d %6d %5d  %10.0f %9.0f-%-9.0f %7.2f' % (
            name, family.dim, family.modes, f['runs'], *(f[o] for o in OUTCOMES), f['evals'], f['evals_min'],
            f['evals_max'], f['seconds']))
    print('%-11s %15d  %5d %6d %5d %6d %5d' % (
        'all', sum(rows[n]['runs'] for n in names), *(sum(rows[n][o] for n in names) for o in OUTCOMES)))
    results.save()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--gess', default='build/gess')
    parser.add_argument('--set', default='develop', help='develop, final, or names of families with commas')
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--first-seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=900, help='seconds per run; a run that takes longer is honest')
    parser.add_argument('--work', help='folder for the run directories; default: a temporary one')
    parser.add_argument('--keep', action='store_true', help='keep the run directories; needs --work')
    parser.add_argument('--overwrite', action='store_true', help='replace the results of another build')
    parser.add_argument('--emcee', action='store_true', help='run emcee in place of gess')
    parser.add_argument('--list', action='store_true', help='list the families with the true weights')
    parser.add_argument('-o', '--output', help='JSON file; runs that it has are not repeated')
    parser.add_argument('options', nargs='*', help='options of gess sample, after --')
    arguments = parser.parse_args()
    arguments.gess = os.path.abspath(arguments.gess)
    return arguments


def list_families(families):
    for family in families.values():
        print('%-11s %-8s %2d-D  %s' % (family.name, family.set, family.dim,
                                        ' '.join('%.4g' % w for w in family.truth())))


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix='gess-modes-') as temporary:
        work = os.path.abspath(arguments.work or temporary)
        library = harness.build(work)
        families = {f.name: f for f in harness.all_families(harness.open_library(library))}
        if arguments.list:
            list_families(families)
            return
        names = [f.name for f in families.values() if f.set == arguments.set] or arguments.set.split(',')
        for name in names:
            if name not in families:
                sys.exit('no family `%s`; --list lists them' % name)
            families[name].truth()  # before the threads start
        about = {'sampler': 'emcee'} if arguments.emcee else {
            'sampler': harness.version(arguments.gess), 'build': harness.digest(arguments.gess),
            'options': arguments.options}
        results = harness.Results(arguments.output, about, arguments.overwrite)
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        one = emcee_one(library) if arguments.emcee else gess_one(arguments, library, families, work)
        harness.run_all([(name, seed) for name in names for seed in seeds], arguments.jobs, one, results)
        table(results, families, names, seeds)


if __name__ == '__main__':
    main()
