import CourierMQTT

/// The topics of the Motions app. They begin with a slash, so their first level is empty.
enum Topics {
    /// Motions use QoS 0, because a lost motion is soon replaced by the next one.
    static let motion = Topic<Motion>("/mwm/{device}/motion", qos: .zero)
    /// Alerts contain the name of a color. They use QoS 1, because none may be lost, and a duplicate is harmless.
    static let alert = Topic<String>("/mwm/{device}/alert", qos: .one)

    /// Returns the device id in a topic of this family.
    static func deviceID<Value>(in topic: String, of family: Topic<Value>) throws -> String {
        guard let deviceID = try family.arguments(in: TopicName(topic))?["device"] else {
            throw CourierError(.decodingFailed, "\(topic) is no topic of a device")
        }
        return deviceID
    }
}
