"""Builds gess._native around the static library of $GESS_BUILD_DIR, into the folder that is given, without setuptools of
this year: Debian 12 has an older one than pyproject.toml asks for."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd() / "python"))
import build_extension as own  # noqa: E402

build = Path(os.environ["GESS_BUILD_DIR"])
out = Path(sys.argv[1]).resolve()
(out / "gess").mkdir(parents=True, exist_ok=True)
name, source, suffix, options = own.builder._assigned_source
options = {**options, "include_dirs": [str(Path.cwd() / "include")], "extra_objects": [str(build / "libgess.a")],
           "extra_link_args": own.link_arguments(build)}
own.builder._assigned_source = (name, source, suffix, options)
print(own.builder.compile(tmpdir=str(out), verbose=False))
