import CourierCore

/// The endpoints of one broker or cluster, without duplicates. Preferred endpoints come first.
struct EndpointList: Equatable, Sendable {
    /// At least one endpoint, sorted by priority. Endpoints of the same priority are in their original order.
    let endpoints: [BrokerEndpoint]
    /// True if the first endpoint is tried before the other endpoints of its priority. The other endpoints are tried in
    /// random order.
    let hasLeader: Bool
    /// The number of endpoints that are not used, because the list is longer than the limit.
    let leftOutCount: Int

    /// Makes a list of at most `limit` endpoints from the provider's options. The endpoints are the host and port of
    /// the options, and their alternatives.
    init(_ options: ConnectOptions, limit: Int) {
        let home = BrokerEndpoint(host: options.host, port: options.port)
        self.init(home, options.alternatives, limit: limit, hasLeader: true)
    }

    /// Makes a list of at most `limit` endpoints from DNS service records; `nil` if `found` is empty.
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

    /// The priority of the preferred endpoints: the lowest number in the list.
    var bestPriority: UInt16 { endpoints[0].priority }

    /// Returns the index of the endpoint with this host and port; `nil` if the list does not contain it.
    func index(host: String, port: UInt16) -> Int? { endpoints.firstIndex { $0.host == host && $0.port == port } }
}

extension BrokerEndpoint {
    fileprivate func isSamePlace(as other: BrokerEndpoint) -> Bool { host == other.host && port == other.port }
}

extension ConnectOptions {
    /// Returns the same options with the host, port and scheme of this endpoint. If the endpoint has no scheme, the
    /// scheme of the options remains.
    func at(_ endpoint: BrokerEndpoint) -> ConnectOptions {
        var options = self
        options.host = endpoint.host
        options.port = endpoint.port
        if let scheme = endpoint.scheme { options.scheme = scheme }
        return options
    }
}
