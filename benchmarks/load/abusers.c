// Simulates abusive RTMP clients on one thread: they hold connections, send handshakes byte by byte, send garbage, begin messages that
// never end, and try hundreds of stream keys. Prints one line of JSON. IPv4.
//
//   abusers PORT addresses=N clients=N keys=N seconds=S
// addresses: number of loopback addresses to connect from; 1: all from 127.0.0.1, as all other programs on this machine.
// clients:   number of held connections, a quarter each: slow handshakes, half-open, garbage, unfinished messages. A closed one
//            reconnects.
// keys:      wrong keys per second, each on its own connection.
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

enum kind { SLOW, IDLE, GARBAGE, PARTIALS, KEY };

struct client {
    enum kind kind;
    int fd;
    int sent;       // bytes of its data that are sent
    double next;    // time of its next step
    double since;
};

#define MOST 4096
static struct client clients[MOST];
static int port, addresses = 50, epoll, turn;
static long attempts, answered, opened, closed, failed;
static unsigned char key_text[8192], partial_text[61440], random_text[4096];
static int key_length, partial_length;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned char *chunk(unsigned char *to, int stream, int type, int length) {
    const unsigned char head[] = {3, 0, 0, 0, length >> 16, length >> 8, length, type, stream, 0, 0, 0};
    memcpy(to, head, sizeof head);
    return to + sizeof head;
}

static unsigned char *text(unsigned char *to, const char *value, int marked) {
    int length = strlen(value);
    if (marked) *to++ = 2;
    *to++ = length >> 8;
    *to++ = length;
    memcpy(to, value, length);
    return to + length;
}

static unsigned char *number(unsigned char *to, int transaction) {
    const unsigned char one[] = {0, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0}, two[] = {0, 0x40, 0, 0, 0, 0, 0, 0, 0};
    memcpy(to, transaction == 1 ? one : two, 9);
    return to + 9;
}

// C0, C1, C2 and `connect` at once; a message of at most 128 bytes is one chunk.
static unsigned char *hello(unsigned char *to) {
    *to++ = 3;
    memset(to, 0, 3072);
    to += 3072;
    unsigned char *head = to, *body = to += 12;
    to = number(text(to, "connect", 1), 1);
    *to++ = 3;
    to = text(text(to, "app", 0), "live", 1);
    to = text(text(to, "tcUrl", 0), "rtmp://x/live", 1);
    memcpy(to, "\0\0\11", 3);
    to += 3;
    chunk(head, 0, 20, to - body);
    return to;
}

static void prepare(void) {
    unsigned char *to = hello(key_text);
    unsigned char *head = to, *body = to += 12;
    to = number(text(to, "createStream", 1), 2);
    *to++ = 5;
    chunk(head, 0, 20, to - body);
    head = to, body = to += 12;
    to = number(text(to, "publish", 1), 2);
    *to++ = 5;
    to = text(text(to, "a_wrong_key", 1), "live", 1);
    chunk(head, 1, 20, to - body);
    key_length = to - key_text;
    // Eight video messages of 8 MiB that begin and do not end, on eight chunk streams.
    to = hello(partial_text);
    for (int stream = 4; stream < 12; stream++) {
        to = chunk(to, 1, 9, 8 << 20);
        to[-12] = stream;
        memset(to, 0x17, 128);
        to += 128;
    }
    for (int stream = 4; to + 129 < partial_text + sizeof partial_text; stream = stream == 11 ? 4 : stream + 1) {
        *to++ = 0xC0 | stream;
        memset(to, 0, 128);
        to += 128;
    }
    partial_length = to - partial_text;
    for (size_t i = 0; i < sizeof random_text; i++) random_text[i] = random();
}

static void begin(struct client *client, double time) {
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->fd < 0) { failed++; client->next = time + 0.1; return; }
    struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET, .sin_port = htons(port)};
    from.sin_addr.s_addr = htonl(addresses == 1 ? 0x7F000001 : 0x7F000101 + turn++ % addresses);
    to.sin_addr.s_addr = htonl(0x7F000001);
    int one = 1;
    setsockopt(client->fd, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &one, sizeof one);
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(client->fd, (struct sockaddr *)&from, sizeof from) != 0
        || (connect(client->fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)) {
        close(client->fd);
        client->fd = -1;
        failed++;
        client->next = time + 0.1;
        return;
    }
    opened++;
    client->sent = 0;
    client->since = time;
    client->next = time + 0.002;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = client};
    epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
}

static void end(struct client *client, double time) {
    if (client->fd < 0) return;
    close(client->fd);
    client->fd = -1;
    client->next = client->kind == KEY ? 1e18 : time + 0.05;
    closed++;
}

static void say(struct client *client, const unsigned char *bytes, int length, int most) {
    if (client->sent >= length) return;
    int count = length - client->sent < most ? length - client->sent : most;
    ssize_t sent = send(client->fd, bytes + client->sent, count, MSG_NOSIGNAL);
    if (sent > 0) client->sent += sent;
}

static void step(struct client *client, double time) {
    if (client->fd < 0) { begin(client, time); return; }
    client->next = time + 0.1;
    switch (client->kind) {
    case SLOW: say(client, key_text, key_length, 1); break;
    case IDLE: break;
    case GARBAGE:
        random_text[0] = client->since * 1000 / 2 - (long)(client->since * 1000 / 2) < 0.5 ? 3 : random();
        say(client, random_text, sizeof random_text, sizeof random_text);
        break;
    case PARTIALS: say(client, partial_text, partial_length, partial_length); break;
    case KEY:
        say(client, key_text, key_length, key_length);
        if (time - client->since > 3) end(client, time);
        break;
    }
}

static long value(int count, char **arguments, const char *name, long otherwise) {
    for (int i = 2; i < count; i++)
        if (strncmp(arguments[i], name, strlen(name)) == 0 && arguments[i][strlen(name)] == '=')
            return atol(arguments[i] + strlen(name) + 1);
    return otherwise;
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    port = atoi(arguments[1]);
    addresses = value(count, arguments, "addresses", 50);
    int held = value(count, arguments, "clients", 160);
    double rate = value(count, arguments, "keys", 500), seconds = value(count, arguments, "seconds", 10);
    struct rlimit files = {MOST + 100, MOST + 100};
    setrlimit(RLIMIT_NOFILE, &files);
    prepare();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    double start = now();
    for (int i = 0; i < MOST; i++) {
        clients[i].fd = -1;
        clients[i].kind = i < held ? i % 4 : KEY;
        clients[i].next = i < held ? start : 1e18;
    }
    while (now() - start < seconds) {
        double time = now();
        for (; attempts < (time - start) * rate; attempts++)
            for (int i = held; i < MOST; i++)
                if (clients[i].fd < 0) { begin(&clients[i], time); break; }
        for (int i = 0; i < MOST; i++)
            if (clients[i].next <= time) step(&clients[i], time);
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 2);
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            char bytes[16384];
            ssize_t got = 0;
            long all = 0;
            while ((got = recv(client->fd, bytes, sizeof bytes, 0)) > 0) all += got;
            // More bytes than the handshake and the responses to `connect` and `createStream`: a status.
            if (client->kind == KEY && all > 0 && got == 0) answered++;
            if (got == 0 || (got < 0 && errno != EAGAIN)) end(client, now());
        }
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"attempts\":%ld,\"answered\":%ld,\"opened\":%ld,\"closed\":%ld,\"failed\":%ld,\"cpu\":%.2f}\n", attempts, answered,
        opened, closed, failed, usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    return 0;
}
