import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Functions of the client that are called inside its own callbacks.
@Suite(.timeLimit(.minutes(5))) struct ScriptedHandlerTests {
    @Test func `publish() can be called inside a sink, a completion and an event handler`() async throws {
        final class Handler: ICourierEventHandler, Sendable {
            let client: MQTTClient
            let failures: Series<String>
            init(_ client: MQTTClient, _ failures: Series<String>) { (self.client, self.failures) = (client, failures) }
            func reset() {}
            func onEvent(_ event: CourierEvent) {
                guard case .messageReceive(let topic, _) = event.type, topic == "in" else { return }
                do {
                    try client.publish(text: "by the handler", to: "out")
                } catch {
                    failures.append("\(error)")
                }
            }
        }
        let message = Publish(topic: "in", payload: [1], delivery: .atLeastOnce(1, isDuplicate: false))
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, .send(.publish(message)),
        ])
        try await ScriptedWorld.run([script]) { world in
            let client = world.client
            let failures = Series<String>()
            let handler = Handler(client, failures)
            client.addEventHandler(handler)
            let subscription = client.messagePublisher(topic: "in").sink { (_: Message) in
                do {
                    try client.publish(text: "by the sink", to: "out") { _ in
                        do {
                            try client.publish(text: "by the completion", to: "out", qos: .two)
                        } catch {
                            failures.append("\(error)")
                        }
                    }
                } catch {
                    failures.append("\(error)")
                }
            }
            client.subscribe(("in", .one))
            await world.connect()
            await world.until { await world.publishes().count == 3 }
            #expect(failures.values.isEmpty)
            #expect(
                Set(await world.publishes().map(\.text)) == ["by the handler", "by the sink", "by the completion"])
            subscription.cancel()
            client.removeEventHandler(handler)
        }
    }
}
