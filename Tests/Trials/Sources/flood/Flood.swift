import CourierCore
import CourierMQTT
import Foundation
import MQTTCodec

/// A test that fills one buffer of the client, and the memory that the client may use for it.
struct Flood: Sendable {
    let name: String
    /// Returns the messages that the broker sends after the client publishes to `begin`. Only the broker's process
    /// calls it.
    var messages: @Sendable () -> [Publish] = { [] }
    /// True if the client keeps messages without a reader.
    var keepsUnread = true
    /// The limit of the buffer, in bytes.
    var limit: Int
    /// Additional bytes that are allowed, for example for the read buffer and one message that does not fit.
    var allowance: Int
    /// Fills the buffer, and then waits forever.
    let fill: @Sendable (FloodedClient) async throws -> Void

    /// The number of bytes by which resident memory may grow.
    var allowedGrowth: Int { (limit + allowance) * 5 / 4 }

    static let topic = "flood"

    static var all: [Flood] {
        [
            properties, topics, smallMessages, sparseMessages, retained, keptLarge, keptSmall, sentEvents,
            failureEvents, deadLetters,
        ]
    }

    /// Messages with large properties, for a reader that is busy.
    private static var properties: Flood {
        let values = (0..<250).map { Property.userProperty(name: "name-\($0)", value: text(1_900)) }
        return Flood(
            name: "properties", messages: messages(400, qos: 1) { _, message in message.properties = .init(values) },
            limit: 4 << 20, allowance: 3 << 20
        ) { try await $0.readSlowly(ReadBuffer(byteLimit: 4 << 20)) }
    }

    /// Messages with large topics, each different, for a reader that is busy.
    private static var topics: Flood {
        Flood(
            name: "topics",
            messages: messages(2_000) { number, message in message.topic = "flood/\(number)/" + text(50_000) },
            limit: 4 << 20, allowance: 2 << 20
        ) { try await $0.readSlowly(ReadBuffer(byteLimit: 4 << 20)) }
    }

    /// Tiny messages of QoS 1, so that bookkeeping and tickets take most of the memory.
    private static var smallMessages: Flood {
        Flood(
            name: "small messages", messages: messages(60_000, qos: 1) { _, message in message.payload = [1] },
            limit: 4 << 20, allowance: 3 << 19
        ) { try await $0.readSlowly(ReadBuffer(limit: .max, byteLimit: 4 << 20), acknowledge: .afterProcessing) }
    }

    /// One of 50 messages is for the slow reader; another reader gets the other messages.
    private static var sparseMessages: Flood {
        Flood(
            name: "few of many messages",
            messages: messages(200_000) { number, message in
                message.topic = number % 50 == 0 ? "flood/few" : "many"
                message.payload = [UInt8](repeating: 1, count: 1_000)
            },
            limit: 2 << 20, allowance: 3 << 20
        ) { try await $0.readSlowly(ReadBuffer(byteLimit: 2 << 20), besides: "many") }
    }

    /// Retained messages, with the default `ReadBuffer`.
    private static var retained: Flood {
        Flood(
            name: "retained messages",
            messages: messages(500, qos: 1) { _, message in
                message.isRetained = true
                message.payload = [UInt8](repeating: 1, count: 200_000)
            },
            limit: 16 << 20, allowance: 2 << 20
        ) { try await $0.readSlowly(ReadBuffer()) }
    }

    /// Large messages without a reader.
    private static var keptLarge: Flood {
        Flood(
            name: "large messages without a reader",
            messages: messages(40, qos: 1) { _, message in message.payload = [UInt8](repeating: 1, count: 3 << 20) },
            limit: 16 << 20, allowance: 8 << 20
        ) { try await $0.receiveUnread() }
    }

    /// Small messages without a reader.
    private static var keptSmall: Flood {
        Flood(
            name: "small messages without a reader",
            messages: messages(60_000, qos: 1) { number, message in message.topic = "flood/\(number)" },
            limit: 16 << 20, allowance: 3 << 20
        ) { try await $0.receiveUnread() }
    }

    /// Events of sent messages, with their payloads, for an event handler that is busy.
    private static var sentEvents: Flood {
        Flood(name: "events of sent messages", limit: 8 << 20, allowance: 1 << 20) {
            try await $0.publish(2_000, of: 100_000)
        }
    }

    /// Events of messages without a reader, for an event handler that is busy. Their limit is twice the buffer's limit.
    private static var failureEvents: Flood {
        Flood(
            name: "events of unread messages",
            messages: messages(60_000, qos: 1) { number, message in message.topic = "flood/\(number)/" + text(400) },
            keepsUnread: false, limit: 16 << 20, allowance: 3 << 20
        ) { try await $0.receiveUnreadAndBlockEvents() }
    }

    /// Messages that no adapter can decode, for a dead-letter sink that is busy.
    private static var deadLetters: Flood {
        Flood(
            name: "dead letters",
            messages: messages(200, qos: 1) { _, message in message.payload = [UInt8](repeating: 1, count: 1 << 20) },
            limit: 8 << 20, allowance: 5 << 20
        ) { try await $0.readUndecodable() }
    }

    private static func messages(
        _ count: Int, qos: Int = 0, _ change: @escaping @Sendable (Int, inout Publish) -> Void
    ) -> @Sendable () -> [Publish] {
        {
            (0..<count).map { number in
                var message = Publish(topic: topic, payload: [])
                if qos == 1, let id = PacketID(rawValue: UInt16(number % 65_535 + 1)) {
                    message.delivery = .atLeastOnce(id, isDuplicate: false)
                }
                change(number, &message)
                return message
            }
        }
    }

    private static func text(_ count: Int) -> String { String(repeating: "t", count: count) }
}
