import CourierCore
import CourierTesting
import Testing

@testable import CourierMQTT

/// Requests and responses on typed topics.
@Suite(.timeLimit(.minutes(5))) struct TopicRequestTests {
    private static let squares = Topic<Int>("rooms/{room}/square", qos: .two)
    private static let own = Topic<Int>("%u/%c/square")

    /// Runs `body` with a connected client that responds to its own requests on `topic`. The responder starts before the
    /// connection, so `%u` and `%c` in the topic are unknown then.
    private static func ask(
        on topic: Topic<Int>, _ body: (MQTTClient) async throws -> Void
    ) async throws {
        let broker = try LoopbackBroker.start()
        let options = ConnectOptions(
            host: "127.0.0.1", port: broker.port, clientId: "desk", username: "ada", password: "")
        let test = try TestClient(options)
        let server = Task { [client = test.client] in
            try await client.respond(to: topic) { number in number * number }
        }
        try await test.connect()
        try await test.wait(for: "subscribeSuccess")
        try await body(test.client)
        server.cancel()
        _ = await server.result
        try await test.end()
        await broker.shutdown()
    }

    @Test func `request() throws for a Topic without arguments, and respond() receives requests with any arguments`()
        async throws
    {
        try await Self.ask(on: Self.squares) { client in
            #expect(try await client.request(7, to: Self.squares(room: "1"), as: Int.self) == 49)
            let inferred: Int = try await client.request(8, to: Self.squares(room: "2"), timeout: .seconds(60))
            #expect(inferred == 64)
            let error = await #expect(throws: CourierError.self) {
                try await client.request(9, to: Self.squares, as: Int.self)
            }
            #expect(error?.code == .missingTopicArgument)
        }
    }

    @Test func `%u and %c in a request topic are the user name and client id of the connection`() async throws {
        try await Self.ask(on: Self.own) { client in
            let answers = [
                try await client.request(7, to: Self.own, as: Int.self),
                try await client.request(8, to: "ada/desk/square", as: Int.self),
            ]
            #expect(answers == [49, 64])
        }
    }

    @Test func `%u and %c in a request topic throw an error before the first connection`() async throws {
        let test = try TestClient(.local(1))
        let error = await #expect(throws: CourierError.self) {
            try await test.client.request(7, to: Self.own, as: Int.self)
        }
        #expect(error?.code == .unresolvedPlaceholder)
        #expect(error?.message.contains("await connected() first") == true)
    }
}
