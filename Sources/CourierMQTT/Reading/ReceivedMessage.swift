import CourierCore
import Foundation

/// A message that the event loop passes to one reader. Copying this value is cheap. The payload is decoded only when
/// the reader takes the message.
struct ReceivedMessage: Sendable {
    let page: MessagePage
    let index: UInt32
    /// The highest serial number of a reader or session when the message arrived. Readers and sessions with a higher
    /// number began later; see ``MessageDistributor``.
    var arrival = 0
    /// The ticket that acknowledges the message; `nil` if this reader need not acknowledge it.
    let ticket: AcknowledgementTicket?

    var topic: String { page.topic(of: Int(index)) }
    var qos: QoS { page.entries[Int(index)].qos }
    /// The packet id; `nil` for QoS 0.
    var packetID: UInt16? {
        let id = page.entries[Int(index)].packetID
        return id == 0 ? nil : id
    }
    /// True if the broker marked the delivery as a repetition.
    var isDuplicate: Bool { page.entries[Int(index)].isDuplicate }
    var properties: MessageProperties { page.properties(of: Int(index)) }
    var isRetained: Bool { page.entries[Int(index)].isRetained }
    /// True if several readers received the message when it arrived.
    var isShared: Bool { page.entries[Int(index)].isShared }
    var byteCount: Int { Int(page.entries[Int(index)].byteCount) }

    /// The payload. It is copied if the message shares its page with other messages.
    var data: Data { page.data(of: Int(index)) }

    /// Calls `body` with the payload, without a copy.
    func withPayload<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try page.withPayload(of: Int(index), body)
    }

    /// A copy of the message that keeps no other message in memory.
    func detached() -> ReceivedMessage {
        page.entries.count == 1
            ? self
            : ReceivedMessage(page: page.extracting(index), index: 0, arrival: arrival, ticket: ticket)
    }

    /// Returns the message with another ticket, the object that acknowledges the message. With `nil`, the returned
    /// message needs no acknowledgement.
    func ticketed(_ ticket: AcknowledgementTicket?) -> ReceivedMessage {
        ReceivedMessage(page: page, index: index, arrival: arrival, ticket: ticket)
    }

    /// True if the client must keep the message when its reader ends without reading it. Either the message must be
    /// acknowledged, or it has QoS 1 or 2 and only this reader.
    var isWorthKeeping: Bool {
        if ticket != nil { return true }
        let entry = page.entries[Int(index)]
        return entry.qos != .zero && !entry.isShared
    }

    /// Acknowledges the message on behalf of this reader. Does nothing if the message needs no acknowledgement, because
    /// `ticket` is `nil`.
    func acknowledge() { if let ticket { AcknowledgementPart(ticket).acknowledge() } }

    /// Makes the message for the app. `part` acknowledges the message on behalf of this reader.
    func message(acknowledgedBy part: AcknowledgementPart? = nil) -> Message {
        Message(page, index, acknowledgement: part)
    }
}
