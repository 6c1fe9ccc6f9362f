import MQTTCodec
import TestSupport
import Testing

extension MalformedPacket: CustomTestStringConvertible {
    var testDescription: String { "\(name) (\(version), \(clause))" }
}

/// Packets that a peer must not send. All functions of the decoder throw the same error for a packet.
@Suite
struct MalformedPacketTests {
    @Test(arguments: MalformedPacket.table)
    func `decoding a malformed packet throws the expected violation, field, offset and reason code`(
        _ row: MalformedPacket
    )
        throws
    {
        let error = try #require(refusal(of: row, in: bytes(row.hex)))
        #expect(error.violation == row.violation)
        #expect(error.field == row.field)
        #expect(error.offset == row.offset)
        #expect(error.reasonCode == row.answer)
    }

    @Test(arguments: MalformedPacket.table)
    func `decoding a malformed packet in place throws the same error as decoding to a value`(_ row: MalformedPacket) {
        let bytes = bytes(row.hex)
        #expect(refusal(of: row, in: bytes, inPlace: true) == refusal(of: row, in: bytes))
    }

    @Test(arguments: MalformedPacket.table)
    func `decoding a malformed packet after a valid packet throws the same error as without the valid packet`(
        _ row: MalformedPacket
    ) {
        let packet = bytes(row.hex)
        let stream = bytes(row.sender == .client ? "C0 00" : "D0 00") + packet
        #expect(refusal(of: row, in: stream, at: 2) == refusal(of: row, in: packet))
    }

    @Test(arguments: MalformedPacket.table)
    func `a truncated malformed packet is not accepted as a complete packet`(_ row: MalformedPacket) {
        let bytes = bytes(row.hex)
        for count in 0..<bytes.count {
            guard case .frame? = try? row.decoder.nextFrame(in: Array(bytes[..<count]).span.bytes) else { continue }
            Issue.record("the first \(count) bytes are a frame")
        }
    }

    @Test(arguments: MalformedPacket.fixedHeaders)
    func `a malformed first byte of a packet is refused before more bytes are received`(_ row: MalformedPacket) throws {
        let error = try #require(refusal(of: row, in: Array(bytes(row.hex).prefix(1))))
        #expect(error.violation == row.violation)
    }

    @Test(arguments: MalformedPacket.table.filter { $0.version == .v5 })
    func `the reason code of every decoding error is valid in CONNACK or DISCONNECT`(_ row: MalformedPacket) throws {
        let error = try #require(refusal(of: row, in: bytes(row.hex)))
        if error.packet == .connect, row.sender == .client {
            _ = try encode(.connAck(ConnAck(reasonCode: error.reasonCode)), .v5, from: .server)
        } else {
            let receiver: Endpoint = row.sender == .client ? .server : .client
            _ = try encode(.disconnect(Disconnect(reasonCode: error.reasonCode)), .v5, from: receiver)
        }
    }

    @Test func `the table of malformed packets has no duplicates and covers all packet types and versions`() {
        #expect(Set(MalformedPacket.table.map(\.name)).count == MalformedPacket.table.count)
        #expect(
            Set(MalformedPacket.table.map { "\($0.version) \($0.sender) \($0.hex) \($0.limits)" }).count
                == MalformedPacket.table.count)
        #expect(Set(MalformedPacket.table.map(\.version)) == Set(ProtocolVersion.allCases))
        let types = Set(MalformedPacket.table.compactMap { PacketType(rawValue: (bytes($0.hex).first ?? 0) >> 4) })
        #expect(types == Set(PacketType.allCases))
    }

    @Test func `the test tables of misplaced and repeated properties contain every property except user properties`() {
        let misplaced = MalformedPacket.misplacedProperties.compactMap { row -> PropertyID? in
            if case .propertyNotAllowed(let id) = row.violation { id } else { nil }
        }
        let repeated = MalformedPacket.repeatedProperties.compactMap { row -> PropertyID? in
            if case .duplicateProperty(let id) = row.violation { id } else { nil }
        }
        // User properties are allowed in every packet, any number of times.
        let all = Set(PropertyID.allCases.filter { $0 != .userProperty })
        #expect(Set(misplaced) == all)
        #expect(Set(repeated) == all)
    }

    /// The error for `row`, or `nil` if the packet is accepted or incomplete.
    private func refusal(
        of row: MalformedPacket, in bytes: [UInt8], at offset: Int = 0, inPlace: Bool = false
    ) -> DecodeError? {
        let decoder = row.decoder
        do throws(DecodeError) {
            guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) else { return nil }
            switch frame.type {
            case .publish where inPlace: _ = try decoder.publish(frame, in: bytes.span.bytes)
            case .pubAck where inPlace, .pubRec where inPlace, .pubRel where inPlace, .pubComp where inPlace:
                _ = try decoder.acknowledgement(frame, in: bytes.span.bytes)
            case .connect, .connAck, .publish, .pubAck, .pubRec, .pubRel, .pubComp, .subscribe, .subAck, .unsubscribe,
                .unsubAck, .pingReq, .pingResp, .disconnect, .auth:
                _ = try decoder.packet(frame, in: bytes.span.bytes)
            }
            return nil
        } catch {
            return error
        }
    }
}
