import CourierCore
import Foundation
import Testing

@Suite struct StoredMessageAgeTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 800_000_000)
    private static let boot = UUID()

    private static func message(_ bootTime: BootTime?, lifetime: TimeInterval? = 60) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: 1), topic: "t", payload: [], qos: .one, storedAt: date,
            expiresAt: lifetime.map { date + $0 }, bootTime: bootTime)
    }

    private static func time(_ seconds: TimeInterval, _ bootTime: BootTime? = nil) -> StoreTime {
        StoreTime(date: date + seconds, bootTime: bootTime)
    }

    private static func bootTime(_ seconds: Int, _ id: UUID = boot) -> BootTime {
        BootTime(bootID: id, sinceBoot: .seconds(seconds))
    }

    @Test(arguments: [-1e6, 0, 59, 1e6, 1e300, -1e300])
    func `a message's age is measured by the time since boot, even if the date changes`(_ step: TimeInterval) {
        let message = Self.message(Self.bootTime(100))
        #expect(message.age(at: Self.time(step, Self.bootTime(159))) == .seconds(59))
        #expect(message.remaining(at: Self.time(step, Self.bootTime(159))) == .seconds(1))
        #expect(!message.isOver(at: Self.time(step, Self.bootTime(159))))
        #expect(message.isOver(at: Self.time(step, Self.bootTime(160))))
        #expect(message.remaining(at: Self.time(step, Self.bootTime(1_000))) == .zero)
    }

    @Test(
        arguments: [
            (nil, bootTime(5)), (bootTime(100), nil), (nil, nil), (bootTime(100, UUID()), bootTime(5_000)),
            // A boot clock that went backward is not used.
            (bootTime(100), bootTime(99)),
        ] as [(BootTime?, BootTime?)])
    func `a message's age is measured by date after a reboot or if a boot time is missing or wrong`(
        _ stored: BootTime?, _ now: BootTime?
    ) {
        let message = Self.message(stored)
        #expect(message.age(at: Self.time(59, now)) == .seconds(59))
        #expect(!message.isOver(at: Self.time(59, now)))
        #expect(message.isOver(at: Self.time(60, now)))
        #expect(message.age(at: Self.time(-1, now)) == .zero)
        #expect(message.remaining(at: Self.time(-1e9, now)) == .seconds(60))
        #expect(message.isOver(at: Self.time(1e300, now)))
    }

    @Test func `a message without expiry never expires, and a message with a negative lifetime expires immediately`() {
        let endless = Self.message(Self.bootTime(1), lifetime: nil)
        #expect(endless.remaining(at: Self.time(1e9)) == nil && !endless.isOver(at: Self.time(1e9)))
        #expect(Self.message(Self.bootTime(1), lifetime: -5).isOver(at: Self.time(-100, Self.bootTime(1))))
    }

    @Test func `the system returns a constant boot id and an increasing time since boot`() throws {
        let first = try #require(BootTime.now)
        let second = try #require(StoreTime.now.bootTime)
        #expect(first.bootID == second.bootID && first.sinceBoot < second.sinceBoot && first.sinceBoot > .zero)
    }
}
