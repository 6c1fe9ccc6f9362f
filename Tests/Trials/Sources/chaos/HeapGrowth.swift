import CHeap

/// The growth of the used heap, from before the first message until the run is at rest.
///
/// It counts memory that was allocated and not freed. Resident memory also contains memory that malloc keeps for later.
struct HeapGrowth {
    /// The allowed growth for lists and pools, in bytes. It does not depend on the length of the run.
    static let allowedBytes = 32 << 20
    /// The allowed additional growth for each published message, in bytes.
    static let allowedBytesPerMessage = 8

    let bytes: Int
    /// The number of messages that were published during the run.
    let messages: Int

    /// The number of used bytes of the heap.
    static var bytesInUse: Int { heap_bytes_in_use() }

    var bytesPerMessage: Double { Double(bytes) / Double(max(messages, 1)) }

    /// Reports a growth that exceeds the allowed bytes.
    func judge(_ verdict: Verdict) {
        guard bytes > Self.allowedBytes + Self.allowedBytesPerMessage * messages else { return }
        verdict.violation("\(bytes) bytes of the heap are still in use after \(messages) messages")
    }
}
