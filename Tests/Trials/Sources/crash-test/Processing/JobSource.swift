import CourierCore
import Foundation
import Synchronization
import TrialSupport

/// The client of the parent process that sends messages to the worker. It is never killed.
final class JobSource: Sendable {
    /// The largest number of messages of a lane that are not handled.
    private static let limit = 60
    private static let burst = 8

    private let ledger: JobLedger
    private let findings: Findings
    private let client: any CourierClient
    private let isOver = Atomic(false)
    private let tasks = Mutex<[Task<Void, Never>]>([])

    init(port: UInt16, _ ledger: JobLedger, _ findings: Findings) {
        self.ledger = ledger
        self.findings = findings
        client = Peers.client("job-source", port)
    }

    /// Connects, and starts to send. The worker must be subscribed.
    func start(seed: UInt64) async throws {
        client.connect()
        try await client.connected()
        tasks.withLock { tasks in
            for lane in JobLane.all {
                let random = SeededGenerator(seed: seed &+ UInt64(lane.id))
                tasks.append(Task { [self] in await send(lane, random) })
            }
        }
    }

    private func send(_ lane: JobLane, _ random: consuming SeededGenerator) async {
        var next = 0
        while !isOver.load(ordering: .relaxed) {
            for _ in 0...random.below(Self.burst) where ledger.openCount(of: lane) < Self.limit {
                let message = JobMessage(lane: lane, number: next)
                next += 1
                ledger.sent(message)
                do {
                    try await client.publish(message.payload, to: lane.topic, qos: lane.qos)
                } catch {
                    findings.add(.other, "\(message) could not be sent: \(error)")
                }
            }
            try? await Task.sleep(for: .milliseconds(random.below(100)))
        }
    }

    /// Sends no more messages. Returns when the broker has acknowledged all messages.
    func finish() async {
        isOver.store(true, ordering: .relaxed)
        for task in tasks.withLock({ $0 }) { await task.value }
        await client.disconnectAndWait()
    }
}
