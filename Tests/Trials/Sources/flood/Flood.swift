import CourierCore
import CourierMQTT
import Foundation
import MQTTCodec

/// A place of the client that somebody else fills, and how much memory it may take.
struct Flood: Sendable {
    let name: String
    /// Makes what the broker sends when the client asks for it; the client's process has none of it.
    var messages: @Sendable () -> [Publish] = { [] }
    /// Whether the client keeps what nobody reads.
    var keepsUnread = true
    /// The limit that holds there, in bytes.
    var limit: Int
    /// What else may be in memory at that time, such as the message for which there is no room, and the read buffer.
    var beside: Int
    /// Fills the place, and does not return.
    let fill: @Sendable (FloodedClient) async throws -> Void

    /// How much the resident memory may grow.
    var allowedGrowth: Int { (limit + beside) * 5 / 4 }

    static let topic = "flood"

    static var all: [Flood] {
        [
            properties, topics, smallMessages, sparseMessages, retained, keptLarge, keptSmall, sentEvents,
            failureEvents, deadLetters,
        ]
    }

    /// Messages whose memory is that of their properties, for a reader that is busy.
    private static var properties: Flood {
        let values = (0..<250).map { Property.userProperty(name: "name-\($0)", value: text(1_900)) }
        return Flood(
            name: "properties", messages: messages(400, qos: 1) { _, message in message.properties = .init(values) },
            limit: 4 << 20, beside: 3 << 20
        ) { try await $0.readSlowly(ReadBuffer(byteLimit: 4 << 20)) }
    }

    /// Messages whose memory is that of their topics, each with another one.
    private static var topics: Flood {
        Flood(
            name: "topics",
            messages: messages(2_000) { number, message in message.topic = "flood/\(number)/" + text(50_000) },
            limit: 4 << 20, beside: 2 << 20
        ) { try await $0.readSlowly(ReadBuffer(byteLimit: 4 << 20)) }
    }

    /// Messages whose memory is what is known of them, with something to acknowledge for each.
    private static var smallMessages: Flood {
        Flood(
            name: "small messages", messages: messages(60_000, qos: 1) { _, message in message.payload = [1] },
            limit: 4 << 20, beside: 3 << 19
        ) { try await $0.readSlowly(ReadBuffer(limit: .max, byteLimit: 4 << 20), acknowledge: .afterProcessing) }
    }

    /// Of each page that the readers share, little is for this one.
    private static var sparseMessages: Flood {
        Flood(
            name: "few of many messages",
            messages: messages(200_000) { number, message in
                message.topic = number % 50 == 0 ? "flood/few" : "many"
                message.payload = [UInt8](repeating: 1, count: 1_000)
            },
            limit: 2 << 20, beside: 3 << 20
        ) { try await $0.readSlowly(ReadBuffer(byteLimit: 2 << 20), besides: "many") }
    }

    /// What the broker had kept, by the default limit.
    private static var retained: Flood {
        Flood(
            name: "retained messages",
            messages: messages(500, qos: 1) { _, message in
                message.isRetained = true
                message.payload = [UInt8](repeating: 1, count: 200_000)
            },
            limit: 16 << 20, beside: 2 << 20
        ) { try await $0.readSlowly(ReadBuffer()) }
    }

    /// Large messages that nobody reads.
    private static var keptLarge: Flood {
        Flood(
            name: "large messages for nobody",
            messages: messages(40, qos: 1) { _, message in message.payload = [UInt8](repeating: 1, count: 3 << 20) },
            limit: 16 << 20, beside: 8 << 20
        ) { try await $0.readNothing() }
    }

    /// Small messages that nobody reads.
    private static var keptSmall: Flood {
        Flood(
            name: "small messages for nobody",
            messages: messages(60_000, qos: 1) { number, message in message.topic = "flood/\(number)" },
            limit: 16 << 20, beside: 3 << 20
        ) { try await $0.readNothing() }
    }

    /// Events of messages that were sent, with their payloads, for a handler that is busy.
    private static var sentEvents: Flood {
        Flood(name: "events of sent messages", limit: 8 << 20, beside: 1 << 20) {
            try await $0.publish(2_000, of: 100_000)
        }
    }

    /// Events of messages that nobody reads, for a handler that is busy. They have twice the room of others.
    private static var failureEvents: Flood {
        Flood(
            name: "events of unread messages",
            messages: messages(60_000, qos: 1) { number, message in message.topic = "flood/\(number)/" + text(400) },
            keepsUnread: false, limit: 16 << 20, beside: 3 << 20
        ) { try await $0.readNothingAndHandleSlowly() }
    }

    /// Messages that no adapter can decode, for a listener that is busy.
    private static var deadLetters: Flood {
        Flood(
            name: "dead letters",
            messages: messages(200, qos: 1) { _, message in message.payload = [UInt8](repeating: 1, count: 1 << 20) },
            limit: 8 << 20, beside: 5 << 20
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
