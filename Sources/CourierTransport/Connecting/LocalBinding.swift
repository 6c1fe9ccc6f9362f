/// The local address and the network interface that the machine uses for connections.
///
/// ```swift
/// config.localBinding = LocalBinding(interface: "wwan0")
/// ```
///
/// Without a binding, the operating system chooses the address and the interface by its routing table. A binding
/// applies to TCP connections to the broker or the proxy. It does not apply to the look-up of host names, to Unix
/// sockets, or to streams of the app.
public struct LocalBinding: Hashable, Sendable {
    /// An IPv4 or IPv6 address of this machine, such as `192.0.2.7`; `nil` for any. The broker must have an address of
    /// the same family.
    public var address: String?

    /// The name of a network interface, such as `eth0`; `nil` for any. Packets leave the machine through this
    /// interface, whatever the routing table says.
    public var interface: String?

    /// Creates a binding to an address, an interface, or both.
    ///
    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this machine; `nil` for any.
    ///   - interface: The name of a network interface; `nil` for any.
    public init(address: String? = nil, interface: String? = nil) {
        self.address = address
        self.interface = interface
    }

    /// A sentence about a malformed address or name; `nil` if both are well-formed. Whether the machine has this
    /// address and interface is not checked.
    package var problem: String? {
        if let address, (try? SocketAddress.lookUp(host: address, port: 0, isNumeric: true)) == nil {
            return "the local address “\(address)” is not an IPv4 or IPv6 address"
        }
        if let interface, !(1...15).contains(interface.utf8.count) || interface.contains(where: { "/\0 ".contains($0) })
        {
            return
                "“\(interface)” is not the name of a network interface: names have 1 to 15 bytes, without spaces and slashes"
        }
        return nil
    }

    /// Creates a binding to the first address of a host name of this machine. Blocks while the name is looked up.
    ///
    /// - Throws: ``TransportError/Code/hostNotFound`` or ``TransportError/Code/nameResolutionFailed``.
    package init(lookingUp host: String) throws(TransportError) {
        self.init(address: try SocketAddress.lookUp(host: host, port: 0, isNumeric: false).first?.host)
    }
}
