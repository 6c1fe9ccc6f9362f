/// Where a ``ByteChannel`` leads.
public enum TransportEndpoint: Sendable {
    /// A host, by name or by IPv4 or IPv6 address, and a port.
    case tcp(host: String, port: UInt16)

    /// A Unix socket by its path, of at most 107 bytes.
    case unix(path: String)

    /// Open descriptors: pipes, terminals, sockets; twice the same for one that goes both ways. They become the
    /// channel's, which closes them, even when it could not be opened. Regular files cannot be waited for.
    case descriptors(reading: Int32, writing: Int32)

    /// A stream of the app's own.
    case stream(any DuplexByteStream)
}

extension TransportEndpoint: CustomStringConvertible {
    /// How messages call it, such as `broker.example:1883`, `[::1]:1883` or `unix:/run/broker.sock`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .descriptors(let reading, let writing):
            reading == writing ? "descriptor \(reading)" : "descriptors \(reading) and \(writing)"
        case .stream(let stream): stream.name
        }
    }

    /// Closes what is already open, a stream or descriptors, where no channel will.
    package func discard() {
        switch self {
        case .stream(let stream): stream.close(abruptly: true)
        case .descriptors(let reading, let writing):
            DescriptorStream(reading: reading, writing: writing, name: description).close(abruptly: true)
        case .tcp, .unix: break
        }
    }

    /// The name that a certificate of the peer must be for, where the endpoint says one.
    var hostName: String? {
        switch self {
        case .tcp(let host, _): host
        case .unix, .descriptors, .stream: nil
        }
    }
}
