import CourierTransport
import MQTTCodec
import Synchronization

/// The events of a ``ScriptedBroker``, and the callers that wait for future events. It is used only on the broker's
/// loop.
struct ScriptJournal {
    /// The event that a test waits for.
    enum Goal {
        case packet(PacketPattern, remaining: Int, connection: Int?)
        case opening(Int)
        case end(Int)
        case played

        var words: String {
            switch self {
            case .packet(let pattern, _, _): "\(pattern)"
            case .opening(let number): "connection \(number)"
            case .end(let number): "the end of connection \(number)"
            case .played: "the end of the script"
            }
        }
    }

    /// The event that was found.
    enum Finding {
        case packet(ReceivedPacket)
        case connection(RecordedConnection)
        case played
    }

    /// The identity of one waiting caller. The object exists before the wait begins, because the task may be cancelled
    /// before the wait begins.
    final class Waiter: Sendable {
        let isCancelled = Atomic(false)
    }

    private struct Waiting {
        let waiter: Waiter
        var goal: Goal
        let continuation: CheckedContinuation<Finding, any Error>
    }

    let packetLimit: Int
    private(set) var connections: [RecordedConnection] = []
    private(set) var failures: [ScriptFailure] = []
    /// The received packets of all connections, oldest first.
    private(set) var packets: [ReceivedPacket] = []
    private var playedCount = 0
    /// The number of connections in the script.
    private let scriptedCount: Int
    private var waiting: [Waiting] = []
    private var isShutDown = false

    init(scriptedCount: Int, packetLimit: Int) {
        self.scriptedCount = scriptedCount
        self.packetLimit = packetLimit
    }

    // MARK: Events

    mutating func opened(at now: ContinuousClock.Instant) -> Int {
        connections.append(RecordedConnection(number: connections.count + 1, openedAt: now))
        settle()
        return connections.count
    }

    /// Records a packet. Returns `false`, and records nothing, if the limit of recorded packets is reached.
    mutating func received(_ packet: Packet, on number: Int, at now: ContinuousClock.Instant) -> Bool {
        guard packets.count < packetLimit else { return false }
        let received = ReceivedPacket(packet: packet, connection: number, receivedAt: now)
        packets.append(received)
        connections[number - 1].packets.append(received)
        for index in waiting.indices { waiting[index].goal.count(received) }
        for met in takeWaiting(where: { $0.goal.isMetByPacket }) {
            met.continuation.resume(returning: .packet(received))
        }
        return true
    }

    mutating func counted(received: Int, on number: Int) { connections[number - 1].receivedByteCount = received }
    mutating func counted(sent: Int, on number: Int) { connections[number - 1].sentByteCount = sent }

    mutating func closed(_ number: Int, _ reason: ChannelCloseReason, at now: ContinuousClock.Instant) {
        connections[number - 1].closedAt = now
        connections[number - 1].closeReason = reason
        settle()
    }

    mutating func played(_ number: Int) {
        guard number <= scriptedCount else { return }
        playedCount += 1
        settle()
    }

    mutating func failed(_ failure: ScriptFailure) {
        failures.append(failure)
        for met in takeWaiting(where: { _ in true }) { met.continuation.resume(throwing: failure) }
    }

    mutating func shutDown() {
        isShutDown = true
        for met in takeWaiting(where: { _ in true }) { met.continuation.resume(throwing: Self.gone(met.goal)) }
    }

    // MARK: Waiting callers

    mutating func wait(_ waiter: Waiter, for goal: Goal, _ continuation: CheckedContinuation<Finding, any Error>) {
        if waiter.isCancelled.load(ordering: .relaxed) { return continuation.resume(throwing: CancellationError()) }
        var goal = goal
        if let finding = search(&goal) { return continuation.resume(returning: finding) }
        if let failure = failures.first { return continuation.resume(throwing: failure) }
        if isShutDown { return continuation.resume(throwing: Self.gone(goal)) }
        waiting.append(Waiting(waiter: waiter, goal: goal, continuation: continuation))
    }

    mutating func cancel(_ waiter: Waiter) {
        for met in takeWaiting(where: { $0.waiter === waiter }) {
            met.continuation.resume(throwing: CancellationError())
        }
    }

    private static func gone(_ goal: Goal) -> ScriptFailure {
        ScriptFailure(
            connection: nil, step: nil, expectation: "", event: "the broker was shut down before \(goal.words) came")
    }

    /// Returns the event if it has already happened. Otherwise, returns `nil`, and subtracts the number of matching
    /// packets so far from the count in `goal`.
    private func search(_ goal: inout Goal) -> Finding? {
        switch goal {
        case .packet:
            for received in packets {
                goal.count(received)
                if goal.isMetByPacket { return .packet(received) }
            }
            return nil
        case .opening(let number):
            return connections.indices.contains(number - 1) ? .connection(connections[number - 1]) : nil
        case .end(let number):
            guard connections.indices.contains(number - 1), connections[number - 1].closedAt != nil else { return nil }
            return .connection(connections[number - 1])
        case .played: return playedCount >= scriptedCount ? .played : nil
        }
    }

    /// Resumes the callers that wait for an event that is not a packet, if the event has happened.
    private mutating func settle() {
        let all = waiting
        waiting = []
        for var waiting in all {
            if case .packet = waiting.goal {
                self.waiting.append(waiting)
            } else if let finding = search(&waiting.goal) {
                waiting.continuation.resume(returning: finding)
            } else {
                self.waiting.append(waiting)
            }
        }
    }

    private mutating func takeWaiting(where condition: (Waiting) -> Bool) -> [Waiting] {
        let taken = waiting.filter(condition)
        if !taken.isEmpty { waiting.removeAll(where: condition) }
        return taken
    }
}

extension ScriptJournal.Goal {
    /// Counts `received` if it matches the goal: reduces the remaining count by one.
    fileprivate mutating func count(_ received: ReceivedPacket) {
        guard case .packet(let pattern, let remaining, let connection) = self, remaining > 0,
            connection == nil || connection == received.connection, pattern.matches(received.packet)
        else { return }
        self = .packet(pattern, remaining: remaining - 1, connection: connection)
    }

    fileprivate var isMetByPacket: Bool {
        if case .packet(_, let remaining, _) = self { remaining <= 0 } else { false }
    }
}
