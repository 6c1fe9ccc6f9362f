/// Caches the string of the topic that was decoded last. If the next message has the same topic, its topic is not
/// decoded again.
struct LastTopic {
    private var text = ""

    mutating func string(of bytes: UnsafeRawBufferPointer) -> String {
        if !hasText(bytes) { text = String(decoding: bytes, as: UTF8.self) }
        return text
    }

    private func hasText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        text.withUTF8Bytes { text in
            guard text.byteCount == bytes.count else { return false }
            return text.withUnsafeBytes { text in
                for offset in stride(from: 0, to: bytes.count, by: 8)
                where text.word(at: offset) != bytes.word(at: offset) { return false }
                return true
            }
        }
    }
}
