// Reports the synchronization of the Swift runtime to ThreadSanitizer, which does not see it because the runtime's libraries are not
// built with it. Preloaded by .ci/tsan. Three kinds are reported:
// - Mutex: the fast path is compiled into our modules and is visible; under contention libswiftSynchronization does the rest.
// - Tasks: the runtime has hooks for ThreadSanitizer, which are not set on Linux.
// - Copy on write: a thread that finds a buffer unshared may write it, because the last reader has released it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Weak: programs that a test starts inherit the preloaded library, but do not have these functions.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);
__attribute__((weak)) void *swift_task_getCurrent(void);
__attribute__((weak)) extern bool _swift_tsan_enabled;
__attribute__((weak)) extern void (*_swift_tsan_acquire)(void *address);
__attribute__((weak)) extern void (*_swift_tsan_release)(void *address);

__attribute__((constructor)) static void hook(void) {
    if (!__tsan_acquire || !&_swift_tsan_enabled) return;
    _swift_tsan_acquire = __tsan_acquire;
    _swift_tsan_release = __tsan_release;
    _swift_tsan_enabled = true;
}

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
// `self` is in Swift's context register: the address of the lock word.
#define SELF __attribute__((swift_context)) void *self
#define ORIGINAL(type, name) \
    static type *original; \
    if (!original) original = (type *)dlsym(RTLD_NEXT, name)

typedef SWIFT void Lock(uint32_t thread, SELF);
typedef SWIFT void Unlock(SELF);
#define ASYNC __attribute__((swiftasynccall))
// The continuation's context is an argument; the task's own context is passed on.
#define CONTEXTS void *continuation, __attribute__((swift_async_context)) void *context
typedef ASYNC void Await(CONTEXTS);
typedef bool IsUnshared(const void *object);
typedef void Release(void *object);
typedef void ReleaseMany(void *object, uint32_t count);

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    ORIGINAL(Lock, LOCK);
    original(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) {
    ORIGINAL(Unlock, UNLOCK);
    if (__tsan_release) __tsan_release(self);
    original(self);
}

static void let_go(void *object) {
    // Tagged and immortal objects are not addresses.
    if (__tsan_release && object && !((uintptr_t)object >> 47)) __tsan_release(object);
}

// The address of a bridged object is surrounded by tag bits.
static void *bridged(void *object) { return (void *)((uintptr_t)object & 0x00fffffffffffff8); }

void swift_release(void *object) {
    ORIGINAL(Release, "swift_release");
    let_go(object);
    original(object);
}

void swift_release_n(void *object, uint32_t count) {
    ORIGINAL(ReleaseMany, "swift_release_n");
    let_go(object);
    original(object, count);
}

void swift_bridgeObjectRelease(void *object) {
    ORIGINAL(Release, "swift_bridgeObjectRelease");
    let_go(bridged(object));
    original(object);
}

void swift_bridgeObjectRelease_n(void *object, uint32_t count) {
    ORIGINAL(ReleaseMany, "swift_bridgeObjectRelease_n");
    let_go(bridged(object));
    original(object, count);
}

// An array of objects that is appended to another releases its buffer inside the standard library, which does not call the runtime
// through its public symbols. This specialization covers all classes: it has no type argument, and the buffer is an argument.
#define CONSUME \
    "$ss22_ContiguousArrayBufferV20_consumeAndCreateNew14bufferIsUnique15minimumCapacity13growForAppendAByxGSb_SiSbtFyXl_Ts5"
typedef SWIFT void *Consume(bool is_unique, intptr_t least, bool grows, void *buffer);
SWIFT void *consume(bool is_unique, intptr_t least, bool grows, void *buffer) __asm__(CONSUME);

SWIFT void *consume(bool is_unique, intptr_t least, bool grows, void *buffer) {
    ORIGINAL(Consume, CONSUME);
    let_go(buffer);
    return original(is_unique, least, grows, buffer);
}

bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
    ORIGINAL(IsUnshared, "swift_isUniquelyReferenced_nonNull_native");
    bool is = original(object);
    if (is && __tsan_acquire) __tsan_acquire((void *)object);
    return is;
}

// The hooks do not cover a continuation that is resumed before it is awaited.
ASYNC void swift_continuation_await(CONTEXTS) {
    ORIGINAL(Await, "swift_continuation_await");
    if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return original(continuation, context);
}
