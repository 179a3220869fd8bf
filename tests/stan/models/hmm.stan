// A hidden Markov model of two states with normal observations; the states are summed out.
data {
  int<lower=1> N;
  vector[N] y;
}
parameters {
  array[2] simplex[2] theta;
  ordered[2] mu;
  real<lower=0> sigma;
}
model {
  matrix[2, 2] step;
  vector[2] forward;
  for (i in 1:2) step[i] = log(theta[i]');
  theta[1] ~ dirichlet([8, 2]');
  theta[2] ~ dirichlet([2, 8]');
  mu ~ normal(0, 5);
  sigma ~ normal(0, 2);
  for (k in 1:2) forward[k] = normal_lpdf(y[1] | mu[k], sigma) - log(2);
  for (n in 2:N) {
    vector[2] next;
    for (k in 1:2) next[k] = log_sum_exp(forward + step[:, k]) + normal_lpdf(y[n] | mu[k], sigma);
    forward = next;
  }
  target += log_sum_exp(forward);
}
