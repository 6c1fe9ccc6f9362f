import CourierCore

/// What waits for the store's thread, and whether the thread has to be told.
struct StoreInbox: Sendable {
    /// What the thread takes at a time.
    struct Work: Sendable {
        var batches: [StoreBatch] = []
        var reads: [@Sendable (StoreCore) -> Void] = []
        /// Nothing comes any more: the file is to be closed behind this work.
        var isLast = false

        var isEmpty: Bool { batches.isEmpty && reads.isEmpty && !isLast }
    }

    /// A reading that waits for the batches that came before it, and for no later one.
    private struct Reading: Sendable {
        /// How many batches had been put in by then.
        let batchCount: Int
        let body: @Sendable (StoreCore) -> Void
    }

    private enum Phase: Sendable {
        case open
        case closing
        case closed
    }

    /// How many changes go into one transaction, roughly.
    private static let changesPerGroup = 8_192
    private static let bytesPerGroup = 16 << 20

    private var batches: [StoreBatch] = []
    private var reads: [Reading] = []
    /// How many batches were put in, and how many of them were taken.
    private var putCount = 0
    private var takenCount = 0
    private var changes = 0
    private var bytes = 0
    private var isAwake = true
    private var phase = Phase.open
    private var closers: [@Sendable () -> Void] = []

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Puts a batch behind the others.
    ///
    /// - Returns: Whether the thread has to be woken; `nil` when the store is closed and nothing was put in.
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
            "More waits for the message store \(path) than its limits allow (\(limits.waitingChanges) changes, "
                + "\(limits.waitingBytes) bytes): the disk is slower than what is stored. Wait for completions, or raise "
                + "waitingChanges and waitingBytes.")
    }

    /// Puts in a reading, which may find what later batches have written.
    ///
    /// - Returns: As ``put(_:_:path:)``.
    mutating func put(_ read: @escaping @Sendable (StoreCore) -> Void) -> Bool? {
        guard isOpen else { return nil }
        reads.append(Reading(batchCount: putCount, body: read))
        return wake()
    }

    /// Lets nothing further in. `whenClosed` is called when the file is closed.
    ///
    /// - Returns: Whether the thread has to be woken; `nil` when the file is closed already and `whenClosed` was not kept.
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

    /// Takes work, for the thread.
    ///
    /// - Parameter sleeping: Whether the thread is about to wait when there is none.
    /// - Returns: What is to be done before more is taken.
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

    /// Takes the readings whose batches are taken, all of them at the latest with the last batch.
    private mutating func takeReads(_ work: inout Work) {
        let count = reads.prefix { $0.batchCount <= takenCount }.count
        guard count > 0 else { return }
        work.reads = reads.prefix(count).map { $0.body }
        reads.removeFirst(count)
    }

    /// The file is closed.
    ///
    /// - Returns: Whom to tell.
    mutating func closed() -> [@Sendable () -> Void] {
        phase = .closed
        defer { closers = [] }
        return closers
    }
}
