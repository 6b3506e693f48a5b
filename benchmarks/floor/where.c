// where: a preloaded library that samples in which file's code a program spends its CPU time: a signal after every few milliseconds of
// CPU time (ITIMER_PROF) records the program counter. For machines without hardware counters.
// WHERE_PROGRAM is the program, WHERE_FILE the result file: a line for each file with its samples and its name. Samples in the C library
// count for its caller: the first other file on the stack.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { MOST = 1 << 16, FILES = 256, DEPTH = 48 };
// The program counter and the top of the stack.
static void *samples[MOST][DEPTH + 1];
static atomic_int count;

static void note(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    ucontext_t *user = context;
#if defined(__x86_64__)
    void *place = (void *)user->uc_mcontext.gregs[REG_RIP];
    void **stack = (void **)user->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    void *place = (void *)user->uc_mcontext.regs[30];
    void **stack = (void **)user->uc_mcontext.sp;
#else
    void *place = NULL;
    void **stack = NULL;
#endif
    int index = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    if (index >= MOST || !stack) return;
    samples[index][0] = place;
    // At any point where a thread does work, its stack is deeper than this.
    for (int word = 0; word < DEPTH; word++) samples[index][word + 1] = stack[word];
}

// Not in a shell that starts the program: the timer would outlive the signal handler.
static int is_wanted(void) {
    const char *program = getenv("WHERE_PROGRAM");
    return getenv("WHERE_FILE") && program && !strcmp(program, program_invocation_short_name);
}

__attribute__((constructor)) static void start(void) {
    if (!is_wanted()) return;
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval time = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_PROF, &time, NULL);
}

// The name of the file that contains an address, without its directory.
static const char *name_of(void *place) {
    Dl_info info;
    if (!place || !dladdr(place, &info) || !info.dli_fname) return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static int is_library(const char *name) {
    return name && (!strncmp(name, "libc.", 5) || !strncmp(name, "libm.", 5) || !strncmp(name, "ld-linux", 8));
}

__attribute__((destructor)) static void say(void) {
    const char *path = getenv("WHERE_FILE");
    if (!is_wanted()) return;
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &none, NULL);
    const char *names[FILES];
    int counts[FILES], files = 0;
    int all = count < MOST ? count : MOST;
    for (int i = 0; i < all; i++) {
        const char *base = name_of(samples[i][0]);
        for (int word = 1; word <= DEPTH && is_library(base); word++) {
            const char *caller = name_of(samples[i][word]);
            if (caller && !is_library(caller)) base = caller;
        }
        if (!base) base = "unknown";
        int at = 0;
        while (at < files && strcmp(names[at], base)) at++;
        if (at == FILES) continue;
        if (at == files) {
            names[files] = base;
            counts[files++] = 0;
        }
        counts[at]++;
    }
    FILE *file = fopen(path, "w");
    if (!file) return;
    for (int i = 0; i < files; i++) fprintf(file, "%d %s\n", counts[i], names[i]);
    fclose(file);
}
