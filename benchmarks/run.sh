#!/bin/bash
# Measures Tandem: the hot loops, R1 compared with other programs and the bare codecs, live rooms. Then compares the result with
# thresholds.json.
#   run.sh quick     in at most five minutes: counts of instructions, allocations and heap blocks, two rounds of R1 in pairs, a live
#                    room; the result is written to benchmarks/work
#   run.sh full      7 rounds with all programs, 10 in pairs, quality, live rooms, growth; the result is written to
#                    benchmarks/results/DATE-COMMIT.json and .html, to be committed from a quiet machine
#   run.sh live      only live rooms, at full length
#   run.sh passthrough   one publisher, and a room with a PK for 30 % of its time, with a rendition that is passed through
#   run.sh pairs     R1 at the same moment as FFmpeg and the floor, each on one core, without and with a busy neighbour
#   run.sh instructions   instructions of one second of R1, in three runs; COUNTS=n sets the number of runs
#   run.sh blocks    live heap blocks of an offline room after each segment
#   run.sh kernels   only the hot loops, in half a minute
#   run.sh allocations   heap allocations of a PK room by thread; call stacks are in work/allocations/allocations.txt
#   run.sh search    the x264 settings of searches.json over clips (SEARCH_CLIPS=DIR, default generated); takes hours
#   run.sh presets   the program's own presets in presets.json over the same clips, with the published quality loss
#   run.sh profile   distributions of the hot loops with ordo-one/benchmark, for tuning
#   run.sh accept    writes the last result's counts (run.sh kernels, run.sh instructions) as the new thresholds
#   run.sh release-check   checks the committed results: the thresholds, and that none is more than 20 source commits old
#   run.sh readme    updates the README's table from the newest result; readme-check only compares
# PAIRS=n sets the number of rounds of R1 and of pairs, R1_SIDES=ours,ffmpeg the sides of R1; LIVE_SECONDS, LIVE_MINUTES,
# SEARCH_SECONDS: durations; FFMPEG, TANDEM and R1_CLIPS: see r1.sh.
# Exit codes: 0 all thresholds are met, 1 a regression (one line each) or a failed run, 64 wrong arguments.
set -euo pipefail
cd "$(dirname "$0")"
mode=${1:-}
last=work/last.json
tool=../.build/release/BenchTool
mkdir -p work results

build() { # PRODUCT
    swift build -c release --package-path .. --product "$1" 2>&1 | tail -1
}

# packages NAME…: installs with apt if possible; a missing tool is reported by the part that needs it.
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
    # A busy neighbour for pairs; a loop of the shell replaces it.
    [ "$mode" != full ] && [ "$mode" != pairs ] || command -v stress-ng >/dev/null || packages stress-ng
    # A current FFmpeg with libvmaf, as a wheel.
    if [ "$mode" != quick ] && [ -z "${NEW_FFMPEG:-}" ] && ! ls work/venv/lib/*/site-packages/imageio_ffmpeg/binaries/ffmpeg-* >/dev/null 2>&1; then
        { python3 -m venv work/venv && work/venv/bin/pip install -q imageio-ffmpeg; } >/dev/null 2>&1 || true
    fi
    # shellcheck disable=SC2046 # word splitting of the flags is intended
    ${CC:-cc} -O2 -o work/floor floor/floor.c \
        $(pkg-config --cflags --libs libavformat libavcodec libswscale libavutil) || rm -f work/floor
    ${CC:-cc} -O1 -fno-builtin -fPIC -shared -o work/copies.so floor/copies.c || rm -f work/copies.so
    ${CC:-cc} -O2 -fPIC -shared -o work/where.so floor/where.c -ldl || rm -f work/where.so
    ${CC:-cc} -O2 -fPIC -shared -o work/allocs.so floor/allocs.c -ldl -lpthread || rm -f work/allocs.so
    ${CC:-cc} -O2 -fPIC -shared -o work/blocks.so floor/blocks.c -lpthread || rm -f work/blocks.so
}

case $mode in
quick | full | kernels | instructions | blocks | pairs | allocations | live | passthrough | search) ;;
presets) export SEARCH_PLAN=presets.json ;;
accept | release-check | readme | readme-check)
    build BenchTool
    case $mode in
    accept) "$tool" accept "$last" ;;
    release-check) "$tool" check-results release ;;
    *) "$tool" "$mode" ../README.md ;;
    esac
    exit
    ;;
profile)
    swift package -c release benchmark --target Kernels
    exit
    ;;
*)
    sed -n '2,23s/^# \{0,1\}//p' run.sh >&2
    exit 64
    ;;
esac

if [ "$mode" != kernels ] && [ ! -x "${TANDEM:-../.build/release/tandem}" ]; then
    echo "benchmarks: the program is missing: run \`make build\` first, or set TANDEM" >&2
    exit 1
fi

tools
if [ "$mode" = quick ]; then
    # Counting needs one core, and other load does not change the count: it runs while the benchmarks are built, as a process group
    # that ends with this script.
    set -m
    ./instructions.sh work/instructions "${COUNTS:-1}" &
    counting=$!
    set +m
    trap 'kill -- "-$counting" 2>/dev/null || true' EXIT
fi
echo "Building the benchmarks …"
case $mode in kernels | quick | full) build KernelRunner ;; esac
build BenchTool

if [ "$mode" = quick ] || [ "$mode" = kernels ]; then "$tool" begin quick "$last"; else "$tool" begin full "$last"; fi
case $mode in
quick) parts="kernels instructions blocks pairs allocations live" ;;
full) parts="kernels instructions blocks r1 pairs places quality allocations live passthrough growth" ;;
presets) parts=search ;;
*) parts=$mode ;;
esac
# Where no part before makes the sources; pairs need two cores.
[[ $mode != live && $mode != allocations && ! ($mode = quick && $(nproc) -lt 2) ]] || [ -f work/r1/b.flv ] || ./r1.sh sources work/r1
for part in $parts; do
    if [ "$mode" = quick ] && [ "$part" = instructions ]; then
        status=0
        wait "$counting" || status=$?
        trap - EXIT
        [ "$status" = 0 ] || [ "$status" = 75 ] || exit 1
        export COUNTED=1
    fi
    began=$SECONDS
    "$tool" measure "$part" "$last"
    echo "($part: $((SECONDS - began)) s)"
done
"$tool" page "$last" work/last.html
if [ "$mode" = full ]; then
    name=$(date -u +%Y-%m-%d)-$(git describe --always --dirty)
    cp "$last" "results/$name.json"
    cp work/last.html "results/$name.html"
    echo "Saved as benchmarks/results/$name.json and .html"
fi
case $mode in kernels | quick | full) "$tool" selfcheck ;; esac
if [ "$mode" = quick ]; then
    "$tool" readme-check ../README.md
    # The newest committed results must meet the same thresholds.
    "$tool" check-results
fi
# A part that had to be measured but was not is also a failure.
case $mode in
quick | full | kernels | instructions | blocks | pairs | allocations | passthrough)
    # shellcheck disable=SC2086 # word splitting of the parts is intended
    "$tool" check "$last" $parts
    ;;
*) "$tool" check "$last" ;;
esac
