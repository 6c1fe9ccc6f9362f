/// One decoded field of a packet.
public struct MQTTChuckField: Hashable, Sendable {
    /// The name of the field, such as `keep alive`.
    public let name: String

    /// The value of the field as text.
    public let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
