import CourierCore
import MQTTCodec

extension [UserProperty] {
    /// Returns the problem with the user properties of one packet; `nil` if MQTT 5 can carry them. The returned text is
    /// the end of a sentence that starts with the packet's name. The text never contains a property's value.
    func problem(_ texts: WireText) -> String? {
        guard count <= MessageProperties.userPropertyLimit else {
            return "has \(count) user properties; at most \(MessageProperties.userPropertyLimit) are allowed"
        }
        for index in indices {
            if let problem = texts.problem(self[index].name) {
                return "has a user property \(index + 1) whose name \(problem)"
            }
            if let problem = texts.problem(self[index].value) {
                return "has a user property \(index + 1) whose value \(problem)"
            }
        }
        return nil
    }

    /// The properties in the form that a packet carries, in the same order.
    var packetProperties: [Property] { map { .userProperty(name: $0.name, value: $0.value) } }

    /// The size of the user properties in a packet, in bytes. Each property has an id of one byte, two lengths of two
    /// bytes, a name and a value.
    var packetByteCount: Int { reduce(0) { $0 + 5 + $1.name.utf8.count + $1.value.utf8.count } }
}
