/// A list of application protocol names (ALPN) in the format of TLS: each name follows a byte with its length (RFC
/// 7301, section 3.1).
///
/// Safe to share: the list never changes. The object owns the memory, so that C code can keep a pointer to it.
final class ALPNList: @unchecked Sendable {
    let memory: UnsafeMutableBufferPointer<UInt8>

    var bytes: [UInt8] { Array(memory) }

    /// Encodes protocol names.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for a name that is not 1 to 255 bytes long.
    init(_ names: [String]) throws(TransportError) {
        var encoded: [UInt8] = []
        for name in names {
            guard (1...255).contains(name.utf8.count) else {
                throw TransportError(
                    .invalidConfiguration, "an application protocol (ALPN) is 1 to 255 bytes, not \(name.utf8.count)")
            }
            encoded.append(UInt8(name.utf8.count))
            encoded.append(contentsOf: name.utf8)
        }
        memory = .allocate(capacity: encoded.count)
        _ = memory.initialize(from: encoded)
    }

    deinit { memory.deallocate() }
}
