#define _GNU_SOURCE
#include "sink_private.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int listen_on_loopback(uint16_t *port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 8) < 0
        || getsockname(listener, (struct sockaddr *)&address, &size) < 0) {
        close(listener);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

/// Turns the forked process into the sink. It closes all inherited files that it does not need. Otherwise readers of an
/// inherited pipe would wait until the sink ends.
static _Noreturn void become_sink(struct sink *sink, int listener) {
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
    }
    int limit = (int)sysconf(_SC_OPEN_MAX);
    if (limit > 4096) limit = 4096;
    for (int file = 3; file < limit; file++)
        if (file != listener && file != sink->news_writer && file != sink->life_reader) close(file);
    signal(SIGPIPE, SIG_IGN);
    sink_serve(sink, listener);
}

struct sink *sink_start(const struct sink_plan *plan) {
    if (plan->qos < 0 || plan->qos > 2 || plan->messages == 0 || plan->window == 0
        || plan->user_properties < 0 || plan->user_properties > 9) {
        errno = EINVAL;
        return NULL;
    }
    struct sink *sink = mmap(NULL, sizeof *sink, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sink == MAP_FAILED) return NULL;
    sink->plan = *plan;
    sink->news_reader = sink->news_writer = sink->life_reader = sink->life_writer = -1;
    int news[2], life[2];
    int listener = listen_on_loopback(&sink->port);
    if (listener >= 0 && pipe2(news, O_CLOEXEC) == 0) {
        sink->news_reader = news[0];
        sink->news_writer = news[1];
        if (pipe2(life, O_CLOEXEC) == 0) {
            sink->life_reader = life[0];
            sink->life_writer = life[1];
            pid_t process = fork();
            if (process == 0) become_sink(sink, listener);
            sink->process = process;
        }
    }
    int error = errno;
    if (listener >= 0) close(listener);
    if (sink->news_writer >= 0) close(sink->news_writer);
    if (sink->life_reader >= 0) close(sink->life_reader);
    if (sink->process > 0) return sink;
    if (sink->news_reader >= 0) close(sink->news_reader);
    if (sink->life_writer >= 0) close(sink->life_writer);
    munmap(sink, sizeof *sink);
    errno = error;
    return NULL;
}

uint16_t sink_port(const struct sink *sink) { return sink->port; }

uint64_t sink_count(const struct sink *sink) { return atomic_load(&sink->count); }

const char *sink_complaint(const struct sink *sink) { return atomic_load(&sink->complaint); }

bool sink_wait(struct sink *sink, int seconds) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t deadline = now.tv_sec * 1000 + now.tv_nsec / 1000000 + (int64_t)seconds * 1000;
    for (;;) {
        if (sink_complaint(sink)) return false;
        if (sink_count(sink) >= sink->plan.messages) return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t left = deadline - (now.tv_sec * 1000 + now.tv_nsec / 1000000);
        if (left <= 0) return false;
        struct pollfd news = {.fd = sink->news_reader, .events = POLLIN};
        if (poll(&news, 1, (int)left) > 0) {
            char byte;
            if (read(sink->news_reader, &byte, 1) == 0) return sink_count(sink) >= sink->plan.messages;
        }
    }
}

void sink_stop(struct sink *sink) {
    kill(sink->process, SIGKILL);
    while (waitpid(sink->process, NULL, 0) < 0 && errno == EINTR) {}
    close(sink->news_reader);
    close(sink->life_writer);
    munmap(sink, sizeof *sink);
}
