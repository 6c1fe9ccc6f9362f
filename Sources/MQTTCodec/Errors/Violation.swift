/// A rule that a packet breaks. Decode errors and encode errors use the same rules.
public enum Violation: Hashable, Sendable {
    // Violations in the fixed header:

    /// A packet type that this version of MQTT reserves.
    case reservedPacketType(UInt8)
    /// Flags in the fixed header that the packet type does not allow ([MQTT-2.1.3-1]).
    case invalidFlags(UInt8)
    /// A packet that only the other end of the connection may send.
    case wrongSender
    /// A variable byte integer with more than four bytes, or above 268,435,455.
    case variableByteIntegerTooLong
    /// A variable byte integer that is not in its shortest form ([MQTT-1.5.5-1]).
    case variableByteIntegerNotMinimal
    /// A packet that is larger than the limit.
    case packetTooLarge(size: Int, limit: Int)

    // Violations that may occur in any field:

    /// A field that extends beyond the end of its packet or property list.
    case truncated
    /// Bytes after the last field of the packet. The value is the number of these bytes.
    case trailingBytes(Int)
    /// A field with more than 65,535 bytes, which is the maximum of its two-byte length.
    case fieldTooLong(Int)
    /// Text that is not well-formed UTF-8 ([MQTT-1.5.4-1]).
    case malformedUTF8
    /// Text with the character U+0000 ([MQTT-1.5.4-2]).
    case nullCharacter
    /// Packet id 0 ([MQTT-2.2.1-3]).
    case packetIDZero
    /// A reason code that does not exist or is not allowed in this packet.
    case invalidReasonCode(UInt8)
    /// A feature that only a later version of MQTT has.
    case notInThisVersion

    // Violations in topic names and topic filters:

    /// An empty topic name or filter ([MQTT-4.7.3-1]).
    case emptyTopic
    /// An empty topic name without a topic alias.
    case emptyTopicWithoutAlias
    /// A `+` or `#` in a topic name ([MQTT-3.3.2-2]).
    case wildcardInTopicName
    /// A `#` that is not the whole last level of a filter ([MQTT-4.7.1-1]).
    case misplacedMultiLevelWildcard
    /// A `+` that is not a whole level of a filter ([MQTT-4.7.1-2]).
    case misplacedSingleLevelWildcard
    /// A `$share/` filter without a group name or without a filter after the group ([MQTT-4.8.2-1], [MQTT-4.8.2-2]).
    case invalidSharedFilter

    // Violations in CONNECT and CONNACK:

    /// A protocol name that is neither `MQTT` nor `MQIsdp` ([MQTT-3.1.2-1]).
    case unknownProtocolName
    /// An MQTT version that this module does not support ([MQTT-3.1.2-2]).
    case unsupportedProtocolVersion(UInt8)
    /// The reserved bit of the connect flags is set ([MQTT-3.1.2-3]).
    case reservedConnectFlag
    /// A will with QoS 3, which does not exist ([MQTT-3.1.2-12]).
    case invalidWillQoS
    /// A will QoS or will retain flag without a will ([MQTT-3.1.2-11], [MQTT-3.1.2-13]).
    case willFlagsWithoutWill
    /// A password without a user name, which only MQTT 5 allows ([MQTT-3.1.2-22] of 3.1.1).
    case passwordWithoutUsername
    /// An empty client identifier where it is not allowed, for example in a CONNECT without clean session
    /// ([MQTT-3.1.3-8] of 3.1.1).
    case emptyClientID
    /// A reserved bit of the acknowledge flags is set ([MQTT-3.2.2-1]).
    case reservedAcknowledgeFlags
    /// A CONNACK that refuses the connection and also reports a present session ([MQTT-3.2.2-6]).
    case sessionPresentInRefusal
    /// An MQTT 3 CONNACK in response to an MQTT 5 CONNECT. This reply means that the server does not support MQTT 5.
    /// The value is the return code in the CONNACK.
    case connAckOfOlderVersion(UInt8)

    // Violations in PUBLISH, SUBSCRIBE, UNSUBSCRIBE and their acknowledgements:

    /// A PUBLISH with QoS 3 ([MQTT-3.3.1-4]).
    case invalidQoS
    /// A subscription with QoS 3 (3.8.3.1, [MQTT-3.8.3-4] of 3.1.1).
    case invalidRequestedQoS
    /// The DUP flag on a QoS 0 PUBLISH from a client ([MQTT-3.3.1-2]). A server's DUP flag is ignored.
    case duplicateFlagOnQoS0
    /// Reserved bits of the subscription options are set ([MQTT-3.8.3-5]).
    case reservedSubscriptionOptions
    /// A subscription with retain handling 3, which does not exist.
    case invalidRetainHandling
    /// A shared subscription with the no-local option ([MQTT-3.8.3-4]).
    case noLocalOnSharedSubscription
    /// A SUBSCRIBE or UNSUBSCRIBE without filters ([MQTT-3.8.3-2], [MQTT-3.10.3-2]), or a SUBACK or UNSUBACK without
    /// reason codes.
    case noEntries

    // Violations in properties:

    /// A property identifier that MQTT 5 does not define.
    case unknownProperty(UInt32)
    /// A property that is not allowed in this packet (MQTT 5.0, section 2.2.2.2).
    case propertyNotAllowed(PropertyID)
    /// A property that only the other end of the connection may send in this packet ([MQTT-3.3.4-6], [MQTT-3.14.2-2]).
    case propertyOfOtherEnd(PropertyID)
    /// A property that is repeated although it may occur only once.
    case duplicateProperty(PropertyID)
    /// A property with a value that is not allowed.
    case invalidPropertyValue(PropertyID)
    /// A property list with more properties than the limit.
    case tooManyProperties(limit: Int)
    /// A packet with more filters than the limit.
    case tooManyFilters(limit: Int)
    /// Authentication data without an authentication method.
    case authenticationDataWithoutMethod
    /// An AUTH packet without an authentication method.
    case missingAuthenticationMethod
}

extension Violation {
    /// The MQTT 5 reason code to send to a peer whose packet has this violation.
    public var reasonCode: PacketReasonCode {
        switch self {
        case .reservedPacketType, .invalidFlags, .variableByteIntegerTooLong, .variableByteIntegerNotMinimal,
            .truncated, .trailingBytes, .fieldTooLong, .malformedUTF8, .nullCharacter, .emptyTopic,
            .wildcardInTopicName, .misplacedMultiLevelWildcard, .misplacedSingleLevelWildcard, .invalidSharedFilter,
            .reservedConnectFlag, .invalidWillQoS, .willFlagsWithoutWill, .passwordWithoutUsername,
            .reservedAcknowledgeFlags, .invalidQoS, .reservedSubscriptionOptions, .unknownProperty,
            .propertyNotAllowed:
            .malformedPacket
        case .wrongSender, .packetIDZero, .invalidReasonCode, .notInThisVersion, .emptyTopicWithoutAlias,
            .sessionPresentInRefusal, .connAckOfOlderVersion, .duplicateFlagOnQoS0, .invalidRequestedQoS,
            .invalidRetainHandling, .noLocalOnSharedSubscription, .noEntries, .propertyOfOtherEnd, .duplicateProperty,
            .authenticationDataWithoutMethod, .missingAuthenticationMethod:
            .protocolError
        // An invalid topic alias has its own reason code (MQTT 5.0, section 3.3.2.3.4).
        case .invalidPropertyValue(let id): id == .topicAlias ? .topicAliasInvalid : .protocolError
        case .packetTooLarge: .packetTooLarge
        case .tooManyProperties, .tooManyFilters: .quotaExceeded
        case .unknownProtocolName, .unsupportedProtocolVersion: .unsupportedProtocolVersion
        case .emptyClientID: .clientIdentifierNotValid
        }
    }
}

extension Violation: CustomStringConvertible {
    /// The last part of an error message. This part follows the names of the packet and the field.
    public var description: String {
        switch self {
        case .reservedPacketType(let type): "packet type \(type) is reserved"
        case .invalidFlags(let flags): "flags 0x\(String(flags, radix: 16)) are not allowed"
        case .wrongSender: "the sender may not send this packet; only the other end of the connection may"
        case .variableByteIntegerTooLong: "the length has more than four bytes"
        case .variableByteIntegerNotMinimal: "the length has more bytes than it needs"
        case .packetTooLarge(let size, let limit): "\(size) bytes are more than the limit of \(limit)"
        case .truncated: "the field is longer than the rest of the packet"
        case .trailingBytes(let count): "\(count) bytes follow the last field"
        case .fieldTooLong(let count): "\(count) bytes are more than the limit of 65535"
        case .malformedUTF8: "the text is not well-formed UTF-8"
        case .nullCharacter: "the text has the character U+0000"
        case .packetIDZero: "0 is not a valid packet id"
        case .invalidReasonCode(let code): "code 0x\(String(code, radix: 16)) is not allowed here"
        case .notInThisVersion: "this version of MQTT has no such field or value"
        case .emptyTopic: "an empty topic is not allowed"
        case .emptyTopicWithoutAlias: "an empty topic is allowed only with a topic alias"
        case .wildcardInTopicName: "a topic name may not contain + or #"
        case .misplacedMultiLevelWildcard: "# must be the whole last level"
        case .misplacedSingleLevelWildcard: "+ must be a whole level"
        case .invalidSharedFilter: "$share/ must be followed by a group name, / and a filter"
        case .unknownProtocolName: "the protocol name is neither MQTT nor MQIsdp"
        case .unsupportedProtocolVersion(let level): "version \(level) is not supported"
        case .reservedConnectFlag: "the reserved bit is set"
        case .invalidWillQoS: "will QoS 3 does not exist"
        case .willFlagsWithoutWill: "will QoS or retain is set without a will"
        case .passwordWithoutUsername: "before MQTT 5, a password needs a user name"
        case .emptyClientID: "an empty client identifier cannot have a stored session"
        case .reservedAcknowledgeFlags: "a reserved bit is set"
        case .sessionPresentInRefusal: "a refused connection cannot have a session"
        case .connAckOfOlderVersion(let code): "the server answered in MQTT 3 with return code \(code)"
        case .invalidQoS, .invalidRequestedQoS: "QoS 3 does not exist"
        case .duplicateFlagOnQoS0: "DUP is set at QoS 0"
        case .reservedSubscriptionOptions: "a reserved bit is set"
        case .invalidRetainHandling: "retain handling 3 does not exist"
        case .noLocalOnSharedSubscription: "no-local is not allowed on a shared subscription"
        case .noEntries: "the list of entries is empty"
        case .unknownProperty(let id): "property 0x\(String(id, radix: 16)) does not exist"
        case .propertyNotAllowed(let id): "property \(id) is not allowed here"
        case .propertyOfOtherEnd(let id):
            "the sender may not send property \(id) here; only the other end of the connection may"
        case .duplicateProperty(let id): "property \(id) occurs twice"
        case .invalidPropertyValue(let id): "property \(id) may not have this value"
        case .tooManyProperties(let limit): "there are more than \(limit) properties"
        case .tooManyFilters(let limit): "there are more than \(limit) filters"
        case .authenticationDataWithoutMethod: "authentication data needs an authentication method"
        case .missingAuthenticationMethod: "the authentication method is missing"
        }
    }
}
