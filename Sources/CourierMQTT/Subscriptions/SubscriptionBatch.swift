import CourierCore
import MQTTCodec

/// The filters of one SUBSCRIBE or UNSUBSCRIBE that is being put together.
struct SubscriptionBatch: Sendable {
    /// The largest size of a packet without its filters: five bytes of fixed header, the packet id, and the length of the
    /// properties.
    private static let overhead = 8
    /// The largest size of an identifier.
    private static let identifierSize = 5

    private let maximumCount: Int
    private let maximumSize: Int
    private(set) var places: [Int] = []
    private(set) var requests: [SubscriptionEntry.Request] = []
    private var subscriptions: [SubscriptionAction.Subscription] = []
    private var filters: [TopicFilter] = []
    /// The identifier of all its subscriptions.
    private var identifier: UInt32?
    /// The user properties of the packet.
    private(set) var userProperties: [UserProperty] = []
    private var size = overhead

    init(maximumCount: Int, maximumSize: Int) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    var isEmpty: Bool { places.isEmpty }

    /// How large a packet of MQTT 5 is that has this only, to the byte.
    static func size(ofPacketWith request: SubscriptionEntry.Request, for entry: SubscriptionEntry) -> Int {
        var properties = entry.userProperties(of: request).packetByteCount
        // The packet id, and the text with its length.
        var body = 2 + 2 + entry.filter.string.utf8.count
        if case .subscribe = request {
            body += 1
            properties += entry.identifier.map { 1 + VariableByteInteger.byteCount(Int($0)) } ?? 0
        }
        body += VariableByteInteger.byteCount(properties) + properties
        return 1 + VariableByteInteger.byteCount(body) + body
    }

    /// Whether the filter fits into the batch.
    func hasRoom(for entry: SubscriptionEntry, _ request: SubscriptionEntry.Request) -> Bool {
        places.count < maximumCount && size + Self.size(of: entry.filter) <= maximumSize
            && (request == .unsubscribe || entry.identifier == identifier)
            && entry.userProperties(of: request) == userProperties
    }

    mutating func append(_ place: Int, _ entry: SubscriptionEntry, _ request: SubscriptionEntry.Request) {
        places.append(place)
        requests.append(request)
        size += Self.size(of: entry.filter)
        if places.count == 1 {
            userProperties = entry.userProperties(of: request)
            // The length field of properties may be three bytes longer than that of empty properties.
            if !userProperties.isEmpty { size += 3 + userProperties.packetByteCount }
        }
        switch request {
        case .subscribe(let qos):
            if identifier == nil, entry.identifier != nil { size += Self.identifierSize }
            identifier = entry.identifier
            subscriptions.append(
                SubscriptionAction.Subscription(
                    entry.filter, qos, identifier: entry.identifier, isRenewal: entry.isRenewal))
        case .unsubscribe: filters.append(entry.filter)
        }
    }

    mutating func removeAll() { self = SubscriptionBatch(maximumCount: maximumCount, maximumSize: maximumSize) }

    /// Sends the packet; all its requests are of one kind.
    func action(_ id: SubscriptionAction.RequestID) -> SubscriptionAction {
        subscriptions.isEmpty ? .unsubscribe(filters, id) : .subscribe(subscriptions, id)
    }

    /// Two bytes of length, the text, and for SUBSCRIBE the options.
    private static func size(of filter: TopicFilter) -> Int { filter.string.utf8.count + 3 }
}
