import CourierTransport

/// One connection through a ``CuttingProxy``: two channels; each sends the bytes that the other one reads, until the
/// cut.
///
/// Safe to share: used on the loop only, where both channels run.
final class ProxiedLink: TwoSidedLink, @unchecked Sendable {
    /// Where and how a connection is cut.
    struct Cut: Sendable {
        let isTowardsClient: Bool
        let afterBytes: Int
        /// If true, the client sees the end of the stream; otherwise it sees a reset.
        let closesClient: Bool
        let closesBroker: Bool
    }

    /// After this time, a CONNACK has certainly reached the client.
    private static let acceptance = Duration.milliseconds(50)

    private let proxy: CuttingProxy
    private let cut: Cut
    private var client: ByteChannel?
    private var broker: ByteChannel?
    /// The number of forwarded bytes in the direction of the cut.
    private var passed = 0
    private var hasEnded = false
    private var answered: ContinuousClock.Instant?
    private var isNewSession = false
    private let history: LinkHistory.Link
    private var fromBroker = PacketScanner()
    private var fromClient = PacketScanner()

    init(_ proxy: CuttingProxy, client: ByteChannel) {
        self.proxy = proxy
        self.client = client
        cut = proxy.plan()
        history = proxy.history.begin()
    }

    /// Starts to connect to the broker. Bytes that the client sends in the meantime wait.
    func connect(to endpoint: TransportEndpoint, on loop: EventLoop) {
        broker = ByteChannel.connect(to: endpoint, on: loop, handler: LinkSide(self, isClient: false))
    }

    func channel(ofClient isClient: Bool) -> ByteChannel? { isClient ? client : broker }

    func received(_ bytes: RawSpan, fromClient isFromClient: Bool) {
        guard !hasEnded, channel(ofClient: !isFromClient) != nil else { return }
        if !isFromClient, answered == nil {
            answered = .now
            // The first packet is CONNACK. The last bit of its third byte is the session present flag.
            isNewSession = bytes.withUnsafeBytes { $0.count > 2 && $0[0] == 0x20 && $0[2] & 1 == 0 }
            history.accepted(hasSession: !isNewSession)
        }
        guard isFromClient != cut.isTowardsClient, passed + bytes.byteCount > cut.afterBytes,
            proxy.mayCut(age: answered?.duration(to: .now))
        else {
            if isFromClient != cut.isTowardsClient { passed += bytes.byteCount }
            return pass(bytes, fromClient: isFromClient)
        }
        let rest = max(0, cut.afterBytes - passed)
        if rest > 0 { pass(bytes.extracting(0..<rest), fromClient: isFromClient) }
        proxy.wasCut()
        if isNewSession, answered?.duration(to: .now) ?? .zero < Self.acceptance { proxy.releases.hidSession() }
        ended()
        if cut.closesClient { client?.close() } else { client?.abort() }
        if cut.closesBroker { broker?.close() } else { broker?.abort() }
    }

    /// Forwards bytes, and notes the PUBREL and PUBCOMP packets in them.
    private func pass(_ bytes: RawSpan, fromClient isFromClient: Bool) {
        let releases = proxy.releases
        bytes.withUnsafeBytes { bytes in
            if isFromClient {
                fromClient.scan(bytes) { type, id in
                    if type == 7 { releases.completed(id) }
                    history.passed(type, fromClient: true)
                }
            } else {
                fromBroker.scan(bytes) { type, id in
                    if type == 6 { releases.released(id) }
                    history.passed(type, fromClient: false)
                }
            }
        }
        forward(bytes, fromClient: isFromClient)
    }

    private func ended() {
        guard !hasEnded else { return }
        hasEnded = true
        history.ended()
        proxy.ended(age: answered?.duration(to: .now))
    }

    /// Handles the end of one channel, and ends the other channel in the same way.
    func closed(client isClient: Bool, _ reason: ChannelCloseReason) {
        ended()
        if isClient { client = nil } else { broker = nil }
        guard let other = channel(ofClient: !isClient) else { return }
        switch reason {
        case .closedByOwner: break  // By a cut, which has closed the other side as well.
        case .closedByPeer: other.close()
        case .failed: other.abort()
        }
    }
}
