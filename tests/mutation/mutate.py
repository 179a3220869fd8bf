#!/usr/bin/env python3
"""Changes the method's code one small thing at a time and asks the tests to notice.

A mutant is one change of one place in a folder of FOLDERS. Each is built
and tested in a copy of the tree under build/mutate; the working tree is only read. A mutant that
every test passes has survived: either it changes nothing that matters, which survivors.md must
explain, or a test is missing. README.md in this folder says how to use this.

Exit status: 0 every survivor is explained, 1 some are not, 2 nothing could be measured.
"""

import argparse
import bisect
import collections
import fcntl
import fnmatch
import glob
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SCRATCH = os.path.join(ROOT, "build", "mutate")
SURVIVORS = os.path.join(HERE, "survivors.md")
LAST = os.path.join(SCRATCH, "survivors.json")
FOLDERS = ("src/kernel", "src/transform", "src/approx", "src/chains", "src/frozen", "src/execute", "src/adapt",
           "src/explore", "src/schedule")

# ---- tokens ----

KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool
_Alignas _Alignof _Atomic _Noreturn _Static_assert _Thread_local bool""".split())
TYPE_WORDS = set("""char const double enum float int long register restrict short signed static struct union unsigned
void volatile _Bool _Atomic bool extern inline FILE va_list""".split())
LEXEME = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n|/\*.*?\*/)*)
  | (?P<text>[LuU]?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<number>0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?[uUlLfF]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[-+*/%&|^<>=!~?:;,.(){}\[\]])
  | (?P<space>\s+)
""", re.X | re.S | re.M)

Token = collections.namedtuple("Token", "kind text start end")


def tokens_of(source, path):
    """The code's tokens: no comments, no preprocessor lines."""
    tokens, at = [], 0
    while at < len(source):
        match = LEXEME.match(source, at)
        if match is None:
            raise SystemExit(f"{path}: cannot read the character {source[at]!r} at offset {at}")
        at = match.end()
        if match.lastgroup not in ("comment", "directive", "space"):
            tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
    return tokens


def type_names(root):
    """Names that typedefs of the tree declare, so that `name *x` is not taken for a product."""
    names = set()
    for path in glob.glob(os.path.join(root, "src/**/*.[ch]"), recursive=True) + glob.glob(
            os.path.join(root, "include/**/*.h"), recursive=True):
        with open(path, encoding="utf-8") as file:
            tokens = tokens_of(file.read(), path)
        for i, token in enumerate(tokens):
            if token.text != "typedef":
                continue
            depth, last, function = 0, None, None
            for j in range(i + 1, len(tokens)):
                text = tokens[j].text
                depth += (text in "({[") - (text in ")}]")
                if text == ";" and depth == 0:
                    break
                if tokens[j].kind == "word" and depth == 0:
                    last = text
                if function is None and text == "*" and tokens[j - 1].text == "(" and depth == 1:
                    function = tokens[j + 1].text
            names.add(last if last and tokens[j - 1].text != ")" else function or last)
    return names


# ---- mutants ----

Mutant = collections.namedtuple("Mutant", "file line function kind start end text original mutated")


def key_of(mutant):
    """Names a mutant whatever the line numbers: what survivors.md is matched by."""
    return mutant.file, mutant.function, mutant.original, mutant.mutated


ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "&": "|", "|": "&"}
ASSIGNING = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|="}
COMPARING = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
LOGICAL = {"&&": "||", "||": "&&"}
ASSIGNMENTS = set(ASSIGNING) | {"=", "%=", "^=", "<<=", ">>="}
# What these are given only words a message.
MESSAGES = {"gess__fail", "gess__blame", "snprintf", "fprintf", "printf", "gess__target_describe"}
# Swapping these functions' arguments changes nothing.
SYMMETRIC = {"gess__dot", "fmax", "fmin"}


class File:
    """One source file and what can be changed in it."""

    def __init__(self, root, path, types):
        self.path, self.types = path, types
        with open(os.path.join(root, path), encoding="utf-8", newline="") as file:
            self.source = file.read()
        self.tokens = tokens_of(self.source, path)
        self.lines = [0] + [m.end() for m in re.finditer("\n", self.source)]
        self.mate = self.match_brackets()
        self.functions = self.name_places()
        self.quiet = self.silence()
        self.mutants = []
        self.seen = set()

    # -- structure --

    def match_brackets(self):
        mate, stack = {}, []
        for i, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in "([{":
                stack.append(i)
            elif token.text in ")]}":
                mate[i] = stack.pop()
                mate[mate[i]] = i
        return mate

    def name_places(self):
        """For each token the function or the file-level object it belongs to."""
        names, i = [""] * len(self.tokens), 0
        while i < len(self.tokens):
            if self.tokens[i].text == "{" and self.tokens[i].kind == "sign":
                name = ""
                if self.text(i - 1) == ")":
                    name = self.text(self.mate[i - 1] - 1)
                elif self.text(i - 1) == "=":
                    at = i - 2
                    while self.text(at) == "]":
                        at = self.mate[at] - 1
                    name = self.text(at)
                for j in range(i, self.mate[i] + 1):
                    names[j] = name
                i = self.mate[i]
            i += 1
        return names

    def silence(self):
        """Tokens that stay as they are: messages, the hand-made mutants, lengths of local arrays."""
        quiet = [False] * len(self.tokens)
        for i, token in enumerate(self.tokens):
            if token.text in MESSAGES and self.text(i + 1) == "(":
                for j in range(i, self.mate[i + 1] + 1):
                    quiet[j] = True
            elif token.text == "GESS__MUTANT":
                self.silence_switch(i, quiet)
            elif token.text == "[" and i >= 2 and self.tokens[i - 1].kind == "word" and self.ends_type(i - 2):
                for j in range(i, self.mate[i] + 1):
                    quiet[j] = True
        return quiet

    def silence_switch(self, i, quiet):
        line = self.line(self.tokens[i].start)
        for j, token in enumerate(self.tokens):
            if self.line(token.start) == line:
                quiet[j] = True
        after = self.mate[i + 1] + 1
        if self.text(i - 1) == "(" and self.text(i - 2) == "if" and self.text(after) == ")":
            start = after + 1  # the statement that only the mutant has
            end = self.mate[start] if self.text(start) == "{" else self.end_of_statement(start)
            for j in range(start, (end if end is not None else start) + 1):
                quiet[j] = True

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def line(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def ends_type(self, i):
        text = self.text(i)
        return (text in TYPE_WORDS or text in self.types or re.fullmatch(r"\w+_t|atomic_\w+", text) is not None
                or self.text(i - 1) in ("struct", "enum", "union"))

    def is_cast(self, close):
        """Whether the bracket that closes here is a cast."""
        opening = self.mate[close]
        if self.text(opening - 1) == "sizeof" or close == opening + 1:
            return False
        if self.tokens[opening - 1].kind == "word" and self.text(opening - 1) not in KEYWORDS:
            return False
        return all(self.text(j) in "*" or self.ends_type(j) or self.text(j) in ("struct", "enum", "union")
                   for j in range(opening + 1, close))

    def is_binary(self, i):
        """Whether + - * & | here stands between two operands."""
        before = self.tokens[i - 1] if i > 0 else None
        if before is None:
            return False
        if before.kind in ("number", "text"):
            return True
        if before.kind == "word":
            return before.text not in KEYWORDS and not self.ends_type(i - 1)
        if before.text == ")":
            return not self.is_cast(i - 1) and self.text(self.mate[i - 1] - 1) not in ("if", "for", "while", "switch")
        return before.text in ("]", "++", "--")

    def end_of_statement(self, start):
        i = start
        while i < len(self.tokens):
            if self.text(i) == ";":
                return i
            if self.tokens[i].kind == "sign" and self.text(i) in "([{":
                i = self.mate[i]
            elif self.tokens[i].kind == "sign" and self.text(i) in ")]}":
                return None
            i += 1
        return None

    # -- adding --

    def add(self, kind, first, last, text):
        """Replaces tokens first..last (inclusive) by text."""
        if any(self.quiet[first:last + 1]):
            return
        start, end = self.tokens[first].start, self.tokens[last].end
        changed = self.source[:start] + text + self.source[end:]
        if changed in self.seen:
            return
        self.seen.add(changed)
        top, bottom = self.lines[self.line(start) - 1], self.source.find("\n", end)
        shift = len(changed) - len(self.source)
        self.mutants.append(Mutant(self.path, self.line(start), self.functions[first], kind, start, end, text,
                                   " ".join(self.source[top:bottom].split()),
                                   " ".join(changed[top:bottom + shift].split())))

    def generate(self):
        for i, token in enumerate(self.tokens):
            if token.kind == "number":
                self.change_number(i)
            elif token.kind == "sign":
                self.change_sign(i)
            elif token.text in ("if", "while") and self.text(i + 1) == "(":
                self.negate(i + 2, self.mate[i + 1] - 1)
            elif token.text == "for":
                self.change_bounds(i)
            elif token.kind == "word" and self.text(i + 1) == "(":
                self.swap_arguments(i)
        self.delete_statements()
        self.mutants.sort(key=lambda m: (m.start, m.end, m.text))
        return self.mutants

    # -- the changes --

    def change_number(self, i):
        text = self.text(i)
        body = text.rstrip("uUlL") if text[:2].lower() == "0x" else text.rstrip("uUlLfF")
        suffix = text[len(body):]
        if re.fullmatch(r"\d+|0[xX][0-9a-fA-F]+", body):
            value = int(body, 0)
            self.add("constant", i, i, {0: "1", 1: "0"}.get(value, str(value + 1)) + suffix)
            return
        if body[:2].lower() == "0x":
            return
        value = float(body)
        if value == 0.0:
            self.add("constant", i, i, "1.0" + suffix)
        elif 1e-3 < value < 1e3:
            if value == 1.0:
                self.add("constant", i, i, "0.0" + suffix)
            scaled = repr(round(value * (1.1 if value == 1.0 else 1.2), 12))
            self.add("constant", i, i, scaled + suffix)
        else:  # a tolerance or a bound: a fifth more would be no mistake
            self.add("constant", i, i, repr(value * 1e3) + suffix)

    def change_sign(self, i):
        text = self.text(i)
        if text in ARITHMETIC:
            if text in "/%" or self.is_binary(i):
                self.add("operator", i, i, ARITHMETIC[text])
            elif text == "-":
                self.add("operator", i, i, "")
        elif text in ASSIGNING:
            self.add("operator", i, i, ASSIGNING[text])
        elif text in COMPARING:
            for other in COMPARING[text]:
                self.add("comparison", i, i, other)
        elif text in LOGICAL:
            self.add("logic", i, i, LOGICAL[text])
        elif text in ("++", "--"):
            self.add("operator", i, i, "--" if text == "++" else "++")
        elif text == "!":
            self.add("negation", i, i, "")
        elif text == "?":
            self.negate(self.start_of_condition(i), i - 1)

    def start_of_condition(self, question):
        i = question - 1
        while i >= 0:
            text = self.text(i)
            if self.tokens[i].kind == "sign":
                if text in ")]}":
                    i = self.mate[i]
                elif text in "([{,;?:" or text in ASSIGNMENTS:
                    break
            elif text == "return":
                break
            i -= 1
        return i + 1

    def negate(self, first, last):
        if first <= last:
            inside = self.source[self.tokens[first].start:self.tokens[last].end]
            self.add("negation", first, last, f"!({inside})")

    def change_bounds(self, i):
        """One turn of the loop fewer, or one more where < becomes <= does not give it."""
        start = self.end_of_statement(i + 2)
        end = self.end_of_statement(start + 1) if start is not None else None
        if end is None:
            return
        for j in range(start + 1, end):
            if self.text(j) not in ("<", "<="):
                continue
            last = j + 1
            while last < end and self.text(last) not in LOGICAL and self.text(last) not in ("?", ")"):
                last = self.mate[last] + 1 if self.text(last) in ("(", "[") else last + 1
            bound = self.source[self.tokens[j + 1].start:self.tokens[last - 1].end]
            self.add("bound", j + 1, last - 1, bound + (" - 1" if self.text(j) == "<" else " + 1"))

    def swap_arguments(self, i):
        """Neighbouring arguments of the same make: f(…, c, s, …)."""
        name = self.text(i)
        if name in KEYWORDS or name in SYMMETRIC or name.isupper() or not self.functions[i]:
            return
        if i > 0 and (self.ends_type(i - 1) or self.text(i - 1) == "*" and self.ends_type(i - 2)):
            return  # a declaration
        arguments, first, j, close = [], i + 2, i + 2, self.mate[i + 1]
        while j <= close:
            if j == close or self.text(j) == ",":
                arguments.append((first, j - 1))
                first = j + 1
            elif self.tokens[j].kind == "sign" and self.text(j) in "([{":
                j = self.mate[j]
            j += 1
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            shapes = [[t.text if t.kind == "sign" else t.kind for t in self.tokens[p:q + 1]] for p, q in ((a, b), (c, d))]
            if shapes[0] != shapes[1] or "word" not in shapes[0]:
                continue
            left = self.source[self.tokens[a].start:self.tokens[b].end]
            right = self.source[self.tokens[c].start:self.tokens[d].end]
            if left != right:
                between = self.source[self.tokens[b].end:self.tokens[c].start]
                self.add("arguments", a, d, right + between + left)

    def delete_statements(self):
        for i, token in enumerate(self.tokens):
            if not self.functions[i] or token.text in ("{", "}", ";") or not self.starts_statement(i):
                continue
            end = self.end_of_statement(i)
            if end is None:
                continue
            jump = token.text in ("break", "continue") or token.text == "return" and end == i + 1
            if not jump:
                if token.text in KEYWORDS or token.text == "(" or self.ends_type(i):
                    continue
                if token.kind == "word" and (self.text(i + 1) == ":" or self.tokens[i + 1].kind == "word"):
                    continue
                if re.fullmatch(r"(\w+_)?free", token.text):
                    continue  # a leak: the sanitizers' to find
                inside = range(i, end)
                if not any(self.text(j) in ASSIGNMENTS or self.text(j) in ("++", "--", "(") for j in inside):
                    continue
            gap = re.sub(r"[^\n]", "", self.source[token.start:self.tokens[end].end])
            self.add("deletion", i, end, ";" + gap)

    def starts_statement(self, i):
        before = self.text(i - 1)
        if before in (";", "{", "}", "else", "do"):
            if before == ";":  # not inside for (;;)
                depth = i - 1
                while depth >= 0 and self.text(depth) not in ("{", "}"):
                    if self.text(depth) == ")":
                        depth = self.mate[depth]
                    elif self.text(depth) == "(":
                        return False
                    depth -= 1
            return True
        return before == ")" and self.text(self.mate[i - 1] - 1) in ("if", "for", "while", "switch")


def all_mutants(patterns):
    types = type_names(ROOT)
    mutants = []
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.[ch]"))):
            name = os.path.relpath(path, ROOT)
            if not patterns or any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(os.path.basename(name), p)
                                   for p in patterns):
                mutants += File(ROOT, name, types).generate()
    return mutants


def sample(mutants, max_count, seed):
    """As many of each file as the smaller ones allow, chosen by the seed."""
    piles = collections.OrderedDict()
    for mutant in mutants:
        piles.setdefault(mutant.file, []).append(mutant)
    for name, pile in piles.items():
        random.Random(f"{seed} {name}").shuffle(pile)
    chosen = []
    while len(chosen) < max_count and any(piles.values()):
        for pile in piles.values():
            if pile and len(chosen) < max_count:
                chosen.append(pile.pop())
    return sorted(chosen, key=lambda m: (m.file, m.start, m.end, m.text))


# ---- survivors.md ----


def read_explained(path):
    """{(file, function, original, mutated): why}; mutated is "any" for all mutations of the line."""
    explained, file, function, entry = {}, "", "", None
    if not os.path.exists(path):
        return explained
    with open(path, encoding="utf-8") as text:
        fenced = False
        for line in text:
            line = line.rstrip()
            if line.startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            if line.startswith("## "):
                file, function, entry = line[3:].strip().strip("`"), "", None
            elif line.startswith("### "):
                function, entry = line[4:].strip().strip("`"), None
            elif re.match(r"- `.*`$", line):
                entry = [file, function, line[3:-1], ""]
            elif entry and not entry[3] and re.match(r"\s+→ (`.*`|any)$", line):
                entry[3] = line.split("→ ", 1)[1].strip().strip("`")
            elif entry and entry[3] and line.strip():
                key = tuple(entry)
                explained[key] = (explained.get(key, "") + " " + line.strip()).strip()
    return explained


def explanation(mutant, explained):
    file, function, original, mutated = key_of(mutant)
    return explained.get((file, function, original, mutated)) or explained.get((file, function, original, "any"))


def as_entries(mutants):
    """Survivors as survivors.md has them, the reason left to write."""
    out, file, function = [], None, None
    for m in mutants:
        if m.file != file:
            out.append(f"\n## {m.file}")
            file, function = m.file, None
        if m.function != function:
            out.append(f"\n### {m.function}" if m.function else "")
            function = m.function
        out += ["", f"- `{m.original}`", f"  → `{m.mutated}`"]
    return "\n".join(out)


# ---- a copy of the tree ----


def tree_files():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = os.fsdecode(listed.stdout).split("\0")
    else:
        names = []
        for folder, folders, files in os.walk(ROOT):
            if folder == ROOT:
                folders[:] = [f for f in folders if f not in ("build", ".git")]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return {n for n in names if n and os.path.isfile(os.path.join(ROOT, n))}


def limits(address_space):
    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
    return apply


class Copy:
    """A scratch copy with its own build folder."""

    def __init__(self, number, arguments):
        self.root = os.path.join(SCRATCH, f"tree-{number}")
        self.build = os.path.join(self.root, "build")
        self.cmake = arguments.cmake
        self.clean = {}     # object and program -> digest of the clean build
        self.process = None
        self.last_file = None

    def call(self, command, limit=None, env=None, guarded=False):
        """(exit status or None for a time-out, output)."""
        with open(os.path.join(self.root, ".mutate-output"), "w+", encoding="utf-8", errors="replace") as output:
            free = any("SANITIZE" in c for c in self.cmake)
            self.process = subprocess.Popen(command, cwd=self.build, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, env=env, start_new_session=True,
                                            preexec_fn=limits(not free) if guarded else None)
            try:
                status = self.process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self.stop()
            output.seek(0)
            return status, output.read(1 << 24)

    def stop(self):
        process = self.process
        if process is None:
            return
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the group was made by call()
        except ProcessLookupError:
            pass
        process.wait()

    def prepare(self):
        os.makedirs(self.build, exist_ok=True)
        wanted = tree_files()
        for folder, folders, files in os.walk(self.root):
            if folder == self.root:
                folders[:] = [f for f in folders if f != "build"]
            for name in files:
                path = os.path.join(folder, name)
                if os.path.relpath(path, self.root) not in wanted:
                    os.remove(path)
        for name in wanted:
            source, target = os.path.join(ROOT, name), os.path.join(self.root, name)
            if not same_file(source, target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)
                shutil.copymode(source, target)
        # swapped arguments of different types are the compiler's to find
        strict = "-DCMAKE_C_FLAGS=-Werror=int-conversion -Werror=incompatible-pointer-types"
        command = ["cmake", "-S", self.root, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release", strict] + self.cmake
        if shutil.which("ninja") and not os.path.exists(os.path.join(self.build, "CMakeCache.txt")):
            command += ["-G", "Ninja"]
        status, output = self.call(command)
        if status != 0:
            stop_with("the clean copy does not configure:\n" + output)

    def make(self, targets):
        return self.call(["cmake", "--build", self.build, "--target"] + targets)

    def objects(self):
        """Digests of the library's object files."""
        found = {}
        for root in ("gess_method.dir", "gess_rest.dir"):
            for path in glob.glob(os.path.join(self.build, "CMakeFiles", root, "**", "*.o"), recursive=True):
                found[os.path.relpath(path, self.build)] = digest(path)
        return found

    def write(self, file, text):
        path = os.path.join(self.root, file)
        before = os.stat(path).st_mtime_ns
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        if os.stat(path).st_mtime_ns <= before:  # coarse clocks
            os.utime(path, ns=(before + 1000000, before + 1000000))


def same_file(a, b):
    try:
        with open(a, "rb") as x, open(b, "rb") as y:
            return x.read() == y.read()
    except FileNotFoundError:
        return False


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def stop_with(message):
    print(message if len(message) < 20000 else "…" + message[-20000:], file=sys.stderr)
    sys.exit(2)


# ---- the tests ----


class Test:
    def __init__(self, row, build, targets):
        self.name = row["name"]
        properties = {p["name"]: p["value"] for p in row.get("properties", [])}
        self.labels = properties.get("LABELS", [])
        command = row.get("command", [])
        inside = [os.path.relpath(c, build) for c in command if c.startswith(build + os.sep)]
        # a program of the build and nothing else of it: it can be built alone, and where its bytes
        # are those of the clean build it cannot tell the mutant from the original
        self.program = inside[0] if len(inside) == 1 and command[0].startswith(build + os.sep) else None
        # ctest does not tell the command before the program is built; by then folder/name is target name
        target = os.path.basename(self.program or self.name)
        self.targets = [target] if (self.program or not command) and target in targets else ["all"]
        self.seconds = 0.0

    def limit(self):
        return 10.0 + min(10.0 * self.seconds, 10.0 + 4.0 * self.seconds)


def find_tests(copy, labels, skip):
    status, output = copy.call(["ctest", "--show-only=json-v1"])
    if status != 0:
        stop_with("ctest cannot list the tests:\n" + output)
    _, words = copy.make(["help"])
    targets = set(re.findall(r"^(?:\.\.\. )?([\w.-]+)", words, re.M))
    tests = [Test(row, copy.build, targets) for row in json.loads(output[output.index("{"):])["tests"]]
    tests = [t for t in tests if set(t.labels) & set(labels) and not any(re.search(s, t.name) for s in skip)]
    if not tests:
        stop_with("there is no test to run")
    return tests


def run_test(copy, test, limit):
    """pass, fail or time."""
    env = dict(os.environ, MALLOC_PERTURB_="165", CTEST_OUTPUT_ON_FAILURE="1")
    command = ["ctest", "-R", "^" + re.escape(test.name) + "$", "--timeout", str(int(limit) + 1)]
    status, output = copy.call(command, limit + 5.0, env, guarded=True)
    if status is None or "***Timeout" in output:
        return "time", output
    return ("pass" if status == 0 else "fail"), output


class Runner:
    def __init__(self, arguments, mutants):
        self.arguments, self.lock = arguments, threading.Lock()
        self.waiting = list(mutants)
        self.total, self.finished = len(mutants), 0
        self.results = []                     # (mutant, verdict, by, seconds)
        self.twins = {}                       # digest of changed objects -> (verdict, by)
        self.blind = collections.defaultdict(set)  # .c file -> tests that do not link it
        self.kills = collections.Counter()    # (file, test)
        self.runs = collections.Counter()
        self.copies = [Copy(i + 1, arguments) for i in range(min(arguments.jobs, max(1, len(mutants))))]
        self.tests = []
        self.stopped = False
        self.fault = None

    def prepare(self):
        first = self.copies[0]
        print("clean copy: building", flush=True)
        started = time.monotonic()
        first.prepare()
        labels = self.arguments.labels.split(",")
        self.tests = find_tests(first, labels, self.arguments.skip)
        self.build_clean(first)
        self.tests = find_tests(first, labels, self.arguments.skip)
        first.clean = self.clean_digests(first)
        print(f"clean copy: built in {time.monotonic() - started:.0f} s; running {len(self.tests)} tests", flush=True)
        failures = []
        for test in self.tests:
            begun = time.monotonic()
            verdict, output = run_test(first, test, 3600.0)
            test.seconds = time.monotonic() - begun
            if verdict != "pass":
                failures.append((test.name, output))
        if failures:
            stop_with("".join(output for _, output in failures) + "\nThe clean copy fails "
                      + ", ".join(name for name, _ in failures)
                      + ", so nothing can be measured: mend them, or leave them out with --skip")
        for label in labels:
            if not any(label in t.labels for t in self.tests):
                print(f"note: no test has the label {label}")
        print(f"clean copy: passes in {sum(t.seconds for t in self.tests):.1f} s", flush=True)
        for copy in self.copies[1:]:
            copy.prepare()
            self.build_clean(copy)

    def build_clean(self, copy):
        status, output = copy.make(sorted({x for t in self.tests for x in t.targets} | {"gess_method", "gess_rest"}))
        if status != 0:
            stop_with("the clean copy does not build:\n" + output)
        copy.clean = self.clean_digests(copy)

    def clean_digests(self, copy):
        found = copy.objects()
        for test in self.tests:
            if test.program:
                found[test.program] = digest(os.path.join(copy.build, test.program))
        return found

    def order(self, file):
        """Likeliest to kill for its time first."""
        def gain(test):
            pair = file, test.name
            return (self.kills[pair] + 0.3) / (self.runs[pair] + 1.0) / (test.seconds + 0.2)
        return sorted((t for t in self.tests if t.name not in self.blind[file]), key=gain, reverse=True)

    def judge(self, copy, mutant, source):
        if copy.last_file not in (None, mutant.file):
            copy.write(copy.last_file, self.sources[copy.last_file])
        copy.last_file = mutant.file
        copy.write(mutant.file, source[:mutant.start] + mutant.text + source[mutant.end:])
        header = mutant.file.endswith(".h")
        if copy.make(["gess_method", "gess_rest"])[0] != 0:
            return "not compiling", ""
        objects = copy.objects()
        changed = sorted((p, d) for p, d in objects.items() if copy.clean.get(p) != d)
        if not changed:
            return "equivalent", "same object code"
        with self.lock:
            twin = self.twins.get(tuple(changed))
        if twin:
            return twin
        verdict = self.run_tests(copy, mutant, header)
        with self.lock:
            self.twins[tuple(changed)] = verdict
        return verdict

    def run_tests(self, copy, mutant, header):
        for test in self.order(mutant.file):
            status, _ = copy.make(test.targets)
            if status != 0:
                return "not compiling", test.name
            if test.program and digest(os.path.join(copy.build, test.program)) == copy.clean[test.program]:
                if not header:
                    self.blind[mutant.file].add(test.name)
                continue
            outcome, _ = run_test(copy, test, test.limit())
            with self.lock:
                self.runs[mutant.file, test.name] += 1
                self.kills[mutant.file, test.name] += outcome != "pass"
            if self.stopped:
                break
            if outcome != "pass":
                return ("killed" if outcome == "fail" else "timed out"), test.name
        return "survived", ""

    def take(self, copy):
        with self.lock:
            if not self.waiting or self.stopped:
                return None
            busy = {c.last_file for c in self.copies}
            for wish in (lambda f: f == copy.last_file, lambda f: f not in busy, lambda f: True):
                for i, mutant in enumerate(self.waiting):
                    if wish(mutant.file):
                        copy.last_file = copy.last_file or mutant.file
                        return self.waiting.pop(i)
        return None

    def work(self, copy):
        try:
            while True:
                mutant = self.take(copy)
                if mutant is None:
                    return
                begun = time.monotonic()
                verdict, by = self.judge(copy, mutant, self.sources[mutant.file])
                if self.stopped:
                    return
                seconds = time.monotonic() - begun
                with self.lock:
                    self.results.append((mutant, verdict, by, seconds))
                    self.finished += 1
                    print(f"[{self.finished}/{self.total}] {verdict:<13} {mutant.file}:{mutant.line} {mutant.kind}: "
                          f"{mutant.mutated[:90]}  ({by + ', ' if by else ''}{seconds:.1f} s)", flush=True)
        except BaseException as fault:  # a fault of this tool must not look like a result
            self.fault, self.stopped = fault, True
            raise

    def run(self):
        self.sources = {}
        for mutant in self.waiting:
            if mutant.file not in self.sources:
                with open(os.path.join(ROOT, mutant.file), encoding="utf-8", newline="") as file:
                    self.sources[mutant.file] = file.read()
        self.prepare()
        for file, text in self.sources.items():  # mutants are places in this very text
            with open(os.path.join(self.copies[0].root, file), encoding="utf-8", newline="") as copied:
                if copied.read() != text:
                    stop_with(f"{file} was edited while the copy was made; run again")
        threads = [threading.Thread(target=self.work, args=(copy,)) for copy in self.copies]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self.stopped = True
            for copy in self.copies:
                copy.stop()
            for thread in threads:
                thread.join()
            print("\ninterrupted: what follows is of the mutants done so far")
        if self.fault:
            stop_with(f"stopped by a fault of this program: {self.fault!r}")
        return self.results


# ---- the command ----


def parse():
    parser = argparse.ArgumentParser(description="Mutates kernel, map, approx and ensemble code and lists the mutants "
                                                 "that no test notices.")
    parser.add_argument("--files", action="append", default=[], metavar="GLOB", help="only files that match, by path or "
                        "by name; may be given several times")
    parser.add_argument("--max", type=int, default=120, metavar="N", help="mutants to run, spread evenly over the files "
                        "(default 120)")
    parser.add_argument("--all", action="store_true", help="run every mutant")
    parser.add_argument("--again", action="store_true", help="run the last run's unexplained survivors only")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which mutants --max takes (default 1)")
    parser.add_argument("--list", action="store_true", help="show the mutants and their number by file; run nothing")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="scratch copies at work at once (default 1)")
    parser.add_argument("--labels", default="unit,known,invariance", help="labels of the tests that must notice "
                        "(default unit,known,invariance)")
    parser.add_argument("--skip", action="append", default=[], metavar="REGEX", help="leave out tests whose names match")
    parser.add_argument("--explained", action="store_true", help="run mutants that survivors.md explains, too")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARGUMENT", help="a further argument for cmake, "
                        "as in --cmake=-DGESS_SANITIZE=address,undefined")
    return parser.parse_args()


def choose(arguments, mutants):
    if arguments.again:
        if not os.path.exists(LAST):
            stop_with("--again: no earlier run is recorded under build/mutate")
        with open(LAST, encoding="utf-8") as file:
            keys = {tuple(k) for k in json.load(file)}
        return [m for m in mutants if key_of(m) in keys]
    return mutants if arguments.all else sample(mutants, arguments.max, arguments.seed)


def show(arguments, mutants, chosen):
    for m in chosen:
        print(f"{m.file}:{m.line} {m.kind}: {m.original}\n    → {m.mutated}")
    counts = collections.Counter(m.file for m in mutants)
    picked = collections.Counter(m.file for m in chosen)
    print(f"\n{'mutants':>8} {'chosen':>7}  file")
    for file in sorted(counts):
        print(f"{counts[file]:>8} {picked[file]:>7}  {file}")
    print(f"{len(mutants):>8} {len(chosen):>7}  in all")


def report_stale(mutants, explained, arguments):
    if arguments.files:
        return
    exact = {key_of(m) for m in mutants}
    known = exact | {k[:3] + ("any",) for k in exact}
    for key in explained:
        if key not in known:
            print(f"note: survivors.md explains what no longer exists: {key[0]}, {key[1]}: `{key[2]}` → `{key[3]}`")


def summarise(results, skipped, explained, seconds):
    results.sort(key=lambda r: (r[0].file, r[0].start, r[0].end))
    counts = collections.Counter(verdict for _, verdict, _, _ in results)
    survivors = [m for m, verdict, _, _ in results if verdict == "survived"]
    left = [m for m in survivors if not explanation(m, explained)]
    print()
    for m in survivors:
        why = explanation(m, explained)
        print(f"{'explained' if why else 'SURVIVED'}: {m.file}:{m.line} ({m.function or 'file level'}, {m.kind})\n"
              f"    {m.original}\n  → {m.mutated}")
    for m, verdict, _, _ in results:
        if verdict in ("killed", "timed out") and explanation(m, explained):
            print(f"note: survivors.md explains it, and yet the tests notice: {m.file}:{m.line} → {m.mutated}")
    if left:
        print("\nUnexplained survivors, as survivors.md would have them (a reason goes below each):")
        print(as_entries(left))
    done = len(results)
    print(f"\n{done} mutants run in {seconds:.0f} s ({seconds / max(done, 1):.1f} s each): {counts['killed']} killed, "
          f"{counts['timed out']} timed out, {counts['survived']} survived ({counts['survived'] - len(left)} explained), "
          f"{counts['equivalent']} equivalent (same object code), {counts['not compiling']} not compiling; "
          f"{skipped} explained and not run")
    with open(LAST, "w", encoding="utf-8") as file:
        json.dump([key_of(m) for m in left], file, ensure_ascii=False, indent=1)
    return 1 if left else 0


def main():
    arguments = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    mutants = all_mutants(arguments.files)
    if not mutants:
        stop_with("no file matches, or there is nothing to change in it")
    explained = read_explained(SURVIVORS)
    chosen = choose(arguments, mutants)
    if arguments.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        show(arguments, mutants, chosen)
        return 0
    report_stale(mutants, explained, arguments)
    run = [m for m in chosen if arguments.explained or not explanation(m, explained)]
    os.makedirs(SCRATCH, exist_ok=True)
    with open(os.path.join(SCRATCH, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stop_with("another run is at work in build/mutate; wait for it or stop it")
        print(f"{len(run)} of {len(mutants)} mutants")
        runner = Runner(arguments, run)
        started = time.monotonic()
        results = runner.run()
        status = summarise(results, len(chosen) - len(run), explained, time.monotonic() - started)
        return 130 if runner.stopped else status


if __name__ == "__main__":
    sys.exit(main())
