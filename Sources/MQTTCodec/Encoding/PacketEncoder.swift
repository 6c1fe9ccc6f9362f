/// Encodes MQTT packets into a ``PacketBuffer``.
///
/// An encoder throws an ``EncodeError`` for a packet that a ``PacketDecoder`` would refuse. Then the buffer is
/// unchanged. An encoder stores no state between packets, so it can be copied and used from any thread.
///
/// ```swift
/// let encoder = PacketEncoder(version: .v5, sender: .client)
/// var buffer = PacketBuffer()
/// let subscription = Subscription("a/+", qos: .atLeastOnce)
/// try encoder.encode(.subscribe(Subscribe(packetID: 1, subscriptions: [subscription])), into: &buffer)
/// try encoder.encodePublish(topic: "a/b", payload: bytes.span.bytes, into: &buffer)
/// ```
public struct PacketEncoder: Sendable {
    /// The size of the largest possible MQTT packet, including the fixed header: 268,435,460 bytes.
    public static let largestPacketSize = 268_435_460

    /// The MQTT version of the connection. A CONNECT packet is encoded in the version that the packet itself contains.
    public var version: ProtocolVersion
    /// The end of the connection that sends the packets.
    public let sender: Endpoint
    /// The size of the largest packet that the peer accepts, including the fixed header. The default is
    /// ``largestPacketSize``.
    public var maximumPacketSize: Int

    /// Creates an encoder for the packets that `sender` sends in `version`.
    public init(
        version: ProtocolVersion, sender: Endpoint, maximumPacketSize: Int = PacketEncoder.largestPacketSize
    ) {
        self.version = version
        self.sender = sender
        self.maximumPacketSize = maximumPacketSize
    }

    /// Appends `packet` to `buffer`.
    ///
    /// - Throws: ``EncodeError`` if the packet breaks the specification, uses a feature that this version does not
    ///   have, or is larger than ``maximumPacketSize``.
    public func encode(_ packet: Packet, into buffer: inout PacketBuffer) throws(EncodeError) {
        switch packet {
        case .publish(let publish):
            try publish.payload.withBytes { payload throws(EncodeError) in
                try encodePublish(
                    topic: publish.topic, payload: payload, delivery: publish.delivery,
                    isRetained: publish.isRetained, properties: publish.properties, into: &buffer)
            }
        case .connect(let connect): try write(connect, .connect, into: &buffer)
        case .connAck(let connAck): try write(connAck, .connAck, into: &buffer)
        case .pubAck(let acknowledgement): try write(acknowledgement, .pubAck, into: &buffer)
        case .pubRec(let acknowledgement): try write(acknowledgement, .pubRec, into: &buffer)
        case .pubRel(let acknowledgement): try write(acknowledgement, .pubRel, into: &buffer)
        case .pubComp(let acknowledgement): try write(acknowledgement, .pubComp, into: &buffer)
        case .subscribe(let subscribe): try write(subscribe, .subscribe, into: &buffer)
        case .subAck(let subAck): try write(subAck, .subAck, into: &buffer)
        case .unsubscribe(let unsubscribe): try write(unsubscribe, .unsubscribe, into: &buffer)
        case .unsubAck(let unsubAck): try write(unsubAck, .unsubAck, into: &buffer)
        case .pingReq: try write(EmptyBody(), .pingReq, into: &buffer)
        case .pingResp: try write(EmptyBody(), .pingResp, into: &buffer)
        case .disconnect(let disconnect): try write(disconnect, .disconnect, into: &buffer)
        case .auth(let auth): try write(auth, .auth, into: &buffer)
        }
    }

    /// Appends a successful PUBACK, PUBREC, PUBREL or PUBCOMP, in the four-byte form that is valid in every MQTT
    /// version.
    ///
    /// - Precondition: `type` is one of these four types.
    public func encodeSuccess(_ type: PacketType, _ packetID: PacketID, into buffer: inout PacketBuffer) {
        switch type {
        case .pubAck, .pubRec, .pubRel, .pubComp: break
        default: preconditionFailure("\(type) does not acknowledge a PUBLISH")
        }
        buffer.reserve(4)
        buffer.append(type.rawValue << 4 | (type.requiredFlags ?? 0))
        buffer.append(2 as UInt8)
        buffer.append(packetID.rawValue)
    }
}

/// The body of a packet other than PUBLISH: all bytes after the fixed header.
protocol PacketBody {
    /// Writes the body. The encoder writes the fixed header and checks the size limit.
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError)
}

/// The body of PINGREQ and PINGRESP.
private struct EmptyBody: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) {}
}

extension PacketEncoder {
    /// Writes a whole packet. If an error is thrown, the buffer is unchanged.
    private func write(
        _ body: some PacketBody, _ type: PacketType, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        let start = buffer.position
        do throws(EncodeError) {
            if type == .auth, version < .v5 { throw EncodeError(.notInThisVersion, in: type, .fixedHeader) }
            guard type.maySend(sender, in: version) else { throw EncodeError(.wrongSender, in: type, .fixedHeader) }
            buffer.append(type.rawValue << 4 | (type.requiredFlags ?? 0))
            let bodyStart = buffer.position
            try body.write(to: &buffer, FieldWriter(packet: type, version: version, sender: sender))
            let bodySize = buffer.byteCount(since: bodyStart)
            try checkSize(bodySize, of: type)
            buffer.insert(variableByteInteger: bodySize, at: bodyStart)
        } catch {
            buffer.truncate(to: start)
            throw error
        }
    }

    /// Throws an error if a packet with a body of `bodySize` bytes is larger than MQTT allows or the peer accepts.
    @inline(__always)
    func checkSize(_ bodySize: Int, of type: PacketType) throws(EncodeError) {
        let size = 1 + VariableByteInteger.byteCount(bodySize) + bodySize
        let limit = min(maximumPacketSize, Self.largestPacketSize)
        guard size <= limit else {
            throw EncodeError(.packetTooLarge(size: size, limit: limit), in: type, .remainingLength)
        }
    }
}
