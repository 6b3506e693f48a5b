// floor: measures the codecs of R1 alone. This is the least CPU time that a program with these libraries can need.
//
//   floor DIR [THREADS]      reads DIR/a.flv and DIR/b.flv (r1.sh sources); THREADS for each codec, 1 by default
//
// Each stage runs alone on input in memory whose pages were touched before. The CPU time of the process is measured around it
// (CLOCK_PROCESS_CPUTIME_ID), without files, queues, clocks, muxers and wrappers. The settings are those of r1.json: two H.264 and
// two AAC decoders; 1280x720 → 854x480 → 640x360 by swscale, bicubic; libx264 veryfast at
// three sizes with a key frame every 32 frames; AAC at 128 kbit/s. Composing two frames side by side does not count.
// Prints a line for each stage: its name, CPU seconds, wall seconds. The line `scale-direct` is not part of the floor: it is the cost of
// scaling 640x360 also from the canvas, instead of `scale`. Needs 1.5 GiB of memory for 20 s of video.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { W = 1280, H = 720, FPS = 30, PICTURES = 20 * FPS, GOP = 32, RATE = 48000 };

static void must(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "floor: %s\n", what);
    exit(1);
}

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu_start, wall_start;

static void begin(void) {
    wall_start = now(CLOCK_MONOTONIC);
    cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
}

static void end(const char *stage) {
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    printf("%s %.4f %.4f\n", stage, cpu, now(CLOCK_MONOTONIC) - wall_start);
    fflush(stdout);
}

// The coded packets of one stream of a file, in memory.
typedef struct {
    AVPacket **packets;
    int count;
    AVCodecParameters *parameters;
} Coded;

static Coded load(const char *path, enum AVMediaType type) {
    AVFormatContext *file = NULL;
    must(avformat_open_input(&file, path, NULL, NULL) >= 0, path);
    must(avformat_find_stream_info(file, NULL) >= 0, "no streams");
    int index = av_find_best_stream(file, type, -1, -1, NULL, 0);
    must(index >= 0, "a stream is missing");
    Coded coded = {calloc(65536, sizeof(AVPacket *)), 0, avcodec_parameters_alloc()};
    avcodec_parameters_copy(coded.parameters, file->streams[index]->codecpar);
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(file, packet) >= 0) {
        if (packet->stream_index == index && coded.count < 65536) coded.packets[coded.count++] = av_packet_clone(packet);
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    avformat_close_input(&file);
    return coded;
}

// Decodes a whole stream; `body` may keep a reference to the frame, or be NULL.
static int decode(Coded coded, int threads, void (*body)(AVFrame *, int, void *), void *context) {
    const AVCodec *codec = avcodec_find_decoder(coded.parameters->codec_id);
    AVCodecContext *decoder = avcodec_alloc_context3(codec);
    avcodec_parameters_to_context(decoder, coded.parameters);
    decoder->thread_count = threads;
    must(avcodec_open2(decoder, codec, NULL) >= 0, "a decoder did not open");
    AVFrame *frame = av_frame_alloc();
    int count = 0;
    for (int i = 0; i <= coded.count; i++) {
        avcodec_send_packet(decoder, i < coded.count ? coded.packets[i] : NULL);
        while (avcodec_receive_frame(decoder, frame) >= 0) {
            if (body) body(frame, count, context);
            count++;
            av_frame_unref(frame);
        }
    }
    av_frame_free(&frame);
    avcodec_free_context(&decoder);
    return count;
}

static AVFrame *picture(int width, int height) {
    AVFrame *frame = av_frame_alloc();
    frame->format = AV_PIX_FMT_YUV420P;
    frame->width = width;
    frame->height = height;
    must(av_frame_get_buffer(frame, 0) >= 0, "no memory");
    // Touch the pages now, so that no page fault is measured in a stage.
    for (int p = 0; p < 3; p++) memset(frame->data[p], 128, (size_t)frame->linesize[p] * (p ? height / 2 : height));
    return frame;
}

static AVFrame *canvas[PICTURES], *middle[PICTURES], *small[PICTURES];

// Copies the middle half of a source's frame to the left or the right half of the canvas.
static void compose(AVFrame *frame, int index, void *context) {
    int x = *(int *)context;
    if (index >= PICTURES) return;
    must(frame->width == W && frame->height == H && frame->format == AV_PIX_FMT_YUV420P, "a source of another format");
    for (int p = 0; p < 3; p++) {
        int shift = p ? 1 : 0;
        for (int y = 0; y < H >> shift; y++)
            memcpy(canvas[index]->data[p] + y * canvas[index]->linesize[p] + (x >> shift),
                   frame->data[p] + y * frame->linesize[p] + (W / 4 >> shift), W / 2 >> shift);
    }
}

static void scale(AVFrame **from, AVFrame **to) {
    struct SwsContext *scaler =
        sws_getContext(from[0]->width, from[0]->height, AV_PIX_FMT_YUV420P, to[0]->width, to[0]->height,
                       AV_PIX_FMT_YUV420P, SWS_BICUBIC, NULL, NULL, NULL);
    must(scaler != NULL, "no scaler");
    for (int i = 0; i < PICTURES; i++)
        sws_scale(scaler, (const uint8_t *const *)from[i]->data, from[i]->linesize, 0, from[i]->height, to[i]->data,
                  to[i]->linesize);
    sws_freeContext(scaler);
}

static void drain(AVCodecContext *encoder, AVPacket *packet, long *bytes) {
    while (avcodec_receive_packet(encoder, packet) >= 0) {
        *bytes += packet->size;
        av_packet_unref(packet);
    }
}

static void encode(AVFrame **pictures, int64_t bitrate, int threads, const char *stage) {
    const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
    must(codec != NULL, "no libx264");
    AVCodecContext *encoder = avcodec_alloc_context3(codec);
    encoder->width = pictures[0]->width;
    encoder->height = pictures[0]->height;
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = (AVRational){1, FPS};
    encoder->framerate = (AVRational){FPS, 1};
    encoder->sample_aspect_ratio = (AVRational){1, 1};
    encoder->bit_rate = encoder->rc_max_rate = bitrate;
    encoder->rc_buffer_size = (int)bitrate;
    encoder->gop_size = 600;
    encoder->max_b_frames = 3;
    encoder->thread_count = threads;
    encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    AVDictionary *options = NULL;
    av_dict_set(&options, "preset", "veryfast", 0);
    av_dict_set(&options, "profile", "high", 0);
    av_dict_set(&options, "forced-idr", "1", 0);
    av_dict_set(&options, "sc_threshold", "0", 0);
    av_dict_set(&options, "rc-lookahead", "10", 0);
    av_dict_set(&options, "x264-params", "force-cfr=1", 0);
    AVPacket *packet = av_packet_alloc();
    long bytes = 0;
    begin();
    must(avcodec_open2(encoder, codec, &options) >= 0, "libx264 did not open");
    for (int i = 0; i < PICTURES; i++) {
        pictures[i]->pts = i;
        pictures[i]->pict_type = i % GOP == 0 ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
        must(avcodec_send_frame(encoder, pictures[i]) >= 0, "libx264 refused a picture");
        drain(encoder, packet, &bytes);
    }
    avcodec_send_frame(encoder, NULL);
    drain(encoder, packet, &bytes);
    end(stage);
    // Check the size: 20 s at the bit rate, within the tolerance of the rate control, since less output would need less time.
    must(bytes > bitrate / 8 * 14 && bytes < bitrate / 8 * 24, "an encoder missed its bit rate");
    av_packet_free(&packet);
    av_dict_free(&options);
    avcodec_free_context(&encoder);
}

// Stereo samples of one source, planar float.
typedef struct {
    float *samples[2];
    int count;
} Sound;

static void keep(AVFrame *frame, int index, void *context) {
    Sound *sound = context;
    (void)index;
    must(frame->format == AV_SAMPLE_FMT_FLTP, "sound of another format");
    for (int i = 0; i < frame->nb_samples && sound->count < RATE * 25; i++, sound->count++)
        for (int c = 0; c < 2; c++) sound->samples[c][sound->count] = ((float *)frame->extended_data[c])[i];
}

static void encode_sound(Sound sound) {
    const AVCodec *codec = avcodec_find_encoder(AV_CODEC_ID_AAC);
    AVCodecContext *encoder = avcodec_alloc_context3(codec);
    encoder->sample_rate = RATE;
    encoder->bit_rate = 128000;
    encoder->sample_fmt = AV_SAMPLE_FMT_FLTP;
#if LIBAVCODEC_VERSION_MAJOR >= 60 || (LIBAVCODEC_VERSION_MAJOR == 59 && LIBAVCODEC_VERSION_MINOR >= 24)
    av_channel_layout_default(&encoder->ch_layout, 2);
#else
    encoder->channels = 2;
    encoder->channel_layout = AV_CH_LAYOUT_STEREO;
#endif
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    long bytes = 0;
    begin();
    must(avcodec_open2(encoder, codec, NULL) >= 0, "the AAC encoder did not open");
    frame->format = AV_SAMPLE_FMT_FLTP;
    frame->sample_rate = RATE;
    frame->nb_samples = encoder->frame_size;
#if LIBAVCODEC_VERSION_MAJOR >= 60 || (LIBAVCODEC_VERSION_MAJOR == 59 && LIBAVCODEC_VERSION_MINOR >= 24)
    av_channel_layout_default(&frame->ch_layout, 2);
#else
    frame->channel_layout = AV_CH_LAYOUT_STEREO;
#endif
    must(av_frame_get_buffer(frame, 0) >= 0, "no memory");
    for (int at = 0; at + frame->nb_samples <= sound.count; at += frame->nb_samples) {
        must(av_frame_make_writable(frame) >= 0, "no memory");
        for (int c = 0; c < 2; c++) memcpy(frame->extended_data[c], sound.samples[c] + at, sizeof(float) * frame->nb_samples);
        frame->pts = at;
        must(avcodec_send_frame(encoder, frame) >= 0, "the AAC encoder refused a block");
        drain(encoder, packet, &bytes);
    }
    avcodec_send_frame(encoder, NULL);
    drain(encoder, packet, &bytes);
    end("aac");
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&encoder);
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: floor DIR [THREADS]\n");
        return 64;
    }
    int threads = count > 2 ? atoi(words[2]) : 1;
    av_log_set_level(AV_LOG_ERROR);
    Coded pictures[2], sounds[2];
    for (int i = 0; i < 2; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%c.flv", words[1], 'a' + i);
        pictures[i] = load(path, AVMEDIA_TYPE_VIDEO);
        sounds[i] = load(path, AVMEDIA_TYPE_AUDIO);
    }
    begin();
    for (int i = 0; i < 2; i++) must(decode(pictures[i], threads, NULL, NULL) >= PICTURES - 1, "too few pictures");
    for (int i = 0; i < 2; i++) decode(sounds[i], 1, NULL, NULL);
    end("decode");

    for (int i = 0; i < PICTURES; i++) {
        canvas[i] = picture(W, H);
        middle[i] = picture(854, 480);
        small[i] = picture(640, 360);
    }
    for (int i = 0; i < 2; i++) {
        int x = i * W / 2;
        decode(pictures[i], 0, compose, &x);
    }
    // Before the cascade, so that the cascade's frames are encoded and are in the caches as without this stage.
    begin();
    scale(canvas, middle);
    scale(canvas, small);
    end("scale-direct");
    begin();
    scale(canvas, middle);
    scale(middle, small);
    end("scale");
    encode(canvas, 2500000, threads, "encode-720p");
    encode(middle, 1200000, threads, "encode-480p");
    encode(small, 700000, threads, "encode-360p");

    Sound mix = {{calloc(RATE * 25, sizeof(float)), calloc(RATE * 25, sizeof(float))}, 0};
    Sound other = {{calloc(RATE * 25, sizeof(float)), calloc(RATE * 25, sizeof(float))}, 0};
    decode(sounds[0], 1, keep, &mix);
    decode(sounds[1], 1, keep, &other);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < mix.count; i++) mix.samples[c][i] += other.samples[c][i];
    encode_sound(mix);
    return 0;
}
