/* Densities of draws: the range that is plotted, histograms, and contours of two parameters that contain a given share
 * of the draws. */
#ifndef GESS_PLOT_DENSITY_H
#define GESS_PLOT_DENSITY_H

#include "plot/axis.h"

/* The range that is plotted of x[count], sorted: the middle 99.8 % and a margin, but not beyond the draws. False: there
 * is none, because the draws are all the same or not finite. */
bool gess__view(const double *sorted, size_t count, double *lo, double *hi);

/* Quantile p of sorted values, by linear interpolation. */
double gess__sorted_quantile(const double *sorted, size_t count, double p);

/* The scale of the smoothing: the smaller of the standard deviation and the widths of the middle half and of the
 * shortest quarter, each in units of a Gaussian's. */
double gess__local_scale(const double *sorted, size_t count);

enum { GESS__GRID = 80 };

/* A smoothed density on a grid over a rectangle: value[row · GESS__GRID + column], at the middle of each cell. */
typedef struct gess__surface {
    double x_lo, x_hi, y_lo, y_hi;
    double value[GESS__GRID * GESS__GRID];
} gess__surface;

/* Smooths the draws (x[i], y[i]) with Gaussians of these widths; where the rectangle ends with the draws (mirror_…),
 * mass beyond the edge is folded back. */
typedef struct gess__smoothing {
    double x_width, y_width;
    bool x_low, x_high, y_low, y_high;
} gess__smoothing;
void gess__surface_fill(gess__surface *surface, size_t count, const double *x, const double *y, gess__smoothing how);

/* The density at a point, by interpolation; 0 outside of the rectangle. */
double gess__surface_at(const gess__surface *surface, double x, double y);

/* levels[k]: the density that a share shares[k] of the draws exceeds. `scratch`: count numbers. */
void gess__surface_levels(const gess__surface *surface, size_t count, const double *x, const double *y, size_t levels,
                          const double *shares, double *level, double *scratch);

/* Adds the outline of {density ≥ level} to the canvas as closed parts of a path, higher densities on one side of it all
 * along. at_x and at_y place values on the page. */
int gess__contour(gess__canvas *canvas, const gess__surface *surface, double level, const gess__axis *at_x,
                  const gess__axis *at_y, gess_error *err);

#endif
