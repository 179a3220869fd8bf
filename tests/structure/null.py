#!/usr/bin/env python3
"""Calls every public function once for each of its pointers, with that pointer NULL, and expects GESS_ERR_USAGE and a
message with the argument's name.

The calls are generated from <gess/gess.h> and <gess/draws.h>. A parameter whose comment says "or NULL", and `err`, may be
NULL and are left out. A function without a result must do nothing. Handles that a failed call was to make must be NULL.

    null.py SOURCE_FOLDER BUILD_FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile

SETUP = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static union { char bytes[1 << 16]; double numbers[1 << 13]; } memory;
static const char *const paths[] = {"nowhere.csv"};
static const char *current = "the setup";
static int failures;

static void crash(int signal)
{
    (void)signal;
    if (write(2, current, strlen(current)) < 0 || write(2, " crashed\n", 9) < 0) _exit(3);
    _exit(2);
}

static void complain(const char *what)
{
    fprintf(stderr, "%s: %s\n", current, what);
    failures++;
}

static void require(int status, const gess_error *err)
{
    if (status == GESS_OK) return;
    fprintf(stderr, "the setup failed: %s\n", err->text);
    exit(2);
}

/* Judges one call, made with err and without it. */
static void judge(int status, int status_without, const gess_error *err, const char *quoted)
{
    if (status != GESS_ERR_USAGE || status_without != GESS_ERR_USAGE || err->status != GESS_ERR_USAGE)
        complain("the status is not GESS_ERR_USAGE");
    else if (strstr(err->text, quoted) == NULL)
        complain("the message does not name the argument");
}

/* A handle or text that a call was to make. */
static void judge_made(const void *made)
{
    if (made != NULL) complain("a handle is not NULL after the failure");
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = -0.5 * x[i * dim] * x[i * dim];
    return 0;
}

int main(void)
{
    const gess_density density_value = {.size = sizeof density_value, .dim = 1, .logp = logp}, *density = &density_value;
    gess_error err = {0};
    gess_model *model; gess_options *options; gess_run *run;
    gess_draws *draws; gess_summary *summary; gess_verdict *verdict; gess_fit *fit; gess_evidence *evidence;
    const double points[] = {0.0, 1.0, 2.0, 4.0};
    signal(SIGSEGV, crash);
    signal(SIGABRT, crash);
    require(gess_model_new(&model, density, &err), &err);
    require(gess_options_new(&options, &err), &err);
    require(gess_options_set(options, "draws", "20", &err), &err);
    require(gess_options_set(options, "chains", "4", &err), &err);
    require(gess_options_set(options, "warmup", "50", &err), &err);
    require(gess_run_new(&run, model, options, "run", &err), &err);
    require(gess_run_go(run, &err), &err);
    require(gess_draws_open(&draws, "run", &err), &err);
    require(gess_summary_new_run(&summary, run, NULL, 0, &err), &err);
    require(gess_verdict_new(&verdict, "run", summary, &err), &err);
    require(gess_fit_new(&fit, 4, 1, points, &err), &err);
    require(gess_evidence_new(&evidence, run, NULL, 0, &err), &err);
    const gess_evidence *const evidences[] = {evidence};
"""

END = r"""
    gess_evidence_free(evidence); gess_fit_free(fit); gess_verdict_free(verdict); gess_summary_free(summary); gess_draws_close(draws);
    gess_run_free(run); gess_options_free(options); gess_model_free(model);
    if (failures > 0) fprintf(stderr, "%d failures\n", failures);
    return failures > 0;
}
"""

HANDLES = ("model", "options", "run", "draws", "summary", "verdict", "fit", "evidence")


class Parameter:
    def __init__(self, text):
        comment = " ".join(re.findall(r"/\*(.*?)\*/", text, re.S))
        self.declaration = " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).split())
        self.name = re.findall(r"\w+", self.declaration)[-1]
        self.stars = self.declaration.count("*")
        self.optional = self.name == "err" or re.search(r"\bor NULL\b", comment) is not None
        self.type = re.sub(r"\bconst\b|\*", " ", self.declaration.rsplit(self.name, 1)[0]).split()
        # an out-parameter that gets something new: a handle or a text
        self.made = self.stars == 2 and "const" not in self.declaration

    def value(self):
        """A value that is not NULL."""
        if self.stars == 0:
            return "0" if self.type == ["int"] else "1"
        kind = self.type[0].removeprefix("gess_")
        if self.made:
            return "(void *)&made"
        if self.stars == 2:
            return "evidences" if kind == "evidence" else "paths"
        if kind == "density":
            return "density"
        if kind in HANDLES:
            return kind
        if kind == "char" and "const" in self.declaration:
            return '"nowhere"'
        return "(void *)&memory"


def split_parameters(text):
    """Splits at commas outside comments."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if text.startswith("/*", i):
            i = text.index("*/", i) + 2
            continue
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if text[i] == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
        i += 1
    parts.append(text[start:])
    return [p for p in parts if re.sub(r"/\*.*?\*/", "", p, flags=re.S).strip() not in ("", "void")]


def parse(text):
    """All public functions: (result, name, parameters)."""
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    found = re.findall(r"^GESS_API\s+([\w\s*]+?)(gess_\w+)\((.*?)\);", text, re.M | re.S)
    marks = len(re.findall(r"^GESS_API\b", text, re.M))
    if len(found) != marks:
        sys.exit(f"null.py: {marks} declarations, of which {len(found)} were understood")
    return [(result.strip(), name, [Parameter(p) for p in split_parameters(inner)]) for result, name, inner in found]


def call(name, parameters, null, with_err):
    values = []
    for p in parameters:
        if p is null or (p.optional and p.stars > 0 and p.type[0] == "gess_comm"):
            values.append("NULL") # there are no other processes here
        elif p.name == "err":
            values.append("&err" if with_err else "NULL")
        else:
            values.append(p.value())
    return f"{name}({', '.join(values)})"


def generate(functions):
    lines, calls = [], 0
    for result, name, parameters in functions:
        if result == "void":
            values = ["NULL" if p.stars > 0 else p.value() for p in parameters]
            lines.append(f'    current = "{name}"; {name}({", ".join(values)});')
            calls += 1
            continue
        for null in (p for p in parameters if p.stars > 0):
            if not null.optional:
                if result != "int":
                    sys.exit(f"null.py: {name} takes a pointer that must not be NULL, and returns no status")
                made = any(p.made and p is not null for p in parameters)
                lines.append(f'    {{ current = "{name}: {null.name}"; err = (gess_error){{0}};')
                lines.append("      void *made = (void *)&memory; (void)made;")
                lines.append(f"      int without = {call(name, parameters, null, False)};")
                lines.append(f"      int with = {call(name, parameters, null, True)};")
                lines.append(f'      judge(with, without, &err, "`{null.name}`");')
                if made:
                    lines.append("      judge_made(made);")
                lines.append("    }")
                calls += 1
    return lines, calls


def build_and_run(folder, name, includes, headers, lines, library, extra=""):
    source = os.path.join(folder, name + ".c")
    scratch = os.path.join(folder, name + "_run")
    os.mkdir(scratch)
    with open(source, "w") as file:
        file.write("".join(f"#include <gess/{h}>\n" for h in headers) + extra + SETUP + "\n".join(lines) + END)
    command = ["cc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-O1", "-Wall", "-Wextra", "-Wno-nonnull", "-Wno-unused",
               "-Werror", source,
               *[f"-I{i}" for i in includes], f"-L{library}", f"-Wl,-rpath,{library}", "-lgess", "-o", source[:-2]]
    subprocess.run(command, check=True)
    return subprocess.run([source[:-2]], cwd=scratch, stderr=subprocess.PIPE, text=True)


def main():
    source, library = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    include = os.path.join(source, "include")
    headers = ["gess.h", "draws.h"]
    functions = []
    for header in headers:
        with open(os.path.join(include, "gess", header)) as file:
            functions += parse(file.read())
    lines, calls = generate(functions)
    with tempfile.TemporaryDirectory() as folder:
        done = build_and_run(folder, "null", [include], headers, lines, library)
        if done.returncode != 0:
            sys.exit(f"null.py: exit status {done.returncode}\n{done.stderr}")

        # functions that do not check must be noticed, one by its status, one by its message, and one by its crash
        bad = """
GESS_API int gess_no_check(gess_model **model, const char *path, gess_error *err);
GESS_API int gess_no_name(const char *path, gess_error *err);
GESS_API void gess_crash(int *number /* or NULL */);
"""
        bodies = """
int gess_no_check(gess_model **model, const char *path, gess_error *err) { (void)model, (void)path, (void)err; return 0; }
int gess_no_name(const char *path, gess_error *err)
{
    (void)path;
    if (err != NULL) err->status = GESS_ERR_USAGE;
    return GESS_ERR_USAGE;
}
void gess_crash(int *number) { *(volatile int *)number = 1; }
"""
        lines, _ = generate(parse(bad))
        done = build_and_run(folder, "bad", [include], headers, lines, library, bad + bodies)
        for expected in ("gess_no_check: model: the status", "gess_no_check: path: a handle", "gess_no_name: path: the message",
                         "gess_crash crashed"):
            if done.returncode == 0 or expected not in done.stderr:
                sys.exit(f"null.py does not notice '{expected}': exit status {done.returncode}\n{done.stderr}")
    print(f"{len(functions)} functions, {calls} calls")


main()
