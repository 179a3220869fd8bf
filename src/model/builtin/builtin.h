/* Helpers of the built-in targets: opening data files, products of points with panels, densities in tiles.
 *
 * A panel is a matrix of `depth` rows and LANES columns, row-major and contiguous. The products of a point x (depth
 * coordinates) with the columns of a panel are sums over k ascending, one column per lane. So a point's sums have the
 * same order whether it is evaluated in a group or by itself; groups only save loads. */
#ifndef GESS_MODEL_BUILTIN_BUILTIN_H
#define GESS_MODEL_BUILTIN_BUILTIN_H

#include "base/csv.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "base/vmath.h"
#include "model/lane/panels.h"
#include "model/model.h"

/* Every target's gess__open_identifier(). */
#define GESS_MODEL(identifier, name, dimension, help) \
    int gess__open_##identifier(gess__model *m, gess__parameters *p, gess_error *err);
#include "model/builtin/models.def"
#undef GESS_MODEL

/* ---- opening (builtin.c) ---- */

/* Reads a data file that ships with gess and has a header; `path` (4096 bytes) gets its path, for messages. Release
 * with gess__table_free(), after a success only. */
int gess__data_table(const char *file, gess__table *data, char *path, gess_error *err);

/* Sets m->model.names to `literal_count` string literals, then copies of `count` names of data columns. */
int gess__model_copy_names(gess__model *m, size_t literal_count, const char *const *literals, size_t count,
                           char *const *columns, gess_error *err);

/* Zeroed memory for the numbers of gess__lane_NAME() (model/lane/NAME.h), which m->model.lane gets with `name`. */
int gess__model_lane(gess__model *m, const char *name, size_t count, double **numbers, gess_error *err);

/* ---- arithmetic ---- */

#define GESS__LOG_2PI 1.8378770664093454836

/* Points that share the loads of a panel's rows. */
enum { GESS__GROUP = 8 };

#define GESS__FOR_LANES(l) for (size_t l = 0; l < GESS__LANES; l++)

/* z_p[l] = Σ_k panel[k][l] x_p[k] for GROUP points, rows of x `stride` apart. Every point has a separate array, so that
 * the compiler keeps the eight sums in registers. */
GESS__INLINE void gess__panel_group(size_t depth, const double *restrict panel, const double *restrict x, size_t stride,
                                    double z[GESS__GROUP][GESS__LANES])
{
    double z0[GESS__LANES] = {0}, z1[GESS__LANES] = {0}, z2[GESS__LANES] = {0}, z3[GESS__LANES] = {0};
    double z4[GESS__LANES] = {0}, z5[GESS__LANES] = {0}, z6[GESS__LANES] = {0}, z7[GESS__LANES] = {0};
    for (size_t k = 0; k < depth; k++) {
        const double *row = panel + k * GESS__LANES, *c = x + k;
        GESS__FOR_LANES(l) z0[l] = gess__fma(row[l], c[0], z0[l]);
        GESS__FOR_LANES(l) z1[l] = gess__fma(row[l], c[stride], z1[l]);
        GESS__FOR_LANES(l) z2[l] = gess__fma(row[l], c[2 * stride], z2[l]);
        GESS__FOR_LANES(l) z3[l] = gess__fma(row[l], c[3 * stride], z3[l]);
        GESS__FOR_LANES(l) z4[l] = gess__fma(row[l], c[4 * stride], z4[l]);
        GESS__FOR_LANES(l) z5[l] = gess__fma(row[l], c[5 * stride], z5[l]);
        GESS__FOR_LANES(l) z6[l] = gess__fma(row[l], c[6 * stride], z6[l]);
        GESS__FOR_LANES(l) z7[l] = gess__fma(row[l], c[7 * stride], z7[l]);
    }
    GESS__FOR_LANES(l) z[0][l] = z0[l];
    GESS__FOR_LANES(l) z[1][l] = z1[l];
    GESS__FOR_LANES(l) z[2][l] = z2[l];
    GESS__FOR_LANES(l) z[3][l] = z3[l];
    GESS__FOR_LANES(l) z[4][l] = z4[l];
    GESS__FOR_LANES(l) z[5][l] = z5[l];
    GESS__FOR_LANES(l) z[6][l] = z6[l];
    GESS__FOR_LANES(l) z[7][l] = z7[l];
}

/* The sums of gess__panel_add() for four panels at a time. */
GESS__INLINE void gess__panel_add_four(size_t depth, const double *const panel[4], const double *restrict x,
                                       double z[4][GESS__LANES])
{
    const double *restrict p0 = panel[0], *restrict p1 = panel[1];
    const double *restrict p2 = panel[2], *restrict p3 = panel[3];
    double z0[GESS__LANES], z1[GESS__LANES], z2[GESS__LANES], z3[GESS__LANES];
    GESS__FOR_LANES(l) z0[l] = z[0][l];
    GESS__FOR_LANES(l) z1[l] = z[1][l];
    GESS__FOR_LANES(l) z2[l] = z[2][l];
    GESS__FOR_LANES(l) z3[l] = z[3][l];
    for (size_t k = 0; k < depth; k++) {
        size_t row = k * GESS__LANES;
        GESS__FOR_LANES(l) z0[l] = gess__fma(p0[row + l], x[k], z0[l]);
        GESS__FOR_LANES(l) z1[l] = gess__fma(p1[row + l], x[k], z1[l]);
        GESS__FOR_LANES(l) z2[l] = gess__fma(p2[row + l], x[k], z2[l]);
        GESS__FOR_LANES(l) z3[l] = gess__fma(p3[row + l], x[k], z3[l]);
    }
    GESS__FOR_LANES(l) z[0][l] = z0[l];
    GESS__FOR_LANES(l) z[1][l] = z1[l];
    GESS__FOR_LANES(l) z[2][l] = z2[l];
    GESS__FOR_LANES(l) z[3][l] = z3[l];
}

/* z_jp of two points, rows of x `stride` apart, for four panels; both points share the loads of a row. */
GESS__INLINE void gess__panel_pair_four(size_t depth, const double *const panel[4], const double *restrict x,
                                        size_t stride, double z[4][2][GESS__LANES])
{
    const double *restrict p0 = panel[0], *restrict p1 = panel[1];
    const double *restrict p2 = panel[2], *restrict p3 = panel[3];
    double a0[GESS__LANES] = {0}, a1[GESS__LANES] = {0}, a2[GESS__LANES] = {0}, a3[GESS__LANES] = {0};
    double b0[GESS__LANES] = {0}, b1[GESS__LANES] = {0}, b2[GESS__LANES] = {0}, b3[GESS__LANES] = {0};
    for (size_t k = 0; k < depth; k++) {
        size_t row = k * GESS__LANES;
        double a = x[k], b = x[k + stride];
        GESS__FOR_LANES(l) a0[l] = gess__fma(p0[row + l], a, a0[l]);
        GESS__FOR_LANES(l) b0[l] = gess__fma(p0[row + l], b, b0[l]);
        GESS__FOR_LANES(l) a1[l] = gess__fma(p1[row + l], a, a1[l]);
        GESS__FOR_LANES(l) b1[l] = gess__fma(p1[row + l], b, b1[l]);
        GESS__FOR_LANES(l) a2[l] = gess__fma(p2[row + l], a, a2[l]);
        GESS__FOR_LANES(l) b2[l] = gess__fma(p2[row + l], b, b2[l]);
        GESS__FOR_LANES(l) a3[l] = gess__fma(p3[row + l], a, a3[l]);
        GESS__FOR_LANES(l) b3[l] = gess__fma(p3[row + l], b, b3[l]);
    }
    GESS__FOR_LANES(l) z[0][0][l] = a0[l];
    GESS__FOR_LANES(l) z[0][1][l] = b0[l];
    GESS__FOR_LANES(l) z[1][0][l] = a1[l];
    GESS__FOR_LANES(l) z[1][1][l] = b1[l];
    GESS__FOR_LANES(l) z[2][0][l] = a2[l];
    GESS__FOR_LANES(l) z[2][1][l] = b2[l];
    GESS__FOR_LANES(l) z[3][0][l] = a3[l];
    GESS__FOR_LANES(l) z[3][1][l] = b3[l];
}

/* Defines logp() and gradient() of a model, over batches of any size, from the file's functions
 *   logp_tile(user, tile, density) and gradient_tile(user, tile, density, slopes),
 * which evaluate one tile of points (base/tiles.h), of at most `max_dim` dimensions. */
#define GESS__TILED(max_dim)                                                                             \
    static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)     \
    {                                                                                                    \
        double tile[(max_dim)*GESS__LANES], density[GESS__LANES];                                        \
        (void)worker;                                                                                    \
        for (size_t j = 0; j < n; j += GESS__LANES) {                                                    \
            size_t count = n - j < GESS__LANES ? n - j : GESS__LANES;                                    \
            gess__to_tile(dim, count, x + j * dim, tile);                                                \
            logp_tile(user, tile, density);                                                              \
            memcpy(out + j, density, count * sizeof *out);                                               \
        }                                                                                                \
        return 0;                                                                                        \
    }                                                                                                    \
                                                                                                         \
    static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, \
                        double *slopes)                                                                  \
    {                                                                                                    \
        double tile[(max_dim)*GESS__LANES], density[GESS__LANES], slope[(max_dim)*GESS__LANES];          \
        (void)worker;                                                                                    \
        for (size_t j = 0; j < n; j += GESS__LANES) {                                                    \
            size_t count = n - j < GESS__LANES ? n - j : GESS__LANES;                                    \
            gess__to_tile(dim, count, x + j * dim, tile);                                                \
            gradient_tile(user, tile, density, slope);                                                   \
            gess__from_tile(dim, count, slope, slopes + j * dim);                                        \
            memcpy(out + j, density, count * sizeof *out);                                               \
        }                                                                                                \
        return 0;                                                                                        \
    }

#endif
