import MQTTCodec
import MQTTEngine

/// Finds a message that makes the broker close connections, and ends only that message.
///
/// The value has no clock and no timer. After each input, the caller sets the engine's send limit to ``sendLimit``,
/// sends PINGREQ if ``wantsPing`` is true, and calls ``timerFired(now:)`` after ``deadline``.
///
/// ```
/// trusting ────the broker closes the connection right after a message─────▶ suspicious: one message at a time
///    ▲                                                                            │
///    └────── as many messages have finished as were unanswered at the start ──────┤
///                                                                                 ▼
///              strike: the broker closed within 2 s after the only unanswered message
///                                                                                 │
///              control: the next connection sends no message for 10 s ◀───────────┘
///                 │                                   │
///                 ended early: strikes back to 0      lasted: the message is sent again; 3 strikes end the message
/// ```
///
/// During a suspicion, this value counts the messages that finish. The suspicion ends when as many messages have
/// finished as were unanswered at its start. The unanswered messages are sent again before all other messages, so the
/// suspicion includes all of them. If one of the unanswered messages ends and is not counted, the suspicion lasts
/// longer: another message must finish instead.
struct MessageSuspicion: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The reason why a connection ended. Causes that make no difference for a suspected message are combined in
    /// `other`.
    enum Cause: Equatable, Sendable {
        /// The broker closed the byte stream (FIN or RST) and gave no reason.
        case peerClosed
        /// The broker sent an MQTT 5 DISCONNECT with this reason code.
        case peerDisconnected(PacketReasonCode)
        /// A timeout, a TLS failure, a change of networks, or an end that the client requested.
        case other
    }

    /// The messages that the broker had not answered when a connection ended.
    struct Unanswered: Equatable, Sendable {
        var publishes = UnacknowledgedPublishes()
        /// True if the client still had unsent bytes for the broker when the connection ended.
        var hasUnwrittenBytes = false
    }

    /// A message that is rejected, because the broker ended connections right after this message.
    struct Rejection: Equatable, Sendable {
        let token: Token
        /// The number of connections that ended because of the message.
        let strikes: Int
        /// The reason code of the broker's DISCONNECT, if that code names the message as the cause; otherwise `nil`.
        var code: PacketReasonCode?
    }

    /// The decision about a message after a connection ended.
    enum Verdict: Equatable, Sendable {
        case none
        /// The caller must store this number of strikes, if the message has a row in the message store. A strike is a
        /// connection that the broker closed right after the message.
        case storeStrikes(Token, Int)
        /// The caller must make the engine give up the message, and end the message with an error.
        case end(Rejection)
    }

    /// The result of ``connectionLost(_:_:now:)``: the decision about a message, and whether a message explains the end
    /// of the connection.
    struct Judgement: Equatable, Sendable {
        var verdict = Verdict.none
        /// True if a message explains the end of the connection. Then the end is no sign of another client with the
        /// same client id.
        var explainsLoss = false
    }

    /// The number of strikes after which a message ends. A strike means that the broker closed the connection right
    /// after the message.
    static let strikeLimit = 3
    /// If the broker closes the connection within this time after a message, the message may be the cause.
    static let closeWindow = Duration.seconds(2)
    /// The time that a control connection must last. A control connection sends no messages, to test whether a
    /// connection lasts without messages.
    static let controlTime = Duration.seconds(10)

    /// The state while the client suspects a message and sends one message at a time.
    private struct Suspicion {
        /// The number of messages that still have to finish before the suspicion ends.
        var remaining: Int
        var suspect: (token: Token, strikes: Int)?
        /// True if the suspected message is a plausible cause of lost connections. Becomes false when a control
        /// connection, which sends no messages, ends early.
        var isPlausible = true
    }

    /// The data about the present connection that the suspicion needs.
    private struct Connection {
        let acceptedAt: Instant
        /// True while this is a control connection, which sends no messages, to test whether a connection lasts without
        /// messages.
        var isControl: Bool
        var hasAnsweredPing = false
        var flight: Flight?
    }

    /// The only unanswered message on this connection. During a suspicion, messages are sent one at a time.
    private struct Flight {
        let token: Token
        /// The time when the first byte of the message was sent; `nil` while bytes of earlier packets are still unsent.
        let firstByteAt: Instant?
        var lastByteAt: Instant?

        /// Returns true if `now` is within `closeWindow` after the message was sent.
        ///
        /// If the last byte is not written yet, the time of the first byte counts, because the broker may close the
        /// connection before it has read the last byte. For example, the broker reads the packet's size first, and
        /// refuses a packet that is too large.
        func isRecent(_ now: Instant) -> Bool {
            guard let start = lastByteAt ?? firstByteAt else { return false }
            return start.duration(to: now) <= MessageSuspicion.closeWindow
        }
    }

    private let isEnabled: Bool
    private var suspicion: Suspicion?
    private var connection: Connection?

    /// Creates a value that suspects no message.
    ///
    /// - Parameter isEnabled: If `false`, no message is ever suspected.
    init(isEnabled: Bool = true) { self.isEnabled = isEnabled }

    // MARK: Outputs

    /// True while the client searches for the message after which the broker closes connections. Meanwhile, it sends
    /// messages one at a time.
    var isSuspicious: Bool { suspicion != nil }

    /// The token of the message after which the broker has closed connections; `nil` if there is no such message.
    var suspectedToken: Token? { suspicion?.suspect?.token }

    /// The maximum number of unacknowledged messages:
    /// - `nil`, no limit, if there is no suspicion;
    /// - 0 without a connection, on a control connection (which sends no messages, as a test), and until the broker has
    ///   answered a PINGREQ on the connection;
    /// - 1 after the broker has answered a PINGREQ on the connection.
    var sendLimit: Int? {
        guard isSuspicious else { return nil }
        guard let connection, connection.hasAnsweredPing, !connection.isControl else { return 0 }
        return 1
    }

    /// True if the caller must send PINGREQ. The caller need not send it if it has already sent a PINGREQ on this
    /// connection.
    var wantsPing: Bool { isSuspicious && connection?.hasAnsweredPing == false }

    /// The time when ``timerFired(now:)`` must be called, or `nil` if no call is needed.
    var deadline: Instant? {
        guard let connection, connection.isControl, connection.hasAnsweredPing else { return nil }
        return connection.acceptedAt.advanced(by: Self.controlTime)
    }

    // MARK: Inputs

    /// Begins the suspicion of a message that has strikes: connections of an earlier process that the broker closed
    /// right after the message. The present or next connection becomes a control connection, which sends no messages
    /// for 10 s. If there is already a suspicion, the call has no effect.
    mutating func resume(_ token: Token, strikes: Int) {
        guard isEnabled, suspicion == nil, strikes > 0 else { return }
        suspicion = Suspicion(remaining: 1, suspect: (token, min(strikes, Self.strikeLimit - 1)))
        connection?.isControl = true
    }

    /// Records that the broker accepted a connection.
    mutating func connected(now: Instant) {
        guard isEnabled else { return }
        connection = Connection(acceptedAt: now, isControl: suspicion?.suspect != nil)
    }

    /// Records that the broker answered a PINGREQ on this connection.
    mutating func pingAnswered(now: Instant) {
        connection?.hasAnsweredPing = true
        endControl(now)
    }

    /// Ends the control phase of a connection, in which no messages are sent, if ``deadline`` has passed. An early call
    /// has no effect.
    mutating func timerFired(now: Instant) { endControl(now) }

    /// Records that a PUBLISH was written, for the first time or again. The call is needed only while ``isSuspicious``
    /// is true. A second call for the same message on the same connection has no effect.
    ///
    /// - Parameters:
    ///   - token: The token of the message.
    ///   - followsOtherBytes: True if bytes before the packet were still unsent.
    ///   - now: The current time.
    mutating func sent(_ token: Token, followsOtherBytes: Bool, now: Instant) {
        guard isSuspicious, connection?.flight?.token != token else { return }
        connection?.flight = Flight(token: token, firstByteAt: followsOtherBytes ? nil : now)
    }

    /// Records that all written bytes were sent. The call is needed only while ``isSuspicious`` is true, after
    /// ``sent(_:followsOtherBytes:now:)``.
    mutating func lastByteWritten(now: Instant) {
        guard let flight = connection?.flight, flight.lastByteAt == nil else { return }
        connection?.flight?.lastByteAt = now
    }

    /// Records that the broker answered a PUBLISH with PUBACK or PUBREC, or that the message ended in another way.
    mutating func finished(_ token: Token) {
        guard suspicion != nil else { return }
        let isInFlight = connection?.flight?.token == token
        let isSuspect = suspicion?.suspect?.token == token
        guard isInFlight || isSuspect else { return }
        if isInFlight { connection?.flight = nil }
        if isSuspect {
            suspicion?.suspect = nil
            connection?.isControl = false
        }
        suspicion?.remaining -= 1
        endSuspicionIfDone()
    }

    /// Records that an accepted connection ended. Returns the decision about the message that may have caused the end.
    mutating func connectionLost(_ cause: Cause, _ unanswered: Unanswered, now: Instant) -> Judgement {
        guard let connection else { return Judgement() }
        self.connection = nil
        if connection.isControl { return controlEndedEarly() }
        let publishes = unanswered.publishes
        if case .peerDisconnected(let code) = cause, cause.namesMessage, let token = publishes.only,
            !Self.isRecent(publishes.lastQoS0SentAt, now)
        {
            return Judgement(verdict: end(token, code), explainsLoss: true)
        }
        guard cause.mayBlameMessage else { return Judgement() }
        guard let suspicion else {
            let isRecent = unanswered.hasUnwrittenBytes || Self.isRecent(publishes.lastSentAt, now)
            if publishes.count > 0, isRecent || cause.namesMessage {
                self.suspicion = Suspicion(remaining: publishes.count)
            }
            return Judgement()
        }
        guard connection.hasAnsweredPing, let flight = connection.flight, publishes.only == flight.token,
            flight.isRecent(now)
        else { return Judgement() }
        let strikes = 1 + (suspicion.suspect?.token == flight.token ? suspicion.suspect?.strikes ?? 0 : 0)
        if strikes >= Self.strikeLimit {
            return Judgement(verdict: end(flight.token, nil), explainsLoss: suspicion.isPlausible)
        }
        self.suspicion?.suspect = (flight.token, strikes)
        return Judgement(verdict: .storeStrikes(flight.token, strikes), explainsLoss: suspicion.isPlausible)
    }

    /// Ends the suspicion. Called when the messages in flight belong to another session now, because the broker or the
    /// client id has changed, or `destroy()` was called.
    ///
    /// The caller must not call this function if the same broker lost the session and the messages are published again.
    /// In this case, the suspicion must continue. Two examples: A client with clean start loses its session at the end
    /// of each connection. A broker may crash because of a message, and lose the sessions of its clients.
    mutating func sessionChanged() {
        suspicion = nil
        connection?.isControl = false
        connection?.flight = nil
    }

    // MARK: Helpers

    private mutating func endControl(_ now: Instant) {
        guard let deadline, now >= deadline else { return }
        connection?.isControl = false
        suspicion?.isPlausible = true
    }

    private mutating func controlEndedEarly() -> Judgement {
        guard let suspect = suspicion?.suspect else { return Judgement() }
        suspicion?.suspect = nil
        suspicion?.isPlausible = false
        return Judgement(verdict: .storeStrikes(suspect.token, 0))
    }

    private mutating func end(_ token: Token, _ code: PacketReasonCode?) -> Verdict {
        let earlier = suspicion?.suspect?.token == token ? suspicion?.suspect?.strikes ?? 0 : 0
        if suspicion?.suspect?.token == token { suspicion?.suspect = nil }
        suspicion?.remaining -= 1
        endSuspicionIfDone()
        return .end(Rejection(token: token, strikes: earlier + 1, code: code))
    }

    private mutating func endSuspicionIfDone() {
        if let suspicion, suspicion.remaining <= 0, suspicion.suspect == nil { self.suspicion = nil }
    }

    private static func isRecent(_ instant: Instant?, _ now: Instant) -> Bool {
        instant.map { $0.duration(to: now) <= closeWindow } ?? false
    }
}

extension MessageSuspicion.Rejection {
    /// Returns the text of the error that ends the message: the cause and the remedy.
    ///
    /// - Parameters:
    ///   - broker: The name of the broker.
    ///   - topic: The topic of the message.
    /// - Returns: The text, in complete sentences.
    func text(broker: String, topic: String) -> String {
        let advice =
            "The message is not sent again. "
            + "Compare the message's topic, size and content with the broker's limits and permissions."
        if let code {
            let number = String(code.rawValue, radix: 16, uppercase: true)
            return
                "The broker \(broker) ended the connection with the reason code 0x\(number)"
                + " because of the message to \(topic). \(advice)"
        }
        return
            "The broker \(broker) closed \(strikes) connections right after the message to \(topic)."
            + " Connections that did not carry this message stayed open. \(advice)"
    }
}

extension MessageSuspicion.Cause {
    /// True if the broker's reason code says that a message is the cause.
    fileprivate var namesMessage: Bool {
        switch self {
        case .peerDisconnected(.topicNameInvalid), .peerDisconnected(.packetTooLarge),
            .peerDisconnected(.payloadFormatInvalid), .peerDisconnected(.retainNotSupported),
            .peerDisconnected(.qosNotSupported):
            true
        case .peerClosed, .peerDisconnected, .other: false
        }
    }

    /// True if a message may be the cause of this end of a connection.
    fileprivate var mayBlameMessage: Bool {
        switch self {
        case .peerClosed: true
        case .peerDisconnected(let code): !code.namesOtherReason
        case .other: false
        }
    }
}

extension PacketReasonCode {
    /// True if this reason code of a DISCONNECT excludes a single message as the cause. The code then names the
    /// broker's state, another client, or the number of messages that this client sends.
    fileprivate var namesOtherReason: Bool {
        switch self {
        case .serverBusy, .serverShuttingDown, .keepAliveTimeout, .sessionTakenOver, .administrativeAction,
            .useAnotherServer,
            .serverMoved, .connectionRateExceeded, .maximumConnectTime, .messageRateTooHigh, .quotaExceeded,
            .receiveMaximumExceeded:
            true
        default: false
        }
    }
}
