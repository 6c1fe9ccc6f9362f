import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// Each rule of message suspicion separately. ``MessageSuspicionWalkTests`` tests sequences of connections.
@Suite struct MessageSuspicionTests {
    private typealias Cause = MessageSuspicion.Cause
    private typealias Judgement = MessageSuspicion.Judgement
    private typealias Rejection = MessageSuspicion.Rejection

    /// One client with its connections. Only the test moves the time.
    private struct Script {
        var suspicion: MessageSuspicion
        var now = ContinuousClock.now

        init(isEnabled: Bool = true, suspect: (token: Token, strikes: Int)? = nil) {
            suspicion = MessageSuspicion(isEnabled: isEnabled)
            if let suspect { suspicion.resume(suspect.token, strikes: suspect.strikes) }
        }

        mutating func pass(_ duration: Duration) { now = now.advanced(by: duration) }

        mutating func lose(
            _ cause: Cause, count: Int = 0, only: Token? = nil, sent age: Duration = .zero,
            qos0 qos0Age: Duration? = nil,
            hasUnwrittenBytes: Bool = false
        ) -> Judgement {
            let publishes = UnacknowledgedPublishes(
                count: count, only: only, lastSentAt: count > 0 ? now - age : nil,
                lastQoS0SentAt: qos0Age.map { now - $0 })
            return suspicion.connectionLost(
                cause, .init(publishes: publishes, hasUnwrittenBytes: hasUnwrittenBytes), now: now)
        }

        /// The broker ends a connection with three messages in flight, of which 1 is the first.
        mutating func becomeSuspicious() {
            suspicion.connected(now: now)
            #expect(lose(.peerClosed, count: 3) == Judgement())
            #expect(suspicion.isSuspicious)
        }

        mutating func connectAndPing() {
            suspicion.connected(now: now)
            suspicion.pingAnswered(now: now)
        }

        mutating func send(_ token: Token) {
            suspicion.sent(token, followsOtherBytes: false, now: now)
            suspicion.lastByteWritten(now: now)
        }

        /// A connection on which the message is sent alone, after the time of a control connection if it is required.
        mutating func connectAndSend(_ token: Token = 1) {
            connectAndPing()
            if suspicion.sendLimit == 0 {
                pass(MessageSuspicion.controlTime)
                suspicion.timerFired(now: now)
            }
            #expect(suspicion.sendLimit == 1)
            send(token)
        }

        /// A connection that ends right after the message was sent alone.
        mutating func strike(_ token: Token = 1) -> Judgement {
            connectAndSend(token)
            pass(.seconds(1))
            return lose(.peerClosed, count: 1, only: token, sent: .seconds(1))
        }
    }

    // MARK: When suspicion starts

    @Test(arguments: [Cause.peerClosed, .peerDisconnected(.unspecifiedError), .peerDisconnected(.packetTooLarge)])
    private func `if the broker closes the connection right after unacknowledged messages, the messages are suspected`(
        _ cause: Cause
    ) {
        var script = Script()
        #expect(script.suspicion.sendLimit == nil && !script.suspicion.wantsPing)
        script.suspicion.connected(now: script.now)
        #expect(script.lose(cause, count: 2, sent: .seconds(2)) == Judgement())
        #expect(script.suspicion.sendLimit == 0)
    }

    @Test(arguments: [
        Cause.other, .peerDisconnected(.serverShuttingDown), .peerDisconnected(.sessionTakenOver),
        .peerDisconnected(.keepAliveTimeout),
    ])
    private func `no message is suspected if the close reason is unrelated to messages`(_ cause: Cause) {
        var script = Script()
        script.suspicion.connected(now: script.now)
        #expect(script.lose(cause, count: 2) == Judgement())
        #expect(!script.suspicion.isSuspicious)
    }

    @Test
    func `no message is suspected after a connection loss before CONNACK or without recent unacknowledged messages`() {
        var script = Script()
        script.suspicion.connected(now: script.now)
        _ = script.lose(.peerClosed, count: 0)
        #expect(!script.suspicion.isSuspicious)
        script.suspicion.connected(now: script.now)
        _ = script.lose(.peerClosed, count: 1, only: 1, sent: .milliseconds(2_001))
        #expect(!script.suspicion.isSuspicious)
        _ = script.lose(.peerClosed, count: 1, only: 1)
        #expect(!script.suspicion.isSuspicious)
        script.suspicion.connected(now: script.now)
        _ = script.lose(.peerClosed, count: 1, only: 1, sent: .seconds(9), hasUnwrittenBytes: true)
        #expect(script.suspicion.isSuspicious, "it was still being written")
    }

    @Test func `no message is suspected if the suspicion of messages is disabled`() {
        var script = Script(isEnabled: false, suspect: (1, 2))
        for _ in 0..<5 {
            script.connectAndPing()
            script.send(1)
            #expect(script.lose(.peerDisconnected(.packetTooLarge), count: 1, only: 1) == Judgement())
            #expect(script.suspicion.sendLimit == nil && script.suspicion.deadline == nil)
        }
    }

    // MARK: While it lasts

    @Test func `while a message is suspected, messages are sent one at a time and only after a ping is answered`() {
        var script = Script()
        script.becomeSuspicious()
        #expect(script.suspicion.sendLimit == 0 && !script.suspicion.wantsPing)
        script.suspicion.connected(now: script.now)
        #expect(script.suspicion.sendLimit == 0 && script.suspicion.wantsPing)
        script.suspicion.pingAnswered(now: script.now)
        #expect(script.suspicion.sendLimit == 1 && !script.suspicion.wantsPing && script.suspicion.deadline == nil)
    }

    @Test
    func `if three messages were unacknowledged at a connection loss, suspicion ends after three messages have ended`()
    {
        var script = Script()
        script.becomeSuspicious()
        script.connectAndPing()
        for token in [1, 2, 3] as [Token] {
            #expect(script.suspicion.sendLimit == 1)
            script.send(token)
            script.suspicion.finished(99)  // A QoS 2 message that ended with PUBCOMP. It is not in flight.
            script.suspicion.finished(token)
            script.suspicion.finished(token)
        }
        #expect(script.suspicion.sendLimit == nil)
    }

    // MARK: Strikes

    @Test func `a message that ends three connections is rejected, and the next message is sent right after a ping`() {
        var script = Script()
        script.becomeSuspicious()
        #expect(script.strike() == Judgement(verdict: .storeStrikes(1, 1), explainsLoss: true))
        #expect(script.strike() == Judgement(verdict: .storeStrikes(1, 2), explainsLoss: true))
        #expect(script.strike() == Judgement(verdict: .end(Rejection(token: 1, strikes: 3)), explainsLoss: true))
        #expect(script.suspicion.isSuspicious, "two more had no answer")
        script.connectAndPing()
        #expect(script.suspicion.sendLimit == 1, "no control: no message has a strike")
    }

    @Test func `a message gets a strike only if it was sent alone and the broker closes the connection within 2 s`() {
        var script = Script()
        script.becomeSuspicious()
        func neutral(_ change: (inout Script) -> Judgement) {
            script.connectAndPing()
            script.send(1)
            #expect(change(&script) == Judgement())
            #expect(script.suspicion.isSuspicious)
        }
        neutral { $0.lose(.peerClosed, count: 1) }  // A SUBSCRIBE also waits for its answer.
        neutral { $0.lose(.peerClosed, count: 2) }
        neutral { $0.lose(.other, count: 1, only: 1) }
        neutral { $0.lose(.peerDisconnected(.serverShuttingDown), count: 1, only: 1) }
        neutral {
            $0.pass(.milliseconds(2_001))
            return $0.lose(.peerClosed, count: 1, only: 1, sent: .milliseconds(2_001))
        }
        script.connectAndPing()
        script.send(1)
        script.pass(.seconds(2))
        #expect(script.lose(.peerClosed, count: 1, only: 1, sent: .seconds(2)).verdict == .storeStrikes(1, 1))
    }

    @Test func `a message gets no strike if the connection is lost before the ping is answered`() {
        var script = Script()
        script.becomeSuspicious()
        script.suspicion.connected(now: script.now)
        script.send(1)
        #expect(script.lose(.peerClosed, count: 1, only: 1) == Judgement())
    }

    @Test
    func `a message gets a strike if the broker closes the connection within 2 s of the message's first or last byte`()
    {
        var script = Script()
        script.becomeSuspicious()
        script.connectAndPing()
        script.suspicion.sent(1, followsOtherBytes: false, now: script.now)
        script.pass(.seconds(30))
        script.suspicion.lastByteWritten(now: script.now)
        script.pass(.seconds(2))
        #expect(script.lose(.peerClosed, count: 1, only: 1, sent: .seconds(32)).verdict == .storeStrikes(1, 1))

        script = Script()
        script.becomeSuspicious()
        script.connectAndPing()
        script.suspicion.sent(1, followsOtherBytes: false, now: script.now)
        script.pass(.seconds(2))
        #expect(script.lose(.peerClosed, count: 1, only: 1, hasUnwrittenBytes: true).verdict == .storeStrikes(1, 1))

        script = Script()
        script.becomeSuspicious()
        script.connectAndPing()
        script.suspicion.sent(1, followsOtherBytes: false, now: script.now)
        script.pass(.milliseconds(2_001))
        #expect(script.lose(.peerClosed, count: 1, only: 1, hasUnwrittenBytes: true) == Judgement())
    }

    @Test func `a message that waits behind other bytes is not suspected before its last byte is written`() {
        var script = Script()
        script.becomeSuspicious()
        script.connectAndPing()
        script.suspicion.sent(1, followsOtherBytes: true, now: script.now)
        #expect(script.lose(.peerClosed, count: 1, only: 1, hasUnwrittenBytes: true) == Judgement())
    }

    // MARK: The connection without the message

    @Test func `after a strike, no message is sent until the connection has lasted 10 s and a ping is answered`() throws
    {
        var script = Script()
        script.becomeSuspicious()
        _ = script.strike()
        script.suspicion.connected(now: script.now)
        let accepted = script.now
        #expect(script.suspicion.deadline == nil, "there is no ping yet")
        script.pass(.seconds(4))
        script.suspicion.pingAnswered(now: script.now)
        #expect(script.suspicion.deadline == accepted.advanced(by: .seconds(10)))
        script.pass(.milliseconds(5_999))
        script.suspicion.timerFired(now: script.now)
        #expect(script.suspicion.sendLimit == 0)
        script.pass(.milliseconds(1))
        script.suspicion.timerFired(now: script.now)
        #expect(script.suspicion.sendLimit == 1 && script.suspicion.deadline == nil)
    }

    @Test func `after a strike, a connection older than 10 s sends messages as soon as the ping is answered`() {
        var script = Script()
        script.becomeSuspicious()
        _ = script.strike()
        script.suspicion.connected(now: script.now)
        script.pass(.seconds(12))
        script.suspicion.timerFired(now: script.now)
        #expect(script.suspicion.sendLimit == 0)
        script.suspicion.pingAnswered(now: script.now)
        #expect(script.suspicion.sendLimit == 1)
    }

    @Test(arguments: [Cause.peerClosed, .other])
    private func `if a connection without messages ends in under 10 s, the suspected message's strikes are reset`(
        _ cause: Cause
    ) {
        var script = Script()
        script.becomeSuspicious()
        _ = script.strike()
        _ = script.strike()
        script.connectAndPing()
        script.pass(.seconds(9))
        #expect(script.lose(cause) == Judgement(verdict: .storeStrikes(1, 0), explainsLoss: false))
        // These losses count for the takeover rule again, because the connections end without the message.
        #expect(script.strike() == Judgement(verdict: .storeStrikes(1, 1), explainsLoss: false))
        #expect(script.strike() == Judgement(verdict: .storeStrikes(1, 2), explainsLoss: true), "the control lasted")
    }

    @Test func `a connection loss unrelated to messages does not change the strikes of a message`() {
        var script = Script()
        script.becomeSuspicious()
        _ = script.strike()
        script.connectAndSend()
        #expect(script.lose(.other, count: 1, only: 1) == Judgement())
        script.connectAndPing()
        #expect(script.suspicion.sendLimit == 0)
        _ = script.lose(.other)
        #expect(script.strike().verdict == .storeStrikes(1, 1))
    }

    @Test func `after the suspected message is acknowledged, the next message starts with no strikes`() {
        var script = Script()
        script.becomeSuspicious()
        _ = script.strike()
        script.connectAndSend()
        script.suspicion.finished(1)
        #expect(script.suspicion.sendLimit == 1)
        script.send(2)
        #expect(script.lose(.peerClosed, count: 1, only: 2).verdict == .storeStrikes(2, 1))
    }

    // MARK: A reason code that names the message

    @Test(arguments: [
        PacketReasonCode.topicNameInvalid, .packetTooLarge, .payloadFormatInvalid, .retainNotSupported,
        .qosNotSupported,
    ])
    func `after DISCONNECT with a message-related reason code, the only message in flight is rejected at once`(
        _ code: PacketReasonCode
    ) {
        var script = Script()
        script.suspicion.connected(now: script.now)
        let judgement = script.lose(.peerDisconnected(code), count: 1, only: 7, sent: .seconds(30), qos0: .seconds(3))
        #expect(judgement.verdict == .end(Rejection(token: 7, strikes: 1, code: code)))
        #expect(!script.suspicion.isSuspicious)
    }

    @Test
    func `after DISCONNECT packetTooLarge, messages are suspected, even if a recent QoS 0 message may be the cause`() {
        var script = Script()
        script.suspicion.connected(now: script.now)
        #expect(script.lose(.peerDisconnected(.packetTooLarge), count: 1, only: 7, qos0: .seconds(1)) == Judgement())
        #expect(script.suspicion.isSuspicious)
    }

    @Test func `after DISCONNECT packetTooLarge, messages are suspected even if the messages were sent 30 s ago`() {
        var script = Script()
        script.suspicion.connected(now: script.now)
        #expect(script.lose(.peerDisconnected(.packetTooLarge), count: 2, sent: .seconds(30)) == Judgement())
        #expect(script.suspicion.isSuspicious)
    }

    // MARK: Restarts and other sessions

    @Test
    func `after strikes are loaded, an open connection sends no message before it is 10 s old and a ping is answered`()
    {
        var script = Script()
        script.suspicion.connected(now: script.now)
        let accepted = script.now
        script.pass(.seconds(3))
        script.suspicion.resume(5, strikes: 1)
        #expect(script.suspicion.suspectedToken == 5 && script.suspicion.sendLimit == 0 && script.suspicion.wantsPing)
        script.suspicion.pingAnswered(now: script.now)
        #expect(script.suspicion.deadline == accepted.advanced(by: .seconds(10)))
        script.suspicion.resume(6, strikes: 2)
        #expect(script.suspicion.suspectedToken == 5, "one suspect at a time, the first in order")
        script.suspicion.finished(5)
        #expect(script.suspicion.sendLimit == nil)
    }

    @Test
    func `after a restart, the stored strikes of a message count, and the first connection starts without messages`() {
        var script = Script(suspect: (5, 2))
        #expect(script.suspicion.sendLimit == 0)
        script.connectAndPing()
        #expect(script.suspicion.sendLimit == 0)
        _ = script.lose(.other)
        script = Script(suspect: (5, 2))
        #expect(script.strike(5).verdict == .end(Rejection(token: 5, strikes: 3)))
        #expect(!script.suspicion.isSuspicious)
        #expect(!Script(suspect: (5, 0)).suspicion.isSuspicious)
    }

    @Test func `messages are no longer suspected when the session changes`() {
        var script = Script()
        script.becomeSuspicious()
        _ = script.strike()
        script.suspicion.sessionChanged()
        #expect(script.suspicion.sendLimit == nil)
        script.connectAndPing()
        #expect(script.suspicion.sendLimit == nil && script.suspicion.deadline == nil)
    }

    @Test func `the error text of a rejected message names the broker, the topic and the reason`() {
        let named = Rejection(token: 1, strikes: 1, code: .packetTooLarge).text(broker: "b:1883", topic: "\"t\"")
        #expect(named.contains("b:1883") && named.contains("\"t\"") && named.contains("0x95"))
        #expect(Rejection(token: 1, strikes: 3).text(broker: "b", topic: "t").contains("3 connections"))
    }
}
