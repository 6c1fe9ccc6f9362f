import Synchronization

/// Tells that a logger has got new rows or was cleared, as often as its reader asks and no more often than that.
///
/// Every element is the ``MQTTChuckSummary`` of the moment; changes between two calls of `next()` come as one. It
/// never ends by itself; cancelling the task ends it. Waiting costs the recording side one check a batch.
///
/// ```swift
/// var seen = logger.summary.nextRow
/// for await summary in logger.changes {
///     show(logger.rows(from: seen).rows)
///     seen = summary.nextRow
///     try await Task.sleep(for: .milliseconds(100))  // at most ten looks a second
/// }
/// ```
public struct MQTTChuckChanges: AsyncSequence, Sendable {
    /// What an element is.
    public typealias Element = MQTTChuckSummary
    /// It does not fail.
    public typealias Failure = Never

    fileprivate let logger: MQTTChuckLogger

    /// Walks through the changes of a logger; belongs to one task.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let logger: MQTTChuckLogger
        fileprivate var seen: MQTTChuckSummary?

        /// Waits for the next change. The first call answers at once.
        ///
        /// - Returns: What is kept then, `nil` when the task was cancelled.
        public nonisolated(nonsending) mutating func next() async -> MQTTChuckSummary? {
            while !Task.isCancelled {
                let summary = await logger.summary(otherThan: seen)
                guard let summary else { continue }
                seen = summary
                return summary
            }
            return nil
        }
    }

    /// Starts with what is kept now.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(logger: logger, seen: nil) }
}

extension MQTTChuckLogger {
    /// Tells of new rows, as often as its reader asks.
    public var changes: MQTTChuckChanges { MQTTChuckChanges(logger: self) }

    /// Waits until something was recorded or cleared since `seen`; `nil` when it was woken for nothing.
    fileprivate nonisolated(nonsending) func summary(otherThan seen: MQTTChuckSummary?) async -> MQTTChuckSummary? {
        func changed(_ state: LoggerState) -> MQTTChuckSummary? {
            let now = state.summary
            return seen?.nextRow == now.nextRow && seen?.clearCount == now.clearCount ? nil : now
        }
        let (known, id) = state.withLock { state in (changed(state), state.newWaiterID()) }
        if let known { return known }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    // Cancelled, or changed, between the look above and this one.
                    if Task.isCancelled || changed(state) != nil { return true }
                    state.wait(id) { continuation.resume() }
                    return false
                }
                if isLate { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.removeWaiter(id) }?()
        }
        return state.withLock { changed($0) }
    }
}
