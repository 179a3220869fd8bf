"""The density of model.py over the binary protocol: doubles instead of lines. With NumPy, np.frombuffer() takes the
place of array.

  gess sample 'exec:python3 binary.py'"""
import array
import math
import sys

y = [28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2]
DIM = 2


def log_density(mu, sigma):
    if sigma <= 0:
        return -math.inf
    residuals = sum((value - mu) ** 2 for value in y)
    return -len(y) * math.log(sigma) - 0.5 * residuals / sigma ** 2 - sigma / 10


def read(count):
    numbers = array.array("d")
    numbers.frombytes(sys.stdin.buffer.read(8 * count))
    return numbers


sys.stdin.buffer.readline()
print("ok binary", DIM, "mu sigma(0,inf)", flush=True)

while count := read(1):
    points = read(int(count[0]) * DIM)
    values = [log_density(*points[i:i + DIM]) for i in range(0, len(points), DIM)]
    sys.stdout.buffer.write(array.array("d", values).tobytes())
    sys.stdout.buffer.flush()
