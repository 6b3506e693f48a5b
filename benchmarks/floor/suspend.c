// suspend: a preloaded library without which valgrind ends with a fatal signal when it runs a program that calls dispatchMain().
// libdispatch then calls sigsuspend(2) with a signal mask in read-only memory, and valgrind (3.19 to 3.24) writes to the mask before the
// system call. This function passes on a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, (long)(_NSIG / 8));
}
