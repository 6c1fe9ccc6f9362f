/// The reason why an app rejects a received message; see ``Message/reject(_:)``.
///
/// The cases are the failure codes that MQTT 5 allows in PUBACK and PUBREC (Tables 3-4 and 3-5). Code 0x91 (packet id
/// in use) is missing, because apps do not choose packet ids.
public enum NegativeAcknowledgement: UInt8, CaseIterable, Hashable, Sendable {
    /// 0x80: no other case describes the reason.
    case unspecifiedError = 0x80
    /// 0x83: the message is valid, but this app does not accept it.
    case implementationSpecificError = 0x83
    /// 0x87: the sender is not allowed to publish the message.
    case notAuthorized = 0x87
    /// 0x90: the app does not accept the topic.
    case topicNameInvalid = 0x90
    /// 0x97: a limit of the app is reached.
    case quotaExceeded = 0x97
    /// 0x99: the payload does not have the declared format.
    case payloadFormatInvalid = 0x99

    /// The code as a ``ReasonCode``.
    public var reasonCode: ReasonCode { ReasonCode(rawValue: rawValue) }
}
