package import CommandArguments

/// The parsed argument of the `-F` option: how a received message is printed.
///
/// `%` begins a field of the message, with optional flags, width and precision. `@` begins a part of the time. `\`
/// begins an escaped character. The manual page mosquitto_sub(1) describes this syntax.
package struct MessageFormat: Hashable, Sendable {
    /// The flags, width and precision of one field, as in `printf`.
    struct Field: Hashable, Sendable {
        var isLeft = false
        var pad = UInt8(ascii: " ")
        var width = 0
        /// -1 means that no precision was given.
        var precision = -1
        /// The character between groups of hexadecimal digits, for `%x` and `%X`.
        var separator = UInt8(ascii: " ")
    }

    enum Part: Hashable, Sendable {
        case text([UInt8])
        case field(UInt8, Field)
        /// A conversion letter of `strftime`.
        case time(UInt8)
    }

    /// The letters that are allowed after a percent sign.
    private static let letters = Set("%ACDEFIlmPpqRSrtjJUxXfd".utf8)
    /// The characters that are allowed directly before the letter of a field, to separate groups of hexadecimal digits.
    /// For example, `:` in `%:x` is such a character.
    private static let separators = Set("!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~ ".utf8)
    /// The letters that are allowed after a backslash, and the byte that each letter means.
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "0"): 0, UInt8(ascii: "a"): 7, UInt8(ascii: "e"): 0x1B,
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "v"): 0x0B,
    ]
    /// The maximum width of a field. It limits the memory that a mistyped number can use.
    static let widthLimit = 1 << 20

    let parts: [Part]

    /// Parses a format string.
    ///
    /// - Throws: ``ArgumentError`` with the same message text as the mosquitto clients.
    package init(_ text: String) throws(ArgumentError) {
        var parts: [Part] = []
        var plain: [UInt8] = []
        var rest = Array(text.utf8)[...]
        func endPlain() {
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = []
        }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let (letter, field) = try Self.field(&rest)
                if letter == UInt8(ascii: "%") {
                    plain.append(letter)
                } else {
                    endPlain()
                    parts.append(.field(letter, field))
                }
            case UInt8(ascii: "@"):
                guard let letter = rest.popFirst() else { throw Self.incomplete }
                if letter == UInt8(ascii: "@") {
                    plain.append(letter)
                } else {
                    endPlain()
                    parts.append(.time(letter))
                }
            case UInt8(ascii: "\\"):
                guard let letter = rest.popFirst() else {
                    throw ArgumentError("Incomplete escape specifier.")
                }
                guard let meaning = Self.escapes[letter] else {
                    throw ArgumentError("Invalid escape specifier '\(Character(Unicode.Scalar(letter)))'.")
                }
                plain.append(meaning)
            default: plain.append(byte)
            }
        }
        endPlain()
        self.parts = parts
    }

    private static let incomplete = ArgumentError("Incomplete format specifier.")

    /// Parses the flags, width, precision, separator and letter that follow a percent sign.
    private static func field(_ rest: inout ArraySlice<UInt8>) throws(ArgumentError) -> (UInt8, Field) {
        var field = Field()
        if rest.first == UInt8(ascii: "-") {
            field.isLeft = true
            rest.removeFirst()
        }
        if rest.first == UInt8(ascii: "0") {
            field.pad = UInt8(ascii: "0")
            rest.removeFirst()
        }
        field.width = number(&rest) ?? 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            field.precision = number(&rest) ?? 0
        }
        if let separator = rest.first, separators.contains(separator) {
            field.separator = separator
            rest.removeFirst()
        }
        guard let letter = rest.popFirst() else { throw incomplete }
        guard letters.contains(letter) else {
            throw ArgumentError("Invalid format specifier '\(Character(Unicode.Scalar(letter)))'.")
        }
        return (letter, field)
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        var number: Int?
        while let digit = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
            rest.removeFirst()
            number = min((number ?? 0) * 10 + Int(digit - UInt8(ascii: "0")), widthLimit)
        }
        return number
    }

    /// The format of the `--json` option: one line of JSON for each message.
    static let json = MessageFormat(parts: [.field(UInt8(ascii: "J"), Field())])

    private init(parts: [Part]) { self.parts = parts }
}
