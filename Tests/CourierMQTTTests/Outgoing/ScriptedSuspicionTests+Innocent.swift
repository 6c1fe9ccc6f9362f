import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Connections that end for other reasons. No message may be rejected because of them.
extension ScriptedSuspicionTests {
    /// A broker that answers pings at once and publishes late. The connection ends when the test publishes to `cut`.
    private static func path(isSessionPresent: Bool = true, delay: Duration = .milliseconds(150)) -> [ScriptStep] {
        [
            .accept(isSessionPresent: isSessionPresent), .fault(.delay(.pubAck, by: delay)),
            .serve(until: .publish(to: "cut")), .cut(.reset),
        ]
    }

    /// Ends connections while an app publishes.
    private final class Cuts {
        let world: ScriptedWorld
        private var random: SeededGenerator
        private(set) var outcomes: [Outcome] = []

        init(_ world: ScriptedWorld, seed: UInt64) {
            self.world = world
            random = SeededGenerator(seed: seed)
        }

        var acknowledgedCount: Int { outcomes.count { $0.value?.success != nil } }
        var failures: [CourierError] { outcomes.compactMap { $0.value?.failure } }

        /// Waits for a connection, publishes a few messages, and cuts the connection after `lifetime` since CONNACK.
        func connection(lasting lifetime: (inout SeededGenerator) -> Int) async throws {
            while let next = await world.clock.settle(world.loop), world.client.connectionState != .connected {
                world.clock.advance(to: next)
            }
            let time = lifetime(&random)
            // At most 50 messages wait, as in a queue with a limit.
            let open = outcomes.count { $0.value == nil }
            for _ in 0..<min(2, 50 - open) { outcomes.append(try world.publish("x")) }
            await pass(.milliseconds(time))
            try world.client.publish(text: "", to: "cut", qos: .zero)
            await pass(.milliseconds(1))
        }

        /// Advances the time of the loop. Does not wait for the delivery queue, because that would make the test
        /// slow.
        private func pass(_ time: Duration) async {
            let end = world.clock.now + time
            while let next = await world.clock.settle(world.loop), next <= end { world.clock.advance(to: next) }
            world.clock.advance(to: end)
            await world.clock.settle(world.loop)
        }

        /// From now on, connections are not cut. Every message must arrive.
        func finish(within time: Duration = .seconds(120)) async {
            await world.run(for: time)
            #expect(failures.isEmpty)
            #expect(acknowledgedCount == outcomes.count)
        }
    }

    /// Most connections are shorter than a control connection.
    private static func lifetime(_ random: inout SeededGenerator) -> Int {
        1 + random.below(random.chance(60) ? 500 : 20_000)
    }

    /// Runs a world without events and long pauses, so that the test needs little real time.
    private static func runQuickly(
        _ steps: [ScriptStep], _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        let silent = OutgoingSetup(isListening: false, hasStore: false, hasProperties: false)
        try await run(silent, afterwards: steps) {
            $0.protocolVersion = .version5
            $0.maxAutoReconnectInterval = 1
        } _: { world in
            await world.connect()
            try await body(world)
        }
    }

    @Test func `no message fails after 1,000 random connection losses`() async throws {
        try await Self.runQuickly(Self.path()) { world in
            let cuts = Cuts(world, seed: 1)
            for _ in 0..<1_000 { try await cuts.connection(lasting: Self.lifetime) }
            #expect(await world.broker.connections.count >= 1_000)
            #expect(cuts.acknowledgedCount > 200, "messages get through")
            await cuts.finish()
        }
    }

    /// The broker's acknowledgements need about as long as each connection lasts.
    @Test func `no message fails if the broker restarts every second`() async throws {
        try await Self.runQuickly(Self.path(isSessionPresent: false, delay: .seconds(1))) { world in
            let cuts = Cuts(world, seed: 3)
            for _ in 0..<200 { try await cuts.connection { 900 + $0.below(200) } }
            #expect(cuts.acknowledgedCount > 10, "messages get through")
            await cuts.finish()
        }
    }

    /// The other client connects after a random pause. This ends the connection of this client.
    @Test(arguments: [300, 2_000, 12_000])
    func `if two clients use one client id, no message fails, and the reconnect delay reaches 60 s`(pause: Int)
        async throws
    {
        try await Self.run(afterwards: Self.path()) { world in
            await world.connect()
            let cuts = Cuts(world, seed: 4)
            for _ in 0..<40 { try await cuts.connection { 20 + $0.below(pause) } }
            #expect(await world.gaps.contains { $0 >= .seconds(60) })
            await cuts.finish(within: .seconds(1_300))
        }
    }

    @Test func `no message fails if the network drops large packets`() async throws {
        let dropping: [ScriptStep] = [.accept(), .serve(until: .publish(to: "large")), .stall]
        let script = Array(repeating: ConnectionScript.connection(dropping), count: 10)
        try await ScriptedWorld.run(
            script, provider: ScriptedProvider(Self.keepAliveOptions), isScriptChecked: false, mayOverlap: true
        ) {
            $0.protocolVersion = .version311
        } _: { world in
            await world.connect()
            let large = try Self.publish(world, to: "large")
            let small = try Self.publish(world, to: "small")
            await world.run(for: .seconds(100))
            #expect(large.value == nil && small.value == nil)
            #expect(await world.broker.connections.count > 3)
            #expect(await world.publishes(on: 3).map(\.topic) == ["large", "small"], "no suspicion")
            await world.run(for: .seconds(600))
            #expect(await world.broker.connections.count == 11)
            #expect(large.value?.success != nil && small.value?.success != nil, "the path works again")
        }
    }

    private static let keepAliveOptions = ConnectOptions(
        host: "broker.invalid", port: 1, keepAlive: 10, clientId: "scripted", username: "", password: "")
}
