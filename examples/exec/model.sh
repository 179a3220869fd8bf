#!/bin/sh
# A density for gess as a shell script around awk: eight measurements, N(mu, sigma).
#
#   gess sample 'exec:sh model.sh'
case $(awk -W version 2>&1 < /dev/null) in
mawk*) now='-W interactive' ;; # otherwise it waits for more lines than there are
*) now= ;;
esac

exec awk $now '
BEGIN { count = split("28.4 7.9 -2.8 6.8 -0.6 0.6 18.0 12.2", y) }

function log_density(mu, sigma,    i, squares)
{
    if (sigma <= 0) return "-inf"
    for (i = 1; i <= count; i++) squares += (y[i] - mu) ^ 2
    # exponential prior, mean 10
    return sprintf("%.17g", -count * log(sigma) - 0.5 * squares / sigma ^ 2 - sigma / 10)
}

NR == 1 {                                # gess 1 ?
    print "ok 2 mu sigma(0,inf)"         # two parameters, their names, and bounds
    fflush()
    next
}
left == 0 { left = $1; next }            # a batch: its number of points,
{                                        # then a line per point
    print log_density($1, $2)
    if (--left == 0) fflush()
}'
