#!/bin/sh
# `gess export`: exports have the draws of the run, replace files only if told to, and report a full disk without
# leaving files behind. tests/readers tests the programs that read exports.
#   export.sh GESS SOURCE_FOLDER
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"

# The draws are larger than the files that `limited` allows.
expect 0 '' "$gess" sample mixture --chains 12 --draws 400 --warmup 30 --seed 5 --thin 2 -q -o run

# ---- CSV ----

expect 0 '12 chains of 400 draws are in run/csv' "$gess" export run --to csv
[ "$(ls run/csv | wc -l)" -eq 12 ] || fail "one file per chain and no other: $(ls run/csv)"
for line in '# model = mixture' '# method = sample (Default)' '#     num_samples = 800' '#     num_warmup = 30' \
    '#     save_warmup = 0' '#     thin = 2' '# id = 3' '#   seed = 5'; do
    grep -qxF "$line" run/csv/chain-3.csv || fail "no line $line"
done
grep -q '^#  Elapsed Time: [0-9.e-]* seconds (Warm-up)$' run/csv/chain-3.csv || fail "times"
[ "$(grep -vc '^#' run/csv/chain-3.csv)" -eq 401 ] || fail "a header and 400 draws"
grep -v '^#' run/csv/chain-3.csv | head -1 | grep -q '^lp__,' || fail "the header begins with lp__"

# the figures of `summary` are those of the run, to the last digit
figures()
{
    "$gess" summary "$@" --json | sed '/"evals"/,$d'
}
files=$(for c in $(seq 12); do echo run/csv/chain-$c.csv; done)
figures run > of-run.json
figures $files > of-files.json
cmp of-run.json of-files.json || fail "summary of the exported files differs"

# ---- existing files are not replaced ----

expect 1 'holds 12 files' "$gess" export run --to csv
touch run/csv/chain-13.csv run/csv/chain-x.csv
expect 0 'draws' "$gess" export run --to csv --overwrite
[ ! -e run/csv/chain-13.csv ] || fail "a chain of an earlier export stays"
[ -e run/csv/chain-x.csv ] || fail "a file that is no export's is gone"
echo mine > file
expect 1 'is not a folder' "$gess" export run --to csv -o file --overwrite
mkdir empty
expect 0 'are in empty' "$gess" export run --to csv -o empty
expect 5 'no/such/folder' "$gess" export run --to csv -o no/such/folder

# ---- wrong arguments ----

expect 1 'which run?' "$gess" export --to csv
expect 1 'which format?' "$gess" export run
expect 1 'there are csv, netcdf, emcee' "$gess" export run --to parquet
expect 1 'one argument too many' "$gess" export run run --to csv
expect 5 'nowhere/draws.gess' "$gess" export nowhere --to csv
mkdir none
expect 5 'none/draws.gess' "$gess" export none --to csv
head -c 3000 run/draws.gess > none/draws.gess
expect 5 'in the middle of a block' "$gess" export none --to csv
[ ! -e none/csv ] || fail "an export of damaged draws leaves a folder"
cp run/draws.gess none/draws.gess
printf 'x' | dd of=none/draws.gess bs=1 seek=5000 conv=notrunc 2> dd.txt
expect 5 'block checksum' "$gess" export none --to csv
cp run/draws.gess none/draws.gess
echo '{"dim": 7777}' > none/config.json
expect 5 'config.json' "$gess" export none --to csv
echo '{' > none/config.json
expect 5 'config.json, line' "$gess" export none --to csv
rm none/config.json
expect 0 'draws are in' "$gess" export none --to csv # draws.gess is enough

# ---- the optional parts ----

# `gess export --help` lists a format per line: NAME HELP; to DIR/PATH
ARGP_HELP_FMT=rmargin=200 "$gess" export --help | sed -n '/^Formats:/,/^$/s/^  *\([a-z0-9]*\) .*; to DIR\/\(.*\)$/\1 \2/p' > formats.txt
[ "$(wc -l < formats.txt)" -ge 3 ] || fail "formats of export --help: $(cat formats.txt)"
built=csv
while read -r format name; do
    [ "$format" != csv ] || continue
    file=run/$name
    if "$gess" export --help | grep -q "^ *$format .*not in this build"; then
        expect 1 'was built without' "$gess" export run --to "$format"
        [ ! -e "$file" ] || fail "a refused export leaves a file"
        continue
    fi
    built="$built $format"
    expect 0 '12 chains of 400 draws are in' "$gess" export run --to "$format"
    [ -s "$file" ] || fail "$file is empty"
    case $file in
    *.nc | *.h5) [ "$(head -c 4 "$file" | tail -c 3)" = HDF ] || fail "$file is not an HDF5 file" ;;
    esac
    expect 1 'is there already' "$gess" export run --to $format
    expect 0 'draws are in' "$gess" export run --to $format --overwrite
    expect 1 'is there already' "$gess" export run --to $format -o file
    [ "$(cat file)" = mine ] || fail "a file is replaced unasked"
    expect 1 'is not a plain file' "$gess" export run --to $format -o /dev/null --overwrite
    expect 5 'no/such/folder/x' "$gess" export run --to $format -o no/such/folder/x
    rm "$file"
done < formats.txt

# ---- libraries of exporters that are not there, damaged, or of another version ----

mkdir -p bin
cp "$gess" bin/gess
expect 1 'was built without the HDF5 library (Debian: libhdf5-dev)' bin/gess export run --to emcee
echo damaged > bin/libgess_hdf5.so
expect 1 'bin/libgess_hdf5.so, which cannot be loaded' bin/gess export run --to emcee
echo 'const char gess__export_build[] = "0.0.1"; void gess__export_emcee(void); void gess__export_emcee(void) {}' > old.c
cc -shared -fPIC -o bin/libgess_hdf5.so old.c
expect 1 'is of another version of gess (0.0.1)' bin/gess export run --to emcee
[ ! -e run/emcee.h5 ] || fail "a refused export leaves a file"
expect 0 'draws are in' bin/gess export run --to csv --overwrite

# ---- a full disk ----

# limited COMMAND...: files may grow to 32 KiB, then writing fails, as on a full disk.
limited()
{
    (
        trap '' XFSZ
        ulimit -f 64 # blocks of 512 bytes in sh, of 1024 in some
        exec "$@"
    )
}
for format in $built; do
    mkdir full
    expect 5 'cannot write full/x' limited "$gess" export run --to $format -o full/x
    [ "$(ls full | wc -l)" -eq 0 ] || fail "$format: a failed export leaves $(ls full)"
    echo old > full/x
    if [ $format != csv ]; then
        expect 5 'cannot write full/x' limited "$gess" export run --to $format -o full/x --overwrite
        [ "$(cat full/x)" = old ] || fail "$format: a failed export has replaced the old file"
    fi
    rm -r full
done

# the same on a small file system, if one can be mounted
cat > tiny.sh <<'END'
mount -t tmpfs -o size=64k none tiny || exit 77
"$@"
status=$?
[ "$(ls tiny | wc -l)" -eq 0 ] || echo "LEFT: $(ls tiny)"
exit $status
END
mkdir tiny
if unshare -rm sh tiny.sh true 2> unshare.txt; then
    for format in $built; do
        expect 5 'No space left on device' unshare -rm sh tiny.sh "$gess" export run --to $format -o tiny/x
        case $output in *LEFT:*) fail "$format: $output" ;; esac
        case $output in *"cannot write tiny/x"*) ;; *) fail "$format: does not name the file: $output" ;; esac
    done
else
    echo "no file system can be mounted here: that part is skipped"
fi

[ $failed -eq 0 ] && echo "exports behave ($built)"
exit $failed
