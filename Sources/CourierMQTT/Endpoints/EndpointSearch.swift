import CourierCore

/// What a look-up of service records has come to.
enum EndpointSearch: Equatable, Sendable {
    /// These; none where the domain has no such records.
    case found([BrokerEndpoint])
    /// The domain says that it does not have the service.
    case unavailable
    /// There was no answer, for this reason.
    case failed(String)
}
