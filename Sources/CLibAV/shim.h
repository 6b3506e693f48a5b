// What of libav the project uses, and its macros as constants, because Swift does not import macros with casts.
#ifndef TANDEM_CLIBAV_SHIM_H
#define TANDEM_CLIBAV_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdio.h>

static const int CLIBAV_ERROR_AGAIN = AVERROR(EAGAIN);
static const int CLIBAV_ERROR_EOF = AVERROR_EOF;
static const int CLIBAV_ERROR_ENOMEM = AVERROR(ENOMEM);
static const int64_t CLIBAV_NO_TIMESTAMP = AV_NOPTS_VALUE;
static const int CLIBAV_INPUT_PADDING = AV_INPUT_BUFFER_PADDING_SIZE;
static const int CLIBAV_CODEC_FLAG_GLOBAL_HEADER = AV_CODEC_FLAG_GLOBAL_HEADER;
static const int CLIBAV_CODEC_FLAG_BITEXACT = AV_CODEC_FLAG_BITEXACT;
static const int CLIBAV_PACKET_FLAG_KEY = AV_PKT_FLAG_KEY;
static const int CLIBAV_FRAME_FLAG_CORRUPT = AV_FRAME_FLAG_CORRUPT;
static const int CLIBAV_SEARCH_CHILDREN = AV_OPT_SEARCH_CHILDREN;
static const int CLIBAV_LOG_ERROR = AV_LOG_ERROR;
static const int CLIBAV_LOG_QUIET = AV_LOG_QUIET;

// The version strings of the libraries that are really loaded, for `tandem --version` and problem reports.
static inline const char *clibav_version(void) { return av_version_info(); }

// glibc gives every thread a heap of its own; pictures are freed by other threads than made them, so that memory
// would pile up in heaps nobody allocates from.
static inline void clibav_limit_heaps(int heaps) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, heaps);
    // Fixed, or glibc raises it with the first freed picture and keeps later ones in heaps that only grow.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#else
    (void)heaps;
#endif
}

#endif
