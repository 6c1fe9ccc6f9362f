import CourierCore
import CourierMQTTChuck
import Foundation

/// The parked messages of all clients, as JSON for the page.
struct ParkedListJSON: Encodable, Sendable {
    /// The largest number of listed messages of one client.
    static let limit = 200

    var messages: [ParkedJSON] = []
    /// The error of a store that cannot be read; `nil` if all stores were read.
    var error: String?
}

/// A parked message as JSON.
struct ParkedJSON: Encodable, Sendable {
    let client: String
    let id: UInt64
    let processor: String
    let topic: String
    let attempts: Int
    let reason: String
    /// `firstReceived` and `parkedAt` are times in milliseconds since 1970.
    let firstReceived: Double
    let parkedAt: Double
    let size: Int

    init(_ parked: ParkedMessage, of client: String) {
        self.client = client
        id = parked.id.rawValue
        processor = parked.processor.cut(RowJSON.textLimit)
        topic = parked.message.topic.cut(RowJSON.textLimit)
        attempts = parked.attempts
        reason = parked.reason.cut(1_000)
        firstReceived = parked.firstReceived.timeIntervalSince1970 * 1_000
        parkedAt = parked.parkedAt.timeIntervalSince1970 * 1_000
        size = parked.message.byteCount
    }
}

/// The result of retrying or removing a parked message, as JSON.
struct ParkedChangeJSON: Encodable, Sendable {
    /// False if the message is not parked any more.
    var isDone = false
    var error: String?
}
