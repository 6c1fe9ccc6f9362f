import CourierTransport
import Dispatch
import MQTTCodec
import Synchronization

/// One connection to a broker with a fixed sequence: open the connection, CONNECT, round trips, DISCONNECT.
///
/// The doctor does not use the SDK's client, because that client tries again and negotiates the MQTT version by itself.
/// The doctor must report the result of each step.
///
/// Safe to share: mutable state is used only on the event loop, where the channel calls this handler.
final class BrokerDialogue: ChannelHandler, @unchecked Sendable {
    /// The request for one dialogue.
    struct Question: Sendable {
        /// The CONNECT packet. If it is `nil`, the dialogue only opens the connection.
        var connect: Connect?
        var roundTripCount = 0
        /// The topic of the messages for the round trips. If it is `nil`, pings are sent instead.
        var topic: String?
        /// The time limit of each step.
        var timeLimit: Duration
    }

    /// The reason why a dialogue ended early.
    enum Failure: Hashable, Sendable {
        case transport(TransportError)
        /// The broker closed the connection without sending a packet.
        case closed
        /// The broker's response did not arrive in time.
        case silent
        /// The broker responded to an MQTT 5 CONNECT in the format of MQTT 3.1.1.
        case speaksOlderVersion
        /// The bytes are not MQTT, or the packet is not allowed here.
        case unreadable(String)
        /// The broker sent DISCONNECT.
        case disconnected(PacketReasonCode)
        /// The broker refused a message.
        case messageRefused(PacketReasonCode)

        /// True if the connection is still open, so that a DISCONNECT can be sent to end the session.
        fileprivate var leavesConnected: Bool {
            switch self {
            case .silent, .messageRefused: true
            case .transport, .closed, .speaksOlderVersion, .unreadable, .disconnected: false
            }
        }
    }

    /// The results of a dialogue.
    struct Answer: Sendable {
        /// The time to open the connection, including TLS; `nil` if it did not open.
        var openedAfter: Duration?
        var security: TLSSummary?
        var connAck: ConnAck?
        var roundTrips: [Duration] = []
        var failure: Failure?

        /// True if the broker accepts only QoS 0. The round trips are then pings. [MQTT-3.2.2-11]
        var takesQoS0Only: Bool { connAck?.properties.maximumQoS == .atMostOnce }
    }

    private enum Phase { case opening, connecting, measuring, ended }

    private let question: Question
    private let done: @Sendable (Answer) -> Void
    private let begunAt = ContinuousClock.now
    private let decoder: PacketDecoder
    private let encoder: PacketEncoder

    // MARK: State, used only on the event loop

    private var channel: ByteChannel?
    private var phase = Phase.opening
    private var answer = Answer()
    private var timer: TimerToken?
    private var sentAt = ContinuousClock.now

    private init(_ question: Question, _ done: @escaping @Sendable (Answer) -> Void) {
        self.question = question
        self.done = done
        let version = question.connect?.version ?? .v5
        decoder = PacketDecoder(version: version, sender: .server)
        encoder = PacketEncoder(version: version, sender: .client)
    }

    /// Runs the dialogue; blocks until it has ended.
    static func hold(
        _ question: Question, with endpoint: TransportEndpoint, tls: TLSContext? = nil, proxy: ProxySetting = .direct,
        on loop: EventLoop
    ) -> Answer {
        var options = ChannelOptions()
        options.connectTimeout = question.timeLimit
        let end = DispatchSemaphore(value: 0)
        let box = AnswerBox()
        let dialogue = BrokerDialogue(question) { answer in
            box.answer.withLock { $0 = answer }
            end.signal()
        }
        ByteChannel.connect(to: endpoint, tls: tls, proxy: proxy, options: options, on: loop, handler: dialogue)
        end.wait()
        return box.answer.withLock { $0 }
    }

    // MARK: Channel events

    func opened(_ channel: ByteChannel) {
        self.channel = channel
        answer.openedAfter = begunAt.duration(to: .now)
        answer.security = channel.security
        guard let connect = question.connect else { return end(nil) }
        phase = .connecting
        send(.connect(connect))
    }

    func received(_ bytes: RawSpan) -> Int {
        var offset = 0
        do throws(DecodeError) {
            while phase != .ended, case .frame(let frame) = try decoder.nextFrame(in: bytes, at: offset) {
                received(try decoder.packet(frame, in: bytes))
                offset = frame.end
            }
        } catch {
            if case .connAckOfOlderVersion = error.violation {
                end(.speaksOlderVersion)
            } else {
                end(.unreadable("\(error)"))
            }
        }
        return phase == .ended ? bytes.byteCount : offset
    }

    func closed(_ reason: ChannelCloseReason) {
        switch reason {
        case .closedByOwner: break  // The dialogue has ended before.
        case .closedByPeer: end(.closed)
        case .failed(let error): end(.transport(error))
        }
        channel = nil
    }

    // MARK: Steps of the dialogue

    private func received(_ packet: Packet) {
        switch (phase, packet) {
        case (.connecting, .connAck(let connAck)):
            answer.connAck = connAck
            phase = .measuring
            if connAck.reasonCode.isFailure { end(nil) } else { measure() }
        case (.measuring, .pingResp): arrived()
        case (.measuring, .pubAck(let acknowledgement)):
            if acknowledgement.reasonCode.isFailure {
                end(.messageRefused(acknowledgement.reasonCode))
            } else {
                arrived()
            }
        case (_, .disconnect(let disconnect)): end(.disconnected(disconnect.reasonCode))
        case (.measuring, .publish): break  // A message that the broker sends to every client.
        default: end(.unreadable("the packet \(packet.type) is not allowed here"))
        }
    }

    private func arrived() {
        answer.roundTrips.append(sentAt.duration(to: .now))
        measure()
    }

    private func measure() {
        guard answer.roundTrips.count < question.roundTripCount else { return end(nil) }
        guard let topic = question.topic, !answer.takesQoS0Only,
            let id = PacketID(rawValue: UInt16(answer.roundTrips.count + 1))
        else { return send(.pingReq) }
        send(
            .publish(
                Publish(
                    topic: topic, payload: Array("courier doctor".utf8),
                    delivery: .atLeastOnce(id, isDuplicate: false))))
    }

    private func send(_ packet: Packet) {
        guard let channel else { return }
        var buffer = PacketBuffer()
        do throws(EncodeError) {
            try encoder.encode(packet, into: &buffer)
        } catch {
            return end(.unreadable("\(error)"))
        }
        sentAt = .now
        buffer.withBytes { channel.write($0) }
        if let timer { channel.loop.cancel(timer) }
        timer = channel.loop.schedule(at: channel.loop.now.advanced(by: question.timeLimit)) { [weak self] in
            self?.timer = nil
            self?.end(.silent)
        }
    }

    /// Ends the dialogue and passes the results to the caller. Closes the connection, after a DISCONNECT if the broker
    /// accepted the connection and can still receive.
    private func end(_ failure: Failure?) {
        guard phase != .ended else { return }
        let mayStillSpeak = failure.map(\.leavesConnected) ?? true
        let isConnected = phase == .measuring && mayStillSpeak && answer.connAck?.reasonCode == .success
        phase = .ended
        answer.failure = failure
        if let channel {
            if let timer { channel.loop.cancel(timer) }
            if isConnected { sendFarewell(on: channel) }
            channel.close()
        }
        done(answer)
    }

    /// Sends a DISCONNECT that ends the session, even if the CONNECT requested a session expiry. [MQTT-3.1.2-23]
    private func sendFarewell(on channel: ByteChannel) {
        let properties: PacketProperties = encoder.version >= .v5 ? [.sessionExpiryInterval(0)] : []
        var buffer = PacketBuffer()
        try? encoder.encode(.disconnect(Disconnect(properties: properties)), into: &buffer)
        buffer.withBytes { channel.write($0) }
    }
}

/// Passes the result of a dialogue to the waiting caller.
private final class AnswerBox: Sendable {
    let answer = Mutex(BrokerDialogue.Answer())
}
