import MQTTEngine
import TestSupport

@testable import CourierMQTT

/// A client with a queue of QoS 1 messages and a broker, in virtual time.
struct SuspicionWorld {
    typealias Instant = ContinuousClock.Instant

    /// The behavior of the broker and of the network path.
    struct Conditions {
        /// The messages at which the broker closes the connection.
        var poison: Set<UInt64> = []
        /// The messages that never arrive.
        var dropped: Set<UInt64> = []
        /// The lifetime of each connection after CONNACK, independent of the sent messages.
        var lifetime: (inout SeededGenerator) -> Duration? = { _ in nil }
    }

    static let tick = Duration.milliseconds(20)
    private static let roundTrip = Duration.milliseconds(100)
    private static let acknowledgementTimeout = Duration.seconds(20)
    private static let maximumInFlight = 20

    private(set) var suspicion = MessageSuspicion()
    private(set) var now = ContinuousClock.now
    /// Messages that were acknowledged.
    private(set) var acknowledged: Set<UInt64> = []
    /// Messages that the suspicion ended.
    private(set) var ended: [UInt64] = []
    private(set) var lossCount = 0
    /// Losses that the takeover rule does not count.
    private(set) var explainedCount = 0
    private var random: SeededGenerator
    private let conditions: Conditions

    private var waiting: [UInt64] = []
    /// The messages that were sent on this connection without an answer, and the time of the answer.
    private var inFlight: [(token: UInt64, sentAt: Instant, answerAt: Instant?)] = []
    private var isConnected = false
    private var connectAt: Instant
    private var closeAt: Instant?
    private var pongAt: Instant?
    /// True if the broker does not read this connection any more.
    private var isBroken = false
    private var strikes: (token: Token, strikes: Int)?
    /// The strikes that survive a restart.
    var storedStrikes: Int { strikes?.strikes ?? 0 }

    init(seed: UInt64, _ conditions: Conditions) {
        random = SeededGenerator(seed: seed)
        self.conditions = conditions
        connectAt = now
    }

    var isDone: Bool { waiting.isEmpty && inFlight.isEmpty }

    mutating func publish(_ token: UInt64) { waiting.append(token) }

    /// Kills and restarts the process with the data that it has stored.
    mutating func restart() {
        if isConnected { requeue() }
        suspicion = MessageSuspicion()
        if let strikes { suspicion.resume(strikes.token, strikes: strikes.strikes) }
        connectAt = now
    }

    mutating func step() {
        now = now.advanced(by: Self.tick)
        guard isConnected else {
            if now >= connectAt { connect() }
            return
        }
        // Answers that the broker sent before it closed the connection arrive first.
        if let pongAt, now >= pongAt {
            self.pongAt = nil
            suspicion.pingAnswered(now: now)
        }
        while let first = inFlight.first, let answerAt = first.answerAt, now >= answerAt {
            inFlight.removeFirst()
            acknowledged.insert(first.token)
            suspicion.finished(Token(rawValue: first.token))
            if strikes?.token.rawValue == first.token { strikes = nil }
        }
        if let closeAt, now >= closeAt { return lose(.peerClosed) }
        if let first = inFlight.first, first.sentAt.duration(to: now) >= Self.acknowledgementTimeout {
            return lose(.other)
        }
        if let deadline = suspicion.deadline, now >= deadline { suspicion.timerFired(now: now) }
        if suspicion.wantsPing, pongAt == nil, !isBroken { pongAt = now.advanced(by: Self.roundTrip) }
        send()
    }

    private mutating func connect() {
        isConnected = true
        isBroken = false
        closeAt = conditions.lifetime(&random).map { now.advanced(by: $0) }
        suspicion.connected(now: now)
    }

    private mutating func send() {
        while inFlight.count < min(suspicion.sendLimit ?? .max, Self.maximumInFlight), !waiting.isEmpty {
            let token = waiting.removeFirst()
            let isAnswered = !isBroken && !conditions.dropped.contains(token) && !conditions.poison.contains(token)
            // After a dropped packet, no later packet arrives, because TCP waits for the dropped packet.
            if conditions.dropped.contains(token) { isBroken = true }
            inFlight.append((token, now, isAnswered ? now.advanced(by: Self.roundTrip) : nil))
            if conditions.poison.contains(token), !isBroken {
                isBroken = true
                let end = now.advanced(by: Self.roundTrip)
                closeAt = min(closeAt ?? end, end)
            }
            if suspicion.isSuspicious {
                suspicion.sent(Token(rawValue: token), followsOtherBytes: false, now: now)
                suspicion.lastByteWritten(now: now)
            }
        }
    }

    private mutating func requeue() {
        waiting = inFlight.map(\.token) + waiting
        inFlight = []
        isConnected = false
        closeAt = nil
        pongAt = nil
    }

    private mutating func lose(_ cause: MessageSuspicion.Cause) {
        lossCount += 1
        let unanswered = UnacknowledgedPublishes(
            count: inFlight.count, only: inFlight.count == 1 ? inFlight.first.map { Token(rawValue: $0.token) } : nil,
            lastSentAt: inFlight.last?.sentAt)
        requeue()
        let judgement = suspicion.connectionLost(cause, .init(publishes: unanswered), now: now)
        explainedCount += judgement.explainsLoss ? 1 : 0
        switch judgement.verdict {
        case .none: break
        case .storeStrikes(let token, let count): strikes = (token, count)
        case .end(let rejection):
            strikes = nil
            ended.append(rejection.token.rawValue)
            waiting.removeAll { $0 == rejection.token.rawValue }
        }
        connectAt = now.advanced(by: .milliseconds(200 + random.below(1_800)))
    }
}
