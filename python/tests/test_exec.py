"""Densities that a program computes, `exec:COMMAND`."""
import sys

import gess
import pytest

PROGRAM = """
import sys
sys.stdin.readline()
print("ok 2 mu sigma(0,inf)", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        mu, sigma = map(float, sys.stdin.readline().split())
        print(FAULT if mu > LIMIT else -0.5 * mu * mu - sigma)
    sys.stdout.flush()
"""


def write(folder, limit=1e9, fault='"nothing"'):
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("LIMIT", repr(limit)).replace("FAULT", fault))
    return f"exec:{sys.executable} {path}"


def test_draws(tmp_path):
    result = gess.sample(write(tmp_path), draws=200, chains=16, threads=2, seed=3)
    assert list(result.names)[:2] == ["mu", "sigma"]
    assert (result["sigma"] > 0).all() and abs(result["mu"].mean()) < 0.3


def test_wrong_answer_names_point(tmp_path):
    with pytest.raises(gess.Error, match=r"wrote `nothing` as line .* at the point \("):
        gess.sample(write(tmp_path, limit=0.5), draws=200, chains=16, threads=2)


def test_time_limit_of_a_point(tmp_path):
    model = write(tmp_path, limit=0.5, fault='__import__("time").sleep(100)')
    with pytest.raises(gess.Error, match="did not answer within"):
        gess.sample(model, draws=200, chains=16, threads=2, eval_timeout="0.3s", on_crash="stop")
