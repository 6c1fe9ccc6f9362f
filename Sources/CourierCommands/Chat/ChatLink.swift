import CourierCore
import CourierMQTT
import Dispatch
import Foundation
import Synchronization

/// The chat's connection: reads rooms and people, and sends what is said.
final class ChatLink: Sendable {
    /// How long an end waits for what is on the way.
    static let closingTime = Duration.seconds(2)

    /// Tells what happens, on the queue.
    private struct Teller: Sendable {
        let queue: DispatchQueue
        let told: @Sendable (ChatModel.Event) -> Void

        /// Returns when it was taken in: a reader does not run ahead.
        func tell(_ event: ChatModel.Event) async {
            await withCheckedContinuation { continuation in
                queue.async {
                    told(event)
                    continuation.resume()
                }
            }
        }
    }

    private struct State {
        var events: AnyCancellable?
        var readers: [ChatName: Task<Void, Never>] = [:]
        var peopleReader: Task<Void, Never>?
        var isConnected = false
        /// Why there is no connection, as it was seen last.
        var problem: ConnectionProblem?
        /// Whether a task waits to learn that the client tries no more.
        var isAwaitingEnd = false
        /// How many lines and cards the broker has not answered; bounded by ``ChatModel/pendingLimit`` and the one card.
        var unansweredCount = 0
        var isAnnouncing = false
        /// The newest card, while the one before is on its way.
        var waitingCard: ChatPresence?
        /// Whether the broker has heard that this program goes.
        var hasSaidGoodbye = false
        /// Who waits for the end.
        var done: (@Sendable () -> Void)?
    }

    private static let lines = JSONMessageAdapter()
    private static let cards = ChatPresenceAdapter()

    private let connection: CommandConnection
    private let person: String
    private let teller: Teller
    private let state = Mutex(State())

    /// Makes the client, which does not connect yet.
    ///
    /// - Parameters:
    ///   - settings: The command line, completed.
    ///   - console: Where warnings are printed.
    ///   - failed: Learns why there is no connection, and whether the client tries no more, before the model does; on the
    ///     queue.
    ///   - told: Learns what happens, on the queue.
    /// - Throws: What is wrong with the command line.
    init(
        _ settings: ChatArguments, _ console: Console,
        failed: @escaping @Sendable (ConnectionProblem, _ isFinal: Bool) -> Void,
        told: @escaping @Sendable (ChatModel.Event) -> Void
    ) throws {
        let person = settings.connection.sentClientID
        let will = try Self.will(of: person)
        connection = try CommandConnection(settings.connection, console, told: .init()) { config in
            config.messageAdapters = [Self.cards, Self.lines]
            config.will = will
            // Version 5 where the broker speaks it, unless -V asks for the other.
            if settings.connection.version == .v5 { config.protocolVersion = .preferVersion5 }
        }
        self.person = person
        teller = Teller(queue: connection.queue, told: told)
        let events = connection.client.eventPublisher.sink { [weak self] in self?.happened($0.type, failed) }
        state.withLock { $0.events = events }
    }

    /// Where everything happens.
    var queue: DispatchQueue { connection.queue }

    private static func will(of person: String) throws -> WillMessage {
        WillMessage(
            topic: try ChatTopics.presence(of: person).template.name(for: nil).string, payload: Data(), qos: .one,
            isRetained: true)
    }

    // MARK: What is to be done

    /// Connects, and listens to who is there.
    func start() {
        connection.client.connect()
        let reader = Task { [teller, client = connection.client] in
            do {
                for try await presence in client.messages(from: ChatTopics.people) {
                    await teller.tell(.presence(presence))
                }
            } catch {
                // An event has told it, and the chat continues.
            }
        }
        state.withLock { $0.peopleReader = reader }
    }

    func join(_ room: ChatName) {
        state.withLock { state in
            guard state.readers[room] == nil else { return }
            state.readers[room] = Task { [teller, client = connection.client] in
                do {
                    for try await message in client.messages(from: ChatTopics.messages(in: room)) {
                        await teller.tell(.message(message, in: room))
                    }
                } catch {
                    await teller.tell(.refused(room, Self.words(error)))
                }
            }
        }
    }

    func leave(_ room: ChatName) { state.withLock { $0.readers.removeValue(forKey: room) }?.cancel() }

    /// Sends a line behind those before it; ``ChatModel/Event/settled(id:failure:)`` follows.
    func send(_ message: ChatMessage, in room: ChatName) {
        publish(message, to: ChatTopics.messages(in: room), by: Self.lines) { [teller] failure in
            teller.told(.settled(id: message.id, failure: failure))
        }
    }

    /// Says who one is; of several that wait for the broker, only the last is said.
    func announce(_ card: ChatPresence.Card) { announce(ChatPresence(person: person, card: card)) }

    /// Sends what is on the way, says that one has gone, and ends the connection. A broker that has not heard it is left
    /// without a word, when the process ends: then it publishes the will, which says the same [MQTT-3.1.2-8].
    ///
    /// - Parameter done: Called once, on the queue; after ``closingTime`` at the latest, but for the connection's own end.
    func close(_ done: @escaping @Sendable () -> Void) {
        let (isConnected, readers) = state.withLock { state in
            defer { state.readers = [:] }
            return (state.isConnected, Array(state.readers.values) + [state.peopleReader].compactMap(\.self))
        }
        for reader in readers { reader.cancel() }
        guard isConnected else { return connection.close { _ in done() } }
        state.withLock { $0.done = done }
        announce(ChatPresence(person: person, card: nil))
        queue.asyncAfter(deadline: .now() + Self.closingTime.seconds) { [self] in end() }
    }

    /// Ends what ``close(_:)`` has begun, once.
    private func end() {
        let (done, hasSaidGoodbye) = state.withLock { ($0.done.take(), $0.hasSaidGoodbye) }
        guard let done else { return }
        if hasSaidGoodbye { connection.close { _ in done() } } else { done() }
    }

    // MARK: Sending

    private func announce(_ presence: ChatPresence) {
        let mustWait = state.withLock { state in
            if state.isAnnouncing { state.waitingCard = presence }
            defer { state.isAnnouncing = true }
            return state.isAnnouncing
        }
        if mustWait { return }
        publish(presence, to: ChatTopics.presence(of: person), by: Self.cards, isRetained: true) { [weak self] in
            self?.announced(presence, failure: $0)
        }
    }

    private func announced(_ presence: ChatPresence, failure: String?) {
        let next = state.withLock { state in
            state.isAnnouncing = false
            if presence.card == nil { state.hasSaidGoodbye = failure == nil }
            return state.waitingCard.take()
        }
        // A card that is lost is said again with the next connection.
        teller.told(failure.map { .isAlone($0) } ?? .announced)
        if let next { announce(next) }
    }

    /// Sends a value without waiting for those before it; `answered` learns, on the queue, why others do not have it.
    private func publish<Value>(
        _ value: Value, to topic: Topic<Value>, by adapter: some MessageAdapter, isRetained: Bool = false,
        _ answered: @escaping @Sendable (_ failure: String?) -> Void
    ) {
        state.withLock { $0.unansweredCount += 1 }
        let settle: @Sendable ((any Error)?) -> Void = { [weak self] error in
            answered(error.map(Self.words))
            self?.countAnswer()
        }
        do {
            let topicName = try topic.template.name(for: nil).string
            var properties = MessageProperties()
            properties.contentType = adapter.contentType
            try connection.client.publish(
                span: adapter.toMessage(data: value, topic: topicName).bytes, to: topicName, qos: topic.qos,
                retain: isRetained, properties: properties
            ) { result in
                if case .failure(let error) = result { settle(error) } else { settle(nil) }
            }
        } catch {
            queue.async { settle(error) }
        }
    }

    private func countAnswer() {
        let isLast = state.withLock { state in
            state.unansweredCount -= 1
            return state.unansweredCount == 0
        }
        if isLast { end() }
    }

    // MARK: What happens

    private func happened(_ event: CourierEventType, _ failed: @escaping @Sendable (ConnectionProblem, Bool) -> Void) {
        switch event {
        case .connectionSuccess:
            state.withLock { state in
                state.isConnected = true
                state.isAwaitingEnd = false
            }
            teller.told(.connected)
        case .connectionFailure(_, let error): lost(error, isLost: false, failed)
        case .connectionLost(_, let error, _, _): lost(error, isLost: true, failed)
        case .subscribeSuccess(let topics, _):
            for (topic, _) in topics { subscribed(topic) }
        case .subscribeFailure(let topics, _, let error):
            let isLoss = (error as? CourierError)?.code == .connectionLost
            if !isLoss, topics.contains(where: { $0.topic == Self.peopleFilter }) {
                teller.told(.isAlone(error.map(Self.words) ?? "the broker refuses"))
            }
        default: break
        }
    }

    private func lost(
        _ error: (any Error)?, isLost: Bool, _ failed: @escaping @Sendable (ConnectionProblem, Bool) -> Void
    ) {
        state.withLock { $0.isConnected = false }
        let error = (error as? CourierError) ?? CourierError(.connectionFailed, "The connection failed.", cause: error)
        let problem =
            connection.watch.takeRefusal(error.reasonCode).map { ConnectionProblem($0) }
            ?? (isLost ? ConnectionProblem(lost: error) : ConnectionProblem(unopened: error))
        // A refusal without a reason code is one of MQTT 5, and the attempt with 3.1.1 follows at once.
        if error.code == .connectionRefused, error.reasonCode == nil { return }
        state.withLock { $0.problem = problem }
        failed(problem, false)
        guard error.isFinal else { return teller.told(.waiting(problem.lines.last ?? "")) }
        // A client that has another server to try continues all the same, and only it knows.
        let isAwaited = state.withLock { state in
            defer { state.isAwaitingEnd = true }
            return state.isAwaitingEnd
        }
        if isAwaited { return }
        Task { [self] in
            do { try await connection.client.connected() } catch {
                queue.async { [self] in failed(state.withLock { $0.problem } ?? problem, true) }
            }
        }
    }

    private static let peopleFilter = (try? ChatTopics.people.filter.string) ?? ""

    private func subscribed(_ topic: String) {
        if topic == Self.peopleFilter { return teller.told(.listens) }
        guard let name = try? TopicName(topic),
            let level = (try? ChatTopics.messages.arguments(in: name))?["room"],
            let room = TopicLevel.text(of: level).flatMap({ ChatName($0) })
        else { return }
        teller.told(.subscribed(to: room))
    }

    private static func words(_ error: any Error) -> String { (error as? CourierError)?.message ?? "\(error)" }
}
