/// What is said to a proxy, and what it answers, until it passes bytes on: a machine without a socket.
///
/// Write what ``begin()`` returns; then read at most ``wantedCount`` bytes at a time, so that none behind the last answer is
/// taken, hand them over, and perform the returned ``ProxyAction``.
protocol ProxyHandshake: Sendable {
    /// Begins, once, and returns what to write first.
    mutating func begin() -> [UInt8]

    /// How many bytes may be read now: at least 1 until the handshake is done, and 0 from then on.
    var wantedCount: Int { get }

    /// Bytes have come, 1 to ``wantedCount``.
    ///
    /// - Throws: Why there will be no connection; nothing may be asked after that.
    mutating func received(_ bytes: Span<UInt8>) throws(TransportError) -> ProxyAction

    /// Whether the target was asked for, so that what is missing may be missing because of it.
    var hasAskedForTarget: Bool { get }

    /// What is waited for, in words for a message.
    var progress: String { get }

    /// What it means that the proxy has closed the connection instead.
    var closedError: TransportError { get }
}

/// What follows from an answer of a proxy.
enum ProxyAction: Equatable, Sendable {
    case none
    case send([UInt8])
    /// What follows on the connection is the host's.
    case done
}

/// Whom a handshake is with and what for, as messages call them.
struct ProxyRoute: Sendable {
    /// Such as `the proxy socks5://proxy.example:1080`.
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
