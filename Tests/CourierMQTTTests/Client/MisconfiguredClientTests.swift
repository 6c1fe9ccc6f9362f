import CourierCore
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// A client with an invalid configuration delivers errors in the same way as a client with a valid one.
@Suite struct MisconfiguredClientTests {
    @Test func `the publishers of a misconfigured client send values and completions only on the delivery queue`()
        async
    {
        let queue = DispatchQueue(label: "test.delivery")
        var config = MQTTClientConfig(
            options: ConnectOptions(host: "h", port: 1, clientId: "c", username: "", password: ""))
        config.autoReconnectInterval = 0
        config.deliveryQueue = queue
        let client = CourierClientFactory().makeMQTTClient(config: config)
        #expect(client is MisconfiguredClient)

        let told = Series<String>()
        let texts: AnyPublisher<String, Never> = client.messagePublisher(topic: "t")
        let answers: AnyPublisher<Result<String, NSError>, Never> = client.messagePublisher(topic: "t") {
            (problem: Int) in CourierError(.decodingFailed, "\(problem)")
        }
        queue.suspend()
        let sinks = [
            client.connectionStatePublisher.sink { told.append("\($0)") },
            client.messagePublisher().sink(receiveCompletion: { _ in told.append("messages") }, receiveValue: { _ in }),
            texts.sink(receiveCompletion: { _ in told.append("texts") }, receiveValue: { _ in }),
            answers.sink(receiveCompletion: { _ in told.append("answers") }, receiveValue: { _ in }),
            client.deadLetterPublisher.sink(
                receiveCompletion: { _ in told.append("dead letters") }, receiveValue: { _ in }),
        ]
        #expect(told.values.isEmpty)
        queue.resume()
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(told.values == ["disconnected", "messages", "texts", "answers", "dead letters"])
        withExtendedLifetime(sinks) {}
    }
}
