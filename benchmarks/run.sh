#!/bin/bash
# Measures the kernels, and R1 beside FFmpeg; then holds the result against thresholds.json.
#   run.sh quick     3 interleaved pairs, in at most 5 minutes; the result goes to benchmarks/work
#   run.sh full      5 pairs, FFmpeg on one thread as well, ordo-one's distributions; the result goes to
#                    benchmarks/results/DATE-COMMIT.json, to be committed from a quiet machine
#   run.sh kernels   the kernels alone, in half a minute; the result goes to benchmarks/work
#   run.sh accept    makes the last result's instruction and allocation counts the thresholds
# PAIRS=n changes the number of pairs; FFMPEG, TANDEM and R1_CLIPS: see r1.sh. TANDEM_BENCH_PLANT=1 slows one kernel
# down on purpose, so that the run must fail.
# Status: 0 all thresholds hold, 1 a regression (each in one line) or a failed run, 64 wrong use.
set -euo pipefail
cd "$(dirname "$0")"
mode=${1:-}
last=work/last.json
tool=.build/release/BenchTool

build() { # PRODUCT
    swift build -c release --product "$1" 2>&1 | tail -1
}

case $mode in
quick | full | kernels) ;;
accept)
    build BenchTool
    "$tool" accept "$last"
    exit
    ;;
*)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac

if [ "$mode" != kernels ] && [ ! -x "${TANDEM:-../.build/release/tandem}" ]; then
    echo "benchmarks: no program: run \`make build\` first, or set TANDEM" >&2
    exit 1
fi

# callgrind counts instructions, where it can be had.
if ! command -v valgrind >/dev/null && command -v apt-get >/dev/null; then
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
    echo "Installing valgrind …"
    { $sudo apt-get -o DPkg::Lock::Timeout=600 update -qq &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=600 install -y -qq \
            --no-install-recommends valgrind libc6-dbg; } >/dev/null 2>&1 || true
fi

mkdir -p work results
echo "Building the benchmarks …"
build KernelRunner
build BenchTool

"$tool" measure "$mode" "$last"
if [ "$mode" = full ]; then
    commit=$(git describe --always --dirty)
    cp "$last" "results/$(date -u +%Y-%m-%d)-$commit.json"
    echo "Kept as benchmarks/results/$(date -u +%Y-%m-%d)-$commit.json"
    swift package -c release benchmark --target Kernels
fi
"$tool" selfcheck
"$tool" check "$last"
