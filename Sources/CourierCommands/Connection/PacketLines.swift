import MQTTCodec

/// The lines that `-d` prints for a packet, in the words of libmosquitto.
struct PacketLines {
    /// The client id that the lines contain.
    let name: String
    let isOutgoing: Bool
    /// Whether the program prints the SUBACK codes on a separate line, as mosquitto_sub does.
    let showsGrants: Bool

    /// The lines for a packet.
    ///
    /// - Parameters:
    ///   - packet: The packet.
    ///   - code: The second byte of its body, which is the return code of CONNACK in every version.
    ///   - lastPacketID: The last packet id that was assigned. QoS 0 messages also increase this number, although they
    ///     have no packet id.
    /// - Returns: The lines, without line breaks.
    func lines(of packet: Packet, code: UInt8, lastPacketID: inout UInt16) -> [String] {
        let verb = isOutgoing ? "sending" : "received"
        switch packet {
        case .connect: return [line("\(verb) CONNECT")]
        case .connAck: return [line("\(verb) CONNACK (\(code))")]
        case .publish(let publish): return [line("\(verb) PUBLISH (\(words(of: publish, &lastPacketID)))")]
        case .pubAck(let ack): return [line(acknowledgement("PUBACK", ack))]
        case .pubRec(let ack):
            return [
                line(
                    isOutgoing
                        ? "sending PUBREC (m\(ack.packetID.rawValue), rc\(ack.reasonCode.rawValue))"
                        : "received PUBREC (Mid: \(ack.packetID.rawValue))")
            ]
        case .pubRel(let ack):
            return [
                line(
                    isOutgoing
                        ? "sending PUBREL (m\(ack.packetID.rawValue))"
                        : "received PUBREL (Mid: \(ack.packetID.rawValue))")
            ]
        case .pubComp(let ack):
            return [
                line(
                    isOutgoing
                        ? "sending PUBCOMP (m\(ack.packetID.rawValue))"
                        : "received PUBCOMP (Mid: \(ack.packetID.rawValue), RC:\(ack.reasonCode.rawValue))")
            ]
        case .subscribe(let subscribe):
            lastPacketID = subscribe.packetID.rawValue
            return subscribe.subscriptions.map { subscription in
                let options = Self.hexadecimal(Self.options(subscription))
                return line(
                    "sending SUBSCRIBE (Mid: \(subscribe.packetID.rawValue), Topic: \(subscription.filter), "
                        + "QoS: \(subscription.qos.rawValue), Options: 0x\(options))")
            }
        case .subAck(let subAck):
            let codes = subAck.reasonCodes.map { "\($0.rawValue)" }.joined(separator: ", ")
            let grants = showsGrants ? ["Subscribed (mid: \(subAck.packetID.rawValue)): \(codes)"] : []
            return [line("\(verb) SUBACK")] + grants
        case .unsubscribe(let unsubscribe):
            lastPacketID = unsubscribe.packetID.rawValue
            return unsubscribe.filters.map {
                line("sending UNSUBSCRIBE (Mid: \(unsubscribe.packetID.rawValue), Topic: \($0))")
            }
        case .unsubAck: return [line("\(verb) UNSUBACK")]
        case .pingReq: return [line("\(verb) PINGREQ")]
        case .pingResp: return [line("\(verb) PINGRESP")]
        case .disconnect(let disconnect):
            return [line(isOutgoing ? "sending DISCONNECT" : "received DISCONNECT (\(disconnect.reasonCode.rawValue))")]
        case .auth: return [line("\(verb) AUTH")]
        }
    }

    private func line(_ text: String) -> String { "Client \(name) \(text)" }

    private func words(of publish: Publish, _ lastPacketID: inout UInt16) -> String {
        let (qos, isDuplicate, id): (Int, Bool, UInt16)
        switch publish.delivery {
        case .atMostOnce:
            if isOutgoing { lastPacketID = lastPacketID == .max ? 1 : lastPacketID + 1 }
            (qos, isDuplicate, id) = (0, false, isOutgoing ? lastPacketID : 0)
        case .atLeastOnce(let packetID, let duplicate): (qos, isDuplicate, id) = (1, duplicate, packetID.rawValue)
        case .exactlyOnce(let packetID, let duplicate): (qos, isDuplicate, id) = (2, duplicate, packetID.rawValue)
        }
        if isOutgoing { lastPacketID = id }
        return "d\(isDuplicate ? 1 : 0), q\(qos), r\(publish.isRetained ? 1 : 0), m\(id), '\(publish.topic)', "
            + "... (\(publish.payload.count) bytes)"
    }

    private func acknowledgement(_ type: String, _ ack: Acknowledgement) -> String {
        isOutgoing
            ? "sending \(type) (m\(ack.packetID.rawValue), rc\(ack.reasonCode.rawValue))"
            : "received \(type) (Mid: \(ack.packetID.rawValue), RC:\(ack.reasonCode.rawValue))"
    }

    /// The options byte of SUBSCRIBE without the quality of service (MQTT 5.0 §3.8.3.1).
    private static func options(_ subscription: Subscription) -> UInt8 {
        (subscription.isNoLocal ? 0x04 : 0) | (subscription.isRetainAsPublished ? 0x08 : 0)
            | subscription.retainHandling.rawValue << 4
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return text.count < 2 ? "0\(text)" : text
    }
}
