// Declares openpty(3), which Foundation does not make available to Swift.
#include <pty.h>
