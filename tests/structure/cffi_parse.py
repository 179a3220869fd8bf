#!/usr/bin/env python3
"""A binding made of the public headers as they are: without preprocessor lines and GESS_API, cffi understands them, and
the library answers. Ends with 77 if cffi is not installed.

    cffi_parse.py SOURCE_FOLDER LIBRARY
"""
import os
import re
import sys

try:
    import cffi
except ImportError:
    print("cffi is not installed: passed over")
    sys.exit(77)


def declarations(path):
    with open(path) as file:
        text = file.read()
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    return text.replace("GESS_API ", "")


source, library = sys.argv[1:]
ffi = cffi.FFI()
for header in ("gess.h", "draws.h"):
    ffi.cdef(declarations(os.path.join(source, "include", "gess", header)))
lib = ffi.dlopen(os.path.abspath(library))


def check(status, err):
    if status != lib.GESS_OK:
        sys.exit("cffi_parse.py: " + ffi.string(err.text).decode())


err = ffi.new("gess_error *")
version = ffi.string(lib.gess_version()).decode()
major, minor, patch = (int(part) for part in version.split("."))
assert lib.gess_version_number() == 10000 * major + 100 * minor + patch, version

handle = ffi.new("gess_options **")
check(lib.gess_options_new(handle, err), err)
options = handle[0]
check(lib.gess_options_set(options, b"draws", b"2e3", err), err)
text = ffi.new("char[64]")
check(lib.gess_options_get(options, b"draws", text, len(text), err), err)
assert ffi.string(text) == b"2000", ffi.string(text)
assert lib.gess_options_set(options, b"drawz", b"1", err) == lib.GESS_ERR_USAGE
assert b"drawz" in ffi.string(err.text)

# every list, as a generator of bindings reads it
entry = ffi.new("gess_entry *")
for kind in (lib.GESS_LIST_OPTIONS, lib.GESS_LIST_MODELS, lib.GESS_LIST_KERNELS, lib.GESS_LIST_SCHEDULES,
             lib.GESS_LIST_EXPORTERS):
    count = lib.gess_list_count(kind)
    assert count > 0, kind
    for index in range(count):
        check(lib.gess_list(kind, index, entry, ffi.sizeof("gess_entry"), err), err)
        assert ffi.string(entry.name) and ffi.string(entry.help), (kind, index)
    assert lib.gess_list(kind, count, entry, ffi.sizeof("gess_entry"), err) == lib.GESS_ERR_USAGE


# a run with a density and a callback in Python
@ffi.callback("gess_logp_fn")
def logp(user, worker, n, dim, x, values):
    for i in range(n):
        values[i] = -0.5 * sum(x[i * dim + k] ** 2 for k in range(dim))
    return 0


rows = 0


@ffi.callback("gess_draw_fn")
def take_draws(user, first_chain, chains, first_draw, draws, columns, values):
    global rows
    assert columns == 3
    rows += chains * draws
    return 0


density = ffi.new("gess_density *", {"size": ffi.sizeof("gess_density"), "dim": 2, "logp": logp})
model, run = ffi.new("gess_model **"), ffi.new("gess_run **")
for name, value in ((b"draws", b"30"), (b"chains", b"8"), (b"warmup", b"50"), (b"threads", b"1")):
    check(lib.gess_options_set(options, name, value, err), err)
check(lib.gess_model_new(model, density, err), err)
check(lib.gess_run_new(run, model[0], options, ffi.NULL, err), err)
check(lib.gess_run_on_draw(run[0], take_draws, ffi.NULL, err), err)
check(lib.gess_run_go(run[0], err), err)
assert rows == 8 * 30, rows
lib.gess_run_free(run[0])
lib.gess_options_free(options)
lib.gess_model_free(model[0])
print("gess", version, "by cffi", cffi.__version__)
