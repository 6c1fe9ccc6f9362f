import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Sessions of the broker that differ from the client's last session. CONNACK says only that a session is present.
extension ScriptedSubscriptionTests {
    private static func options(
        host: String = "broker.invalid", id: String = "scripted", _ alternatives: [BrokerEndpoint] = []
    ) -> ConnectOptions {
        ConnectOptions(
            host: host, port: 1883, keepAlive: 0, clientId: id, username: "", password: "", alternatives: alternatives)
    }

    private static let present = ConnectionScript.connection([.accept(isSessionPresent: true)])

    /// A connection that the broker ends with `end` when it receives a publish to `go`.
    private static func connection(
        _ accept: ScriptStep = .accept(), endingBy end: ScriptStep = .cut(.orderly)
    ) -> ConnectionScript {
        .connection([accept, .serve(until: .publish(to: "go")), end])
    }

    /// Subscribes, and makes the broker end the connection.
    private static func subscribe(_ filter: String, thenLeave world: ScriptedWorld) async throws {
        world.client.subscribe((filter, .one))
        await world.settle()
        try world.publish("", to: "go", qos: .zero)
        await world.settle()
    }

    // MARK: Other client ids and servers

    static let nextOptions = [options(id: "other"), options(host: "other.invalid"), options()]

    /// [MQTT-3.1.2-5]
    @Test(arguments: nextOptions)
    func `subscriptions are sent again only if the client id or the host has changed`(
        _ next: ConnectOptions
    ) async throws {
        let provider = ScriptedProvider([.options(Self.options()), .options(next)])
        try await ScriptedWorld.run([.connection([.accept()]), Self.present], provider: provider) { world in
            await world.connect()
            world.client.subscribe(("x", .one))
            await world.settle()
            world.client.disconnect()
            await world.run(for: .seconds(6))
            await world.connect()
            #expect(world.client.connectionState == .connected)
            #expect(await Self.filters(world, on: 1) == [["x"]])
            let expected: [[String]] = next == Self.options() ? [] : [["x"]]
            #expect(await Self.filters(world, on: 2) == expected)
        }
    }

    @Test func `subscriptions are sent again if the new client id differs only in Unicode normalization`()
        async throws
    {
        let (id, next) = ("caf\u{E9}", "cafe\u{301}")
        let provider = ScriptedProvider([.options(Self.options(id: id)), .options(Self.options(id: next))])
        try await ScriptedWorld.run([.connection([.accept()]), Self.present], provider: provider) { world in
            await world.connect()
            world.client.subscribe(("x", .one))
            await world.settle()
            world.client.disconnect()
            await world.run(for: .seconds(6))
            await world.connect()
            #expect(world.client.connectionState == .connected)
            let ids = await world.broker.connections.compactMap(\.connect?.clientID)
            #expect(ids.map { Array($0.utf8) } == [Array(id.utf8), Array(next.utf8)])
            for number in 1...2 { #expect(await Self.filters(world, on: number) == [["x"]]) }
            #expect(world.test.info.map { Array($0.clientId.utf8) } == Array(next.utf8), "events name the new one")
        }
    }

    /// [MQTT-3.1.2-5]
    @Test func `when a one-time redirect ends, all subscriptions are sent again to the first server`()
        async throws
    {
        let script = [
            Self.connection(endingBy: .disconnect(.useAnotherServer, serverReference: "other:1884")),
            Self.connection(), Self.present,
        ]
        try await ScriptedWorld.run(script) {
            $0.endpoints.redirects.allowedHosts = ["other": .reused]
        } _: { world in
            let log = AttemptLog(world.test)
            await world.connect()
            try await Self.subscribe("x", thenLeave: world)
            #expect(await Self.filters(world, on: 2) == [["x"]])
            try await Self.subscribe("y", thenLeave: world)
            await world.run(for: .seconds(5))
            #expect(world.client.connectionState == .connected)
            #expect(await Self.filters(world, on: 3) == [["x", "y"]])
            let home = "broker.invalid:\(world.broker.port)"
            #expect(await log.targets(3) == [home, "other:1884", home])
        }
    }

    @Test func `subscriptions are not sent again to another node of the same cluster`() async throws {
        let options = Self.options([BrokerEndpoint(host: "node.invalid", port: 1883)])
        let provider = ScriptedProvider(options)
        try await ScriptedWorld.run([Self.connection(), Self.present], provider: provider) { world in
            let log = AttemptLog(world.test)
            await world.connect()
            try await Self.subscribe("x", thenLeave: world)
            await world.run(for: .seconds(5))
            #expect(world.client.connectionState == .connected)
            #expect(await Self.filters(world, on: 2).isEmpty)
            #expect(await log.targets(2) == ["broker.invalid:1883", "node.invalid:1883"])
        }
    }

    // MARK: Taken over

    /// [MQTT-3.1.2-5]
    @Test func `subscriptions are sent again once after a takeover of the session`()
        async throws
    {
        let script = [
            Self.connection(endingBy: .disconnect(.sessionTakenOver)),
            Self.connection(.accept(isSessionPresent: true)), Self.present,
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            try await Self.subscribe("x", thenLeave: world)
            await world.run(for: .seconds(61))
            #expect(await Self.filters(world, on: 2) == [["x"]])
            // The subscriptions are sent again only once for each takeover.
            try await Self.subscribe("y", thenLeave: world)
            await world.run(for: .seconds(5))
            #expect(world.client.connectionState == .connected)
            #expect(await Self.filters(world, on: 3).isEmpty)
        }
    }

    @Test func `in MQTT 3.1.1, subscriptions are sent again if two connections were lost right after CONNACK`()
        async throws
    {
        let dropped = ConnectionScript.connection([.accept(isSessionPresent: true), .cut(.orderly)])
        try await ScriptedWorld.run([Self.connection(), dropped, dropped, Self.present]) {
            $0.protocolVersion = .version311
        } _: { world in
            await world.connect()
            try await Self.subscribe("x", thenLeave: world)
            await world.run(for: .seconds(65))
            #expect(world.client.connectionState == .connected)
            for number in 2...3 { #expect(await Self.filters(world, on: number).isEmpty) }
            #expect(await Self.filters(world, on: 4) == [["x"]])
        }
    }
}
