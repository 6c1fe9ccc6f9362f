import CourierCore
import CourierTransport

extension ClientCoordinator {
    /// Looks up the service records of a host.
    func findEndpoints(_ options: ConnectOptions, _ attempt: AttemptID) {
        giveUpSearch()
        guard let service = settings.service(for: options) else {
            return tell(.endpointsFound(attempt, .found([])))
        }
        search = settings.serviceRecords.lookUp(service.name) { [weak self] answer in
            guard let self else { return }
            loop.execute { [self] in tell(.endpointsFound(attempt, EndpointSearch(answer, of: service))) }
        }
    }

    /// Nobody waits for service records any more, unless the supervisor does.
    func giveUpUnwantedSearch() {
        guard search != nil else { return }
        if case .locating = supervisor.phase { return }
        giveUpSearch()
    }

    private func giveUpSearch() {
        guard let search else { return }
        search.cancel()
        self.search = nil
    }
}

/// A service of a domain, as DNS calls it.
struct NamedService: Hashable, Sendable {
    /// Such as `_mqtt._tcp.example.com`.
    let name: String
    /// The scheme of its endpoints, so that their ports decide nothing.
    let scheme: String

    /// The service that options ask for; `nil` where there is none, as for addresses and Unix sockets, and for what is no
    /// host: it may be a URL with a password, which DNS must not see.
    init?(_ options: ConnectOptions, hasTLSSettings: Bool) {
        guard let scheme = try? ConnectionScheme(options, hasTLSSettings: hasTLSSettings),
            (try? BrokerHost(options.host)) != nil, !Self.isAddress(options.host)
        else { return nil }
        let host = options.host.hasSuffix(".") ? String(options.host.dropLast()) : options.host
        if scheme == .tcp {
            name = "_mqtt._tcp.\(host)"
            self.scheme = options.scheme ?? "tcp"
        } else if scheme == .tls {
            name = "_secure-mqtt._tcp.\(host)"
            self.scheme = options.scheme ?? "tls"
        } else {
            return nil
        }
    }

    private static func isAddress(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    }
}

extension EndpointSearch {
    init(_ answer: ServiceRecords.Answer, of service: NamedService) {
        self =
            switch answer {
            case .records(let records):
                .found(
                    records.map {
                        BrokerEndpoint(
                            host: $0.target, port: $0.port, priority: $0.priority, weight: $0.weight,
                            scheme: service.scheme)
                    })
            case .none: .found([])
            case .unavailable: .unavailable
            case .failed(let reason): .failed(reason)
            }
    }
}
