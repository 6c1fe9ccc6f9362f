/// The default route of the machine, which identifies the current network.
///
/// The link and the gateway's IP address do not identify a network, because many homes have `wlan0` and `192.168.1.1`.
/// So the route includes the gateway's hardware address, if the system knows that address.
package struct DefaultRoute: Hashable, Sendable {
    /// The name of the link, such as `wlan0`.
    package let link: String
    /// The gateway's IP address as the system writes it; `nil` if the link has no gateway, as in a tunnel.
    package let gateway: String?
    /// The gateway's hardware address; `nil` if it is unknown.
    package var hardwareAddress: String?

    /// The link, the gateway and its hardware address in one line.
    package var name: String {
        [link, gateway.map { "via \($0)" }, hardwareAddress.map { "at \($0)" }].compactMap(\.self)
            .joined(separator: " ")
    }
}

#if !os(Linux)
    extension DefaultRoute {
        /// The default route in the network of the calling thread: always `nil`, because only Linux shows its routes.
        package static var current: DefaultRoute? { nil }
    }
#endif
