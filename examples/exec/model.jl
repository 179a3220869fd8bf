# A density for gess in Julia: eight measurements, N(mu, sigma).
#
#   gess sample 'exec:julia model.jl'
const y = [28.4, 7.9, -2.8, 6.8, -0.6, 0.6, 18.0, 12.2]

function log_density(mu, sigma)
    sigma > 0 || return -Inf
    -length(y) * log(sigma) - 0.5 * sum(abs2, y .- mu) / sigma^2 - sigma / 10 # exponential prior, mean 10
end

function main()
    readline()                              # gess 1 ?
    println("ok 2 mu sigma(0,inf)")         # two parameters, their names, and bounds
    flush(stdout)
    while !eof(stdin)
        n = parse(Int, readline())          # a batch: its number of points, then a line per point
        for _ in 1:n
            mu, sigma = parse.(Float64, split(readline()))
            println(log_density(mu, sigma))
        end
        flush(stdout)
    end
end

main()
