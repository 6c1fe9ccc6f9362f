import CourierCore
import MQTTCodec

/// The properties that the app chose for the SUBSCRIBE of a filter.
struct SubscriptionProperties: Hashable, Sendable {
    /// The largest subscription identifier (MQTT 5.0 §3.8.2.1.2).
    static let largestIdentifier: UInt32 = 268_435_455

    /// The subscription identifier. With `nil`, the client chooses an identifier.
    var identifier: UInt32?
    /// The user properties, in the order in which they are sent.
    var userProperties: [UserProperty] = []

    /// True if the app chose no properties.
    var isEmpty: Bool { identifier == nil && userProperties.isEmpty }

    /// Returns the reason why MQTT 5 cannot carry the properties; `nil` if there is no such reason. The text is the end
    /// of a sentence that begins with the packet's name.
    func problem(_ texts: WireText) -> String? {
        if let identifier, !(1...Self.largestIdentifier).contains(identifier) {
            return "has the subscription identifier \(identifier); it must be 1 to \(Self.largestIdentifier)"
        }
        return userProperties.problem(texts)
    }

    /// Checks that MQTT 5 can carry the properties in the SUBSCRIBE of a filter.
    ///
    /// - Throws: ``CourierError/Code/invalidMessage`` with the filter and the problem.
    func check(filter: String, _ texts: WireText) throws(CourierError) {
        guard let problem = problem(texts) else { return }
        throw CourierError(.invalidMessage, "The SUBSCRIBE for \(filter.quoted()) \(problem).")
    }
}

extension SubscriptionRequest {
    /// The properties of the request's SUBSCRIBE; `nil` if the request has none.
    var properties: SubscriptionProperties? {
        let properties = SubscriptionProperties(identifier: identifier, userProperties: userProperties)
        return properties.isEmpty ? nil : properties
    }
}
