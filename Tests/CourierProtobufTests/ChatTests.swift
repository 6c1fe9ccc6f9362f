import CourierMQTT
import CourierProtobuf
import Foundation
import TestSupport
import Testing

/// Protobuf and JSON messages through a real broker. The peer uses Google's library and paho-mqtt.
@Suite(.timeLimit(.minutes(5))) struct ChatTests {
    private struct Seen: Codable, Equatable, Sendable {
        let title: String
        let stars: Int
        let tags: [String]
    }

    @Test func `a note is sent to Python as Protobuf and is received back as Protobuf and JSON`() async throws {
        let broker = try await RealBroker()
        let folder = try TemporaryFolder()
        let descriptors = folder.file("set")
        try Tool.descriptorSet().write(to: URL(fileURLWithPath: descriptors))
        let script = Tool.tests.appending(path: "Peer/chat.py").path
        let partner = try ChildProcess(["/usr/bin/python3", script, "\(broker.port)", descriptors])
        let greeting = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: partner.read()) }
        }
        try #require(String(decoding: greeting, as: UTF8.self).hasPrefix("ready"))

        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: "chat-%%%%", username: "", password: "",
                isCleanSession: true))
        config.messageAdapters = [ProtobufMessageAdapter(), JSONMessageAdapter()]
        config.deliveryQueue = DispatchQueue(label: "chat")
        let client = CourierClientFactory().makeMQTTClient(config: config)
        defer { client.destroy() }
        client.connect()
        try await client.connected()
        try await client.subscribe(to: "notes/out")
        try await client.subscribe(to: "notes/seen")

        // The same call as in the introduction: "messagePublisher(topic:)… { (note: Note) in".
        let (notes, found) = AsyncStream.makeStream(of: Note.self)
        let sink = client.messagePublisher(topic: "notes/out").sink { (note: Note) in found.yield(note) }
        var seen = client.messages(Seen.self, from: "notes/seen").makeAsyncIterator()
        try await client.publish(
            Note(title: "hello", text: "there", stars: 4, tags: ["a", "b"]), to: "notes/in", qos: .one)
        let note = await notes.first { _ in true }
        #expect(note == Note(title: "HELLO", stars: 4))
        #expect(try await seen.next() == Seen(title: "hello", stars: 4, tags: ["a", "b"]))
        sink.cancel()
        withExtendedLifetime(partner) {}
    }
}
