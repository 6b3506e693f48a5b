#!/bin/bash
# Measures Tandem: the hot loops, R1 beside its peers and the bare codecs, rooms on the wall clock; then holds the result
# against thresholds.json.
#   run.sh quick     everything short, in at most 5 minutes; the result goes to benchmarks/work
#   run.sh full      7 rounds with all peers, quality, live rooms, growth; the result goes to
#                    benchmarks/results/DATE-COMMIT.json and .html, to be committed from a quiet machine
#   run.sh live      rooms on the wall clock alone, at full length
#   run.sh passthrough   one publisher, and a room that is a PK for 30 % of its time, a rendition passing through
#   run.sh kernels   the hot loops alone, in half a minute
#   run.sh allocations   what a PK room takes from the heap, by thread; the places are in work/allocations/allocations.txt
#   run.sh search    the x264 settings of searches.json over clips (SEARCH_CLIPS=DIR, else generated), for hours
#   run.sh presets   the room's own presets of presets.json over the same, at the loss that is published
#   run.sh profile   ordo-one's distributions of the hot loops, for who tunes one
#   run.sh accept    makes the last result's counts the thresholds
#   run.sh readme    renews the README's table from the newest of results; readme-check only compares
# PAIRS=n changes the number of rounds, R1_SIDES=ours,ffmpeg the sides of R1; LIVE_SECONDS, LIVE_MINUTES, SEARCH_SECONDS: lengths; FFMPEG, TANDEM and R1_CLIPS: see r1.sh.
# Status: 0 all thresholds hold, 1 a regression (each in one line) or a failed run, 64 wrong use.
set -euo pipefail
cd "$(dirname "$0")"
mode=${1:-}
last=work/last.json
tool=.build/release/BenchTool
mkdir -p work results

build() { # PRODUCT
    swift build -c release --disable-build-manifest-caching --product "$1" 2>&1 | tail -1
}

# packages NAME…: through apt, where it is and may be used; a missing tool is said to be missing by who needs it.
packages() {
    command -v apt-get >/dev/null || return 0
    if [ "$(id -u)" = 0 ]; then sudo=""; else sudo="sudo -n"; fi
    echo "Installing $* …"
    { $sudo apt-get -o DPkg::Lock::Timeout=600 update -qq &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=600 install -y -qq \
            --no-install-recommends "$@"; } >/dev/null 2>&1 || true
}

tools() {
    # callgrind counts instructions.
    command -v valgrind >/dev/null || packages valgrind libc6-dbg
    if [ "$mode" = full ] && ! gst-inspect-1.0 --exists compositor 2>/dev/null; then
        packages gstreamer1.0-tools gstreamer1.0-libav gstreamer1.0-plugins-{base,good,bad,ugly}
    fi
    # A current FFmpeg with libvmaf, as a wheel.
    if [ -z "${NEW_FFMPEG:-}" ] && ! ls work/venv/lib/*/site-packages/imageio_ffmpeg/binaries/ffmpeg-* >/dev/null 2>&1; then
        { python3 -m venv work/venv && work/venv/bin/pip install -q imageio-ffmpeg; } >/dev/null 2>&1 || true
    fi
    # shellcheck disable=SC2046 # the flags are words
    ${CC:-cc} -O2 -o work/floor floor/floor.c \
        $(pkg-config --cflags --libs libavformat libavcodec libswscale libavutil) || rm -f work/floor
    ${CC:-cc} -O1 -fno-builtin -fPIC -shared -o work/copies.so floor/copies.c || rm -f work/copies.so
    ${CC:-cc} -O2 -fPIC -shared -o work/where.so floor/where.c -ldl || rm -f work/where.so
    ${CC:-cc} -O2 -fPIC -shared -o work/allocs.so floor/allocs.c -ldl -lpthread || rm -f work/allocs.so
}

case $mode in
quick | full | kernels | allocations | live | passthrough | search) ;;
presets) export SEARCH_PLAN=presets.json ;;
accept | readme | readme-check)
    build BenchTool
    case $mode in
    accept) "$tool" accept "$last" ;;
    *) "$tool" "$mode" ../README.md ;;
    esac
    exit
    ;;
profile)
    swift package -c release benchmark --target Kernels
    exit
    ;;
*)
    sed -n '2,18s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac

if [ "$mode" != kernels ] && [ ! -x "${TANDEM:-../.build/release/tandem}" ]; then
    echo "benchmarks: no program: run \`make build\` first, or set TANDEM" >&2
    exit 1
fi

tools
echo "Building the benchmarks …"
case $mode in kernels | quick | full) build KernelRunner ;; esac
build BenchTool

if [ "$mode" = quick ] || [ "$mode" = kernels ]; then "$tool" begin quick "$last"; else "$tool" begin full "$last"; fi
case $mode in
quick) parts="kernels r1 places quality allocations live" ;;
full) parts="kernels r1 places quality allocations live passthrough growth" ;;
presets) parts=search ;;
*) parts=$mode ;;
esac
[[ $mode != live && $mode != allocations ]] || [ -f work/r1/b.flv ] || ./r1.sh sources work/r1
for part in $parts; do "$tool" measure "$part" "$last"; done
"$tool" page "$last" work/last.html
if [ "$mode" = full ]; then
    name=$(date -u +%Y-%m-%d)-$(git describe --always --dirty)
    cp "$last" "results/$name.json"
    cp work/last.html "results/$name.html"
    echo "Kept as benchmarks/results/$name.json and .html"
fi
case $mode in kernels | quick | full) "$tool" selfcheck ;; esac
if [ "$mode" = quick ]; then
    "$tool" readme-check ../README.md
    # The newest committed results hold what every run is held to.
    "$tool" check-results
fi
# What had to be measured and was not is a failure, too: a guard without its tool holds nothing.
case $mode in
quick | full | kernels | allocations | passthrough)
    # shellcheck disable=SC2086 # the parts are words
    "$tool" check "$last" $parts
    ;;
*) "$tool" check "$last" ;;
esac
