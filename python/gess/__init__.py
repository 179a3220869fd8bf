"""gess draws samples from any probability density that can be evaluated.

>>> import gess
>>> result = gess.sample(lambda x: -0.5 * (x @ x), dim=3, draws=100)
>>> bool(abs(result.summary()["x1"]["mean"]) < 0.2)
True
"""
import os as _os

# the data of the built-in models are beside this file, unless the environment says where they are
_os.environ.setdefault("GESS_DATA", _os.path.join(_os.path.dirname(__file__), "data"))

from gess._library import (Error, FileError, InternalError, ModelError, UsageError, models, options,  # noqa: E402
                           version)
from gess._result import Evidence, Result, Summary, Verdict, compare, load  # noqa: E402
from gess._sample import sample  # noqa: E402
from gess._watch import Progress, watch  # noqa: E402

__version__ = version()
__all__ = ["Error", "Evidence", "FileError", "InternalError", "ModelError", "Progress", "Result", "Summary", "UsageError",
           "Verdict", "compare", "load", "models", "options", "sample", "version", "watch"]
