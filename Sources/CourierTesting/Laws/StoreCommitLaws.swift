import CourierCore
import Foundation
import Synchronization

/// The laws about consecutive and concurrent batches.
enum StoreCommitLaws {
    static func completesOnce(_ probe: StoreProbe) async throws {
        for id in 1...20 as ClosedRange<UInt64> {
            try await probe.commit(.enqueue(StoreProbe.message(id)))
            try await probe.commit()
        }
        // If the store calls an earlier completion twice, the second call happens before this commit completes. So the
        // check below detects the second call.
        try await probe.commit(.removeAll)
        try require(
            probe.surplus.count == 0,
            "there were \(probe.surplus.count) calls of completions that the store had already called")
    }

    static func completesOutsideOfTheCall(_ probe: StoreProbe) async throws {
        for id in 1...10 as ClosedRange<UInt64> {
            let wasInside = await withCheckedContinuation { continuation in
                let once = Once(surplus: probe.surplus)
                let call = InsideCall(caller: ObjectIdentifier(Thread.current))
                probe.store.commit([.enqueue(StoreProbe.message(id))], in: probe.scope) { _ in
                    let isInside = call.isRunning
                    if once.take() { continuation.resume(returning: isInside) }
                }
                call.returned()
            }
            try require(!wasInside, "the completion was called on the caller's thread before commit returned")
        }
    }

    /// Records whether the current thread is inside a call of `commit`.
    private final class InsideCall: Sendable {
        private let caller: ObjectIdentifier
        private let hasReturned = Atomic(false)

        init(caller: ObjectIdentifier) { self.caller = caller }

        var isRunning: Bool {
            !hasReturned.load(ordering: .sequentiallyConsistent) && ObjectIdentifier(Thread.current) == caller
        }

        func returned() { hasReturned.store(true, ordering: .sequentiallyConsistent) }
    }

    static func batchesKeepTheirOrder(_ probe: StoreProbe) async throws {
        try await probe.commit(.enqueue(StoreProbe.message(1)))
        let count = 300
        let log = CompletionOrder(expected: count)
        for number in 1...count {
            let batch: [StoreChange] =
                number.isMultiple(of: 3)
                ? [.removeOutgoing(StoreProbe.id(2))]
                : [.progress(StoreProbe.id(1), .sent(packetID: UInt16(number))), .enqueue(StoreProbe.message(2))]
            // The loop does not wait for the completion, so that many batches wait in the store.
            probe.store.commit(batch, in: probe.scope) { result in
                log.completed(number, result)
            }
        }
        let completed = await log.all()
        try require("the order of completions", completed, is: Array(1...count))
        try require("failed batches", log.failures, is: [])
        let left = try await probe.outgoing()
        try require("the outgoing messages at the end", left.map(\.message.id.rawValue), is: [1])
        try require(
            "the progress of the message at the end", left.first?.progress, is: .sent(packetID: UInt16(count - 1)))
    }

    static func readsSeeCompletedBatches(_ probe: StoreProbe) async throws {
        for id in 1...200 as ClosedRange<UInt64> {
            try await probe.commit(
                .enqueue(StoreProbe.message(id)), .keep(StoreProbe.message(id)), .rememberPacketID(UInt16(id)))
            switch id % 4 {
            case 0: try require("the outgoing messages", try await probe.outgoingIDs(after: id - 1), is: [id])
            case 1: try require("the incoming messages", try await probe.incomingIDs(after: id - 1), is: [id])
            case 2: try require("the count of outgoing messages", try await probe.summary().outgoingCount, is: Int(id))
            default: try require("the count of packet ids", try await probe.packetIDs().count, is: Int(id))
            }
        }
    }

    static func batchesAreAtomic(_ probe: StoreProbe) async throws {
        let size = 10
        let isWriting = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isWriting.lower() }
                for batch in 0..<60 {
                    let ids = (0..<size).map { UInt64(batch * size + $0 + 1) }
                    try await probe.commit(ids.map { .enqueue(StoreProbe.message($0)) })
                    // The messages of every second batch are removed by another batch.
                    let removals = ids.map { StoreChange.removeOutgoing(StoreProbe.id($0)) }
                    if batch.isMultiple(of: 2) { try await probe.commit(removals) }
                }
            }
            group.addTask {
                // Reading continues even after an error was found, because the store may make the writing task wait for
                // reads.
                var finding: String?
                repeat {
                    let counted = try await probe.summary().outgoingCount
                    let read = try await probe.outgoingIDs().count
                    if !counted.isMultiple(of: size) || !read.isMultiple(of: size) {
                        finding =
                            finding
                            ?? "each batch has \(size) messages, but the store counts \(counted) and returns \(read)"
                    }
                    await Task.yield()
                } while isWriting.isRaised
                if let finding { throw Finding(finding) }
            }
            try await group.waitForAll()
        }
    }

    static func takesConcurrentCommits(_ probe: StoreProbe) async throws {
        let (tasks, perTask) = (8, 50)
        let log = CompletionOrder(expected: tasks * perTask)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    let scoped = probe.inScope(clientID: "laws", broker: "broker\(task % 3):1883")
                    for number in 0..<perTask {
                        let id = UInt64(task * perTask + number + 1)
                        scoped.store.commit([.enqueue(StoreProbe.message(id))], in: scoped.scope) { result in
                            log.completed(Int(id), result)
                        }
                    }
                }
            }
        }
        let completed = await log.all()
        try require("the numbers of the completed batches", completed.sorted(), is: Array(1...(tasks * perTask)))
        try require("failed batches", log.failures, is: [])
        for broker in 0..<3 {
            let scoped = probe.inScope(clientID: "laws", broker: "broker\(broker):1883")
            let ids = (0..<tasks).filter { $0 % 3 == broker }
                .flatMap { task in (0..<perTask).map { UInt64(task * perTask + $0 + 1) } }
            try require("the outgoing messages to broker \(broker)", try await scoped.outgoingIDs(), is: ids)
        }
    }
}

/// Collects completions in the order in which they are called.
private final class CompletionOrder: Sendable {
    private struct State {
        var numbers: [Int] = []
        var failures: [String] = []
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let expected: Int

    init(expected: Int) { self.expected = expected }

    var failures: [String] { state.withLock { $0.failures } }

    func completed(_ number: Int, _ result: Result<Void, CourierError>) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.numbers.append(number)
            if case .failure(let error) = result { state.failures.append("\(number): \(error)") }
            guard state.numbers.count >= expected else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Waits until the expected number of completions were called, and returns the numbers of the completions.
    func all() async -> [Int] {
        await withCheckedContinuation { continuation in
            let isComplete = state.withLock { state in
                if state.numbers.count >= expected { return true }
                state.waiting = continuation
                return false
            }
            if isComplete { continuation.resume() }
        }
        return state.withLock { $0.numbers }
    }
}

/// A thread-safe flag. It is raised until `lower()` is called.
private final class Flag: Sendable {
    private let value = Atomic(true)
    var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }
    func lower() { value.store(false, ordering: .sequentiallyConsistent) }
}
