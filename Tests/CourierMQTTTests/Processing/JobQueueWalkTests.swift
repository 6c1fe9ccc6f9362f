import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// Random walks of a ``JobQueue`` in virtual time, against a naive model.
@Suite struct JobQueueWalkTests {
    /// Returns the first rule that the queue violates in a walk; `nil` if it violates none.
    private static func walk(_ seed: UInt64, _ mistake: JobQueueWorld.Mistake? = nil) -> String? {
        var world = JobQueueWorld(seed: seed, mistake)
        for _ in 0..<150 where world.violation == nil { move(&world) }
        world.settle()
        return world.violation
    }

    private static func move(_ world: inout JobQueueWorld) {
        switch world.random.below(100) {
        case 0..<14: world.publish()
        case 14..<34: world.deliver()
        case 34..<50: if !world.handlers.isEmpty { world.finish(world.random.below(world.handlers.count)) }
        case 50..<60: world.commit(\.additions)
        case 60..<67: world.commit(\.writes)
        case 67..<77: world.report()
        case 77..<80: world.load(isFailing: world.random.chance(1, in: 4))
        case 80..<87: world.advance(by: .milliseconds(world.random.below(3_000)))
        case 87: world.advance(by: .seconds(world.random.below(600)))
        case 88: world.dateOffset += Double(world.random.below(200_000) - 100_000)
        case 89: world.isDiskFull = !world.isDiskFull
        case 90, 91: world.loseConnection()
        case 92, 93: world.kill(isReboot: world.random.chance(1, in: 4))
        case 94: if world.random.flag() { world.stop() }
        case 95, 96: world.changeParked(isRetried: true)
        case 97, 98: world.changeParked(isRetried: false)
        default: if world.random.chance(1, in: 6) { world.destroy() }
        }
    }

    @Test
    func `in 150 random runs, the job queue loses no message, keeps order and limits, and pauses only when necessary`()
    {
        for seed in UInt64(1)...150 {
            if let violation = Self.walk(seed) {
                Issue.record("seed \(seed): \(violation)")
                break
            }
        }
    }

    @Test(arguments: JobQueueWorld.Mistake.allCases)
    func `random runs of the job queue detect a mistake that the test adds to the environment of the queue`(
        _ mistake: JobQueueWorld.Mistake
    ) {
        // A walk that fails without the mistake proves nothing.
        let found = (UInt64(1)...200).lazy.filter { Self.walk($0) == nil }.compactMap { Self.walk($0, mistake) }.first
        #expect(found != nil)
    }
}
