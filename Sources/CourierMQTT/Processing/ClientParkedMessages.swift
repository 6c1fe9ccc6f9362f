import CourierCore
import Foundation

/// The parked messages of a client. They are in its store. Without a store, they are in the memory of its processors.
struct ClientParkedMessages: ParkedMessages {
    /// The largest number of jobs that are read at a time.
    private static let pageSize = 256

    let processors: ProcessorList
    /// The store; `nil` if the client has none.
    let store: (any MessageStore)?
    /// Returns the scope (client id and broker) of the store's rows; `nil` if no session is open.
    let scope: @Sendable () async -> StoreScope?
    /// Stores changes of jobs in this scope, if no running processor has the jobs. Throws if the session was destroyed.
    let write: @Sendable ([StoreChange], StoreScope) async throws -> Void
    let now: @Sendable () -> StoreTime

    func messages(of processor: String?, after id: StoredMessage.ID?, limit: Int) async throws -> [ParkedMessage] {
        guard let store else {
            let all = (processors.all.flatMap(\.parkedMessages) + processors.leftParked).filter { message in
                (processor == nil || message.processor == processor) && (id.map { message.id > $0 } ?? true)
            }
            return Array(all.sorted { $0.id < $1.id }.prefix(max(limit, 0)))
        }
        guard let scope = await scope() else { return [] }
        var (found, last): ([ParkedMessage], StoredMessage.ID?) = ([], id)
        while found.count < limit {
            let page = try await store.jobs(in: scope, after: last, limit: Self.pageSize)
            for job in page where found.count < limit && (processor == nil || job.state.processor == processor) {
                if let message = ParkedMessage(job) { found.append(message) }
            }
            guard page.count == Self.pageSize else { break }
            last = page.last?.message.id
        }
        return found
    }

    func retry(_ id: StoredMessage.ID) async throws -> Bool {
        guard store != nil else {
            return processors.all.contains { $0.retryParked(id, nil) == true } || processors.retryLeft(id)
        }
        guard let scope = await scope(), let job = try await parkedJob(id, in: scope) else { return false }
        let name = job.state.processor
        if let processor = processors[name], try await processor.isLoaded(),
            let isDone = processor.retryParked(id, job)
        {
            return isDone
        }
        try await write([.updateJob(id, job.state.retried(at: now()))], scope)
        // A processor that was started before this commit may have loaded the message as a parked message.
        if let processor = processors[name], try await processor.isLoaded() { _ = processor.retryParked(id, job) }
        return true
    }

    func remove(_ id: StoredMessage.ID) async throws -> Bool {
        guard store != nil else {
            return processors.all.contains { $0.removeParked(id) == true } || processors.removeLeft(id)
        }
        guard let scope = await scope(), let job = try await parkedJob(id, in: scope) else { return false }
        let name = job.state.processor
        if let processor = processors[name], try await processor.isLoaded(), let isDone = processor.removeParked(id) {
            return isDone
        }
        try await write([.removeJob(id)], scope)
        // A processor that was started before this commit may have loaded the message.
        if let processor = processors[name], try await processor.isLoaded() { _ = processor.removeParked(id) }
        return true
    }

    private func parkedJob(_ id: StoredMessage.ID, in scope: StoreScope) async throws -> StoredJob? {
        guard let store, let job = try await store.job(id, in: scope) else { return nil }
        return job.state.isParked ? job : nil
    }
}

extension ParkedMessage {
    /// Creates a parked message that is only in memory; returns `nil` if it is in a store.
    init?(_ parked: JobQueue.Parked, of processor: String) {
        guard let job = parked.job, let message = job.message else { return nil }
        self.init(
            id: parked.row, processor: processor, message: message, attempts: job.attempts,
            reason: job.lastError ?? "", firstReceived: job.receivedAt.date, parkedAt: parked.parkedAt.date)
    }

    /// Creates a parked message of a stored job; returns `nil` if the job is not parked.
    package init?(_ job: StoredJob) {
        guard case .parked(let date) = job.state.stage else { return nil }
        self.init(
            id: job.message.id, processor: job.state.processor, message: Message(job.message),
            attempts: job.state.attempts, reason: job.state.lastError ?? "", firstReceived: job.message.storedAt,
            parkedAt: date)
    }
}
