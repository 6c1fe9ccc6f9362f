import CourierCore
import CourierMQTT
import CourierSQLite
import Foundation

/// The libraries and components whose speed is compared.
enum Contender: Hashable, Sendable {
    /// Courier with the public API that apps use.
    case client(Keeping)
    /// The store alone. The difference shows the cost of the client.
    case store(Keeping)
    /// Paho C with its file persistence.
    case paho
    /// A `for try await` loop without a store. Each message is acknowledged when it was processed.
    case loop
    /// A processor, with or without a store.
    case processor(Keeping?, Order)
    /// The store alone, with the rows of a processor.
    case jobs(Keeping)

    /// The order in which a processor handles messages. All messages have one topic.
    enum Order: String, CaseIterable, Sendable {
        case none, byTopic
    }

    /// The contenders of the first table, in the order of its columns.
    static let columns: [Contender] =
        Keeping.allCases.map { .client($0) } + Keeping.allCases.map { .store($0) } + [.paho]

    /// The contenders of the table of processors, in the order of its rows. Each has the contender beside which it is
    /// measured.
    static let processing: [(contender: Contender, beside: Contender?)] =
        [(.loop, nil)] + Order.allCases.map { (.processor(nil, $0), .loop) }
        + [Keeping.normal, .full].flatMap { keeping in
            // With .byTopic, each message of the topic waits for the commit of the message before. So there is no goal.
            [
                (.jobs(keeping), nil), (.processor(keeping, .none), .jobs(keeping)),
                (.processor(keeping, .byTopic), nil),
            ]
        }

    /// The name of the contender on the command line.
    var name: String {
        switch self {
        case .client(let keeping): "client-\(keeping.rawValue)"
        case .store(let keeping): "store-\(keeping.rawValue)"
        case .paho: "paho"
        case .loop: "loop"
        case .processor(let keeping, let order): "processor-\(keeping?.rawValue ?? "nowhere")-\(order.rawValue)"
        case .jobs(let keeping): "jobs-\(keeping.rawValue)"
        }
    }

    init?(name: String) {
        let all = Self.columns + Self.processing.map(\.contender)
        guard let found = all.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

/// The durability of an accepted message.
enum Keeping: String, CaseIterable, Sendable {
    case full, normal, memory

    /// Opens a store in `folder`. Its limits are too high to be reached by a run.
    func open(in folder: URL) throws -> any MessageStore {
        let file = folder.appendingPathComponent("messages.courier")
        return switch self {
        case .full: try SQLiteMessageStore(at: file, durability: .full)
        case .normal: try SQLiteMessageStore(at: file, durability: .normal)
        case .memory: MemoryMessageStore(maximumRows: 1_000_000, maximumBytes: 1 << 30)
        }
    }
}

/// The messages that are published.
enum Workload {
    static let payloadSize = 64
    static let topic = "bench/durable"
    /// The maximum number of messages that are in flight.
    static let window: UInt16 = 1_000
    static let scope = StoreScope(clientID: "courier", broker: "127.0.0.1:1")

    static func message(_ number: UInt64) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: number), topic: topic,
            payload: [UInt8](repeating: UInt8(ascii: "x"), count: payloadSize), qos: .one, storedAt: Date())
    }

    static func job(_ number: UInt64) -> StoredJob {
        StoredJob(message(number), StoredJob.State(processor: topic, stage: .waiting(.zero, since: .now)))
    }
}
