/// Reads MQTT packets from the bytes of a connection, in place and in two steps.
///
/// ``nextFrame(in:at:)`` finds a whole packet and says how many bytes are missing where there is none. What is in the frame
/// is then read by ``publish(_:in:)`` or ``acknowledgement(_:in:)``, which copy and allocate nothing, or by
/// ``packet(_:in:)``, which makes a value that outlives the bytes.
///
/// ```swift
/// let decoder = PacketDecoder(version: .v5, sender: .server)
/// var offset = 0
/// while case .frame(let frame) = try decoder.nextFrame(in: bytes, at: offset) {
///     handle(try decoder.packet(frame, in: bytes))
///     offset = frame.end
/// }
/// // The bytes from `offset` on are the start of a packet: keep them, and read more behind them.
/// ```
///
/// A decoder has no memory of what it read, so it can be copied and used from any thread. It is as strict as the
/// specification, with one exception: the DUP flag of a QoS 0 PUBLISH from a server is ignored. What it refuses, it refuses
/// with a ``DecodeError``, and the connection must then be closed.
public struct PacketDecoder: Sendable {
    /// What a peer may make us read.
    public struct Limits: Hashable, Sendable {
        /// The size of the largest packet in bytes, fixed header included: 16 MiB by default.
        ///
        /// It is checked as soon as the fixed header is there, before anything is buffered.
        public var maximumPacketSize: Int

        /// How many properties one list may have: 256 by default. User properties have no limit in the specification.
        public var maximumProperties: Int

        /// How many filters a SUBSCRIBE or UNSUBSCRIBE may have: 8,192 by default. A filter of a few bytes takes many times
        /// as many in memory, so the size of the packet alone would not bound it.
        public var maximumFilters: Int

        /// Makes limits; see the properties for the defaults.
        public init(
            maximumPacketSize: Int = 16 * 1024 * 1024, maximumProperties: Int = 256, maximumFilters: Int = 8_192
        ) {
            self.maximumPacketSize = maximumPacketSize
            self.maximumProperties = maximumProperties
            self.maximumFilters = maximumFilters
        }
    }

    /// What is at an offset.
    public enum Next: Hashable, Sendable {
        /// At least this many more bytes, never 0, are needed to continue.
        case needsMore(Int)
        /// A whole packet.
        case frame(PacketFrame)
    }

    /// The version of MQTT that was agreed on.
    ///
    /// A CONNECT says its own, whatever stands here; only flags in its fixed header, which MQTT 3.1 leaves open, are
    /// tolerated no sooner than this is ``ProtocolVersion/v31``.
    public var version: ProtocolVersion
    /// The end of the connection that the bytes come from.
    public let sender: Endpoint
    /// What that end may make us read.
    public let limits: Limits

    /// Makes a decoder for the packets that `sender` sends in `version`.
    public init(version: ProtocolVersion, sender: Endpoint, limits: Limits = Limits()) {
        self.version = version
        self.sender = sender
        self.limits = limits
    }

    /// Looks for a whole packet that starts at `offset`.
    ///
    /// The type, the flags and the size are checked with the first bytes that show them, so that a packet which would be
    /// refused is not waited for.
    ///
    /// - Throws: ``DecodeError`` when the fixed header breaks the specification or a limit.
    public func nextFrame(in bytes: RawSpan, at offset: Int = 0) throws(DecodeError) -> Next {
        precondition(offset >= 0 && offset <= bytes.byteCount, "offset \(offset) is not in the bytes")
        return try bytes.withUnsafeBytes { bytes throws(DecodeError) in try frame(in: bytes, at: offset) }
    }

    /// Reads a PUBLISH in place; `frame` must be one, of these `bytes`.
    ///
    /// - Throws: ``DecodeError`` when the packet breaks the specification or a limit.
    public func publish(_ frame: PacketFrame, in bytes: RawSpan) throws(DecodeError) -> PublishView {
        precondition(frame.type == .publish, "\(frame.type) is no PUBLISH")
        return try bytes.withUnsafeBytes { bytes throws(DecodeError) in try publish(frame, in: bytes) }
    }

    /// Reads a PUBACK, PUBREC, PUBREL or PUBCOMP in place; `frame` must be one, of these `bytes`.
    ///
    /// - Throws: ``DecodeError`` when the packet breaks the specification or a limit.
    public func acknowledgement(_ frame: PacketFrame, in bytes: RawSpan) throws(DecodeError) -> AcknowledgementView {
        switch frame.type {
        case .pubAck, .pubRec, .pubRel, .pubComp: break
        default: preconditionFailure("\(frame.type) acknowledges no PUBLISH")
        }
        return try bytes.withUnsafeBytes { bytes throws(DecodeError) in try acknowledgement(frame, in: bytes) }
    }

    /// Copies the packet in `frame`, which must be of these `bytes`, out of them.
    ///
    /// - Throws: ``DecodeError`` when the packet breaks the specification or a limit.
    public func packet(_ frame: PacketFrame, in bytes: RawSpan) throws(DecodeError) -> Packet {
        try bytes.withUnsafeBytes { bytes throws(DecodeError) in
            var reader = ByteReader(frame, in: bytes)
            switch frame.type {
            case .connect:
                let connect = try Connect(from: &reader, self)
                // Only now it is known by which version's rules the fixed header goes.
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

    /// Calls `body` with each property of `range`, which a ``PublishView`` or ``AcknowledgementView`` of these `bytes` named.
    ///
    /// - Throws: ``DecodeError`` when the properties break the specification, which those that such a view named do not.
    public func forEachProperty(
        of frame: PacketFrame, in range: Range<Int>, of bytes: RawSpan, _ body: (PropertyView) -> Void
    ) throws(DecodeError) {
        try bytes.withUnsafeBytes { bytes throws(DecodeError) in
            let list = ByteReader(range, of: ByteReader(frame, in: bytes))
            var properties = PropertyReader(list, at: PropertyPlaces(frame.type), self)
            while let property = try properties.next() { body(property) }
        }
    }

    /// Copies the properties of `range`, which a ``PublishView`` or ``AcknowledgementView`` of these `bytes` named.
    ///
    /// - Throws: ``DecodeError`` when the properties break the specification, which those that such a view named do not.
    public func properties(
        of frame: PacketFrame, in range: Range<Int>, of bytes: RawSpan
    ) throws(DecodeError) -> PacketProperties {
        try bytes.withUnsafeBytes { bytes throws(DecodeError) in
            let list = ByteReader(range, of: ByteReader(frame, in: bytes))
            return try list.properties(in: range, at: PropertyPlaces(frame.type), self)
        }
    }
}

/// The same for whoever has entered the bytes already, and reads thousands of packets there.
///
/// Safe because these go by ``ByteReader`` like all others, which checks every offset against `bytes.count`.
extension PacketDecoder {
    /// Looks for a whole packet that starts at `start`, which is in `bytes` or at their end.
    package func frame(in bytes: UnsafeRawBufferPointer, at start: Int) throws(DecodeError) -> Next {
        precondition(start >= 0, "no offset is negative")
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

    /// Reads a PUBLISH in place; `frame` must be one, of these `bytes`.
    package func publish(_ frame: PacketFrame, in bytes: UnsafeRawBufferPointer) throws(DecodeError) -> PublishView {
        var reader = ByteReader(frame, in: bytes)
        return try PublishView(flags: frame.flags, from: &reader, self)
    }

    /// Reads a PUBACK, PUBREC, PUBREL or PUBCOMP in place; `frame` must be one, of these `bytes`.
    package func acknowledgement(
        _ frame: PacketFrame, in bytes: UnsafeRawBufferPointer
    ) throws(DecodeError) -> AcknowledgementView {
        var reader = ByteReader(frame, in: bytes)
        return try AcknowledgementView(from: &reader, self)
    }

    /// Reads the type from the first byte, and checks that the flags beside it are allowed and that `sender` may send it.
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

    /// The flags that are checked: MQTT 3.1 used DUP and QoS in headers where later versions reserve them.
    private var flagMask: UInt8 { version == .v31 ? 0 : 0x0F }
}
