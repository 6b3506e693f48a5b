// The libav headers that the project uses, and their macros as constants, because Swift does not import macros with
// casts. After a change here, touch Sources/LibAV/*.swift: SwiftPM does not check the headers of a system library.
#ifndef TANDEM_CLIBAV_SHIM_H
#define TANDEM_CLIBAV_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/hmac.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/sha.h>
#include <libswresample/swresample.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <dlfcn.h>
#include <errno.h>
#ifdef __linux__
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/timex.h>
#endif
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

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
static const int CLIBAV_FORMAT_NO_FILL_IN = AVFMT_FLAG_NOFILLIN;
static const int CLIBAV_LOG_ERROR = AV_LOG_ERROR;
static const int CLIBAV_LOG_QUIET = AV_LOG_QUIET;

// Whether a decoded frame is interlaced, and whether it is a key frame: since FFmpeg 6.1 in the frame's flags, and since 8.0
// nowhere else.
static inline int clibav_is_interlaced(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame->interlaced_frame;
#endif
}

static inline int clibav_is_key(const AVFrame *frame) {
#ifdef AV_FRAME_FLAG_KEY
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame;
#endif
}

// The display matrix that a container gives for a stream, or null. FFmpeg 6.1 has moved it to the codec parameters.
static inline const uint8_t *clibav_display_matrix(const AVStream *stream, size_t *size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    *size = data ? data->size : 0;
    return data ? data->data : NULL;
#else
    return av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size);
#endif
}

// The version of the loaded libraries, for `tandem --version` and problem reports.
static inline const char *clibav_version(void) { return av_version_info(); }

// By default, glibc gives every thread its own heap. Frames are freed by other threads than those that allocated them,
// so memory would pile up in heaps from which nothing is allocated.
static inline void clibav_limit_heaps(int heaps) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, heaps);
    // A fixed value; otherwise glibc raises it with the first freed frame, and keeps later frames in heaps that only
    // grow.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    // The memory that codecs allocate and free for each frame lies at the ends of the heaps. If it were returned at
    // once, it would have to be obtained again page by page. See clibav_trim_heaps.
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
#else
    (void)heaps;
#endif
}

// Returns whole pages of freed memory to the system, wherever they are in the heaps (malloc_trim(3)). The C library
// itself returns only memory at the ends of the heaps.
static inline void clibav_trim_heaps(void) {
#ifdef __GLIBC__
    malloc_trim(256 << 10);
#endif
}

// Raises the soft limit of open files, which is low for programs that use select(2); a room does not. Returns the limit
// now in force, or -1.
static inline long clibav_raise_open_files(long most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    rlim_t wanted = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < (rlim_t)most ? limit.rlim_max : (rlim_t)most;
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted) {
        rlim_t old = limit.rlim_cur;
        limit.rlim_cur = wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = old;
    }
    return limit.rlim_cur > (rlim_t)LONG_MAX ? LONG_MAX : (long)limit.rlim_cur;
}

// Whether the kernel regards the machine's clock as synchronized: 1 or 0; -1 if it does not say.
static inline int clibav_is_clock_synchronized(void) {
#ifdef __linux__
    struct timex state = { .modes = 0 };
    int status = adjtimex(&state);
    return status < 0 ? -1 : status != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
#else
    return -1;
#endif
}

// Prevents core files if the process is killed by a signal. The hard limit stays, so that prlimit(1) can enable them
// later.
static inline int clibav_disable_core_dumps(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return -1;
    limit.rlim_cur = 0;
    return setrlimit(RLIMIT_CORE, &limit);
}

#ifdef __linux__
// The beginning of `struct dl_phdr_info`, dl_iterate_phdr(3), which the C library declares only for GNU programs.
typedef struct {
    ElfW(Addr) dlpi_addr;
    const char *dlpi_name;
    const ElfW(Phdr) *dlpi_phdr;
    ElfW(Half) dlpi_phnum;
} clibav_loaded_file;

// Releases the unmodified pages of one loaded file; they are read from the file again when they are accessed.
static inline int clibav_let_go_of_file(clibav_loaded_file *file, size_t size, void *context) {
    (void)size;
    (void)context;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (int i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[i];
        // A file whose code was relocated has modified pages in its code.
        if (part->p_type == PT_DYNAMIC) {
            const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(file->dlpi_addr + part->p_vaddr);
            for (; entry->d_tag != DT_NULL; entry++)
                if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL))) return 0;
        }
    }
    for (int i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
        uintptr_t begin = ((uintptr_t)file->dlpi_addr + part->p_vaddr) & ~page;
        uintptr_t end = ((uintptr_t)file->dlpi_addr + part->p_vaddr + part->p_memsz) & ~page;
        if (end > begin) (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}
#endif

// Releases the pages of the program and its libraries that only loading and starting needed. Nothing is lost: they are
// in the kernel's page cache, and are mapped again, 16 at a time, when they are accessed.
static inline void clibav_let_go_of_files(void) {
#ifdef __linux__
    typedef int (*visitor)(clibav_loaded_file *, size_t, void *);
    int (*visit)(visitor, void *) = (int (*)(visitor, void *))dlsym(RTLD_DEFAULT, "dl_iterate_phdr");
    if (visit) visit(clibav_let_go_of_file, NULL);
#endif
}

// Number of bytes of a stream after the last complete frame, which libavformat's parser has collected.
static inline int64_t clibav_open_bytes(const AVStream *stream) {
    const AVCodecParserContext *parser = av_stream_get_parser(stream);
    return parser ? parser->cur_offset - parser->next_frame_offset : 0;
}

// Turns off libsrt's own messages on standard error, which report faults of peers with their stream ids. libsrt is
// loaded by libavformat and has no header here.
static inline void clibav_quiet_srt(void) {
    void (*set_level)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "srt_setloglevel");
    if (set_level) set_level(0);
}

// Requests that the calling thread may run for this long before other threads of its class get their turn
// (sched_setattr(2), `sched_runtime` of SCHED_OTHER, Linux 6.12). Nothing else about the thread changes; older kernels
// ignore it.
static inline void clibav_request_slice(int milliseconds) {
#if defined(__linux__) && defined(SYS_sched_setattr) && defined(SYS_sched_getattr)
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    memset(&attributes, 0, sizeof attributes);
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0)) return;
    attributes.size = sizeof attributes;
    attributes.runtime = (uint64_t)milliseconds * 1000000;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#else
    (void)milliseconds;
#endif
}

// splice(2) without offsets, with SPLICE_F_MOVE and SPLICE_F_NONBLOCK. fcntl.h has it only with _GNU_SOURCE, without which
// Swift imports the C library.
static inline long clibav_splice(int source, int target, long size) {
#ifdef __linux__
    return syscall(SYS_splice, source, NULL, target, NULL, (size_t)size, 1 | 2);
#else
    (void)source, (void)target, (void)size;
    errno = ENOSYS;
    return -1;
#endif
}

// Sets the capacity of a pipe and returns it: fcntl(2), F_SETPIPE_SZ.
static inline int clibav_resize_pipe(int pipe, int size) {
#ifdef __linux__
    return fcntl(pipe, 1031, size);
#else
    (void)pipe, (void)size;
    return -1;
#endif
}

// Allocates the buffer of a frame. libavcodec keeps memory for as many frames as were ever in use at once, in a pool
// that exists until the frame size changes. So if a renewal was requested, the next frame is allocated slightly higher
// and the one after it is not: each change creates a new pool. Unused memory is returned to the system at once, the
// rest when it is not referenced any more.
static inline int clibav_get_picture(AVCodecContext *context, AVFrame *frame, int flags) {
    if (!context->opaque || context->codec_type != AVMEDIA_TYPE_VIDEO)
        return avcodec_default_get_buffer2(context, frame, flags);
    context->opaque = NULL;
    frame->height += 16;
    const int status = avcodec_default_get_buffer2(context, frame, flags);
    frame->height -= 16;
    return status;
}

// Enables renewing a decoder's frame memory. Call it before the decoder is opened; `opaque` must not be used otherwise.
static inline void clibav_watch_pictures(AVCodecContext *context) { context->get_buffer2 = clibav_get_picture; }

// Renews the frame memory with the next frame. Call it on the decoder's thread.
static inline void clibav_renew_pictures(AVCodecContext *context) { context->opaque = context; }

// The highest signal number that a fault raises.
static const int CLIBAV_LAST_FAULT = 31;

// Makes `handler` be called on the faulting thread; `before` must have space for every number up to CLIBAV_LAST_FAULT.
static inline void clibav_catch_faults(void (*handler)(int), struct sigaction *before) {
    const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        action.sa_flags = SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(faults[i], &action, &before[faults[i]]);
    }
}

// Restores the previous action of a signal, or the default action if `before` is null.
static inline void clibav_restore_fault(int number, const struct sigaction *before) {
    if (before && number > 0 && number <= CLIBAV_LAST_FAULT) sigaction(number, &before[number], NULL);
    else signal(number, SIG_DFL);
}

// Makes signal handlers on this thread use `memory` as their stack, or the thread's own stack if it is null.
static inline void clibav_use_fault_stack(void *memory, size_t size) {
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = memory;
    stack.ss_size = size;
    stack.ss_flags = memory ? 0 : SS_DISABLE;
    sigaltstack(&stack, NULL);
}

#endif
