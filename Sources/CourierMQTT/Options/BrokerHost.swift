import CourierCore

/// A broker's host name or IP address that has passed the checks. An IPv6 address is stored without brackets.
struct BrokerHost: Hashable, Sendable {
    /// The longest DNS name in bytes of text (RFC 1035, section 3.1).
    static let limit = 253

    let string: String

    /// Checks a host.
    ///
    /// - Parameter text: A host name, an IPv4 address, or an IPv6 address with or without brackets.
    /// - Throws: ``CourierError/Code/invalidConfiguration``, whose message names the problem and the remedy.
    init(_ text: String) throws(CourierError) {
        func refuse(_ what: String) -> CourierError {
            CourierError(.invalidConfiguration, "The host \(text.shownHost.quoted()) \(what).")
        }
        if text.isEmpty { throw refuse("is empty; give the broker's host name or address") }
        if text.contains("://") {
            throw refuse("is a URL; set host to the host name, and scheme to the part before \"://\"")
        }
        if text.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }) {
            throw refuse("contains a space or a control character; remove it")
        }
        if text.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "@") }) {
            throw refuse("contains '/' or '@'; set only the host name")
        }
        if text.utf8.count > Self.limit {
            throw refuse("has \(text.utf8.count) bytes; at most \(Self.limit) are allowed")
        }
        guard text.utf8.contains(where: { "[]:".utf8.contains($0) }) else {
            string = text
            return
        }
        let hasBrackets = text.hasPrefix("[") && text.hasSuffix("]")
        let address = hasBrackets ? text.dropFirst().dropLast() : Substring(text)
        guard Self.looksLikeIPv6(address) else {
            let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
            let isPortAtEnd = text.hasPrefix("[") || colons == 1
            throw refuse(
                isPortAtEnd
                    ? "is not a host name or an IPv6 address; set the port with the option port"
                    : "is not a host name or an IPv6 address")
        }
        string = String(address)
    }

    /// Returns true if the text has the form of an IPv6 address, with or without a zone. The resolver decides later
    /// whether the address is valid.
    private static func looksLikeIPv6(_ text: Substring) -> Bool {
        let address = text.prefix { $0 != "%" }.utf8
        let colons = address.count { $0 == UInt8(ascii: ":") }
        let areLettersRight = address.allSatisfy { byte in
            byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") || Character(Unicode.Scalar(byte)).isHexDigit
        }
        let zone = text.dropFirst(address.count)
        return (2...8).contains(colons) && areLettersRight && zone.utf8.count != 1
            && !zone.contains { $0 == "[" || $0 == "]" || $0 == ":" }
    }
}
