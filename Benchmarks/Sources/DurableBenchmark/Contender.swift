import CourierCore
import CourierMQTT
import CourierSQLite
import Foundation

/// Whose speed is measured.
enum Contender: Hashable, Sendable {
    /// Courier by the API that apps use.
    case client(Keeping)
    /// The store alone, to show the client's share.
    case store(Keeping)
    /// Paho C with its files.
    case paho

    /// All of them, in the order of the columns.
    static let columns: [Contender] =
        Keeping.allCases.map { .client($0) } + Keeping.allCases.map { .store($0) } + [.paho]

    /// The name on a command line.
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

/// How durable an accepted message is.
enum Keeping: String, CaseIterable, Sendable {
    case full, normal, memory

    /// Opens a store in `folder`, without limits that a run could reach.
    func open(in folder: URL) throws -> any MessageStore {
        let file = folder.appendingPathComponent("messages.courier")
        return switch self {
        case .full: try SQLiteMessageStore(at: file, durability: .full)
        case .normal: try SQLiteMessageStore(at: file, durability: .normal)
        case .memory: MemoryMessageStore(maximumRows: 1_000_000, maximumBytes: 1 << 30)
        }
    }
}

/// What is published.
enum Workload {
    static let payloadSize = 64
    static let topic = "bench/durable"
    /// How many messages are sent and not acknowledged at most.
    static let window: UInt16 = 1_000
    static let scope = StoreScope(clientID: "courier", broker: "127.0.0.1:1")

    static func message(_ number: UInt64) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: number), topic: topic,
            payload: [UInt8](repeating: UInt8(ascii: "x"), count: payloadSize), qos: .one, storedAt: Date())
    }
}
