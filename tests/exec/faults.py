"""Faults of programs (exec:), injected one after the other into short runs: each is named, with its line and point;
nothing hangs, and no process is left behind.

  python3 faults.py GESS SOURCE_FOLDER [--faults N] [--seed S]

tests/exec/peer.c is the program. A fault that loses the program once costs a restart and no draw: the draws must be
those of a run without it. One that comes back ends the run (exit status 2), and so does output that is no answer. Among
the faults are kill -9 of gess itself, --max-time and SIGINT while the program is silent."""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LOST = {  # fault: what the message says
    "exit": "ended with exit status 3", "crash": r"was ended by signal 11", "kill": r"was ended by signal 9",
    "say-and-exit": r"ended with exit status 1 \(the last it said: ValueError: no such star\)",
    "partial-exit": r"ended with exit status 0.* and a part of the next", "eof": "closed its standard output",
    "child": "ended with exit status 4", "partial": "did not answer within .* and a part of the next",
    "silence": "did not answer within", "slow": "did not answer within", "few": "did not answer within",
    "ignore": "did not answer within"}
WRONG = {"garbage": "wrote `Traceback` as line", "comma": r"wrote `-1,5` as line .*decimal point",
         "empty": "where a number is needed", "two": "wrote `-1 -2` as line", "hex": "wrote `0x1p3` as line",
         "overflow": "wrote `-1e999` as line", "warning": "wrote `Warning: converged slowly` as line",
         "long": "wrote `1{60,}… as line .*too long".replace("… ", "…` "), "many": "a line too many",
         "late": "a line too many|after its last answer|more than was asked for"}
WRONG_BINARY = {"garbage": "bytes or more instead of", "many": "bytes or more instead of", "long": "bytes or more instead of"}
POINT = re.compile(r"at the point \(-?[0-9.e+-]+(,-?[0-9.e+-]+)+\)")
RUN = ["--chains", "16", "--warmup", "20", "--draws", "5", "--seed", "4", "-q", "--eval-timeout", "2s"]


def processes_in(folder):
    """Processes whose working directory is the folder: programs and their keeper."""
    found = []
    for number in os.listdir("/proc"):
        try:
            if number.isdigit() and os.readlink(f"/proc/{number}/cwd").startswith(folder) and int(number) != os.getpid():
                with open(f"/proc/{number}/stat", encoding="ascii", errors="replace") as file:
                    if file.read().rpartition(")")[2].split()[0] != "Z":
                        found.append(int(number))
        except OSError:
            pass
    return found


class Failed(Exception):
    pass


class Faults:
    def __init__(self, gess, source, folder, seed):
        self.gess, self.folder, self.random = gess, folder, random.Random(seed)
        self.runs = 0
        subprocess.run(["cc", "-O1", "-o", f"{folder}/peer", f"{source}/tests/exec/peer.c"], check=True)
        self.reference = {}

    def command(self, words, *more):
        return [self.gess, "sample", "exec:./peer " + words, *RUN, *more, "--overwrite"]

    def run(self, words, *more, limit=120.0):
        """Exit status, and what was said."""
        self.runs += 1
        began = time.monotonic()
        try:
            done = subprocess.run(self.command(words, *more), cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"it hangs: {words} {more}")
        self.seconds = time.monotonic() - began
        self.check_processes(words)
        return done.returncode, done.stdout

    def check_processes(self, what, seconds=30.0):
        until = time.monotonic() + seconds
        while processes_in(self.folder):
            if time.monotonic() > until:
                raise Failed(f"processes are left behind: {what}: {processes_in(self.folder)}")
            time.sleep(0.02)

    def read(self, name):
        with open(f"{self.folder}/{name}", "rb") as file:
            return file.read()

    def draws(self, kind):
        """Of a run without faults; the same for text and binary."""
        if kind not in self.reference:
            status, text = self.run(f"2 {kind}", "-o", "reference")
            if status != 0:
                raise Failed(f"no run without faults: {text}")
            self.reference[kind] = self.read("reference/draws.gess")
        return self.reference[kind]

    def ends(self, words, wanted, *more):
        status, text = self.run(words, "-o", "run", *more)
        if status != 2 or not re.search(wanted, text) or not POINT.search(text):
            raise Failed(f"{words} {more}: status {status}, not \"{wanted}\" with a point: {text}")

    def lost_once(self, binary, threads, at):
        fault = self.random.choice(list(LOST))
        if binary and fault in ("partial", "partial-exit"):
            fault = "silence"
        flag = f"{self.folder}/flag"
        if os.path.exists(flag):
            os.unlink(flag)
        words = f"2 {binary} fault {fault} {at} once flag"
        if fault == "ignore":
            words = words.replace(f" {at} ", " 0 ")
        status, text = self.run(words, "-o", "run", "--threads", threads)
        if status != 0 or not os.path.exists(flag):
            raise Failed(f"{words}: status {status}, the fault {'came' if os.path.exists(flag) else 'did not come'}: {text}")
        if self.read("run/draws.gess") != self.draws(binary):
            raise Failed(f"{words}: other draws than without the fault")
        listed = self.read("run/crashes.csv").decode()
        if not re.search("^retried,[0-9]+,\"?" + LOST[fault], listed, re.M):
            raise Failed(f"{words}: not in crashes.csv: {listed}")
        return fault

    def lost_again(self, binary, threads, at):
        fault = self.random.choice([name for name in LOST if name not in ("partial", "partial-exit")] if binary else list(LOST))
        rule = self.random.choice(["stop", "auto"])
        at = 0 if fault == "ignore" else 1 if rule == "auto" else at
        self.ends(f"2 {binary} fault {fault} {at}", LOST[fault], "--threads", threads, "--on-crash", rule)
        return f"{fault} ({rule})"

    def wrong(self, binary, threads, at):
        wanted = WRONG_BINARY if binary else WRONG
        fault = self.random.choice(list(wanted))
        self.ends(f"2 {binary} fault {fault} {at}", wanted[fault], "--threads", threads, "--on-crash",
                  self.random.choice(["stop", "retry", "outside"]))
        return fault

    def greeting(self, binary, threads, at):
        fault, wanted = self.random.choice([("greeting", "greets with `Hello` instead of `ok DIM`"),
                                            ("exit-at-once", "ended with exit status 7 before it had greeted"),
                                            ("no-program", "ended with exit status 127 .*not found.* before it had greeted")])
        words = {"greeting": f"2 {binary} fault greeting 0", "exit-at-once": "2; exit 7", "no-program": "2; ./nothing"}[fault]
        command = self.command(words, "-o", "never")
        if fault != "greeting":
            command[2] = "exec:" + words.partition("; ")[2]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=30)
        self.runs += 1
        if done.returncode != 2 or not re.search(wanted, done.stderr) or os.path.exists(f"{self.folder}/never"):
            raise Failed(f"{command}: status {done.returncode}, not \"{wanted}\": {done.stderr}")
        self.check_processes(fault)
        return fault

    def flood(self, binary, threads, at):
        status, text = self.run(f"2 {binary} fault flood {at}", "-o", "run", "--threads", threads)
        if status != 0 or self.read("run/draws.gess") != self.draws(binary):
            raise Failed(f"a flood of standard error: status {status}: {text}")
        log = self.read("run/log.txt").decode()
        if "a line of a flood" not in log or "is not kept" not in log or len(log) > 1000000:
            raise Failed(f"a flood of standard error: log.txt has {len(log)} bytes")
        return "flood"

    def waited_for(self):
        """A minute of silence without a limit of time: log.txt says so, and goes on waiting."""
        command = self.command("2 fault silence 30", "-o", "run", "--threads", "1", "--max-time", "75")
        command[command.index("--eval-timeout") + 1] = "1h"
        subprocess.run(command, cwd=self.folder, capture_output=True, timeout=120)
        log = self.read("run/log.txt").decode()
        if log.count("program of worker 0: no answer to ") != 1:
            raise Failed(f"log.txt does not say once that a program is silent: {log}")

    def delay(self):
        # what a busy machine adds to a few seconds: ten times what it takes for a command that does little
        began = time.monotonic()
        self.run("2", "-o", "idle")
        return 10.0 * max(0.0, time.monotonic() - began - 0.1)

    def stopped(self, binary, threads, at):
        """--max-time, SIGINT and kill -9 while the program is silent."""
        how = self.random.choice(["time", "signal", "kill"])
        fault = self.random.choice(["silence", "eof-less", "deaf"]).replace("eof-less", "few")
        words = f"2 {binary} fault {fault} {0 if fault == 'deaf' else at}"
        command = self.command(words, "-o", "run", "--threads", threads, *(["--max-time", "1"] if how == "time" else []))
        command[command.index("--eval-timeout") + 1] = "1h"
        self.runs += 1
        shutil.rmtree(f"{self.folder}/run", ignore_errors=True)
        began = time.monotonic()
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
            if how != "time":
                while not os.path.exists(f"{self.folder}/run/config.json") and child.poll() is None:
                    time.sleep(0.01)
                time.sleep(0.4 + self.random.random())
                began = time.monotonic()
                child.send_signal(signal.SIGINT if how == "signal" else signal.SIGKILL)
            try:
                text, _ = child.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                child.kill()
                raise Failed(f"{words}: {how} does not end it")
        took = time.monotonic() - began
        if took > (3.8 if how == "time" else 2.8) + self.delay():
            raise Failed(f"{words}: {how} takes {took:.1f} s")
        if how != "kill" and child.returncode != 3:
            raise Failed(f"{words}: {how}: status {child.returncode}: {text}")
        self.check_processes(f"{words}, {how}")
        return f"{fault}, {how}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gess")
    parser.add_argument("source")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(os.path.abspath(arguments.gess), arguments.source, os.path.realpath(folder), arguments.seed)
        kinds = [faults.lost_once, faults.wrong, faults.lost_again, faults.lost_once, faults.wrong, faults.stopped,
                 faults.lost_again, faults.wrong, faults.greeting, faults.flood]
        for i in range(arguments.faults):
            kind = kinds[i % len(kinds)]
            binary = faults.random.choice(["", "binary"])
            threads = faults.random.choice(["1", "2", "3"])
            at = faults.random.randint(1, 60)
            before = time.monotonic()
            try:
                what = kind(binary, threads, at)
            except Failed as error:
                print(f"FAILED: fault {i}, {kind.__name__}, {threads} threads, seed {arguments.seed}: {error}")
                return 1
            print(f"{i + 1} {kind.__name__}: {what} {binary} at {at}, {threads} threads: {time.monotonic() - before:.1f} s",
                  flush=True)
        if arguments.faults >= 200:  # the long test
            try:
                faults.waited_for()
            except Failed as error:
                print(f"FAILED: {error}")
                return 1
    print(f"{arguments.faults} faults, all named; no hang, no process left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
