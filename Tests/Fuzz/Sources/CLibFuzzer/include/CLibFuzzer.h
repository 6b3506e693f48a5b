#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer's own entry points (compiler-rt, `libclang_rt.fuzzer_no_main`).
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
