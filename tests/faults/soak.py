#!/usr/bin/env python3
"""Random faults, one after the other, to runs that are then resumed: a soak test.

    soak.py GESS SOURCE_FOLDER [--faults 1000] [--seconds 3600] [--seed 1] [--log FILE]

Every run meets one to five faults: kills of the command, of the process that samples or of an MPI rank; processes and
ranks that are stopped for a while; SIGTERM and SIGINT; full disks (a small file system as root, a limit of file size
otherwise); densities that crash, exit, hang, fail or are slow; closed standard descriptors, too few descriptors, too
little memory. Then it is resumed to its end. Its draws must have the bytes of a run without faults, every command must
end in time and with a status that the fault explains, and no process may be left.
"""
import argparse
import collections
import filecmp
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120  # seconds; a command that takes longer hangs
MODEL = "./soak.so"
CONFIGURATIONS = [
    "german-credit --chains 24 --warmup 200 --draws 1500 --checkpoint-every 10",
    "wishart:dim=15 --schedule two-group --chains 40 --warmup 200 --draws 1500 --checkpoint-every 7",
    "mixture --ensembles 2 --chains 40 --warmup 400 --draws 8000 --save-warmup --checkpoint-every 40",
    "mixture --schedule annealed --chains 24 --warmup 10 --draws 8000 --checkpoint-every 50",
    MODEL + " --chains 16 --warmup 200 --draws 30000 --checkpoint-every 100",
    MODEL + " --chains 16 --max-warmup-evals 20000 --draws 30000 --checkpoint-every 100",
]


class Failure(Exception):
    pass


class Soak:
    def __init__(self, arguments):
        self.gess = os.path.abspath(arguments.gess)
        self.source = os.path.abspath(arguments.source)
        self.random = random.Random(arguments.seed)
        self.folder = tempfile.mkdtemp(prefix="gess-soak-")
        self.log = open(arguments.log, "w", buffering=1) if arguments.log else None
        self.faults = collections.Counter()  # that struck, by kind
        self.statuses = collections.Counter()
        self.runs = self.commands = 0
        self.slowest = 0.0
        self.small = None  # a small file system, to be filled
        os.chdir(self.folder)
        subprocess.run(["cc", "-std=gnu17", "-O1", "-fPIC", "-shared", "-I", self.source + "/include", "-o", "soak.so",
                        self.source + "/tests/faults/soak_model.c"], check=True)
        self.mount()
        self.mpi = shutil.which("mpirun") is not None and self.has_mpi()
        for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"):
            os.environ[name] = "1"
        os.environ.update(OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_btl="self,vader,tcp",
                          OMPI_MCA_plm_rsh_agent="false")

    def has_mpi(self):
        text = subprocess.run([self.gess, "--version"], capture_output=True, text=True).stdout
        return "mpi" in text.lower() and "no mpi" not in text.lower()

    def mount(self):
        os.mkdir("small")
        if os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", "small"],
                                                capture_output=True).returncode == 0:
            self.small = "small"

    def close(self):
        os.chdir("/")
        if self.small:
            subprocess.run(["umount", os.path.join(self.folder, "small")], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def say(self, text):
        if self.log:
            print(f"{time.strftime('%H:%M:%S')} {text}", file=self.log)

    # ---- processes ----

    def processes(self):
        """Processes that work in the folder, with their command lines."""
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open(f"/proc/{name}/stat") as f:
                    state = f.read().rsplit(")", 1)[1].split()[0]
                with open(f"/proc/{name}/cmdline", "rb") as f:
                    line = f.read().replace(b"\0", b" ").decode(errors="replace")
                where = os.readlink(f"/proc/{name}/cwd")
            except OSError:
                continue
            if state == "Z" or not where.startswith(self.folder) or self.gess not in line:
                continue
            found.append((int(name), line))
        return found

    def samplers(self):
        """Processes of gess itself, without mpirun."""
        return [p for p, line in self.processes() if line.startswith(self.gess)]

    def start(self, command, environment=None, limits=(), closed=()):
        def prepare():
            os.setpgid(0, 0)
            for what, value in limits:
                resource.setrlimit(what, (value, value))
            for descriptor in closed:
                os.close(descriptor)

        self.commands += 1
        self.output = open("output.txt", "w+")
        return subprocess.Popen(command, env={**os.environ, **(environment or {})}, preexec_fn=prepare,
                                stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)

    def finish(self, process, allowed, what):
        """Waits; checks the status, and that nobody is left."""
        begun = time.monotonic()
        try:
            status = process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failure(f"{what}: it hangs")
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self.statuses[status] += 1
        deadline = time.monotonic() + 15
        while self.processes():
            if time.monotonic() > deadline:
                raise Failure(f"{what}: processes are left: {self.processes()}")
            time.sleep(0.02)
        if allowed is not None and status not in allowed:
            raise Failure(f"{what}: status {status}")
        return status

    # ---- one run ----

    def command(self, run, options):
        threads = ["--threads", str(self.random.randint(1, 3)), "-q"]
        if os.path.exists(run + "/config.json"):
            trust = ["--trust-model"] if options.startswith(MODEL) else []
            return [self.gess, "resume", run] + trust + threads
        return [self.gess, "sample"] + options.split() + ["-o", run, "--overwrite"] + threads

    def strike(self, run, options, duration):
        """One fault; it counts if it struck before the command had ended. True if the run is finished."""
        kinds = ["kill", "kill-child", "term", "int", "stop", "file-size", "closed", "descriptors", "memory", "max-time"]
        kinds += ["disk"] * 2 if self.small and run.startswith(self.small) else []
        kinds += ["rank-kill", "rank-stop"] if self.mpi else []
        kinds += ["crash", "exit", "hang", "error", "slow"] * 2 if options.startswith(MODEL) else []
        kind = self.random.choice(kinds)
        command = self.command(run, options)
        self.struck = kind in ("closed", "slow")
        status = getattr(self, kind.replace("-", "_"))(kind, command, self.random.uniform(0.0, duration))
        struck = status != 0 or self.struck
        self.say(f"{kind}: status {status}{'' if struck else ' (too late)'}")
        self.faults[kind] += struck
        return status == 0

    def signalled(self, kind, command, delay, number, allowed, target="command"):
        process = self.start(command)
        time.sleep(delay)
        victims = [process.pid]
        if target == "child":
            victims = [p for p in self.samplers() if p != process.pid] or victims
        try:
            os.kill(self.random.choice(victims), number)
        except ProcessLookupError:
            pass
        return self.finish(process, allowed, kind)

    def kill(self, kind, command, delay):
        return self.signalled(kind, command, delay, signal.SIGKILL, (0, -9))

    def kill_child(self, kind, command, delay):
        return self.signalled(kind, command, delay, signal.SIGKILL, (0, -9, 2), "child")

    def term(self, kind, command, delay):
        return self.signalled(kind, command, delay, signal.SIGTERM, (0, 3, -15))

    def int(self, kind, command, delay):
        return self.signalled(kind, command, delay, signal.SIGINT, (0, 3, -2))

    def stop(self, kind, command, delay):
        process = self.start(command)
        time.sleep(delay)
        self.struck = process.poll() is None
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in {process.pid, *self.samplers()}:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            time.sleep(self.random.uniform(0.1, 2.0) if number == signal.SIGSTOP else 0.0)
        return self.finish(process, (0,), kind)

    def file_size(self, kind, command, delay):
        limit = self.random.choice([0, 1000, 10000, 100000, 1000000])
        return self.finish(self.start(command, limits=[(resource.RLIMIT_FSIZE, limit)]), (0, 5), f"{kind} {limit}")

    def disk(self, kind, command, delay):
        process = self.start(command)
        time.sleep(delay)
        try:
            with open("small/filler", "wb", buffering=0) as f:
                while f.write(bytes(4096)) == 4096:
                    pass
        except OSError:
            pass
        status = self.finish(process, (0, 5), kind)
        os.unlink("small/filler")
        return status

    def closed(self, kind, command, delay):
        which = self.random.sample([0, 1, 2], self.random.randint(1, 3))
        return self.finish(self.start(command, closed=which), (0,), f"{kind} {which}")

    def descriptors(self, kind, command, delay):
        limit = self.random.randint(4, 14)
        return self.finish(self.start(command, limits=[(resource.RLIMIT_NOFILE, limit)]), (0, 1, 2, 4, 5, 127),
                           f"{kind} {limit}")

    def memory(self, kind, command, delay):
        limit = self.random.choice([20, 30, 45, 60, 90, 130, 200]) << 20
        return self.finish(self.start(command, limits=[(resource.RLIMIT_AS, limit)]), (0, 2, 4, 127),
                           f"{kind} {limit >> 20} MiB")

    def max_time(self, kind, command, delay):
        return self.finish(self.start(command + ["--max-time", f"{0.05 + delay:.3f}s"]), (0, 3), kind)

    def density(self, kind, command, allowed, extra=()):
        call = int(10 ** self.random.uniform(0.0, 4.0))
        return self.finish(self.start(command + list(extra), {"SOAK": f"{kind}:{call}"}), allowed, f"{kind} at {call}")

    def crash(self, kind, command, delay):
        return self.density(kind, command, (0, 2))

    def exit(self, kind, command, delay):
        return self.density(kind, command, (0, 2))

    def error(self, kind, command, delay):
        return self.density(kind, command, (0, 2))

    def hang(self, kind, command, delay):
        return self.density(kind, command, (0, 3), ["--max-time", "1s"])

    def slow(self, kind, command, delay):
        process = self.start(command + ["--max-time", "2s"], {"SOAK": f"slow:{self.random.randint(1, 50)}"})
        return self.finish(process, (0, 3), kind)

    def ranks(self, command):
        return self.start(["mpirun", "-n", "3"] + command)

    def rank_kill(self, kind, command, delay):
        process = self.ranks(command)
        time.sleep(0.5 + delay)
        victims = self.samplers()
        if victims:
            os.kill(self.random.choice(victims), signal.SIGKILL)
        return self.finish(process, None, kind)

    def rank_stop(self, kind, command, delay):
        process = self.ranks(command)
        time.sleep(0.5 + delay)
        victims = self.samplers()
        if victims:
            victim = self.random.choice(victims)
            os.kill(victim, signal.SIGSTOP)
            self.struck = True
            time.sleep(self.random.uniform(0.2, 3.0))
            try:
                os.kill(victim, signal.SIGCONT)
            except ProcessLookupError:
                pass
        return self.finish(process, (0,), kind)

    def one_run(self, number):
        options, duration = CONFIGURATIONS[number], self.duration[number]
        run = self.small + "/run" if self.small and self.random.random() < 0.7 else "run"
        shutil.rmtree(run, ignore_errors=True)
        self.say(f"run {self.runs + 1}: {options}")
        for _ in range(self.random.randint(1, 5)):
            if self.strike(run, options, duration):
                break
        for _ in range(3):  # a run that a fault ended before its directory was whole begins again
            if self.finish(self.start(self.command(run, options)), (0,), "resume") == 0:
                break
        for file in ("draws.gess", "warmup.gess"):
            whole = f"whole{number}/{file}"
            if os.path.exists(whole) and not filecmp.cmp(whole, f"{run}/{file}", shallow=False):
                raise Failure(f"{file}: other bytes")
        self.runs += 1

    def soak(self, faults, seconds):
        self.duration = []
        for number, options in enumerate(CONFIGURATIONS):
            begun = time.monotonic()
            self.finish(self.start([self.gess, "sample"] + options.split() + ["-q", "-o", f"whole{number}"]), (0,),
                        options)
            self.duration.append(time.monotonic() - begun)
        begun = time.monotonic()
        while sum(self.faults.values()) < faults and time.monotonic() - begun < seconds:
            self.one_run(self.random.randrange(len(CONFIGURATIONS)))
        return time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description="Random faults to runs that are then resumed.")
    parser.add_argument("gess")
    parser.add_argument("source")
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log")
    arguments = parser.parse_args()
    soak = Soak(arguments)
    try:
        seconds = soak.soak(arguments.faults, arguments.seconds)
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(soak.faults.items()))
        text = (f"{sum(soak.faults.values())} faults in {seconds:.0f} s ({kinds}) to {soak.runs} runs; every run ended "
                f"with the bytes of a run without faults, no process was left, the longest command took "
                f"{soak.slowest:.1f} s")
        soak.say(text)
        print(text)
        return 0
    except Failure as failure:
        text = (f"FAILED: {failure} (seed {arguments.seed}, after {sum(soak.faults.values())} faults and {soak.runs} "
                f"runs)")
        soak.say(text)
        print(text)
        with open(os.path.join(soak.folder, "output.txt"), errors="replace") as f:
            print(f.read()[-4000:])
        return 1
    finally:
        for pid, _ in soak.processes():
            os.kill(pid, signal.SIGKILL)
        soak.close()


if __name__ == "__main__":
    sys.exit(main())
