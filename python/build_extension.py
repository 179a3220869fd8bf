"""The extension gess._native, which cffi makes of the public headers as they are: libgess is linked into it."""
import re
import subprocess
from pathlib import Path

import cffi

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ("gess.h", "draws.h")

# The functions of Python that the library calls; gess/_callbacks.py defines them.
CALLBACKS = """
extern "Python" {
    int gess_python_logp(void *, unsigned, size_t, size_t, const double *, double *);
    int gess_python_device_logp(void *, void *, size_t, size_t, const double *, double *);
    int gess_python_blobs(void *, unsigned, size_t, size_t, const double *, double *, double *);
    int gess_python_derive(void *, unsigned, size_t, const double *, size_t, double *);
    void gess_python_start(void *, size_t, const double *, double *);
    void gess_python_message(void *, unsigned, char *, size_t);
    int gess_python_draw(void *, size_t, size_t, uint64_t, uint64_t, size_t, const double *);
    int gess_python_progress(void *, const gess_stats *, uint64_t);
    void gess_python_log(void *, const char *);
}
"""


def declarations(path):
    """A header without preprocessor lines."""
    text = path.read_text()
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    return text.replace("GESS_API ", "")


def link_arguments(folder):
    """How the libraries that libgess.a needs are linked, as pkg-config says; GESS_LINK in a build folder overrides it."""
    own = [f"-Wl,--version-script={ROOT / 'python' / 'native.map'}"]
    given = folder / "GESS_LINK"
    if given.exists():
        return given.read_text().split() + own
    cache = (folder / "CMakeCache.txt").read_text()
    modules = ["jansson"]
    modules += ["libdeflate"] if re.search(r"LIBDEFLATE_FOUND:INTERNAL=1", cache) else ["zlib"]
    flags = subprocess.run(["pkg-config", "--libs", *modules], check=True, capture_output=True, text=True).stdout.split()
    return flags + ["-lpthread", "-ldl", "-lm", "-Wl,--as-needed", "-s"] + own


builder = cffi.FFI()
for name in HEADERS:
    builder.cdef(declarations(ROOT / "include" / "gess" / name))
builder.cdef(CALLBACKS)
builder.set_source("gess._native", "".join(f"#include <gess/{name}>\n" for name in HEADERS), py_limited_api=True)
