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

    /// All contenders in the order of the table's columns.
    static let columns: [Contender] =
        Keeping.allCases.map { .client($0) } + Keeping.allCases.map { .store($0) } + [.paho]

    /// The name of the contender on the command line.
    var name: String {
        switch self {
        case .client(let keeping): "client-\(keeping.rawValue)"
        case .store(let keeping): "store-\(keeping.rawValue)"
        case .paho: "paho"
        }
    }

    init?(name: String) {
        guard let found = Self.columns.first(where: { $0.name == name }) else { return nil }
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
}
