import Foundation

extension ChildProcess {
    /// Waits until the output contains `words`. Returns `nil` then, or the whole output if the program ends without
    /// printing them.
    ///
    /// The output is read to its end, so that the program never blocks on a full buffer.
    package func lastWords(before words: String) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in read(until: words) { continuation.resume(returning: $0) } }
        }
    }

    /// Reads the output to its end, and calls `tell` once with the result.
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
