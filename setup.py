"""Builds the Python package: libgess and the command with CMake, then the extension that holds libgess.

GESS_BUILD_DIR names a build folder of CMake with libgess.a and the command in it; without it they are built here.
GESS_CMAKE_ARGS has further arguments of CMake, such as a toolchain file.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "python"))


def version():
    header = (ROOT / "include" / "gess" / "gess.h").read_text()
    return ".".join(re.search(rf"GESS_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def check_needs():
    """A message at once, not an error of the compiler after minutes."""
    include = sysconfig.get_path("include")
    if not (Path(include) / "Python.h").exists():
        sys.exit(f"gess: there is no {include}/Python.h: install Python's headers (Debian, Ubuntu: apt-get install python3-dev)")
    for program in ("cmake", "pkg-config"):
        if not shutil.which(program):
            sys.exit(f"gess: there is no {program}: install what README.md lists; ./run does so on Debian and Ubuntu")


def build_folder():
    """The folder with libgess.a and the command, which is made if GESS_BUILD_DIR does not give it."""
    given = os.environ.get("GESS_BUILD_DIR")
    if given:
        return Path(given).resolve()
    check_needs()
    folder = ROOT / "build" / "python"
    arguments = shlex.split(os.environ.get("GESS_CMAKE_ARGS", ""))
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DGESS_TESTS=OFF", "-DGESS_MPI=OFF",
                    "-DGESS_CUDA=OFF", "-DGESS_NETCDF=OFF", "-DGESS_HDF5=OFF", *arguments], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1), "--target", "gess_command",
                    "gess_static"], check=True, stdout=subprocess.DEVNULL)
    return folder


class BuildExtension(build_ext):
    def build_extension(self, ext):
        import build_extension as own

        folder = build_folder()
        ext.include_dirs = [str(ROOT / "include")]
        ext.extra_objects = [str(folder / "libgess.a")]
        ext.extra_link_args = own.link_arguments(folder)
        super().build_extension(ext)
        self.add_files(folder)

    def add_files(self, folder):
        """The command and the data of the built-in models, beside the extension."""
        package = Path(self.get_ext_fullpath("gess._native")).parent
        (package / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "gess", package / "bin" / "gess")
        strip = os.environ.get("GESS_STRIP", shutil.which("strip") or "")
        if strip:
            subprocess.run([strip, package / "bin" / "gess"], check=False)
        (package / "data").mkdir(exist_ok=True)
        for path in (ROOT / "data").glob("*.csv"):
            shutil.copy2(path, package / "data" / path.name)


class StableWheel(bdist_wheel):
    """One wheel for CPython 3.9 and later: the extension uses the limited interface only."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        platform = os.environ.get("GESS_WHEEL_PLATFORM", platform)
        return ("cp39", "abi3", platform) if python.startswith("cp") else (python, abi, platform)


setup(
    version=version(),
    cffi_modules=["python/build_extension.py:builder"],
    cmdclass={"build_ext": BuildExtension, "bdist_wheel": StableWheel},
)
