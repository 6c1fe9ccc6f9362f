import CourierCore

/// Holds the events that are not delivered yet, in the order in which they were reported. The buffer also contains an
/// entry for each destroyed session (handlers get the call `reset()`), and an entry for the end of the client.
///
/// ``countLimit`` and ``byteLimit`` limit the buffer. A full buffer drops events about single messages
/// (``CourierEventType/dropRule``) and counts them. One `eventsDropped` event with this count takes the place of the
/// dropped events.
struct EventBuffer: ~Copyable {
    /// One entry of the buffer.
    enum Entry {
        case event(CourierEventType)
        /// The connect options for the events after this entry. The options have their own entry, so that an event does
        /// not need a reference to them.
        case options(ConnectOptions?)
        case reset
        case finish
        /// An entry that was already delivered.
        case delivered

        /// The number of bytes that the entry adds to the buffer's `byteCount`.
        fileprivate var byteCount: Int {
            switch self {
            case .event(let type): EventBuffer.byteCount(of: type)
            case .options, .reset, .finish, .delivered: 0
            }
        }
    }

    /// Entries that were taken from the buffer to be delivered. The type is not copyable, because a copy would have to
    /// copy each entry.
    struct Batch: ~Copyable {
        fileprivate var entries: [Entry] = []
        /// The index of the next entry to deliver.
        fileprivate var position = 0
        /// The number of the batch's first entry. The buffer numbers all entries consecutively, and never uses a number
        /// twice.
        fileprivate var firstNumber: UInt64 = 0
        fileprivate var takenCount = 0
        fileprivate var takenByteCount = 0

        /// The number of the next entry to deliver.
        var number: UInt64 { firstNumber + UInt64(position) }

        /// The number of entries that are not delivered yet.
        var count: Int { entries.count - position }

        /// Removes and returns the next entry.
        mutating func takeNext() -> Entry {
            let entry = exchange(&entries[position], with: .delivered)
            position += 1
            takenCount += 1
            takenByteCount += entry.byteCount
            return entry
        }
    }

    let countLimit: Int
    let byteLimit: Int

    private var waiting: [Entry] = []
    private var present = Batch()
    private var lastOptions: ConnectOptions?
    private var nextNumber: UInt64 = 0
    /// The number of entries in the buffer. Entries that are being delivered count until ``putBack(_:)`` is called.
    private(set) var count = 0
    private(set) var byteCount = 0
    /// The number of events that were dropped since the last entry was added.
    private(set) var droppedCount = 0

    /// The maximum capacity of a list whose memory is kept when the buffer becomes empty. The memory of a larger list
    /// is freed.
    private static let keptCapacity = 128

    init(countLimit: Int = 16_384, byteLimit: Int = 8 << 20) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var isEmpty: Bool { count == 0 && droppedCount == 0 }

    /// Returns true if the buffer accepts an event of this kind now. Otherwise, returns false and counts the event as
    /// dropped.
    ///
    /// If the event is not accepted, the caller still owns it. The caller must release its lock before it releases the
    /// event, because the release may run code of the app.
    mutating func admits(_ type: borrowing CourierEventType) -> Bool {
        guard count >= countLimit || byteCount >= byteLimit else { return true }
        let isDropped =
            switch type.dropRule {
            case .whenFull: true
            case .whenTwiceFull: count >= 2 * countLimit || byteCount >= 2 * byteLimit
            case .never: false
            }
        if isDropped { droppedCount += 1 }
        return !isDropped
    }

    /// Appends an event for which ``admits(_:)`` returned true.
    mutating func append(_ type: consuming CourierEventType) {
        let size = Self.byteCount(of: type)
        append(.event(type), size)
    }

    /// Sets the connect options of the events that are appended from now on.
    mutating func use(_ options: ConnectOptions?) {
        guard !ConnectOptions.areIdentical(options, lastOptions) else { return }
        lastOptions = options
        append(.options(options), 0)
    }

    mutating func appendReset() { append(.reset, 0) }

    mutating func appendFinish() { append(.finish, 0) }

    /// Returns the number that the next entry will get. If events were dropped, first appends an entry that reports the
    /// dropped events.
    mutating func numberOfNext() -> UInt64 {
        reportDrops()
        return nextNumber
    }

    private mutating func append(_ entry: consuming Entry, _ size: Int) {
        reportDrops()
        waiting.append(entry)
        nextNumber += 1
        count += 1
        byteCount += size
    }

    private mutating func reportDrops() {
        guard droppedCount > 0 else { return }
        let report = CourierEventType.eventsDropped(count: exchange(&droppedCount, with: 0))
        append(.event(report), Self.byteCount(of: report))
    }

    // MARK: Delivery

    /// Removes and returns the entries to deliver. The caller must return the batch with ``putBack(_:)``.
    mutating func take() -> Batch {
        reportDrops()
        if present.count == 0 {
            present.entries.removeAll(keepingCapacity: true)
            swap(&present.entries, &waiting)
            present.position = 0
            present.firstNumber = nextNumber - UInt64(present.entries.count)
        }
        return exchange(&present, with: Batch())
    }

    /// Takes back a batch, whose remaining entries are delivered later. The delivered entries do not count toward the
    /// limits any more.
    mutating func putBack(_ batch: consuming Batch) {
        count -= batch.takenCount
        byteCount -= batch.takenByteCount
        batch.takenCount = 0
        batch.takenByteCount = 0
        present = batch
        if isEmpty { trim() }
    }

    private mutating func trim() {
        if present.entries.capacity > Self.keptCapacity { present = Batch() }
        if waiting.capacity > Self.keptCapacity { waiting = [] }
    }

    /// Returns the number of bytes that an event adds to the buffer's `byteCount`.
    private static func byteCount(of type: borrowing CourierEventType) -> Int {
        MemoryLayout<Entry>.stride + type.heldByteCount
    }
}
