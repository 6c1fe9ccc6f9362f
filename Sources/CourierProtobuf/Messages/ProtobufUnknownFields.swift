/// The fields of a message that its schema does not have, kept as they came.
///
/// They take part in comparison: two messages are equal when their unknown bytes are equal too.
@frozen
public struct ProtobufUnknownFields: Hashable, Sendable {
    /// The fields one after the other, each with its tag, in the order in which they came.
    public internal(set) var bytes: [UInt8] = []

    /// Whether there are none.
    @inlinable public var isEmpty: Bool { bytes.isEmpty }

    /// Makes an empty list.
    @inlinable
    public init() {}

    /// Forgets them, so that a message can be passed on without what its reader did not understand.
    public mutating func removeAll() { bytes = [] }
}
