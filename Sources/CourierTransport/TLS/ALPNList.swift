/// Names of application protocols as TLS sends them: each behind a byte with its length (RFC 7301, section 3.1).
///
/// Safe to share: constant. The memory is the object's own, so that C can hold on to it.
final class ALPNList: @unchecked Sendable {
    let memory: UnsafeMutableBufferPointer<UInt8>

    var bytes: [UInt8] { Array(memory) }

    /// - Throws: ``TransportError/Code/invalidConfiguration`` for a name that is not of 1 to 255 bytes.
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
