import CourierCore

/// The result of a look-up of DNS service records.
enum EndpointSearch: Equatable, Sendable {
    /// The endpoints in the records; empty if the domain has no service records.
    case found([BrokerEndpoint])
    /// The domain states that it does not offer MQTT.
    case unavailable
    /// The look-up failed, for this reason.
    case failed(String)
}
