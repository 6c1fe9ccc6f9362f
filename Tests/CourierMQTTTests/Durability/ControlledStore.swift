import CourierCore
import Synchronization

@testable import CourierMQTT

/// A ``MemoryMessageStore`` that records commits. A test can delay its commits and reads, or let its commits fail.
final class ControlledStore: MessageStore {
    typealias Rule = @Sendable (StoreChange) -> CourierError?

    private struct State {
        var isHeld = false
        var held: [@Sendable () -> Void] = []
        var areAnswersHeld = false
        var heldAnswers: [@Sendable () -> Void] = []
        var rule: Rule?
        var attemptCount = 0
        var commits: [[StoreChange]] = []
        var repeatable: [StoreChange] = []
        var areReadsHeld = false
        var areIncomingReadsHeld = false
        var heldReads: [CheckedContinuation<Void, Never>] = []
        var outgoingReadCount = 0
        var jobReadCount = 0
        var failingJobRead: Int?
    }

    let memory: MemoryMessageStore
    private let state = Mutex(State())

    init(_ memory: MemoryMessageStore = MemoryMessageStore()) { self.memory = memory }

    /// All changes that were stored, in order.
    var changes: [StoreChange] { state.withLock { $0.commits.flatMap { $0 } } }

    /// The number of attempted commits.
    var attemptCount: Int { state.withLock { $0.attemptCount } }

    /// The number of changes in each commit.
    var commitSizes: [Int] { state.withLock { $0.commits.map(\.count) } }

    /// The number of new messages in each commit that has new messages.
    var messageCounts: [Int] {
        state.withLock { $0.commits.map { $0.count(where: \.isEnqueue) }.filter { $0 > 0 } }
    }

    /// The changes of repeatable commits, which may be lost in a power cut.
    var repeatableChanges: [StoreChange] { state.withLock { $0.repeatable } }

    /// Delays commits from now on.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Performs the delayed commits. If `holdingNext` is true, later commits are delayed.
    func release(holdingNext: Bool = false) {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHeld = holdingNext
            return state.held
        }
        for commit in held { commit() }
    }

    /// The number of delayed commits.
    var heldCount: Int { state.withLock { $0.held.count } }

    /// Performs commits from now on, but delays their completions.
    func holdAnswers() { state.withLock { $0.areAnswersHeld = true } }

    /// Calls the delayed completions.
    func releaseAnswers() {
        let held = state.withLock { state in
            defer { state.heldAnswers = [] }
            state.areAnswersHeld = false
            return state.heldAnswers
        }
        for answer in held { answer() }
    }

    /// Delays the results of reads from now on.
    func holdReads() { state.withLock { $0.areReadsHeld = true } }

    /// Delays the results of reads of received messages from now on.
    func holdIncomingReads() { state.withLock { $0.areIncomingReadsHeld = true } }

    /// Does not delay later reads.
    func letReadsPass() { state.withLock { ($0.areReadsHeld, $0.areIncomingReadsHeld) = (false, false) } }

    /// The number of delayed reads.
    var heldReadCount: Int { state.withLock { $0.heldReads.count } }

    /// The number of pages of outgoing messages that were read.
    var outgoingReadCount: Int { state.withLock { $0.outgoingReadCount } }

    /// Returns the result of the oldest delayed read.
    func releaseRead() {
        let read = state.withLock { $0.heldReads.isEmpty ? nil : $0.heldReads.removeFirst() }
        read?.resume()
    }

    private func handOut<Rows: Sendable>(_ rows: Rows, areIncoming: Bool = false) async -> Rows {
        await withCheckedContinuation { (read: CheckedContinuation<Void, Never>) in
            let isHeld = state.withLock { state in
                let isHeld = areIncoming ? state.areIncomingReadsHeld : state.areReadsHeld
                if isHeld { state.heldReads.append(read) }
                return isHeld
            }
            if !isHeld { read.resume() }
        }
        return rows
    }

    /// Lets a commit fail if `rule` returns an error for one of its changes. `nil` removes the rule.
    func fail(_ rule: Rule?) { state.withLock { $0.rule = rule } }

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        let commit: @Sendable () -> Void = { [self] in
            let rule = state.withLock { state in
                state.attemptCount += 1
                return state.rule
            }
            for change in changes {
                if let error = rule?(change) { return completion(.failure(error)) }
            }
            state.withLock { $0.commits.append(changes) }
            memory.commit(changes, in: scope) { [self] result in
                let isHeld = state.withLock { state in
                    if state.areAnswersHeld { state.heldAnswers.append { completion(result) } }
                    return state.areAnswersHeld
                }
                if !isHeld { completion(result) }
            }
        }
        let isHeld = state.withLock { state in
            if state.isHeld { state.held.append(commit) }
            return state.isHeld
        }
        if !isHeld { commit() }
    }

    func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        state.withLock { $0.repeatable += changes }
        commit(changes, in: scope, completion: completion)
    }

    func summary(of scope: StoreScope) async throws -> StoreSummary {
        await handOut(await memory.summary(of: scope))
    }

    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing] {
        state.withLock { $0.outgoingReadCount += 1 }
        return await handOut(await memory.outgoing(in: scope, after: id, limit: limit))
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        await handOut(
            await memory.incoming(in: scope, matching: filter, after: id, limit: limit), areIncoming: true)
    }

    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        await handOut(
            await memory.incoming(in: scope, matching: filter, after: id, limit: limit, at: time), areIncoming: true)
    }

    var keepsJobs: Bool { true }

    /// The number of reads of jobs.
    var jobReadCount: Int { state.withLock { $0.jobReadCount } }

    /// Lets one read of jobs fail. `number` is 1 for the first read.
    func failJobRead(_ number: Int) { state.withLock { $0.failingJobRead = number } }

    func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] {
        let isFailing = state.withLock { state in
            state.jobReadCount += 1
            return state.jobReadCount == state.failingJobRead
        }
        if isFailing { throw CourierError(.storeFailed, "Not yet.") }
        return await handOut(await memory.jobs(in: scope, after: id, limit: limit))
    }

    func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey] {
        await memory.processedKeys(of: processor, in: scope)
    }

    func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [RejectedMessage] {
        await memory.rejected(in: scope, after: id, limit: limit)
    }

    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        await memory.incomingPacketIDs(in: scope)
    }

    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        await memory.subscriptions(in: scope)
    }
}

extension StoreChange {
    var isEnqueue: Bool { if case .enqueue = self { true } else { false } }
    var isSent: Bool { if case .progress(_, .sent) = self { true } else { false } }
    var isProgress: Bool { if case .progress = self { true } else { false } }
}
