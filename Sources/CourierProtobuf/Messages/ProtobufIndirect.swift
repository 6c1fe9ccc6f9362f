/// Keeps a field outside its message, so that a message type can contain itself.
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

    /// The field; to set it makes a new box, so that copies of the message stay as they were.
    public var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }

    /// Makes the field.
    ///
    /// - Parameter wrappedValue: Its value.
    public init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    /// Compares the values.
    public static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.wrappedValue == other.wrappedValue
    }

    /// Hashes the value.
    ///
    /// - Parameter hasher: Takes it.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue) }
}
