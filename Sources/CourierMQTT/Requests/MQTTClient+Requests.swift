import CourierCore
import CourierTransport
import Foundation
import Synchronization

extension MQTTClient {
    func request<Request, Response: Sendable>(
        _ request: Request, at topic: TopicTemplate, timeout: Duration, as type: Response.Type
    ) async throws -> Response {
        let topic = try topic.name(for: parts.publishing.identity).string
        try parts.publishing.check(topic: topic)  // Check the topic before subscribing to the response topic.
        let (payload, contentType) = try parts.registry.encode(request, topic: topic)
        let requests = requests
        guard let (correlation, response) = requests.begin() else {
            throw CourierError(
                .queueFull,
                "\(PendingRequests.limit) requests wait for their responses already; await some of them first.")
        }
        let tooLate: @Sendable () -> Void = { [coordinator = parts.coordinator] in
            guard let stage = requests.stage(of: correlation) else { return }  // The request has already ended.
            response.resume(
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
        // Send the request in its own task, because sending may take longer than the timeout. The response or the
        // timeout cancels this task.
        let message = try await withThrowingTaskGroup(of: Void.self, returning: ReceivedMessage.self) { group in
            group.addTask { [self] in
                do {
                    try await send(payload, contentType: contentType, to: topic, as: correlation, until: deadline)
                } catch {
                    // The request message expires at the deadline of the call. If its expiry error arrives before the
                    // timer fires, the call must still fail with the timeout error.
                    if parts.loop.clock.now < deadline {
                        response.resume(.failure(error))
                    } else {
                        parts.loop.execute(tooLate)
                    }
                }
            }
            let message = try await response.value()
            group.cancelAll()
            return message
        }
        return try ValueDecoder<Response>(parts.registry).decode(message.message())
    }

    /// Sends a request, and returns when the broker has acknowledged the request.
    private func send(
        _ payload: [UInt8], contentType: String?, to topic: String, as correlation: Data,
        until deadline: ContinuousClock.Instant
    ) async throws {
        try await connected()  // After this call, the MQTT version and the client id are known.
        guard parts.coordinator.speaksVersion5, let identity = parts.publishing.identity else {
            throw CourierError(
                .invalidConfiguration,
                "The request to \(topic.quoted()) cannot be sent: the response topic needs MQTT 5, "
                    + "and the broker does not support MQTT 5.")
        }
        let responses = try requests.topic(for: identity.clientID, of: correlation)
        requests.note(.subscribing, of: correlation)
        do {
            try await responses.subscribe()
        } catch {
            if error is CourierError { requests.giveUp(responses) }
            throw error
        }
        try Task.checkCancellation()
        var properties = MessageProperties()
        properties.responseTopic = responses.filter.string
        properties.correlationData = correlation
        // The message expiry has four bytes. If the timeout is longer, use the largest number of seconds.
        let longest = Duration.seconds(Int64(UInt32.max))
        properties.messageExpiry = min(max(.zero, parts.loop.clock.now.duration(to: deadline)), longest)
        requests.note(.sending, of: correlation)
        let receipt = try await parts.publishing.publishAndWait(
            payload, parts.publishing.message(to: topic, .one, properties, contentType: contentType))
        requests.note(.acknowledged(receipt.reasonCode), of: correlation)
    }

    func respond<Request: Sendable, Response>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws {
        let decoder = ValueDecoder<Request>(parts.registry)
        for try await message in messages(Message.self, as: SubscriptionRequest(topic: topic, qos: qos)) {
            guard let topic = message.properties.responseTopic else {
                let text =
                    "The request on \(message.topic.quoted()) has no response topic; send it with `request`, over MQTT 5."
                parts.readers.report(message, CourierError(.invalidMessage, text))
                continue
            }
            let request: Request
            do {
                request = try decoder.decode(message)
            } catch {
                parts.readers.report(message, error)
                continue
            }
            do {
                func respond() async throws {
                    let response = try await handler(request)
                    let properties = MessageProperties(correlationData: message.properties.correlationData)
                    try await publish(response, to: topic, qos: qos, properties: properties)
                }
                // Publish the response with the trace context of the handler.
                if let tracing = parts.tracing {
                    try await TraceContext.$current.withValue(tracing.context(of: message)) { try await respond() }
                } else {
                    try await respond()
                }
            } catch is CancellationError where Task.isCancelled {
                return
            } catch {
                parts.readers.reportUnanswered(message, error)
            }
        }
    }
}
