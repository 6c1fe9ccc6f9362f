public import MQTTCodec

/// The reason why a received packet ends the connection.
enum Fault: Error {
    case malformed(DecodeError)
    case protocolError(ProtocolError)
}

/// A received PUBACK, PUBREC or PUBCOMP, with a copy of its properties.
struct AcknowledgementResult {
    let packetID: PacketID
    let code: PacketReasonCode
    let properties: PacketProperties
}

/// Processes received bytes.
extension ClientEngine {
    /// The number of actions after which ``received(_:now:into:_:)`` returns, so that the caller performs these
    /// actions. With this limit, the list of actions fits into the processor's cache.
    public static let actionsPerCall = 256

    /// Processes the complete packets in `bytes`, and returns the number of bytes that were consumed.
    ///
    /// If the call consumed some bytes, the caller must pass the remaining bytes at once, because the call ends after
    /// ``actionsPerCall`` actions. If the call consumed no bytes, the caller waits for more bytes.
    ///
    /// Messages in `actions` refer to `bytes`, so read the messages before the bytes change. After the connection's
    /// ``EngineAction/close(_:)``, all bytes are consumed and ignored.
    public mutating func received(
        _ bytes: RawSpan, now: Instant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) -> Int {
        // Get the unsafe bytes once for all packets. Only the decoder parses the bytes, and the decoder checks the
        // bounds of every read.
        bytes.withUnsafeBytes { received($0, now: MonotonicInstant(now), into: &buffer, &actions) }
    }

    private mutating func received(
        _ bytes: UnsafeRawBufferPointer, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) -> Int {
        if isSkipping {
            return isConnected ? skip(atMost: bytes.count, now: now, into: &buffer, &actions) : bytes.count
        }
        var offset = 0
        let enough = actions.count + Self.actionsPerCall
        let first = actions.messages.count
        do throws(Fault) {
            while actions.count < enough {
                switch phase {
                case .idle, .closing: return bytes.count
                case .connecting, .connected: break
                }
                guard let frame = try nextFrame(in: bytes, at: offset) else { break }
                guard try received(frame, in: bytes, now: now, behind: first, into: &buffer, &actions) else { break }
                offset = frame.end
            }
        } catch {
            do throws(Fault) {
                guard let size = skippableSize(error) else { throw error }
                // If other packets precede this packet, return first. The caller handles their actions, and then passes
                // this packet again.
                if offset == 0 { return try beginSkipping(packetSize: size, in: bytes) }
            } catch {
                fail(error, into: &buffer, &actions)
                return bytes.count
            }
        }
        if isConnected { pump(now: now, into: &buffer, &actions) }
        return offset
    }

    /// Returns the topic name of a message that contains only a topic alias; `nil` if the message contains the topic
    /// name.
    public func aliasedTopic(of message: IncomingMessage) -> [UInt8]? {
        guard message.view.topic.isEmpty, let alias = message.view.topicAlias else { return nil }
        return link.incomingAliases.topic(of: alias)
    }

    private func nextFrame(in bytes: UnsafeRawBufferPointer, at offset: Int) throws(Fault) -> PacketFrame? {
        do throws(DecodeError) {
            if case .frame(let frame) = try link.decoder.frame(in: bytes, at: offset) { return frame }
            return nil
        } catch {
            throw .malformed(error)
        }
    }

    private mutating func fail(_ fault: Fault, into buffer: inout PacketBuffer, _ actions: inout ActionList) {
        switch fault {
        case .malformed(let error): fail(.malformedPacket(error), error.reasonCode, into: &buffer, &actions)
        case .protocolError(let error): fail(.protocolError(error), error.reasonCode, into: &buffer, &actions)
        }
    }

    /// Processes a packet. Returns `false` if the caller must read the messages in `actions` from index `first` on, and
    /// then pass this packet again.
    private mutating func received(
        _ frame: PacketFrame, in bytes: UnsafeRawBufferPointer, now: MonotonicInstant, behind first: Int,
        into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) throws(Fault) -> Bool {
        guard isConnected else {
            try receivedFirst(frame, in: bytes, now: now, into: &buffer, &actions)
            return true
        }
        switch frame.type {
        case .publish:
            return try receivedPublish(frame, in: bytes, now: now, behind: first, into: &buffer, &actions)
        case .pubAck: try receivedPubAck(acknowledgement(frame, in: bytes), &actions)
        case .pubRec: try receivedPubRec(acknowledgement(frame, in: bytes), now: now, into: &buffer, &actions)
        case .pubComp: try receivedPubComp(acknowledgement(frame, in: bytes), now: now, into: &buffer, &actions)
        case .pubRel: try receivedPubRel(acknowledgement(frame, in: bytes), now: now, into: &buffer, &actions)
        case .subAck, .unsubAck, .pingResp, .disconnect, .auth, .connAck, .connect, .subscribe, .unsubscribe, .pingReq:
            try receivedRare(packet(frame, in: bytes), now: now, &actions)
        }
        return true
    }

    /// Processes the packet types that arrive rarely.
    private mutating func receivedRare(
        _ packet: Packet, now: MonotonicInstant, _ actions: inout ActionList
    ) throws(Fault) {
        switch packet {
        case .subAck(let subAck): try received(subAck, &actions)
        case .unsubAck(let unsubAck): try received(unsubAck, &actions)
        case .pingResp: receivedPingResp(now: now, &actions)
        case .disconnect(let disconnect): close(.disconnectedByServer(disconnect), &actions)
        case .auth(let auth): try received(auth, &actions)
        case .connAck, .connect, .subscribe, .unsubscribe, .pingReq, .publish, .pubAck, .pubRec, .pubRel, .pubComp:
            throw .protocolError(.unexpectedPacket(packet.type))  // A second CONNACK is an error ([MQTT-3.2.0-2]).
        }
    }

    /// Processes a packet that arrives before the connection is accepted. Only CONNACK and AUTH are allowed
    /// ([MQTT-3.2.0-1]).
    private mutating func receivedFirst(
        _ frame: PacketFrame, in bytes: UnsafeRawBufferPointer, now: MonotonicInstant, into buffer: inout PacketBuffer,
        _ actions: inout ActionList
    ) throws(Fault) {
        do throws(DecodeError) {
            switch try link.decoder.packet(frame, in: bytes.bytes) {
            case .connAck(let connAck):
                do throws(Fault) {
                    return try received(connAck: connAck, now: now, into: &buffer, &actions)
                } catch {
                    return fail(error, into: &buffer, &actions)
                }
            case .auth(let auth):
                guard configuration.connect.properties.authenticationMethod != nil else { break }
                do throws(Fault) {
                    try checkMethod(of: auth)
                    return actions.append(.authenticationContinued(auth))
                } catch {
                    return fail(error, into: &buffer, &actions)
                }
            default: break
            }
        } catch {
            if case .connAckOfOlderVersion(let code) = error.violation {
                return receivedOldConnAck(code, error, &actions)
            }
            throw .malformed(error)
        }
        throw .protocolError(.packetBeforeConnAck(frame.type))
    }

    private func packet(_ frame: PacketFrame, in bytes: UnsafeRawBufferPointer) throws(Fault) -> Packet {
        do throws(DecodeError) {
            return try link.decoder.packet(frame, in: bytes.bytes)
        } catch {
            throw .malformed(error)
        }
    }

    @inline(__always)
    private func acknowledgement(
        _ frame: PacketFrame, in bytes: UnsafeRawBufferPointer
    ) throws(Fault) -> AcknowledgementResult {
        do throws(DecodeError) {
            let view = try link.decoder.acknowledgement(frame, in: bytes)
            var properties = PacketProperties()
            if !view.properties.isEmpty {
                switch try link.decoder.packet(frame, in: bytes.bytes) {
                case .pubAck(let whole), .pubRec(let whole), .pubRel(let whole), .pubComp(let whole):
                    properties = whole.properties
                default: break
                }
            }
            return AcknowledgementResult(packetID: view.packetID, code: view.reasonCode, properties: properties)
        } catch {
            throw .malformed(error)
        }
    }
}
