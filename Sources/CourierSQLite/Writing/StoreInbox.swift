import CourierCore

/// The queue of work for the store's thread. Decides when the thread must be woken.
struct StoreInbox: Sendable {
    /// The work that the store's thread takes from the queue in one call.
    struct Work: Sendable {
        var batches: [StoreBatch] = []
        var reads: [@Sendable (StoreCore) -> Void] = []
        /// True if no work can follow. After this work, the thread closes the file.
        var isLast = false

        var isEmpty: Bool { batches.isEmpty && reads.isEmpty && !isLast }
    }

    /// A read request. It runs after the batches that were added before it, and does not wait for later batches.
    private struct Reading: Sendable {
        /// The number of batches that were added before this request.
        let batchCount: Int
        let body: @Sendable (StoreCore) -> Void
    }

    /// Whether the store accepts work.
    private enum Phase: Sendable {
        case open
        case closing
        case closed
    }

    /// The approximate number of changes in one transaction. More changes are split into several transactions.
    private static let changesPerGroup = 8_192
    private static let bytesPerGroup = 16 << 20

    private var batches: [StoreBatch] = []
    private var reads: [Reading] = []
    /// The number of batches that were added so far. `takenCount` is the number of batches that the thread has taken.
    private var putCount = 0
    private var takenCount = 0
    private var changes = 0
    private var bytes = 0
    private var isAwake = true
    private var phase = Phase.open
    private var closers: [@Sendable () -> Void] = []

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Adds a batch at the end of the queue.
    ///
    /// - Returns: True if the thread must be woken; `nil` if the store is closed and the batch was not added.
    mutating func put(_ batch: StoreBatch, _ limits: SQLiteMessageStore.Limits, path: String) -> Bool? {
        guard isOpen else { return nil }
        putCount += 1
        let isOver =
            changes + batch.changes.count > limits.waitingChanges || bytes + batch.growth.bytes > limits.waitingBytes
        if isOver, batch.growth.rows > 0 {
            batches.append(batch.refused(Self.tooMuchWaits(limits, path)))
        } else {
            changes += batch.changes.count
            bytes += batch.growth.bytes
            batches.append(batch)
        }
        return wake()
    }

    private static func tooMuchWaits(_ limits: SQLiteMessageStore.Limits, _ path: String) -> CourierError {
        CourierError(
            .storeFull,
            "More changes wait for the message store \(path) than its limits allow, because the disk is too slow. "
                + "The limits are \(limits.waitingChanges) changes and \(limits.waitingBytes) bytes. "
                + "Wait for the completions of earlier changes, or raise the limits waitingChanges and waitingBytes.")
    }

    /// Adds a read request. The read may also see the changes of batches that are added later.
    ///
    /// - Returns: True if the thread must be woken; `nil` if the store is closed and the request was not added.
    mutating func put(_ read: @escaping @Sendable (StoreCore) -> Void) -> Bool? {
        guard isOpen else { return nil }
        reads.append(Reading(batchCount: putCount, body: read))
        return wake()
    }

    /// Refuses further work. `whenClosed` is called after the file is closed.
    ///
    /// - Returns: True if the thread must be woken; `nil` if the file is already closed, so that `whenClosed` will not
    ///   be called.
    mutating func close(_ whenClosed: (@Sendable () -> Void)?) -> Bool? {
        if case .closed = phase { return nil }
        phase = .closing
        if let whenClosed { closers.append(whenClosed) }
        return wake()
    }

    private mutating func wake() -> Bool {
        defer { isAwake = true }
        return !isAwake
    }

    /// Removes the next work from the queue. Called by the store's thread only.
    ///
    /// - Parameter sleeping: True if the thread sleeps when there is no work.
    /// - Returns: The work that the thread must finish before it calls this function again.
    mutating func take(sleeping: Bool) -> Work {
        var work = Work()
        if changes <= Self.changesPerGroup, bytes <= Self.bytesPerGroup {
            swap(&work.batches, &batches)
            (changes, bytes) = (0, 0)
        } else {
            takeGroup(&work)
        }
        takenCount += work.batches.count
        takeReads(&work)
        if case .closing = phase, batches.isEmpty { work.isLast = true }
        if work.isEmpty, sleeping { isAwake = false }
        return work
    }

    private mutating func takeGroup(_ work: inout Work) {
        var (count, groupChanges, groupBytes) = (0, 0, 0)
        while count < batches.count, groupChanges < Self.changesPerGroup, groupBytes < Self.bytesPerGroup {
            groupChanges += batches[count].changes.count
            groupBytes += batches[count].growth.bytes
            count += 1
        }
        work.batches = Array(batches.prefix(count))
        batches.removeFirst(count)
        changes -= groupChanges
        bytes -= groupBytes
    }

    /// Takes each read request if all batches that were added before it have been taken. After the last batch was
    /// taken, takes all requests.
    private mutating func takeReads(_ work: inout Work) {
        let count = reads.prefix { $0.batchCount <= takenCount }.count
        guard count > 0 else { return }
        work.reads = reads.prefix(count).map { $0.body }
        reads.removeFirst(count)
    }

    /// Marks the file as closed.
    ///
    /// - Returns: The `whenClosed` closures, which the caller must call.
    mutating func closed() -> [@Sendable () -> Void] {
        phase = .closed
        defer { closers = [] }
        return closers
    }
}
