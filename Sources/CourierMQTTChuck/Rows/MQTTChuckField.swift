/// One decoded field of a packet.
public struct MQTTChuckField: Hashable, Sendable {
    /// Its name, such as `keep alive`.
    public let name: String

    /// Its value as text.
    public let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
