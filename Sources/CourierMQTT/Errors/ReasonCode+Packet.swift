import CourierCore
import MQTTCodec

extension ReasonCode {
    /// The public form of a code on the wire.
    init(_ code: PacketReasonCode) { self.init(rawValue: code.rawValue) }
}

extension PacketReasonCode {
    /// The refusal for a return code of CONNACK before MQTT 5. Some brokers answer a CONNECT of MQTT 5 with such a code. `nil` if
    /// it is not a refusal.
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
    /// The broker's answer to a message that it took.
    init(_ code: PacketReasonCode, _ properties: PacketProperties) {
        self.init(reasonCode: ReasonCode(code), reasonString: properties.reasonString)
    }
}

extension PacketProperties {
    /// The broker's reason string for a sentence: `, "no such user"`, or empty. It is quoted, because it is foreign text.
    var quotedReason: String { reasonString.map { ", \($0.quoted(limit: 200))" } ?? "" }
}
