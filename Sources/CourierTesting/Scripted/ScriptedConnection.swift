import CourierTransport
import MQTTCodec

/// One connection of a ``ScriptedBroker``. It decodes and encodes packets, and cuts the connection at byte limits.
///
/// Safe to share: mutable state is used only on the loop, where the channel calls this handler.
final class ScriptedConnection: ChannelHandler, @unchecked Sendable {
    private struct ByteLimit {
        let count: Int
        let style: CutStyle
    }

    private enum Phase { case open, cut, closed }

    let number: Int
    private let channel: ByteChannel
    private let host: ScriptedHost
    private var player: ScriptPlayer
    private var decoder: PacketDecoder
    private var encoder = PacketEncoder(version: .v311, sender: .server)
    private var buffer = PacketBuffer()
    private var actions: [ScriptPlayer.Action] = []
    private var phase = Phase.open
    /// The number of received bytes. `consumedCount` is the number of these bytes that were decoded.
    private var receivedCount = 0
    private var consumedCount = 0
    private var isReceiving = false
    /// True while the loop has a scheduled job that will continue a flood.
    private var isProceeding = false
    private var sentCount = 0
    private var sendLimit: ByteLimit?
    private var receiveLimit: ByteLimit?
    private var isCongested = false
    private var isReadingStopped = false
    private var resetsWhenDrained = false
    private var timer: (token: TimerToken, deadline: ContinuousClock.Instant)?

    init(_ number: Int, _ channel: ByteChannel, _ host: ScriptedHost, _ steps: [ScriptStep]) {
        self.number = number
        self.channel = channel
        self.host = host
        player = ScriptPlayer(steps, connection: number)
        // Each CONNECT contains its MQTT version. Until CONNECT is decoded, the more lenient rules of 3.1.1 apply.
        decoder = PacketDecoder(version: .v311, sender: .client)
    }

    /// The step that the script still waits for, as a failure; `nil` if the script has ended.
    var unplayed: ScriptFailure? { player.unplayed }

    /// The first fault that applied to fewer answers than the script requires, as a failure; `nil` if there is none.
    var unusedFault: ScriptFailure? { player.unusedFault }

    func abort() {
        phase = .closed
        cancelTimer()
        channel.abort()
    }

    // MARK: Channel events

    func opened(_ channel: ByteChannel) { drive { $0.opened(now: $1, into: &$2) } }

    func received(_ bytes: RawSpan) -> Int {
        guard phase == .open else { return bytes.byteCount }
        receivedCount = consumedCount + bytes.byteCount
        isReceiving = true
        defer { isReceiving = false }
        var offset = 0
        do throws(DecodeError) {
            while phase == .open {
                let end = min(bytes.byteCount, receiveLimit.map { $0.count - consumedCount } ?? .max)
                guard offset <= end else { break }
                let usable = bytes.extracting(0..<end)
                guard case .frame(let frame) = try decoder.nextFrame(in: usable, at: offset) else { break }
                offset = frame.end
                take(try decoder.packet(frame, in: bytes))
            }
        } catch {
            drive { player, _, actions in player.receivedMalformed(error, into: &actions) }
        }
        if let receiveLimit, receivedCount >= receiveLimit.count { reachedLimit(receiveLimit) }
        host.counted(received: min(receivedCount, receiveLimit?.count ?? .max), on: number)
        consumedCount += offset
        return phase == .open ? offset : bytes.byteCount
    }

    func drained() {
        if resetsWhenDrained { channel.abort() }
    }

    func fellBelowLowWater() {
        guard isCongested else { return }
        isCongested = false
        player.isCongested = false
        if !isReadingStopped { channel.resumeReading() }
        drive { $0.proceed(now: $1, into: &$2) }
    }

    func closed(_ reason: ChannelCloseReason) {
        cancelTimer()
        let wasShutDown = phase == .closed
        phase = .closed
        if !wasShutDown {
            drive { player, _, actions in
                switch reason {
                case .closedByOwner: player.connectionCut(into: &actions)
                case .closedByPeer: player.connectionLost("the client closed the connection", into: &actions)
                case .failed(let error): player.connectionLost("the connection broke: \(error)", into: &actions)
                }
            }
        }
        host.closed(self, reason)
    }

    // MARK: Playing the script

    private func take(_ packet: Packet) {
        guard host.received(packet, on: number) else {
            host.failed(
                ScriptFailure(
                    connection: number, step: nil, expectation: "",
                    event: "more packets arrived than the recording limit of \(host.packetLimit)"))
            return cut(.reset)
        }
        drive { $0.received(packet, now: $1, into: &$2) }
    }

    private func drive(_ input: (inout ScriptPlayer, ContinuousClock.Instant, inout [ScriptPlayer.Action]) -> Void) {
        input(&player, channel.loop.now, &actions)
        perform()
        if player.wantsToProceed { proceedSoon() }
        setTimer()
    }

    /// Continues a flood later, so that other work of the loop runs first, for example a report that the connection has
    /// ended.
    private func proceedSoon() {
        guard phase == .open, !isProceeding else { return }
        isProceeding = true
        channel.loop.execute { [weak self] in
            guard let self else { return }
            isProceeding = false
            if phase == .open, player.wantsToProceed { drive { $0.proceed(now: $1, into: &$2) } }
        }
    }

    private func perform() {
        while !actions.isEmpty {
            let batch = actions
            actions.removeAll(keepingCapacity: true)
            for action in batch { perform(action) }
        }
        flush()
    }

    private func perform(_ action: ScriptPlayer.Action) {
        switch action {
        case .setVersion(let version):
            decoder.version = version
            encoder.version = version
        case .send(let packet): append(packet)
        case .sendBytes(let bytes): bytes.withBytes { buffer.append($0) }
        case .cutAfterSending(let count, let style):
            sendLimit = ByteLimit(count: count, style: style)
            flush()
            if sentCount >= count { reachedLimit(ByteLimit(count: count, style: style)) }
        case .cutAfterReceiving(let count, let style):
            let limit = ByteLimit(count: count, style: style)
            receiveLimit = limit
            // While received bytes are decoded, other code checks the limit after each packet. So the limit is not
            // checked here.
            if !isReceiving, receivedCount >= count { reachedLimit(limit) }
        case .stopReading:
            isReadingStopped = true
            if phase == .open { channel.pauseReading() }
        case .resumeReading:
            isReadingStopped = false
            if phase == .open, !isCongested { channel.resumeReading() }
        case .watch(let gate): watch(gate)
        case .cut(let style): cut(style)
        case .failed(let failure): host.failed(failure)
        case .finished: host.played(number)
        }
    }

    private func append(_ packet: Packet) {
        guard phase == .open else { return }
        do throws(EncodeError) {
            try encoder.encode(packet, into: &buffer)
        } catch {
            host.failed(
                ScriptFailure(
                    connection: number, step: nil, expectation: "",
                    event: "the script's \(packet.type) cannot be encoded in MQTT \(encoder.version): \(error)"))
            cut(.orderly)
        }
    }

    private func watch(_ gate: ScriptGate) {
        let loop = channel.loop
        gate.onRelease { [weak self] in
            loop.execute { [weak self] in
                guard let self, phase == .open else { return }
                drive { $0.released(gate, now: $1, into: &$2) }
            }
        }
    }

    // MARK: Writing and cutting

    private func flush() {
        guard !buffer.isEmpty else { return }
        guard phase == .open else { return buffer.removeAll() }
        let room = sendLimit.map { max(0, $0.count - sentCount) } ?? .max
        let count = min(room, buffer.count)
        buffer.withBytes { channel.write($0.extracting(0..<count)) }
        buffer.removeAll()
        sentCount += count
        host.counted(sent: sentCount, on: number)
        if let sendLimit, sentCount >= sendLimit.count { return reachedLimit(sendLimit) }
        guard channel.isAboveHighWater, !isCongested else { return }
        isCongested = true
        player.isCongested = true
        channel.pauseReading()
    }

    private func reachedLimit(_ limit: ByteLimit) {
        guard phase == .open else { return }
        cut(limit.style)
        player.connectionCut(into: &actions)
        perform()
    }

    private func cut(_ style: CutStyle) {
        guard phase == .open else { return }
        flush()
        guard phase == .open else { return }  // `flush()` may have reached the limit and cut the connection.
        phase = .cut
        cancelTimer()
        switch style {
        case .orderly: channel.close()
        case .reset where channel.pendingByteCount > 0: resetsWhenDrained = true
        case .reset: channel.abort()
        }
    }

    private func setTimer() {
        let deadline = phase == .open ? player.nextDeadline : nil
        if timer?.deadline == deadline { return }
        cancelTimer()
        guard let deadline else { return }
        let token = channel.loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            drive { $0.timerFired(now: $1, into: &$2) }
        }
        timer = (token, deadline)
    }

    private func cancelTimer() {
        if let timer { channel.loop.cancel(timer.token) }
        timer = nil
    }
}
