#!/bin/bash
# Measures the peak segment bit rate of every preset over clips and noise, for BANDWIDTH (rfc8216bis §4.4.6.2).
#   bandwidth.sh DIR     measures the clips in DIR (at least five) and writes bandwidth.json, which is to be committed
#   bandwidth.sh check   runs the test that compares bandwidth.json with the table in the program
# The encoder has the settings of a room: a key frame every 32 frames, segments of 64 frames, a peak of 1.1 times the bit rate,
# and a buffer of one second of the peak. Rows of bandwidth.json with gopFrames 64 had one key frame per segment; their peaks
# differ by 1 %. Peaks are over runs of segments of 1.0 to 3.5 s, in bytes of the H.264 stream without audio and container.
# SECONDS_EACH=20 sets the length of a clip (shorter ones are looped), FFMPEG and FFPROBE the programs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in
check) cd "$here/.." && exec swift test -c release --filter BandwidthTableTests ;;
"" | -*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac
clips=$1 length=${SECONDS_EACH:-20}
ffmpeg=${FFMPEG:-ffmpeg} ffprobe=${FFPROBE:-ffprobe}
all="ultrafast superfast veryfast faster fast medium slow slower veryslow lowLatency tandem-fast tandem-faster tandem-lowLatency tandem-realtime"
# At 720p, only presets that a live room on a typical machine can use.
quick="superfast veryfast lowLatency tandem-fast tandem-faster tandem-lowLatency tandem-realtime"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# options PRESET: prints its settings from VideoEncoding+Preset.swift: x264 preset, B-frames, lookahead, parameters.
options() {
    local mine=me=dia:partitions=i8x8:aq-strength=0.7
    case $1 in
    lowLatency) echo veryfast 0 2 ;;
    tandem-fast) echo veryfast 1 10 $mine ;;
    tandem-faster) echo superfast 1 10 mbtree=1:aq-strength=0.7 ;;
    tandem-lowLatency) echo veryfast 1 3 $mine ;;
    tandem-realtime) echo superfast 0 0 aq-strength=0.7 ;;
    *) echo "$1" 0 5 ;;
    esac
}

# peak PRESET WIDTH HEIGHT BITRATE INPUT…: prints the peak in bit/s.
peak() {
    local preset bframes lookahead words rate=$4
    read -r preset bframes lookahead words < <(options "$1") || true
    local size=$2:$3 max=$(((rate * 11 + 5) / 10))
    "$ffmpeg" -nostdin -v error -y "${@:5}" -t "$length" -an \
        -vf "scale=$size:force_original_aspect_ratio=decrease:flags=bilinear,pad=$size:-1:-1,fps=30,format=yuv420p,setsar=1" \
        -c:v libx264 -preset "$preset" -profile:v high -b:v "$rate" -maxrate $max -bufsize $max -g 600 -bf "$bframes" -b_strategy 0 \
        -threads 1 -sc_threshold 0 -forced-idr 1 -force_key_frames 'expr:not(mod(n,32))' \
        -x264-params "force-cfr=1:rc-lookahead=$lookahead${words:+:$words}" -f h264 "$work/out.h264"
    "$ffprobe" -v error -f h264 -framerate 30 -show_entries packet=size -of csv=p=0 "$work/out.h264" | awk -F, '
        (NR - 1) % 64 == 0 { count++ }
        { bytes[count] += $1; frames[count]++ }
        END {
            for (first = 1; first <= count; first++) {
                length_ = 0; sum = 0
                for (last = first; last <= count; last++) {
                    length_ += frames[last] / 30; sum += bytes[last]
                    if (length_ > 3.5) break
                    if (length_ >= 1 && sum * 8 / length_ > peak) peak = sum * 8 / length_
                }
            }
            printf "%d", peak
        }'
}

rows=""
for rendition in "640 360 700000 $all" "1280 720 2500000 $quick"; do
    read -r width height rate presets <<<"$rendition"
    for preset in $presets; do
        for clip in "$clips"/* noise; do
            if [ "$clip" = noise ]; then
                input=(-f lavfi -i "color=gray:s=${width}x${height}:r=30,noise=alls=100:allf=t")
            else
                "$ffprobe" -v error -select_streams v:0 -show_entries stream=width -of csv=p=0 "$clip" 2>/dev/null | grep -q . || continue
                input=(-stream_loop -1 -i "$clip")
            fi
            measured=$(peak "$preset" "$width" "$height" "$rate" "${input[@]}")
            name=$(basename "$clip")
            echo "$preset ${height}p $name: $measured ($((measured * 1000 / (rate * 11 / 10))) thousandths of the peak)" >&2
            rows+="${rows:+,$'\n'}    { \"preset\": \"$preset\", \"height\": $height, \"bitrate\": $rate, \"gopFrames\": 32, \"clip\": \"${name%%.*}\", \"peak\": $measured }"
        done
    done
done
cat >"$here/bandwidth.json" <<JSON
{
  "command": "benchmarks/bandwidth.sh DIR",
  "date": "$(date -u +%F)",
  "ffmpeg": "$("$ffmpeg" -version | sed -n '1s/ Copyright.*//p')",
  "seconds": $length,
  "peaks": [
$rows
  ]
}
JSON
