import CourierCore
import MQTTCodec

extension ReasonCode {
    /// Creates the public reason code for a reason code in a packet.
    init(_ code: PacketReasonCode) { self.init(rawValue: code.rawValue) }
}

extension PacketReasonCode {
    /// Creates the MQTT 5 reason code for a CONNACK return code of an earlier MQTT version; `nil` if the return code is
    /// not a refusal. Some brokers respond to an MQTT 5 CONNECT with such a return code.
    init?(returnCode: UInt8) {
        switch returnCode {
        case 1: self = .unsupportedProtocolVersion
        case 2: self = .clientIdentifierNotValid
        case 3: self = .serverUnavailable
        case 4: self = .badUserNameOrPassword
        case 5: self = .notAuthorized
        default: return nil
        }
    }
}

extension PublishReceipt {
    /// Creates the receipt for a message that the broker accepted.
    init(_ code: PacketReasonCode, _ properties: PacketProperties) {
        self.init(reasonCode: ReasonCode(code), reasonString: properties.reasonString)
    }
}

extension PacketProperties {
    /// The broker's reason string as a part of a sentence, such as `, "no such user"`; empty if there is none. The
    /// string is quoted, because its text comes from the broker.
    var quotedReason: String { reasonString.map { ", \($0.quoted(limit: 200))" } ?? "" }
}
