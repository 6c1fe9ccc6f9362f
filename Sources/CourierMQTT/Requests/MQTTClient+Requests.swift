import CourierCore
import CourierTransport
import Foundation
import Synchronization

extension MQTTClient {
    func request<Question, Answer: Sendable>(
        _ question: Question, at topic: TopicTemplate, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer {
        let topic = try topic.name(for: parts.publishing.identity).string
        try parts.publishing.check(topic: topic)  // Before the topic for the answer is subscribed to.
        let (payload, contentType) = try parts.registry.encode(question, topic: topic)
        let requests = requests
        guard let (correlation, answer) = requests.begin() else {
            throw CourierError(
                .queueFull, "\(PendingRequests.limit) questions wait for their answers already; await some of them.")
        }
        let tooLate: @Sendable () -> Void = { [coordinator = parts.coordinator] in
            guard let stage = requests.stage(of: correlation) else { return }  // It has ended.
            answer.resume(
                .failure(stage.error(topic: topic, timeout: timeout, failure: coordinator.connectionFailure)))
        }
        let deadline = parts.loop.clock.now.advanced(by: timeout)
        let timer = LoopTimer(on: parts.loop, after: timeout, fire: tooLate)
        parts.coordinator.driver.awaitedMessages.add(1, ordering: .relaxed)
        defer {
            parts.coordinator.driver.awaitedMessages.subtract(1, ordering: .relaxed)
            timer.cancel()
            requests.end(correlation)
        }
        // Asking may wait for as long as the answer may, and longer: whatever comes first ends both.
        let message = try await withThrowingTaskGroup(of: Void.self, returning: ReceivedMessage.self) { group in
            group.addTask { [self] in
                do {
                    try await ask(payload, contentType: contentType, to: topic, as: correlation, until: deadline)
                } catch {
                    // The request has the same time limit as the call, and its expiry may be reported first.
                    if parts.loop.clock.now < deadline {
                        answer.resume(.failure(error))
                    } else {
                        parts.loop.execute(tooLate)
                    }
                }
            }
            let message = try await answer.value()
            group.cancelAll()
            return message
        }
        return try ValueDecoder<Answer>(parts.registry).decode(message.message())
    }

    /// Sends a request, and returns when the broker has acknowledged it.
    private func ask(
        _ payload: [UInt8], contentType: String?, to topic: String, as correlation: Data,
        until deadline: ContinuousClock.Instant
    ) async throws {
        try await connected()  // What MQTT is spoken, and as whom, is known then.
        guard parts.coordinator.speaksVersion5, let identity = parts.publishing.identity else {
            throw CourierError(
                .invalidConfiguration,
                "The question to \(topic.quoted()) can not be asked: the broker does not speak MQTT 5, which "
                    + "carries the topic for the answer.")
        }
        let answers = try requests.topic(for: identity.clientID, of: correlation)
        requests.note(.subscribing, of: correlation)
        do {
            try await answers.subscribe()
        } catch {
            if error is CourierError { requests.giveUp(answers) }
            throw error
        }
        try Task.checkCancellation()
        var properties = MessageProperties()
        properties.responseTopic = answers.filter.string
        properties.correlationData = correlation
        // The expiry has four bytes in MQTT, so a longer timeout uses the largest value.
        let longest = Duration.seconds(Int64(UInt32.max))
        properties.messageExpiry = min(max(.zero, parts.loop.clock.now.duration(to: deadline)), longest)
        requests.note(.sending, of: correlation)
        let receipt = try await parts.publishing.publishAndWait(
            payload, parts.publishing.message(to: topic, .one, properties, contentType: contentType))
        requests.note(.asked(receipt.reasonCode), of: correlation)
    }

    func respond<Question: Sendable, Answer>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws {
        let decoder = ValueDecoder<Question>(parts.registry)
        for try await message in messages(Message.self, as: SubscriptionRequest(topic: topic, qos: qos)) {
            guard let topic = message.properties.responseTopic else {
                let text =
                    "The question on \(message.topic.quoted()) has no response topic; ask with `request`, over MQTT 5."
                parts.readers.report(message, CourierError(.invalidMessage, text))
                continue
            }
            let question: Question
            do {
                question = try decoder.decode(message)
            } catch {
                parts.readers.report(message, error)
                continue
            }
            do {
                let answer = try await handler(question)
                let properties = MessageProperties(correlationData: message.properties.correlationData)
                try await publish(answer, to: topic, qos: qos, properties: properties)
            } catch is CancellationError where Task.isCancelled {
                return
            } catch {
                parts.readers.reportUnanswered(message, error)
            }
        }
    }
}
