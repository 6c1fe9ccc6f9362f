import CourierCore
import CourierTransport
import Foundation

extension MQTTClient {
    func request<Question, Answer: Sendable>(
        _ question: Question, to topic: String, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer {
        try await connected()  // What MQTT is spoken, and as whom, is known then.
        guard parts.coordinator.speaksVersion5, let identity = parts.publishing.identity else {
            throw CourierError(
                .invalidConfiguration,
                "The question to \(topic.quoted()) can not be asked: the broker does not speak MQTT 5, which carries the "
                    + "topic for the answer.")
        }
        let requests = requests
        let answers = requests.topic(for: identity)
        try await subscribe(to: answers, qos: .one)  // Known at once to be there from the second question on.
        guard let (correlation, answer) = requests.begin() else {
            throw CourierError(
                .queueFull, "\(RequestDesk.limit) questions wait for their answers already; await some of them.")
        }
        let timer = LoopTimer(on: parts.loop, after: timeout) {
            answer.resume(
                .failure(CourierError(.timedOut, "No answer to the question to \(topic.quoted()) came in \(timeout).")))
        }
        defer {
            timer.cancel()
            requests.end(correlation)
        }
        var properties = MessageProperties(responseTopic: answers, correlationData: correlation)
        properties.messageExpiry = timeout
        try await publish(question, to: topic, qos: .one, properties: properties)
        let message = try await answer.value()
        return try parts.registry.decode(Answer.self, from: message.message())
    }

    func respond<Question: Sendable, Answer>(
        to filter: String, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws {
        let decoder = ValueDecoder<Question>(parts.registry)
        for try await message in messages(Message.self, from: filter, qos: qos) {
            guard let topic = message.properties.responseTopic else { continue }
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
                parts.readers.tellFailure(of: message, error)
            }
        }
    }
}
