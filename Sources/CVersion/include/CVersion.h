#pragma once

/// The commit that the program was built from: short, with "-dirty" if the tree had changes, or an empty string if the build did not
/// know it. The text ends with a NUL and lives as long as the process.
const char *_Nonnull tandem_commit(void);
