import CourierTransport
import TrialSupport

/// Forwards the bytes between clients and a broker, until `cut()` is called.
///
/// Safe to share: mutable state is used on the loop only.
final class Relay: @unchecked Sendable {
    /// The host to which clients connect, or the path of the Unix socket.
    let host: String
    let port: UInt16
    private let loop: EventLoop
    private let folder: TemporaryFolder
    private let listener: ChannelListener
    private let links: RelayedLinks

    /// Starts to listen on the same kind of address as the broker: a TCP port of this machine or a Unix socket.
    init(to broker: TransportEndpoint) throws {
        let loop = try EventLoop(name: "relay")
        let links = RelayedLinks(to: broker, on: loop)
        let folder = try TemporaryFolder()
        let address: ChannelListener.Address =
            if case .unix = broker { .unix(path: folder.file("relay.sock")) } else { .tcp() }
        listener = try ChannelListener.listen(on: address, loop: loop) { links.accept($0) }
        if case .unix(let path) = listener.endpoint { host = path } else { host = "127.0.0.1" }
        port = listener.port
        self.loop = loop
        self.links = links
        self.folder = folder
    }

    /// Ends all connections without a DISCONNECT, and every new one until ``mend()``.
    func cut() async { await onLoop { $0.cut() } }

    /// Accepts and forwards new connections again.
    func mend() async { await onLoop { $0.mend() } }

    func end() async {
        listener.close()
        await onLoop { $0.cut() }
        await loop.shutdown()
        folder.remove()
    }

    private func onLoop(_ body: @escaping @Sendable (RelayedLinks) -> Void) async {
        await withCheckedContinuation { continuation in
            loop.execute { [links] in
                body(links)
                continuation.resume()
            }
        }
    }
}

/// The connections of a ``Relay``.
///
/// Safe to share: mutable state is used on the loop only.
private final class RelayedLinks: @unchecked Sendable {
    private let broker: TransportEndpoint
    private let loop: EventLoop
    private var open: [ObjectIdentifier: RelayedLink] = [:]
    private var isCut = false

    init(to broker: TransportEndpoint, on loop: EventLoop) {
        self.broker = broker
        self.loop = loop
    }

    func accept(_ client: ByteChannel) -> LinkSide {
        let link = RelayedLink(client) { [weak self] in self?.open[ObjectIdentifier($0)] = nil }
        open[ObjectIdentifier(link)] = link
        link.connect(to: broker, on: loop)
        if isCut { link.abort() }
        return LinkSide(link, isClient: true)
    }

    func cut() {
        isCut = true
        for link in Array(open.values) { link.abort() }
    }

    func mend() { isCut = false }
}

/// One connection through a ``Relay``: two channels; each sends the bytes that the other one reads.
///
/// Safe to share: used on the loop only, where both channels run.
private final class RelayedLink: TwoSidedLink, @unchecked Sendable {
    private var client: ByteChannel?
    private var broker: ByteChannel?
    private let ended: (RelayedLink) -> Void

    init(_ client: ByteChannel, ended: @escaping (RelayedLink) -> Void) {
        self.client = client
        self.ended = ended
    }

    /// Starts to connect to the broker. Bytes that the client sends in the meantime wait.
    func connect(to endpoint: TransportEndpoint, on loop: EventLoop) {
        broker = ByteChannel.connect(to: endpoint, on: loop, handler: LinkSide(self, isClient: false))
    }

    func abort() {
        client?.abort()
        broker?.abort()
    }

    func channel(ofClient isClient: Bool) -> ByteChannel? { isClient ? client : broker }

    func received(_ bytes: RawSpan, fromClient isFromClient: Bool) { forward(bytes, fromClient: isFromClient) }

    /// Handles the end of one channel, and ends the other channel in the same way.
    func closed(client isClient: Bool, _ reason: ChannelCloseReason) {
        if isClient { client = nil } else { broker = nil }
        switch (channel(ofClient: !isClient), reason) {
        case (nil, _): ended(self)
        case (let other?, .closedByPeer): other.close()
        case (let other?, .failed), (let other?, .closedByOwner): other.abort()
        }
    }
}
