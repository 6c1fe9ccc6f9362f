import Synchronization

/// Reports that a logger has recorded rows or was cleared, at the pace of its reader.
///
/// Every element is the current ``MQTTChuckSummary``. All changes between two calls of `next()` become one element. The
/// sequence ends only when the task is cancelled. While a reader waits, the logger makes one additional check for each
/// batch that it records.
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
    /// The summary of the logger after a change.
    public typealias Element = MQTTChuckSummary
    /// The sequence never fails.
    public typealias Failure = Never

    fileprivate let logger: MQTTChuckLogger

    /// Iterates over the changes of a logger. Only one task may use an iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let logger: MQTTChuckLogger
        fileprivate var seen: MQTTChuckSummary?

        /// Waits for the next change. The first call returns at once.
        ///
        /// - Returns: The current summary, or `nil` if the task was cancelled.
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

    /// Creates an iterator. Its first element is the current summary.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(logger: logger, seen: nil) }
}

extension MQTTChuckLogger {
    /// A sequence that reports new rows and calls of ``clear()``, at the pace of its reader.
    public var changes: MQTTChuckChanges { MQTTChuckChanges(logger: self) }

    /// Waits until the logger has recorded rows or was cleared since `seen`. Returns the new summary, or `nil` if
    /// nothing changed, for example after a cancellation.
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
                    // True if the task was cancelled or the logger changed since the check above.
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
