import CourierCore
import CourierTransport

extension ClientCoordinator {
    /// Looks up the DNS service records of the host in these options, and passes the result to the supervisor.
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

    /// Cancels the look-up of DNS service records if the supervisor does not need the result any more.
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

/// The DNS name of an MQTT service. DNS service records are looked up under this name.
struct NamedService: Hashable, Sendable {
    /// The full name, such as `_mqtt._tcp.example.com`.
    let name: String
    /// The scheme for all endpoints that the look-up finds. Each endpoint needs this scheme, because without a scheme,
    /// its port would decide whether it uses TLS.
    let scheme: String

    /// Makes the service name for these options; `nil` for IP addresses, WebSocket, Unix sockets, and text that is not
    /// a host name. Such text may be a URL with a password, which must not reach DNS.
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
