/// The texts of all levels of a ``TopicTree``, in one array.
///
/// A removed text leaves a gap. If gaps take more than half of the array, the owner moves the remaining texts to a new
/// array.
struct LevelTexts: Sendable {
    /// The position of one text in the array.
    struct Place: Sendable {
        var start = 0
        var length: UInt32 = 0
    }

    /// The total size of gaps that is always tolerated, in bytes, because moving the texts would then save little
    /// memory.
    private static let toleratedGaps = 4_096

    private var bytes: [UInt8] = []
    private var gaps = 0

    /// True if there are so many gaps that the owner should move the texts to a new array.
    var isSparse: Bool { gaps > Self.toleratedGaps && gaps > bytes.count / 2 }

    /// The size of the array in bytes, including gaps.
    var byteCount: Int { bytes.count }

    mutating func append(_ text: UnsafeRawBufferPointer) -> Place {
        let place = Place(start: bytes.count, length: UInt32(text.count))
        bytes.append(contentsOf: text)
        return place
    }

    /// Appends a copy of the text at `place` in `other`, and returns the position of the copy.
    mutating func append(_ place: Place, of other: LevelTexts) -> Place {
        let start = bytes.count
        bytes.append(contentsOf: other.bytes[place.start..<place.start + Int(place.length)])
        return Place(start: start, length: place.length)
    }

    /// Calls `body` with the bytes of a text.
    func withBytes<Result>(_ place: Place, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes[place.start..<place.start + Int(place.length)].withUnsafeBytes(body)
    }

    mutating func remove(_ place: Place) { gaps += Int(place.length) }

    /// True if the text at `place` equals `text`.
    @inline(__always)
    func matches(_ place: Place, _ text: UnsafeRawBufferPointer) -> Bool {
        guard Int(place.length) == text.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            let mine = UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start &+ text.count])
            var offset = 0
            while offset < text.count {
                if mine.word(at: offset) != text.word(at: offset) { return false }
                offset &+= 8
            }
            return true
        }
    }
}
