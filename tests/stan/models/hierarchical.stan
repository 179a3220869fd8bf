// A regression with an intercept and a slope of each of 25 groups, and five further coefficients: 60 parameters.
data {
  int<lower=1> N;
  int<lower=1> J;
  array[N] int<lower=1, upper=J> group;
  vector[N] x;
  matrix[N, 5] w;
  vector[N] y;
}
parameters {
  vector[2] mean_of;
  vector<lower=0>[2] sd_of;
  matrix[2, J] raw;
  vector[5] beta;
  real<lower=0> sigma;
}
transformed parameters {
  matrix[2, J] effect = rep_matrix(mean_of, J) + diag_pre_multiply(sd_of, raw);
}
model {
  mean_of ~ normal(0, 5);
  sd_of ~ normal(0, 2);
  to_vector(raw) ~ std_normal();
  beta ~ normal(0, 2);
  sigma ~ normal(0, 2);
  y ~ normal(to_vector(effect[1, group]) + to_vector(effect[2, group]) .* x + w * beta, sigma);
}
generated quantities {
  vector[N] log_lik;
  for (n in 1:N)
    log_lik[n] = normal_lpdf(y[n] | effect[1, group[n]] + effect[2, group[n]] * x[n] + w[n] * beta, sigma);
}
