import CourierCore
import CourierMQTT
import Dispatch
import Foundation
import Synchronization

/// The chat's connection to the broker. It receives messages and presence, and sends the lines and the presence card of
/// the user.
final class ChatLink: Sendable {
    /// The maximum time that `close` waits for the broker's acknowledgements.
    static let closingTime = Duration.seconds(2)

    /// Reports events to the owner of the link, on the link's queue.
    private struct Teller: Sendable {
        let queue: DispatchQueue
        let told: @Sendable (ChatModel.Event) -> Void

        /// Reports an event, and returns after the event was handled. The task that reads messages thus waits until the
        /// model has handled each message.
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
        /// The last problem of the connection.
        var problem: ConnectionProblem?
        /// True if a task already waits until the client stops its connection attempts.
        var isAwaitingEnd = false
        /// The number of sent lines and presence cards that the broker has not acknowledged. ``ChatModel/pendingLimit``
        /// limits the lines, and only one card is sent at a time.
        var unansweredCount = 0
        var isAnnouncing = false
        /// The newest presence card, which is sent after the earlier card is acknowledged; `nil` if no card waits.
        var waitingCard: ChatPresence?
        /// Whether the broker has confirmed that this user has left.
        var hasSaidGoodbye = false
        /// The closure that the caller passed to `close`. It is `nil` before `close` is called, and after the closure
        /// was called.
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
    ///   - settings: The command-line options, which `complete` has checked.
    ///   - console: Where warnings are printed.
    ///   - failed: Called on the queue, before `told`, with the connection problem. `isFinal` is true if the client
    ///     makes no further attempts.
    ///   - told: Called on the queue with each event.
    /// - Throws: The error of an invalid command line.
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
            // Prefers MQTT 5 and falls back to 3.1.1, unless `-V` requests another version.
            if settings.connection.version == .v5 { config.protocolVersion = .preferVersion5 }
        }
        self.person = person
        teller = Teller(queue: connection.queue, told: told)
        let events = connection.client.eventPublisher.sink { [weak self] in self?.happened($0.type, failed) }
        state.withLock { $0.events = events }
    }

    /// The queue of all events.
    var queue: DispatchQueue { connection.queue }

    private static func will(of person: String) throws -> WillMessage {
        WillMessage(
            topic: try ChatTopics.presence(of: person).template.name(for: nil).string, payload: Data(), qos: .one,
            isRetained: true)
    }

    // MARK: Calls of the owner

    /// Connects, and subscribes to the presence of other people.
    func start() {
        connection.client.connect()
        let reader = Task { [teller, client = connection.client] in
            do {
                for try await presence in client.messages(from: ChatTopics.people) {
                    await teller.tell(.presence(presence))
                }
            } catch {
                // The error is ignored, because an event of the client has already reported it, and the chat continues.
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

    /// Sends a line, after all earlier lines. ``ChatModel/Event/settled(id:failure:)`` reports the result.
    func send(_ message: ChatMessage, in room: ChatName) {
        publish(message, to: ChatTopics.messages(in: room), by: Self.lines) { [teller] failure in
            teller.told(.settled(id: message.id, failure: failure))
        }
    }

    /// Announces this user's presence card, which contains the name and rooms. If several cards wait, only the newest
    /// card is sent.
    func announce(_ card: ChatPresence.Card) { announce(ChatPresence(person: person, card: card)) }

    /// Announces that the user has left, waits for unacknowledged messages, and ends the connection. If the broker has
    /// not acknowledged the announcement, no DISCONNECT is sent. The broker then publishes the will, which has the same
    /// content [MQTT-3.1.2-8].
    ///
    /// - Parameter done: Called once, on the queue, after at most ``closingTime`` plus the time to end the connection.
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

    /// Ends the connection after ``close(_:)``, once.
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
        // If the connection was lost before the broker acknowledged the presence card, the card is announced again on
        // the next connection.
        teller.told(failure.map { .isAlone($0) } ?? .announced)
        if let next { announce(next) }
    }

    /// Sends a value, even if earlier values are not acknowledged. `answered` is called on the queue when the broker
    /// has acknowledged the value, or with the reason if sending has failed.
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

    // MARK: Client events

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
        // This refusal is not reported: if the broker refuses MQTT 5 without a reason code, the client tries MQTT 3.1.1
        // at once.
        if error.code == .connectionRefused, error.reasonCode == nil { return }
        state.withLock { $0.problem = problem }
        failed(problem, false)
        guard error.isFinal else { return teller.told(.waiting(problem.lines.last ?? "")) }
        // After a final error, the client may still continue with another server. A call of `connected()` throws only
        // when the client has stopped, so one task waits in this call.
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
