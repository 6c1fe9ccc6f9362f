import CourierCore

/// The ways to one broker or cluster, each once, the preferred ones first.
struct EndpointList: Equatable, Sendable {
    /// At least one, ordered by priority; those of the same priority in the order in which they were given.
    let endpoints: [BrokerEndpoint]
    /// Whether the first one is to be tried before its equals, instead of taking part in the chance among them.
    let hasLeader: Bool
    /// How many there were beyond the limit.
    let leftOutCount: Int

    /// The list of options from the provider: their own host first, then the alternatives, at most `limit`.
    init(_ options: ConnectOptions, limit: Int) {
        let home = BrokerEndpoint(host: options.host, port: options.port)
        self.init(home, options.alternatives, limit: limit, hasLeader: true)
    }

    /// A list that was found elsewhere, of at most `limit`; `nil` when it is empty.
    init?(_ found: [BrokerEndpoint], limit: Int) {
        guard let first = found.first else { return nil }
        self.init(first, Array(found.dropFirst()), limit: limit, hasLeader: false)
    }

    private init(_ first: BrokerEndpoint, _ others: [BrokerEndpoint], limit: Int, hasLeader: Bool) {
        var distinct = [first]
        for endpoint in others where !distinct.contains(where: { $0.isSamePlace(as: endpoint) }) {
            distinct.append(endpoint)
        }
        let order = distinct.indices.sorted { (distinct[$0].priority, $0) < (distinct[$1].priority, $1) }
        endpoints = order.prefix(max(limit, 1)).map { distinct[$0] }
        self.hasLeader = hasLeader
        leftOutCount = distinct.count - endpoints.count
    }

    /// The lowest number of a priority.
    var bestPriority: UInt16 { endpoints[0].priority }

    /// The place of an endpoint in the list.
    func index(host: String, port: UInt16) -> Int? { endpoints.firstIndex { $0.host == host && $0.port == port } }
}

extension BrokerEndpoint {
    fileprivate func isSamePlace(as other: BrokerEndpoint) -> Bool { host == other.host && port == other.port }
}

extension ConnectOptions {
    /// The same options for this endpoint.
    func at(_ endpoint: BrokerEndpoint) -> ConnectOptions {
        var options = self
        options.host = endpoint.host
        options.port = endpoint.port
        if let scheme = endpoint.scheme { options.scheme = scheme }
        return options
    }
}
