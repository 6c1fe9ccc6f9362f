/// The addresses of a host, for somebody who wants to see them and not only to connect.
package enum HostAddresses {
    /// Whether a host is an address already.
    package static func isAddress(_ host: String) -> Bool {
        (try? SocketAddress.lookUp(host: host, port: 0, isNumeric: true)) != nil
    }

    /// Asks the operating system; blocks, sometimes for half a minute.
    ///
    /// - Returns: The addresses in the operating system's order, each once.
    /// - Throws: ``TransportError/Code/hostNotFound`` or ``TransportError/Code/nameResolutionFailed``.
    package static func lookUp(_ host: String) throws(TransportError) -> [String] {
        var found: [String] = []
        for address in try SocketAddress.lookUp(host: host, port: 0, isNumeric: false)
        where !found.contains(address.host) { found.append(address.host) }
        return found
    }
}
