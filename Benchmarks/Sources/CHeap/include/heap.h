#pragma once
#include <stddef.h>

/// How many bytes of the heap are in use, mapped blocks included.
size_t heap_bytes_in_use(void);
