/// A text that is compared by its UTF-8 bytes.
///
/// Topics, filters and client identifiers must not be normalized ([MQTT-4.7.3-4]), but `String` considers canonically
/// equivalent texts equal.
struct ExactText: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
    init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Splits a topic name or filter into its levels, including empty levels.
    static func levels(of text: some Sequence<UInt8>) -> [Self] {
        Array(text).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Self($0) }
    }
}

extension ExactText {
    static let singleLevelWildcard = Self("+")
    static let multiLevelWildcard = Self("#")

    var isWildcard: Bool { self == .singleLevelWildcard || self == .multiLevelWildcard }
}

extension ExactText: Comparable {
    static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
