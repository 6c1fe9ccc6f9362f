import CourierTransport
import MQTTCodec
import Synchronization

/// One connection to a broker, on which a command sends and receives single packets.
///
/// The commands that examine a broker do not use the SDK's client, because these commands must see each packet. The
/// SDK's client would also try again, choose another MQTT version and keep the broker's limits by itself.
///
/// Safe to share: the channel is used only on the event loop, and other mutable state is behind a mutex.
final class BrokerLink: ChannelHandler, @unchecked Sendable {
    /// The maximum number of packets and bytes that are received but not yet read. A broker that sends more ends the
    /// link.
    struct Limits: Sendable {
        var packetCount = 20_000
        /// The size of the largest packet in bytes.
        var packetSize = PacketDecoder.Limits().maximumPacketSize
    }

    /// A received packet, and the time at which it was received.
    struct Arrival: Sendable {
        let packet: Packet
        let time: ContinuousClock.Instant
        fileprivate let size: Int
    }

    private struct Inbox {
        var arrivals: [Arrival] = []
        /// The index of the oldest packet that was not read.
        var next = 0
        var byteCount = 0
        var failure: LinkFailure?
        var openedAfter: Duration?
        var security: TLSSummary?
        var sentAt = ContinuousClock.now
        var isClosed = false

        /// The memory of read packets is freed each time when this number of packets was read.
        private static let compaction = 1_000

        mutating func popFirst() -> Arrival? {
            guard next < arrivals.count else { return nil }
            let arrival = arrivals[next]
            next += 1
            byteCount -= arrival.size
            if next == arrivals.count {
                arrivals.removeAll(keepingCapacity: true)
                next = 0
            } else if next == Self.compaction {
                arrivals.removeFirst(next)
                next = 0
            }
            return arrival
        }
    }

    let version: ProtocolVersion
    private let events: LinkEvents
    private let limits: Limits
    private let decoder: PacketDecoder
    private let encoder: PacketEncoder
    private let begunAt = ContinuousClock.now
    private let inbox = Mutex(Inbox())
    /// The open channel. It is used only on the event loop.
    private var channel: ByteChannel?

    private init(_ version: ProtocolVersion, _ events: LinkEvents, _ limits: Limits) {
        self.version = version
        self.events = events
        self.limits = limits
        decoder = PacketDecoder(
            version: version, sender: .server, limits: .init(maximumPacketSize: limits.packetSize))
        encoder = PacketEncoder(version: version, sender: .client)
    }

    /// Starts to open a connection.
    static func begin(
        _ version: ProtocolVersion, to endpoint: TransportEndpoint, tls: TLSContext?, proxy: ProxySetting,
        timeLimit: Duration, limits: Limits = Limits(), events: LinkEvents
    ) -> BrokerLink {
        let link = BrokerLink(version, events, limits)
        var options = ChannelOptions()
        options.connectTimeout = timeLimit
        ByteChannel.connect(to: endpoint, tls: tls, proxy: proxy, options: options, on: events.loop, handler: link)
        return link
    }

    /// Blocks until the connection is open. The channel enforces the time limit.
    func waitUntilOpen() throws(LinkFailure) {
        try events.wait(until: .now + .seconds(86_400)) { () throws(LinkFailure) -> Void? in
            if openedAfter != nil { return () }
            if let failure = inbox.withLock(\.failure) { throw failure }
            return nil
        }
    }

    /// The time to open the connection, including TLS; `nil` if it did not open.
    var openedAfter: Duration? { inbox.withLock(\.openedAfter) }
    /// The result of the TLS handshake; `nil` without TLS.
    var security: TLSSummary? { inbox.withLock(\.security) }
    /// The time at which the last packet was written.
    var sentAt: ContinuousClock.Instant { inbox.withLock(\.sentAt) }

    // MARK: Packets

    /// Sends a packet. If the connection is closed, the packet is lost, and the next read reports the failure.
    func send(_ packet: Packet) throws(LinkFailure) {
        var buffer = PacketBuffer()
        do throws(EncodeError) {
            try encoder.encode(packet, into: &buffer)
        } catch {
            throw .unsendable("\(error)")
        }
        let bytes = buffer.withBytes { bytes in bytes.withUnsafeBytes { [UInt8]($0) } }
        events.loop.execute { [self] in
            inbox.withLock { $0.sentAt = .now }
            bytes.withBytes { _ = channel?.write($0) }
        }
    }

    /// Returns the oldest packet that was not read, or `nil` if there is none.
    ///
    /// - Throws: The failure that ended the connection, after all received packets were returned.
    func poll() throws(LinkFailure) -> Arrival? {
        let (arrival, failure) = inbox.withLock { inbox in (inbox.popFirst(), inbox.failure) }
        if let arrival { return arrival }
        if let failure { throw failure }
        return nil
    }

    /// Blocks until a packet is received.
    func next(until deadline: ContinuousClock.Instant) throws(LinkFailure) -> Arrival {
        try events.wait(until: deadline) { () throws(LinkFailure) in try poll() }
    }

    // MARK: Ending

    /// Closes the connection after everything was sent.
    func close() { events.loop.execute { [self] in channel?.close() } }

    /// Cuts the connection without DISCONNECT, as a network failure does.
    func cut() { events.loop.execute { [self] in channel?.abort() } }

    /// Sends a DISCONNECT and closes the connection. Unless `keepsSession` is true, the DISCONNECT of MQTT 5 also ends
    /// the session, even if the CONNECT requested a session expiry. [MQTT-3.1.2-23]
    func disconnect(keepsSession: Bool = false) {
        let endsSession = version >= .v5 && !keepsSession
        try? send(.disconnect(Disconnect(properties: endsSession ? [.sessionExpiryInterval(0)] : [])))
        close()
    }

    /// Blocks until the connection has closed on both sides.
    func waitUntilClosed(until deadline: ContinuousClock.Instant) throws(LinkFailure) {
        try events.wait(until: deadline) { () throws(LinkFailure) in inbox.withLock(\.isClosed) ? () : nil }
    }

    // MARK: Channel events

    func opened(_ channel: ByteChannel) {
        self.channel = channel
        inbox.withLock { inbox in
            inbox.openedAfter = begunAt.duration(to: .now)
            inbox.security = channel.security
        }
        events.notify()
    }

    func received(_ bytes: RawSpan) -> Int {
        var offset = 0
        do throws(DecodeError) {
            while case .frame(let frame) = try decoder.nextFrame(in: bytes, at: offset) {
                let packet = try decoder.packet(frame, in: bytes)
                guard keep(Arrival(packet: packet, time: .now, size: frame.end - offset)) else {
                    end(.unreadable("the broker sends more packets than the command requests"))
                    return bytes.byteCount
                }
                offset = frame.end
            }
        } catch {
            if case .connAckOfOlderVersion = error.violation {
                end(.speaksOlderVersion)
            } else {
                end(.unreadable("\(error)"))
            }
            return bytes.byteCount
        }
        if offset > 0 { events.notify() }
        return offset
    }

    func closed(_ reason: ChannelCloseReason) {
        channel = nil
        inbox.withLock { $0.isClosed = true }
        switch reason {
        case .closedByOwner, .closedByPeer: end(.closed)
        case .failed(let error): end(.transport(error))
        }
    }

    /// Stores a packet. Returns false if the inbox is full.
    private func keep(_ arrival: Arrival) -> Bool {
        inbox.withLock { inbox in
            inbox.arrivals.append(arrival)
            inbox.byteCount += arrival.size
            return inbox.arrivals.count - inbox.next <= limits.packetCount
                && inbox.byteCount <= limits.packetSize + (1 << 20)
        }
    }

    /// Stores the first failure, and closes the connection.
    private func end(_ failure: LinkFailure) {
        inbox.withLock { $0.failure = $0.failure ?? failure }
        channel?.abort()
        events.notify()
    }
}
