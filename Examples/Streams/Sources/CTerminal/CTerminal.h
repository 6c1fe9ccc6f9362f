// openpty(3), which Foundation does not offer to Swift.
#include <pty.h>
