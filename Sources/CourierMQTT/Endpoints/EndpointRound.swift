import CourierCore

/// Decides which endpoint of a list is tried next.
///
/// Attempts go in rounds: each endpoint of the list once, the preferred ones first, equals by weighted chance (RFC 2782).
/// An endpoint that failed stands behind its equals until it works again, or until a whole round has failed.
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
    /// What follows a failure.
    enum Turn: Equatable, Sendable {
        /// Another endpoint has its turn in the round that continues.
        case next
        /// A connection was lost, and the new round begins with another endpoint.
        case other
        /// All were tried, or there is none but this one: a new round begins, and with a pause.
        case over
    }

    /// The order of a list of one, which most are.
    private static let only = [0]

    let list: EndpointList
    /// Those that have their turn in this round, by their place in the list; the first is the present one.
    private var order: [Int]
    /// Those that have failed since they last worked, by their place in the list, the longest ago first.
    private var failed: [Int] = []
    /// Whether the present one has accepted a connection.
    private var isAccepted = false
    /// Whether something in this round failed in a way that may pass.
    private var hasHope = false

    /// Begins the first round.
    init(_ list: EndpointList, using random: inout some RandomNumberGenerator) {
        self.list = list
        order = []
        begin(using: &random)
    }

    /// The one whose turn it is.
    var current: BrokerEndpoint { list.endpoints[order[0]] }

    /// Whether there is no better one than the present.
    var isAtPreferred: Bool { current.priority == list.bestPriority }

    /// Whether another has its turn in this round when the present one fails.
    var hasNext: Bool { !isAccepted && order.count > 1 }

    /// Whether others follow in this round, or something in it may pass.
    var goesOn: Bool { hasHope || hasNext }

    /// The present one has accepted a connection: the round is at its end.
    mutating func accepted(using random: inout some RandomNumberGenerator) {
        let present = order[0]
        isAccepted = true
        hasHope = false
        failed.removeAll { $0 == present }
        if list.endpoints.count > 1 { order = [present] + drawn(using: &random).filter { $0 != present } }
    }

    /// The present one is tried, perhaps again.
    mutating func attempted() { isAccepted = false }

    /// The present one failed, or its connection was lost; `mayRecover` unless it would fail in the same way again.
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

    /// The present one has sent the client to another; if that stands in the list, it has its turn now.
    mutating func select(host: String, port: UInt16) -> Bool {
        guard let target = list.index(host: host, port: port), target != order[0] else { return false }
        failed.removeAll { $0 == order[0] }
        failed.append(order[0])
        hasHope = true
        order = [target] + order.dropFirst().filter { $0 != target }
        isAccepted = false
        return true
    }

    /// Takes over a connection that an earlier list has led to, if this one has its endpoint.
    mutating func resume(at endpoint: BrokerEndpoint, using random: inout some RandomNumberGenerator) {
        guard let place = list.index(host: endpoint.host, port: endpoint.port) else { return }
        order = [place]
        accepted(using: &random)
    }

    /// Gives the preferred ones their turn, whether they failed before or not.
    mutating func returnToPreferred(using random: inout some RandomNumberGenerator) {
        failed = []
        begin(using: &random)
    }

    private mutating func begin(using random: inout some RandomNumberGenerator) {
        order = list.endpoints.count > 1 ? drawn(using: &random) : Self.only
        isAccepted = false
        hasHope = false
    }

    // MARK: The order

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

    /// RFC 2782: one is drawn after the other, each with a chance as its weight is to the sum of those that are left.
    /// Those without weight stand first, so that they have a very small chance.
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
