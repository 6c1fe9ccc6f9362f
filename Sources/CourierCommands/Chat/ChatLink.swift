import CourierCore
import CourierMQTT
import Dispatch
import Foundation

/// The chat's connection: reads rooms and people, and sends what is said.
///
/// Safe to share: everything that changes is touched on the connection's queue only.
final class ChatLink: @unchecked Sendable {
    /// How long an end waits for what is on the way.
    static let closingTime = Duration.seconds(2)

    private struct Line: Sendable {
        let message: ChatMessage
        let room: ChatName
    }

    private let connection: CommandConnection
    private let person: String
    private let told: @Sendable (ChatModel.Event) -> Void
    /// Bounded by ``ChatModel/pendingLimit``: the model hands over no more.
    private let lines: AsyncStream<Line>.Continuation
    private let cards: AsyncStream<ChatPresence>.Continuation

    // MARK: On the queue only

    private var readers: [ChatName: Task<Void, Never>] = [:]
    private var peopleReader: Task<Void, Never>?
    private var lineSender: Task<Void, Never>?
    /// Gives back whether the broker has the last card.
    private var cardSender: Task<Bool, Never>?
    private var events: AnyCancellable?
    private(set) var isConnected = false

    /// Makes the client, which does not connect yet.
    ///
    /// - Parameters:
    ///   - settings: The command line, completed.
    ///   - console: Where warnings are printed.
    ///   - failed: Learns why there is no connection, before the model does; on the queue.
    ///   - told: Learns what happens, on the queue.
    /// - Throws: What is wrong with the command line.
    init(
        _ settings: ChatArguments, _ console: Console,
        failed: @escaping @Sendable (ConnectionProblem) -> Void,
        told: @escaping @Sendable (ChatModel.Event) -> Void
    ) throws {
        let person = settings.connection.sentClientID
        let will = try Self.will(of: person)
        connection = try CommandConnection(settings.connection, console, told: .init()) { config in
            config.messageAdapters = [ChatPresenceAdapter(), JSONMessageAdapter()]
            config.will = will
            // Version 5 where the broker speaks it, unless -V asks for the other.
            if settings.connection.version == .v5 { config.protocolVersion = .preferVersion5 }
        }
        self.person = person
        self.told = told
        let (lines, lineSource) = Self.stream(of: Line.self, .unbounded)
        let (cards, cardSource) = Self.stream(of: ChatPresence.self, .bufferingNewest(1))
        self.lines = lineSource
        self.cards = cardSource
        let client = connection.client
        lineSender = Task { [weak self] in
            for await line in lines {
                let failure = await Self.send(line, by: client)
                await self?.tell(.settled(id: line.message.id, failure: failure))
            }
        }
        cardSender = Task { [weak self] in
            var failure: String?
            for await card in cards {
                // A card that is lost is said again with the next connection.
                failure = await Self.send(card, by: client)
                if let failure { await self?.tell(.isAlone(failure)) }
            }
            return failure == nil
        }
        events = client.eventPublisher.sink { [weak self] in self?.happened($0.type, failed) }
    }

    /// Where everything happens.
    var queue: DispatchQueue { connection.queue }

    private static func will(of person: String) throws -> WillMessage {
        WillMessage(
            topic: try ChatTopics.presence(of: person).template.name(for: nil).string, payload: Data(), qos: .one,
            isRetained: true)
    }

    private static func stream<Element: Sendable>(
        of type: Element.Type, _ policy: AsyncStream<Element>.Continuation.BufferingPolicy
    ) -> (AsyncStream<Element>, AsyncStream<Element>.Continuation) {
        AsyncStream.makeStream(of: type, bufferingPolicy: policy)
    }

    // MARK: What is to be done

    /// Connects, and listens to who is there.
    func start() {
        connection.client.connect()
        peopleReader = Task { [weak self, client = connection.client] in
            do {
                for try await presence in client.messages(from: ChatTopics.people) {
                    await self?.tell(.presence(presence))
                }
            } catch {
                // An event has told it, and the chat goes on.
            }
        }
    }

    func join(_ room: ChatName) {
        guard readers[room] == nil else { return }
        readers[room] = Task { [weak self, client = connection.client] in
            do {
                for try await message in client.messages(from: ChatTopics.messages(in: room)) {
                    await self?.tell(.message(message, in: room))
                }
            } catch {
                await self?.tell(.refused(room, Self.words(error)))
            }
        }
    }

    func leave(_ room: ChatName) { readers.removeValue(forKey: room)?.cancel() }

    /// Sends a line; ``ChatModel/Event/settled(id:failure:)`` follows.
    func send(_ message: ChatMessage, in room: ChatName) { lines.yield(Line(message: message, room: room)) }

    func announce(_ card: ChatPresence.Card) { cards.yield(ChatPresence(person: person, card: card)) }

    /// Sends what is on the way, says that one has gone, and ends the connection. A broker that has not heard it is left
    /// without a word, when the process ends: then it publishes the will, which says the same [MQTT-3.1.2-8].
    ///
    /// - Parameter done: Called once, on the queue; after ``closingTime`` at the latest, but for the connection's own end.
    func close(_ done: @escaping @Sendable () -> Void) {
        for reader in readers.values { reader.cancel() }
        peopleReader?.cancel()
        lines.finish()
        if isConnected { cards.yield(ChatPresence(person: person, card: nil)) }
        cards.finish()
        guard isConnected, let lineSender, let cardSender else {
            return end(done)
        }
        let limit = Task {
            try? await Task.sleep(for: Self.closingTime)
            lineSender.cancel()
            cardSender.cancel()
        }
        Task { [self] in
            await lineSender.value
            let hasSaidGoodbye = await cardSender.value
            limit.cancel()
            queue.async { hasSaidGoodbye ? self.end(done) : done() }
        }
    }

    private func end(_ done: @escaping @Sendable () -> Void) {
        lineSender?.cancel()
        cardSender?.cancel()
        connection.close(done)
    }

    // MARK: What happens

    /// Tells it on the queue, and returns when it was taken in: a reader does not run ahead.
    private func tell(_ event: ChatModel.Event) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                told(event)
                continuation.resume()
            }
        }
    }

    private func happened(_ event: CourierEventType, _ failed: (ConnectionProblem) -> Void) {
        switch event {
        case .connectionSuccess:
            isConnected = true
            told(.connected)
        case .connectionFailure(_, let error): lost(error, isLost: false, failed)
        case .connectionLost(_, let error, _, _): lost(error, isLost: true, failed)
        case .subscribeSuccess(let topics, _):
            for (topic, _) in topics { subscribed(topic) }
        case .subscribeFailure(let topics, _, let error):
            let isLoss = (error as? CourierError)?.code == .connectionLost
            if !isLoss, topics.contains(where: { $0.topic == Self.peopleFilter }) {
                told(.isAlone(error.map(Self.words) ?? "the broker refuses"))
            }
        default: break
        }
    }

    private func lost(_ error: (any Error)?, isLost: Bool, _ failed: (ConnectionProblem) -> Void) {
        isConnected = false
        let error = (error as? CourierError) ?? CourierError(.connectionFailed, "The connection failed.", cause: error)
        let problem =
            connection.watch.takeRefusal().map { ConnectionProblem($0) }
            ?? (isLost ? ConnectionProblem(lost: error) : ConnectionProblem(unopened: error))
        failed(problem)
        told(.waiting(problem.lines.last ?? ""))
    }

    private static let peopleFilter = (try? ChatTopics.people.filter.string) ?? ""

    private func subscribed(_ topic: String) {
        if topic == Self.peopleFilter { return told(.listens) }
        guard let name = try? TopicName(topic),
            let level = (try? ChatTopics.messages.arguments(in: name))?["room"],
            let room = TopicLevel.text(of: level).flatMap({ ChatName($0) })
        else { return }
        told(.subscribed(to: room))
    }

    /// Sends a line; returns why it was not sent.
    private static func send(_ line: Line, by client: any CourierClient) async -> String? {
        do {
            try await client.publish(line.message, to: ChatTopics.messages(in: line.room))
            return nil
        } catch {
            return words(error)
        }
    }

    /// Sends a card; returns why others do not have it.
    private static func send(_ presence: ChatPresence, by client: any CourierClient) async -> String? {
        do {
            try await client.publish(presence, to: ChatTopics.presence(of: presence.person), retain: true)
            return nil
        } catch {
            return words(error)
        }
    }

    private static func words(_ error: any Error) -> String { (error as? CourierError)?.message ?? "\(error)" }
}
