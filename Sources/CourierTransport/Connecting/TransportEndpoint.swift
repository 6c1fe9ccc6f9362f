/// The remote end to which a ``ByteChannel`` connects.
public enum TransportEndpoint: Sendable {
    /// A TCP port of a host. The host is a name, an IPv4 address or an IPv6 address.
    case tcp(host: String, port: UInt16)

    /// A Unix socket with this path, which has at most 107 bytes.
    case unix(path: String)

    /// Open descriptors of pipes, terminals or sockets. Pass the same number twice if one descriptor is used for both
    /// directions.
    ///
    /// The channel takes ownership and closes the descriptors, even if the channel could not be opened. Regular files
    /// are not supported, because the loop cannot wait for them.
    case descriptors(reading: Int32, writing: Int32)

    /// A stream that the app implements.
    case stream(any DuplexByteStream)
}

extension TransportEndpoint: CustomStringConvertible {
    /// The endpoint's name in messages, such as `broker.example:1883`, `[::1]:1883` or `unix:/run/broker.sock`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .descriptors(let reading, let writing):
            reading == writing ? "descriptor \(reading)" : "descriptors \(reading) and \(writing)"
        case .stream(let stream): stream.name
        }
    }

    /// Closes the stream or the descriptors of an endpoint that no channel takes over.
    package func discard() {
        switch self {
        case .stream(let stream): stream.close(abruptly: true)
        case .descriptors(let reading, let writing):
            DescriptorStream(reading: reading, writing: writing, name: description).close(abruptly: true)
        case .tcp, .unix: break
        }
    }

    /// The host name that the peer's certificate must contain; `nil` if the endpoint has no host.
    var hostName: String? {
        switch self {
        case .tcp(let host, _): host
        case .unix, .descriptors, .stream: nil
        }
    }
}
