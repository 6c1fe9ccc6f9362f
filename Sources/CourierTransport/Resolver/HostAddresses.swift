/// Looks up the addresses of a host, to show them to a person.
package enum HostAddresses {
    /// True if `host` is already an IPv4 or IPv6 address.
    package static func isAddress(_ host: String) -> Bool {
        (try? SocketAddress.lookUp(host: host, port: 0, isNumeric: true)) != nil
    }

    /// Looks up the addresses of a host with the operating system. The call blocks, sometimes for half a minute.
    ///
    /// - Returns: The addresses without duplicates, in the operating system's order.
    /// - Throws: ``TransportError/Code/hostNotFound`` or ``TransportError/Code/nameResolutionFailed``.
    package static func lookUp(_ host: String) throws(TransportError) -> [String] {
        var found: [String] = []
        for address in try SocketAddress.lookUp(host: host, port: 0, isNumeric: false)
        where !found.contains(address.host) { found.append(address.host) }
        return found
    }
}
