import CourierTransport
import MQTTCodec
import Synchronization

/// The connections of a ``ScriptedBroker`` with its script and journal.
///
/// Safe to share: mutable state is used only on the loop, which each method checks.
final class ScriptedHost: @unchecked Sendable {
    let packetLimit: Int
    private let loop: EventLoop
    private let scripts: [ConnectionScript]
    private let afterwards: [ScriptStep]
    private var journal: ScriptJournal
    private var connections: [Int: ScriptedConnection] = [:]
    /// For closed connections with a script: the first fault that applied to fewer answers than the script requires, by
    /// the number of the connection.
    private var unusedFaults: [Int: ScriptFailure] = [:]
    private var isShutDown = false

    init(_ scripts: [ConnectionScript], afterwards: [ScriptStep], packetLimit: Int, on loop: EventLoop) {
        self.packetLimit = packetLimit
        self.loop = loop
        self.scripts = scripts
        self.afterwards = afterwards
        journal = ScriptJournal(scriptedCount: scripts.count, packetLimit: packetLimit)
    }

    /// Runs `body` on the loop with the journal.
    func withJournal<Result: Sendable>(_ body: @escaping @Sendable (inout ScriptJournal) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: body(&journal)) }
        }
    }

    /// Waits until the event that `goal` describes has happened, and returns what happened.
    func find(_ goal: ScriptJournal.Goal) async throws -> ScriptJournal.Finding {
        let waiter = ScriptJournal.Waiter()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.execute { [self] in journal.wait(waiter, for: goal, continuation) }
            }
        } onCancel: {
            waiter.isCancelled.store(true, ordering: .relaxed)
            loop.execute { [self] in journal.cancel(waiter) }
        }
    }

    /// Returns the first failure, the first unfinished step, or the first fault that applied to too few answers; `nil`
    /// if all scripts were played completely.
    func shortcoming() async -> ScriptFailure? {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: findShortcoming()) }
        }
    }

    private func findShortcoming() -> ScriptFailure? {
        if let failure = journal.failures.first { return failure }
        let unplayed = connections.sorted { $0.key < $1.key }.lazy.compactMap(\.value.unplayed)
        if let first = unplayed.first(where: { ($0.connection ?? 0) <= self.scripts.count }) { return first }
        guard journal.connections.count < scripts.count else { return firstUnusedFault() }
        return ScriptFailure(
            connection: journal.connections.count + 1, step: nil, expectation: "", event: "the client did not connect")
    }

    private func firstUnusedFault() -> ScriptFailure? {
        for number in 1..<(scripts.count + 1) {
            if let unused = connections[number]?.unusedFault ?? unusedFaults[number] { return unused }
        }
        return nil
    }

    func shutDown() {
        loop.preconditionOnLoop()
        isShutDown = true
        for connection in connections.values { connection.abort() }
        journal.shutDown()
    }

    // MARK: Events of connections

    /// Returns the handler of a new channel. The handler plays the script of this connection.
    func accept(_ channel: ByteChannel) -> ScriptedConnection {
        loop.preconditionOnLoop()
        let number = journal.opened(at: loop.now)
        let steps = number <= scripts.count ? scripts[number - 1].steps : afterwards
        let connection = ScriptedConnection(number, channel, self, steps)
        connections[number] = connection
        if isShutDown { loop.execute { connection.abort() } }
        return connection
    }

    /// Records a packet. Returns `false`, and records nothing, if the limit of recorded packets is reached.
    func received(_ packet: Packet, on number: Int) -> Bool { journal.received(packet, on: number, at: loop.now) }
    func counted(received: Int, on number: Int) { journal.counted(received: received, on: number) }
    func counted(sent: Int, on number: Int) { journal.counted(sent: sent, on: number) }
    func failed(_ failure: ScriptFailure) { journal.failed(failure) }
    func played(_ number: Int) { journal.played(number) }

    func closed(_ connection: ScriptedConnection, _ reason: ChannelCloseReason) {
        connections[connection.number] = nil
        if connection.number <= scripts.count { unusedFaults[connection.number] = connection.unusedFault }
        journal.closed(connection.number, reason, at: loop.now)
    }
}
