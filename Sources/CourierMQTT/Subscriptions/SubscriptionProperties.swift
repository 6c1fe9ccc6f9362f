import CourierCore
import MQTTCodec

/// The properties that the app chose for the SUBSCRIBE of a filter.
struct SubscriptionProperties: Hashable, Sendable {
    /// The largest subscription identifier [MQTT-3.8.2.1.2].
    static let largestIdentifier: UInt32 = 268_435_455

    /// The subscription identifier; `nil` leaves it to the client.
    var identifier: UInt32?
    /// The user properties, in their order.
    var userProperties: [UserProperty] = []

    /// Whether the app chose nothing.
    var isEmpty: Bool { identifier == nil && userProperties.isEmpty }

    /// The mistake in them, as the end of a sentence that begins with the packet's name; `nil` if there is none.
    func problem(_ texts: WireText) -> String? {
        if let identifier, !(1...Self.largestIdentifier).contains(identifier) {
            return "has the subscription identifier \(identifier); it must be 1 to \(Self.largestIdentifier)"
        }
        return userProperties.problem(texts)
    }

    /// Makes sure that MQTT 5 can carry them in the SUBSCRIBE of a filter.
    ///
    /// - Throws: ``CourierError/Code/invalidMessage`` with the filter and the problem.
    func check(filter: String, _ texts: WireText) throws(CourierError) {
        guard let problem = problem(texts) else { return }
        throw CourierError(.invalidMessage, "The SUBSCRIBE for \(filter.quoted()) \(problem).")
    }
}

extension SubscriptionRequest {
    /// The properties of the request's SUBSCRIBE; `nil` if it names none.
    var properties: SubscriptionProperties? {
        let properties = SubscriptionProperties(identifier: identifier, userProperties: userProperties)
        return properties.isEmpty ? nil : properties
    }
}
