import CourierCore
import MQTTCodec

extension WillMessage {
    /// Checks that CONNECT can carry the will.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` whose message names the field and the remedy.
    func check(_ texts: WireText) throws(CourierError) {
        do {
            _ = try TopicName(topic)
            try texts.check(topicName: topic)
        } catch {
            throw CourierError(option: "The will message", error)
        }
        if payload.count > WireText.limit {
            throw CourierError(
                .invalidConfiguration,
                "The will message for \(topic.quoted()) has \(payload.count) bytes; "
                    + "at most \(WireText.limit) bytes are allowed."
            )
        }
        if WireSeconds(delay) == nil {
            throw CourierError(
                .invalidConfiguration,
                "The delay of the will message for \(topic.quoted()) is not between 0 and \(UInt32.max) seconds.")
        }
        do throws(CourierError) {
            try properties.check(topic: topic, texts)
        } catch {
            throw CourierError(option: "The will message", error)
        }
    }

    /// The will for a CONNECT packet. In versions before MQTT 5, the engine leaves out the will's properties.
    var packet: Connect.Will {
        var properties = PacketProperties(publishing: properties)
        if let seconds = WireSeconds(delay)?.rawValue, seconds > 0 { properties.append(.willDelayInterval(seconds)) }
        if let seconds = self.properties.messageExpiry.flatMap(WireSeconds.init)?.rawValue {
            properties.append(.messageExpiryInterval(seconds))
        }
        return Connect.Will(
            topic: topic, payload: [UInt8](payload), qos: PacketQoS(qos), isRetained: isRetained, properties: properties
        )
    }
}
