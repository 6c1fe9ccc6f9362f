import CourierCore
import Foundation
import TrialSupport

/// A topic whose messages a processor of the worker handles. All messages of a lane have one QoS.
struct JobLane: Hashable, Sendable {
    /// Each kind of lane has its own processor.
    enum Kind: String, CaseIterable, Sendable {
        /// Messages are handled in any order, and copies of QoS 1 messages are handled, too.
        case unordered
        /// Messages of a topic are handled in their order. Copies are recognized by their numbers.
        case ordered

        var filter: String { "\(rawValue)/#" }
    }

    private static let perKind = 4

    static let all = (0..<Kind.allCases.count * perKind).map { JobLane(id: $0) }

    /// The index in ``all``.
    let id: Int

    private init(id: Int) { self.id = id }

    /// Creates the lane of a topic; `nil` if no lane has this topic.
    init?(topic: String) {
        guard let lane = Self.all.first(where: { $0.topic == topic }) else { return nil }
        self = lane
    }

    var kind: Kind { Kind.allCases[id / Self.perKind] }
    var qos: QoS { id % 2 == 0 ? .one : .two }
    var topic: String { "\(kind.rawValue)/\(id)" }
}

/// A message of a lane. The numbers of a lane start at 0.
struct JobMessage: Hashable, Sendable {
    let lane: JobLane
    let number: Int

    init(lane: JobLane, number: Int) {
        self.lane = lane
        self.number = number
    }

    /// Reads a received message; `nil` if it is damaged.
    init?(topic: String, payload: Data) {
        guard let lane = JobLane(topic: topic), let number = MessageCode.number(of: payload, lane: lane.id)
        else { return nil }
        self.init(lane: lane, number: number)
    }

    var payload: Data { Data(MessageCode.payload(lane: lane.id, number: number)) }

    /// True if the handler always parks this message.
    var mustBeParked: Bool { number % 23 == 5 }
}

extension JobMessage: CustomStringConvertible {
    var description: String { "message \(number) of \(lane.topic) (QoS \(lane.qos.rawValue))" }
}
