import CourierCore
import Foundation

/// A class that is not `Sendable`, as in code that is older than Swift concurrency.
class LegacyNote: Codable {
    var title = ""
}

/// A public type. Swift does not infer `Sendable` for public types.
public struct PublicNote: Codable {
    /// The title of the note.
    public let title: String
}

class LegacyReader {
    private var cancellables = Set<AnyCancellable>()
    private var titles = [String]()
    private let hidden = NSMutableArray()

    func read(_ client: CourierClient) {
        client.messagePublisher(topic: "legacy")
            .filter { [hidden] (note: LegacyNote) in !hidden.contains(note.title) }
            .map { $0.title }
            .receive(on: .main)
            .sink { [weak self] in self?.titles.append($0) }
            .store(in: &cancellables)
        client.messagePublisher(topic: "public")
            .sink { [weak self] (note: PublicNote) in self?.titles.append(note.title) }
            .store(in: &cancellables)
    }

    func send(_ note: LegacyNote, _ client: CourierClient) async throws {
        try client.publishMessage(note, topic: "legacy", qos: .one)
        try await client.publish(note, to: "legacy")
    }

    func fetch(_ provider: IConnectionServiceProvider, _ completion: @escaping (ConnectOptions?) -> Void) {
        provider.getConnectOptions { completion(try? $0.get()) }
    }
}
