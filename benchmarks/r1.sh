#!/bin/bash
# R1, the reference PK job: two 720p30 sources of 20 s side by side, encoded at 720p, 480p and 360p with one AAC track, as HLS.
#   r1.sh sources DIR    creates DIR/a.flv and DIR/b.flv (1280x720p30, 2,048,000 bit/s, 2 s key frames)
#   r1.sh ffmpeg DIR     the job with the FFmpeg command line, into DIR/ffmpeg
#   r1.sh gstreamer DIR  the job with GStreamer's compositor, into DIR/gstreamer: the same encoder settings and scaler, but
#                        one fragmented MP4 for each rendition, since Debian's GStreamer cannot write such HLS
#   r1.sh ours DIR       the same job in an offline Tandem room, into DIR/ours; PRESET=name sets one of its presets,
#                        PRESET=default writes no preset into the pipeline; JOB_THREADS=n sets offline.threads
#   r1.sh vmaf DIR FILE JSON   compares every frame of a rendition, upscaled to the canvas, with the canvas
#   r1.sh scaling DIR JSON   measures only the scaling, without encoding: 640x360 via 854x480, as Tandem scales, into JSON, and
#                            directly from the canvas, as the other programs do, into JSON.direct
# FFMPEG=path and TANDEM=path set the programs; THREADS=1 runs every codec and filter of FFmpeg on one thread;
# OUT=name sets the name of the output directory.
# R1_CLIPS=DIR uses sintel_trailer_720p24.mp4 and butterfly_720p30.mp4 from there instead of generated video.
# The scaler is FFmpeg's default (bicubic). The other programs scale each rendition from the canvas, Tandem in a cascade.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ff=${FFMPEG:-ffmpeg}
d=$2

# encode OUTPUT INPUT-OPTIONS…: encodes a source as a phone would publish it.
encode() {
    local output=$1
    shift
    "$ff" -v error -nostdin -y "$@" -t 20 -c:v libx264 -preset veryfast -profile:v main -bf 0 \
        -b:v 2048000 -maxrate 2048000 -bufsize 4096000 -g 60 -keyint_min 60 -sc_threshold 0 \
        -c:a aac -ar 48000 -ac 2 -b:a 65536 -f flv "$output"
}

case $1 in
sources)
    mkdir -p "$d"
    if [ -n "${R1_CLIPS:-}" ]; then
        fit="fps=30,scale=1280:720:force_original_aspect_ratio=increase,crop=1280:720,setsar=1,format=yuv420p"
        encode "$d/a.flv" -ss 12 -i "$R1_CLIPS/sintel_trailer_720p24.mp4" -vf "$fit"
        encode "$d/b.flv" -stream_loop 3 -i "$R1_CLIPS/butterfly_720p30.mp4" -vf "$fit"
    else
        # Motion, detail and some grain, so that encoding takes about as much work as natural video.
        encode "$d/a.flv" -f lavfi -i \
            "mandelbrot=size=640x360:rate=30:start_scale=0.5:end_scale=0.001:end_pts=600:maxiter=400" \
            -f lavfi -i "sine=frequency=440:sample_rate=48000" \
            -vf "scale=1280:720,noise=alls=4:allf=t,setsar=1,format=yuv420p"
        encode "$d/b.flv" -f lavfi -i "testsrc2=size=1280x720:rate=30" \
            -f lavfi -i "sine=frequency=660:sample_rate=48000" -vf "noise=alls=6:allf=t,setsar=1,format=yuv420p"
    fi
    ;;
ffmpeg)
    out="$d/${OUT:-ffmpeg}"
    rm -rf "$out"
    mkdir -p "$out"
    t=${THREADS:+-threads $THREADS}
    ft=${THREADS:+-filter_threads $THREADS -filter_complex_threads $THREADS}
    graph="[0:v]fps=30,crop=640:720[l];[1:v]fps=30,crop=640:720[r];[l][r]hstack,split=3[v0][s1][s2]"
    graph="$graph;[s1]scale=854:480[v1];[s2]scale=640:360[v2]"
    graph="$graph;[0:a][1:a]amix=inputs=2:duration=longest:normalize=0[a]"
    # shellcheck disable=SC2086 # word splitting of the thread options is intended
    exec "$ff" -hide_banner -v error -nostdin -y $ft $t -i "$d/a.flv" $t -i "$d/b.flv" -filter_complex "$graph" \
        -map "[v0]" -map "[v1]" -map "[v2]" -map "[a]" \
        -c:v libx264 -preset veryfast $t -profile:v high -g 32 -keyint_min 32 -sc_threshold 0 \
        -b:v:0 2500k -maxrate:v:0 2500k -bufsize:v:0 2500k \
        -b:v:1 1200k -maxrate:v:1 1200k -bufsize:v:1 1200k \
        -b:v:2 700k -maxrate:v:2 700k -bufsize:v:2 700k \
        -c:a aac -b:a 128k -ar 48000 -ac 2 -f hls -hls_time 2.13 -hls_segment_type fmp4 -hls_playlist_type event \
        -master_pl_name index.m3u8 -hls_segment_filename "$out/%v_%05d.m4s" \
        -var_stream_map "v:0,agroup:a,name:720p v:1,agroup:a,name:480p v:2,agroup:a,name:360p a:0,agroup:a,default:yes,name:audio" \
        "$out/%v.m3u8"
    ;;
ours)
    out=${OUT:-ours}
    rm -rf "${d:?}/$out"
    # The paths in the pipeline are relative to the working directory.
    tandem=$(realpath "${TANDEM:-$here/../.build/release/tandem}")
    cd "$d"
    video='"bFrames": 3, "lookaheadFrames": 10'
    case ${PRESET:-} in
    "") settings=", $video" ;;
    default) settings= ;;
    *) settings=", \"preset\": \"$PRESET\"" ;;
    esac
    threads=${JOB_THREADS:+", \"offline\": { \"threads\": $JOB_THREADS }"}
    sed "s/, $video/$settings/; s/\"clock\": \"offline\"/&$threads/; s/\"path\": \"ours\"/\"path\": \"$out\"/" \
        "$here/r1.json" >"$out.json"
    exec "$tandem" run "$out.json" >"$out.events"
    ;;
gstreamer)
    rm -rf "$d/gstreamer"
    mkdir -p "$d/gstreamer"
    # source NAME: a file's video, cropped to its middle half, and its audio.
    source_of() {
        echo "filesrc location=$d/$1.flv ! flvdemux name=$1" \
            "$1.video ! queue ! h264parse ! avdec_h264 ! videocrop left=320 right=320 ! queue ! c." \
            "$1.audio ! queue ! aacparse ! avdec_aac ! audioconvert ! audioresample ! queue ! m."
    }
    # rendition NAME WIDTH HEIGHT KBIT: veryfast with key frames at the same positions as FFmpeg's.
    rendition_of() {
        echo "t. ! queue ! videoscale method=4-tap ! video/x-raw,width=$2,height=$3,pixel-aspect-ratio=1/1" \
            "! x264enc speed-preset=veryfast bitrate=$4 vbv-buf-capacity=1000 key-int-max=32 b-adapt=true bframes=3" \
            "rc-lookahead=10 option-string=scenecut=0:min-keyint=32:vbv-maxrate=$4:vbv-bufsize=$4" \
            "! video/x-h264,profile=high ! h264parse ! mp4mux fragment-duration=2133 ! filesink location=$d/gstreamer/$1.mp4"
    }
    # shellcheck disable=SC2046 # word splitting is intended
    exec gst-launch-1.0 -q \
        compositor name=c sink_1::xpos=640 ! video/x-raw,format=I420,width=1280,height=720,framerate=30/1 ! tee name=t \
        $(rendition_of 720p 1280 720 2500) $(rendition_of 480p 854 480 1200) $(rendition_of 360p 640 360 700) \
        audiomixer name=m ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! avenc_aac bitrate=128000 ! aacparse \
        ! mp4mux fragment-duration=2133 ! filesink location="$d/gstreamer/audio.mp4" \
        $(source_of a) $(source_of b) >"$d/gstreamer.log" 2>&1
    ;;
vmaf)
    # Compares frame n with frame n + SKIP, since FFmpeg writes its first frame twice if a source begins late; PICTURES is the
    # number of frames. The scaler is the one closest to a player's upscaling. Both sides get the same color tags, since a current
    # FFmpeg converts between tagged and untagged video.
    count=${PICTURES:-600}
    colours=setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709
    exec "$ff" -hide_banner -v error -nostdin -i "$d/a.flv" -i "$d/b.flv" -i "$3" -filter_complex \
        "[0:v]$colours,fps=30,crop=640:720[l];[1:v]$colours,fps=30,crop=640:720[r];\
[l][r]hstack,settb=1/30,setpts=N,trim=end_frame=$count,format=yuv420p[ref];\
[2:v]$colours,select='gte(n,${SKIP:-0})',scale=1280:720:flags=bicubic,setsar=1,settb=1/30,setpts=N,trim=end_frame=$count,\
format=yuv420p[got];\
[got][ref]libvmaf=model=version=vmaf_v0.6.1neg:feature=name=float_ssim:n_threads=2:log_fmt=json:log_path=$4" \
        -an -f null -
    ;;
scaling)
    count=${PICTURES:-600}
    for way in "$3" "$3.direct"; do
        middle=$([ "$way" = "$3" ] && echo "scale=854:480:flags=bicubic," || true)
        "$ff" -hide_banner -v error -nostdin -i "$d/a.flv" -i "$d/b.flv" -filter_complex \
            "[0:v]fps=30,crop=640:720[l];[1:v]fps=30,crop=640:720[r];\
[l][r]hstack,settb=1/30,setpts=N,trim=end_frame=$count,format=yuv420p,split[ref][full];\
[full]${middle}scale=640:360:flags=bicubic,scale=1280:720:flags=bicubic,setsar=1[got];[ref]setsar=1[whole];\
[got][whole]libvmaf=model=version=vmaf_v0.6.1neg:feature=name=float_ssim:n_threads=2:log_fmt=json:log_path=$way" \
            -an -f null -
    done
    ;;
*)
    echo "usage: r1.sh sources|ffmpeg|gstreamer|ours|vmaf|scaling DIR …" >&2
    exit 64
    ;;
esac
