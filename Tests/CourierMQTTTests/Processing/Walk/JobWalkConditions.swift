import CourierCore
import Foundation
import TestSupport

@testable import CourierMQTT

/// The conditions of one walk: the policy of the processor, and the size of its messages.
struct JobWalkConditions {
    enum Order: CaseIterable { case none, topic, customer }

    var settings = JobQueue.Settings()
    let order: Order
    let payloadSize: Int

    init(_ random: inout SeededGenerator) {
        settings.processor = "orders"
        settings.isStored = random.chance(2, in: 3)
        settings.concurrency = 1 + random.below(4)
        settings.handlerTimeout = .seconds(5 + random.below(60))
        settings.retries = RetrySchedule(
            maximumAttempts: 1 + random.below(5), first: .milliseconds(100 + random.below(5_000)),
            factor: 1 + Double(random.below(3)), maximum: .seconds(1 + random.below(100)),
            jitter: Double(random.below(3)) / 2)
        settings.waiting = ProcessingLimits(maximumCount: 1 + random.below(12))
        settings.parked = ParkingLimits(
            maximumCount: 1 + random.below(6), maximumBytes: random.chance(3, in: 4) ? 1 << 20 : 2_000,
            maximumAge: random.chance(1, in: 3) ? .seconds(60 + random.below(7_200)) : nil,
            overflow: random.chance(1, in: 4) ? .removeOldest : .pause)
        if random.flag() {
            settings.keys = (.seconds(10 + random.below(7_200)), 1 + random.below(20))
        }
        order = random.pick(Order.allCases)
        // Large messages do not all fit in the memory of the queue, so it reads them from the store.
        payloadSize = settings.isStored && random.chance(1, in: 25) ? 3 << 20 : 8
    }

    /// Returns the order key and the deduplication key, like a processor: it must decode the message for a key of the
    /// value.
    func keys(of message: JobWalkMessage) throws -> (order: String?, deduplication: String?) {
        if order == .customer || settings.keys != nil, !message.isDecodable { throw Undecodable() }
        let key = settings.keys == nil ? nil : message.key
        return switch order {
        case .none: (nil, key)
        case .topic: (message.topic, key)
        case .customer: (message.customer, key)
        }
    }

    struct Undecodable: Error {}

    func payload(of message: JobWalkMessage) -> Data {
        withUnsafeBytes(of: UInt64(message.number)) { Data($0) } + Data(count: payloadSize - 8)
    }

    static func number(of message: Message) -> Int {
        message.withBytes { Int($0.unsafeLoadUnaligned(as: UInt64.self)) }
    }

    static func number(of message: StoredMessage) -> Int {
        message.payload.withUnsafeBytes { Int($0.loadUnaligned(as: UInt64.self)) }
    }
}
