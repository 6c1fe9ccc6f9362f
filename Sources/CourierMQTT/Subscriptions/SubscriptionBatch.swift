import CourierCore

/// The filters of one SUBSCRIBE or UNSUBSCRIBE that is being put together.
struct SubscriptionBatch: Sendable {
    /// What a packet has beside its filters at most: five bytes of fixed header, the packet id, and the length of no
    /// properties.
    private static let overhead = 8

    private let maximumCount: Int
    private let maximumSize: Int
    private(set) var places: [Int] = []
    private(set) var requests: [SubscriptionEntry.Request] = []
    private var filters: [TopicFilter] = []
    private var size = overhead

    init(maximumCount: Int, maximumSize: Int) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    var isEmpty: Bool { places.isEmpty }

    /// How large a packet is that has this filter only.
    static func size(ofPacketWith filter: TopicFilter) -> Int { overhead + size(of: filter) }

    /// Whether the filter can join those that are there.
    func hasRoom(for filter: TopicFilter) -> Bool {
        places.count < maximumCount && size + Self.size(of: filter) <= maximumSize
    }

    mutating func append(_ place: Int, _ filter: TopicFilter, _ request: SubscriptionEntry.Request) {
        places.append(place)
        requests.append(request)
        filters.append(filter)
        size += Self.size(of: filter)
    }

    mutating func removeAll() { self = SubscriptionBatch(maximumCount: maximumCount, maximumSize: maximumSize) }

    /// Sends the packet; all its requests are of one kind.
    func action(_ id: SubscriptionAction.RequestID) -> SubscriptionAction {
        let subscriptions = zip(filters, requests).compactMap { filter, request in
            if case .subscribe(let qos) = request { SubscriptionAction.Subscription(filter, qos) } else { nil }
        }
        return subscriptions.isEmpty ? .unsubscribe(filters, id) : .subscribe(subscriptions, id)
    }

    /// Two bytes of length, the text, and for SUBSCRIBE the options.
    private static func size(of filter: TopicFilter) -> Int { filter.string.utf8.count + 3 }
}
