import Foundation

extension ChildProcess {
    /// Waits until it says `words`: `nil` then, or all that it said before it ended without them.
    ///
    /// It is read to its end, so that it never waits for a reader.
    package func lastWords(before words: String) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in read(until: words) { continuation.resume(returning: $0) } }
        }
    }

    /// Tells once.
    private func read(until words: String, _ tell: (String?) -> Void) {
        var said: [UInt8] = []
        var hasTold = false
        while true {
            let part = read()
            if part.isEmpty { break }
            if hasTold { continue }
            said += part
            guard String(decoding: said, as: UTF8.self).contains(words) else { continue }
            hasTold = true
            tell(nil)
        }
        if !hasTold { tell(String(decoding: said, as: UTF8.self)) }
    }
}
