// copies: a preloaded library that counts the bytes that a program moves with memcpy and memmove, and writes the number to COPIES_FILE
// when the program ends. Copies of less than 64 bytes are values, not media, and do not count.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong moved;

// Simple loops: the real functions cannot be looked up before libc is ready, and speed does not matter here.
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memmove(void *to, const void *from, size_t count) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (count >= 64) atomic_fetch_add_explicit(&moved, count, memory_order_relaxed);
    if (t <= f || t >= f + count) {
        for (size_t i = 0; i < count; i++) t[i] = f[i];
    } else {
        for (size_t i = count; i > 0; i--) t[i - 1] = f[i - 1];
    }
    return to;
}

__attribute__((optimize("no-tree-loop-distribute-patterns"))) void *memcpy(
    void *restrict to, const void *restrict from, size_t count) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (count >= 64) atomic_fetch_add_explicit(&moved, count, memory_order_relaxed);
    for (size_t i = 0; i < count; i++) t[i] = f[i];
    return to;
}

__attribute__((destructor)) static void say(void) {
    const char *path = getenv("COPIES_FILE");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%llu\n", (unsigned long long)moved);
    fclose(file);
}
