// Simulates thousands of viewers of one listener on one thread: blocking players, slow readers and a flood of segment requests.
// One process with one epoll. Prints one line of JSON, including its own CPU time. HTTP/1.1, IPv4, no TLS.
//
//   viewers PORT PLAYLIST blocked=N slow=N flood=N connections=N seconds=S
// blocked: players of PLAYLIST (such as 180p.m3u8) that repeatedly request the next part and wait. A part's time is when the first
//          player has it; the delays of the others are relative to it. The regularity of the first ones (phaseMaxMs, relative to the
//          earliest one) mostly depends on the encoder.
// slow:    connections that request a segment and read one byte per second.
// flood:   segment requests per second over `connections` connections, evenly spaced.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum kind { BLOCKED, SLOW, FLOOD, LOOK };

struct viewer {
    enum kind kind;
    int fd;
    char head[4096];
    int filled;       // bytes of the response header so far
    long left;        // remaining bytes of the body; -1: the header is not complete
    int busy;         // a request is in progress
    int asks;         // which part it waits for, counted from the start
    double sent;
    int status;
    int closed;
};

static struct sockaddr_in server;
static const char *playlist;
static struct viewer *viewers;
static int count, epoll;
static int msn, part;               // the part that the blocked players request next
static char segments[16][128];
static int segment_count;
static char text[1 << 20];          // the latest playlist
static int text_filled;
static double round_start;          // when the first player got the current part
static int round_number;
static float *delays, *floods;
static long delay_count, flood_count, flood_errors, slow_closed, rounds, refused, behind;
static double starts[4096];
#define MOST 4000000

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void ask(struct viewer *v, const char *path) {
    char request[512];
    int n = snprintf(request, sizeof request, "GET /%s HTTP/1.1\r\nHost: load\r\n\r\n", path);
    if (send(v->fd, request, n, MSG_NOSIGNAL) != n) v->closed = 1;
    v->filled = 0, v->left = -1, v->busy = 1, v->sent = now();
}

static void open_connection(struct viewer *v) {
    v->fd = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1, small = 4096;
    setsockopt(v->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (v->kind == SLOW) setsockopt(v->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (connect(v->fd, (struct sockaddr *)&server, sizeof server) != 0) { perror("connect"); exit(1); }
    fcntl(v->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = v->kind == SLOW ? EPOLLRDHUP : EPOLLIN, .data.ptr = v};
    epoll_ctl(epoll, EPOLL_CTL_ADD, v->fd, &event);
}

static void ask_next(struct viewer *v) {
    char path[256];
    snprintf(path, sizeof path, "%s?_HLS_msn=%d&_HLS_part=%d", playlist, msn, part);
    v->asks = round_number;
    ask(v, path);
}

// The next part, from the playlist's preload hint.
static void learn(void) {
    text[text_filled] = 0;
    char *hint = strstr(text, "PRELOAD-HINT:TYPE=PART,URI=\"");
    if (!hint) return;
    char *dash = NULL;
    char *end = strchr(hint + 28, '"');
    if (!end) return;
    for (char *c = hint + 28; c < end; c++) if (*c == '-') dash = c;
    if (dash) sscanf(dash + 1, "%d.%d", &msn, &part);
    segment_count = 0;
    for (char *line = text; line && segment_count < 16; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *stop = strchr(line, '\n');
        if (!stop || *line == '#' || stop == line || stop - line > 127) continue;
        // The newest complete segments, which players request.
        if (segment_count == 8) { memmove(segments, segments + 1, 7 * 128); segment_count = 7; }
        snprintf(segments[segment_count++], 128, "%.*s", (int)(stop - line), line);
    }
}

static void complete(struct viewer *v) {
    double t = now();
    v->busy = 0;
    if (v->kind == LOOK) { learn(); return; }
    if (v->kind == FLOOD) {
        if (v->status != 200) flood_errors++;
        else if (flood_count < MOST) floods[flood_count++] = t - v->sent;
        return;
    }
    if (v->status != 200) refused++;
    else if (v->asks == round_number) {
        // The first of its round: its response determines the next part for the others.
        learn();
        if (rounds < 4096) starts[rounds] = t;
        round_number++, rounds++, round_start = t;
        delays[delay_count++ % MOST] = 0;
    } else if (v->asks == round_number - 1) {
        delays[delay_count++ % MOST] = t - round_start;
    } else behind++;
    ask_next(v);
}

static void readable(struct viewer *v) {
    static char waste[1 << 20];
    for (;;) {
        if (v->left < 0) {
            int n = recv(v->fd, v->head + v->filled, sizeof v->head - 1 - v->filled, 0);
            if (n <= 0) { if (n == 0 || errno != EAGAIN) v->closed = 1; return; }
            v->filled += n, v->head[v->filled] = 0;
            char *end = strstr(v->head, "\r\n\r\n");
            if (!end) continue;
            v->status = atoi(v->head + 9);
            char *length = strcasestr(v->head, "\r\ncontent-length:");
            long size = length ? atol(length + 17) : 0;
            int have = v->head + v->filled - (end + 4);
            int keeps = v->kind == LOOK || (v->kind == BLOCKED && v->asks == round_number);
            if (keeps) { memcpy(text, end + 4, have); text_filled = have; }
            v->left = size - have;
        } else {
            int keeps = v->kind == LOOK || (v->kind == BLOCKED && v->asks == round_number);
            long most = v->left < (long)sizeof waste ? v->left : (long)sizeof waste;
            // MSG_TRUNC discards the bytes in the kernel, which makes the client cheap.
            int n = keeps && text_filled + most < (long)sizeof text
                ? recv(v->fd, text + text_filled, most, 0) : recv(v->fd, waste, most, MSG_TRUNC);
            if (n <= 0) { if (n == 0 || errno != EAGAIN) v->closed = 1; return; }
            if (keeps) text_filled += n;
            v->left -= n;
        }
        if (v->left == 0) { complete(v); return; }
    }
}

static int option(int argc, char **argv, const char *name, int otherwise) {
    size_t n = strlen(name);
    for (int i = 3; i < argc; i++) if (!strncmp(argv[i], name, n) && argv[i][n] == '=') return atoi(argv[i] + n + 1);
    return otherwise;
}

int main(int argc, char **argv) {
    if (argc < 3) { fprintf(stderr, "viewers PORT PLAYLIST blocked=N slow=N flood=N connections=N seconds=S\n"); return 64; }
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(0x7f000001)};
    playlist = argv[2];
    int blocked = option(argc, argv, "blocked", 0), slow = option(argc, argv, "slow", 0);
    int flood = option(argc, argv, "flood", 0), lanes = flood ? option(argc, argv, "connections", 100) : 0;
    int seconds = option(argc, argv, "seconds", 10);
    struct rlimit files = {65536, 65536};
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
        getrlimit(RLIMIT_NOFILE, &files), files.rlim_cur = files.rlim_max, setrlimit(RLIMIT_NOFILE, &files);
    }
    epoll = epoll_create1(0);
    count = 1 + blocked + slow + lanes;
    viewers = calloc(count, sizeof *viewers);
    delays = malloc(MOST * sizeof *delays), floods = malloc(MOST * sizeof *floods);
    viewers[0].kind = LOOK;
    for (int i = 0; i < count; i++) {
        struct viewer *v = &viewers[i];
        v->kind = i == 0 ? LOOK : i <= blocked ? BLOCKED : i <= blocked + slow ? SLOW : FLOOD;
        open_connection(v);
    }
    ask(&viewers[0], playlist);
    while (viewers[0].busy && !viewers[0].closed) readable(&viewers[0]);
    if (segment_count == 0) { fprintf(stderr, "no segments in %s\n", playlist); return 1; }
    for (int i = 1; i <= blocked; i++) ask_next(&viewers[i]);
    for (int i = blocked + 1; i <= blocked + slow; i++) ask(&viewers[i], segments[i % segment_count]);
    double start = now(), end = start + seconds, next_slow = start + 1, next_look = start + 1;
    long asked = 0, skipped = 0;
    int lane = 0;
    struct epoll_event events[512];
    while (now() < end) {
        int n = epoll_wait(epoll, events, 512, flood ? 1 : 20);
        for (int i = 0; i < n; i++) {
            struct viewer *v = events[i].data.ptr;
            if (v->closed) continue;
            if (v->kind == SLOW) v->closed = 1, slow_closed++; else readable(v);
            if (v->closed) { if (v->kind == BLOCKED || v->kind == FLOOD) refused++; epoll_ctl(epoll, EPOLL_CTL_DEL, v->fd, NULL); close(v->fd); }
        }
        double t = now();
        for (long due = (t - start) * flood; flood && asked < due; asked++) {
            int tries = 0;
            struct viewer *v;
            do { v = &viewers[1 + blocked + slow + lane], lane = (lane + 1) % lanes; } while ((v->busy || v->closed) && ++tries < lanes);
            if (v->busy || v->closed) { skipped++; continue; }
            ask(v, segments[asked % segment_count]);
        }
        if (t >= next_slow) {
            next_slow = t + 1;
            char byte;
            for (int i = blocked + 1; i <= blocked + slow; i++) if (!viewers[i].closed) recv(viewers[i].fd, &byte, 1, 0);
        }
        if (t >= next_look && flood && !blocked && !viewers[0].busy) next_look = t + 1, ask(&viewers[0], playlist);
    }
    qsort(floods, flood_count, sizeof *floods, by_value);
    long kept = delay_count < MOST ? delay_count : MOST;
    qsort(delays, kept, sizeof *delays, by_value);
    // The earliest part and the mean period define the expected times.
    long known = rounds < 4096 ? rounds : 4096;
    double period = known > 1 ? (starts[known - 1] - starts[0]) / (known - 1) : 0, early = 0, phase = 0;
    for (long i = 0; i < known; i++) { double off = starts[i] - starts[0] - i * period; if (off < early) early = off; }
    for (long i = 0; i < known; i++) { double off = starts[i] - starts[0] - i * period - early; if (off > phase) phase = off; }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    int open = 0;
    for (int i = 0; i < count; i++) open += !viewers[i].closed;
#define AT(list, n, f) ((n) ? 1000 * (list)[(long)((n) * (f)) < (n) ? (long)((n) * (f)) : (n) - 1] : 0)
    printf("{\"parts\":%ld,\"replies\":%ld,\"behind\":%ld,\"refused\":%ld,\"p50Ms\":%.1f,\"p99Ms\":%.1f,\"maxMs\":%.1f,\"phaseMaxMs\":%.1f,"
           "\"flood\":%ld,\"skipped\":%ld,\"floodErrors\":%ld,\"floodP50Ms\":%.1f,\"floodP99Ms\":%.1f,\"floodMaxMs\":%.1f,"
           "\"slowClosed\":%ld,\"open\":%d,\"clientCPU\":%.2f}\n",
           rounds, delay_count, behind, refused, AT(delays, kept, .5), AT(delays, kept, .99), AT(delays, kept, 1), 1000 * phase, flood_count,
           skipped, flood_errors, AT(floods, flood_count, .5), AT(floods, flood_count, .99), AT(floods, flood_count, 1),
           slow_closed, open, cpu);
    return 0;
}
