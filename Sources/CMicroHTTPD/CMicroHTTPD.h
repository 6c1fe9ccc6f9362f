#pragma once

// GNU libmicrohttpd, and what Swift cannot import from its header: variadic functions and macros that cast.

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

// What a reader of a response's content answers at its end, and when there will be no more though it is not whole.
static const long courier_http_end = -1;
static const long courier_http_failed = -2;

// How much a client may take from the server.
struct courier_http_limits {
    unsigned int connections;
    // Without progress in either direction.
    unsigned int timeout_seconds;
    // For the head of a request, and for what is on its way to the client.
    size_t connection_memory;
};

// Listens on 127.0.0.1 only, with a thread of the server's own; port 0 takes a free one. NULL when it can not listen.
static inline struct MHD_Daemon *courier_http_start(
    uint16_t port, struct courier_http_limits limits, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, void *context) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, (MHD_AcceptPolicyCallback)0, (void *)0, handler,
        context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, limits.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits.timeout_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        limits.connection_memory, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_END);
}

// The port that a server listens on, 0 when it does not.
static inline uint16_t courier_http_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}
