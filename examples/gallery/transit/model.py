"""A planet in front of its star: the light curve by integration over rings of the star's disc, a millisecond or so per
evaluation. A program for gess:

  gess sample 'exec:python3 transit/model.py transit/data.csv' --threads 4"""
import math
import sys

RINGS = 24
DARKENING = 0.6                         # linear, at the edge of the disc


def read(path):
    with open(path) as lines:
        next(lines)
        return [tuple(map(float, line.split(","))) for line in lines]


def obscured(distance, radius):
    """The share of the star's light that a planet covers; star radius 1."""
    if distance >= 1 + radius:
        return 0.0
    total = covered = 0.0
    for i in range(RINGS):
        r = (i + 0.5) / RINGS
        light = r * (1 - DARKENING * (1 - math.sqrt(1 - r * r)))
        total += light
        if r + radius <= distance or (distance + radius <= r):
            continue
        if distance + r <= radius:
            covered += light
            continue
        cosine = (distance * distance + r * r - radius * radius) / (2 * distance * r)
        covered += light * math.acos(max(-1.0, min(1.0, cosine))) / math.pi
    return covered / total


def log_posterior(data, t0, radius, impact, speed, noise):
    total = -noise / 0.001 - 0.5 * (math.log(speed / 0.5) / 0.5) ** 2 - math.log(speed)   # exponential; lognormal
    for t, flux in data:
        x = speed * (t - t0)
        residual = flux - 1 + obscured(math.sqrt(impact * impact + x * x) + 1e-9, radius)
        total -= 0.5 * (residual / noise) ** 2 + math.log(noise)
    return total


if __name__ == "__main__":
    points = read(sys.argv[1])
    sys.stdin.readline()
    print("ok 5 t0(-2,2) radius(0,0.3) impact(0,1) speed(0,inf) noise(0,inf)", flush=True)
    for line in sys.stdin:
        for _ in range(int(line)):
            print(repr(log_posterior(points, *map(float, sys.stdin.readline().split()))))
        sys.stdout.flush()
