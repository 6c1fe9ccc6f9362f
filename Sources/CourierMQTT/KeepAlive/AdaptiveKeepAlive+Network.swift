import CourierTransport

extension AdaptiveKeepAlive {
    /// Returns a name for the current network, made of its default route: the link, the gateway, and the gateway's
    /// hardware address. The hardware address distinguishes networks with the same IP addresses. It also reveals the
    /// place where the machine is, so treat the name as confidential.
    ///
    /// - Returns: The name, such as `wlan0 via 192.168.1.1 at 02:00:5e:10:00:01`; `nil` if there is no default route,
    ///   or if the system does not show its routes.
    public static func systemNetwork() -> String? { DefaultRoute.current?.name }
}
