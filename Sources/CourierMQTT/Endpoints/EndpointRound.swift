import CourierCore

/// Decides which endpoint of a list is tried next.
///
/// A round tries each endpoint of the list once, preferred endpoints first. Endpoints of the same priority are tried in
/// a random order that depends on their weights (RFC 2782). An endpoint that failed is tried after the other endpoints
/// of its priority, until it works again or a whole round has failed.
///
/// ```
///            failed, others left         failed, none left: the round is over, and a new one begins
///              ┌──────────┐              ┌──────────┐
///              ▼          │              ▼          │
/// begin ──▶ trying ───────┴──────────▶ trying ──────┘
///              │ ▲
///     accepted ▼ │ failed: the connection is lost, and a new round begins
///            accepted
/// ```
struct EndpointRound: Sendable {
    /// The next step after a failure.
    enum Turn: Equatable, Sendable {
        /// The round continues with another endpoint.
        case next
        /// A connection was lost, and a new round begins with another endpoint.
        case other
        /// A new round begins after a pause. Either all endpoints of this round have failed, or a connection was lost
        /// and the new round begins with the same endpoint.
        case over
    }

    /// The value of `order` for a list with one endpoint. Most lists have one endpoint, so they share this array to
    /// save memory.
    private static let only = [0]

    let list: EndpointList
    /// The list indices of the endpoints that remain to be tried in this round. The first index is the current
    /// endpoint.
    private var order: [Int]
    /// The list indices of the endpoints that failed and have not worked since then. The oldest failure is first.
    private var failed: [Int] = []
    /// True after the current endpoint has accepted a connection.
    private var isAccepted = false
    /// True if at least one failure of this round is temporary.
    private var hasHope = false

    /// Begins the first round.
    init(_ list: EndpointList, using random: inout some RandomNumberGenerator) {
        self.list = list
        order = []
        begin(using: &random)
    }

    /// The current endpoint. The client is connected to it, is connecting to it, or tries it next.
    var current: BrokerEndpoint { list.endpoints[order[0]] }

    /// True if no other endpoint has a better priority than the current endpoint.
    var isAtPreferred: Bool { current.priority == list.bestPriority }

    /// True if another endpoint can be tried in this round when the current endpoint fails.
    var hasNext: Bool { !isAccepted && order.count > 1 }

    /// True if an attempt may still succeed: another endpoint remains in this round, or a failure of this round is
    /// temporary.
    var goesOn: Bool { hasHope || hasNext }

    /// Records that the current endpoint has accepted a connection, which ends the round.
    mutating func accepted(using random: inout some RandomNumberGenerator) {
        let present = order[0]
        isAccepted = true
        hasHope = false
        failed.removeAll { $0 == present }
        if list.endpoints.count > 1 { order = [present] + drawn(using: &random).filter { $0 != present } }
    }

    /// Records that an attempt with the current endpoint begins.
    mutating func attempted() { isAccepted = false }

    /// Records that the current endpoint failed or lost its connection, and chooses the next endpoint. `mayRecover` is
    /// `false` if another attempt with the endpoint would fail in the same way.
    mutating func failed(mayRecover: Bool, using random: inout some RandomNumberGenerator) -> Turn {
        let present = order[0]
        failed.removeAll { $0 == present }
        failed.append(present)
        if isAccepted {
            begin(using: &random)
            return order[0] == present ? .over : .other
        }
        hasHope = hasHope || mayRecover
        if order.count > 1 {
            order.removeFirst()
            return .next
        }
        failed = []
        begin(using: &random)
        return .over
    }

    /// Makes another endpoint of the list the current endpoint. Called when the broker has redirected the client to
    /// that other endpoint. Returns `false` if the list does not contain the other endpoint, or if it is already the
    /// current endpoint.
    mutating func select(host: String, port: UInt16) -> Bool {
        guard let target = list.index(host: host, port: port), target != order[0] else { return false }
        failed.removeAll { $0 == order[0] }
        failed.append(order[0])
        hasHope = true
        order = [target] + order.dropFirst().filter { $0 != target }
        isAccepted = false
        return true
    }

    /// Makes the endpoint of the open connection the current one, if this list contains that endpoint. The connection
    /// was opened with an earlier list.
    mutating func resume(at endpoint: BrokerEndpoint, using random: inout some RandomNumberGenerator) {
        guard let place = list.index(host: endpoint.host, port: endpoint.port) else { return }
        order = [place]
        accepted(using: &random)
    }

    /// Begins a round with the preferred endpoints, even if they have failed.
    mutating func returnToPreferred(using random: inout some RandomNumberGenerator) {
        failed = []
        begin(using: &random)
    }

    private mutating func begin(using random: inout some RandomNumberGenerator) {
        order = list.endpoints.count > 1 ? drawn(using: &random) : Self.only
        isAccepted = false
        hasHope = false
    }

    // MARK: Order of the endpoints

    private func drawn(using random: inout some RandomNumberGenerator) -> [Int] {
        var order: [Int] = []
        var start = 0
        while start < list.endpoints.count {
            let priority = list.endpoints[start].priority
            let end = list.endpoints[start...].firstIndex { $0.priority != priority } ?? list.endpoints.count
            var equals = (start..<end).filter { !failed.contains($0) }
            if list.hasLeader, equals.first == 0 { order.append(equals.removeFirst()) }
            order += weighted(equals, using: &random)
            order += failed.filter { (start..<end).contains($0) }
            start = end
        }
        return order
    }

    /// Returns the endpoints with the list indices `places` in a random order that depends on their weights (RFC 2782).
    /// Endpoints are drawn one after the other. The chance of each endpoint is proportional to its weight. Endpoints
    /// with weight 0 are at the front of the candidates, so that each has a very small chance.
    private func weighted(_ places: [Int], using random: inout some RandomNumberGenerator) -> [Int] {
        func weight(_ place: Int) -> Int { Int(list.endpoints[place].weight) }
        let shuffled = places.shuffled(using: &random)
        var row = shuffled.filter { weight($0) == 0 } + shuffled.filter { weight($0) > 0 }
        var order: [Int] = []
        while row.count > 1 {
            let least = weight(row[0]) == 0 ? 0 : 1
            var rest = Int.random(in: least...max(least, row.reduce(0) { $0 + weight($1) }), using: &random)
            let drawn = row.firstIndex { place in
                rest -= weight(place)
                return rest <= 0
            }
            order.append(row.remove(at: drawn ?? 0))
        }
        return order + row
    }
}
