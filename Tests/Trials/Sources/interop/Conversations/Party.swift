import CourierMQTT
import Foundation

/// One client of a conversation, with the messages and events that it received.
final class Party: Sendable {
    let client: any CourierClient
    /// Every message that the client received, from any topic.
    let messages = Record<Message>()
    let events = Record<CourierEventType>()
    /// The MQTT versions of the observed packets, one entry for each batch.
    let versions: Record<ObservedConnection.ProtocolVersion>
    private let name: String
    private let handler: EventRecorder
    private let reading: AnyCancellable

    init(_ name: String, _ config: MQTTClientConfig) {
        self.name = name
        var config = config
        let observer = VersionObserver()
        versions = observer.versions
        config.packetObserver = observer
        client = CourierClientFactory().makeMQTTClient(config: config)
        handler = EventRecorder(events)
        client.addEventHandler(handler)
        reading = client.messagePublisher().sink { [messages] in messages.append($0) }
    }

    /// A summary of the client's messages and events, for a failure report.
    var summary: String {
        let events = events.all
        let lastEvents = events.suffix(3).map { "\($0)".prefix { $0 != "(" } }.joined(separator: ", ")
        let failure = events.compactMap(\.failure).last.map { " (\($0))" } ?? ""
        return "\(name) has \(messages.all.count) messages, its last events are \(lastEvents)\(failure)"
    }

    /// Waits until the broker has confirmed one more subscription than `count`.
    func subscribed(moreThan count: Int) async throws {
        try await events.wait { $0.count(where: \.isSubscribeSuccess) > count }
    }

    var subscribeCount: Int { events.all.count(where: \.isSubscribeSuccess) }
    var connectionCount: Int { events.all.count(where: \.isConnectionSuccess) }

    /// Waits until a connection was lost.
    func lost() async throws { try await events.wait { $0.contains(where: \.isConnectionLost) } }

    /// Waits until an attempt fails with `code`, or until a connection succeeds.
    func refused(because code: CourierError.Code) async throws {
        try await events.wait { $0.contains { $0.failure?.code == code || $0.isConnectionSuccess } }
    }
}

/// Safe to share: it has no mutable state of its own.
private final class EventRecorder: ICourierEventHandler, Sendable {
    private let events: Record<CourierEventType>

    init(_ events: Record<CourierEventType>) { self.events = events }

    func onEvent(_ event: CourierEvent) { events.append(event.type) }
}

private struct VersionObserver: PacketObserver {
    let versions = Record<ObservedConnection.ProtocolVersion>()

    func observed(_ batch: PacketBatch) {
        guard batch.direction == .incoming else { return }
        versions.append(batch.connection.protocolVersion)
    }
}

extension CourierEventType {
    fileprivate var isSubscribeSuccess: Bool { if case .subscribeSuccess = self { true } else { false } }
    fileprivate var isConnectionSuccess: Bool { if case .connectionSuccess = self { true } else { false } }
    fileprivate var isConnectionLost: Bool { if case .connectionLost = self { true } else { false } }
    fileprivate var failure: CourierError? {
        if case .connectionFailure(_, let error as CourierError) = self { error } else { nil }
    }
}
