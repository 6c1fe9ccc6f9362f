import TestSupport
import Testing

@testable import CourierMQTT

/// Sequences of connections in virtual time: the connection losses that lead to the rejection of a message, and
/// losses that do not.
@Suite struct MessageSuspicionWalkTests {
    private static let seeds: [UInt64] = [1, 2, 3]

    /// Publishes a message every 60 ms until `isOver`. Then waits until all messages are finished, at most for
    /// `limit`.
    private func run(
        _ world: inout SuspicionWorld, until isOver: (SuspicionWorld) -> Bool, limit: Duration = .seconds(20_000)
    ) -> UInt64 {
        var count: UInt64 = 0
        var ticks = 0
        let end = world.now.advanced(by: limit)
        while !isOver(world), world.now < end {
            // At most 200 messages wait, as in a queue with a limit.
            if ticks % 3 == 0, count < UInt64(world.acknowledged.count + world.ended.count) + 200 {
                world.publish(count)
                count += 1
            }
            ticks += 1
            world.step()
        }
        return count
    }

    @Test(arguments: seeds)
    func `no message is rejected after 1,000 random connection losses`(seed: UInt64) {
        var conditions = SuspicionWorld.Conditions()
        conditions.lifetime = { .milliseconds(1 + $0.below(15_000)) }
        var world = SuspicionWorld(seed: seed, conditions)
        _ = run(&world) { $0.lossCount >= 1_000 }
        #expect(world.lossCount == 1_000)
        #expect(world.ended == [], "seed \(seed)")
        #expect(world.acknowledged.count > 1_000, "messages get through")
    }

    @Test(arguments: seeds)
    func `no message is rejected if the broker restarts every second`(seed: UInt64) {
        var conditions = SuspicionWorld.Conditions()
        conditions.lifetime = { .milliseconds(900 + $0.below(200)) }
        var world = SuspicionWorld(seed: seed, conditions)
        _ = run(&world) { $0.lossCount >= 1_000 }
        #expect(world.ended == [])
        #expect(world.acknowledged.count > 1_000, "messages get through")
        #expect(world.explainedCount < world.lossCount / 10)
    }

    /// The other client connects after a random pause. This ends the connection of this client, right after CONNACK
    /// or later.
    @Test(arguments: seeds, [300, 2_000, 12_000])
    func `if two clients use one client id, no message is rejected, and most losses are not blamed on a message`(
        seed: UInt64, pause: Int
    ) {
        var conditions = SuspicionWorld.Conditions()
        conditions.lifetime = { .milliseconds(20 + $0.below(pause)) }
        var world = SuspicionWorld(seed: seed, conditions)
        _ = run(&world) { $0.lossCount >= 300 }
        #expect(world.ended == [], "seed \(seed)")
        #expect(world.explainedCount < world.lossCount / 4, "\(world.explainedCount) of \(world.lossCount)")
    }

    @Test func `no message is rejected if the network drops large packets`() {
        var conditions = SuspicionWorld.Conditions()
        conditions.dropped = [17, 40]
        var world = SuspicionWorld(seed: 1, conditions)
        _ = run(&world, until: { $0.lossCount >= 50 }, limit: .seconds(3_000))
        #expect(world.lossCount == 50)
        #expect(world.ended == [])
        #expect(!world.suspicion.isSuspicious)
    }

    @Test(arguments: seeds)
    func `a message that ends each connection is rejected, and all other messages are acknowledged`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let poison = UInt64(random.below(100))
        var conditions = SuspicionWorld.Conditions()
        conditions.poison = [poison]
        var world = SuspicionWorld(seed: seed, conditions)
        let start = world.now
        for token in 0..<100 as Range<UInt64> { world.publish(token) }
        while !world.isDone, start.duration(to: world.now) < .seconds(60) { world.step() }
        #expect(world.ended == [poison])
        #expect(world.acknowledged == Set(0..<100).subtracting([poison]))
        #expect(world.lossCount == 4 && world.explainedCount == 3)
        #expect(!world.suspicion.isSuspicious)
    }

    @Test func `messages that each end the connection are rejected, even if two of these messages follow each other`() {
        var conditions = SuspicionWorld.Conditions()
        conditions.poison = [0, 5, 6, 99]
        var world = SuspicionWorld(seed: 4, conditions)
        let start = world.now
        for token in 0..<100 as Range<UInt64> { world.publish(token) }
        while !world.isDone, start.duration(to: world.now) < .seconds(240) { world.step() }
        #expect(world.ended == [0, 5, 6, 99])
        #expect(world.acknowledged.count == 96)
    }

    @Test(arguments: seeds)
    func `a message that ends each connection is rejected despite random losses and process restarts`(seed: UInt64) {
        var conditions = SuspicionWorld.Conditions()
        conditions.poison = [30]
        conditions.lifetime = { .seconds(20 + $0.below(60)) }
        var world = SuspicionWorld(seed: seed, conditions)
        let start = world.now
        for token in 0..<60 as Range<UInt64> { world.publish(token) }
        var (losses, restarts) = (0, 0)
        while !world.isDone, start.duration(to: world.now) < .seconds(600) {
            world.step()
            guard world.lossCount > losses else { continue }
            losses = world.lossCount
            if world.storedStrikes > 0 {
                restarts += 1
                world.restart()
            }
        }
        #expect(world.ended == [30])
        #expect(world.acknowledged.count == 59)
        #expect(restarts >= 2)
    }
}
