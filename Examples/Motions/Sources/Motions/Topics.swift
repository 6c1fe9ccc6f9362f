import CourierMQTT

/// The topics of the Motions app. They begin with a slash, so their first level is empty.
enum Topics {
    /// A lost motion does not matter, as the next one comes a second later: QoS 0.
    static let motion = Topic<Motion>("/mwm/{device}/motion", qos: .zero)
    /// The name of a colour. None may be lost, and one that comes twice does no harm: QoS 1.
    static let alert = Topic<String>("/mwm/{device}/alert", qos: .one)

    /// The device that a topic of these belongs to.
    static func deviceID<Value>(in topic: String, of family: Topic<Value>) throws -> String {
        guard let deviceID = try family.arguments(in: TopicName(topic))?["device"] else {
            throw CourierError(.decodingFailed, "\(topic) is no topic of a device")
        }
        return deviceID
    }
}
