import MQTTCodec
import Testing

@testable import CourierTesting

@Suite struct `Script player` {
    private static let start = ContinuousClock.now

    /// A script player with its own time. Its actions are returned as words.
    private struct Play {
        var player: ScriptPlayer
        var now = start

        init(_ steps: ScriptStep...) { player = ScriptPlayer(steps, connection: 1) }

        mutating func opened() -> [String] { tell { $0.opened(now: $1, into: &$2) } }
        mutating func received(_ packet: Packet) -> [String] { tell { $0.received(packet, now: $1, into: &$2) } }
        mutating func connect(_ properties: PacketProperties = []) -> [String] {
            received(.connect(Connect(version: .v5, clientID: "c", properties: properties)))
        }
        mutating func publish(_ id: PacketID) -> [String] {
            received(.publish(Publish(topic: "t", payload: [], delivery: .atLeastOnce(id, isDuplicate: false))))
        }
        mutating func fired(after duration: Duration) -> [String] {
            now += duration
            return tell { $0.timerFired(now: $1, into: &$2) }
        }
        mutating func proceed() -> [String] { tell { $0.proceed(now: $1, into: &$2) } }
        mutating func released(_ gate: ScriptGate) -> [String] { tell { $0.released(gate, now: $1, into: &$2) } }
        mutating func lost() -> [String] {
            tell { player, _, actions in player.connectionLost("gone", into: &actions) }
        }

        private mutating func tell(
            _ input: (inout ScriptPlayer, ContinuousClock.Instant, inout [ScriptPlayer.Action]) -> Void
        ) -> [String] {
            var actions: [ScriptPlayer.Action] = []
            input(&player, now, &actions)
            return actions.map(\.words)
        }
    }

    @Test func `a script without steps is finished at once, but the client's packets are still answered`() {
        var play = Play()
        #expect(play.opened() == ["finished"])
        #expect(play.connect() == ["version 5.0", "send CONNACK"])
        #expect(play.publish(3) == ["send PUBACK 3"])
        #expect(play.lost() == [])
    }

    @Test func `after CONNECT, script steps that do not wait for a client packet run immediately and in order`() {
        var play = Play(.accept(), .send(.pingResp), .cutAfterSending(byteCount: 9, .reset), .cut(.orderly))
        #expect(play.opened() == [])
        #expect(
            play.connect() == [
                "version 5.0", "send CONNACK", "send PINGRESP", "limit 9 reset", "cut orderly", "finished",
            ])
        #expect(play.publish(1) == [])
        #expect(play.lost() == [])
    }

    @Test func `a pause step ends only at its deadline, even if a timer fires earlier`() {
        var play = Play(.accept(), .pause(.seconds(4)), .send(.pingResp))
        _ = play.opened()
        _ = play.connect()
        #expect(play.player.nextDeadline == Self.start + .seconds(4))
        #expect(play.publish(1) == [])
        #expect(play.fired(after: .seconds(3)) == [])
        #expect(play.fired(after: .seconds(1)) == ["send PINGRESP", "finished", "send PUBACK 1"])
        #expect(play.player.nextDeadline == nil)
    }

    @Test func `delayed answers are sent in the order of their deadlines`() {
        var play = Play(
            .accept(), .fault(.delay(.pubAck, by: .seconds(9), count: 1)), .fault(.delay(.pubAck, by: .seconds(2))))
        _ = play.opened()
        _ = play.connect()
        #expect(play.publish(1) + play.publish(2) + play.publish(3) == [])
        #expect(play.player.nextDeadline == Self.start + .seconds(2))
        #expect(play.fired(after: .seconds(2)) == ["send PUBACK 2", "send PUBACK 3"])
        #expect(play.fired(after: .seconds(7)) == ["send PUBACK 1"])
    }

    @Test func `all responses that a ScriptGate holds back are sent when the gate is released`() {
        let gate = ScriptGate()
        var play = Play(.accept(), .fault(.hold(.pubAck, until: gate)))
        _ = play.opened()
        _ = play.connect()
        #expect(play.publish(1) == ["watch"])
        #expect(play.publish(2) == [])
        #expect(play.released(gate) == ["send PUBACK 1", "send PUBACK 2"])
        #expect(play.publish(3) == ["send PUBACK 3"])
        #expect(play.released(gate) == [])
    }

    @Test func `after a stall step, answers that are delayed or held back are not sent`() {
        let gate = ScriptGate()
        var play = Play(
            .accept(), .fault(.delay(.subAck, by: .seconds(5))), .fault(.hold(.unsubAck, until: gate)),
            .serve(until: .publish), .stall)
        _ = play.opened()
        _ = play.connect()
        let subscription = Subscription("t", qos: .atMostOnce)
        #expect(play.received(.subscribe(Subscribe(packetID: 1, subscriptions: [subscription]))) == [])
        #expect(play.received(.unsubscribe(Unsubscribe(packetID: 2, filters: ["t"]))) == ["watch"])
        #expect(play.publish(3) == ["finished"])
        #expect(play.player.nextDeadline == nil)
        #expect(play.fired(after: .seconds(5)) + play.released(gate) == [])
    }

    @Test func `a failed expectation closes the connection, and later packets are ignored`() {
        var play = Play(.accept(), .expect(.subscribe))
        _ = play.opened()
        _ = play.connect()
        #expect(play.received(.pingReq) == ["send PINGRESP"])
        #expect(
            play.publish(1) == [
                "failed: connection 1, step 2 (expect SUBSCRIBE): PUBLISH arrived instead", "cut orderly",
            ])
        #expect(play.publish(2) + play.lost() + play.fired(after: .seconds(1)) == [])
    }

    @Test func `an answer step fails the script if no earlier step expected a client packet`() {
        var play = Play(.answer)
        #expect(
            play.opened() == [
                "failed: connection 1, step 1 (answer): "
                    + "there is no packet to answer, because no earlier step expects a packet",
                "cut orderly",
            ])
    }

    @Test func `a lost connection fails the script only if a remaining step expects a client packet`() {
        var silent = Play(.accept(), .hold(ScriptGate()), .send(.pingResp))
        _ = silent.opened()
        _ = silent.connect()
        #expect(silent.lost() == ["finished"])
        var asked = Play(.accept(), .hold(ScriptGate()), .send(.pingResp), .serve(until: .disconnect))
        _ = asked.opened()
        _ = asked.connect()
        #expect(asked.lost() == ["failed: connection 1, step 4 (serve until DISCONNECT): gone", "cut orderly"])
    }

    @Test func `a flood step waits for acknowledgements, and pauses while the connection is congested`() {
        var play = Play(.accept(), .flood(PublishFlood(count: 5, qos: .atLeastOnce)))
        _ = play.opened()
        #expect(play.connect([.receiveMaximum(2)]).suffix(2) == ["send PUBLISH 1", "send PUBLISH 2"])
        #expect(!play.player.wantsToProceed)
        #expect(play.received(.pubAck(Acknowledgement(packetID: 1))) == ["send PUBLISH 3"])
        play.player.isCongested = true
        #expect(play.received(.pubAck(Acknowledgement(packetID: 2))) == [])
        #expect(!play.player.wantsToProceed)
        play.player.isCongested = false
        #expect(play.player.wantsToProceed)
        #expect(play.proceed() == ["send PUBLISH 4"])
        #expect(play.received(.pubAck(Acknowledgement(packetID: 3))) == ["send PUBLISH 5"])
        #expect(play.player.wantsToProceed)
        #expect(play.proceed() == ["finished"])
    }
}

extension ScriptPlayer.Action {
    /// The action in words, with the packet id where there is one.
    fileprivate var words: String {
        switch self {
        case .setVersion(let version): return "version \(version)"
        case .send(let packet):
            let id = packet.acknowledgedID ?? packet.publish?.delivery.packetID
            return "send \(packet.type)" + (id.map { " \($0)" } ?? "")
        case .sendBytes(let bytes): return "send \(bytes)"
        case .cutAfterSending(let count, let style): return "limit \(count) \(style)"
        case .cutAfterReceiving(let count, let style): return "limit of input \(count) \(style)"
        case .stopReading: return "stop reading"
        case .resumeReading: return "resume reading"
        case .watch: return "watch"
        case .cut(let style): return "cut \(style)"
        case .failed(let failure): return "failed: \(failure)"
        case .finished: return "finished"
        }
    }
}
