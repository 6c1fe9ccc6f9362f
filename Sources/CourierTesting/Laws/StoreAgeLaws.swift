import CourierCore
import Foundation

/// The laws about the ages of messages.
enum StoreAgeLaws {
    private static let (boot, otherBoot, thirdBoot) = (UUID(), UUID(), UUID())

    private static func bootTime(_ boot: UUID, _ seconds: Int) -> BootTime {
        BootTime(bootID: boot, sinceBoot: .seconds(seconds) + .nanoseconds(123_456_789))
    }

    private static func message(
        _ id: UInt64, after delay: TimeInterval = 0, lifetime: TimeInterval? = 60, _ bootTime: BootTime?
    ) -> StoredMessage {
        let date = StoreProbe.moment + delay
        return StoredMessage(
            id: StoreProbe.id(id), topic: "laws/age", payload: [1], qos: .one, storedAt: date,
            expiresAt: lifetime.map { date + $0 }, bootTime: bootTime, isLatestOnly: id.isMultiple(of: 2))
    }

    static func agesByBootTime(_ probe: StoreProbe) async throws {
        let messages = [
            message(1, bootTime(boot, 100)), message(2, nil), message(3, bootTime(otherBoot, 5_000)),
            message(4, lifetime: nil, bootTime(boot, 100)), message(5, after: 864_000, bootTime(otherBoot, 100)),
        ]
        try await probe.commit(messages.map { .keep($0) } + messages.map { .enqueue($0) })
        let outgoing = try await probe.outgoing()
        try require("outgoing messages with times since the boot", outgoing.map(\.message), is: messages)
        let present = StoreTime(date: StoreProbe.moment, bootTime: bootTime(boot, 100))
        let incoming = try await probe.store.incoming(
            in: probe.scope, matching: nil, after: nil, limit: StoreProbe.everything, at: present)
        try require("incoming messages with times since the boot", incoming, is: messages)

        // The date of a message is used only if the message was stored during another boot of the machine, or without a
        // boot time. A date in the future counts as the current date.
        let forward = StoreTime(date: StoreProbe.moment + 7_200, bootTime: bootTime(boot, 110))
        try require(
            "messages after the clock was set two hours forward", try await probe.incomingIDs(at: forward),
            is: [1, 4, 5])
        let back = StoreTime(date: StoreProbe.moment - 7_200, bootTime: bootTime(boot, 161))
        try require("messages after the clock was set back", try await probe.incomingIDs(at: back), is: [2, 3, 4, 5])

        try await probe.commit(.removeExpired(at: back))
        try require(
            "the messages that remain after the clock was set back", try await probe.incomingIDs(at: present),
            is: [2, 3, 4, 5])
        try require("the count of incoming messages", try await probe.summary().incomingCount, is: 4)
        try await probe.commit(.keep(messages[0]), .removeExpired(at: forward))
        try require(
            "messages that remain after the clock moved two hours forward", try await probe.incomingIDs(at: present),
            is: [1, 4, 5])
        let later = StoreTime(date: StoreProbe.moment + 864_060, bootTime: bootTime(thirdBoot, 1))
        try await probe.commit(.removeExpired(at: later))
        try require("messages that remain after another boot", try await probe.incomingIDs(at: present), is: [4])
        try require("outgoing messages at the end", try await probe.outgoingIDs(), is: [1, 2, 3, 4, 5])
    }
}
