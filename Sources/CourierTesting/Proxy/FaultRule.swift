public import CourierCore
public import MQTTCodec

/// A fault that a ``FaultProxy`` injects, with the packets that it applies to.
///
/// ```swift
/// FaultRule(.drop, .pubAck, selecting: .number(3))
/// FaultRule(.delay(.seconds(2)), .publish, topic: try TopicFilter("a/#"))
/// try FaultRule("cut after 100 packets")
/// ```
///
/// A rule counts the packets that it matches, in all connections together and from the time when it was added. If
/// several rules apply to a packet, all their faults happen: delays add up, and a dropped packet is not duplicated.
public struct FaultRule: Hashable, Sendable {
    /// A fault of one packet.
    public enum Action: Hashable, Sendable {
        /// The packet is not forwarded.
        case drop
        /// The packet is forwarded later, by at most ``FaultRule/maximumDelay``. Later packets of the same direction wait
        /// too, so the order of the packets does not change.
        case delay(Duration)
        /// The packet is forwarded twice. A packet of more than ``FaultProxy/heldPacketSize`` is forwarded once.
        case duplicate
        /// The bits of the packet's last byte are inverted. If the packet has no body, the last byte is the remaining
        /// length.
        case corrupt
        /// The connection is cut on both sides. The packet is not forwarded.
        case cut(CutStyle)
        /// The packet is forwarded. Then the connection is cut on both sides. With ``CutStyle/reset``, the receiver loses
        /// all bytes that it has not read yet, possibly also this packet.
        case cutAfter(CutStyle)
    }

    /// Selects some of the matching packets by their numbers. The first matching packet has the number 1.
    public enum Selection: Hashable, Sendable {
        /// All packets.
        case all
        /// Only the packet with this number among the matching packets.
        case number(Int)
        /// Each matching packet whose number is a multiple of this number.
        case every(Int)
        /// The matching packets from the first packet up to the packet with this number.
        case first(Int)
        /// The matching packets whose number is higher than this number.
        case after(Int)

        /// Whether the matching packet with this number is selected.
        ///
        /// - Parameter number: The number of the packet among the matching packets, at least 1.
        /// - Returns: `true` if the packet is selected.
        public func includes(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .number(let wanted): number == wanted
            case .every(let step): step > 0 && number.isMultiple(of: step)
            case .first(let count): number <= count
            case .after(let count): number > count
            }
        }
    }

    /// The longest delay of a packet: 24 hours. Longer delays are shortened to it.
    public static let maximumDelay = Duration.seconds(86_400)

    /// The fault of the selected packets.
    public let action: Action

    /// The types of the matching packets; empty for all types.
    public let types: Set<PacketType>

    /// The sender of the matching packets; `nil` for both sides.
    public let sender: Endpoint?

    /// The filter for topics; `nil` if topics do not matter. With a filter, only PUBLISH, SUBSCRIBE and UNSUBSCRIBE
    /// match. A wildcard of this filter also matches a wildcard in SUBSCRIBE and UNSUBSCRIBE.
    public let topic: TopicFilter?

    /// The matching packets to which the action applies.
    public let selection: Selection

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - action: The fault of the packets.
    ///   - types: The types of the packets; all types by default.
    ///   - sender: The sender of the packets; both sides by default.
    ///   - topic: A filter for the topics of PUBLISH, SUBSCRIBE and UNSUBSCRIBE; none by default.
    ///   - selection: The matching packets to which the action applies; all by default.
    public init(
        _ action: Action, of types: Set<PacketType>, from sender: Endpoint? = nil, topic: TopicFilter? = nil,
        selecting selection: Selection = .all
    ) {
        self.action = action
        self.types = types
        self.sender = sender
        self.topic = topic
        self.selection = selection
    }

    /// Creates a rule for packets of one type or of all types.
    ///
    /// - Parameters:
    ///   - action: The fault of the packets.
    ///   - type: The type of the packets; all types by default.
    ///   - sender: The sender of the packets; both sides by default.
    ///   - topic: A filter for the topics of PUBLISH, SUBSCRIBE and UNSUBSCRIBE; none by default.
    ///   - selection: The matching packets to which the action applies; all by default.
    public init(
        _ action: Action, _ type: PacketType? = nil, from sender: Endpoint? = nil, topic: TopicFilter? = nil,
        selecting selection: Selection = .all
    ) {
        self.init(action, of: type.map { [$0] } ?? [], from: sender, topic: topic, selecting: selection)
    }

    /// Whether the rule counts this packet.
    func matches(_ facts: PacketFacts) -> Bool {
        if let sender, sender != facts.sender { return false }
        if !types.isEmpty {
            guard let type = facts.type, types.contains(type) else { return false }
        }
        guard let topic else { return true }
        return topic.matchedString.withUTF8Span { filter in
            facts.topics.contains { $0.withUTF8Span { TopicFilter.matches(filter, $0) } }
        }
    }
}

/// The properties of a packet that a rule compares.
struct PacketFacts: Equatable, Sendable {
    var sender: Endpoint
    /// The packet type; `nil` for the reserved type 0.
    var type: PacketType?
    /// The topic of PUBLISH, or the filters of SUBSCRIBE and UNSUBSCRIBE without `$share/group/`; otherwise empty.
    var topics: [String] = []
}
