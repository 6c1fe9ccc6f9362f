#pragma once
#include "sink.h"
#include <stdatomic.h>
#include <sys/types.h>

/// Lives in memory that the process which measures shares with the sink's.
struct sink {
    struct sink_plan plan;
    _Atomic uint64_t count;
    /// A string literal, so it has the same address in both processes.
    _Atomic(const char *) complaint;
    uint16_t port;
    pid_t process;
    /// The sink writes a byte when all is through or something is wrong.
    int news_reader, news_writer;
    /// Closed with the process that started the sink: the sink sees the end of the pipe and ends too.
    int life_reader, life_writer;
};

/// Serves connections until the other process is gone. Runs in the sink's process.
_Noreturn void sink_serve(struct sink *sink, int listener);
