# Reads the exported CSV files as draws of posterior: check.R DIR...
suppressPackageStartupMessages({
    library(posterior)
    library(jsonlite)
})
cat("R ", as.character(getRversion()), ", posterior ", as.character(packageVersion("posterior")), "\n", sep = "")
for (run in commandArgs(trailingOnly = TRUE)) {
    figures <- fromJSON(file.path(run, "figures.json"))
    chains <- lapply(seq_len(figures$chains), function(c)
        read.csv(file.path(run, "csv", sprintf("chain-%d.csv", c)), comment.char = "#", check.names = FALSE))
    stopifnot(all(sapply(chains, nrow) == figures$draws))
    names <- sub("^'=", "=", names(chains[[1]]))
    stopifnot(identical(names, c("lp__", setdiff(figures$parameters$name, "lp__"))))
    values <- array(unlist(lapply(chains, as.matrix)), c(figures$draws, length(names), figures$chains))
    draws <- as_draws_array(aperm(values, c(1, 3, 2)))
    variables(draws) <- names
    table <- summarise_draws(draws, mean, sd, rhat, ess_bulk, ess_tail)
    rows <- figures$parameters[match(table$variable, figures$parameters$name), ]
    for (pair in list(c("mean", "mean"), c("sd", "sd"), c("rhat", "r_hat"), c("ess_bulk", "ess_bulk"), c("ess_tail", "ess_tail")))
        stopifnot(all.equal(as.numeric(table[[pair[1]]]), rows[[pair[2]]], tolerance = 1e-8))
    cat(run, ": posterior: mean, sd, rhat, ess_bulk and ess_tail of ", nrow(table), " variables agree\n", sep = "")
}
