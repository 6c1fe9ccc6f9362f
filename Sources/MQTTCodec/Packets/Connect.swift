/// CONNECT: the first packet that a client sends on a connection.
public struct Connect: Hashable, Sendable {
    /// The message that the server publishes when the connection ends without a normal DISCONNECT.
    public struct Will: Hashable, Sendable {
        /// The topic name on which the will is published, without wildcards.
        public var topic: String
        /// The payload of the will, at most 65,535 bytes.
        public var payload: [UInt8]
        /// The QoS at which the will is published.
        public var qos: PacketQoS
        /// True if the server stores the will as a retained message.
        public var isRetained: Bool
        /// The properties of the will; none before MQTT 5.
        public var properties: PacketProperties

        /// Creates a will, by default with QoS 0, not retained and without properties.
        public init(
            topic: String, payload: [UInt8], qos: PacketQoS = .atMostOnce, isRetained: Bool = false,
            properties: PacketProperties = []
        ) {
            self.topic = topic
            self.payload = payload
            self.qos = qos
            self.isRetained = isRetained
            self.properties = properties
        }
    }

    /// The MQTT version that the client requests.
    public var version: ProtocolVersion
    /// The client identifier. If it is empty, the server chooses an identifier. The version and ``isCleanStart``
    /// determine whether it may be empty.
    public var clientID: String
    /// True if the server must discard an existing session. Before MQTT 5, this flag is called clean session.
    public var isCleanStart: Bool
    /// The keep-alive: the client sends PINGREQ after this many seconds without a packet. 0 means never.
    public var keepAlive: UInt16
    /// The user name; `nil` for none.
    public var username: String?
    /// The password; `nil` for none. Before MQTT 5, a password requires a user name.
    public var password: SecretBytes?
    /// The will; `nil` for none.
    public var will: Will?
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates a CONNECT, by default with a clean start and a keep-alive of 60 seconds.
    public init(
        version: ProtocolVersion, clientID: String, isCleanStart: Bool = true, keepAlive: UInt16 = 60,
        username: String? = nil, password: SecretBytes? = nil, will: Will? = nil, properties: PacketProperties = []
    ) {
        self.version = version
        self.clientID = clientID
        self.isCleanStart = isCleanStart
        self.keepAlive = keepAlive
        self.username = username
        self.password = password
        self.will = will
        self.properties = properties
    }
}

/// The bits of the connect flags byte ([MQTT-3.1.2-3]).
private enum ConnectFlags {
    static let reserved: UInt8 = 0x01
    static let cleanStart: UInt8 = 0x02
    static let will: UInt8 = 0x04
    static let willQoSShift: UInt8 = 3
    static let willQoSMask: UInt8 = 0x18
    static let willRetain: UInt8 = 0x20
    static let password: UInt8 = 0x40
    static let username: UInt8 = 0x80
}

extension Connect {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        version = try Self.version(from: &reader)
        var decoder = decoder
        decoder.version = version

        let flagsStart = reader.offset
        let flags = try reader.byte(.connectFlags)
        let willQoS = try Self.checkedWillQoS(flags, version) {
            reader.error($0, .connectFlags, at: flagsStart)
        }
        isCleanStart = flags & ConnectFlags.cleanStart != 0
        keepAlive = try reader.uint16(.keepAlive)
        properties = try reader.properties(at: .connect, decoder)

        let clientIDStart = reader.offset
        clientID = reader.string(try reader.text(.clientID))
        // MQTT 3.1 never allows an empty identifier. MQTT 3.1.1 allows it only with clean session: section 3.1.3.1,
        // [MQTT-3.1.3-7] and [MQTT-3.1.3-8].
        if clientID.isEmpty, version == .v31 || (version == .v311 && !isCleanStart) {
            throw reader.error(.emptyClientID, .clientID, at: clientIDStart)
        }
        if flags & ConnectFlags.will != 0 {
            let properties = try reader.properties(at: .will, decoder)
            let topic = reader.string(try reader.topicName(.willTopic))
            will = Will(
                topic: topic, payload: reader.array(try reader.binary(.willPayload)), qos: willQoS,
                isRetained: flags & ConnectFlags.willRetain != 0, properties: properties)
        }
        if flags & ConnectFlags.username != 0, !reader.mayOmitCredential(version) {
            username = reader.string(try reader.text(.username))
        }
        if flags & ConnectFlags.password != 0, !reader.mayOmitCredential(version) {
            password = SecretBytes(reader.array(try reader.binary(.password)))
        }
        try reader.finish()
    }

    private static func version(from reader: inout ByteReader) throws(DecodeError) -> ProtocolVersion {
        let nameStart = reader.offset
        let name = reader.string(try reader.text(.protocolName))
        guard ProtocolVersion.allCases.contains(where: { $0.protocolName == name }) else {
            throw reader.error(.unknownProtocolName, .protocolName, at: nameStart)
        }
        let level = try reader.byte(.protocolVersion)
        guard let version = ProtocolVersion(rawValue: level), version.protocolName == name else {
            throw reader.error(.unsupportedProtocolVersion(level), .protocolVersion, at: reader.offset - 1)
        }
        return version
    }

    private static func checkedWillQoS(
        _ flags: UInt8, _ version: ProtocolVersion, _ error: (Violation) -> DecodeError
    ) throws(DecodeError) -> PacketQoS {
        if flags & ConnectFlags.reserved != 0, version > .v31 { throw error(.reservedConnectFlag) }
        guard let qos = PacketQoS(rawValue: (flags & ConnectFlags.willQoSMask) >> ConnectFlags.willQoSShift) else {
            throw error(.invalidWillQoS)
        }
        if flags & ConnectFlags.will == 0, qos != .atMostOnce || flags & ConnectFlags.willRetain != 0 {
            throw error(.willFlagsWithoutWill)
        }
        if version < .v5, flags & ConnectFlags.password != 0, flags & ConnectFlags.username == 0 {
            throw error(.passwordWithoutUsername)
        }
        return qos
    }
}

extension ByteReader {
    /// True if the packet ends before a user name or password that its flags announce. Only MQTT 3.1 allows this.
    /// Section 3.1 of that version says that the remaining length takes precedence over the flags.
    fileprivate func mayOmitCredential(_ version: ProtocolVersion) -> Bool { version == .v31 && remaining == 0 }
}

extension Connect: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        var fields = fields
        fields.version = version
        if version < .v5, password != nil, username == nil { throw fields.error(.passwordWithoutUsername, .password) }
        if clientID.isEmpty, version == .v31 || (version == .v311 && !isCleanStart) {
            throw fields.error(.emptyClientID, .clientID)
        }
        try fields.text(version.protocolName, .protocolName, into: &buffer)
        buffer.append(version.rawValue)
        buffer.append(flags)
        buffer.append(keepAlive)
        try fields.properties(properties, at: .connect, into: &buffer)
        try fields.text(clientID, .clientID, into: &buffer)
        if let will {
            try fields.properties(will.properties, at: .will, into: &buffer)
            try fields.topicName(will.topic, .willTopic, into: &buffer)
            try fields.binary(will.payload, .willPayload, into: &buffer)
        }
        if let username { try fields.text(username, .username, into: &buffer) }
        if let password { try fields.binary(password.bytes, .password, into: &buffer) }
    }

    private var flags: UInt8 {
        var flags: UInt8 = 0
        if isCleanStart { flags |= ConnectFlags.cleanStart }
        if let will {
            flags |= ConnectFlags.will | will.qos.rawValue << ConnectFlags.willQoSShift
            if will.isRetained { flags |= ConnectFlags.willRetain }
        }
        if username != nil { flags |= ConnectFlags.username }
        if password != nil { flags |= ConnectFlags.password }
        return flags
    }
}
