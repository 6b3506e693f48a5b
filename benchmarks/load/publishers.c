// Simulates hundreds of normal RTMP publishers on one thread: each sends the same FLV file in real time in a loop, as an encoder would.
// Prints one line of JSON. IPv4. `windowLimitedMs` is the longest time that a publisher had to wait because of a full receive window
// (tcpi_rwnd_limited of Linux) after all were on air.
//
//   publishers PORT FILE.flv KEYPREFIX publishers=N addresses=N seconds=S
// publishers: number of publishers; number n, from 0, publishes live/KEYPREFIXn.
// addresses:  number of loopback addresses to connect from.
// seconds:    duration after all are on air.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 4096
#define MOST 1024

// A tag as chunks: the first header, whose timestamp is updated in each round, and the rest.
struct tag {
    uint32_t time;
    unsigned char head[12];
    unsigned char *rest;
    int length;
    int is_header;  // a sequence header: sent in the first round only
};

struct publisher {
    int fd;
    int state;  // 0: connecting, 1: handshake, 2: asked to publish, 3: on air, 4: gone
    int got;
    unsigned char s1[1536];
    char said[4096];
    int heard;
    double start;  // when timestamp 0 of its first round is due
    int next;
    uint32_t base;
    unsigned char *unsent;
    int unsent_length, unsent_room;
    double late;
    unsigned long long limited;  // microseconds
};

static struct tag *tags;
static int tag_count;
static uint32_t duration;
static struct publisher publishers[MOST];
static int port, count = 100, addresses = 20, epoll;
static long long sent;
static const char *prefix;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    if (size < 13 || fread(bytes, 1, size, file) != (size_t)size) fail("an FLV file");
    fclose(file);
    int room = 0;
    uint32_t last = 0, step = 0;
    for (long at = 13; at + 15 <= size;) {
        const unsigned char *t = bytes + at;
        int type = t[0] & 31, length = t[1] << 16 | t[2] << 8 | t[3];
        uint32_t time = (uint32_t)t[7] << 24 | t[4] << 16 | t[5] << 8 | t[6];
        if (at + 11 + length + 4 > size) break;
        at += 11 + length + 4;
        if ((type != 8 && type != 9) || length < 2) continue;
        if (tag_count == room) {
            room = room ? room * 2 : 256;
            tags = realloc(tags, room * sizeof *tags);
        }
        struct tag *tag = &tags[tag_count++];
        int chunks = (length + CHUNK - 1) / CHUNK;
        tag->time = time;
        tag->is_header = t[12] == 0 && (type == 9 ? (t[11] & 15) == 7 : t[11] >> 4 == 10);
        tag->length = length + chunks - 1;
        tag->rest = malloc(tag->length);
        int stream = type == 9 ? 6 : 4;
        const unsigned char head[] = {stream, 0, 0, 0, length >> 16, length >> 8, length, type, 1, 0, 0, 0};
        memcpy(tag->head, head, sizeof head);
        unsigned char *to = tag->rest;
        for (int from = 0; from < length; from += CHUNK) {
            int piece = length - from < CHUNK ? length - from : CHUNK;
            if (from) *to++ = 0xC0 | stream;
            memcpy(to, t + 11 + from, piece);
            to += piece;
        }
        if (type == 9 && time > last) step = time - last, last = time;
        if (time > duration) duration = time;
    }
    if (!tag_count) fail("no audio or video in it");
    duration += step ? step : 33;
    free(bytes);
}

static void keep(struct publisher *p, const void *bytes, int length) {
    if (p->unsent_length + length > p->unsent_room) {
        p->unsent_room = (p->unsent_length + length) * 2;
        p->unsent = realloc(p->unsent, p->unsent_room);
    }
    memcpy(p->unsent + p->unsent_length, bytes, length);
    p->unsent_length += length;
}

static void gone(struct publisher *p) {
    if (p->fd >= 0) close(p->fd);
    p->fd = -1;
    p->state = 4;
}

static void give(struct publisher *p, struct iovec *parts, int n) {
    if (!p->unsent_length) {
        ssize_t written = writev(p->fd, parts, n);
        if (written < 0) {
            if (errno != EAGAIN) return gone(p);
            written = 0;
        }
        sent += written;
        for (int i = 0; i < n; i++) {
            ssize_t skip = written < (ssize_t)parts[i].iov_len ? written : (ssize_t)parts[i].iov_len;
            written -= skip;
            if (skip < (ssize_t)parts[i].iov_len)
                keep(p, (char *)parts[i].iov_base + skip, parts[i].iov_len - skip);
        }
    } else {
        for (int i = 0; i < n; i++) keep(p, parts[i].iov_base, parts[i].iov_len);
    }
}

static void flush(struct publisher *p) {
    if (!p->unsent_length) return;
    ssize_t written = write(p->fd, p->unsent, p->unsent_length);
    if (written < 0) {
        if (errno != EAGAIN) gone(p);
        return;
    }
    sent += written;
    p->unsent_length -= written;
    memmove(p->unsent, p->unsent + written, p->unsent_length);
}

static unsigned char *text(unsigned char *to, const char *value, int marked) {
    int length = strlen(value);
    if (marked) *to++ = 2;
    *to++ = length >> 8;
    *to++ = length;
    memcpy(to, value, length);
    return to + length;
}

static unsigned char *number(unsigned char *to, int value) {
    const unsigned char high[] = {0, 0x3F, 0x40, 0x40, 0x40, 0x40}, low[] = {0, 0xF0, 0, 8, 0x10, 0x14};
    memset(to, 0, 9);
    to[1] = high[value];
    to[2] = low[value];
    return to + 9;
}

static unsigned char *begin(unsigned char *at, int chunk_stream, int type, int stream) {
    memset(at, 0, 12);
    at[0] = chunk_stream;
    at[7] = type;
    at[8] = stream;
    return at + 12;
}

static unsigned char *end(unsigned char *head, unsigned char *at) {
    int length = at - head - 12;
    head[4] = length >> 16;
    head[5] = length >> 8;
    head[6] = length;
    return at;
}

// Chunk size, `connect`, `createStream` and `publish`, without waiting for responses.
static void ask(struct publisher *p, int index) {
    unsigned char bytes[1024], *head = bytes, *at = begin(head, 2, 1, 0);
    const unsigned char size[] = {0, 0, CHUNK >> 8, CHUNK & 255};
    memcpy(at, size, 4);
    head = at = end(head, at + 4);
    at = begin(head, 3, 20, 0);
    at = number(text(at, "connect", 1), 1);
    *at++ = 3;
    at = text(text(at, "app", 0), "live", 1);
    at = text(text(at, "type", 0), "nonprivate", 1);
    at = text(text(at, "tcUrl", 0), "rtmp://127.0.0.1/live", 1);
    memcpy(at, "\0\0\11", 3);
    head = at = end(head, at + 3);
    at = begin(head, 3, 20, 0);
    at = number(text(at, "createStream", 1), 2);
    *at++ = 5;
    head = at = end(head, at);
    char key[128];
    snprintf(key, sizeof key, "%s%d", prefix, index);
    at = begin(head, 4, 20, 1);
    at = number(text(at, "publish", 1), 3);
    *at++ = 5;
    at = text(text(at, key, 1), "live", 1);
    at = end(head, at);
    struct iovec parts[] = {{p->s1, sizeof p->s1}, {bytes, at - bytes}};
    p->state = 2;
    give(p, parts, 2);
}

static void open_one(int index) {
    struct publisher *p = &publishers[index];
    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (p->fd < 0) fail("socket");
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7F000101 + index % addresses)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(p->fd, (struct sockaddr *)&from, sizeof from)) fail("bind");
    if (connect(p->fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS) fail("connect");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = index};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, p->fd, &event)) fail("epoll");
}

static void hello(struct publisher *p) {
    static unsigned char bytes[1537] = {3};
    struct iovec part = {bytes, sizeof bytes};
    p->state = 1;
    give(p, &part, 1);
}

static void hear(struct publisher *p, int index) {
    unsigned char bytes[65536];
    for (;;) {
        ssize_t got = p->fd < 0 ? -1 : read(p->fd, bytes, sizeof bytes);
        if (got == 0 || (got < 0 && p->fd >= 0 && errno != EAGAIN)) return gone(p);
        if (got < 0) return;
        for (ssize_t i = 0; i < got; i++, p->got++) {
            if (p->got >= 1 && p->got < 1537) p->s1[p->got - 1] = bytes[i];
            if (p->got >= 3073 && p->heard < (int)sizeof p->said) p->said[p->heard++] = bytes[i];
        }
        if (p->state == 1 && p->got >= 3073) ask(p, index);
        if (p->state == 2 && memmem(p->said, p->heard, "NetStream.Publish.Start", 23)) {
            p->state = 3;
            p->start = now() + 0.02 * (index % 100);
        }
    }
}

// Sends all data of `p` that is due.
static void pace(struct publisher *p, double time) {
    while (p->state == 3) {
        struct tag *tag = &tags[p->next];
        uint32_t stamp = p->base + tag->time;
        double due = p->start + stamp / 1e3;
        if (due > time) return;
        if (time - due > p->late) p->late = time - due;
        if (!tag->is_header || !p->base) {
            unsigned char head[12];
            memcpy(head, tag->head, sizeof head);
            head[1] = stamp >> 16;
            head[2] = stamp >> 8;
            head[3] = stamp;
            struct iovec parts[] = {{head, sizeof head}, {tag->rest, tag->length}};
            give(p, parts, 2);
        }
        if (++p->next == tag_count) p->next = 0, p->base += duration;
    }
}

// Total time that `p` has waited for the receive window, in microseconds.
static unsigned long long limited(struct publisher *p) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    if (p->fd < 0 || getsockopt(p->fd, IPPROTO_TCP, TCP_INFO, &info, &size)) return 0;
    return info.tcpi_rwnd_limited;
}

int main(int argc, char **argv) {
    double seconds = 10;
    if (argc < 4) {
        fprintf(stderr, "publishers PORT FILE.flv KEYPREFIX publishers=N addresses=N seconds=S\n");
        return 64;
    }
    port = atoi(argv[1]);
    prefix = argv[3];
    for (int i = 4; i < argc; i++) {
        sscanf(argv[i], "publishers=%d", &count);
        sscanf(argv[i], "addresses=%d", &addresses);
        sscanf(argv[i], "seconds=%lf", &seconds);
    }
    if (count < 1 || count > MOST || addresses < 1 || addresses > 250) return 64;
    struct rlimit files = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &files);
    load(argv[2]);
    epoll = epoll_create1(0);
    for (int i = 0; i < count; i++) open_one(i);
    double begun = now(), all = 0;
    long long before = 0;
    int told = 0;
    for (;;) {
        struct epoll_event events[64];
        int n = epoll_wait(epoll, events, 64, 4);
        for (int i = 0; i < n; i++) {
            struct publisher *p = &publishers[events[i].data.u32];
            if (p->state == 0 && events[i].events & EPOLLOUT) hello(p);
            if (p->state != 4 && events[i].events & EPOLLOUT) flush(p);
            if (p->state != 4 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) hear(p, events[i].data.u32);
        }
        double time = now();
        int live = 0;
        for (int i = 0; i < count; i++) {
            live += publishers[i].state == 3;
            pace(&publishers[i], time);
        }
        if (!told && live == count) {
            told = 1;
            all = time;
            before = sent;
            for (int i = 0; i < count; i++) publishers[i].limited = limited(&publishers[i]);
            printf("{\"onAir\":%d,\"afterSeconds\":%.2f}\n", live, time - begun);
            fflush(stdout);
        }
        if (told ? time - all >= seconds : time - begun >= 20) {
            double late = 0;
            unsigned long long longest = 0;
            for (int i = 0; i < count; i++) {
                unsigned long long waited = limited(&publishers[i]) - publishers[i].limited;
                late = publishers[i].late > late ? publishers[i].late : late;
                longest = publishers[i].state == 3 && waited > longest ? waited : longest;
            }
            struct rusage usage;
            getrusage(RUSAGE_SELF, &usage);
            double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
                + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
            printf(
                "{\"onAir\":%d,\"megabitPerSecond\":%.1f,\"latestMs\":%.0f,\"windowLimitedMs\":%.1f,\"cpuSeconds\":%.2f}\n",
                live, told ? (sent - before) * 8 / 1e6 / (time - all) : 0, late * 1e3, longest / 1e3, cpu);
            return live == count ? 0 : 1;
        }
    }
}
