import CourierCore

/// The result of a look-up of service records.
enum EndpointSearch: Equatable, Sendable {
    /// The endpoints of the records; empty if the domain has none.
    case found([BrokerEndpoint])
    /// The domain states that it does not offer the service.
    case unavailable
    /// The look-up failed, for this reason.
    case failed(String)
}
