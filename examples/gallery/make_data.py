#!/usr/bin/env python3
"""Writes the simulated data of the gallery: exoplanet (period 12.3 days, K 20 m/s, e 0.2, 20 nights), process (a sum of
two sines with noise 0.3) and transit (radius 0.1, impact 0.3, t0 0.2, speed 0.6, noise 0.0012). The other data are
published measurements; README.md names them."""
import math
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def exoplanet():
    r = random.Random(3)
    period, k, e, omega, phase, offset = 12.3, 20.0, 0.2, 1.1, 2.0, 3.0
    nights = sorted(r.sample([n for n in range(120) if n % 30 < 14], 20))
    rows = ["days,velocity,error"]
    for night in nights:
        t = night + r.gauss(0, 0.06)
        mean = (2 * math.pi * t / period + phase) % (2 * math.pi)
        x = mean
        for _ in range(50):
            x -= (x - e * math.sin(x) - mean) / (1 - e * math.cos(x))
        anomaly = 2 * math.atan2(math.sqrt(1 + e) * math.sin(x / 2), math.sqrt(1 - e) * math.cos(x / 2))
        v = offset + k * (math.cos(anomaly + omega) + e * math.cos(omega))
        error = r.uniform(3.0, 5.0)
        rows.append(f"{t:.4f},{v + r.gauss(0, math.hypot(error, 2.0)):.2f},{error:.2f}")
    return rows


def process():
    r = random.Random(5)
    rows = ["x,y"]
    for i in range(40):
        x = i / 4 + r.uniform(-0.1, 0.1)
        rows.append(f"{x:.4f},{math.sin(x) + 0.5 * math.sin(2.3 * x + 1) + r.gauss(0, 0.3):.4f}")
    return rows


def transit():
    sys.path.insert(0, str(HERE / "transit"))
    from model import obscured
    r = random.Random(8)
    rows = ["hours,flux"]
    for i in range(60):
        t = -4 + 8 * i / 59
        rows.append(f"{t:.4f},{1 - obscured(math.hypot(0.3, 0.6 * (t - 0.2)), 0.1) + r.gauss(0, 0.0012):.6f}")
    return rows


for name, rows in (("exoplanet", exoplanet()), ("process", process()), ("transit", transit())):
    (HERE / name / "data.csv").write_text("\n".join(rows) + "\n")
