// The random bytes that Swift mixes into the hashes of dictionaries.

#include <stddef.h>

#include "Board.h"

// This board has no source of randomness, so the bytes are the time. Replace the function if your program uses random
// numbers for secrets.
void arc4random_buf(void *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) ((uint8_t *)bytes)[index] = (uint8_t)(clock_milliseconds() >> index);
}
