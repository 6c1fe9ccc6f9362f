#pragma once
#include <stdint.h>

/// Returns the number of heap blocks that all threads of this process have allocated since its start.
uint64_t allocation_count(void);
