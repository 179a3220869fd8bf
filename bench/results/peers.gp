set terminal svg size 1000,1050 font 'sans,13' background rgb 'white'
set output 'peers.svg'
set datafile missing 'nan'
set style data histogram
set style histogram clustered gap 1
set style fill solid border -1
set logscale y
set grid ytics
set xtics rotate by -20 noenhanced
set key outside top right noenhanced
set format y '10^{%T}'
set multiplot layout 3,1
set title 'effective samples a second (no bar: R-hat above 1.05)'
set yrange [208.066:*]
plot 'peers.dat' using 2:xtic(1) title 'gess' lc rgb '#1b6ca8', 'peers.dat' using 5 title 'emcee' lc rgb '#e08e45', 'peers.dat' using 8 title 'zeus' lc rgb '#7a9e3b'
set title 'effective samples an evaluation (no bar: R-hat above 1.05)'
set yrange [0.00112379:*]
plot 'peers.dat' using 3:xtic(1) title 'gess' lc rgb '#1b6ca8', 'peers.dat' using 6 title 'emcee' lc rgb '#e08e45', 'peers.dat' using 9 title 'zeus' lc rgb '#7a9e3b'
set title 'evaluations until every mean and spread is known to 0.05 sd (no bar: not reached, or truth not known)'
set yrange [12500:*]
plot 'peers.dat' using 4:xtic(1) title 'gess' lc rgb '#1b6ca8', 'peers.dat' using 7 title 'emcee' lc rgb '#e08e45', 'peers.dat' using 10 title 'zeus' lc rgb '#7a9e3b'
unset multiplot
