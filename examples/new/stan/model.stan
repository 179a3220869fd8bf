// @NAME@: a straight line through points with noise of unknown size
data {
  int<lower=3> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real intercept;
  real slope;
  real<lower=0> sigma;
}
model {
  intercept ~ normal(0, 10);
  slope ~ normal(0, 10);
  sigma ~ exponential(1);
  y ~ normal(intercept + slope * x, sigma);
}
generated quantities {
  real mean_at_20 = intercept + 20 * slope;
  vector[N] log_lik; // for arviz.loo()
  for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | intercept + slope * x[n], sigma);
}
