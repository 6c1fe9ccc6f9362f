import CourierCore

/// Detects user properties with secret names. It works on bytes, so that it needs no `String` and no reference
/// counting.
struct SecretNames {
    /// The secret words in lower case, one after another. A byte with its length precedes each word.
    private let words: ContiguousArray<UInt8>
    /// The first letters of all words, as a bit set. Bit n is set if n is the value of the low five bits of a first
    /// letter. The set is checked first, because it excludes most positions quickly.
    private let firstLetters: UInt32

    init(_ names: [String]) {
        var words: ContiguousArray<UInt8> = []
        var firstLetters: UInt32 = 0
        for name in names where !name.isEmpty {
            let word = name.utf8.prefix(255).map(Self.folded)
            words.append(UInt8(word.count))
            words += word
            firstLetters |= 1 << UInt32(word[0] & 31)
        }
        self.words = words
        self.firstLetters = firstLetters
    }

    var isEmpty: Bool { words.isEmpty }

    /// True if the name in `range` contains one of the secret words.
    func contains(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let words = words.span
        var start = range.lowerBound
        while start < range.upperBound {
            let first = Self.folded(bytes[start])
            if firstLetters & (1 &<< UInt32(first & 31)) != 0 {
                var word = 0
                while word < words.count {
                    let length = Int(words[word])
                    if words[word &+ 1] == first, length <= range.upperBound &- start {
                        var matched = 1
                        while matched < length, Self.folded(bytes[start &+ matched]) == words[word &+ 1 &+ matched] {
                            matched &+= 1
                        }
                        if matched == length { return true }
                    }
                    word &+= length &+ 1
                }
            }
            start &+= 1
        }
        return false
    }

    func contains(_ name: String) -> Bool {
        name.withUTF8Span { contains($0, $0.indices) }
    }

    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
