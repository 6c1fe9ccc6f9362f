import CourierCore
import CourierMQTT
import CourierTesting
import Dispatch
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite(.timeLimit(.minutes(5))) struct MQTTChuckClientTests {
    @Test func `a logger records the whole session of a client, but no password or token`() async throws {
        let broker = try LoopbackBroker.start()
        let logger = MQTTChuckLogger()
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: "seen", username: "ada", password: "hunter2-secret",
                userProperties: ["api-token": "tok-secret-1", "region": "eu"]))
        config.deliveryQueue = DispatchQueue(label: "seen")
        config.packetObserver = logger
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        try await client.connected()
        var texts = client.messages(String.self, from: "news/+").makeAsyncIterator()
        try await client.subscribe(to: "news/+")
        try await client.publish("hello", to: "news/1", qos: .two)
        #expect(try await texts.next() == "hello")
        client.disconnect()
        for await _ in logger.changes where logger.connections.first?.state == .disconnected { break }

        let rows = logger.rows().rows
        #expect(rows.compactMap(\.problem) == [])
        #expect(rows.first?.type == .connect)
        #expect(rows.last?.type == .disconnect)
        #expect(rows.allSatisfy { $0.connection.clientID == "seen" && $0.connection.port == broker.port })
        let publish = try #require(rows.first { $0.type == .publish && $0.direction == .outgoing })
        #expect(publish.topic == "news/1")
        #expect(publish.preview.text == "hello")
        #expect(publish.roundTrip != nil)
        let exchange = try #require(logger.details(of: publish.number)?.exchange)
        #expect(exchange.map(\.type) == [.publish, .pubRec, .pubRel, .pubComp])
        let connect = try #require(logger.details(of: 1)).fields
        #expect(connect.contains(MQTTChuckField("password", "hidden")))
        #expect(connect.contains(MQTTChuckField("user property region", "eu")))
        var everything = ""
        dump(logger, to: &everything)
        for row in rows { dump(logger.details(of: row.number), to: &everything) }
        for format in MQTTChuckExportFormat.allCases {
            everything += String(decoding: logger.exported(format), as: UTF8.self)
        }
        #expect(everything.contains("news/1"))
        #expect(!everything.contains("hunter2-secret"))
        #expect(!everything.contains("tok-secret-1"))
        client.destroy()
        await broker.shutdown()
    }
}
