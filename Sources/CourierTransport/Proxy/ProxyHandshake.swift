/// The exchange with a proxy until the proxy has connected to the target. It is a state machine without a socket.
///
/// The caller writes the bytes that ``begin()`` returns. Then it reads at most ``wantedCount`` bytes at a time, passes
/// them to `received(_:)`, and performs the returned ``ProxyAction``. Because of this limit, the caller reads no bytes
/// that the target sent.
protocol ProxyHandshake: Sendable {
    /// Starts the handshake and returns the first bytes to write. It is called only once.
    mutating func begin() -> [UInt8]

    /// The maximum number of bytes to read next: at least 1 while the handshake runs, otherwise 0.
    var wantedCount: Int { get }

    /// Processes received bytes: at least 1, at most ``wantedCount``.
    ///
    /// - Throws: The reason why the handshake failed. The handshake must not be used after an error.
    mutating func received(_ bytes: Span<UInt8>) throws(TransportError) -> ProxyAction

    /// True if the target was requested from the proxy. If the proxy does not respond to this request, the target may
    /// be the reason.
    var hasAskedForTarget: Bool { get }

    /// A description of the response that has not arrived, for error messages.
    var progress: String { get }

    /// The error to report if the proxy closes the connection before the handshake is done.
    var closedError: TransportError { get }
}

/// The caller's next step after bytes of the proxy were processed.
enum ProxyAction: Equatable, Sendable {
    case none
    case send([UInt8])
    /// The handshake succeeded. All further bytes on the connection come from the target.
    case done
}

/// The proxy and the target of a handshake. It creates the errors of the handshake, which contain the name of the
/// proxy.
struct ProxyRoute: Sendable {
    /// The proxy's name in error messages, such as `the proxy socks5://proxy.example:1080`.
    let proxy: String
    let target: ProxyTarget

    init(_ proxy: ProxyConfiguration, _ target: ProxyTarget) {
        self.proxy = "the proxy \(proxy)"
        self.target = target
    }

    func error(_ code: TransportError.Code, _ what: String) -> TransportError {
        TransportError(code, "\(proxy) \(what)")
    }
}
