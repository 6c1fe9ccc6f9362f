#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with the arguments of the command line. Calls `check` for each input.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*check)(const uint8_t *data, size_t size));
