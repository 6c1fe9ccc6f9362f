/// Decodes the keys in the bytes that a terminal sends: UTF-8, control characters, escape sequences and pasted text.
///
/// The byte ESC is the Escape key or the start of an escape sequence. It counts as the Escape key only if a pause
/// follows. While ``silenceLimit`` is not `nil`, the caller must call ``silence()`` when no byte arrives for that time.
/// Unknown sequences are ignored.
struct KeyDecoder: Sendable {
    /// The maximum length of an escape sequence in bytes.
    static let sequenceLimit = 64
    /// The maximum number of pasted bytes. The rest of a longer paste is dropped.
    static let pasteLimit = 64 << 10
    /// The time without a byte after which ESC counts as the Escape key.
    static let escapeTime = Duration.milliseconds(50)
    /// The time without a byte after which a paste counts as complete.
    static let pasteTime = Duration.seconds(2)

    private enum State: Sendable {
        case ground
        /// Inside a UTF-8 character, with the number of bytes that are still missing.
        case character([UInt8], missing: Int)
        case escape
        /// After `ESC [`.
        case sequence([UInt8])
        /// After `ESC O`.
        case shift
        /// Inside a control string, such as the terminal's reply to a query of another program. BEL or `ESC \` ends the
        /// string.
        case string(count: Int, hasEscape: Bool)
        /// Inside a paste. `matched` is the number of bytes that match the start of the end marker.
        case paste([UInt8], matched: Int)
    }

    private static let escape = UInt8(0x1B)
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private var state = State.ground
    private var keys: [Key] = []

    init() {}

    /// The time without a byte after which the caller must call ``silence()``, or `nil` if no key is incomplete.
    var silenceLimit: Duration? {
        switch state {
        case .ground: nil
        case .paste: Self.pasteTime
        case .character, .escape, .sequence, .shift, .string: Self.escapeTime
        }
    }

    /// Decodes received bytes and returns the complete keys.
    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        for byte in bytes { take(byte) }
        return takeKeys()
    }

    /// Ends an incomplete key because no byte arrived for ``silenceLimit``. Returns the keys.
    mutating func silence() -> [Key] {
        switch state {
        case .ground, .sequence, .string: break
        case .character: keys.append(.character("\u{FFFD}"))
        case .escape: keys.append(.escape)
        case .shift: keys.append(.modified(.alt, .character("O")))
        case .paste(let bytes, _): endPaste(bytes)
        }
        state = .ground
        return takeKeys()
    }

    private mutating func takeKeys() -> [Key] {
        defer { keys = [] }
        return keys
    }

    // MARK: Bytes

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .ground: begin(byte, isAlt: false)
        case .character(let bytes, let missing): goOn(bytes, missing, byte)
        case .escape:
            state = .ground
            switch byte {
            case UInt8(ascii: "["): state = .sequence([])
            case UInt8(ascii: "O"): state = .shift
            case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "X"):
                state = .string(count: 0, hasEscape: false)
            case Self.escape:
                keys.append(.escape)
                state = .escape
            default: begin(byte, isAlt: true)
            }
        case .shift:
            state = .ground
            if byte == Self.escape { return begin(byte, isAlt: false) }
            if let key = Self.key(final: byte) { keys.append(key) }
        case .sequence(let bytes): goOn(bytes, byte)
        case .string(let count, let hasEscape):
            let isOver = byte == 0x07 || hasEscape && byte == UInt8(ascii: "\\") || count >= Self.pasteLimit
            state = isOver ? .ground : .string(count: count + 1, hasEscape: byte == Self.escape)
        case .paste(let bytes, let matched):
            // While `bytes` is appended to, `state` must not hold a second reference to the array, because the append
            // would then copy the whole array.
            state = .ground
            goOn(bytes, matched, pasted: byte)
        }
    }

    /// Handles the first byte of a key.
    private mutating func begin(_ byte: UInt8, isAlt: Bool) {
        func add(_ key: Key) { keys.append(isAlt ? .modified(.alt, key) : key) }
        switch byte {
        case Self.escape: state = .escape
        case 0x0D, 0x0A: add(.enter)
        case 0x09: add(.tab)
        case 0x7F, 0x08: add(.backspace)
        case 0x01...0x1A: add(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x00, 0x1C...0x1F: break  // Ctrl with a punctuation character has no meaning here.
        case 0x20...0x7E: add(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        default: keys.append(.character("\u{FFFD}"))
        }
    }

    private mutating func goOn(_ bytes: [UInt8], _ missing: Int, _ byte: UInt8) {
        guard byte & 0xC0 == 0x80 else {
            state = .ground
            keys.append(.character("\u{FFFD}"))
            return begin(byte, isAlt: false)
        }
        let bytes = bytes + [byte]
        if missing > 1 {
            state = .character(bytes, missing: missing - 1)
            return
        }
        state = .ground
        let text = String(validating: bytes, as: UTF8.self) ?? "\u{FFFD}"
        for scalar in text.unicodeScalars where scalar.properties.generalCategory != .control {
            keys.append(.character(Character(scalar)))
        }
    }

    // MARK: Escape sequences

    private mutating func goOn(_ bytes: [UInt8], _ byte: UInt8) {
        switch byte {
        case Self.escape: state = .escape  // A new escape sequence begins, so this one was cut off.
        case 0x40...0x7E:
            // The Linux console sends F1 to F5 with a second bracket: `ESC [ [ A`.
            if byte == UInt8(ascii: "["), bytes.isEmpty {
                state = .sequence([byte])
                return
            }
            state = .ground
            end(bytes, byte)
        default: state = bytes.count < Self.sequenceLimit ? .sequence(bytes + [byte]) : .ground
        }
    }

    private mutating func end(_ bytes: [UInt8], _ final: UInt8) {
        if bytes == [UInt8(ascii: "[")] {
            if (0x41...0x45).contains(final) { keys.append(.function(Int(final) - 0x40)) }
            return
        }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: ";", omittingEmptySubsequences: false)
            .map { Int($0) ?? 0 }
        let first = numbers.first ?? 0
        if final == UInt8(ascii: "~"), first == 200 {
            state = .paste([], matched: 0)
            return
        }
        let key =
            switch final {
            case UInt8(ascii: "~"): Self.key(number: first)
            case UInt8(ascii: "Z"): Key.modified(.shift, .tab)
            default: Self.key(final: final)
            }
        guard let key else { return }
        let modifiers = Key.Modifiers(rawValue: numbers.count > 1 ? max(1, min(8, numbers[1])) - 1 : 0)
        keys.append(modifiers.isEmpty ? key : .modified(modifiers, key))
    }

    private static func key(final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "M"): .enter  // The Enter key of the number pad.
        case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(final - UInt8(ascii: "O")))
        default: nil
        }
    }

    private static func key(number: Int) -> Key? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        // The key numbers have gaps because some old terminals had more keys.
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23...26: .function(number - 12)
        case 28, 29: .function(number - 13)
        case 31...34: .function(number - 14)
        default: nil
        }
    }

    // MARK: Pasted text

    private mutating func goOn(_ bytes: consuming [UInt8], _ matched: Int, pasted byte: UInt8) {
        if byte == Self.pasteEnd[matched] {
            if matched + 1 == Self.pasteEnd.count { return endPaste(bytes) }
            state = .paste(bytes, matched: matched + 1)
            return
        }
        // The bytes that looked like the start of the end marker are pasted text. A new match can start only with ESC,
        // because ESC is the first byte of the marker.
        let isBegin = byte == Self.escape
        if bytes.count < Self.pasteLimit {
            bytes.append(contentsOf: Self.pasteEnd.prefix(matched))
            if !isBegin { bytes.append(byte) }
        }
        state = .paste(bytes, matched: isBegin ? 1 : 0)
    }

    private mutating func endPaste(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.prefix(Self.pasteLimit), as: UTF8.self)
        let unified = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        if !unified.isEmpty { keys.append(.pasted(unified)) }
    }
}
