#pragma once

/// The commit that the program was built from, or an empty text where the build did not name it (`GATEHOUSE_COMMIT` in
/// Package.swift).
const char *gatehouse_commit(void);
