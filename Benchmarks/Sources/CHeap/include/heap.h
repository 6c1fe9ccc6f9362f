#pragma once
#include <stddef.h>

/// Returns the number of heap bytes in use, including mapped blocks.
size_t heap_bytes_in_use(void);
