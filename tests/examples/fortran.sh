#!/bin/sh
# The module gess of fortran/gess.f90: a program that drives a run (examples/drive.f90), and structs that are those of the
# headers, byte for byte. Exit status 77: there is no gfortran.
#   fortran.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1
build=$2
command -v gfortran > /dev/null || { echo "skipped: there is no gfortran"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail()
{
    echo "the module gess: $*" >&2
    exit 1
}

gfortran -std=f2018 -O2 -Wall -Wno-unused-dummy-argument -Werror "$source/fortran/gess.f90" "$source/examples/drive.f90" \
    -L "$build" -lgess -Wl,-rpath,"$build" -o drive || fail "examples/drive.f90 does not build"
./drive run > out || fail "$(cat out)"
awk '/^x / { x = $2 } /^y / { y = $2; sd = $3 } /^mean of y:/ { mean = $4 }
    END { exit !(x < 0.1 && x > -0.1 && y > 0.9 && y < 1.1 && sd > 1.4 && sd < 1.6 && mean - y < 0.001 && y - mean < 0.001) }' out ||
    fail "other figures: $(cat out)"
[ -s run/draws.gess ] || fail "no run/draws.gess"
status=0; ./drive run > out || status=$?
{ [ $status -eq 1 ] && grep -q '^drive: .*run' out; } || fail "a directory that exists: status $status, $(cat out)"

# sizes of structs and places of their last fields
cat > sizes.f90 <<'END'
program sizes
  use gess
  implicit none
  type(gess_error), target :: err
  type(gess_density), target :: density
  type(gess_stats), target :: stats
  type(gess_draws_shape), target :: shape
  print '(a, i0, 1x, i0)', 'gess_error ', c_sizeof(err), offset(c_loc(err), c_loc(err%point))
  print '(a, i0, 1x, i0)', 'gess_density ', c_sizeof(density), offset(c_loc(density), c_loc(density%simulated))
  print '(a, i0, 1x, i0)', 'gess_stats ', c_sizeof(stats), offset(c_loc(stats), c_loc(stats%learning_late))
  print '(a, i0, 1x, i0)', 'gess_draws_shape ', c_sizeof(shape), offset(c_loc(shape), c_loc(shape%has_warmup))
contains
  integer(c_intptr_t) function offset(base, field)
    type(c_ptr), intent(in) :: base, field
    offset = transfer(field, 0_c_intptr_t) - transfer(base, 0_c_intptr_t)
  end function
end program
END
cat > sizes.c <<'END'
#include <gess/draws.h>
#include <stdio.h>
#define SHOW(type, field) printf("%s %zu %zu\n", #type, sizeof(type), offsetof(type, field))
int main(void)
{
    SHOW(gess_error, point);
    SHOW(gess_density, simulated);
    SHOW(gess_stats, learning_late);
    SHOW(gess_draws_shape, has_warmup);
    return 0;
}
END
gfortran "$source/fortran/gess.f90" sizes.f90 -L "$build" -lgess -Wl,-rpath,"$build" -o sizes_f
cc -I "$source/include" sizes.c -o sizes_c
./sizes_f > f
./sizes_c > c
cmp f c || fail "structs differ: $(cat f c)"

# constants
for name in abi ok err_usage err_model err_stopped err_internal err_file err_not_converged; do
    upper=$(echo "gess_$name" | tr a-z A-Z)
    printf '#include <gess/gess.h>\n#include <stdio.h>\nint main(void) { printf("%%d\\n", (int)%s); return 0; }\n' "$upper" > one.c
    cc -I "$source/include" one.c -o one_c
    printf "program one\n  use gess\n  print '(i0)', gess_%s\nend program\n" "$name" > one.f90
    gfortran gess.mod one.f90 -o one_f 2> /dev/null || gfortran -I . one.f90 -o one_f
    [ "$(./one_c)" = "$(./one_f)" ] || fail "gess_$name is $(./one_f), in C $(./one_c)"
done
