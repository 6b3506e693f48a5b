#!/bin/bash
# plants.sh [NAME…]: tests whether the guard finds regressions in the program itself. Builds the program in a copy of the tree
# (PLANTS_AT, .build-plants by default), counts its instructions and heap blocks, and uses them as thresholds. Then each patch of
# benchmarks/plants is applied to the copy; the program is built and counted again, and the guard must report a regression. The head of
# a patch says what it does (`Plant: …`) and which part of the benchmarks finds it (`Caught by: PART`).
# The first build takes a quarter of an hour on two cores, that of each patch some minutes.
# Exit codes: 0 all plants were found, 1 one was missed, or the program could not be built, 75 a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
at=$(realpath -m "${PLANTS_AT:-.build-plants}")
tree=$at/tree
mkdir -p "$tree" benchmarks/work

names=("$@")
[ $# -gt 0 ] || for file in benchmarks/plants/*.patch; do names+=("$(basename "$file" .patch)"); done
for name in "${names[@]}"; do
    [ -f "benchmarks/plants/$name.patch" ] || { echo "plants: there is no benchmarks/plants/$name.patch" >&2; exit 64; }
done
command -v patch > /dev/null || { echo "SKIPPED: the plants need the program patch" >&2; exit 75; }

# Copies the files that are newer than those of the copy, so that the others are not compiled again.
copy() {
    # A file that git knows but that was deleted is not an error.
    git ls-files -z | xargs -0 cp -pu --parents -t "$tree" 2> /dev/null || true
    [ ! -f Package.resolved ] || cp -pu Package.resolved "$tree"
    comm -13 <(git ls-files Sources | sort) <(cd "$tree" && find Sources -type f | sort) | while read -r file; do
        [ "$file" = Sources/CVersion/commit.h ] || rm -f "$tree/$file"
    done
    restore
}

# Undoes all patches.
restore() {
    local file
    sed -n 's|^+++ b/||p' benchmarks/plants/*.patch | sort -u | while read -r file; do
        cmp -s "$file" "$tree/$file" && continue
        cp "$file" "$tree/$file"
    done
}

build() {
    make -C "$tree" build > "$at/build.log" 2>&1 || { tail -n 20 "$at/build.log" >&2; return 1; }
}

# tool ARGUMENTS…: the benchmark tool of this tree, with the copy's program and thresholds.
tool() {
    (cd benchmarks && TANDEM=$tree/.build/release/tandem THRESHOLDS=$at/thresholds.json ../.build/release/BenchTool "$@")
}

# count PART…: measures parts of the copy's program.
count() {
    local part
    tool begin quick "$at/result.json"
    for part in "$@"; do tool measure "$part" "$at/result.json"; done
}

swift build -c release --product BenchTool 2>&1 | tail -1
${CC:-cc} -O2 -fPIC -shared -o benchmarks/work/blocks.so benchmarks/floor/blocks.c -ldl

copy
echo "Building the program without a plant …"
build
cp benchmarks/thresholds.json "$at/thresholds.json"
COUNTS=3 count instructions blocks | tee "$at/base.log"
if grep -q '"skipped"' "$at/result.json"; then
    tool check "$at/result.json" || true
    echo "SKIPPED: without a count of the program itself no plant can be found" >&2
    exit 75
fi
tool accept "$at/result.json"
tool check "$at/result.json" instructions blocks || { echo "The guard reports a regression without a plant." >&2; exit 1; }

missed=0
for name in "${names[@]}"; do
    file=$here/benchmarks/plants/$name.patch
    part=$(sed -n 's/^Caught by: //p' "$file" | head -1)
    echo "Plant $name: $(sed -n 's/^Plant: //p' "$file" | head -1)"
    restore
    patch -d "$tree" -p1 --forward --silent < "$file"
    build
    COUNTS=1 count "$part" > "$at/$name.log"
    status=0
    tool check "$at/result.json" "$part" > "$at/$name.check" || status=$?
    if [ "$status" = 1 ] && grep '^REGRESSION' "$at/$name.check"; then
        echo "FOUND $name"
    else
        cat "$at/$name.check"
        echo "MISSED $name"
        missed=$((missed + 1))
    fi
done
restore
[ "$missed" = 0 ] || { echo "The guard missed $missed of ${#names[@]} plants." >&2; exit 1; }
echo "The guard found all ${#names[@]} plants."
