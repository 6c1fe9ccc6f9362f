import CHeap

/// How much more of the heap is in use once a run is at rest than before its first message.
///
/// It counts what was allocated and not given back. Resident memory, beside it, holds what malloc keeps for later.
struct HeapGrowth {
    /// Lists and pools that have grown to their size may take this much, however long the run is.
    static let allowedBytes = 32 << 20
    /// And each published message this many bytes.
    static let allowedBytesPerMessage = 8

    let bytes: Int
    /// How many messages were published meanwhile.
    let messages: Int

    /// The bytes of the heap that are in use now.
    static var bytesInUse: Int { heap_bytes_in_use() }

    var bytesPerMessage: Double { Double(bytes) / Double(max(messages, 1)) }

    /// Reports what was not given back.
    func judge(_ verdict: Verdict) {
        guard bytes > Self.allowedBytes + Self.allowedBytesPerMessage * messages else { return }
        verdict.violation("\(bytes) bytes of the heap are still in use after \(messages) messages")
    }
}
