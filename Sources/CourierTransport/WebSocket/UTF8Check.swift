/// Checks that bytes in several pieces are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
struct UTF8Check: Sendable {
    /// The number of bytes that the current character still needs.
    private var missing = 0
    /// The allowed range of the next byte inside a character: `80...BF`, or a smaller range for the second byte of some
    /// characters.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// True if the last character is incomplete.
    var isInsideCharacter: Bool { missing > 0 }

    /// Checks the next bytes. Returns `false` at the first invalid byte. After that, the check must not be used again.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes {
            if missing > 0 {
                guard allowed.contains(byte) else { return false }
                allowed = 0x80...0xBF
                missing -= 1
            } else if byte >= 0x80 {
                guard begin(byte) else { return false }
            }
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF: missing = 2
        case 0xF0...0xF4: missing = 3
        default: return false
        }
        switch byte {
        case 0xE0: allowed = 0xA0...0xBF
        case 0xED: allowed = 0x80...0x9F
        case 0xF0: allowed = 0x90...0xBF
        case 0xF4: allowed = 0x80...0x8F
        default: allowed = 0x80...0xBF
        }
        return true
    }
}
