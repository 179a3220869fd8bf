/* Two differential equations, solved by Runge and Kutta's method: dz/dt is what slope(p, z, out) writes. */
static void runge_kutta(void (*slope)(const double *p, const double *z, double *out), const double *p, double *z, int steps,
                        double h)
{
    for (int step = 0; step < steps; step++) {
        double k1[2], k2[2], k3[2], k4[2], at[2];
        slope(p, z, k1);
        for (int i = 0; i < 2; i++) at[i] = z[i] + 0.5 * h * k1[i];
        slope(p, at, k2);
        for (int i = 0; i < 2; i++) at[i] = z[i] + 0.5 * h * k2[i];
        slope(p, at, k3);
        for (int i = 0; i < 2; i++) at[i] = z[i] + h * k3[i];
        slope(p, at, k4);
        for (int i = 0; i < 2; i++) z[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}
