import CourierCore
import Synchronization
import Testing

@Suite struct MessageSequenceTests {
    /// Returns prepared batches, then ends, fails, or waits until its task is cancelled.
    private final class ScriptedSource: MessageSource {
        enum End: Sendable {
            case finished
            case failure(CourierError)
            case wait
        }

        private let batches: Mutex<[[Int]]>
        private let end: End
        private let openError: CourierError?
        private let asked = Mutex(0)
        private let cancelled = Mutex(0)
        private let unread = Mutex<Int?>(nil)

        init(_ batches: [[Int]], then end: End = .finished, openError: CourierError? = nil) {
            self.batches = Mutex(batches)
            self.end = end
            self.openError = openError
        }

        nonisolated(nonsending) func opened() async throws {
            if let openError { throw openError }
        }

        var timesAsked: Int { asked.withLock { $0 } }
        var timesCancelled: Int { cancelled.withLock { $0 } }
        var lastUnread: Int? { unread.withLock { $0 } }

        nonisolated(nonsending) func nextBatch() async throws -> [Int] {
            asked.withLock { $0 += 1 }
            if let batch = batches.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return batch }
            switch end {
            case .finished: return []
            case .failure(let error): throw error
            case .wait:
                try await Task.sleep(for: .seconds(3_600))  // Ends with the task, not with the time.
                return []
            }
        }

        func cancel(unread count: Int) {
            cancelled.withLock { $0 += 1 }
            unread.withLock { $0 = count }
        }
    }

    @Test func `a loop receives all batches in order and cancels the source once at the end`() async throws {
        let source = ScriptedSource([[1, 2], [3], [4, 5, 6]])
        var received: [Int] = []
        for try await element in MessageSequence(open: { source }) { received.append(element) }
        #expect(received == [1, 2, 3, 4, 5, 6])
        #expect(source.timesCancelled == 1)
    }

    @Test func `the next batch is requested only after the loop consumed the current batch`() async throws {
        let source = ScriptedSource([[1], [2], [3]])
        for try await element in MessageSequence(open: { source }) { #expect(source.timesAsked == element) }
    }

    @Test func `subscribed() opens the message source immediately, and the first loop reads from this source`()
        async throws
    {
        let sources = Mutex<[ScriptedSource]>([])
        let sequence = MessageSequence {
            let source = ScriptedSource([[1, 2]])
            sources.withLock { $0.append(source) }
            return source
        }
        let subscribed = try await sequence.subscribed()
        #expect(sources.withLock { $0.map(\.timesAsked) } == [0])
        for count in 1...2 {
            var received: [Int] = []
            for try await element in subscribed { received.append(element) }
            #expect(received == [1, 2])
            #expect(sources.withLock { $0.map(\.timesCancelled) } == Array(repeating: 1, count: count))
        }
    }

    @Test func `releasing a subscribed sequence without a loop cancels its source`() async throws {
        let source = ScriptedSource([[1]])
        do { _ = try await MessageSequence(open: { source }).subscribed() }
        #expect(source.timesCancelled == 1 && source.timesAsked == 0)
    }

    @Test func `if opening a source fails, subscribed() throws the error and cancels the source`() async throws {
        let source = ScriptedSource([[1]], openError: CourierError(.notAuthorized, "No."))
        let error = await #expect(throws: CourierError.self) {
            try await MessageSequence(open: { source }).subscribed()
        }
        #expect(error?.code == .notAuthorized)
        #expect(source.timesCancelled == 1 && source.timesAsked == 0)
    }

    @Test func `leaving the loop cancels the source`() async throws {
        let source = ScriptedSource([[1, 2, 3]], then: .wait)
        for try await element in MessageSequence(open: { source }) where element == 2 { break }
        #expect(source.timesCancelled == 1)
    }

    @Test(arguments: [(1, 2), (2, 1), (3, 0), (4, 1), (5, 0)])
    func `when a loop is left, the source receives the number of unread elements of the batch`(
        _ last: Int, _ unread: Int
    )
        async throws
    {
        let source = ScriptedSource([[1, 2, 3], [4, 5]], then: .wait)
        for try await element in MessageSequence(open: { source }) where element == last { break }
        #expect(source.lastUnread == unread)
    }

    @Test func `if a source fails, a MessageSequence throws the error once and then ends`() async throws {
        let source = ScriptedSource([[1]], then: .failure(CourierError(.notAuthorized, "No.")))
        var iterator = MessageSequence(open: { source }).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        await #expect(throws: CourierError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(source.timesCancelled == 1)
        #expect(source.timesAsked == 2)
    }

    @Test func `cancelling a task ends the loop in the task without an error`() async throws {
        let source = ScriptedSource([[1]], then: .wait)
        let task = Task {
            var count = 0
            for try await _ in MessageSequence(open: { source }) { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value <= 1)
        #expect(source.timesCancelled == 1)
    }

    @Test func `a loop in a cancelled task receives no more elements of the current batch`() async throws {
        let source = ScriptedSource([[1, 2, 3]], then: .wait)
        let task = Task {
            var received: [Int] = []
            for try await element in MessageSequence(open: { source }) {
                received.append(element)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return received
        }
        #expect(try await task.value == [1])
        #expect(source.timesCancelled == 1)
        #expect(source.lastUnread == 2)
    }

    @Test func `if a loop is cancelled at the last element of a batch, the loop still requests the next batch`()
        async throws
    {
        let source = ScriptedSource([[1], []])
        let task = Task {
            for try await _ in MessageSequence(open: { source }) { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await task.value
        #expect(source.timesAsked == 2, "asking says that the first batch is done with")
        #expect(source.timesCancelled == 1)
    }

    @Test func `each loop over a MessageSequence opens a new source`() async throws {
        let opened = Mutex(0)
        let sequence = MessageSequence<Int> {
            opened.withLock { $0 += 1 }
            return ScriptedSource([[1]])
        }
        for try await _ in sequence {}
        for try await _ in sequence {}
        #expect(opened.withLock { $0 } == 2)
    }
}
