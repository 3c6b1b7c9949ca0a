#pragma once

// Unmaps the pages of the program and of its libraries that hold code or constant data. They are the same as in their
// files, so nothing is lost: they stay in the kernel's page cache, and the kernel maps them again at the next touch.
// Until then they do not count as memory of the process, and the kernel may take them first.
//
// Breakpoints that a debugger has written into the code are lost.
void program_pages_release(void);
