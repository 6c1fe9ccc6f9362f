import CourierMQTT
import CourierProtobuf
import Foundation

/// A member of the room. It reads lines in both formats, and writes lines in one format.
///
/// It belongs to the main actor, because a client calls its sinks on the main queue by default.
@MainActor final class Member {
    /// The number of line ids that are kept to detect duplicates. It is larger than the number of lines in flight.
    private static let memory = 1_000

    private let name: String
    private let format: Format
    private let client: any CourierClient
    private let tell: @MainActor (News) -> Void
    private let (refusals, refused) = AsyncThrowingStream.makeStream(of: Never.self)
    private var events: AnyCancellable?
    private var awaitedTopics: Set = [Room.json.template.description, Room.protobuf.template.description]
    private var heardIDs: [String] = []

    init(_ tokens: Tokens, _ format: Format, tell: @escaping @MainActor (News) -> Void) throws {
        name = tokens.name
        self.format = format
        self.tell = tell
        var config = MQTTClientConfig(provider: try tokens.provider())
        config.messageAdapters = [ProtobufMessageAdapter(), JSONMessageAdapter()]
        config.autoReconnectInterval = 1
        // The server is on this machine, so the client must connect even without a network.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.session.subscriptionOptions.leavesOutOwnMessages = true
        config.messagePersistenceTTLSeconds = 60  // Keeps messages that arrive before the loops below start.
        client = CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Stays in the room until there are no more lines to say. Then the broker has acknowledged all of them.
    ///
    /// - Parameter lines: Returns the lines to say. It is called once, after the client has connected.
    /// - Throws: ``Refused``, or the error that ended the client.
    func stay(saying lines: @escaping @MainActor () -> AsyncStream<String>) async throws {
        events = client.eventPublisher.sink { [weak self] event in self?.happened(event.type) }
        client.connect()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await _ in self.refusals {} }
            group.addTask { try await self.hear(Room.json, .json) { $0 } }
            group.addTask { try await self.hear(Room.protobuf, .protobuf) { Line($0) } }
            group.addTask {
                try await self.client.connected()
                try await self.say(lines())
            }
            try await group.next()
            group.cancelAll()
        }
        await client.disconnectAndWait()
    }

    /// Reads the lines of a topic. The loop subscribes when it begins, and unsubscribes when it ends. It continues
    /// after a new token and a new connection.
    private func hear<Value: Sendable>(
        _ topic: Topic<Value>, _ format: Format, _ line: @Sendable (Value) -> Line
    ) async throws {
        for try await value in client.messages(from: topic) {
            let line = line(value)
            guard !heardIDs.contains(line.id) else { continue }
            heardIDs = heardIDs.suffix(Self.memory - 1) + [line.id]
            tell(.heard(line, format))
        }
    }

    private func say(_ lines: AsyncStream<String>) async throws {
        for await text in lines where !text.isEmpty {
            let line = Line(id: UUID().uuidString, author: name, text: text)
            // Each call returns when the broker has acknowledged the line, even if that needs a new connection and a
            // new token.
            switch format {
            case .json: try await client.publish(line, to: Room.json)
            case .protobuf: try await client.publish(WireLine(line), to: Room.protobuf)
            }
            tell(.said(line))
        }
    }

    private func happened(_ event: CourierEventType) {
        switch event {
        case .connectionServiceAuthSuccess: tell(.token)
        case .connectionServiceAuthFailure(_, let error):
            if case .httpError(statusCode: 401) = (error as? CourierError)?.cause as? AuthError {
                refused.finish(throwing: Refused(name: name))
            } else {
                tell(.trouble(sentence(error)))
            }
        case .connectionSuccess: tell(.connected)
        case .subscribeSuccess(let topics, _):
            awaitedTopics.subtract(topics.map(\.topic))
            if awaitedTopics.isEmpty { tell(.inRoom) }
        case .connectionLost(_, let error, _, _): tell(.lost(sentence(error)))
        case .connectionFailure(_, let error), .messageReceiveFailure(_, let error, _): tell(.trouble(sentence(error)))
        default: break
        }
    }

    private func sentence(_ error: (any Error)?) -> String {
        (error as? CourierError)?.message ?? error.map { "\($0)" } ?? "no reason given"
    }
}
