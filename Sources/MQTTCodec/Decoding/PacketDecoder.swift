/// Decodes MQTT packets from the received bytes of a connection in two steps.
///
/// First, ``nextFrame(in:at:)`` finds a whole packet, or returns how many bytes are missing. Then ``publish(_:in:)`` or
/// ``acknowledgement(_:in:)`` reads the packet without copies or allocations. Alternatively, ``packet(_:in:)`` returns
/// a value that outlives the bytes.
///
/// ```swift
/// let decoder = PacketDecoder(version: .v5, sender: .server)
/// var offset = 0
/// while case .frame(let frame) = try decoder.nextFrame(in: bytes, at: offset) {
///     handle(try decoder.packet(frame, in: bytes))
///     offset = frame.end
/// }
/// // The bytes from `offset` on are the start of an incomplete packet: keep them, and append more received bytes.
/// ```
///
/// A decoder stores no state between packets, so it can be copied and used from any thread. It is as strict as the
/// specification, with one exception: the DUP flag of a QoS 0 PUBLISH from a server is ignored. After a
/// ``DecodeError``, the caller must close the connection.
public struct PacketDecoder: Sendable {
    /// The limits for packets from the peer.
    public struct Limits: Hashable, Sendable {
        /// The size of the largest accepted packet in bytes, including the fixed header. The default is 16 MiB.
        ///
        /// The size is checked as soon as the fixed header is complete, before the body is received.
        public var maximumPacketSize: Int

        /// The largest number of properties in one list. The default is 256. The specification sets no limit for user
        /// properties.
        public var maximumProperties: Int

        /// The largest number of filters in a SUBSCRIBE or UNSUBSCRIBE. The default is 8,192. A short filter needs much
        /// more memory than its bytes in the packet. So the packet size alone would not limit the memory.
        public var maximumFilters: Int

        /// Creates limits. The properties of this type describe the defaults.
        public init(
            maximumPacketSize: Int = 16 * 1024 * 1024, maximumProperties: Int = 256, maximumFilters: Int = 8_192
        ) {
            self.maximumPacketSize = maximumPacketSize
            self.maximumProperties = maximumProperties
            self.maximumFilters = maximumFilters
        }
    }

    /// The result of ``nextFrame(in:at:)``.
    public enum Next: Hashable, Sendable {
        /// The packet is incomplete. At least this many more bytes are needed; the number is never 0.
        case needsMore(Int)
        /// A whole packet.
        case frame(PacketFrame)
    }

    /// The MQTT version of the connection.
    ///
    /// A CONNECT packet contains its own version, and its body is decoded in that version. MQTT 3.1 does not define all
    /// flags of the fixed header. The decoder accepts undefined flags, even in a CONNECT, only if this property is
    /// ``ProtocolVersion/v31``.
    public var version: ProtocolVersion
    /// The end of the connection that sent the bytes.
    public let sender: Endpoint
    /// The limits for packets from the sender.
    public let limits: Limits

    /// Creates a decoder for the packets that `sender` sends in `version`.
    public init(version: ProtocolVersion, sender: Endpoint, limits: Limits = Limits()) {
        self.version = version
        self.sender = sender
        self.limits = limits
    }

    /// Returns the whole packet that starts at `offset`, or how many bytes are missing.
    ///
    /// The type, the flags and the size are checked as soon as their bytes are available. So an invalid packet is
    /// refused before its body is received.
    ///
    /// - Throws: ``DecodeError`` when the fixed header breaks the specification or a limit.
    public func nextFrame(in bytes: RawSpan, at offset: Int = 0) throws(DecodeError) -> Next {
        precondition(offset >= 0 && offset <= bytes.byteCount, "offset \(offset) is outside the bytes")
        return try bytes.withUnsafeBytes { bytes throws(DecodeError) in try frame(in: bytes, at: offset) }
    }

    /// Reads a PUBLISH without copying it. `frame` must be a PUBLISH frame that was found in the same `bytes`.
    ///
    /// - Throws: ``DecodeError`` when the packet breaks the specification or a limit.
    public func publish(_ frame: PacketFrame, in bytes: RawSpan) throws(DecodeError) -> PublishView {
        precondition(frame.type == .publish, "\(frame.type) is not a PUBLISH")
        return try bytes.withUnsafeBytes { bytes throws(DecodeError) in try publish(frame, in: bytes) }
    }

    /// Reads a PUBACK, PUBREC, PUBREL or PUBCOMP without copying it. `frame` must have one of these types and must have
    /// been found in the same `bytes`.
    ///
    /// - Throws: ``DecodeError`` when the packet breaks the specification or a limit.
    public func acknowledgement(_ frame: PacketFrame, in bytes: RawSpan) throws(DecodeError) -> AcknowledgementView {
        switch frame.type {
        case .pubAck, .pubRec, .pubRel, .pubComp: break
        default: preconditionFailure("\(frame.type) does not acknowledge a PUBLISH")
        }
        return try bytes.withUnsafeBytes { bytes throws(DecodeError) in try acknowledgement(frame, in: bytes) }
    }

    /// Decodes the packet in `frame` into a value with copies of the bytes. `frame` must come from the same `bytes`.
    ///
    /// - Throws: ``DecodeError`` when the packet breaks the specification or a limit.
    public func packet(_ frame: PacketFrame, in bytes: RawSpan) throws(DecodeError) -> Packet {
        try bytes.withUnsafeBytes { bytes throws(DecodeError) in
            var reader = ByteReader(frame, in: bytes)
            switch frame.type {
            case .connect:
                let connect = try Connect(from: &reader, self)
                // MQTT 5 requires the shortest form of the remaining length ([MQTT-1.5.5-1]). Check it here, because
                // the version is known only after the packet was read.
                if connect.version >= .v5, !frame.hasMinimalLength {
                    throw DecodeError(.variableByteIntegerNotMinimal, in: .connect, .remainingLength, at: 1)
                }
                return .connect(connect)
            case .connAck: return .connAck(try ConnAck(from: &reader, self))
            case .publish:
                let view = try PublishView(flags: frame.flags, from: &reader, self)
                return .publish(try Publish(view, from: reader, self))
            case .pubAck: return .pubAck(try Acknowledgement(from: &reader, self))
            case .pubRec: return .pubRec(try Acknowledgement(from: &reader, self))
            case .pubRel: return .pubRel(try Acknowledgement(from: &reader, self))
            case .pubComp: return .pubComp(try Acknowledgement(from: &reader, self))
            case .subscribe: return .subscribe(try Subscribe(from: &reader, self))
            case .subAck: return .subAck(try SubAck(from: &reader, self))
            case .unsubscribe: return .unsubscribe(try Unsubscribe(from: &reader, self))
            case .unsubAck: return .unsubAck(try UnsubAck(from: &reader, self))
            case .pingReq:
                try reader.finish()
                return .pingReq
            case .pingResp:
                try reader.finish()
                return .pingResp
            case .disconnect: return .disconnect(try Disconnect(from: &reader, self))
            case .auth: return .auth(try Auth(from: &reader, self))
            }
        }
    }

    /// Calls `body` with each property in `range`, the `properties` range of a ``PublishView`` or
    /// ``AcknowledgementView``.
    ///
    /// - Throws: ``DecodeError`` if the properties break the specification. A view has already checked its properties,
    ///   so the call never throws for the range of a view.
    public func forEachProperty(
        of frame: PacketFrame, in range: Range<Int>, of bytes: RawSpan, _ body: (PropertyView) -> Void
    ) throws(DecodeError) {
        try bytes.withUnsafeBytes { bytes throws(DecodeError) in
            let list = ByteReader(range, of: ByteReader(frame, in: bytes))
            var properties = PropertyReader(list, at: PropertyPlaces(frame.type), self)
            while let property = try properties.next() { body(property) }
        }
    }

    /// Copies the properties in `range`, the `properties` range of a ``PublishView`` or ``AcknowledgementView``.
    ///
    /// - Throws: ``DecodeError`` if the properties break the specification. A view has already checked its properties,
    ///   so the call never throws for the range of a view.
    public func properties(
        of frame: PacketFrame, in range: Range<Int>, of bytes: RawSpan
    ) throws(DecodeError) -> PacketProperties {
        try bytes.withUnsafeBytes { bytes throws(DecodeError) in
            let list = ByteReader(range, of: ByteReader(frame, in: bytes))
            return try list.properties(in: range, at: PropertyPlaces(frame.type), self)
        }
    }
}

/// Offers the functions that find and read packets for callers that have an unsafe pointer instead of a `RawSpan`, and
/// read thousands of packets.
///
/// These functions are memory-safe, because they also read with a ``ByteReader``, which checks every offset against
/// `bytes.count`.
extension PacketDecoder {
    /// Returns the whole packet that starts at `start`, or how many bytes are missing. `start` is at most
    /// `bytes.count`.
    package func frame(in bytes: UnsafeRawBufferPointer, at start: Int) throws(DecodeError) -> Next {
        precondition(start >= 0, "the offset is negative")
        let available = bytes.count &- start
        guard available >= 1 else { return .needsMore(2) }
        let type = try checkedType(bytes[start])
        switch VariableByteInteger.read(bytes, at: start &+ 1, end: bytes.count) {
        case .incomplete: return .needsMore(1)
        case .tooLong: throw DecodeError(.variableByteIntegerTooLong, in: type, .remainingLength, at: 1)
        case .value(let remainingLength, let lengthSize):
            let remainingLength = Int(remainingLength)
            if version >= .v5, type != .connect, lengthSize != VariableByteInteger.byteCount(remainingLength) {
                throw DecodeError(.variableByteIntegerNotMinimal, in: type, .remainingLength, at: 1)
            }
            let bodyStart = start &+ 1 &+ lengthSize
            let size = 1 &+ lengthSize &+ remainingLength
            guard size <= limits.maximumPacketSize else {
                throw DecodeError(
                    .packetTooLarge(size: size, limit: limits.maximumPacketSize), in: type, .remainingLength, at: 1)
            }
            if available < size { return .needsMore(size &- available) }
            return .frame(
                PacketFrame(
                    type: type, flags: bytes[start] & 0x0F, start: start, bodyStart: bodyStart,
                    end: bodyStart &+ remainingLength))
        }
    }

    /// Reads a PUBLISH without copying it. `frame` must be a PUBLISH frame that was found in the same `bytes`.
    package func publish(_ frame: PacketFrame, in bytes: UnsafeRawBufferPointer) throws(DecodeError) -> PublishView {
        var reader = ByteReader(frame, in: bytes)
        return try PublishView(flags: frame.flags, from: &reader, self)
    }

    /// Reads a PUBACK, PUBREC, PUBREL or PUBCOMP without copying it. `frame` must have one of these types and must have
    /// been found in the same `bytes`.
    package func acknowledgement(
        _ frame: PacketFrame, in bytes: UnsafeRawBufferPointer
    ) throws(DecodeError) -> AcknowledgementView {
        var reader = ByteReader(frame, in: bytes)
        return try AcknowledgementView(from: &reader, self)
    }

    /// Returns the packet type in the first byte. Throws if the flags are not allowed or `sender` may not send the
    /// type.
    @inline(__always)
    private func checkedType(_ byte: UInt8) throws(DecodeError) -> PacketType {
        guard let type = PacketType(rawValue: byte >> 4), type != .auth || version >= .v5 else {
            throw DecodeError(.reservedPacketType(byte >> 4), in: nil, .fixedHeader, at: 0)
        }
        guard type.maySend(sender, in: version) else { throw DecodeError(.wrongSender, in: type, .fixedHeader, at: 0) }
        if let required = type.requiredFlags, byte & 0x0F & flagMask != required & flagMask {
            throw DecodeError(.invalidFlags(byte & 0x0F), in: type, .fixedHeader, at: 0)
        }
        if type == .publish, let violation = violation(inPublishFlags: byte & 0x0F) {
            throw DecodeError(violation, in: type, .fixedHeader, at: 0)
        }
        return type
    }

    /// A mask of the fixed header flags that the decoder checks. In MQTT 3.1, no flags are checked, because its headers
    /// use DUP and QoS in bits that later versions reserve.
    private var flagMask: UInt8 { version == .v31 ? 0 : 0x0F }
}
