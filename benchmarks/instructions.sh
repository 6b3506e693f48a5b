#!/bin/bash
# instructions.sh DIR [RUNS]: counts the instructions that the program executes for one second of R1, with callgrind.
# R1's two sources are cut to their first second; everything else is as in r1.json. Writes into DIR:
#   versions.txt   what was counted with what: a name and a version in each line; only counts of equal versions are comparable
#   run-N.txt      a line for each file of the program: instructions and name (`tandem`, `libx264.so.164` …); then `total`
#   missing.txt    if a tool is missing: which one
# TANDEM and FFMPEG set the programs. Takes 40 s of CPU time for each run, and ten for the sources.
# Exit codes: 0 counted, 75 a tool is missing, others: a run failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
d=$1 runs=${2:-1}
tandem=$(realpath "${TANDEM:-$here/../.build/release/tandem}")
ff=${FFMPEG:-ffmpeg}
rm -rf "${d:?}"
mkdir -p "$d"
d=$(realpath "$d")

missing() { # WHAT
    echo "$1" >"$d/missing.txt"
    exit 75
}

for tool in valgrind strip "${CC:-cc}" "$ff"; do
    command -v "$tool" >/dev/null || missing "$tool is not installed"
done

# The sources are made anew, and not with the machine's fastest instructions, so that they are the same everywhere.
source_of() { # FILE VIDEO FREQUENCY FILTER
    "$ff" -v error -nostdin -y -cpuflags 0 -f lavfi -i "$2" -f lavfi -i "sine=frequency=$3:sample_rate=48000" -t 1 -vf "$4" \
        -c:v libx264 -threads 1 -preset veryfast -profile:v main -bf 0 -b:v 2048000 -maxrate 2048000 -bufsize 4096000 -g 60 \
        -keyint_min 60 -sc_threshold 0 -c:a aac -ar 48000 -ac 2 -b:a 65536 -flags +bitexact -fflags +bitexact -f flv "$1"
}
source_of "$d/a.flv" "mandelbrot=size=640x360:rate=30:start_scale=0.5:end_scale=0.001:end_pts=600:maxiter=400" 440 \
    "scale=1280:720:flags=bicubic+accurate_rnd+bitexact,noise=alls=4:allf=t,setsar=1,format=yuv420p"
source_of "$d/b.flv" "testsrc2=size=1280x720:rate=30" 660 "noise=alls=6:allf=t,setsar=1,format=yuv420p"

# line COMMAND…: the first line of a program's output.
line() { "$@" 2>/dev/null | head -n 1; }
{
    echo "valgrind $(line valgrind --version | sed 's/^valgrind-//')"
    echo "architecture $(uname -m)"
    echo "ffmpeg $(line "$tandem" --version | sed -n 's/.*FFmpeg \([^ ,)]*\).*/\1/p')"
    echo "x264 $(ldd "$tandem" 2>/dev/null | sed -n 's/.*libx264\.so\.\([0-9]*\).*/\1/p' | head -n 1)"
    echo "swift $(line swift --version | sed -n 's/.*Swift version \([^ ]*\).*/\1/p')"
    echo "libc $(line ldd --version | sed 's/.* //')"
    # Valgrind shows the program a processor with AVX2 if the machine has it.
    grep -qsw avx2 /proc/cpuinfo && echo "vectors avx2" || echo "vectors others"
} >"$d/versions.txt"

# Equal paths through glibc's string functions on all processors, and through Swift's hash tables in all runs.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=2000000000 SWIFT_DETERMINISTIC_HASHING=1
cd "$d"
cp "$here/r1.json" r1.json
# Without debug information, since valgrind 3.19 ends at the DWARF 5 that the Swift compiler writes.
strip -o tandem "$tandem"
${CC:-cc} -O2 -fPIC -shared -o suspend.so "$here/floor/suspend.c"
for ((run = 1; run <= runs; run++)); do
    rm -rf ours callgrind.out
    LD_PRELOAD=$d/suspend.so valgrind -q --tool=callgrind --callgrind-out-file=callgrind.out --dump-line=no \
        ./tandem run r1.json >events 2>valgrind.log || { tail -n 20 valgrind.log events >&2; exit 1; }
    # Callgrind Format Specification: `ob=(ID) NAME` sets the file for the cost lines that follow, `cob=(ID) NAME` that of a called
    # function; the name is given only the first time. The line after `calls=` has the cost of the called function, which is
    # counted where that function is.
    awk '
        /^c?ob=/ { id = $0; sub(/^c?ob=/, "", id); name = id; sub(/\).*/, ")", id)
                   if (index(name, " ")) { sub(/^[^ ]* /, "", name); sub(/.*\//, "", name); names[id] = name }
                   if ($0 ~ /^ob=/) ob = id
                   next }
        /^calls=/ { called = 1; next }
        /^[0-9+*-]/ { if (called) called = 0; else { cost[ob] += $2; total += $2 }; next }
        END { for (id in cost) printf "%.0f %s\n", cost[id], id in names ? names[id] : "unknown"; printf "%.0f total\n", total }
    ' callgrind.out | sort -rn >"run-$run.txt"
done
