// glibc's extensions of malloc, which Swift's module of the C library leaves out.
#pragma once

#include <malloc.h>
