#pragma once

// libprotobuf-c: reads and writes protobuf messages as C structs that a descriptor lays out.

#include <protobuf-c/protobuf-c.h>
