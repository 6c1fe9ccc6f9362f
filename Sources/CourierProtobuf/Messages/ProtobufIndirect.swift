/// Stores a field in a box on the heap, so that a message type can contain itself.
///
/// ```swift
/// struct Node { @ProtobufIndirect var next: Node? }
/// ```
@propertyWrapper
public struct ProtobufIndirect<Value: Hashable & Sendable>: Hashable, Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box?

    /// The value of the field. Setting it creates a new box, so that existing copies of the message stay unchanged.
    public var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }

    /// Creates the field.
    ///
    /// - Parameter wrappedValue: The value of the field.
    public init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    /// Compares the values of two fields.
    public static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.wrappedValue == other.wrappedValue
    }

    /// Hashes the value of the field.
    ///
    /// - Parameter hasher: The hasher that receives the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
