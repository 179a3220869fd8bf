# A density for gess in R: eight measurements, N(mu, sigma).
#
#   gess sample 'exec:Rscript model.R'
y <- c(28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2)

log_density <- function(mu, sigma) {
  if (sigma <= 0) return(-Inf)
  -length(y) * log(sigma) - 0.5 * sum((y - mu)^2) / sigma^2 - sigma / 10 # exponential prior, mean 10
}

input <- file("stdin", "r")
answer <- function(lines) {
  writeLines(lines)
  flush(stdout())
}

greeting <- readLines(input, 1)             # gess 1 ?
answer("ok 2 mu sigma(0,inf)")              # two parameters, their names, and bounds

while (length(n <- readLines(input, 1)) == 1) {   # a batch: its number of points, then a line per point
  points <- strsplit(readLines(input, as.integer(n)), " ")
  values <- vapply(points, function(p) log_density(as.numeric(p[1]), as.numeric(p[2])), 0)
  answer(sprintf("%.17g", values))
}
