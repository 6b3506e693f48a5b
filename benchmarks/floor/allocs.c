// allocs: a preloaded library that counts the heap allocations of each thread of a program, without those of the codec libraries, and
// writes the result when the program ends. ALLOCS_PROGRAM is the program, ALLOCS_FILE the result file, ALLOCS_FROM and ALLOCS_UNTIL
// the period to count in seconds since the program's start.
// An allocation belongs to the first file above the C library on the stack; those of libav*, libsw* and libx264 are counted separately.
// The result has a line for each thread: its name, our allocations, their bytes, and allocations of the codec libraries; then an
// indented line for each of our call stacks, most frequent first, as FILE+OFFSET, which addr2line converts to source lines.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { THREADS = 512, PLACES = 2048, DEPTH = 12, FILES = 512, BOOT = 1 << 16 };

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

// Memory for dlsym(3) before the real functions are known.
static char boot[BOOT];
static size_t boot_used;

typedef struct {
    char name[16];
    unsigned long long ours, bytes, codecs;
} Thread;
static Thread threads[THREADS];
static atomic_int thread_count;
static __thread Thread *own;
static __thread int is_inside;

typedef struct {
    char thread[16];
    void *way[DEPTH];
    int depth;
    unsigned long long count;
} Place;
static Place places[PLACES];
static int place_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Address ranges of the codec libraries and the C library; read once when counting begins.
typedef struct {
    char *begin, *end;
    int is_codec;
} File;
static File files[FILES];
static int file_count;

static double from = 0, until = 1e9, begun;
static int is_wanted;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int note_file(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    int is_codec = !strncmp(name, "libav", 5) || !strncmp(name, "libsw", 5) || !strncmp(name, "libx264", 7) ||
                   !strncmp(name, "libpostproc", 11);
    // The names of Swift's libraries also begin with libsw.
    if (!strncmp(name, "libswift", 8)) is_codec = 0;
    int is_system = !strncmp(name, "libc.", 5) || !strncmp(name, "ld-linux", 8) || !strncmp(name, "allocs", 6);
    if (!is_codec && !is_system) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || file_count == FILES) continue;
        char *begin = (char *)info->dlpi_addr + part->p_vaddr;
        files[file_count++] = (File){begin, begin + part->p_memsz, is_codec};
    }
    return 0;
}

// 1: a codec library, 0: the C library, -1: any other file.
static int kind_of(void *place) {
    for (int i = 0; i < file_count; i++)
        if ((char *)place >= files[i].begin && (char *)place < files[i].end) return files[i].is_codec;
    return -1;
}

static void note_place(Thread *thread, void **way, int depth) {
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < place_count && (places[at].depth != depth || strcmp(places[at].thread, thread->name) ||
                                memcmp(places[at].way, way, sizeof *way * depth)))
        at++;
    if (at == place_count && place_count < PLACES) {
        strcpy(places[at].thread, thread->name);
        memcpy(places[at].way, way, sizeof *way * depth);
        places[at].depth = depth;
        place_count++;
    }
    if (at < place_count) places[at].count++;
    pthread_mutex_unlock(&lock);
}

static void count(size_t size) {
    if (!is_wanted || is_inside) return;
    is_inside = 1;
    double time = now() - begun;
    if (time >= from && time < until) {
        if (!own) {
            int index = atomic_fetch_add(&thread_count, 1);
            own = &threads[index < THREADS ? index : THREADS - 1];
            prctl(PR_GET_NAME, own->name);
        }
        void *way[DEPTH + 4];
        int depth = backtrace(way, DEPTH + 4), first = 0, kind = 0;
        while (first < depth && (kind = kind_of(way[first])) == 0) first++;
        if (kind == 1) {
            own->codecs++;
        } else {
            own->ours++;
            own->bytes += size;
            int left = depth - first;
            note_place(own, way + first, left < DEPTH ? left : DEPTH);
        }
    }
    is_inside = 0;
}

static void prepare(void) {
    if (real_malloc) return;
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
    real_posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
}

static int is_boot(void *block) { return (char *)block >= boot && (char *)block < boot + BOOT; }

static void *boot_block(size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (boot_used + size > BOOT) return NULL;
    void *block = boot + boot_used;
    boot_used += size;
    return block;
}

void *malloc(size_t size) {
    prepare();
    count(size);
    return real_malloc ? real_malloc(size) : boot_block(size);
}

void *calloc(size_t number, size_t size) {
    if (!real_calloc) return boot_block(number * size);
    count(number * size);
    return real_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    prepare();
    if (is_boot(block)) {
        void *moved = real_malloc(size);
        if (moved) memcpy(moved, block, size < (size_t)(boot + BOOT - (char *)block) ? size : (size_t)(boot + BOOT - (char *)block));
        return moved;
    }
    count(size);
    return real_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    prepare();
    count(size);
    return real_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    prepare();
    count(size);
    return real_posix_memalign(block, alignment, size);
}

void free(void *block) {
    if (is_boot(block)) return;
    prepare();
    real_free(block);
}

__attribute__((constructor)) static void start(void) {
    const char *program = getenv("ALLOCS_PROGRAM");
    if (!getenv("ALLOCS_FILE") || !program || strcmp(program, program_invocation_short_name)) return;
    prepare();
    if (getenv("ALLOCS_FROM")) from = atof(getenv("ALLOCS_FROM"));
    if (getenv("ALLOCS_UNTIL")) until = atof(getenv("ALLOCS_UNTIL"));
    dl_iterate_phdr(note_file, NULL);
    // The unwinder allocates memory at its first use.
    void *way[4];
    backtrace(way, 4);
    begun = now();
    is_wanted = 1;
}

static int by_count(const void *a, const void *b) {
    const Place *x = a, *y = b;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

__attribute__((destructor)) static void say(void) {
    if (!is_wanted) return;
    is_wanted = 0;
    is_inside = 1;
    FILE *file = fopen(getenv("ALLOCS_FILE"), "w");
    if (!file) return;
    qsort(places, place_count, sizeof *places, by_count);
    int all = thread_count < THREADS ? thread_count : THREADS;
    for (int i = 0; i < all; i++) {
        fprintf(file, "%s\t%llu\t%llu\t%llu\n", threads[i].name, threads[i].ours, threads[i].bytes, threads[i].codecs);
        for (int p = 0; p < place_count; p++) {
            if (strcmp(places[p].thread, threads[i].name)) continue;
            fprintf(file, "  %llu", places[p].count);
            for (int d = 0; d < places[p].depth; d++) {
                Dl_info info;
                if (!dladdr(places[p].way[d], &info) || !info.dli_fname) continue;
                const char *slash = strrchr(info.dli_fname, '/');
                fprintf(file, " %s+0x%lx", slash ? slash + 1 : info.dli_fname,
                        (unsigned long)((char *)places[p].way[d] - (char *)info.dli_fbase));
            }
            fprintf(file, "\n");
        }
    }
    fclose(file);
}
