#pragma once
#include <stdint.h>

/// How many blocks this process has asked the C library for since it started; every thread counts.
uint64_t allocation_count(void);
