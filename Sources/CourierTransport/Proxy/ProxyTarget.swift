/// The host and port to which a proxy must connect.
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

    /// Makes a target from the text of a host, and checks that it can be sent to a proxy.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if `text` is not a host, or is an address with a zone. A
    ///   zone is valid only on this machine. A line break in `text` could add a line to an HTTP request.
    init(host text: String, port: UInt16) throws(TransportError) {
        self.port = port
        if let address = IPAddress(text) {
            host = .address(address)
        } else if HostText.isPlainName(text) {
            host = .name(text)
        } else if text.contains("%"), IPAddress(String(text.prefix { $0 != "%" })) != nil {
            throw TransportError(
                .invalidConfiguration,
                "a proxy cannot use an address with a zone: \(text); use a global address, or connect directly")
        } else {
            throw TransportError(
                .invalidConfiguration,
                "a host behind a proxy must be an address, or a name of ASCII letters, digits, “-”, “_” and “.”; "
                    + "write other names in their ASCII form (xn--…)")
        }
    }

    /// Host and port as text, such as `broker.example:1883` or `[::1]:1883`.
    var text: String {
        switch host {
        case .address(let address): TransportEndpoint.tcp(host: address.text, port: port).description
        case .name(let name): TransportEndpoint.tcp(host: name, port: port).description
        }
    }
}
