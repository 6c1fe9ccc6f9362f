import CourierCore

/// One stream of messages whose order counts: one writer, one topic, one quality of service.
struct Lane: Hashable, Sendable {
    enum Direction: Sendable {
        /// From the worker to the collector.
        case up
        /// From the source to the worker.
        case down
    }

    /// How many clients the worker has; they share one store.
    static let clientCount = 2
    /// How many tasks write for or to each client.
    static let writerCount = 3
    /// What is written with.
    static let qualities: [QoS] = [.one, .two]
    /// All lanes of a direction stand below this.
    private static let perDirection = clientCount * writerCount * qualities.count

    /// The place in ``all``.
    let id: Int

    /// All lanes, by their ids.
    static let all = (0..<2 * perDirection).map { Lane(id: $0) }

    private init(id: Int) { self.id = id }

    /// The lane of a writer.
    static func of(_ direction: Direction, client: Int, writer: Int, _ qos: QoS) -> Lane {
        let place = (client * writerCount + writer) * qualities.count + (qos == .two ? 1 : 0)
        return Lane(id: direction == .up ? place : perDirection + place)
    }

    /// The lane of a topic; `nil` when it is none of ours.
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

    /// Everything of one direction.
    static func filter(_ direction: Direction) -> String { "\(direction)/#" }
    /// Everything for one client.
    static func filter(_ direction: Direction, client: Int) -> String { "\(direction)/\(client)/#" }
}

extension Lane: CustomStringConvertible {
    var description: String { "\(topic) (QoS \(qos.rawValue))" }
}
