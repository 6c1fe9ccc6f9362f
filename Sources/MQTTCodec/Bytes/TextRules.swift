/// The rules for the bytes of a UTF-8 string, a topic name and a topic filter.
///
/// Decoders and encoders share these checks, so that each rule is written only once. The functions read `bytes` and
/// store nothing.
enum TextRules {
    private static let plus = UInt8(ascii: "+")
    private static let hash = UInt8(ascii: "#")
    private static let slash = UInt8(ascii: "/")

    /// Checks a UTF-8 string: it must be well-formed ([MQTT-1.5.4-1]) and must not contain U+0000 ([MQTT-1.5.4-2]).
    @inline(__always)
    static func violation(inText bytes: UnsafeRawBufferPointer) -> Violation? {
        scan(bytes, allowsWildcards: true)
    }

    /// Checks a topic name: a UTF-8 string with at least one character ([MQTT-4.7.3-1]) and no wildcard
    /// ([MQTT-3.3.2-2]).
    @inline(__always)
    static func violation(inTopicName bytes: UnsafeRawBufferPointer) -> Violation? {
        bytes.isEmpty ? .emptyTopic : scan(bytes, allowsWildcards: false)
    }

    /// Checks a topic filter: a UTF-8 string with at least one character, and wildcards only in legal places
    /// ([MQTT-4.7.1-1], [MQTT-4.7.1-2]). If `knowsSharing` is true, as in MQTT 5, `$share/group/filter` must be
    /// complete.
    static func violation(inTopicFilter bytes: UnsafeRawBufferPointer, knowsSharing: Bool) -> Violation? {
        if bytes.isEmpty { return .emptyTopic }
        if let violation = scan(bytes, allowsWildcards: true) { return violation }
        let start: Int
        if knowsSharing, hasSharePrefix(bytes) {
            guard let filterStart = sharedFilterStart(bytes) else { return .invalidSharedFilter }
            start = filterStart
        } else {
            start = 0
        }
        return wildcardViolation(bytes, from: start)
    }

    /// Returns true if a filter starts with `$share/`. In MQTT 5 such a filter is a shared subscription.
    static func hasSharePrefix(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let prefix: StaticString = "$share/"
        guard bytes.count >= prefix.utf8CodeUnitCount else { return false }
        return prefix.withUTF8Buffer { $0.elementsEqual(bytes.prefix($0.count)) }
    }

    /// Returns the offset of the filter after `$share/group/`. Returns `nil` if the group is missing ([MQTT-4.8.2-1]),
    /// contains a wildcard, or has no filter after it ([MQTT-4.8.2-2]).
    private static func sharedFilterStart(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let groupStart = 7
        var index = groupStart
        while index < bytes.count, bytes[index] != slash {
            if bytes[index] == plus || bytes[index] == hash { return nil }
            index &+= 1
        }
        let filterStart = index &+ 1
        return index > groupStart && filterStart < bytes.count ? filterStart : nil
    }

    private static func wildcardViolation(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Violation? {
        for index in start..<bytes.count {
            let byte = bytes[index]
            guard byte == hash || byte == plus else { continue }
            let startsLevel = index == start || bytes[index &- 1] == slash
            let isLast = index &+ 1 == bytes.count
            if byte == hash {
                if !startsLevel || !isLast { return .misplacedMultiLevelWildcard }
            } else if !startsLevel || !(isLast || bytes[index &+ 1] == slash) {
                return .misplacedSingleLevelWildcard
            }
        }
        return nil
    }

    /// Checks eight bytes at a time while they are plain ASCII, and single bytes otherwise.
    @inline(__always)
    private static func scan(_ bytes: UnsafeRawBufferPointer, allowsWildcards: Bool) -> Violation? {
        let count = bytes.count
        var index = 0
        while index < count {
            if count &- index >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if !needsALook(word, allowsWildcards: allowsWildcards) {
                    index &+= 8
                    continue
                }
            } else if count >= 8 {
                // The last eight bytes include all bytes that are not checked yet. Checking some bytes twice is
                // harmless.
                let word = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
                if !needsALook(word, allowsWildcards: allowsWildcards) { return nil }
            } else if index == 0, !needsALook(shortWord(bytes), allowsWildcards: allowsWildcards) {
                return nil
            }
            let byte = bytes[index]
            if byte < 0x80 {
                if byte == 0 { return .nullCharacter }
                if !allowsWildcards, byte == plus || byte == hash { return .wildcardInTopicName }
                index &+= 1
            } else {
                let length = sequenceLength(bytes, at: index)
                if length == 0 { return .malformedUTF8 }
                index &+= length
            }
        }
        return nil
    }

    /// Returns the bytes of a text shorter than eight bytes, padded with spaces.
    @inline(__always)
    private static func shortWord(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var word: UInt64 = 0x2020_2020_2020_2020
        for byte in bytes { word = word &<< 8 | UInt64(byte) }
        return word
    }

    /// Returns true if one of the eight bytes needs a closer check, because it is not ASCII, is zero, or is a forbidden
    /// wildcard.
    @inline(__always)
    private static func needsALook(_ word: UInt64, allowsWildcards: Bool) -> Bool {
        var suspects = word | zeroBytes(word)
        if !allowsWildcards {
            // "+" is 0x2B and "#" is 0x23. They are equal after bit 3 is cleared.
            suspects |= zeroBytes((word & 0xF7F7_F7F7_F7F7_F7F7) ^ 0x2323_2323_2323_2323)
        }
        return suspects & 0x8080_8080_8080_8080 != 0
    }

    /// Returns a word with the high bit of the lowest zero byte set, or 0 if no byte is zero. Higher bits may also be
    /// set.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Returns the length of the multi-byte sequence at `index`; 0 if the sequence is not well-formed (Unicode 15,
    /// Table 3-7). Overlong forms, surrogates and code points above U+10FFFF are not well-formed.
    private static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        let rest = bytes.count &- index
        func isContinuation(_ distance: Int) -> Bool { bytes[index &+ distance] & 0xC0 == 0x80 }
        switch bytes[index] {
        case 0xC2...0xDF:
            return rest >= 2 && isContinuation(1) ? 2 : 0
        case let lead where lead >= 0xE0 && lead <= 0xEF:
            guard rest >= 3, isContinuation(1), isContinuation(2) else { return 0 }
            let second = bytes[index &+ 1]
            if lead == 0xE0 && second < 0xA0 { return 0 }
            if lead == 0xED && second > 0x9F { return 0 }
            return 3
        case let lead where lead >= 0xF0 && lead <= 0xF4:
            guard rest >= 4, isContinuation(1), isContinuation(2), isContinuation(3) else { return 0 }
            let second = bytes[index &+ 1]
            if lead == 0xF0 && second < 0x90 { return 0 }
            if lead == 0xF4 && second > 0x8F { return 0 }
            return 4
        default:
            return 0
        }
    }
}
