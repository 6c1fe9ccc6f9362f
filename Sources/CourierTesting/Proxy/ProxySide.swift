import CourierTransport
import MQTTCodec

/// One side of a proxied connection: the channel to the client or to the broker, and the packets that this side sends.
///
/// Received packets wait in a queue until their time has come, and are then written to the other side. If the queue or
/// the other side's buffer is full, this side is not read.
///
/// Safe to share: mutable state is used only on the loop, where the channel calls this handler.
final class ProxySide: ChannelHandler, @unchecked Sendable {
    /// The size of the waiting packets in bytes at which the proxy stops reading from this side.
    static let queueLimit = 1 << 20

    let sender: Endpoint
    private let loop: EventLoop
    private weak var connection: ProxyConnection?
    /// The channel to this side; `nil` before the channel exists and after it has closed.
    var channel: ByteChannel?
    private var cutter = PacketCutter(heldSize: FaultProxy.heldPacketSize)
    private var reader: PacketFactsReader
    private var queue = DelayQueue()
    /// The decision about the packet that is being received in pieces.
    private var decision = FaultDecision()
    private var timer: TimerToken?
    private var isReadingPaused = false
    private(set) var hasInputEnded = false

    init(_ sender: Endpoint, on loop: EventLoop) {
        self.sender = sender
        self.loop = loop
        reader = PacketFactsReader(sender: sender)
    }

    func join(_ connection: ProxyConnection) { self.connection = connection }

    var version: ProtocolVersion {
        get { reader.version }
        set { reader.version = newValue }
    }

    /// True if this side sends no more bytes, and all its packets were handled.
    var hasDelivered: Bool { hasInputEnded && queue.isEmpty }

    /// Discards the waiting packets, because the connection has ended.
    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
        queue.removeAll()
    }

    // MARK: Channel events

    func opened(_ channel: ByteChannel) { connection?.opened(self) }

    func received(_ bytes: RawSpan) -> Int {
        guard let connection else { return bytes.byteCount }
        var offset = 0
        receiving: while connection.isOpen {
            if isFull { release() }
            if isFull {
                pauseReading()
                break
            }
            switch cutter.next(in: bytes, at: offset) {
            case .needsMore: break receiving
            case .piece(let piece):
                offset = piece.range.upperBound
                take(piece, bytes, connection)
            case .malformedLength:
                release()
                connection.end(.malformedLength(from: sender), .orderly)
            }
        }
        release()
        return connection.isOpen ? offset : bytes.byteCount
    }

    func fellBelowLowWater() { connection?.peer(of: self).updateReading() }

    func inputClosed() {
        hasInputEnded = true
        release()
    }

    func closed(_ reason: ChannelCloseReason) {
        stop()
        channel = nil
        connection?.closed(self, reason)
    }

    // MARK: Receiving

    private func take(_ piece: PacketCutter.Piece, _ bytes: RawSpan, _ connection: ProxyConnection) {
        let copy = bytes.withUnsafeBytes { Array($0[piece.range]) }
        var topic: String?
        if piece.isFirst {
            let facts = reader.facts(piece.type, copy, isWhole: piece.isWhole)
            if piece.type == .publish { topic = facts.topics.first }
            if piece.type == .connect, sender == .client { connection.receivedConnect(copy) }
            decision = connection.decide(facts)
        }
        let due = piece.isFirst ? loop.now + decision.delay : loop.now
        queue.append(DelayQueue.Entry(bytes: copy, piece: piece, decision: decision, topic: topic, due: due))
    }

    private var isFull: Bool {
        queue.byteCount >= Self.queueLimit || connection?.peer(of: self).channel?.isAboveHighWater == true
    }

    private func pauseReading() {
        isReadingPaused = true
        channel?.pauseReading()
    }

    /// Pauses or continues reading, as the queue and the other side require.
    func updateReading() {
        guard let connection, connection.isOpen || connection.isConnecting else { return }
        if connection.isConnecting || isFull {
            if !isReadingPaused { pauseReading() }
        } else if isReadingPaused {
            isReadingPaused = false
            channel?.resumeReading()
        }
    }

    // MARK: Forwarding

    /// Forwards the packets whose time has come.
    private func release() {
        guard let connection, connection.isOpen else { return }
        while connection.isOpen, let entry = queue.popDue(now: loop.now) { forward(entry, connection) }
        guard connection.isOpen else { return }
        connection.peer(of: self).channel?.flush()
        setTimer()
        updateReading()
        if hasDelivered { connection.delivered(self) }
    }

    private func forward(_ entry: DelayQueue.Entry, _ connection: ProxyConnection) {
        let (piece, decision) = (entry.piece, entry.decision)
        let copyCount = piece.isWhole ? decision.copyCount : min(1, decision.copyCount)
        var bytes = entry.bytes
        if decision.isCorrupted, piece.isLast, let last = bytes.indices.last { bytes[last] ^= 0xFF }
        let receiver = connection.peer(of: self).channel
        for _ in 0..<copyCount { bytes.withBytes { receiver?.append($0) } }
        if piece.isFirst {
            connection.handled(
                ProxiedPacket(
                    connection: connection.number, sender: sender, type: piece.type, topic: entry.topic, bytes: bytes,
                    byteCount: piece.packetSize, copyCount: copyCount, faults: decision.rules, time: loop.now,
                    version: version))
        }
        switch decision.cut {
        case .insteadOfForwarding(let style, let rule)? where piece.isFirst: cut(connection, style, rule)
        case .afterForwarding(let style, let rule)? where piece.isLast: cut(connection, style, rule)
        case .insteadOfForwarding?, .afterForwarding?, nil: break
        }
    }

    private func cut(_ connection: ProxyConnection, _ style: CutStyle, _ rule: FaultRule) {
        connection.peer(of: self).channel?.flush()
        connection.end(.cut(by: rule), style)
    }

    private func setTimer() {
        if let timer { loop.cancel(timer) }
        timer = queue.nextDeadline.map { deadline in
            loop.schedule(at: deadline) { [weak self] in
                guard let self else { return }
                timer = nil
                release()
            }
        }
    }
}
