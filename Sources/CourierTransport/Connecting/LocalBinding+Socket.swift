/// Applies a local address and a network interface to sockets.
extension LocalBinding {
    /// Returns the addresses of the same family (IPv4 or IPv6) as the local address, without a change of their order.
    /// If no local address is set, returns all addresses.
    ///
    /// - Throws: ``TransportError/Code/unreachable`` if no address belongs to this family.
    func reachable(_ addresses: [SocketAddress], host: String) throws(TransportError) -> [SocketAddress] {
        guard let local = try socketAddress() else { return addresses }
        let matching = addresses.filter { $0.kind == local.kind }
        guard matching.isEmpty else { return matching }
        let family = local.kind == .ipv6 ? "IPv6" : "IPv4"
        throw TransportError(
            .unreachable,
            "unreachable: “\(host)” has no \(family) address, but the local address \(local.host) is \(family); "
                + "choose a local address of the other family")
    }

    /// Binds a socket that is not connected yet.
    func bind(_ socket: Int32) throws(TransportError) {
        if let interface {
            let result = Sockets.bind(socket, toInterface: interface)
            guard result == 0 else { throw Self.failure(-result, "network interface “\(interface)”") }
        }
        guard let local = try socketAddress() else { return }
        Sockets.choosePortWhenConnecting(socket)
        let result = Sockets.bind(socket, local)
        guard result == 0 else { throw Self.failure(-result, "local address \(local.host)") }
    }

    private func socketAddress() throws(TransportError) -> SocketAddress? {
        guard let address else { return nil }
        return try SocketAddress.lookUp(host: address, port: 0, isNumeric: true).first
    }

    private static func failure(_ number: Int32, _ subject: String) -> TransportError {
        switch number {
        case ErrorNumber.addressNotAvailable, ErrorNumber.noDevice:
            TransportError(.unreachable, "unreachable: this machine does not have the \(subject)", errno: number)
        case ErrorNumber.notPermitted, ErrorNumber.noAccess:
            TransportError(
                .permissionDenied, "permission denied: this process may not use the \(subject)", errno: number)
        default: .system(number, subject)
        }
    }
}
