import CourierCore
import Foundation

/// A message on its way from the event loop to its readers: cheap to copy, decoded on the reader's side.
struct ReceivedMessage: Sendable {
    /// What few messages have.
    final class Extras: Sendable {
        let properties: MessageProperties
        let ticket: AcknowledgementTicket?

        init(properties: MessageProperties, ticket: AcknowledgementTicket?) {
            self.properties = properties
            self.ticket = ticket
        }
    }

    let topic: String
    let payload: PayloadSlice
    let qos: QoS
    let packetID: UInt16?
    let isRetained: Bool
    let isDuplicate: Bool
    let extras: Extras?

    /// The MIME type that came along, in MQTT 5.
    var contentType: String? { extras?.properties.contentType }

    /// The payload as an array of its own.
    var bytes: [UInt8] { payload.withBytes { Array($0) } }

    /// The payload as Foundation's data, a copy.
    var data: Data { payload.withBytes { Data($0) } }

    /// The same message with a payload of its own, which keeps no more memory than it needs.
    func detached() -> ReceivedMessage {
        ReceivedMessage(
            topic: topic, payload: payload.detached(), qos: qos, packetID: packetID, isRetained: isRetained,
            isDuplicate: isDuplicate, extras: extras)
    }

    /// The public form; `part` is the reader's part in its acknowledgement.
    func message(acknowledgedBy part: (any MessageAcknowledgement)? = nil) -> Message {
        Message(
            data: data, topic: topic, qos: qos, packetID: packetID, isRetained: isRetained, isDuplicate: isDuplicate,
            properties: extras?.properties ?? MessageProperties(), acknowledgement: part)
    }
}
