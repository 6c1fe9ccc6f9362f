#pragma once

// Sends one DNS query. Each query reads the system's resolver settings again, so that a network change takes effect.

#include <arpa/nameser.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdint.h>
#include <string.h>

static const int32_t courier_dns_none = -1;      // The name, or a record of this type for it, does not exist.
static const int32_t courier_dns_no_answer = -2; // Nobody answered, or said why not.

// Queries the service records (SRV) of `name`. If `port` is not 0, the query goes to the server at `address` (IPv4, in
// network order) and `port`. Otherwise it goes to the system's server. Returns the size of the response in bytes, at
// most `size`, or one of the two constants above.
static inline int32_t courier_query_services(const char *name, uint8_t *answer, int32_t size, uint32_t address,
                                             uint16_t port) {
#ifdef __GLIBC__
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return courier_dns_no_answer;
    state.retrans = 2;
    state.retry = 2;
    if (port != 0) {
        state.nscount = 1;
        state.nsaddr_list[0] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = address};
    }
    int32_t count = res_nquery(&state, name, ns_c_in, ns_t_srv, answer, size);
    int problem = state.res_h_errno;
    res_nclose(&state);
    if (count >= 0) return count < size ? count : size;
    return problem == HOST_NOT_FOUND || problem == NO_DATA ? courier_dns_none : courier_dns_no_answer;
#else
    // musl has no `res_nquery`. Its `res_query` reads the settings again, too, but sends only to the system's server.
    // Old versions of musl return negative responses as well. So the header of the response decides: the last four
    // bits of byte 3 are the response code (3: the name does not exist), bytes 6 and 7 are the number of records.
    (void)address;
    if (port != 0) return courier_dns_no_answer;
    h_errno = 0;
    int32_t count = res_query(name, ns_c_in, ns_t_srv, answer, size);
    if (count < 0) return h_errno == HOST_NOT_FOUND || h_errno == NO_DATA ? courier_dns_none : courier_dns_no_answer;
    if (count < 12) return courier_dns_no_answer;
    int code = answer[3] & 15;
    if (code == 3 || (code == 0 && answer[6] == 0 && answer[7] == 0)) return courier_dns_none;
    if (code != 0) return courier_dns_no_answer;
    return count < size ? count : size;
#endif
}
