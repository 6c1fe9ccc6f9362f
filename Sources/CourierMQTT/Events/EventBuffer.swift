import CourierCore

/// The events that wait for the delivery queue, in one order with the resets of handlers and the end of the client.
///
/// The buffer is bounded by ``countLimit`` and ``byteLimit``. A full buffer drops events about single messages
/// (``CourierEventType/dropRule``) and counts them: one `eventsDropped` stands where they are missing.
struct EventBuffer: ~Copyable {
    /// One step of the delivery.
    enum Entry {
        case event(CourierEventType)
        /// The events behind this entry carry these options. So events of one connection share one reference.
        case options(ConnectOptions?)
        case reset
        case finish
        /// The entry was delivered.
        case delivered

        /// The bytes of the entry.
        fileprivate var byteCount: Int {
            switch self {
            case .event(let type): EventBuffer.byteCount(of: type)
            case .options, .reset, .finish, .delivered: 0
            }
        }
    }

    /// Entries in the hands of the turn that delivers them. It has no copies, which would copy its entries one by one.
    struct Batch: ~Copyable {
        fileprivate var entries: [Entry] = []
        /// The index of the next entry to deliver.
        fileprivate var position = 0
        /// The number of the first entry; entries are counted from the first of the buffer.
        fileprivate var firstNumber: UInt64 = 0
        fileprivate var takenCount = 0
        fileprivate var takenByteCount = 0

        /// The number of the next entry.
        var number: UInt64 { firstNumber + UInt64(position) }

        /// How many entries are left.
        var count: Int { entries.count - position }

        /// Moves the next entry out.
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
    /// The number of waiting events and events in delivery.
    private(set) var count = 0
    private(set) var byteCount = 0
    /// How many events were dropped since the last entry.
    private(set) var droppedCount = 0

    /// The memory that remains allocated for entries while there are none.
    private static let keptCapacity = 128

    init(countLimit: Int = 16_384, byteLimit: Int = 8 << 20) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    var isEmpty: Bool { count == 0 && droppedCount == 0 }

    /// Returns whether the buffer takes an event of this kind now; if not, counts it as dropped.
    ///
    /// The caller keeps an event that was not admitted, and releases it outside its lock.
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

    /// Appends an event that was admitted.
    mutating func append(_ type: consuming CourierEventType) {
        let size = Self.byteCount(of: type)
        append(.event(type), size)
    }

    /// The options of the events that are appended from now on.
    mutating func use(_ options: ConnectOptions?) {
        guard !ConnectOptions.areIdentical(options, lastOptions) else { return }
        lastOptions = options
        append(.options(options), 0)
    }

    mutating func appendReset() { append(.reset, 0) }

    mutating func appendFinish() { append(.finish, 0) }

    /// Returns the number of the next entry. Events that were dropped before are reported in front of it.
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

    /// Lends the entries that are due; ``putBack(_:)`` follows.
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

    /// Takes back the rest of a batch.
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

    /// The bytes of an event.
    private static func byteCount(of type: borrowing CourierEventType) -> Int {
        MemoryLayout<Entry>.stride + type.heldByteCount
    }
}
