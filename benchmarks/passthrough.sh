#!/bin/bash
# Measures what passthrough saves. Every job prints one line: CPU seconds, then seconds of media.
#   passthrough.sh sources DIR   r1.sh's sources, three times over: DIR/a60.flv and DIR/b60.flv
#   passthrough.sh ffmpeg DIR    one source to R1's three renditions with the FFmpeg command line, all at veryfast
#   passthrough.sh ffmpegPK DIR  two sources side by side to the same renditions
#   passthrough.sh solo DIR      one source in an offline Tandem room: 720p is passed through, the others use PRESET (tandem-faster)
#   passthrough.sh room DIR      a live room of 60 s with two publishers: 70 % of the time one of them alone, 30 % a PK, in
#                                four turns; 720p is passed through when possible
# PACED=seconds makes ffmpeg and ffmpegPK read their files in real time for so long, for comparison with a live room.
# FFMPEG=path and TANDEM=path set the programs. The publishers' own CPU time is not counted.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ff=${FFMPEG:-ffmpeg}
tandem=$(realpath "${TANDEM:-$here/../.build/release/tandem}")
preset=${PRESET:-tandem-faster}
d=$2

# spent: prints the CPU seconds of all children so far and the seconds of the job. `times` only knows children of this shell, so
# there must be no pipe and no command substitution.
spent() {
    times >"$d/times.txt"
    awk -v seconds="${PACED:-60}" \
        'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] }; print s, seconds }' "$d/times.txt"
}

# ladder GRAPH INPUT…: encodes R1's renditions from video [v] and audio [a].
ladder() {
    local graph=$1 inputs=()
    shift
    for file in "$@"; do inputs+=(${PACED:+-re -t "$PACED"} -i "$file"); done
    rm -rf "$d/pass-ffmpeg"
    mkdir -p "$d/pass-ffmpeg"
    "$ff" -hide_banner -v error -nostdin -y "${inputs[@]}" \
        -filter_complex "$graph;[v]split=3[v0][s1][s2];[s1]scale=854:480[v1];[s2]scale=640:360[v2]" \
        -map "[v0]" -map "[v1]" -map "[v2]" -map "[a]" \
        -c:v libx264 -preset veryfast -profile:v high -g 32 -keyint_min 32 -sc_threshold 0 \
        -b:v:0 2500k -maxrate:v:0 2500k -bufsize:v:0 2500k -b:v:1 1200k -maxrate:v:1 1200k -bufsize:v:1 1200k \
        -b:v:2 700k -maxrate:v:2 700k -bufsize:v:2 700k -c:a aac -b:a 128k -ar 48000 -ac 2 \
        -f hls -hls_time 2.13 -hls_segment_type fmp4 -hls_playlist_type event -master_pl_name index.m3u8 \
        -hls_segment_filename "$d/pass-ffmpeg/%v_%05d.m4s" \
        -var_stream_map "v:0,agroup:a,name:720p v:1,agroup:a,name:480p v:2,agroup:a,name:360p a:0,agroup:a,default:yes,name:audio" \
        "$d/pass-ffmpeg/%v.m3u8"
}

# rendition NAME WIDTH HEIGHT BITRATE MORE: prints a rendition of R1; only x264's presets get an explicit number of B-frames.
rendition() {
    local more=$5
    case $preset in tandem-*) ;; *) more="$more, \"bFrames\": 3, \"lookaheadFrames\": 10" ;; esac
    echo "{ \"name\": \"$1\", \"width\": $2, \"height\": $3, \"video\": { \"preset\": \"$preset\", \"bitrate\": $4," \
        "\"maxBitrate\": $4, \"bufferSize\": $4$more } }"
}

# pipeline SOURCES SCENES CLOCK OUTPUT: prints a pipeline with these members, clock and output directory.
pipeline() {
    cat <<END
{
  "room": { "roomId": "passthrough" }, "clock": "$3", $1,
  "scenes": [ { "sceneId": "solo", "layout": "solo", "uids": ["a"] }$2 ],
  "program": { "scene": "solo" },
  "renditions": [
    $(rendition 720p 1280 720 2500000 ', "passthrough": "auto"'),
    $(rendition 480p 854 480 1200000 ''),
    $(rendition 360p 640 360 700000 '')
  ],
  "outputs": [ { "path": "$4" } ]
}
END
}

cpu_of() { sed -n 's/.*"type":"room.closed".*"cpuSeconds":\([0-9.]*\).*/\1/p' "$1"; }

case $1 in
sources)
    [ -f "$d/a.flv" ] || "$here/r1.sh" sources "$d"
    for name in a b; do
        "$ff" -v error -nostdin -y -stream_loop 2 -i "$d/$name.flv" -c copy -f flv "$d/${name}60.flv"
    done
    ;;
ffmpeg)
    ladder "[0:v]fps=30[v];[0:a]anull[a]" "$d/a60.flv"
    spent
    ;;
ffmpegPK)
    graph="[0:v]fps=30,crop=640:720[l];[1:v]fps=30,crop=640:720[r];[l][r]hstack[v]"
    ladder "$graph;[0:a][1:a]amix=inputs=2:duration=longest:normalize=0[a]" "$d/a60.flv" "$d/b60.flv"
    spent
    ;;
solo)
    cd "$d"
    rm -rf pass-solo
    pipeline '"sources": [ { "uid": "a", "type": "file", "path": "a60.flv" } ]' "" offline pass-solo >pass-solo.json
    "$tandem" run pass-solo.json >pass-solo.events
    grep -q '"passthrough.began"' pass-solo.events
    echo "$(cpu_of pass-solo.events) 60"
    ;;
room)
    cd "$d"
    rm -rf pass-room
    pipeline '"ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
  "sources": [ { "uid": "a", "streamKey": "a" }, { "uid": "b", "streamKey": "b" } ]' \
        ', { "sceneId": "pk", "layout": "sideBySide", "uids": ["a", "b"] }' live pass-room >pass-room.json
    "$tandem" run pass-room.json >pass-room.events 2>pass-room.errors &
    room=$!
    publishers=()
    trap 'kill "${publishers[@]}" "$room" 2>/dev/null || true' EXIT
    # address NAME: prints the address of a listener after the room is ready.
    address() { sed -n "/\"room.ready\"/s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" pass-room.events; }
    for _ in $(seq 100); do [ -n "$(address control)" ] && break || sleep 0.1; done
    for name in a b; do
        "$ff" -v error -nostdin -re -stream_loop -1 -i "$name.flv" -c copy -f flv "$(address rtmp)/live/$name" &
        publishers+=($!)
    done
    scene() { curl -sf -X PUT -d "{\"scene\":\"$1\"}" "$(address control)/v1/program" >/dev/null; }
    sleep 10.5
    for _ in 1 2 3 4; do
        scene pk
        sleep 4.5
        scene solo
        sleep 7.9
    done
    curl -sf -X POST "$(address control)/v1/room:end" >/dev/null || kill -TERM "$room"
    wait "$room" || true
    ticks=$(sed -n 's/.*"type":"room.closed".*"frames":\([0-9]*\).*/\1/p' pass-room.events)
    test "$(grep -c '"passthrough.began"' pass-room.events)" -ge 4
    echo "$(cpu_of pass-room.events) $(awk "BEGIN { print $ticks / 30 }")"
    ;;
*)
    echo "usage: passthrough.sh sources|ffmpeg|ffmpegPK|solo|room DIR" >&2
    exit 64
    ;;
esac
