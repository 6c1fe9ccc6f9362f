/// The received fields of a message that are not in its schema, stored unchanged.
///
/// The fields take part in comparison: two messages are equal only if the bytes of their unknown fields are equal too.
@frozen
public struct ProtobufUnknownFields: Hashable, Sendable {
    /// The encoded fields, each with its tag, in the order in which they were received.
    public internal(set) var bytes: [UInt8] = []

    /// True if there are no unknown fields.
    @inlinable public var isEmpty: Bool { bytes.isEmpty }

    /// Creates an empty list of fields.
    @inlinable
    public init() {}

    /// Removes all unknown fields, so that a message is passed on only with the fields that its schema has.
    public mutating func removeAll() { bytes = [] }
}
