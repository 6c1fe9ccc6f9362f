import CourierCore
import Foundation
import Synchronization
import Testing

@testable import CourierAuthHTTP

@Suite(.timeLimit(.minutes(5))) struct SharedFetchTests {
    static let grant = ConnectGrant(
        ConnectOptions(host: "b", port: 1, clientId: "c", username: "u", password: "p"))

    /// A fetch that counts its starts, and ends when `open()` is called or its task is cancelled.
    final class Work: Sendable {
        private let stream: AsyncStream<Void>
        private let gate: AsyncStream<Void>.Continuation
        let starts = Mutex(0)
        let cancellations = Mutex(0)

        init() { (stream, gate) = AsyncStream.makeStream() }

        func open() { gate.finish() }

        @Sendable func run() async throws -> ConnectGrant {
            starts.withLock { $0 += 1 }
            for await _ in stream {}
            if Task.isCancelled { cancellations.withLock { $0 += 1 } }
            try Task.checkCancellation()
            return SharedFetchTests.grant
        }
    }

    @Test func `concurrent callers share one fetch`() async throws {
        let fetch = SharedFetch()
        let work = Work()
        try await withThrowingTaskGroup(of: ConnectGrant?.self) { group in
            for _ in 0..<100 { group.addTask { try await fetch.grant(work.run) } }
            group.addTask {
                work.open()
                return nil
            }
            for try await grant in group where grant != nil { #expect(grant == Self.grant) }
        }
        #expect(work.starts.withLock { $0 } == 1)
        #expect(fetch.isOver)
        #expect(try await fetch.grant(work.run) == Self.grant)
    }

    @Test func `cancelling one caller of a shared fetch does not cancel the other caller`() async throws {
        let fetch = SharedFetch()
        let work = Work()
        let leaver = Task { try await fetch.grant(work.run) }
        let stayer = Task { try await fetch.grant(work.run) }
        leaver.cancel()
        await #expect(throws: CancellationError.self) { try await leaver.value }
        work.open()
        // If the first caller was cancelled before the second caller joined, the fetch is over and returns nil.
        let grant = try await stayer.value
        #expect(grant == Self.grant || grant == nil)
    }

    @Test func `cancelling the last caller ends a shared fetch, and later callers do not join this fetch`()
        async throws
    {
        let fetch = SharedFetch()
        let work = Work()
        let tasks = (0..<3).map { _ in Task { try await fetch.grant(work.run) } }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        if work.starts.withLock({ $0 }) > 0 {
            #expect(fetch.isOver)
            #expect(try await fetch.grant(work.run) == nil)
        }
        #expect(work.starts.withLock { $0 } <= 1)
    }

    @Test func `all callers of a shared fetch return, even if some callers are cancelled at random moments`()
        async throws
    {
        for round in 0..<90 {
            let fetch = SharedFetch()
            let tasks = (0..<8).map { number in
                Task {
                    try await fetch.grant {
                        if round % 3 == 0 { await Task.yield() }
                        if round % 5 == 4 { throw CocoaError(.fileNoSuchFile) }
                        return Self.grant
                    }
                }
            }
            for task in tasks.prefix(round % 9) {
                task.cancel()
                if round % 2 == 0 { await Task.yield() }
            }
            for task in tasks { _ = await task.result }
        }
    }
}
