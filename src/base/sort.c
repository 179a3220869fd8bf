/* Sorts doubles: quicksort, with insertion sort for short parts and qsort() for parts that divide badly. */
#include "base/sort.h"

#include <stdlib.h>

enum { MAX_INSERTION = 24, MAX_DEPTH = 64 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void insert_all(size_t n, double *x)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1] > value; j--) x[j] = x[j - 1];
        x[j] = value;
    }
}

static double middle_of(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Quicksort (C. A. R. Hoare), without a call per comparison. Parts at the maximal depth go to qsort(). */
static void sort(size_t n, double *x, int depth)
{
    while (n > MAX_INSERTION && depth < MAX_DEPTH) {
        double pivot = middle_of(x[0], x[n / 2], x[n - 1]);
        size_t i = 0, j = n - 1;
        for (;; i++, j--) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            double value = x[i];
            x[i] = x[j];
            x[j] = value;
        }
        size_t front = j + 1; /* x[0 .. j] <= pivot <= the others */
        if (front == n) front = n - 1;
        depth++;
        sort(front, x, depth);
        x += front;
        n -= front;
    }
    if (n > MAX_INSERTION)
        qsort(x, n, sizeof *x, ascending);
    else
        insert_all(n, x);
}

void gess__sort(size_t n, double *values)
{
    sort(n, values, 0);
}
