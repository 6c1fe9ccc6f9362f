#pragma once
#include "sink.h"
#include <stdatomic.h>
#include <sys/types.h>

/// The state of a sink, in memory that the measuring process and the sink's process share.
struct sink {
    struct sink_plan plan;
    _Atomic uint64_t count;
    /// A string literal. It has the same address in both processes, because the sink's process is a fork.
    _Atomic(const char *) complaint;
    uint16_t port;
    pid_t process;
    /// A pipe. The sink writes a byte when all messages are handled or an error occurred.
    int news_reader, news_writer;
    /// A pipe that closes when the process that started the sink ends. The sink then ends too.
    int life_reader, life_writer;
};

/// Serves connections until the measuring process ends. Runs in the sink's process.
_Noreturn void sink_serve(struct sink *sink, int listener);
