import MQTTCodec
import MQTTEngine

/// Finds the message that makes the broker end connections, and ends that message and no other.
///
/// A value without clocks and timers. After each input, give ``sendLimit`` to the engine, send PINGREQ if ``wantsPing``, and
/// call ``timerFired(now:)`` once ``deadline`` has passed.
///
/// ```
/// trusting ──the broker closes before it acknowledged what was just sent──▶ suspicious: one message at a time
///    ▲                                                                            │
///    └────── as many messages have finished as had no answer at the start ────────┤
///                                                                                 ▼
///              strike: the broker closed within 2 s of the only message without an answer
///                                                                                 │
///              control: the next connection sends no message for 10 s ◀───────────┘
///                 │                                   │
///                 ended early: strikes back to 0      lasted: the message is sent again; 3 strikes end it
/// ```
///
/// The criterion for the end of the suspicion is a count, because messages are sent again in order: the messages that had
/// no answer at the start come first. A message that ended in another way meanwhile only makes the suspicion last longer.
struct MessageSuspicion: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How a connection ended, as far as it matters here.
    enum Cause: Equatable, Sendable {
        /// The broker closed the byte stream (FIN or RST) and gave no reason.
        case peerClosed
        /// The broker sent DISCONNECT of MQTT 5 with this code.
        case peerDisconnected(PacketReasonCode)
        /// A timeout, a failure of TLS, a change of networks, or an end that this side wanted.
        case other
    }

    /// The messages without an answer at the end of a connection.
    struct Unanswered: Equatable, Sendable {
        var publishes = UnacknowledgedPublishes()
        /// Whether bytes for the broker still waited on this side.
        var hasUnwrittenBytes = false
    }

    /// A message that ends because of the connections that it ended.
    struct Rejection: Equatable, Sendable {
        let token: Token
        /// How many connections ended because of it.
        let strikes: Int
        /// The code of the DISCONNECT that names the message; `nil` if the broker gave no such reason.
        var code: PacketReasonCode?
    }

    /// The verdict on a message.
    enum Verdict: Equatable, Sendable {
        case none
        /// Store that the message has this many strikes, if it is stored.
        case storeStrikes(Token, Int)
        /// Give the message up in the engine, and end it with an error.
        case end(Rejection)
    }

    /// The judgement of the end of a connection.
    struct Judgement: Equatable, Sendable {
        var verdict = Verdict.none
        /// Whether a message explains the end, so that it is no sign of another client with the same client id.
        var explainsLoss = false
    }

    /// A message ends with this many strikes.
    static let strikeLimit = 3
    /// How soon after a message a close is blamed on the message.
    static let closeWindow = Duration.seconds(2)
    /// How long a connection without the message must last.
    static let controlTime = Duration.seconds(10)

    private struct Suspicion {
        /// How many more messages must finish until the suspicion ends.
        var remaining: Int
        var suspect: (token: Token, strikes: Int)?
        /// Whether strikes explain losses: not after a connection without the message has ended early, too.
        var isPlausible = true
    }

    private struct Connection {
        let acceptedAt: Instant
        /// Whether the connection runs without messages to prove that it lasts.
        var isControl: Bool
        var hasAnsweredPing = false
        var flight: Flight?
    }

    /// The only message that was sent on this connection and has no answer.
    private struct Flight {
        let token: Token
        /// When its first byte was written; `nil` if other bytes waited before it.
        let firstByteAt: Instant?
        var lastByteAt: Instant?

        /// Whether a close at `now` came soon enough after the message.
        ///
        /// Before the last byte, the first one counts: a broker closes as soon as it has read the size of a packet that is
        /// too large.
        func isRecent(_ now: Instant) -> Bool {
            guard let start = lastByteAt ?? firstByteAt else { return false }
            return start.duration(to: now) <= MessageSuspicion.closeWindow
        }
    }

    private let isEnabled: Bool
    private var suspicion: Suspicion?
    private var connection: Connection?

    /// Makes a value that trusts all messages.
    ///
    /// - Parameter isEnabled: Whether messages are ever suspected.
    init(isEnabled: Bool = true) { self.isEnabled = isEnabled }

    // MARK: Answers

    /// Whether messages are sent one at a time.
    var isSuspicious: Bool { suspicion != nil }

    /// The message that has strikes.
    var suspectedToken: Token? { suspicion?.suspect?.token }

    /// How many messages may be unacknowledged at a time; `nil` is no limit. 0 without a connection, so that a connection
    /// begins with it.
    var sendLimit: Int? {
        guard isSuspicious else { return nil }
        guard let connection, connection.hasAnsweredPing, !connection.isControl else { return 0 }
        return 1
    }

    /// Whether PINGREQ must be sent on this connection, unless that was done.
    var wantsPing: Bool { isSuspicious && connection?.hasAnsweredPing == false }

    /// When ``timerFired(now:)`` is due.
    var deadline: Instant? {
        guard let connection, connection.isControl, connection.hasAnsweredPing else { return nil }
        return connection.acceptedAt.advanced(by: Self.controlTime)
    }

    // MARK: Inputs

    /// A message of an earlier process has strikes. The present connection, or the next one, is a control. Ignored if there
    /// is a suspicion.
    mutating func resume(_ token: Token, strikes: Int) {
        guard isEnabled, suspicion == nil, strikes > 0 else { return }
        suspicion = Suspicion(remaining: 1, suspect: (token, min(strikes, Self.strikeLimit - 1)))
        connection?.isControl = true
    }

    /// The broker has accepted a connection.
    mutating func connected(now: Instant) {
        guard isEnabled else { return }
        connection = Connection(acceptedAt: now, isControl: suspicion?.suspect != nil)
    }

    /// The broker has answered a PINGREQ of this connection.
    mutating func pingAnswered(now: Instant) {
        connection?.hasAnsweredPing = true
        endControl(now)
    }

    /// ``deadline`` has passed; too early is harmless.
    mutating func timerFired(now: Instant) { endControl(now) }

    /// A PUBLISH was written, new or again; needed only while ``isSuspicious``. A repeated call for it changes nothing.
    ///
    /// - Parameters:
    ///   - token: The message.
    ///   - followsOtherBytes: Whether bytes before the packet were still unwritten.
    ///   - now: The present.
    mutating func sent(_ token: Token, followsOtherBytes: Bool, now: Instant) {
        guard isSuspicious, connection?.flight?.token != token else { return }
        connection?.flight = Flight(token: token, firstByteAt: followsOtherBytes ? nil : now)
    }

    /// All bytes have left this side. Needed only while ``isSuspicious``, behind ``sent(_:followsOtherBytes:now:)``.
    mutating func lastByteWritten(now: Instant) {
        guard let flight = connection?.flight, flight.lastByteAt == nil else { return }
        connection?.flight?.lastByteAt = now
    }

    /// The broker has answered the PUBLISH of a message (PUBACK or PUBREC), or the message has ended in another way.
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

    /// The connection that the broker had accepted has ended.
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

    /// The messages in flight belong to another session: of another broker or client id, or after `destroy()`.
    ///
    /// A session that the same broker has lost is none of these as long as its messages are published again: a client
    /// that starts clean loses its session with each connection, and so does the client of a broker that a message crashes.
    mutating func sessionChanged() {
        suspicion = nil
        connection?.isControl = false
        connection?.flight = nil
    }

    // MARK: Steps

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
    /// The text of the error with which the message ends: what happened, and the remedy.
    ///
    /// - Parameters:
    ///   - broker: The name of the broker.
    ///   - topic: The topic of the message.
    /// - Returns: Three sentences.
    func text(broker: String, topic: String) -> String {
        let advice =
            "It is not sent again. Compare its topic, size and content with the broker's limits and permissions."
        if let code {
            let number = String(code.rawValue, radix: 16, uppercase: true)
            return
                "The broker \(broker) ended the connection with the reason code 0x\(number) because of the message to"
                + " \(topic). \(advice)"
        }
        return
            "The broker \(broker) closed \(strikes) connections right after the message to \(topic). Connections without"
            + " the message lasted. \(advice)"
    }
}

extension MessageSuspicion.Cause {
    /// Whether the broker said that a message is the reason.
    fileprivate var namesMessage: Bool {
        switch self {
        case .peerDisconnected(.topicNameInvalid), .peerDisconnected(.packetTooLarge),
            .peerDisconnected(.payloadFormatInvalid), .peerDisconnected(.retainNotSupported),
            .peerDisconnected(.qosNotSupported):
            true
        case .peerClosed, .peerDisconnected, .other: false
        }
    }

    /// Whether the broker ended the connection for a reason that may be a message.
    fileprivate var mayBlameMessage: Bool {
        switch self {
        case .peerClosed: true
        case .peerDisconnected(let code): !code.namesOtherReason
        case .other: false
        }
    }
}

extension PacketReasonCode {
    /// Whether a DISCONNECT with this code has a reason that is no single message: the broker, another client, or how much
    /// this client sends.
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
