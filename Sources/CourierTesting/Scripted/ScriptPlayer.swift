import MQTTCodec

/// Plays the script of one connection as a pure state machine: its inputs are events, and its outputs are actions.
///
/// The state becomes `serving` at the end of the script. It becomes `ended`, which is final, when the connection was
/// cut or the script has failed. Perform the actions first to last. Call ``timerFired(now:into:)`` at ``nextDeadline``.
/// Call ``proceed(now:into:)`` while ``wantsToProceed`` is true.
struct ScriptPlayer: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Action: Sendable {
        case setVersion(ProtocolVersion)
        case send(Packet)
        case sendBytes([UInt8])
        case cutAfterSending(Int, CutStyle)
        case cutAfterReceiving(Int, CutStyle)
        case stopReading
        case resumeReading
        /// Watch the gate, and call the player when the gate is released. This action occurs once for each gate.
        case watch(ScriptGate)
        /// Cut the connection. After this action, only `.finished` or `.failed` may follow.
        case cut(CutStyle)
        case failed(ScriptFailure)
        /// The script has been played to its end. This action occurs at most once.
        case finished
    }

    private enum State: Sendable {
        case ready
        case expecting(PacketPattern)
        case serving(until: PacketPattern?)
        case pausing(until: Instant)
        case holding(ScriptGate)
        case flooding(PublishFlood, sent: Int)
        case replaying(ReplayPlayer)
        case stalled
        case ended
    }

    struct Delayed: Sendable {
        let deadline: Instant
        let packet: Packet
    }

    struct ActiveFault: Sendable {
        let fault: AnswerFault
        /// The number of the step that added the fault.
        let step: Int
        var remaining: Int
        /// The answers that the fault `reverse` collects until their group is full.
        var group: [Packet] = []
    }

    let connection: Int
    private let steps: [(number: Int, step: ScriptStep)]
    private var nextStep = 0
    private var state = State.ready
    private var hasFinished = false
    private var inbox = PacketInbox()
    /// The packet that matched the last `expect` or `serve` step.
    private var lastPacket: Packet?
    var version = ProtocolVersion.v311
    var receiveMaximum = Int(UInt16.max)
    var faults: [ActiveFault] = []
    /// Delayed packets, in the order of their deadlines.
    var delayed: [Delayed] = []
    var held: [(gate: ScriptGate, packet: Packet)] = []
    var watched: Set<ObjectIdentifier> = []
    var releasedGates: Set<ObjectIdentifier> = []
    var inFlight: Set<PacketID> = []
    var lastID: UInt16 = 0

    /// Whether the send buffer is so full that a flood must stop sending messages for now.
    var isCongested = false

    init(_ steps: [ScriptStep], connection: Int) {
        self.connection = connection
        self.steps = steps.enumerated().flatMap { index, step in Self.flatten(step).map { (index + 1, $0) } }
    }

    private static func flatten(_ step: ScriptStep) -> [ScriptStep] {
        if case .group(let steps) = step { steps.flatMap(flatten) } else { [step] }
    }

    // MARK: State for the owner

    /// The time at which ``timerFired(now:into:)`` must be called; `nil` for none.
    var nextDeadline: Instant? {
        let first = delayed.first?.deadline
        let own: Instant? =
            switch state {
            case .pausing(let deadline): deadline
            case .replaying(let replay): replay.deadline
            case .ready, .expecting, .serving, .holding, .flooding, .stalled, .ended: nil
            }
        guard let own else { return first }
        return min(own, first ?? own)
    }

    /// Whether the player can send more messages of a flood now, so that the owner must call `proceed`.
    var wantsToProceed: Bool {
        guard !isCongested, case .flooding(let flood, let sent) = state else { return false }
        return sent >= flood.count || maySendMore(of: flood)
    }

    /// The step that the script still waits for, as a failure; `nil` if the script has been played.
    var unplayed: ScriptFailure? {
        hasFinished ? nil : failure("the script did not complete this step")
    }

    /// The first fault that applied to fewer answers than the script requires, as a failure; `nil` if there is none. A
    /// fault for all answers is never returned.
    var unusedFault: ScriptFailure? {
        let unused = faults.first { $0.remaining > 0 && $0.fault.count != .max }
        return unused.map { unused in
            let (count, remaining) = (unused.fault.count, unused.remaining)
            return ScriptFailure(
                connection: connection, step: unused.step, expectation: ScriptStep.fault(unused.fault).description,
                event: "the fault applied to \(count - remaining) of \(count) answers")
        }
    }

    // MARK: Inputs

    mutating func opened(now: Instant, into actions: inout [Action]) { run(now, &actions) }

    mutating func received(_ packet: Packet, now: Instant, into actions: inout [Action]) {
        if case .connect(let connect) = packet {
            version = connect.version
            receiveMaximum = Int(connect.properties.receiveMaximum ?? .max)
            actions.append(.setVersion(version))
        }
        if case .ended = state { return }
        inbox.append(packet)
        run(now, &actions)
    }

    mutating func receivedMalformed(_ error: DecodeError, into actions: inout [Action]) {
        fail("the client sent malformed bytes: \(error)", &actions)
    }

    /// Continues the script. Called when the connection can be written again, or while ``wantsToProceed`` is true.
    mutating func proceed(now: Instant, into actions: inout [Action]) { run(now, &actions) }

    mutating func released(_ gate: ScriptGate, now: Instant, into actions: inout [Action]) {
        releasedGates.insert(ObjectIdentifier(gate))
        actions += held.filter { $0.gate === gate }.map { .send($0.packet) }
        held.removeAll { $0.gate === gate }
        if case .holding(let awaited) = state, awaited === gate {
            state = .ready
            run(now, &actions)
        }
    }

    mutating func timerFired(now: Instant, into actions: inout [Action]) {
        let due = delayed.prefix { $0.deadline <= now }
        actions += due.map { .send($0.packet) }
        delayed.removeFirst(due.count)
        if case .pausing(let deadline) = state, deadline <= now { state = .ready }
        run(now, &actions)
    }

    /// Handles the cut that the script requested after a number of bytes.
    mutating func connectionCut(into actions: inout [Action]) {
        state = .ended
        finish(&actions)
    }

    /// Handles the end of the connection. The script fails if it still expects something from the client. It does not
    /// fail if only steps of the broker remain.
    mutating func connectionLost(_ why: String, into actions: inout [Action]) {
        guard !hasFinished else { return end() }
        switch state {
        case .expecting, .serving(until: .some): return fail(why, &actions)
        case .replaying(let replay) where replay.isWaitingForClient:
            return fail("\(why) before \(replay.words)", &actions)
        case .ready, .serving, .pausing, .holding, .flooding, .replaying, .stalled, .ended: break
        }
        let rest = steps[nextStep...]
        if let unmet = rest.firstIndex(where: { $0.step.isExpectation }) {
            nextStep = unmet + 1
            return fail(why, &actions)
        }
        end()
        finish(&actions)
    }

    // MARK: Steps

    private mutating func run(_ now: Instant, _ actions: inout [Action]) {
        while true {
            switch state {
            case .ready: begin(now, &actions)
            case .expecting(let pattern):
                guard let packet = next() else { return }
                if pattern.matches(packet) {
                    lastPacket = packet
                    state = .ready
                } else if packet == .pingReq {
                    answer(packet, now, &actions)
                } else {
                    fail("\(packet.type) arrived instead", &actions)
                }
            case .serving(let pattern):
                guard let packet = next() else { return }
                if let pattern, pattern.matches(packet) {
                    lastPacket = packet
                    state = .ready
                } else {
                    answer(packet, now, &actions)
                }
            case .flooding(let flood, let sent):
                while let packet = next() { answer(packet, now, &actions) }
                guard case .flooding = state else { continue }  // The client has disconnected.
                if sent >= flood.count {
                    state = .ready
                } else {
                    let count = sendChunk(of: flood, sent: sent, &actions)
                    state = .flooding(flood, sent: sent + count)
                    return
                }
            case .replaying(let replay): if !play(replay, now, &actions) { return }
            case .pausing, .holding, .stalled, .ended: return
            }
        }
    }

    /// Plays a recording as far as possible; returns `false` if it must wait or has failed.
    private mutating func play(_ replay: ReplayPlayer, _ now: Instant, _ actions: inout [Action]) -> Bool {
        var replay = replay
        while let packet = next() {
            switch replay.received(packet) {
            case .taken: break
            case .ping: answer(packet, now, &actions)
            case .unexpected:
                fail("\(RecordedRequest(packet)) arrived, but the rest of the recording does not contain it", &actions)
                return false
            }
        }
        while true {
            switch replay.advance(now: now) {
            case .say(let bytes): actions.append(.sendBytes(bytes))
            case .wait:
                state = .replaying(replay)
                return false
            case .finished:
                state = .ready
                return true
            }
        }
    }

    /// Begins the next step.
    private mutating func begin(_ now: Instant, _ actions: inout [Action]) {
        guard nextStep < steps.count else {
            state = .serving(until: nil)
            return finish(&actions)
        }
        let step = steps[nextStep].step
        nextStep += 1
        switch step {
        case .expect(let pattern): state = .expecting(pattern)
        case .serve(let pattern): state = .serving(until: pattern)
        case .answer:
            if let lastPacket {
                answer(lastPacket, now, &actions)
            } else {
                fail("there is no packet to answer, because no earlier step expects a packet", &actions)
            }
        case .send(let packet): actions.append(.send(packet))
        case .sendBytes(let bytes): actions.append(.sendBytes(bytes))
        case .flood(let flood): state = .flooding(flood, sent: 0)
        case .replay(let traffic): state = .replaying(ReplayPlayer(traffic, now: now))
        case .fault(let fault):
            faults.append(ActiveFault(fault: fault, step: steps[nextStep - 1].number, remaining: fault.count))
        case .cutAfterSending(let count, let style): actions.append(.cutAfterSending(count, style))
        case .cutAfterReceiving(let count, let style): actions.append(.cutAfterReceiving(count, style))
        case .pause(let duration): state = .pausing(until: now + duration)
        case .hold(let gate) where releasedGates.contains(ObjectIdentifier(gate)): break
        case .hold(let gate):
            state = .holding(gate)
            watch(gate, &actions)
        case .stall:
            state = .stalled
            delayed = []
            held = []
            finish(&actions)
        case .stopReading: actions.append(.stopReading)
        case .resumeReading: actions.append(.resumeReading)
        case .cut(let style): cut(style, &actions)
        case .group: preconditionFailure("a script for the player must not contain groups")
        }
    }

    mutating func cut(_ style: CutStyle, _ actions: inout [Action]) {
        end()
        actions.append(.cut(style))
        finish(&actions)
    }

    private mutating func end() {
        state = .ended
        inbox = PacketInbox()
        delayed = []
        held = []
    }

    private mutating func finish(_ actions: inout [Action]) {
        if hasFinished { return }
        hasFinished = true
        actions.append(.finished)
    }

    /// Fails the script because of `event`, and ends the connection.
    private mutating func fail(_ event: String, _ actions: inout [Action]) {
        if case .ended = state { return }
        actions.append(.failed(failure(event)))
        hasFinished = true
        end()
        actions.append(.cut(.orderly))
    }

    private func failure(_ event: String) -> ScriptFailure {
        guard !hasFinished, nextStep > 0 else {
            return ScriptFailure(connection: connection, step: nil, expectation: "", event: event)
        }
        let (number, step) = steps[nextStep - 1]
        return ScriptFailure(connection: connection, step: number, expectation: step.description, event: event)
    }

    /// Returns the next received packet; `nil` if there is no packet. If the packet ends an exchange, the packet id of
    /// the exchange becomes free before the method returns.
    private mutating func next() -> Packet? {
        guard let packet = inbox.popFirst() else { return nil }
        switch packet {
        case .pubAck(let answer), .pubComp(let answer): inFlight.remove(answer.packetID)
        case .pubRec(let answer) where answer.reasonCode.isFailure: inFlight.remove(answer.packetID)
        case .connect, .connAck, .publish, .pubRec, .pubRel, .subscribe, .subAck, .unsubscribe, .unsubAck, .pingReq,
            .pingResp, .disconnect, .auth:
            break  // These packets end no exchange.
        }
        return packet
    }
}

extension ScriptStep {
    /// Whether the step waits for the client.
    fileprivate var isExpectation: Bool {
        switch self {
        case .expect, .serve, .replay: true
        case .answer, .send, .sendBytes, .flood, .fault, .cutAfterSending, .cutAfterReceiving, .pause, .hold, .stall,
            .stopReading, .resumeReading, .cut, .group:
            false
        }
    }
}
