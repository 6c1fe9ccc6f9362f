import CourierCore
import MQTTCodec

/// Collects the filters of one SUBSCRIBE or UNSUBSCRIBE packet.
struct SubscriptionBatch: Sendable {
    /// The maximum number of bytes of a packet without filters and properties. The fixed header has five bytes, the
    /// packet id has two, and the length of the properties has one.
    private static let overhead = 8
    /// The maximum number of bytes of a subscription identifier property.
    private static let identifierSize = 5

    private let maximumCount: Int
    private let maximumSize: Int
    private(set) var places: [Int] = []
    private(set) var requests: [SubscriptionEntry.Request] = []
    private var subscriptions: [SubscriptionAction.Subscription] = []
    private var filters: [TopicFilter] = []
    /// The subscription identifier of all subscriptions in the packet; `nil` for none.
    private var identifier: UInt32?
    /// The user properties of the packet.
    private(set) var userProperties: [UserProperty] = []
    private var size = overhead

    init(maximumCount: Int, maximumSize: Int) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    var isEmpty: Bool { places.isEmpty }

    /// Returns the exact number of bytes of an MQTT 5 packet that contains only this request.
    static func size(ofPacketWith request: SubscriptionEntry.Request, for entry: SubscriptionEntry) -> Int {
        var properties = entry.userProperties(of: request).packetByteCount
        // The body: two bytes of packet id, two bytes for the length of the filter, and the filter.
        var body = 2 + 2 + entry.filter.string.utf8.count
        if case .subscribe = request {
            body += 1
            properties += entry.identifier.map { 1 + VariableByteInteger.byteCount(Int($0)) } ?? 0
        }
        body += VariableByteInteger.byteCount(properties) + properties
        return 1 + VariableByteInteger.byteCount(body) + body
    }

    /// Returns true if this packet can carry the request. The packet must have room for the filter. The request must
    /// have the same subscription identifier and user properties as the packet. An UNSUBSCRIBE has no subscription
    /// identifier.
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
            // The length of the properties may need three more bytes, because `overhead` counts only one byte for it.
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

    /// Returns the action that sends the packet: SUBSCRIBE if the packet contains subscriptions, otherwise UNSUBSCRIBE.
    func action(_ id: SubscriptionAction.RequestID) -> SubscriptionAction {
        subscriptions.isEmpty ? .unsubscribe(filters, id) : .subscribe(subscriptions, id)
    }

    /// Returns the maximum number of bytes of a filter in a packet: two bytes of length, the text, and one byte of
    /// options in SUBSCRIBE.
    private static func size(of filter: TopicFilter) -> Int { filter.string.utf8.count + 3 }
}
