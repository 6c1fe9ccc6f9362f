import CourierCore

/// A stream of messages that must keep their order: one writer, one topic, one QoS.
struct Lane: Hashable, Sendable {
    enum Direction: Sendable {
        /// From the worker to the collector.
        case up
        /// From the source to the worker.
        case down
    }

    /// The number of the worker's clients. They share one store.
    static let clientCount = 2
    /// The number of writers to or from each client.
    static let writerCount = 3
    /// The QoS levels of the messages.
    static let qualities: [QoS] = [.one, .two]
    /// The number of lanes in each direction.
    private static let perDirection = clientCount * writerCount * qualities.count

    /// The index in ``all``.
    let id: Int

    /// All lanes, in the order of their ids.
    static let all = (0..<2 * perDirection).map { Lane(id: $0) }

    private init(id: Int) { self.id = id }

    /// Returns the lane of a writer.
    static func of(_ direction: Direction, client: Int, writer: Int, _ qos: QoS) -> Lane {
        let place = (client * writerCount + writer) * qualities.count + (qos == .two ? 1 : 0)
        return Lane(id: direction == .up ? place : perDirection + place)
    }

    /// Creates the lane of a topic; `nil` if no lane has this topic.
    init?(topic: String) {
        guard let name = topic.split(separator: "/").last, let id = Int(name), Lane.all.indices.contains(id),
            Lane.all[id].topic == topic
        else { return nil }
        self = Lane.all[id]
    }

    var direction: Direction { id < Self.perDirection ? .up : .down }
    var client: Int { id % Self.perDirection / (Self.writerCount * Self.qualities.count) }
    var qos: QoS { Self.qualities[id % Self.qualities.count] }
    var topic: String { "\(direction)/\(client)/\(id)" }

    /// Returns the filter for all messages of one direction.
    static func filter(_ direction: Direction) -> String { "\(direction)/#" }
    /// Returns the filter for all messages of one client.
    static func filter(_ direction: Direction, client: Int) -> String { "\(direction)/\(client)/#" }
}

extension Lane: CustomStringConvertible {
    var description: String { "\(topic) (QoS \(qos.rawValue))" }
}
