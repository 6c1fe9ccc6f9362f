import CourierCore
import MQTTCodec

extension ReasonCode {
    /// The public form of a code on the wire.
    init(_ code: PacketReasonCode) { self.init(rawValue: code.rawValue) }
}

extension PublishReceipt {
    /// The broker's word on a message that it took.
    init(_ code: PacketReasonCode, _ properties: PacketProperties) {
        self.init(reasonCode: ReasonCode(code), reasonString: properties.reasonString)
    }
}

extension PacketProperties {
    /// What the broker added in words, ready to stand in a sentence: `, "no such user"`, or nothing. Quoted, because it
    /// is foreign text.
    var quotedReason: String { reasonString.map { ", \($0.quoted(limit: 200))" } ?? "" }
}
