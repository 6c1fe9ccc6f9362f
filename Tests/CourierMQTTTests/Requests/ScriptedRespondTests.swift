import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// `respond` with requests that cannot be answered.
@Suite(.timeLimit(.minutes(5))) struct ScriptedRespondTests {
    private static func request(
        _ text: String, _ properties: PacketProperties = [.responseTopic("a"), .correlationData([7])]
    ) -> ScriptStep {
        .send(.publish(Publish(topic: "q", payload: Array(text.utf8), properties: properties)))
    }

    /// Runs a broker that sends the requests when the client publishes to "go". The client answers requests until
    /// `body` returns.
    private static func run<Request: Sendable>(
        _ requests: [ScriptStep], _ handler: @escaping @Sendable (Request) async throws -> String,
        _ body: (ScriptedWorld, [DeadLetter]) async throws -> Void
    ) async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .publish(to: "go"))] + requests)
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let responding = Task { [client = world.client] in
                try await client.respond(to: "q", handler: handler)
            }
            await world.until { world.events.contains("subscribeSuccess") }
            let clientID = Box<String>()
            let letters = Box<[DeadLetter]>()
            let sinks = [
                world.client.eventPublisher.sink { event in
                    if event.type.name == "messageReceiveFailure" { clientID.value = event.connectionInfo?.clientId }
                },
                world.client.deadLetterPublisher.sink { letter in letters.value = (letters.value ?? []) + [letter] },
            ]
            try world.publish("", to: "go", qos: .zero)
            await world.until { await !answers(world).isEmpty }
            await world.settle()
            #expect(clientID.value == "scripted", "the event names the connection")
            try await body(world, letters.value ?? [])
            for sink in sinks { sink.cancel() }
            responding.cancel()
            try await responding.value
        }
    }

    private static func answers(_ world: ScriptedWorld) async -> [Publish] {
        await world.publishes().filter { $0.topic == "a" }
    }

    @Test func `a CancellationError of the handler is reported, and the next request is answered`() async throws {
        try await Self.run([Self.request("1"), Self.request("2")]) { (text: String) in
            if text == "1" { throw CancellationError() }
            return "answer to \(text)"
        } _: { world, letters in
            let answers = await Self.answers(world)
            #expect(answers.map(\.text) == ["answer to 2"])
            #expect(answers.first?.properties.correlationData == [7])
            let failures = world.test.events.filter { $0.name == "messageReceiveFailure" }
            #expect(failures.count == 1)
            #expect(failures.first?.error is CancellationError)
            #expect(letters.isEmpty, "it was decoded")
        }
    }

    @Test func `a request that cannot be decoded is a dead letter, and the next request is answered`() async throws {
        try await Self.run([Self.request("not a number"), Self.request("2")]) { (number: Int) in
            "\(number * 2)"
        } _: { world, letters in
            #expect(await Self.answers(world).map(\.text) == ["4"])
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.decodingFailed])
            #expect(letters.map(\.message.payloadString) == ["not a number"])
            #expect(letters.map(\.error.code) == [.decodingFailed])
        }
    }

    @Test func `a request without a response topic is a dead letter, and the next request is answered`() async throws {
        try await Self.run([Self.request("1", []), Self.request("2")]) { (text: String) in
            "answer to \(text)"
        } _: { world, letters in
            #expect(await Self.answers(world).map(\.text) == ["answer to 2"])
            let errors = world.errors(of: "messageReceiveFailure")
            #expect(errors.map(\.code) == [.invalidMessage])
            #expect(errors.first?.message.contains("The request on \"q\" has no response topic") == true)
            #expect(letters.map(\.message.payloadString) == ["1"])
        }
    }

    @Test func `a failed handler is logged without its error text if there is no event listener`() async throws {
        struct Closed: Error, CustomStringConvertible { let description = "hidden" }
        let log = WarningLog()
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .publish(to: "go")), Self.request("1"), Self.request("2"),
        ])
        try await ScriptedWorld.run([script]) {
            $0.logHandler = log
        } _: { world in
            world.test.stopListening()
            await world.connect()
            let responding = Task { [client = world.client] in
                try await client.respond(to: "q") { (text: String) -> String in
                    if text == "1" { throw Closed() }
                    return "answer to \(text)"
                }
            }
            await world.until { await !world.broker.packets(.subscribe).isEmpty }
            try world.publish("", to: "go", qos: .zero)
            await world.until { await !Self.answers(world).isEmpty }
            #expect(log.warnings.count == 1)
            #expect(log.warnings.first?.contains("A request on \("q".quoted()) got no response") == true)
            #expect(log.warnings.first?.contains("Closed") == true)
            #expect(!log.warnings.contains { $0.contains("hidden") })
            responding.cancel()
            try await responding.value
        }
    }
}
