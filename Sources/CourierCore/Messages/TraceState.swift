/// The rules for the value of `tracestate` (W3C Trace Context, section 3.3).
enum TraceState {
    /// The maximum number of members, which the specification sets.
    private static let memberLimit = 32
    /// The maximum length of a key or a value.
    private static let partLimit = 256

    /// Returns the value without empty members, and without spaces and tabs around members. Tabs must be removed,
    /// because some brokers close the connection if a text contains a control character.
    ///
    /// - Parameter text: A list of at most 32 members `key=value`, separated by commas.
    /// - Returns: `nil` if the text is not such a list.
    static func normalized(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count <= memberLimit * 2 * (partLimit + 2) else { return nil }
        let members = bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { $0.trimmingBlanks }.filter { !$0.isEmpty }
        guard (1...memberLimit).contains(members.count), members.allSatisfy(isMember) else { return nil }
        return String(decoding: Array(members.joined(separator: [UInt8(ascii: ",")])), as: UTF8.self)
    }

    private static func isMember(_ member: ArraySlice<UInt8>) -> Bool {
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let (key, value) = (member[..<equals], member[(equals + 1)...])
        guard let first = key.first, isLetterOrDigit(first), key.count <= partLimit, key.allSatisfy(isInKey) else {
            return false
        }
        return (1...partLimit).contains(value.count) && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x3D }
    }

    private static func isInKey(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || Array("_-*/@".utf8).contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

extension ArraySlice<UInt8> {
    /// This text without spaces and tabs at both ends.
    fileprivate var trimmingBlanks: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = self
        while let first = text.first, isBlank(first) { text = text.dropFirst() }
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return text
    }
}
