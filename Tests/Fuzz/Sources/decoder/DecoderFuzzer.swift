import FuzzSupport

@testable import MQTTCodec

/// Feeds one input to the packet decoder.
///
/// The first byte chooses the version and the sender. The remaining bytes are what a peer sends. A packet that the
/// decoder accepts must encode, decode to an equal packet, and encode to the same bytes again. Reading in place must
/// give the same values as copying. Bytes that arrive in two reads must give the same packets as in one read.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    let versions = ProtocolVersion.allCases
    let version = versions[Int(choice & 0x7F) % versions.count]
    let sender: Endpoint = choice & 0x80 == 0 ? .client : .server
    let decoder = PacketDecoder(
        version: version, sender: sender,
        limits: PacketDecoder.Limits(maximumPacketSize: 65_536, maximumProperties: 16))
    let bytes = Array(input.rest)

    let whole = outcome(of: bytes, decoder)
    for packet in whole.packets { checkRoundTrip(packet, decoder) }
    checkInPlace(bytes, decoder)

    let split = Int(choice) % (bytes.count + 1)
    if version < .v5 { checkLargePublish(bytes, split: split, version, sender) }
    let first = outcome(of: Array(bytes[..<split]), decoder)
    if first.error == nil {
        let second = outcome(of: Array(bytes[first.consumed...].dropLast(Plant.isPlanted ? 1 : 0)), decoder)
        guard first.packets + second.packets == whole.packets, second.error == whole.error else {
            fatalError("two reads differ from one")
        }
    } else if first.error != whole.error {
        fatalError("more bytes changed an error")
    }
}

private func outcome(
    of bytes: [UInt8], _ decoder: PacketDecoder
) -> (packets: [Packet], consumed: Int, error: DecodeError?) {
    var packets: [Packet] = []
    var offset = 0
    do throws(DecodeError) {
        while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
            packets.append(try decoder.packet(frame, in: bytes.span.bytes))
            offset = frame.end
        }
        return (packets, offset, nil)
    } catch {
        guard error.offset >= 0, error.offset <= bytes.count - offset else { fatalError("offset outside the bytes") }
        return (packets, offset, error)
    }
}

private func checkRoundTrip(_ packet: Packet, _ decoder: PacketDecoder) {
    let version = if case .connect(let connect) = packet { connect.version } else { decoder.version }
    do {
        let once = try encoded(packet, version, decoder.sender)
        let again = outcome(of: once, PacketDecoder(version: version, sender: decoder.sender))
        guard again.packets == [packet], again.error == nil else { fatalError("decoded differently: \(again)") }
        guard try encoded(again.packets[0], version, decoder.sender) == once else { fatalError("other bytes") }
    } catch {
        fatalError("accepted, but not encodable: \(error)")
    }
}

private func encoded(_ packet: Packet, _ version: ProtocolVersion, _ sender: Endpoint) throws(EncodeError) -> [UInt8] {
    var buffer = PacketBuffer()
    try PacketEncoder(version: version, sender: sender).encode(packet, into: &buffer)
    return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
}

private func checkInPlace(_ bytes: [UInt8], _ decoder: PacketDecoder) {
    let span = bytes.span.bytes
    var offset = 0
    while case .frame(let frame)? = try? decoder.nextFrame(in: span, at: offset) {
        offset = frame.end
        guard let packet = try? decoder.packet(frame, in: span) else { return }
        switch packet {
        case .publish(let publish):
            guard let view = try? decoder.publish(frame, in: span), Array(bytes[view.payload]) == publish.payload,
                view.delivery == publish.delivery, Array(bytes[view.topic]) == Array(publish.topic.utf8),
                view.topicAlias == publish.properties.topicAlias
            else { fatalError("a PUBLISH in place differs from its copy") }
        case .pubAck(let acknowledgement), .pubRec(let acknowledgement), .pubRel(let acknowledgement),
            .pubComp(let acknowledgement):
            guard let view = try? decoder.acknowledgement(frame, in: span),
                view.packetID == acknowledgement.packetID, view.reasonCode == acknowledgement.reasonCode
            else { fatalError("an acknowledgement in place differs from its copy") }
        default: break
        }
    }
}

/// Reads the head of a PUBLISH that is larger than a low limit. A head in a part of the bytes must be the same as in all
/// bytes, and reading it must never leave the bytes.
private func checkLargePublish(_ bytes: [UInt8], split: Int, _ version: ProtocolVersion, _ sender: Endpoint) {
    let decoder = PacketDecoder(version: version, sender: sender, limits: PacketDecoder.Limits(maximumPacketSize: 24))
    do throws(DecodeError) {
        _ = try decoder.nextFrame(in: bytes.span.bytes)
        return
    } catch {
        guard case .packetTooLarge(let size, _) = error.violation, error.packet == .publish else { return }
        let whole = head(bytes, decoder)
        switch (head(Array(bytes[..<split]), decoder), whole) {
        case (.success(.needsMore(let missing)), .success(.frame(let frame))):
            guard missing >= 1, split + missing <= frame.end else { fatalError("more bytes than the head lacks") }
        case (.success(.needsMore(let missing)), _):
            guard missing >= 1 else { fatalError("no missing bytes") }
        case (let part, _):
            guard part == whole else { fatalError("more bytes changed the head") }
        }
        guard case .success(.frame(let frame)) = whole else { return }
        guard frame.end <= 24, frame.end < size else { fatalError("a head of \(frame.end) bytes") }
        guard let view = try? decoder.publish(frame, in: bytes.span.bytes) else { return }
        guard view.payload.isEmpty, view.topic.upperBound <= frame.end else { fatalError("a head with a payload") }
    }
}

private func head(_ bytes: [UInt8], _ decoder: PacketDecoder) -> Result<PacketDecoder.Next, DecodeError> {
    bytes.span.bytes.withUnsafeBytes { bytes in
        Result { () throws(DecodeError) in try decoder.headOfLargePublish(in: bytes, at: 0) }
    }
}
