#pragma once

// Access to the Linux routing socket: its constants, and functions that return a negative errno on failure.

#include <errno.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Returns a non-blocking routing socket that receives notifications of `groups` (RTMGRP_...), or a negative errno.
static inline int courier_routing_socket(uint32_t groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int result = -errno;
    close(descriptor);
    return result;
}

// Requests all entries of one kind from the kernel (RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE). Returns 0 or a negative
// errno.
static inline int courier_routing_dump(int descriptor, uint16_t kind, uint32_t sequence) {
    struct {
        struct nlmsghdr header;
        struct rtgenmsg body;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
    request.header.nlmsg_type = kind;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.header.nlmsg_seq = sequence;
    request.body.rtgen_family = AF_UNSPEC;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent = sendto(descriptor, &request, request.header.nlmsg_len, MSG_NOSIGNAL,
                          (const struct sockaddr *)&kernel, sizeof kernel);
    return sent < 0 ? -errno : 0;
}

// Receives the next datagram and returns its size in bytes, or a negative errno. Returns -EBADMSG if the kernel did not
// send the datagram, and -EMSGSIZE if the datagram does not fit.
static inline ssize_t courier_routing_receive(int descriptor, void *buffer, size_t count) {
    struct sockaddr_nl sender = {0};
    socklen_t size = sizeof sender;
    ssize_t result = recvfrom(descriptor, buffer, count, MSG_TRUNC, (struct sockaddr *)&sender, &size);
    if (result < 0) return -errno;
    if (size != sizeof sender || sender.nl_pid != 0) return -EBADMSG;
    return (size_t)result > count ? -EMSGSIZE : result;
}
