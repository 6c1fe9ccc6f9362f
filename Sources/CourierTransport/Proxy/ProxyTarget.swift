/// The host and port that a proxy is asked for.
struct ProxyTarget: Hashable, Sendable {
    enum Host: Hashable, Sendable {
        case address(IPAddress)
        case name(String)
    }

    let host: Host
    let port: UInt16

    init(_ address: IPAddress, port: UInt16) {
        host = .address(address)
        self.port = port
    }

    /// Checks that the host can be told to a proxy.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for one that only means something here, and for text that is
    ///   no host: a line break in it would be read as a line of a request.
    init(host text: String, port: UInt16) throws(TransportError) {
        self.port = port
        if let address = IPAddress(text) {
            host = .address(address)
        } else if HostText.isPlainName(text) {
            host = .name(text)
        } else if text.contains("%"), IPAddress(String(text.prefix { $0 != "%" })) != nil {
            throw TransportError(
                .invalidConfiguration,
                "the zone of an address means nothing to a proxy: \(text); give a global address, or connect directly")
        } else {
            throw TransportError(
                .invalidConfiguration,
                "a host behind a proxy is a name of ASCII letters, digits, “-”, “_” and “.”, or an address; write "
                    + "other names in their ASCII form (xn--…)")
        }
    }

    /// Such as `broker.example:1883` or `[::1]:1883`.
    var text: String {
        switch host {
        case .address(let address): TransportEndpoint.tcp(host: address.text, port: port).description
        case .name(let name): TransportEndpoint.tcp(host: name, port: port).description
        }
    }
}
