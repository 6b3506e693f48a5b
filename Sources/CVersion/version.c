#include "CVersion.h"

// `make build` writes this file (git-ignored); a build by `swift build` alone does without it.
#if __has_include("commit.h")
#include "commit.h"
#endif
#ifndef TANDEM_COMMIT
#define TANDEM_COMMIT ""
#endif

const char *tandem_commit(void) { return TANDEM_COMMIT; }
