/// The pieces of the byte stream in one direction that wait to be forwarded, oldest first. A piece can be taken when
/// its time has come and all earlier pieces were taken.
struct DelayQueue: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// A piece of the byte stream, with the proxy's decision about its packet.
    struct Entry: Sendable {
        var bytes: [UInt8]
        let piece: PacketCutter.Piece
        var decision: FaultDecision
        /// The topic of a PUBLISH; otherwise `nil`.
        var topic: String?
        let due: Instant

        /// The approximate memory size of the entry in bytes.
        var memory: Int { bytes.count + (topic?.utf8.count ?? 0) + DelayQueue.overhead }
    }

    /// The memory in bytes that each entry counts in addition to its own bytes, so that the limit also applies to many
    /// tiny packets.
    fileprivate static let overhead = 256

    private var entries: [Entry] = []
    private var first = 0
    /// The approximate memory size of all waiting entries in bytes.
    private(set) var byteCount = 0

    var isEmpty: Bool { first == entries.count }

    /// The time at which the first entry can be taken; `nil` if the queue is empty.
    var nextDeadline: Instant? { isEmpty ? nil : entries[first].due }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        byteCount += entry.memory
    }

    /// Removes and returns the first entry if its time has come.
    mutating func popDue(now: Instant) -> Entry? {
        guard !isEmpty, entries[first].due <= now else { return nil }
        let entry = entries[first]
        // The entry stays in the array for a while after it was taken, so the memory of its bytes is freed now.
        entries[first].bytes = []
        entries[first].topic = nil
        entries[first].decision = FaultDecision()
        first += 1
        byteCount -= entry.memory
        if isEmpty {
            entries.removeAll(keepingCapacity: first < 1_024)
            first = 0
        } else if first >= 1_024, first * 2 >= entries.count {
            entries.removeFirst(first)
            first = 0
        }
        return entry
    }

    mutating func removeAll() {
        entries = []
        first = 0
        byteCount = 0
    }
}
