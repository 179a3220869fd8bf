# Writes diagnose_posterior.csv and diagnose_coda.csv: answers of R's posterior 1.4.0 and coda
# 0.19-4 to inputs that diagnose_input.h makes again. Run in this folder: Rscript make_diagnose.R
suppressMessages({library(posterior); library(coda)})
stopifnot(packageVersion("posterior") == "1.4.0", packageVersion("coda") == "0.19.4")

input <- function(kind, chains, n, phi, seed) {
  state <- seed
  x <- matrix(0, n, chains)
  for (c in seq_len(chains)) {
    value <- 0
    for (i in seq_len(n)) {
      state <- (state * 16807) %% 2147483647; noise <- state / 2147483647
      state <- (state * 16807) %% 2147483647; noise <- noise + state / 2147483647
      state <- (state * 16807) %% 2147483647; noise <- noise + state / 2147483647
      state <- (state * 16807) %% 2147483647; noise <- noise + state / 2147483647 - 2
      value <- phi * value + noise
      x[i, c] <- switch(kind, ties = floor(value * 2), binary = if (value > 0.3) 1 else 0, constant = 3.25,
        levels = c * c, line = 0.5 * i + c, trend = value + 0.01 * i, offset = value + 0.5 * c,
        scaled = value * c, heavy = value / (0.01 + noise * noise), far = value + 1e9,
        large = value * 1e60, small = value * 1e-9, tiny = value * 1e-20,
        stuck = if (c == 1) 0.125 else value, value)
    }
  }
  total <- chains * n
  if (kind == "nan") x[total %/% 3 + 1] <- NaN
  if (kind == "inf") x[total %/% 3 + 1] <- Inf
  if (kind == "minus") x[1] <- -Inf
  if (kind == "infs") x[x > -0.5] <- Inf
  x
}

cases <- rbind(
  expand.grid(kind = "ar", chains = c(1, 4), n = c(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 30, 31, 50),
              phi = c(0, 0.7), stringsAsFactors = FALSE),
  expand.grid(kind = "ar", chains = c(1, 2, 5), n = c(100, 255, 1000),
              phi = c(-0.9, -0.3, 0, 0.3, 0.6, 0.9, 0.99, 1), stringsAsFactors = FALSE),
  expand.grid(kind = c("ties", "binary", "constant", "levels", "line", "trend", "offset", "scaled", "heavy", "far",
                       "large", "small", "tiny", "stuck", "nan", "inf", "minus", "infs"),
              chains = c(1, 3), n = c(12, 101, 400), phi = 0.5, stringsAsFactors = FALSE),
  data.frame(kind = c("ar", "ar", "ar", "ties", "heavy", "ar", "ar"), chains = c(1, 2, 4, 4, 20, 100, 3),
             n = c(100000, 20000, 5001, 4096, 500, 100, 1), phi = c(0.9, 1, 0.95, 0.8, 0.2, 0.5, 0),
             stringsAsFactors = FALSE))
cases$seed <- 1000003 + 7919 * seq_len(nrow(cases))

answer <- function(f) {
  y <- tryCatch(suppressWarnings(f), error = function(e) NA_real_)
  if (is.na(y)) "NA" else formatC(unname(y), digits = 13, format = "g", width = 1)
}

file_posterior <- file("diagnose_posterior.csv", "w")
file_coda <- file("diagnose_coda.csv", "w")
cat("kind,chains,n,strength,seed,mean,sd,q5,median,q95,rhat,ess_bulk,ess_tail,ess_mean,mcse_mean,mcse_sd,mcse_q5,",
    "mcse_median,mcse_q95,q37,ess_q37,mcse_q0,mcse_q1\n", sep = "", file = file_posterior)
cat("kind,chains,n,strength,seed,spectrum0,effective_size,geweke\n", file = file_coda)
for (k in seq_len(nrow(cases))) {
  one <- cases[k, ]
  x <- input(one$kind, one$chains, one$n, one$phi, one$seed)
  head <- paste(one$kind, one$chains, format(one$n, scientific = FALSE), one$phi,
                format(one$seed, scientific = FALSE), sep = ",")
  q <- function(p) quantile2(x, p)
  cat(head, answer(mean(x)), answer(sd(x)), answer(q(0.05)), answer(q(0.5)), answer(q(0.95)), answer(rhat(x)),
      answer(ess_bulk(x)), answer(ess_tail(x)), answer(ess_mean(x)), answer(mcse_mean(x)), answer(mcse_sd(x)),
      answer(mcse_quantile(x, 0.05)), answer(mcse_quantile(x, 0.5)), answer(mcse_quantile(x, 0.95)),
      answer(q(0.37)), answer(ess_quantile(x, 0.37)), answer(mcse_quantile(x, 0)), answer(mcse_quantile(x, 1)),
      file = file_posterior, sep = ",")
  cat("\n", file = file_posterior)
  chains <- mcmc.list(lapply(seq_len(one$chains), function(c) mcmc(x[, c])))
  cat(head, answer(spectrum0.ar(x[, 1])$spec), answer(effectiveSize(chains)), answer(geweke.diag(mcmc(x[, 1]))$z),
      file = file_coda, sep = ",")
  cat("\n", file = file_coda)
}
close(file_posterior)
close(file_coda)
