/* The angle of a point, for compilers of the host and of devices. */
#ifndef GESS_BASE_ANGLE_H
#define GESS_BASE_ANGLE_H

#include "base/vmath.h"

/* atan t for 0 <= t <= 1, with the polynomials of fdlibm (Sun Microsystems, 1993; notice in THIRD_PARTY.md). */
GESS__INLINE double gess__arc_tangent(double t)
{
    static const double odd[] = {3.33333333333329318027e-01, 1.42857142725034663711e-01, 9.09088713343650656196e-02,
                                 6.66107313738753120669e-02, 4.97687799461593236017e-02, 1.62858201153657823623e-02};
    static const double even[] = {-1.99999999998764832476e-01, -1.11111104054623557880e-01, -7.69187620504482999495e-02,
                                  -5.83357013379057348645e-02, -3.65315727442169155270e-02};
    double high = 0.0, low = 0.0, x = t;
    if (t > 0.6875) { /* atan t = π/4 + atan((t − 1) / (t + 1)) */
        high = 7.85398163397448278999e-01, low = 3.06161699786838301793e-17;
        x = (t - 1.0) / (t + 1.0);
    } else if (t > 0.4375) { /* atan 1/2 + atan((2t − 1) / (2 + t)) */
        high = 4.63647609000806093515e-01, low = 2.26987774529616870924e-17;
        x = (2.0 * t - 1.0) / (2.0 + t);
    }
    double z = x * x, w = z * z, s1 = odd[5], s2 = even[4];
    for (int i = 4; i >= 0; i--) s1 = gess__fma(s1, w, odd[i]);
    for (int i = 3; i >= 0; i--) s2 = gess__fma(s2, w, even[i]);
    double s = x * gess__fma(s2, w, s1 * z);
    return high - ((s - low) - x);
}

/* gess__atan2_turns(). */
GESS__INLINE double gess__turns_of(double y, double x)
{
    const double per_radian = 1.59154943091895345609e-01;
    double across = fabs(x), up = fabs(y);
    if (!(across <= HUGE_VAL && up <= HUGE_VAL)) return NAN;
    double turns; /* in the first quadrant */
    if (across == 0.0 && up == 0.0)
        turns = 0.0;
    else if (across == up)
        turns = 0.125;
    else if (up < across)
        turns = gess__arc_tangent(up / across) * per_radian;
    else
        turns = 0.25 - gess__arc_tangent(across / up) * per_radian;
    if (signbit(x)) turns = 0.5 - turns;
    return signbit(y) ? -turns : turns;
}

#endif
