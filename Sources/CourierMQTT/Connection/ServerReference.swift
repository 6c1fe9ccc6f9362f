/// Another server that a broker names in the Server Reference property (MQTT 5.0 §4.11).
struct ServerReference: Hashable, Sendable {
    let host: String
    /// The port; `nil` if the reference has no port. The client then uses the port of the current server.
    let port: UInt16?

    /// Reads the first usable reference of a list in which spaces separate the references. A reference is a name or
    /// address, and optionally a colon and a port. An IPv6 address with a port is in brackets.
    ///
    /// Returns `nil` if the list has no usable reference. The list comes from the network, so its text may be
    /// malformed.
    init?(firstOf list: String) {
        guard let first = Self.list(list).first else { return nil }
        self = first
    }

    /// The maximum number of usable references that are read from a list.
    static let listLimit = 16

    /// Returns the usable references of a list, at most ``listLimit``.
    static func list(_ text: String) -> [ServerReference] {
        Array(text.split(separator: " ").lazy.compactMap { Self(one: $0) }.prefix(listLimit))
    }

    private init?(one text: Substring) {
        let name: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard name.contains(":"), rest.isEmpty || rest.hasPrefix(":") else { return nil }
        } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 {
            (name, rest) = (text, "")  // An IPv6 address without a port.
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            (name, rest) = (text[..<colon], text[colon...])
        }
        guard Self.isHost(name), let checked = try? BrokerHost(String(name)) else { return nil }
        host = checked.string
        if rest.isEmpty {
            port = nil
        } else {
            guard let number = UInt16(rest.dropFirst()), number > 0 else { return nil }
            port = number
        }
    }

    /// True if all characters of the text occur in host names or IP addresses. The text comes from the broker, so
    /// characters with a special meaning, such as a slash, are refused.
    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: ":"), UInt8(ascii: "%"):
                    true
                default: false
                }
            }
    }
}
