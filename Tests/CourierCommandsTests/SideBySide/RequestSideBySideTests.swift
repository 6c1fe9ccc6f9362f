import CourierCore
import CourierMQTT
import Foundation
import TestSupport
import Testing

/// Command lines of `rr`, run by mosquitto_rr and by courier. One client responds to both.
struct RequestSideBySideTests {
    @Test func `rr prints the same response as mosquitto_rr, with the same exit code`() async throws {
        let broker = try await RealBroker()
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: "answerer", username: "", password: ""))
        config.deliveryQueue = DispatchQueue(label: "answerer")
        let client = CourierClientFactory().makeMQTTClient(config: config)
        let questions = client.messagePublisher().sink { question in
            var properties = MessageProperties()
            properties.correlationData = question.properties.correlationData
            properties.userProperties = [
                .init("asked", "\(question.topic) \(question.qos.wireLevel) \(question.payloadString ?? "")")
            ]
            // Before MQTT 5, a request has no response topic.
            let place = question.properties.responseTopic ?? "answer/old"
            try? client.publish(
                bytes: Array("answer to ".utf8) + question.data, to: place, qos: .one, retain: false,
                properties: properties, completion: nil)
        }
        client.connect()
        try await client.connected()
        try await client.subscribe(SubscriptionRequest(topic: TopicTemplate(exactly: "question/#")))
        for arguments in [
            ["-t", "question/a", "-e", "answer/a", "-m", "x"],
            ["-t", "question/a", "-e", "answer/a", "-m", "x", "-q", "1", "-v"],
            ["-t", "question/a", "-e", "answer/a", "-n", "-F", "%t|%p|%P"],
            [
                "-t", "question/a", "-e", "answer/a", "-m", "x", "-D", "publish", "correlation-data", "7", "-F",
                "%D %p %P",
            ],
            ["-t", "question/a", "-e", "answer/old", "-m", "x", "-V", "311", "-N"],
            ["-t", "nobody", "-e", "answer/a", "-m", "x", "-W", "3"],
        ] {
            let words = ["-h", "127.0.0.1", "-p", "\(broker.port)"] + arguments
            let theirs = try await ProgramRun(Peer.mosquitto.words("rr") + words).end()
            let ours = try await ProgramRun(Peer.courier.words("rr") + words).end()
            #expect(ours == theirs, "\(arguments)")
        }
        questions.cancel()
        client.destroy()
        await broker.remove()
    }
}
