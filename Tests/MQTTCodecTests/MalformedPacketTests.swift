import MQTTCodec
import TestSupport
import Testing

/// A packet that breaks the specification, and the error that it must give.
struct MalformedPacket: CustomTestStringConvertible, Sendable {
    /// What is wrong with it, in words; no two rows say the same.
    let name: String
    /// The version that the decoder reads.
    let version: ProtocolVersion
    /// The end that sends the packet.
    let sender: Endpoint
    /// The bytes of the packet, which are whole unless the start shows already that they are refused.
    let hex: String
    let violation: Violation
    let field: PacketField
    let offset: Int
    /// The MQTT 5 reason code to answer with.
    let answer: PacketReasonCode
    /// The numbered statement that is broken, or the section where there is none, of the specification of ``version``.
    ///
    /// MQTT 3.1 numbers nothing: its rows name the place in 3.1.1 that says the same.
    let clause: String
    let limits: PacketDecoder.Limits

    init(
        _ name: String, _ version: ProtocolVersion, _ sender: Endpoint, _ hex: String,
        _ violation: Violation, _ field: PacketField, _ offset: Int, _ answer: PacketReasonCode, _ clause: String,
        limits: PacketDecoder.Limits = PacketDecoder.Limits()
    ) {
        self.name = name
        self.version = version
        self.sender = sender
        self.hex = hex
        self.violation = violation
        self.field = field
        self.offset = offset
        self.answer = answer
        self.clause = clause
        self.limits = limits
    }

    var testDescription: String { "\(name) (\(version), \(clause))" }
    var decoder: PacketDecoder { PacketDecoder(version: version, sender: sender, limits: limits) }
}

extension PacketDecoder.Limits {
    fileprivate static let sixteenBytes = Self(maximumPacketSize: 16)
    fileprivate static let twoFilters = Self(maximumFilters: 2)
    fileprivate static let twoProperties = Self(maximumProperties: 2)
}

/// Bytes that a peer may send and must not: each gives one error, whichever function reads them.
@Suite
struct MalformedPacketTests {
    @Test(arguments: table)
    func `a malformed packet is refused with its violation, field, offset and answer`(_ row: MalformedPacket) throws {
        let error = try #require(refusal(of: row, in: bytes(row.hex)))
        #expect(error.violation == row.violation)
        #expect(error.field == row.field)
        #expect(error.offset == row.offset)
        #expect(error.reasonCode == row.answer)
    }

    @Test(arguments: table)
    func `reading in place refuses what reading a copy refuses`(_ row: MalformedPacket) {
        let bytes = bytes(row.hex)
        #expect(refusal(of: row, in: bytes, inPlace: true) == refusal(of: row, in: bytes))
    }

    @Test(arguments: table)
    func `a malformed packet behind a good one gives the same error`(_ row: MalformedPacket) {
        let packet = bytes(row.hex)
        let stream = bytes(row.sender == .client ? "C0 00" : "D0 00") + packet
        #expect(refusal(of: row, in: stream, at: 2) == refusal(of: row, in: packet))
    }

    @Test(arguments: table)
    func `no start of a malformed packet is a whole packet`(_ row: MalformedPacket) {
        let bytes = bytes(row.hex)
        for count in 0..<bytes.count {
            guard case .frame? = try? row.decoder.nextFrame(in: Array(bytes[..<count]).span.bytes) else { continue }
            Issue.record("the first \(count) bytes are a frame")
        }
    }

    @Test(arguments: fixedHeaders)
    func `what the first byte shows is refused at the first byte`(_ row: MalformedPacket) throws {
        let error = try #require(refusal(of: row, in: Array(bytes(row.hex).prefix(1))))
        #expect(error.violation == row.violation)
    }

    @Test(arguments: table.filter { $0.version == .v5 })
    func `the receiver may send the answer`(_ row: MalformedPacket) throws {
        let error = try #require(refusal(of: row, in: bytes(row.hex)))
        if error.packet == .connect, row.sender == .client {
            _ = try encode(.connAck(ConnAck(reasonCode: error.reasonCode)), .v5, from: .server)
        } else {
            let receiver: Endpoint = row.sender == .client ? .server : .client
            _ = try encode(.disconnect(Disconnect(reasonCode: error.reasonCode)), .v5, from: receiver)
        }
    }

    @Test func `every row is another one, and every packet type and version is in the table`() {
        #expect(Set(Self.table.map(\.name)).count == Self.table.count)
        #expect(Set(Self.table.map { "\($0.version) \($0.sender) \($0.hex) \($0.limits)" }).count == Self.table.count)
        #expect(Set(Self.table.map(\.version)) == Set(ProtocolVersion.allCases))
        let types = Set(Self.table.compactMap { PacketType(rawValue: (bytes($0.hex).first ?? 0) >> 4) })
        #expect(types == Set(PacketType.allCases))
    }

    @Test func `each property stands in the tables of places and of repetitions`() {
        let misplaced = Self.misplacedProperties.compactMap { row -> PropertyID? in
            if case .propertyNotAllowed(let id) = row.violation { id } else { nil }
        }
        let repeated = Self.repeatedProperties.compactMap { row -> PropertyID? in
            if case .duplicateProperty(let id) = row.violation { id } else { nil }
        }
        // User properties may stand everywhere, as often as one likes.
        let all = Set(PropertyID.allCases.filter { $0 != .userProperty })
        #expect(Set(misplaced) == all)
        #expect(Set(repeated) == all)
    }

    /// The error that `row` gives, or `nil` when it is accepted or not whole.
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

extension MalformedPacketTests {
    static let table = [
        fixedHeaders, remainingLengths, truncatedFields, trailingBytes, illFormedText, topics, packetIDs,
        qualitiesOfService, connections, reasonCodes, emptyLists, misplacedProperties, repeatedProperties,
        propertyValues, propertyIdentifiers, propertyLengths, authentication,
    ].flatMap { $0 }

    /// What the first byte shows: flags, reserved types, and packets that only the other end sends.
    static let fixedHeaders: [MalformedPacket] = [
        MalformedPacket(
            "CONNECT with flags 0001", .v5, .client, "11 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "CONNACK with flags 0010", .v5, .server, "22 03 00 00 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PUBACK with flags 0010", .v5, .client, "42 02 00 01",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PUBREC with flags 0001", .v5, .server, "51 02 00 01",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PUBREL with flags 0000", .v5, .client, "60 02 00 01",
            .invalidFlags(0), .fixedHeader, 0, .malformedPacket, "[MQTT-3.6.1-1]"),
        MalformedPacket(
            "PUBCOMP with flags 1000", .v5, .server, "78 02 00 01",
            .invalidFlags(8), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "SUBSCRIBE with flags 0000", .v5, .client, "80 07 00 01 00 00 01 61 00",
            .invalidFlags(0), .fixedHeader, 0, .malformedPacket, "[MQTT-3.8.1-1]"),
        MalformedPacket(
            "SUBACK with flags 0100", .v5, .server, "94 04 00 01 00 00",
            .invalidFlags(4), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "UNSUBSCRIBE with flags 0011", .v5, .client, "A3 06 00 01 00 00 01 61",
            .invalidFlags(3), .fixedHeader, 0, .malformedPacket, "[MQTT-3.10.1-1]"),
        MalformedPacket(
            "UNSUBACK with flags 0010", .v5, .server, "B2 04 00 01 00 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PINGREQ with flags 0001", .v5, .client, "C1 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "PINGRESP with flags 1000", .v5, .server, "D8 00",
            .invalidFlags(8), .fixedHeader, 0, .malformedPacket, "[MQTT-2.1.3-1]"),
        MalformedPacket(
            "DISCONNECT with flags 0001", .v5, .server, "E1 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-3.14.1-1]"),
        MalformedPacket(
            "AUTH with flags 0010", .v5, .server, "F2 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-3.15.1-1]"),
        MalformedPacket(
            "CONNECT of 3.1.1 with flags 1111", .v311, .client, "1F 00",
            .invalidFlags(15), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "CONNACK of 3.1.1 with flags 0001", .v311, .server, "21 02 00 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PUBACK of 3.1.1 with flags 0100", .v311, .server, "44 02 00 01",
            .invalidFlags(4), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PUBREC of 3.1.1 with flags 0010", .v311, .client, "52 02 00 01",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PUBREL of 3.1.1 with flags 1010", .v311, .server, "6A 02 00 01",
            .invalidFlags(10), .fixedHeader, 0, .malformedPacket, "[MQTT-3.6.1-1]"),
        MalformedPacket(
            "PUBCOMP of 3.1.1 with flags 0001", .v311, .client, "71 02 00 01",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "SUBSCRIBE of 3.1.1 with flags 1010", .v311, .client, "8A 06 00 01 00 01 61 00",
            .invalidFlags(10), .fixedHeader, 0, .malformedPacket, "[MQTT-3.8.1-1]"),
        MalformedPacket(
            "SUBACK of 3.1.1 with flags 0001", .v311, .server, "91 03 00 01 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "UNSUBSCRIBE of 3.1.1 with flags 0000", .v311, .client, "A0 05 00 01 00 01 61",
            .invalidFlags(0), .fixedHeader, 0, .malformedPacket, "[MQTT-3.10.1-1]"),
        MalformedPacket(
            "UNSUBACK of 3.1.1 with flags 1000", .v311, .server, "B8 02 00 01",
            .invalidFlags(8), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PINGREQ of 3.1.1 with flags 0010", .v311, .client, "C2 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "PINGRESP of 3.1.1 with flags 0001", .v311, .server, "D1 00",
            .invalidFlags(1), .fixedHeader, 0, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "DISCONNECT of 3.1.1 with flags 0010", .v311, .client, "E2 00",
            .invalidFlags(2), .fixedHeader, 0, .malformedPacket, "[MQTT-3.14.1-1]"),
        MalformedPacket(
            "type 0 in 00 from a client of 5", .v5, .client, "00 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.1.2"),
        MalformedPacket(
            "type 0 in 0F from a server of 5", .v5, .server, "0F 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.1.2"),
        MalformedPacket(
            "type 0 in 00 from a client of 3.1.1", .v311, .client, "00 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "type 15 in F0 from a client of 3.1.1", .v311, .client, "F0 00",
            .reservedPacketType(15), .fixedHeader, 0, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "type 15 in F0 from a server of 3.1.1", .v311, .server, "F0 02 18 00",
            .reservedPacketType(15), .fixedHeader, 0, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "type 0 in 00 from a client of 3.1", .v31, .client, "00 00",
            .reservedPacketType(0), .fixedHeader, 0, .malformedPacket, "2.2.1 of 3.1.1"),
        MalformedPacket(
            "type 15 in F0 from a server of 3.1", .v31, .server, "F0 00",
            .reservedPacketType(15), .fixedHeader, 0, .malformedPacket, "2.2.1 of 3.1.1"),
        MalformedPacket(
            "a CONNECT of 5 that a server sends", .v5, .server, "10 0E 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a CONNACK of 5 that a client sends", .v5, .client, "20 03 00 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a SUBSCRIBE of 5 that a server sends", .v5, .server, "82 07 00 01 00 00 01 61 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a SUBACK of 5 that a client sends", .v5, .client, "90 04 00 01 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "an UNSUBSCRIBE of 5 that a server sends", .v5, .server, "A2 06 00 01 00 00 01 61",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "an UNSUBACK of 5 that a client sends", .v5, .client, "B0 04 00 01 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a PINGREQ of 5 that a server sends", .v5, .server, "C0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a PINGRESP of 5 that a client sends", .v5, .client, "D0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.1.2"),
        MalformedPacket(
            "a CONNECT of 3.1.1 that a server sends", .v311, .server, "10 0D 00 04 4D 51 54 54 04 02 00 3C 00 01 63",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a CONNACK of 3.1.1 that a client sends", .v311, .client, "20 02 00 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 that a server sends", .v311, .server, "82 06 00 01 00 01 61 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a SUBACK of 3.1.1 that a client sends", .v311, .client, "90 03 00 01 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 that a server sends", .v311, .server, "A2 05 00 01 00 01 61",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 that a client sends", .v311, .client, "B0 02 00 01",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a PINGREQ of 3.1.1 that a server sends", .v311, .server, "C0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a PINGRESP of 3.1.1 that a client sends", .v311, .client, "D0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a DISCONNECT of 3.1.1 that a server sends", .v311, .server, "E0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1"),
        MalformedPacket(
            "a DISCONNECT of 3.1 that a server sends", .v31, .server, "E0 00",
            .wrongSender, .fixedHeader, 0, .protocolError, "2.2.1 of 3.1.1"),
    ]

    /// The remaining length: its form, and the size of packet that it announces.
    static let remainingLengths: [MalformedPacket] = [
        MalformedPacket(
            "a remaining length of five bytes", .v5, .client, "30 FF FF FF FF 01",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a remaining length of five bytes that says 0", .v5, .server, "30 80 80 80 80 00",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a remaining length of 3.1.1 of five bytes", .v311, .client, "C0 80 80 80 80 00",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "2.2.3"),
        MalformedPacket(
            "a remaining length of 3.1 of five bytes", .v31, .client, "10 FF FF FF FF 7F",
            .variableByteIntegerTooLong, .remainingLength, 1, .malformedPacket, "2.2.3 of 3.1.1"),
        MalformedPacket(
            "a remaining length of 0 in two bytes", .v5, .client, "C0 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 0 in three bytes", .v5, .server, "E0 80 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 0 in four bytes", .v5, .server, "D0 80 80 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 5 in two bytes", .v5, .client, "30 85 00 00 01 61 00 62",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a remaining length of 127 in three bytes", .v5, .client, "30 FF 80 00",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a packet one byte over the limit of the server", .v5, .client,
            "30 0F 00 01 61 00 62 62 62 62 62 62 62 62 62 62 62",
            .packetTooLarge(size: 17, limit: 16), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.2.2-15]", limits: .sixteenBytes),
        MalformedPacket(
            "a packet one byte over the limit of the client", .v5, .server,
            "30 0F 00 01 61 00 62 62 62 62 62 62 62 62 62 62 62",
            .packetTooLarge(size: 17, limit: 16), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.1.2-24]", limits: .sixteenBytes),
        MalformedPacket(
            "the start of a packet over the default limit", .v5, .client, "30 FF FF FF 07",
            .packetTooLarge(size: 16_777_220, limit: 16_777_216), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.2.2-15]"),
        MalformedPacket(
            "the start of the largest packet there can be", .v5, .server, "30 FF FF FF 7F",
            .packetTooLarge(size: 268_435_460, limit: 16_777_216), .remainingLength, 1,
            .packetTooLarge, "[MQTT-3.1.2-24]"),
        MalformedPacket(
            "a CONNECT of 5 with a long remaining length, to a server that reads 3.1.1", .v311, .client,
            "10 8E 00 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63",
            .variableByteIntegerNotMinimal, .remainingLength, 1, .malformedPacket, "[MQTT-1.5.5-1]"),
    ]

    /// Every field once without its end, in a packet whose remaining length is right.
    static let truncatedFields: [MalformedPacket] = [
        MalformedPacket(
            "a CONNECT without a body", .v5, .client, "10 00",
            .truncated, .protocolName, 2, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT with half a protocol name", .v5, .client, "10 04 00 04 4D 51",
            .truncated, .protocolName, 2, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT without a version", .v5, .client, "10 06 00 04 4D 51 54 54",
            .truncated, .protocolVersion, 8, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT without flags", .v5, .client, "10 07 00 04 4D 51 54 54 05",
            .truncated, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT with half a keep-alive", .v5, .client, "10 09 00 04 4D 51 54 54 05 02 00",
            .truncated, .keepAlive, 10, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT without a property length", .v5, .client, "10 0A 00 04 4D 51 54 54 05 02 00 3C",
            .truncated, .propertyLength, 12, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a CONNECT without a client identifier", .v5, .client, "10 0B 00 04 4D 51 54 54 05 02 00 3C 00",
            .truncated, .clientID, 13, .malformedPacket, "[MQTT-3.1.3-3]"),
        MalformedPacket(
            "a CONNECT with half a client identifier", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 02 00 3C 00 00 05 63 63",
            .truncated, .clientID, 13, .malformedPacket, "[MQTT-3.1.3-3]"),
        MalformedPacket(
            "a CONNECT without the will that its flags announce", .v5, .client,
            "10 0E 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63",
            .truncated, .propertyLength, 16, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT with will properties and nothing more", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00",
            .truncated, .willTopic, 17, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT with half a will topic", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 03 77",
            .truncated, .willTopic, 17, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT without a will payload", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 77",
            .truncated, .willPayload, 20, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT with half a will payload", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 77 00 04 01 02",
            .truncated, .willPayload, 20, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT without the user name that its flags announce", .v5, .client,
            "10 0E 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63",
            .truncated, .username, 16, .malformedPacket, "[MQTT-3.1.2-17]"),
        MalformedPacket(
            "a CONNECT with half a user name", .v5, .client, "10 11 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 02 75",
            .truncated, .username, 16, .malformedPacket, "[MQTT-3.1.2-17]"),
        MalformedPacket(
            "a CONNECT without the password that its flags announce", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 C2 00 3C 00 00 01 63 00 01 75",
            .truncated, .password, 19, .malformedPacket, "[MQTT-3.1.2-19]"),
        MalformedPacket(
            "a CONNECT with half a password", .v5, .client, "10 11 00 04 4D 51 54 54 05 42 00 3C 00 00 01 63 00 02 70",
            .truncated, .password, 16, .malformedPacket, "[MQTT-3.1.2-19]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without a client identifier", .v311, .client, "10 0A 00 04 4D 51 54 54 04 02 00 3C",
            .truncated, .clientID, 12, .malformedPacket, "[MQTT-3.1.3-3]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without its will", .v311, .client, "10 0D 00 04 4D 51 54 54 04 06 00 3C 00 01 63",
            .truncated, .willTopic, 15, .malformedPacket, "[MQTT-3.1.2-9]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without its user name", .v311, .client, "10 0D 00 04 4D 51 54 54 04 82 00 3C 00 01 63",
            .truncated, .username, 15, .malformedPacket, "[MQTT-3.1.2-19]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without its password", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 C2 00 3C 00 01 63 00 01 75",
            .truncated, .password, 18, .malformedPacket, "[MQTT-3.1.2-21]"),
        MalformedPacket(
            "a CONNECT of 3.1 with half a user name", .v31, .client,
            "10 12 00 06 4D 51 49 73 64 70 03 82 00 3C 00 01 63 00 02 75",
            .truncated, .username, 17, .malformedPacket, "[MQTT-3.1.2-19] of 3.1.1"),
        MalformedPacket(
            "a CONNACK without a body", .v5, .server, "20 00",
            .truncated, .acknowledgeFlags, 2, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a CONNACK without a reason code", .v5, .server, "20 01 00",
            .truncated, .reasonCode, 3, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a CONNACK without a property length", .v5, .server, "20 02 00 00",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a CONNACK of 3.1.1 without a return code", .v311, .server, "20 01 00",
            .truncated, .reasonCode, 3, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a PUBLISH without a body", .v5, .client, "30 00",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a PUBLISH with half a topic length", .v5, .client, "30 01 00",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a PUBLISH with half a topic", .v5, .server, "30 04 00 05 61 62",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a QoS 1 PUBLISH without a packet id", .v5, .client, "32 03 00 01 61",
            .truncated, .packetID, 5, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "a QoS 2 PUBLISH with half a packet id", .v5, .server, "34 04 00 01 61 00",
            .truncated, .packetID, 5, .malformedPacket, "2.2.1"),
        MalformedPacket(
            "a PUBLISH without a property length", .v5, .client, "30 03 00 01 61",
            .truncated, .propertyLength, 5, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a PUBLISH of 3.1.1 without a body", .v311, .client, "30 00",
            .truncated, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-1]"),
        MalformedPacket(
            "a QoS 1 PUBLISH of 3.1.1 without a packet id", .v311, .server, "33 03 00 01 61",
            .truncated, .packetID, 5, .malformedPacket, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a PUBACK with half a packet id", .v5, .client, "40 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.4.2"),
        MalformedPacket(
            "a PUBREC with half a packet id", .v5, .client, "50 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.5.2"),
        MalformedPacket(
            "a PUBREL with half a packet id", .v5, .server, "62 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.6.2"),
        MalformedPacket(
            "a PUBCOMP with half a packet id", .v5, .client, "70 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.7.2"),
        MalformedPacket(
            "a PUBACK of 3.1.1 without a body", .v311, .client, "40 00",
            .truncated, .packetID, 2, .malformedPacket, "2.3.1"),
        MalformedPacket(
            "a SUBSCRIBE without a body", .v5, .client, "82 00",
            .truncated, .packetID, 2, .malformedPacket, "3.8.2"),
        MalformedPacket(
            "a SUBSCRIBE without a property length", .v5, .client, "82 02 00 01",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "a SUBSCRIBE with half a filter", .v5, .client, "82 06 00 01 00 00 03 61",
            .truncated, .topicFilter, 5, .malformedPacket, "[MQTT-3.8.3-1]"),
        MalformedPacket(
            "a SUBSCRIBE without options", .v5, .client, "82 06 00 01 00 00 01 61",
            .truncated, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-2]"),
        MalformedPacket(
            "a SUBSCRIBE whose second filter has no options", .v5, .client, "82 0A 00 01 00 00 01 61 01 00 01 62",
            .truncated, .subscriptionOptions, 12, .malformedPacket, "[MQTT-3.8.3-2]"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 without a requested QoS", .v311, .client, "82 05 00 01 00 01 61",
            .truncated, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-3]"),
        MalformedPacket(
            "a SUBACK with half a packet id", .v5, .server, "90 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.9.2"),
        MalformedPacket(
            "a SUBACK without a property length", .v5, .server, "90 02 00 01",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "an UNSUBSCRIBE with half a packet id", .v5, .client, "A2 01 00",
            .truncated, .packetID, 2, .malformedPacket, "3.10.2"),
        MalformedPacket(
            "an UNSUBSCRIBE with half a filter", .v5, .client, "A2 06 00 01 00 00 02 61",
            .truncated, .topicFilter, 5, .malformedPacket, "[MQTT-3.10.3-1]"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 with half a filter", .v311, .client, "A2 05 00 01 00 09 61",
            .truncated, .topicFilter, 4, .malformedPacket, "[MQTT-3.10.3-1]"),
        MalformedPacket(
            "an UNSUBACK without a property length", .v5, .server, "B0 02 00 01",
            .truncated, .propertyLength, 4, .malformedPacket, "[MQTT-2.2.2-1]"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 without a packet id", .v311, .server, "B0 00",
            .truncated, .packetID, 2, .malformedPacket, "[MQTT-2.3.1-7]"),
    ]

    /// Bytes behind the last field, which the remaining length should not have counted.
    static let trailingBytes: [MalformedPacket] = [
        MalformedPacket(
            "a CONNECT with a byte behind the client identifier", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63 00",
            .trailingBytes(1), .end, 16, .malformedPacket, "[MQTT-3.1.4-1]"),
        MalformedPacket(
            "a CONNECT with a user name and no flag for it", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63 00 01 75",
            .trailingBytes(3), .end, 16, .malformedPacket, "[MQTT-3.1.2-16]"),
        MalformedPacket(
            "a CONNECT with a password and no flag for it", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 01 75 00 01 70",
            .trailingBytes(3), .end, 19, .malformedPacket, "[MQTT-3.1.2-18]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a will and no flag for it", .v311, .client,
            "10 13 00 04 4D 51 54 54 04 02 00 3C 00 01 63 00 01 77 00 01 6D",
            .trailingBytes(6), .end, 15, .malformedPacket, "[MQTT-3.1.2-11]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a user name and no flag for it", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 02 00 3C 00 01 63 00 01 75",
            .trailingBytes(3), .end, 15, .malformedPacket, "[MQTT-3.1.2-18]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a password and no flag for it", .v311, .client,
            "10 13 00 04 4D 51 54 54 04 82 00 3C 00 01 63 00 01 75 00 01 70",
            .trailingBytes(3), .end, 18, .malformedPacket, "[MQTT-3.1.2-20]"),
        MalformedPacket(
            "a CONNECT of 3.1 with a byte behind the client identifier", .v31, .client,
            "10 10 00 06 4D 51 49 73 64 70 03 02 00 3C 00 01 63 00",
            .trailingBytes(1), .end, 17, .malformedPacket, "[MQTT-3.1.4-1] of 3.1.1"),
        MalformedPacket(
            "a CONNACK with a payload", .v5, .server, "20 04 00 00 00 FF",
            .trailingBytes(1), .end, 5, .malformedPacket, "3.2.3"),
        MalformedPacket(
            "a CONNACK of 3.1.1 with a payload", .v311, .server, "20 03 00 00 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.2.3"),
        MalformedPacket(
            "a CONNACK of 3.1 with a payload", .v31, .server, "20 04 00 00 00 00",
            .trailingBytes(2), .end, 4, .malformedPacket, "3.2.3 of 3.1.1"),
        MalformedPacket(
            "a PUBACK with a payload", .v5, .client, "40 05 00 01 00 00 FF",
            .trailingBytes(1), .end, 6, .malformedPacket, "3.4.3"),
        MalformedPacket(
            "a PUBREC with a payload behind its properties", .v5, .server, "50 0A 00 01 00 04 1F 00 01 72 FF FF",
            .trailingBytes(2), .end, 10, .malformedPacket, "3.5.3"),
        MalformedPacket(
            "a PUBACK of 3.1.1 with a reason code", .v311, .client, "40 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.4.3"),
        MalformedPacket(
            "a PUBREC of 3.1.1 with a reason code", .v311, .client, "50 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.5.3"),
        MalformedPacket(
            "a PUBREL of 3.1.1 with a reason code", .v311, .client, "62 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.6.3"),
        MalformedPacket(
            "a PUBCOMP of 3.1.1 with a reason code", .v311, .client, "70 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.7.3"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 with a payload", .v311, .server, "B0 03 00 01 00",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.11.3"),
        MalformedPacket(
            "a PINGREQ with a body", .v5, .client, "C0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.12.3"),
        MalformedPacket(
            "a PINGRESP with a body", .v5, .server, "D0 02 00 00",
            .trailingBytes(2), .end, 2, .malformedPacket, "3.13.3"),
        MalformedPacket(
            "a PINGREQ of 3.1.1 with a body", .v311, .client, "C0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.12.3"),
        MalformedPacket(
            "a PINGRESP of 3.1.1 with a body", .v311, .server, "D0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.13.3"),
        MalformedPacket(
            "a DISCONNECT with a payload", .v5, .client, "E0 03 00 00 FF",
            .trailingBytes(1), .end, 4, .malformedPacket, "3.14.3"),
        MalformedPacket(
            "a DISCONNECT of 3.1.1 with a reason code", .v311, .client, "E0 01 00",
            .trailingBytes(1), .end, 2, .malformedPacket, "3.14.3"),
        MalformedPacket(
            "an AUTH with a payload", .v5, .server, "F0 07 18 04 15 00 01 6D FF",
            .trailingBytes(1), .end, 8, .malformedPacket, "3.15.3"),
    ]

    /// Text that is not well-formed UTF-8 or has U+0000, in every field that holds text.
    static let illFormedText: [MalformedPacket] = [
        MalformedPacket(
            "a topic name with U+0000 in the overlong form C0 80", .v5, .client, "30 05 00 02 C0 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with an overlong C1 BF", .v5, .client, "30 05 00 02 C1 BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with an overlong E0 9F BF", .v5, .client, "30 06 00 03 E0 9F BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with an overlong F0 8F BF BF", .v5, .client, "30 07 00 04 F0 8F BF BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the surrogate U+D800", .v5, .client, "30 06 00 03 ED A0 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the surrogate U+DFFF", .v5, .client, "30 06 00 03 ED BF BF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a code point above U+10FFFF", .v5, .client, "30 07 00 04 F4 90 80 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the lead byte F5", .v5, .client, "30 07 00 04 F5 80 80 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with the byte FF", .v5, .client, "30 04 00 01 FF 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a continuation byte alone", .v5, .client, "30 06 00 03 61 80 61 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a two-byte character cut off", .v5, .client, "30 05 00 02 61 C3 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a three-byte character cut off", .v5, .client, "30 05 00 02 E2 82 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a four-byte character cut off", .v5, .client, "30 06 00 03 F0 9F 98 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a lead byte before ASCII", .v5, .client, "30 06 00 03 C3 28 61 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a second continuation byte that is none", .v5, .client, "30 06 00 03 E2 82 28 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name with a bad byte behind eight good ones", .v5, .server,
            "30 0C 00 09 61 62 63 64 65 66 67 68 80 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name whose last of nine bytes starts a character", .v5, .server,
            "30 0C 00 09 61 62 63 64 65 66 67 68 C3 00",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a topic name whose last of nine bytes is U+0000", .v5, .server,
            "30 0C 00 09 61 62 63 64 65 66 67 68 00 00",
            .nullCharacter, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a topic name with U+0000", .v5, .client, "30 06 00 03 61 00 62 00",
            .nullCharacter, .topicName, 2, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a topic name of 3.1.1 with a surrogate", .v311, .client, "30 05 00 03 ED A0 80",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.3-1]"),
        MalformedPacket(
            "a topic name of 3.1.1 with U+0000", .v311, .server, "30 03 00 01 00",
            .nullCharacter, .topicName, 2, .malformedPacket, "[MQTT-1.5.3-2]"),
        MalformedPacket(
            "a topic name of 3.1 with an overlong character", .v31, .client, "30 04 00 02 C0 AF",
            .malformedUTF8, .topicName, 2, .malformedPacket, "[MQTT-1.5.3-1] of 3.1.1"),
        MalformedPacket(
            "a protocol name that is not UTF-8", .v5, .client, "10 0E 00 04 4D 51 54 D4 05 02 00 3C 00 00 01 63",
            .malformedUTF8, .protocolName, 2, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a client identifier that is not UTF-8", .v5, .client, "10 0E 00 04 4D 51 54 54 05 02 00 3C 00 00 01 C3",
            .malformedUTF8, .clientID, 13, .malformedPacket, "[MQTT-3.1.3-4]"),
        MalformedPacket(
            "a client identifier with U+0000", .v5, .client, "10 0F 00 04 4D 51 54 54 05 02 00 3C 00 00 02 63 00",
            .nullCharacter, .clientID, 13, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a will topic that is not UTF-8", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 FE 00 00",
            .malformedUTF8, .willTopic, 17, .malformedPacket, "[MQTT-3.1.3-11]"),
        MalformedPacket(
            "a will topic with U+0000", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 01 00 00 00",
            .nullCharacter, .willTopic, 17, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a user name that is not UTF-8", .v5, .client, "10 11 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 01 80",
            .malformedUTF8, .username, 16, .malformedPacket, "[MQTT-3.1.3-12]"),
        MalformedPacket(
            "a user name with U+0000", .v5, .client, "10 12 00 04 4D 51 54 54 05 82 00 3C 00 00 01 63 00 02 75 00",
            .nullCharacter, .username, 16, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a client identifier of 3.1.1 that is not UTF-8", .v311, .client,
            "10 0D 00 04 4D 51 54 54 04 02 00 3C 00 01 FF",
            .malformedUTF8, .clientID, 12, .malformedPacket, "[MQTT-3.1.3-4]"),
        MalformedPacket(
            "a will topic of 3.1.1 that is not UTF-8", .v311, .client,
            "10 12 00 04 4D 51 54 54 04 06 00 3C 00 01 63 00 01 FF 00 00",
            .malformedUTF8, .willTopic, 15, .malformedPacket, "[MQTT-3.1.3-10]"),
        MalformedPacket(
            "a user name of 3.1.1 that is not UTF-8", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 82 00 3C 00 01 63 00 01 FF",
            .malformedUTF8, .username, 15, .malformedPacket, "[MQTT-3.1.3-11]"),
        MalformedPacket(
            "a user name of 3.1.1 with U+0000", .v311, .client, "10 10 00 04 4D 51 54 54 04 82 00 3C 00 01 63 00 01 00",
            .nullCharacter, .username, 15, .malformedPacket, "[MQTT-1.5.3-2]"),
        MalformedPacket(
            "a filter that is not UTF-8", .v5, .client, "82 09 00 01 00 00 03 61 2F C3 00",
            .malformedUTF8, .topicFilter, 5, .malformedPacket, "[MQTT-3.8.3-1]"),
        MalformedPacket(
            "a filter with U+0000", .v5, .client, "82 09 00 01 00 00 03 61 2F 00 00",
            .nullCharacter, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.3-2]"),
        MalformedPacket(
            "a filter of UNSUBSCRIBE that is not UTF-8", .v5, .client, "A2 08 00 01 00 00 03 ED A0 80",
            .malformedUTF8, .topicFilter, 5, .malformedPacket, "[MQTT-3.10.3-1]"),
        MalformedPacket(
            "a filter of 3.1.1 that is not UTF-8", .v311, .client, "82 07 00 01 00 02 C0 80 00",
            .malformedUTF8, .topicFilter, 4, .malformedPacket, "[MQTT-3.8.3-1]"),
        MalformedPacket(
            "a filter of UNSUBSCRIBE of 3.1.1 with U+0000", .v311, .client, "A2 05 00 01 00 01 00",
            .nullCharacter, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.3-2]"),
        MalformedPacket(
            "a content type that is not UTF-8", .v5, .client, "30 08 00 01 61 04 03 00 01 FF",
            .malformedUTF8, .property(.contentType), 7, .malformedPacket, "[MQTT-3.3.2-19]"),
        MalformedPacket(
            "a response topic that is not UTF-8", .v5, .client, "30 08 00 01 61 04 08 00 01 C3",
            .malformedUTF8, .property(.responseTopic), 7, .malformedPacket, "[MQTT-3.3.2-13]"),
        MalformedPacket(
            "a response topic with U+0000", .v5, .client, "30 08 00 01 61 04 08 00 01 00",
            .nullCharacter, .property(.responseTopic), 7, .malformedPacket, "[MQTT-1.5.4-2]"),
        MalformedPacket(
            "a user property whose name is not UTF-8", .v5, .client, "30 0B 00 01 61 07 26 00 01 80 00 01 76",
            .malformedUTF8, .property(.userProperty), 7, .malformedPacket, "[MQTT-1.5.7-1]"),
        MalformedPacket(
            "a user property whose value is not UTF-8", .v5, .client, "30 0B 00 01 61 07 26 00 01 6E 00 01 80",
            .malformedUTF8, .property(.userProperty), 10, .malformedPacket, "[MQTT-1.5.7-1]"),
        MalformedPacket(
            "a user property whose value has U+0000", .v5, .server, "30 0B 00 01 61 07 26 00 01 6E 00 01 00",
            .nullCharacter, .property(.userProperty), 10, .malformedPacket, "[MQTT-1.5.7-1]"),
        MalformedPacket(
            "an assigned client identifier that is not UTF-8", .v5, .server, "20 07 00 00 04 12 00 01 F8",
            .malformedUTF8, .property(.assignedClientIdentifier), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "an authentication method that is not UTF-8", .v5, .server, "20 07 00 00 04 15 00 01 F8",
            .malformedUTF8, .property(.authenticationMethod), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a response information that is not UTF-8", .v5, .server, "20 07 00 00 04 1A 00 01 F8",
            .malformedUTF8, .property(.responseInformation), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a server reference that is not UTF-8", .v5, .server, "20 07 00 00 04 1C 00 01 F8",
            .malformedUTF8, .property(.serverReference), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a reason string that is not UTF-8", .v5, .server, "20 07 00 00 04 1F 00 01 F8",
            .malformedUTF8, .property(.reasonString), 6, .malformedPacket, "[MQTT-1.5.4-1]"),
        MalformedPacket(
            "a reason string of PUBACK with U+0000", .v5, .client, "40 08 00 01 80 04 1F 00 01 00",
            .nullCharacter, .property(.reasonString), 7, .malformedPacket, "[MQTT-1.5.4-2]"),
    ]

    /// Topic names with wildcards, filters with wildcards in the wrong places, and shared filters that are not whole.
    static let topics: [MalformedPacket] = [
        MalformedPacket(
            "a topic name with +", .v5, .client, "30 04 00 01 2B 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with #", .v5, .client, "30 04 00 01 23 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a/+/b", .v5, .client, "30 08 00 05 61 2F 2B 2F 62 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a#", .v5, .client, "30 05 00 02 61 23 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a wildcard behind eight characters", .v5, .client,
            "30 0C 00 09 61 62 63 64 65 66 67 68 2B 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with + in 3.1.1", .v311, .client, "30 05 00 03 61 2F 2B",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with # in 3.1.1", .v311, .client, "30 09 00 07 73 70 6F 72 74 2F 23",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with # in 3.1", .v31, .client, "30 03 00 01 23",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2] of 3.1.1"),
        MalformedPacket(
            "a topic name with a wildcard from the server", .v5, .server, "30 06 00 03 61 2F 23 00",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a topic name with a wildcard and an alias", .v5, .client, "30 07 00 01 2B 03 23 00 01",
            .wildcardInTopicName, .topicName, 2, .malformedPacket, "[MQTT-3.3.2-2]"),
        MalformedPacket(
            "a will topic with a wildcard", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 03 77 2F 23 00 00",
            .wildcardInTopicName, .willTopic, 17, .malformedPacket, "[MQTT-4.7.0-1]"),
        MalformedPacket(
            "a will topic of 3.1.1 with a wildcard", .v311, .client,
            "10 14 00 04 4D 51 54 54 04 06 00 3C 00 01 63 00 03 2B 2F 77 00 00",
            .wildcardInTopicName, .willTopic, 15, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "a response topic with a wildcard", .v5, .client, "30 0A 00 01 61 06 08 00 03 72 2F 2B",
            .wildcardInTopicName, .property(.responseTopic), 7, .malformedPacket, "[MQTT-3.3.2-14]"),
        MalformedPacket(
            "a response topic of a will with a wildcard", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 04 08 00 01 23 00 01 77 00 00",
            .wildcardInTopicName, .property(.responseTopic), 18, .malformedPacket, "[MQTT-4.7.0-1]"),
        MalformedPacket(
            "a PUBLISH without a topic and without an alias", .v5, .client, "30 03 00 00 00",
            .emptyTopicWithoutAlias, .topicName, 2, .protocolError, "3.3.2.1"),
        MalformedPacket(
            "a PUBLISH without a topic whose properties have no alias", .v5, .server, "30 05 00 00 02 01 01",
            .emptyTopicWithoutAlias, .topicName, 2, .protocolError, "3.3.2.1"),
        MalformedPacket(
            "a PUBLISH of 3.1.1 without a topic", .v311, .client, "30 02 00 00",
            .emptyTopic, .topicName, 2, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "a PUBLISH of 3.1 without a topic", .v31, .server, "30 02 00 00",
            .emptyTopic, .topicName, 2, .malformedPacket, "[MQTT-4.7.3-1] of 3.1.1"),
        MalformedPacket(
            "an empty will topic", .v5, .client, "10 13 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 00 00 00 00 00",
            .emptyTopic, .willTopic, 17, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty will topic of 3.1.1", .v311, .client, "10 11 00 04 4D 51 54 54 04 06 00 3C 00 01 63 00 00 00 00",
            .emptyTopic, .willTopic, 15, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty response topic", .v5, .client, "30 07 00 01 61 03 08 00 00",
            .emptyTopic, .property(.responseTopic), 7, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter", .v5, .client, "82 06 00 01 00 00 00 00",
            .emptyTopic, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter behind a good one", .v5, .client, "82 0A 00 01 00 00 01 61 00 00 00 00",
            .emptyTopic, .topicFilter, 9, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter of UNSUBSCRIBE", .v5, .client, "A2 05 00 01 00 00 00",
            .emptyTopic, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "an empty filter of 3.1.1", .v311, .client, "82 05 00 01 00 00 00",
            .emptyTopic, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.3-1]"),
        MalformedPacket(
            "the filter a#", .v5, .client, "82 08 00 01 00 00 02 61 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter #/a", .v5, .client, "82 09 00 01 00 00 03 23 2F 61 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a/#/b", .v5, .client, "82 0B 00 01 00 00 05 61 2F 23 2F 62 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter ##", .v5, .client, "82 08 00 01 00 00 02 23 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a/b#", .v5, .client, "82 0A 00 01 00 00 04 61 2F 62 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter abcdefgh/#/", .v5, .client, "82 11 00 01 00 00 0B 61 62 63 64 65 66 67 68 2F 23 2F 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a+", .v5, .client, "82 08 00 01 00 00 02 61 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter +a", .v5, .client, "82 08 00 01 00 00 02 2B 61 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a/+b/c", .v5, .client, "82 0C 00 01 00 00 06 61 2F 2B 62 2F 63 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter ++", .v5, .client, "82 08 00 01 00 00 02 2B 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a/b+", .v5, .client, "82 0A 00 01 00 00 04 61 2F 62 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter +#", .v5, .client, "82 08 00 01 00 00 02 2B 23 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter /+a", .v5, .client, "82 09 00 01 00 00 03 2F 2B 61 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a/#/b in UNSUBSCRIBE", .v5, .client, "A2 0A 00 01 00 00 05 61 2F 23 2F 62",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter a+/b in UNSUBSCRIBE", .v5, .client, "A2 09 00 01 00 00 04 61 2B 2F 62",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter sport/tennis# of 3.1.1", .v311, .client,
            "82 12 00 01 00 0D 73 70 6F 72 74 2F 74 65 6E 6E 69 73 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter sport/tennis/#/ranking of 3.1.1", .v311, .client,
            "82 1B 00 01 00 16 73 70 6F 72 74 2F 74 65 6E 6E 69 73 2F 23 2F 72 61 6E 6B 69 6E 67 00",
            .misplacedMultiLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter sport+ of 3.1.1", .v311, .client, "82 0B 00 01 00 06 73 70 6F 72 74 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-3]"),
        MalformedPacket(
            "the filter a# of 3.1.1 in UNSUBSCRIBE", .v311, .client, "A2 06 00 01 00 02 61 23",
            .misplacedMultiLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-2]"),
        MalformedPacket(
            "the filter a+ of 3.1", .v31, .client, "82 07 00 01 00 02 61 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 4, .malformedPacket, "[MQTT-4.7.1-3] of 3.1.1"),
        MalformedPacket(
            "the filter $share/", .v5, .client, "82 0D 00 01 00 00 07 24 73 68 61 72 65 2F 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-1]"),
        MalformedPacket(
            "the filter $share//a", .v5, .client, "82 0F 00 01 00 00 09 24 73 68 61 72 65 2F 2F 61 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-1]"),
        MalformedPacket(
            "the filter $share/g", .v5, .client, "82 0E 00 01 00 00 08 24 73 68 61 72 65 2F 67 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g/", .v5, .client, "82 0F 00 01 00 00 09 24 73 68 61 72 65 2F 67 2F 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/+/a", .v5, .client, "82 10 00 01 00 00 0A 24 73 68 61 72 65 2F 2B 2F 61 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g#/a", .v5, .client, "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 23 2F 61 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/#", .v5, .client, "82 0E 00 01 00 00 08 24 73 68 61 72 65 2F 23 00",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g in UNSUBSCRIBE", .v5, .client, "A2 0D 00 01 00 00 08 24 73 68 61 72 65 2F 67",
            .invalidSharedFilter, .topicFilter, 5, .malformedPacket, "[MQTT-4.8.2-2]"),
        MalformedPacket(
            "the filter $share/g/a#", .v5, .client, "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 61 23 00",
            .misplacedMultiLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-1]"),
        MalformedPacket(
            "the filter $share/g/a+", .v5, .client, "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 61 2B 00",
            .misplacedSingleLevelWildcard, .topicFilter, 5, .malformedPacket, "[MQTT-4.7.1-2]"),
    ]

    /// Packet id 0 in every packet that has one.
    static let packetIDs: [MalformedPacket] = [
        MalformedPacket(
            "a QoS 1 PUBLISH with packet id 0", .v5, .client, "32 06 00 01 61 00 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.2.1-3]"),
        MalformedPacket(
            "a QoS 2 PUBLISH with packet id 0", .v5, .server, "34 06 00 01 61 00 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.2.1-4]"),
        MalformedPacket(
            "a PUBACK with packet id 0", .v5, .server, "40 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a PUBREC with packet id 0", .v5, .server, "50 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a PUBREL with packet id 0", .v5, .server, "62 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a PUBCOMP with packet id 0", .v5, .server, "70 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-5]"),
        MalformedPacket(
            "a SUBSCRIBE with packet id 0", .v5, .client, "82 07 00 00 00 00 01 61 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-3]"),
        MalformedPacket(
            "a SUBACK with packet id 0", .v5, .server, "90 04 00 00 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-6]"),
        MalformedPacket(
            "an UNSUBSCRIBE with packet id 0", .v5, .client, "A2 06 00 00 00 00 01 61",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-3]"),
        MalformedPacket(
            "an UNSUBACK with packet id 0", .v5, .server, "B0 04 00 00 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.2.1-6]"),
        MalformedPacket(
            "a QoS 1 PUBLISH of 3.1.1 with packet id 0", .v311, .client, "32 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a QoS 2 PUBLISH of 3.1.1 with packet id 0", .v311, .server, "34 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a PUBACK of 3.1.1 with packet id 0", .v311, .server, "40 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-6]"),
        MalformedPacket(
            "a PUBREC of 3.1.1 with packet id 0", .v311, .server, "50 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-6]"),
        MalformedPacket(
            "a PUBREL of 3.1.1 with packet id 0", .v311, .server, "62 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-6]"),
        MalformedPacket(
            "a PUBCOMP of 3.1.1 with packet id 0", .v311, .server, "70 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "2.3.1"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 with packet id 0", .v311, .client, "82 06 00 00 00 01 61 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with packet id 0", .v311, .server, "90 03 00 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-7]"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 with packet id 0", .v311, .client, "A2 05 00 00 00 01 61",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-1]"),
        MalformedPacket(
            "an UNSUBACK of 3.1.1 with packet id 0", .v311, .server, "B0 02 00 00",
            .packetIDZero, .packetID, 2, .protocolError, "[MQTT-2.3.1-7]"),
        MalformedPacket(
            "a QoS 1 PUBLISH of 3.1 with packet id 0", .v31, .client, "32 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1] of 3.1.1"),
        MalformedPacket(
            "a QoS 2 PUBLISH of 3.1 with packet id 0", .v31, .server, "34 05 00 01 61 00 00",
            .packetIDZero, .packetID, 5, .protocolError, "[MQTT-2.3.1-1] of 3.1.1"),
    ]

    /// QoS 3, DUP where nothing can be sent again, and the options of a subscription.
    static let qualitiesOfService: [MalformedPacket] = [
        MalformedPacket(
            "a PUBLISH of QoS 3", .v5, .client, "36 06 00 01 61 00 01 00",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4]"),
        MalformedPacket(
            "a PUBLISH of QoS 3 with DUP and RETAIN", .v5, .server, "3F 06 00 01 61 00 01 00",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4]"),
        MalformedPacket(
            "a PUBLISH of 3.1.1 of QoS 3", .v311, .client, "36 05 00 01 61 00 01",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4]"),
        MalformedPacket(
            "a PUBLISH of 3.1 of QoS 3", .v31, .server, "36 05 00 01 61 00 01",
            .invalidQoS, .fixedHeader, 0, .malformedPacket, "[MQTT-3.3.1-4] of 3.1.1"),
        MalformedPacket(
            "a QoS 0 PUBLISH with DUP", .v5, .client, "38 04 00 01 61 00",
            .duplicateFlagOnQoS0, .fixedHeader, 0, .protocolError, "[MQTT-3.3.1-2]"),
        MalformedPacket(
            "a retained QoS 0 PUBLISH with DUP", .v5, .server, "39 04 00 01 61 00",
            .duplicateFlagOnQoS0, .fixedHeader, 0, .protocolError, "[MQTT-3.3.1-2]"),
        MalformedPacket(
            "a QoS 0 PUBLISH of 3.1.1 with DUP", .v311, .client, "38 03 00 01 61",
            .duplicateFlagOnQoS0, .fixedHeader, 0, .protocolError, "[MQTT-3.3.1-2]"),
        MalformedPacket(
            "a will of QoS 3", .v5, .client, "10 14 00 04 4D 51 54 54 05 1E 00 3C 00 00 01 63 00 00 01 77 00 00",
            .invalidWillQoS, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-12]"),
        MalformedPacket(
            "a will of 3.1.1 of QoS 3", .v311, .client, "10 12 00 04 4D 51 54 54 04 1E 00 3C 00 01 63 00 01 77 00 00",
            .invalidWillQoS, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-14]"),
        MalformedPacket(
            "a will of 3.1 of QoS 3", .v31, .client,
            "10 14 00 06 4D 51 49 73 64 70 03 1E 00 3C 00 01 63 00 01 77 00 00",
            .invalidWillQoS, .connectFlags, 11, .malformedPacket, "[MQTT-3.1.2-14] of 3.1.1"),
        MalformedPacket(
            "a subscription of QoS 3", .v5, .client, "82 07 00 01 00 00 01 61 03",
            .invalidRequestedQoS, .subscriptionOptions, 8, .protocolError, "3.8.3.1"),
        MalformedPacket(
            "a second subscription of QoS 3", .v5, .client, "82 0B 00 01 00 00 01 61 02 00 01 62 07",
            .invalidRequestedQoS, .subscriptionOptions, 12, .protocolError, "3.8.3.1"),
        MalformedPacket(
            "a subscription of 3.1.1 of QoS 3", .v311, .client, "82 06 00 01 00 01 61 03",
            .invalidRequestedQoS, .subscriptionOptions, 7, .protocolError, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "subscription options 40", .v5, .client, "82 07 00 01 00 00 01 61 40",
            .reservedSubscriptionOptions, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-5]"),
        MalformedPacket(
            "subscription options 80", .v5, .client, "82 07 00 01 00 00 01 61 80",
            .reservedSubscriptionOptions, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-5]"),
        MalformedPacket(
            "subscription options C1", .v5, .client, "82 07 00 01 00 00 01 61 C1",
            .reservedSubscriptionOptions, .subscriptionOptions, 8, .malformedPacket, "[MQTT-3.8.3-5]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 04", .v311, .client, "82 06 00 01 00 01 61 04",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 08", .v311, .client, "82 06 00 01 00 01 61 08",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 11", .v311, .client, "82 06 00 01 00 01 61 11",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "a requested QoS of 3.1.1 with the bits 80", .v311, .client, "82 06 00 01 00 01 61 80",
            .reservedSubscriptionOptions, .subscriptionOptions, 7, .malformedPacket, "[MQTT-3.8.3-4]"),
        MalformedPacket(
            "retain handling 3", .v5, .client, "82 07 00 01 00 00 01 61 31",
            .invalidRetainHandling, .subscriptionOptions, 8, .protocolError, "3.8.3.1"),
        MalformedPacket(
            "no-local on a shared subscription", .v5, .client, "82 10 00 01 00 00 0A 24 73 68 61 72 65 2F 67 2F 61 05",
            .noLocalOnSharedSubscription, .subscriptionOptions, 17, .protocolError, "[MQTT-3.8.3-4]"),
    ]

    /// CONNECT and CONNACK: names and levels, flags that contradict each other, and answers that cannot be.
    static let connections: [MalformedPacket] = [
        MalformedPacket(
            "a CONNECT with the protocol name MQTS", .v5, .client, "10 0E 00 04 4D 51 54 53 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name mqtt", .v5, .client, "10 0E 00 04 6D 71 74 74 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with an empty protocol name", .v5, .client, "10 0A 00 00 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name MQIsdq", .v5, .client,
            "10 10 00 06 4D 51 49 73 64 71 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name MQTTX", .v5, .client,
            "10 0F 00 05 4D 51 54 54 58 05 02 00 3C 00 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with the protocol name MQTt to a server of 3.1.1", .v311, .client,
            "10 0D 00 04 4D 51 54 74 04 02 00 3C 00 01 63",
            .unknownProtocolName, .protocolName, 2, .unsupportedProtocolVersion, "[MQTT-3.1.2-1]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 0", .v5, .client, "10 0E 00 04 4D 51 54 54 00 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(0), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 3", .v5, .client, "10 0E 00 04 4D 51 54 54 03 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(3), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 6", .v5, .client, "10 0E 00 04 4D 51 54 54 06 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(6), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 132", .v5, .client, "10 0E 00 04 4D 51 54 54 84 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(132), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQTT and level 255", .v5, .client, "10 0E 00 04 4D 51 54 54 FF 02 00 3C 00 00 01 63",
            .unsupportedProtocolVersion(255), .protocolVersion, 8, .unsupportedProtocolVersion, "[MQTT-3.1.2-2]"),
        MalformedPacket(
            "a CONNECT with MQIsdp and level 4", .v31, .client, "10 0F 00 06 4D 51 49 73 64 70 04 02 00 3C 00 01 63",
            .unsupportedProtocolVersion(4), .protocolVersion, 10,
            .unsupportedProtocolVersion, "[MQTT-3.1.2-2] of 3.1.1"),
        MalformedPacket(
            "a CONNECT with MQIsdp and level 5", .v31, .client, "10 0F 00 06 4D 51 49 73 64 70 05 02 00 3C 00 01 63",
            .unsupportedProtocolVersion(5), .protocolVersion, 10,
            .unsupportedProtocolVersion, "[MQTT-3.1.2-2] of 3.1.1"),
        MalformedPacket(
            "a CONNECT with the reserved flag", .v5, .client, "10 0E 00 04 4D 51 54 54 05 03 00 3C 00 00 01 63",
            .reservedConnectFlag, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-3]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with the reserved flag", .v311, .client, "10 0D 00 04 4D 51 54 54 04 03 00 3C 00 01 63",
            .reservedConnectFlag, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-3]"),
        MalformedPacket(
            "a CONNECT with a will QoS and no will", .v5, .client, "10 0E 00 04 4D 51 54 54 05 0A 00 3C 00 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-11]"),
        MalformedPacket(
            "a CONNECT with will retain and no will", .v5, .client, "10 0E 00 04 4D 51 54 54 05 22 00 3C 00 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-13]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a will QoS and no will", .v311, .client,
            "10 0D 00 04 4D 51 54 54 04 12 00 3C 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-13]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with will retain and no will", .v311, .client,
            "10 0D 00 04 4D 51 54 54 04 22 00 3C 00 01 63",
            .willFlagsWithoutWill, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-15]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 with a password and no user name", .v311, .client,
            "10 10 00 04 4D 51 54 54 04 42 00 3C 00 01 63 00 01 70",
            .passwordWithoutUsername, .connectFlags, 9, .malformedPacket, "[MQTT-3.1.2-22]"),
        MalformedPacket(
            "a CONNECT of 3.1 with a password and no user name", .v31, .client,
            "10 12 00 06 4D 51 49 73 64 70 03 42 00 3C 00 01 63 00 01 70",
            .passwordWithoutUsername, .connectFlags, 11, .malformedPacket, "[MQTT-3.1.2-22] of 3.1.1"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without an identifier that keeps its session", .v311, .client,
            "10 0C 00 04 4D 51 54 54 04 00 00 3C 00 00",
            .emptyClientID, .clientID, 12, .clientIdentifierNotValid, "[MQTT-3.1.3-8]"),
        MalformedPacket(
            "a CONNECT of 3.1.1 without an identifier, to a server of 5", .v5, .client,
            "10 0C 00 04 4D 51 54 54 04 00 00 3C 00 00",
            .emptyClientID, .clientID, 12, .clientIdentifierNotValid, "[MQTT-3.1.3-8] of 3.1.1"),
        MalformedPacket(
            "a CONNECT of 3.1 with an empty identifier", .v31, .client,
            "10 0E 00 06 4D 51 49 73 64 70 03 02 00 3C 00 00",
            .emptyClientID, .clientID, 14, .clientIdentifierNotValid, "3.1 of MQTT 3.1"),
        MalformedPacket(
            "a CONNACK with the flags 02", .v5, .server, "20 03 02 00 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "[MQTT-3.2.2-1]"),
        MalformedPacket(
            "a CONNACK with the flags 80", .v5, .server, "20 03 80 00 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "[MQTT-3.2.2-1]"),
        MalformedPacket(
            "a CONNACK with the flags FF", .v5, .server, "20 03 FF 00 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "[MQTT-3.2.2-1]"),
        MalformedPacket(
            "a CONNACK of 3.1.1 with the flags 02", .v311, .server, "20 02 02 00",
            .reservedAcknowledgeFlags, .acknowledgeFlags, 2, .malformedPacket, "3.2.2"),
        MalformedPacket(
            "a refusal with a session", .v5, .server, "20 03 01 87 00",
            .sessionPresentInRefusal, .acknowledgeFlags, 2, .protocolError, "[MQTT-3.2.2-6]"),
        MalformedPacket(
            "a refusal of 3.1.1 with a session", .v311, .server, "20 02 01 05",
            .sessionPresentInRefusal, .acknowledgeFlags, 2, .protocolError, "[MQTT-3.2.2-4]"),
        MalformedPacket(
            "a return code 06 in 3.1.1", .v311, .server, "20 02 00 06",
            .invalidReasonCode(0x06), .reasonCode, 3, .protocolError, "3.2.2"),
        MalformedPacket(
            "a return code 84 in 3.1.1", .v311, .server, "20 02 00 84",
            .invalidReasonCode(0x84), .reasonCode, 3, .protocolError, "3.2.2"),
        MalformedPacket(
            "a return code FF in 3.1.1", .v311, .server, "20 02 00 FF",
            .invalidReasonCode(0xFF), .reasonCode, 3, .protocolError, "3.2.2"),
        MalformedPacket(
            "a return code 06 in 3.1", .v31, .server, "20 02 00 06",
            .invalidReasonCode(0x06), .reasonCode, 3, .protocolError, "3.2.2 of 3.1.1"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 1 as the answer to 5", .v5, .server, "20 02 00 01",
            .connAckOfOlderVersion(1), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 2 as the answer to 5", .v5, .server, "20 02 00 02",
            .connAckOfOlderVersion(2), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 3 as the answer to 5", .v5, .server, "20 02 00 03",
            .connAckOfOlderVersion(3), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 4 as the answer to 5", .v5, .server, "20 02 00 04",
            .connAckOfOlderVersion(4), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK of MQTT 3 with return code 5 as the answer to 5", .v5, .server, "20 02 00 05",
            .connAckOfOlderVersion(5), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
    ]

    /// Reason codes that do not exist, or not in this packet, or not from this end.
    static let reasonCodes: [MalformedPacket] = [
        MalformedPacket(
            "a CONNACK with code 01", .v5, .server, "20 03 00 01 00",
            .invalidReasonCode(0x01), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 04", .v5, .server, "20 03 00 04 00",
            .invalidReasonCode(0x04), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 18", .v5, .server, "20 03 00 18 00",
            .invalidReasonCode(0x18), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 7F", .v5, .server, "20 03 00 7F 00",
            .invalidReasonCode(0x7F), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 8B", .v5, .server, "20 03 00 8B 00",
            .invalidReasonCode(0x8B), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 8D", .v5, .server, "20 03 00 8D 00",
            .invalidReasonCode(0x8D), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code 91", .v5, .server, "20 03 00 91 00",
            .invalidReasonCode(0x91), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a CONNACK with code A2", .v5, .server, "20 03 00 A2 00",
            .invalidReasonCode(0xA2), .reasonCode, 3, .protocolError, "[MQTT-3.2.2-8]"),
        MalformedPacket(
            "a PUBACK from a client that knows of no subscribers", .v5, .client, "40 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBREC from a client that knows of no subscribers", .v5, .client, "50 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.5.2-1]"),
        MalformedPacket(
            "a PUBACK with code 01", .v5, .server, "40 03 00 01 01",
            .invalidReasonCode(0x01), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBACK with code 92", .v5, .server, "40 03 00 01 92",
            .invalidReasonCode(0x92), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBACK with code 9B", .v5, .server, "40 03 00 01 9B",
            .invalidReasonCode(0x9B), .reasonCode, 4, .protocolError, "[MQTT-3.4.2-1]"),
        MalformedPacket(
            "a PUBREC with code 02", .v5, .server, "50 04 00 01 02 00",
            .invalidReasonCode(0x02), .reasonCode, 4, .protocolError, "[MQTT-3.5.2-1]"),
        MalformedPacket(
            "a PUBREC with code 92", .v5, .server, "50 04 00 01 92 00",
            .invalidReasonCode(0x92), .reasonCode, 4, .protocolError, "[MQTT-3.5.2-1]"),
        MalformedPacket(
            "a PUBREL with code 10", .v5, .client, "62 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.6.2-1]"),
        MalformedPacket(
            "a PUBREL with code 80", .v5, .client, "62 03 00 01 80",
            .invalidReasonCode(0x80), .reasonCode, 4, .protocolError, "[MQTT-3.6.2-1]"),
        MalformedPacket(
            "a PUBREL with code 91", .v5, .client, "62 03 00 01 91",
            .invalidReasonCode(0x91), .reasonCode, 4, .protocolError, "[MQTT-3.6.2-1]"),
        MalformedPacket(
            "a PUBCOMP with code 10", .v5, .server, "70 03 00 01 10",
            .invalidReasonCode(0x10), .reasonCode, 4, .protocolError, "[MQTT-3.7.2-1]"),
        MalformedPacket(
            "a PUBCOMP with code 83", .v5, .server, "70 03 00 01 83",
            .invalidReasonCode(0x83), .reasonCode, 4, .protocolError, "[MQTT-3.7.2-1]"),
        MalformedPacket(
            "a PUBCOMP with code FF", .v5, .server, "70 03 00 01 FF",
            .invalidReasonCode(0xFF), .reasonCode, 4, .protocolError, "[MQTT-3.7.2-1]"),
        MalformedPacket(
            "a SUBACK with code 03", .v5, .server, "90 04 00 01 00 03",
            .invalidReasonCode(0x03), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK with code 10", .v5, .server, "90 04 00 01 00 10",
            .invalidReasonCode(0x10), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK with code 11", .v5, .server, "90 04 00 01 00 11",
            .invalidReasonCode(0x11), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK with code 9A", .v5, .server, "90 04 00 01 00 9A",
            .invalidReasonCode(0x9A), .reasonCode, 5, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK whose third code does not exist", .v5, .server, "90 06 00 01 00 00 87 7F",
            .invalidReasonCode(0x7F), .reasonCode, 7, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 03", .v311, .server, "90 03 00 01 03",
            .invalidReasonCode(0x03), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 7F", .v311, .server, "90 03 00 01 7F",
            .invalidReasonCode(0x7F), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 81", .v311, .server, "90 03 00 01 81",
            .invalidReasonCode(0x81), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 with code 87", .v311, .server, "90 03 00 01 87",
            .invalidReasonCode(0x87), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2]"),
        MalformedPacket(
            "a SUBACK of 3.1 with code 03", .v31, .server, "90 03 00 01 03",
            .invalidReasonCode(0x03), .reasonCode, 4, .protocolError, "[MQTT-3.9.3-2] of 3.1.1"),
        MalformedPacket(
            "an UNSUBACK with code 01", .v5, .server, "B0 04 00 01 00 01",
            .invalidReasonCode(0x01), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "an UNSUBACK with code 10", .v5, .server, "B0 04 00 01 00 10",
            .invalidReasonCode(0x10), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "an UNSUBACK with code 97", .v5, .server, "B0 04 00 01 00 97",
            .invalidReasonCode(0x97), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "an UNSUBACK with code 9E", .v5, .server, "B0 04 00 01 00 9E",
            .invalidReasonCode(0x9E), .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
        MalformedPacket(
            "a DISCONNECT with code 01", .v5, .server, "E0 01 01",
            .invalidReasonCode(0x01), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code 10", .v5, .server, "E0 01 10",
            .invalidReasonCode(0x10), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code 84", .v5, .server, "E0 01 84",
            .invalidReasonCode(0x84), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code 91", .v5, .server, "E0 01 91",
            .invalidReasonCode(0x91), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT with code FF", .v5, .server, "E0 01 FF",
            .invalidReasonCode(0xFF), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of the server that asks for a will", .v5, .server, "E0 01 04",
            .invalidReasonCode(0x04), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 87", .v5, .client, "E0 02 87 00",
            .invalidReasonCode(0x87), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 89", .v5, .client, "E0 02 89 00",
            .invalidReasonCode(0x89), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8B", .v5, .client, "E0 02 8B 00",
            .invalidReasonCode(0x8B), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8D", .v5, .client, "E0 02 8D 00",
            .invalidReasonCode(0x8D), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8E", .v5, .client, "E0 02 8E 00",
            .invalidReasonCode(0x8E), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 8F", .v5, .client, "E0 02 8F 00",
            .invalidReasonCode(0x8F), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 9A", .v5, .client, "E0 02 9A 00",
            .invalidReasonCode(0x9A), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 9C", .v5, .client, "E0 02 9C 00",
            .invalidReasonCode(0x9C), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code 9F", .v5, .client, "E0 02 9F 00",
            .invalidReasonCode(0x9F), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "a DISCONNECT of a client with code A0", .v5, .client, "E0 02 A0 00",
            .invalidReasonCode(0xA0), .reasonCode, 2, .protocolError, "[MQTT-3.14.2-1]"),
        MalformedPacket(
            "an AUTH of a client that reports success", .v5, .client, "F0 06 00 04 15 00 01 6D",
            .invalidReasonCode(0x00), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH of a client without a body, which means success", .v5, .client, "F0 00",
            .invalidReasonCode(0x00), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH of the server that starts again", .v5, .server, "F0 06 19 04 15 00 01 6D",
            .invalidReasonCode(0x19), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH with code 01", .v5, .server, "F0 06 01 04 15 00 01 6D",
            .invalidReasonCode(0x01), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
        MalformedPacket(
            "an AUTH with code 87", .v5, .server, "F0 06 87 04 15 00 01 6D",
            .invalidReasonCode(0x87), .reasonCode, 2, .protocolError, "[MQTT-3.15.2-1]"),
    ]

    /// Lists that need an entry and have none.
    static let emptyLists: [MalformedPacket] = [
        MalformedPacket(
            "a SUBSCRIBE without a filter", .v5, .client, "82 03 00 01 00",
            .noEntries, .topicFilter, 5, .protocolError, "[MQTT-3.8.3-2]"),
        MalformedPacket(
            "a SUBSCRIBE of 3.1.1 without a filter", .v311, .client, "82 02 00 01",
            .noEntries, .topicFilter, 4, .protocolError, "[MQTT-3.8.3-3]"),
        MalformedPacket(
            "an UNSUBSCRIBE without a filter", .v5, .client, "A2 03 00 01 00",
            .noEntries, .topicFilter, 5, .protocolError, "[MQTT-3.10.3-2]"),
        MalformedPacket(
            "an UNSUBSCRIBE of 3.1.1 without a filter", .v311, .client, "A2 02 00 01",
            .noEntries, .topicFilter, 4, .protocolError, "[MQTT-3.10.3-2]"),
        MalformedPacket(
            "a SUBACK without a code", .v5, .server, "90 03 00 01 00",
            .noEntries, .reasonCode, 5, .protocolError, "[MQTT-3.8.4-6]"),
        MalformedPacket(
            "a SUBACK of 3.1.1 without a code", .v311, .server, "90 02 00 01",
            .noEntries, .reasonCode, 4, .protocolError, "[MQTT-3.8.4-5]"),
        MalformedPacket(
            "an UNSUBACK without a code", .v5, .server, "B0 03 00 01 00",
            .noEntries, .reasonCode, 5, .protocolError, "[MQTT-3.11.3-2]"),
    ]

    /// Each property once in a packet that it does not belong to (Table 2-4), or from the wrong end.
    static let misplacedProperties: [MalformedPacket] = [
        MalformedPacket(
            "payload format indicator in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 01 01 00 01 63",
            .propertyNotAllowed(.payloadFormatIndicator), .property(.payloadFormatIndicator), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "message expiry interval in SUBSCRIBE", .v5, .client, "82 0C 00 01 05 02 00 00 00 3C 00 01 61 00",
            .propertyNotAllowed(.messageExpiryInterval), .property(.messageExpiryInterval), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "content type in PUBACK", .v5, .client, "40 08 00 01 00 04 03 00 01 78",
            .propertyNotAllowed(.contentType), .property(.contentType), 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "response topic in SUBACK", .v5, .server, "90 08 00 01 04 08 00 01 72 00",
            .propertyNotAllowed(.responseTopic), .property(.responseTopic), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "correlation data in UNSUBSCRIBE", .v5, .client, "A2 0A 00 01 04 09 00 01 6B 00 01 61",
            .propertyNotAllowed(.correlationData), .property(.correlationData), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "subscription identifier in UNSUBSCRIBE", .v5, .client, "A2 08 00 01 02 0B 05 00 01 61",
            .propertyNotAllowed(.subscriptionIdentifier), .property(.subscriptionIdentifier), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "subscription identifier in a will", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 02 0B 05 00 01 77 00 00",
            .propertyNotAllowed(.subscriptionIdentifier), .property(.subscriptionIdentifier), 17,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "session expiry interval in PUBLISH", .v5, .client, "30 09 00 01 61 05 11 00 00 00 0A",
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "session expiry interval in a will", .v5, .client,
            "10 19 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 05 11 00 00 00 0A 00 01 77 00 00",
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval), 17,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "assigned client identifier in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 12 00 01 69 00 01 63",
            .propertyNotAllowed(.assignedClientIdentifier), .property(.assignedClientIdentifier), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "server keep-alive in CONNECT", .v5, .client, "10 11 00 04 4D 51 54 54 05 02 00 3C 03 13 00 1E 00 01 63",
            .propertyNotAllowed(.serverKeepAlive), .property(.serverKeepAlive), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "authentication method in PUBLISH", .v5, .client, "30 08 00 01 61 04 15 00 01 6D",
            .propertyNotAllowed(.authenticationMethod), .property(.authenticationMethod), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "authentication data in DISCONNECT", .v5, .server, "E0 06 00 04 16 00 01 64",
            .propertyNotAllowed(.authenticationData), .property(.authenticationData), 4,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "request problem information in CONNACK", .v5, .server, "20 05 00 00 02 17 01",
            .propertyNotAllowed(.requestProblemInformation), .property(.requestProblemInformation), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "will delay interval in CONNECT", .v5, .client,
            "10 13 00 04 4D 51 54 54 05 02 00 3C 05 18 00 00 00 05 00 01 63",
            .propertyNotAllowed(.willDelayInterval), .property(.willDelayInterval), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "will delay interval in PUBLISH", .v5, .client, "30 09 00 01 61 05 18 00 00 00 05",
            .propertyNotAllowed(.willDelayInterval), .property(.willDelayInterval), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "request response information in AUTH", .v5, .server, "F0 04 18 02 19 00",
            .propertyNotAllowed(.requestResponseInformation), .property(.requestResponseInformation), 4,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "response information in PUBREC", .v5, .server, "50 08 00 01 00 04 1A 00 01 69",
            .propertyNotAllowed(.responseInformation), .property(.responseInformation), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "server reference in AUTH", .v5, .server, "F0 06 18 04 1C 00 01 73",
            .propertyNotAllowed(.serverReference), .property(.serverReference), 4, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "reason string in CONNECT", .v5, .client, "10 12 00 04 4D 51 54 54 05 02 00 3C 04 1F 00 01 72 00 01 63",
            .propertyNotAllowed(.reasonString), .property(.reasonString), 13, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "reason string in PUBLISH", .v5, .client, "30 08 00 01 61 04 1F 00 01 72",
            .propertyNotAllowed(.reasonString), .property(.reasonString), 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "reason string in SUBSCRIBE", .v5, .client, "82 0B 00 01 04 1F 00 01 72 00 01 61 00",
            .propertyNotAllowed(.reasonString), .property(.reasonString), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "receive maximum in PUBCOMP", .v5, .server, "70 07 00 01 00 03 21 00 0A",
            .propertyNotAllowed(.receiveMaximum), .property(.receiveMaximum), 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "topic alias maximum in PUBREL", .v5, .client, "62 07 00 01 00 03 22 00 0A",
            .propertyNotAllowed(.topicAliasMaximum), .property(.topicAliasMaximum), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "topic alias in a will", .v5, .client,
            "10 17 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 03 23 00 01 00 01 77 00 00",
            .propertyNotAllowed(.topicAlias), .property(.topicAlias), 17, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "topic alias in CONNACK", .v5, .server, "20 06 00 00 03 23 00 01",
            .propertyNotAllowed(.topicAlias), .property(.topicAlias), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "maximum QoS in CONNECT", .v5, .client, "10 10 00 04 4D 51 54 54 05 02 00 3C 02 24 01 00 01 63",
            .propertyNotAllowed(.maximumQoS), .property(.maximumQoS), 13, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "retain available in SUBACK", .v5, .server, "90 06 00 01 02 25 00 00",
            .propertyNotAllowed(.retainAvailable), .property(.retainAvailable), 5, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "maximum packet size in UNSUBACK", .v5, .server, "B0 09 00 01 05 27 00 00 10 00 00",
            .propertyNotAllowed(.maximumPacketSize), .property(.maximumPacketSize), 5,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "wildcard subscription available in DISCONNECT", .v5, .server, "E0 04 00 02 28 01",
            .propertyNotAllowed(.wildcardSubscriptionAvailable), .property(.wildcardSubscriptionAvailable), 4,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "subscription identifiers available in PUBLISH", .v5, .client, "30 06 00 01 61 02 29 01",
            .propertyNotAllowed(.subscriptionIdentifiersAvailable), .property(.subscriptionIdentifiersAvailable), 6,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "shared subscription available in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 2A 00 00 01 63",
            .propertyNotAllowed(.sharedSubscriptionAvailable), .property(.sharedSubscriptionAvailable), 13,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "session expiry interval behind a good property", .v5, .client,
            "40 0D 00 01 00 09 1F 00 01 72 11 00 00 00 01",
            .propertyNotAllowed(.sessionExpiryInterval), .property(.sessionExpiryInterval), 10,
            .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "a subscription identifier in a PUBLISH of a client", .v5, .client, "30 06 00 01 61 02 0B 01",
            .propertyOfOtherEnd(.subscriptionIdentifier), .property(.subscriptionIdentifier), 6,
            .protocolError, "[MQTT-3.3.4-6]"),
        MalformedPacket(
            "a session expiry interval in a DISCONNECT of the server", .v5, .server, "E0 07 00 05 11 00 00 00 01",
            .propertyOfOtherEnd(.sessionExpiryInterval), .property(.sessionExpiryInterval), 4,
            .protocolError, "[MQTT-3.14.2-2]"),
    ]

    /// Each property that may stand only once, twice.
    static let repeatedProperties: [MalformedPacket] = [
        MalformedPacket(
            "payload format indicator twice in a will", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 04 01 01 01 01 00 01 77 00 00",
            .duplicateProperty(.payloadFormatIndicator), .property(.payloadFormatIndicator), 19,
            .protocolError, "3.1.3.2.3"),
        MalformedPacket(
            "message expiry interval twice in a will", .v5, .client,
            "10 1E 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 0A 02 00 00 00 3C 02 00 00 00 3C 00 01 77 00 00",
            .duplicateProperty(.messageExpiryInterval), .property(.messageExpiryInterval), 22,
            .protocolError, "3.1.3.2.4"),
        MalformedPacket(
            "content type twice in PUBLISH", .v5, .client, "30 0C 00 01 61 08 03 00 01 78 03 00 01 78",
            .duplicateProperty(.contentType), .property(.contentType), 10, .protocolError, "3.3.2.3.9"),
        MalformedPacket(
            "response topic twice in PUBLISH", .v5, .client, "30 0C 00 01 61 08 08 00 01 72 08 00 01 72",
            .duplicateProperty(.responseTopic), .property(.responseTopic), 10, .protocolError, "3.3.2.3.5"),
        MalformedPacket(
            "correlation data twice in PUBLISH", .v5, .client, "30 0C 00 01 61 08 09 00 01 6B 09 00 01 6B",
            .duplicateProperty(.correlationData), .property(.correlationData), 10, .protocolError, "3.3.2.3.6"),
        MalformedPacket(
            "subscription identifier twice in SUBSCRIBE", .v5, .client, "82 0B 00 01 04 0B 05 0B 05 00 01 61 00",
            .duplicateProperty(.subscriptionIdentifier), .property(.subscriptionIdentifier), 7,
            .protocolError, "3.8.2.1.2"),
        MalformedPacket(
            "session expiry interval twice in CONNECT", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 02 00 3C 0A 11 00 00 00 0A 11 00 00 00 0A 00 01 63",
            .duplicateProperty(.sessionExpiryInterval), .property(.sessionExpiryInterval), 18,
            .protocolError, "3.1.2.11.2"),
        MalformedPacket(
            "session expiry interval twice in CONNACK", .v5, .server, "20 0D 00 00 0A 11 00 00 00 0A 11 00 00 00 0A",
            .duplicateProperty(.sessionExpiryInterval), .property(.sessionExpiryInterval), 10,
            .protocolError, "3.2.2.3.2"),
        MalformedPacket(
            "assigned client identifier twice in CONNACK", .v5, .server, "20 0B 00 00 08 12 00 01 69 12 00 01 69",
            .duplicateProperty(.assignedClientIdentifier), .property(.assignedClientIdentifier), 9,
            .protocolError, "3.2.2.3.7"),
        MalformedPacket(
            "server keep-alive twice in CONNACK", .v5, .server, "20 09 00 00 06 13 00 1E 13 00 1E",
            .duplicateProperty(.serverKeepAlive), .property(.serverKeepAlive), 8, .protocolError, "3.2.2.3.14"),
        MalformedPacket(
            "authentication method twice in CONNECT", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 02 00 3C 08 15 00 01 6D 15 00 01 6D 00 01 63",
            .duplicateProperty(.authenticationMethod), .property(.authenticationMethod), 17,
            .protocolError, "3.1.2.11.9"),
        MalformedPacket(
            "authentication method twice in AUTH", .v5, .server, "F0 0A 18 08 15 00 01 6D 15 00 01 6D",
            .duplicateProperty(.authenticationMethod), .property(.authenticationMethod), 8,
            .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "authentication data twice in CONNECT", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 02 00 3C 08 16 00 01 64 16 00 01 64 00 01 63",
            .duplicateProperty(.authenticationData), .property(.authenticationData), 17, .protocolError, "3.1.2.11.10"),
        MalformedPacket(
            "authentication data twice in AUTH", .v5, .server, "F0 0A 18 08 16 00 01 64 16 00 01 64",
            .duplicateProperty(.authenticationData), .property(.authenticationData), 8, .protocolError, "3.15.2.2.3"),
        MalformedPacket(
            "request problem information twice in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 17 01 17 01 00 01 63",
            .duplicateProperty(.requestProblemInformation), .property(.requestProblemInformation), 15,
            .protocolError, "3.1.2.11.7"),
        MalformedPacket(
            "will delay interval twice in a will", .v5, .client,
            "10 1E 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 0A 18 00 00 00 05 18 00 00 00 05 00 01 77 00 00",
            .duplicateProperty(.willDelayInterval), .property(.willDelayInterval), 22, .protocolError, "3.1.3.2.2"),
        MalformedPacket(
            "request response information twice in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 19 00 19 00 00 01 63",
            .duplicateProperty(.requestResponseInformation), .property(.requestResponseInformation), 15,
            .protocolError, "3.1.2.11.6"),
        MalformedPacket(
            "response information twice in CONNACK", .v5, .server, "20 0B 00 00 08 1A 00 01 69 1A 00 01 69",
            .duplicateProperty(.responseInformation), .property(.responseInformation), 9, .protocolError, "3.2.2.3.15"),
        MalformedPacket(
            "server reference twice in CONNACK", .v5, .server, "20 0B 00 00 08 1C 00 01 73 1C 00 01 73",
            .duplicateProperty(.serverReference), .property(.serverReference), 9, .protocolError, "3.2.2.3.16"),
        MalformedPacket(
            "server reference twice in DISCONNECT", .v5, .server, "E0 0A 00 08 1C 00 01 73 1C 00 01 73",
            .duplicateProperty(.serverReference), .property(.serverReference), 8, .protocolError, "3.14.2.2.5"),
        MalformedPacket(
            "reason string twice in PUBACK", .v5, .client, "40 0C 00 01 00 08 1F 00 01 72 1F 00 01 72",
            .duplicateProperty(.reasonString), .property(.reasonString), 10, .protocolError, "3.4.2.2.2"),
        MalformedPacket(
            "reason string twice in SUBACK", .v5, .server, "90 0C 00 01 08 1F 00 01 72 1F 00 01 72 00",
            .duplicateProperty(.reasonString), .property(.reasonString), 9, .protocolError, "3.9.2.1.2"),
        MalformedPacket(
            "reason string twice in DISCONNECT", .v5, .server, "E0 0A 00 08 1F 00 01 72 1F 00 01 72",
            .duplicateProperty(.reasonString), .property(.reasonString), 8, .protocolError, "3.14.2.2.3"),
        MalformedPacket(
            "receive maximum twice in CONNECT", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 02 00 3C 06 21 00 0A 21 00 0A 00 01 63",
            .duplicateProperty(.receiveMaximum), .property(.receiveMaximum), 16, .protocolError, "3.1.2.11.3"),
        MalformedPacket(
            "topic alias maximum twice in CONNECT", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 02 00 3C 06 22 00 0A 22 00 0A 00 01 63",
            .duplicateProperty(.topicAliasMaximum), .property(.topicAliasMaximum), 16, .protocolError, "3.1.2.11.5"),
        MalformedPacket(
            "topic alias twice in PUBLISH", .v5, .client, "30 0A 00 01 61 06 23 00 01 23 00 01",
            .duplicateProperty(.topicAlias), .property(.topicAlias), 9, .protocolError, "3.3.2.3.4"),
        MalformedPacket(
            "maximum QoS twice in CONNACK", .v5, .server, "20 07 00 00 04 24 01 24 01",
            .duplicateProperty(.maximumQoS), .property(.maximumQoS), 7, .protocolError, "3.2.2.3.4"),
        MalformedPacket(
            "retain available twice in CONNACK", .v5, .server, "20 07 00 00 04 25 00 25 00",
            .duplicateProperty(.retainAvailable), .property(.retainAvailable), 7, .protocolError, "3.2.2.3.5"),
        MalformedPacket(
            "maximum packet size twice in CONNECT", .v5, .client,
            "10 18 00 04 4D 51 54 54 05 02 00 3C 0A 27 00 00 10 00 27 00 00 10 00 00 01 63",
            .duplicateProperty(.maximumPacketSize), .property(.maximumPacketSize), 18, .protocolError, "3.1.2.11.4"),
        MalformedPacket(
            "wildcard subscription available twice in CONNACK", .v5, .server, "20 07 00 00 04 28 01 28 01",
            .duplicateProperty(.wildcardSubscriptionAvailable), .property(.wildcardSubscriptionAvailable), 7,
            .protocolError, "3.2.2.3.11"),
        MalformedPacket(
            "subscription identifiers available twice in CONNACK", .v5, .server, "20 07 00 00 04 29 01 29 01",
            .duplicateProperty(.subscriptionIdentifiersAvailable), .property(.subscriptionIdentifiersAvailable), 7,
            .protocolError, "3.2.2.3.12"),
        MalformedPacket(
            "shared subscription available twice in CONNACK", .v5, .server, "20 07 00 00 04 2A 00 2A 00",
            .duplicateProperty(.sharedSubscriptionAvailable), .property(.sharedSubscriptionAvailable), 7,
            .protocolError, "3.2.2.3.13"),
        MalformedPacket(
            "a topic alias twice, with other properties between", .v5, .client,
            "30 11 00 01 61 0D 23 00 01 26 00 01 6E 00 01 76 23 00 02",
            .duplicateProperty(.topicAlias), .property(.topicAlias), 16, .protocolError, "3.3.2.3.4"),
    ]

    /// Values that a property may not have.
    static let propertyValues: [MalformedPacket] = [
        MalformedPacket(
            "payload format indicator 02 in PUBLISH", .v5, .client, "30 06 00 01 61 02 01 02",
            .invalidPropertyValue(.payloadFormatIndicator), .property(.payloadFormatIndicator), 7,
            .protocolError, "3.3.2.3.2"),
        MalformedPacket(
            "payload format indicator FF in a will", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 02 01 FF 00 01 77 00 00",
            .invalidPropertyValue(.payloadFormatIndicator), .property(.payloadFormatIndicator), 18,
            .protocolError, "3.1.3.2.3"),
        MalformedPacket(
            "request problem information 02 in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 17 02 00 01 63",
            .invalidPropertyValue(.requestProblemInformation), .property(.requestProblemInformation), 14,
            .protocolError, "3.1.2.11.7"),
        MalformedPacket(
            "request response information 02 in CONNECT", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 19 02 00 01 63",
            .invalidPropertyValue(.requestResponseInformation), .property(.requestResponseInformation), 14,
            .protocolError, "3.1.2.11.6"),
        MalformedPacket(
            "maximum QoS 02 in CONNACK", .v5, .server, "20 05 00 00 02 24 02",
            .invalidPropertyValue(.maximumQoS), .property(.maximumQoS), 6, .protocolError, "3.2.2.3.4"),
        MalformedPacket(
            "retain available 02 in CONNACK", .v5, .server, "20 05 00 00 02 25 02",
            .invalidPropertyValue(.retainAvailable), .property(.retainAvailable), 6, .protocolError, "3.2.2.3.5"),
        MalformedPacket(
            "wildcard subscription available 02 in CONNACK", .v5, .server, "20 05 00 00 02 28 02",
            .invalidPropertyValue(.wildcardSubscriptionAvailable), .property(.wildcardSubscriptionAvailable), 6,
            .protocolError, "3.2.2.3.11"),
        MalformedPacket(
            "subscription identifiers available 02 in CONNACK", .v5, .server, "20 05 00 00 02 29 02",
            .invalidPropertyValue(.subscriptionIdentifiersAvailable), .property(.subscriptionIdentifiersAvailable), 6,
            .protocolError, "3.2.2.3.12"),
        MalformedPacket(
            "shared subscription available FF in CONNACK", .v5, .server, "20 05 00 00 02 2A FF",
            .invalidPropertyValue(.sharedSubscriptionAvailable), .property(.sharedSubscriptionAvailable), 6,
            .protocolError, "3.2.2.3.13"),
        MalformedPacket(
            "receive maximum 00 00 in CONNECT", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 02 00 3C 03 21 00 00 00 01 63",
            .invalidPropertyValue(.receiveMaximum), .property(.receiveMaximum), 14, .protocolError, "3.1.2.11.3"),
        MalformedPacket(
            "receive maximum 00 00 in CONNACK", .v5, .server, "20 06 00 00 03 21 00 00",
            .invalidPropertyValue(.receiveMaximum), .property(.receiveMaximum), 6, .protocolError, "3.2.2.3.3"),
        MalformedPacket(
            "maximum packet size 00 00 00 00 in CONNECT", .v5, .client,
            "10 13 00 04 4D 51 54 54 05 02 00 3C 05 27 00 00 00 00 00 01 63",
            .invalidPropertyValue(.maximumPacketSize), .property(.maximumPacketSize), 14, .protocolError, "3.1.2.11.4"),
        MalformedPacket(
            "maximum packet size 00 00 00 00 in CONNACK", .v5, .server, "20 08 00 00 05 27 00 00 00 00",
            .invalidPropertyValue(.maximumPacketSize), .property(.maximumPacketSize), 6, .protocolError, "3.2.2.3.6"),
        MalformedPacket(
            "subscription identifier 00 in SUBSCRIBE", .v5, .client, "82 09 00 01 02 0B 00 00 01 61 00",
            .invalidPropertyValue(.subscriptionIdentifier), .property(.subscriptionIdentifier), 6,
            .protocolError, "3.8.2.1.2"),
        MalformedPacket(
            "topic alias 0", .v5, .client, "30 07 00 01 61 03 23 00 00",
            .invalidPropertyValue(.topicAlias), .property(.topicAlias), 7, .topicAliasInvalid, "[MQTT-3.3.2-8]"),
        MalformedPacket(
            "topic alias 0 in place of a topic", .v5, .server, "30 06 00 00 03 23 00 00",
            .invalidPropertyValue(.topicAlias), .property(.topicAlias), 6, .topicAliasInvalid, "[MQTT-3.3.2-8]"),
        MalformedPacket(
            "subscription identifier 0 in a PUBLISH", .v5, .server, "30 06 00 01 61 02 0B 00",
            .invalidPropertyValue(.subscriptionIdentifier), .property(.subscriptionIdentifier), 7,
            .protocolError, "3.3.2.3.8"),
        MalformedPacket(
            "a subscription identifier in two bytes that needs one", .v5, .server, "30 07 00 01 61 03 0B 81 00",
            .variableByteIntegerNotMinimal, .property(.subscriptionIdentifier), 7, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a subscription identifier of five bytes", .v5, .client, "82 0D 00 01 06 0B FF FF FF FF 01 00 01 61 00",
            .variableByteIntegerTooLong, .property(.subscriptionIdentifier), 6, .malformedPacket, "1.5.5"),
    ]

    /// Identifiers that are none of the 27, or are not written as the specification wants.
    static let propertyIdentifiers: [MalformedPacket] = [
        MalformedPacket(
            "property 00", .v5, .client, "30 06 00 01 61 02 00 00",
            .unknownProperty(0), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 04", .v5, .client, "30 06 00 01 61 02 04 00",
            .unknownProperty(4), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 10", .v5, .client, "30 06 00 01 61 02 10 00",
            .unknownProperty(16), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 14", .v5, .client, "30 06 00 01 61 02 14 00",
            .unknownProperty(20), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 2B", .v5, .client, "30 06 00 01 61 02 2B 00",
            .unknownProperty(43), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 7F", .v5, .client, "30 06 00 01 61 02 7F 00",
            .unknownProperty(127), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property 80 01", .v5, .client, "30 07 00 01 61 03 80 01 00",
            .unknownProperty(128), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "property FF FF FF 7F", .v5, .client, "30 09 00 01 61 05 FF FF FF 7F 00",
            .unknownProperty(268_435_455), .properties, 6, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "an unknown property behind a good one", .v5, .server, "20 07 00 00 04 24 01 2B 00",
            .unknownProperty(43), .properties, 7, .malformedPacket, "2.2.2.2"),
        MalformedPacket(
            "the identifier of a user property in two bytes", .v5, .client,
            "10 16 00 04 4D 51 54 54 05 02 00 3C 08 A6 00 00 01 6E 00 01 76 00 01 63",
            .variableByteIntegerNotMinimal, .properties, 13, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property identifier of five bytes", .v5, .client, "40 09 00 01 00 05 FF FF FF FF 7F",
            .variableByteIntegerTooLong, .properties, 6, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a property identifier that the list cuts off", .v5, .server, "E0 03 00 01 80",
            .truncated, .properties, 4, .malformedPacket, "2.2.2.2"),
    ]

    /// Lengths of property lists that lie, and lists and values that end too early.
    static let propertyLengths: [MalformedPacket] = [
        MalformedPacket(
            "a property length beyond the end of CONNECT", .v5, .client,
            "10 0E 00 04 4D 51 54 54 05 02 00 3C 7F 00 01 63",
            .truncated, .propertyLength, 12, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length of a will beyond the end of CONNECT", .v5, .client,
            "10 14 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 0A 00 01 77 00 00",
            .truncated, .propertyLength, 16, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of CONNACK", .v5, .server, "20 03 00 00 05",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBLISH", .v5, .client, "30 06 00 01 61 03 01 01",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBACK", .v5, .client, "40 04 00 01 00 01",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBREC", .v5, .server, "50 06 00 01 00 03 1F 00",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBREL", .v5, .client, "62 04 00 01 00 7F",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of PUBCOMP", .v5, .server, "70 04 00 01 92 01",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of SUBSCRIBE", .v5, .client, "82 07 00 01 09 00 01 61 00",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of SUBACK", .v5, .server, "90 04 00 01 02 00",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of UNSUBSCRIBE", .v5, .client, "A2 06 00 01 04 00 01 61",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of UNSUBACK", .v5, .server, "B0 04 00 01 02 00",
            .truncated, .propertyLength, 4, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of DISCONNECT", .v5, .server, "E0 02 00 01",
            .truncated, .propertyLength, 3, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length beyond the end of AUTH", .v5, .client, "F0 02 18 06",
            .truncated, .propertyLength, 3, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "the largest property length there can be", .v5, .client, "30 07 00 01 61 FF FF FF 7F",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a property length of 0 in too many bytes in CONNECT", .v5, .client,
            "10 0F 00 04 4D 51 54 54 05 02 00 3C 80 00 00 01 63",
            .variableByteIntegerNotMinimal, .propertyLength, 12, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in CONNACK", .v5, .server, "20 04 00 00 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 4, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in PUBLISH", .v5, .server, "30 06 00 01 61 80 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 5, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in PUBACK", .v5, .client, "40 05 00 01 00 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 5, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in SUBSCRIBE", .v5, .client, "82 08 00 01 80 00 00 01 61 00",
            .variableByteIntegerNotMinimal, .propertyLength, 4, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in DISCONNECT", .v5, .client, "E0 03 00 80 00",
            .variableByteIntegerNotMinimal, .propertyLength, 3, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of 0 in too many bytes in a will", .v5, .client,
            "10 15 00 04 4D 51 54 54 05 06 00 3C 00 00 01 63 80 00 00 01 77 00 00",
            .variableByteIntegerNotMinimal, .propertyLength, 16, .malformedPacket, "[MQTT-1.5.5-1]"),
        MalformedPacket(
            "a property length of five bytes", .v5, .client, "30 08 00 01 61 FF FF FF FF 01",
            .variableByteIntegerTooLong, .propertyLength, 5, .malformedPacket, "1.5.5"),
        MalformedPacket(
            "a property length that the packet cuts off", .v5, .client, "30 04 00 01 61 80",
            .truncated, .propertyLength, 5, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a byte that the property length cuts off", .v5, .client, "30 05 00 01 61 01 01",
            .truncated, .property(.payloadFormatIndicator), 7, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "two bytes that the property length cuts off", .v5, .client,
            "10 10 00 04 4D 51 54 54 05 02 00 3C 02 21 00 00 01 63",
            .truncated, .property(.receiveMaximum), 14, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "four bytes that the property length cuts off", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 11 00 00 01 00 01 63",
            .truncated, .property(.sessionExpiryInterval), 14, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a variable byte integer that the property length cuts off", .v5, .client,
            "82 09 00 01 02 0B FF 00 01 61 00",
            .truncated, .property(.subscriptionIdentifier), 6, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a text that the property length cuts off", .v5, .server, "90 08 00 01 04 1F 00 05 72 00",
            .truncated, .property(.reasonString), 6, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "the length of a text that the property length cuts off", .v5, .client, "30 06 00 01 61 02 03 00",
            .truncated, .property(.contentType), 7, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "bytes that the property length cuts off", .v5, .client, "30 08 00 01 61 04 09 00 02 01",
            .truncated, .property(.correlationData), 7, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a user property that the property length cuts off behind its name", .v5, .client,
            "A2 0A 00 01 04 26 00 01 6E 00 01 61",
            .truncated, .property(.userProperty), 9, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "a user property that the property length cuts off in its value", .v5, .server,
            "70 0B 00 01 00 07 26 00 01 6E 00 02 76",
            .truncated, .property(.userProperty), 10, .malformedPacket, "2.2.2.1"),
        MalformedPacket(
            "more user properties in a PUBLISH than the limit", .v5, .client,
            "30 19 00 01 61 15 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76",
            .tooManyProperties(limit: 2), .property(.userProperty), 20,
            .quotaExceeded, "limit of the decoder", limits: .twoProperties),
        MalformedPacket(
            "three filters where two are the limit", .v311, .client, "82 0E 00 01 00 01 61 00 00 01 62 00 00 01 63 00",
            .tooManyFilters(limit: 2), .topicFilter, 12, .quotaExceeded, "the decoder's limit", limits: .twoFilters),
        MalformedPacket(
            "three filters to unsubscribe where two are the limit", .v5, .client,
            "A2 0C 00 01 00 00 01 61 00 01 62 00 01 63", .tooManyFilters(limit: 2), .topicFilter, 11, .quotaExceeded,
            "the decoder's limit", limits: .twoFilters),
        MalformedPacket(
            "more properties in a PUBREC than the limit", .v5, .server,
            "50 16 00 01 00 12 1F 00 01 72 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76",
            .tooManyProperties(limit: 2), .property(.userProperty), 17,
            .quotaExceeded, "limit of the decoder", limits: .twoProperties),
        MalformedPacket(
            "more properties in a CONNECT than the limit", .v5, .client,
            "10 19 00 04 4D 51 54 54 05 02 00 3C 0B 11 00 00 00 01 21 00 01 22 00 01 00 01 63",
            .tooManyProperties(limit: 2), .property(.topicAliasMaximum), 21,
            .quotaExceeded, "limit of the decoder", limits: .twoProperties),
    ]

    /// Extended authentication that does not name its method.
    static let authentication: [MalformedPacket] = [
        MalformedPacket(
            "authentication data without a method in CONNECT", .v5, .client,
            "10 12 00 04 4D 51 54 54 05 02 00 3C 04 16 00 01 64 00 01 63",
            .authenticationDataWithoutMethod, .properties, 13, .protocolError, "3.1.2.11.10"),
        MalformedPacket(
            "authentication data without a method in AUTH", .v5, .server, "F0 06 18 04 16 00 01 64",
            .missingAuthenticationMethod, .properties, 4, .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "an AUTH with a reason code and nothing more", .v5, .server, "F0 01 18",
            .missingAuthenticationMethod, .properties, 3, .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "an AUTH with an empty property list", .v5, .client, "F0 02 19 00",
            .missingAuthenticationMethod, .properties, 4, .protocolError, "3.15.2.2.2"),
        MalformedPacket(
            "an AUTH with a reason string and no method", .v5, .server, "F0 06 18 04 1F 00 01 72",
            .missingAuthenticationMethod, .properties, 4, .protocolError, "3.15.2.2.2"),
    ]
}

/// A packet that looks wrong and is not.
struct LookAlike: CustomTestStringConvertible, Sendable {
    let name: String
    let version: ProtocolVersion
    let sender: Endpoint
    let hex: String
    let packet: Packet

    init(_ name: String, _ version: ProtocolVersion, _ sender: Endpoint, _ hex: String, _ packet: Packet) {
        self.name = name
        self.version = version
        self.sender = sender
        self.hex = hex
        self.packet = packet
    }

    var testDescription: String { "\(name) (\(version))" }
}

/// Bytes that a decoder which is too strict would refuse.
@Suite
struct LookAlikeTests {
    @Test(arguments: text + sizes + versions + shortForms)
    func `a packet that only looks malformed is accepted`(_ row: LookAlike) throws {
        let decoded = try decode(bytes(row.hex), row.version, from: row.sender)
        #expect(decoded == row.packet)
    }

    @Test func `a byte order mark is kept wherever it stands`() throws {
        // Swift compares text by canonical equivalence, so the scalars are compared here ([MQTT-1.5.4-3]).
        let packet = try decode(bytes("30 09 00 06 EF BB BF EF BB BF 00"), .v5, from: .client)
        guard case .publish(let publish) = packet else {
            Issue.record("\(String(describing: packet)) is no PUBLISH")
            return
        }
        #expect(Array(publish.topic.unicodeScalars) == ["\u{FEFF}", "\u{FEFF}"])
    }

    static let text: [LookAlike] = [
        LookAlike(
            "a byte order mark in front of a topic", .v5, .client, "30 07 00 04 EF BB BF 61 00",
            publish("\u{FEFF}a")),
        LookAlike(
            "control characters, which SHOULD NOT be sent (1.5.4)", .v5, .server, "30 07 00 04 01 1F 7F 09 00",
            publish("\u{1}\u{1F}\u{7F}\u{9}")),
        LookAlike("a C1 control character", .v5, .client, "30 05 00 02 C2 80 00", publish("\u{80}")),
        LookAlike("the non-character U+FFFF", .v5, .client, "30 06 00 03 EF BF BF 00", publish("\u{FFFF}")),
        LookAlike(
            "the last code point before and the first behind the surrogates", .v5, .client,
            "30 09 00 06 ED 9F BF EE 80 80 00", publish("\u{D7FF}\u{E000}")),
        LookAlike("the last code point", .v5, .client, "30 07 00 04 F4 8F BF BF 00", publish("\u{10FFFF}")),
        LookAlike(
            "the shortest forms of two, three and four bytes", .v311, .client,
            "30 0B 00 09 C2 80 E0 A0 80 F0 90 80 80", publish("\u{80}\u{800}\u{10000}")),
        LookAlike("a topic of one slash", .v311, .client, "30 03 00 01 2F", publish("/")),
        LookAlike("a topic with a space and $", .v5, .client, "30 06 00 03 24 20 62 00", publish("$ b")),
        LookAlike(
            "a publication to $share", .v5, .client, "30 0B 00 08 24 73 68 61 72 65 2F 67 00", publish("$share/g")),
        LookAlike(
            "an empty topic with an alias", .v5, .server, "30 06 00 00 03 23 FF FF",
            publish("", [.topicAlias(65_535)])),
        LookAlike(
            "filters of wildcards alone", .v5, .client, "82 0F 00 01 00 00 01 23 00 00 05 2B 2F 2B 2F 23 02",
            .subscribe(
                Subscribe(
                    packetID: 1,
                    subscriptions: [
                        Subscription("#", qos: .atMostOnce), Subscription("+/+/#", qos: .exactlyOnce),
                    ]))),
        LookAlike(
            "a shared filter whose rest starts with a slash", .v5, .client,
            "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 2F 61 01",
            subscribe(Subscription("$share/g//a", qos: .atLeastOnce))),
        LookAlike(
            "a shared filter with wildcards and no no-local", .v5, .client,
            "82 11 00 01 00 00 0B 24 73 68 61 72 65 2F 67 2F 2F 23 01",
            subscribe(Subscription("$share/g//#", qos: .atLeastOnce))),
        LookAlike(
            "half a shared filter before MQTT 5", .v311, .client, "82 0D 00 01 00 08 24 73 68 61 72 65 2F 67 00",
            subscribe(Subscription("$share/g", qos: .atMostOnce))),
        LookAlike(
            "a filter that starts like a shared one", .v5, .client, "82 0D 00 01 00 00 07 24 73 68 61 72 65 64 00",
            subscribe(Subscription("$shared", qos: .atMostOnce))),
        LookAlike(
            "no-local and all other options on an ordinary filter", .v5, .client, "82 07 00 01 00 00 01 61 2E",
            subscribe(
                Subscription(
                    "a", qos: .exactlyOnce, isNoLocal: true, isRetainAsPublished: true, retainHandling: .doNotSend))),
        LookAlike(
            "an empty will, user name and password", .v5, .client,
            "10 17 00 04 4D 51 54 54 05 C4 00 00 00 00 00 00 00 01 77 00 00 00 00 00 00",
            .connect(
                Connect(
                    version: .v5, clientID: "", isCleanStart: false, keepAlive: 0, username: "",
                    password: SecretBytes([]), will: Connect.Will(topic: "w", payload: [])))),
        LookAlike(
            "a payload that is not the text that its format promises", .v5, .client, "30 07 00 01 61 02 01 01 FF",
            .publish(Publish(topic: "a", payload: [0xFF], properties: [.payloadFormatIndicator(isText: true)]))),
    ]

    static let sizes: [LookAlike] = [
        LookAlike(
            "a topic of 65,535 bytes", .v5, .client,
            "30 82 80 04 FF FF" + String(repeating: " 61", count: 65_535) + " 00",
            publish(String(repeating: "a", count: 65_535))),
        LookAlike(
            "a client identifier of 65,535 bytes", .v311, .client,
            "10 8B 80 04 00 04 4D 51 54 54 04 02 00 00 FF FF" + String(repeating: " 63", count: 65_535),
            .connect(Connect(version: .v311, clientID: String(repeating: "c", count: 65_535), keepAlive: 0))),
        LookAlike(
            "a client identifier of 24 characters, one more than servers must take", .v31, .client,
            "10 26 00 06 4D 51 49 73 64 70 03 02 00 00 00 18" + String(repeating: " 63", count: 24),
            .connect(Connect(version: .v31, clientID: String(repeating: "c", count: 24), keepAlive: 0))),
        LookAlike(
            "the largest subscription identifier", .v5, .server, "30 09 00 01 61 05 0B FF FF FF 7F",
            publish("a", [.subscriptionIdentifier(268_435_455)])),
        LookAlike(
            "several and equal subscription identifiers from the server", .v5, .server,
            "30 0A 00 01 61 06 0B 01 0B 02 0B 01",
            publish("a", [.subscriptionIdentifier(1), .subscriptionIdentifier(2), .subscriptionIdentifier(1)])),
        LookAlike(
            "user properties with the same name and an empty one", .v5, .client,
            "30 17 00 01 61 13 26 00 01 6E 00 01 76 26 00 01 6E 00 01 76 26 00 00 00 00",
            publish(
                "a",
                [
                    .userProperty(name: "n", value: "v"), .userProperty(name: "n", value: "v"),
                    .userProperty(name: "", value: ""),
                ])),
        LookAlike(
            "the smallest and largest values of numbers", .v5, .client,
            "10 1D 00 04 4D 51 54 54 05 02 FF FF 10 11 FF FF FF FF 21 00 01 22 00 00 27 00 00 00 01 00 00",
            .connect(
                Connect(
                    version: .v5, clientID: "", keepAlive: 65_535,
                    properties: [
                        .sessionExpiryInterval(.max), .receiveMaximum(1), .topicAliasMaximum(0), .maximumPacketSize(1),
                    ]))),
        LookAlike(
            "the largest packet id", .v5, .client, "3C 06 00 01 61 FF FF 00",
            .publish(
                Publish(topic: "a", payload: [], delivery: .exactlyOnce(65_535, isDuplicate: true)))),
    ]

    /// What older versions leave open, or say otherwise.
    static let versions: [LookAlike] = [
        LookAlike("a remaining length of 3.1.1 in two bytes", .v311, .client, "C0 80 00", .pingReq),
        LookAlike("a remaining length of 3.1 in four bytes", .v31, .server, "D0 80 80 80 00", .pingResp),
        LookAlike(
            "a SUBSCRIBE of 3.1 with DUP and QoS 1", .v31, .client, "8A 06 00 01 00 01 61 00",
            subscribe(Subscription("a", qos: .atMostOnce))),
        LookAlike("a PUBREL of 3.1 with DUP", .v31, .client, "6A 02 00 01", .pubRel(Acknowledgement(packetID: 1))),
        LookAlike("a PINGREQ of 3.1 with RETAIN", .v31, .client, "C1 00", .pingReq),
        LookAlike("a QoS 0 PUBLISH of 3.1 with DUP", .v31, .client, "38 03 00 01 61", publish("a")),
        LookAlike("a CONNACK of 3.1 with a reserved byte", .v31, .server, "20 02 FF 00", .connAck(ConnAck())),
        LookAlike(
            "a CONNECT of 3.1 with the reserved flag", .v31, .client,
            "10 0F 00 06 4D 51 49 73 64 70 03 03 00 3C 00 01 63",
            .connect(Connect(version: .v31, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1 whose remaining length leaves the user name and password out", .v31, .client,
            "10 0F 00 06 4D 51 49 73 64 70 03 C2 00 3C 00 01 63",
            .connect(Connect(version: .v31, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1 whose remaining length leaves the password out", .v31, .client,
            "10 12 00 06 4D 51 49 73 64 70 03 C2 00 3C 00 01 63 00 01 75",
            .connect(Connect(version: .v31, clientID: "c", username: "u"))),
        LookAlike(
            "a CONNECT of 3.1.1 to a server that reads 5", .v5, .client, "10 0D 00 04 4D 51 54 54 04 02 00 3C 00 01 63",
            .connect(Connect(version: .v311, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1 to a server that reads 5", .v5, .client,
            "10 0F 00 06 4D 51 49 73 64 70 03 02 00 3C 00 01 63",
            .connect(Connect(version: .v31, clientID: "c"))),
        LookAlike(
            "a CONNECT of 5 to a server that reads 3.1.1", .v311, .client,
            "10 0E 00 04 4D 51 54 54 05 02 00 3C 00 00 01 63", .connect(Connect(version: .v5, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1.1 with a long remaining length, to a server that reads 5", .v5, .client,
            "10 8D 00 00 04 4D 51 54 54 04 02 00 3C 00 01 63", .connect(Connect(version: .v311, clientID: "c"))),
        LookAlike(
            "a CONNECT of 3.1.1 without an identifier and with a clean session", .v311, .client,
            "10 0C 00 04 4D 51 54 54 04 02 00 3C 00 00", .connect(Connect(version: .v311, clientID: ""))),
        LookAlike(
            "a CONNECT of 5 without an identifier that keeps its session", .v5, .client,
            "10 0D 00 04 4D 51 54 54 05 00 00 3C 00 00 00",
            .connect(Connect(version: .v5, clientID: "", isCleanStart: false))),
        LookAlike(
            "a CONNECT of 5 with a password and no user name", .v5, .client,
            "10 11 00 04 4D 51 54 54 05 42 00 3C 00 00 01 63 00 01 70",
            .connect(Connect(version: .v5, clientID: "c", password: SecretBytes("p")))),
        LookAlike(
            "a failure in a SUBACK of 3.1.1", .v311, .server, "90 04 00 01 80 02",
            .subAck(SubAck(packetID: 1, reasonCodes: [.unspecifiedError, .grantedQoS2]))),
        LookAlike(
            "each return code of 3.1.1", .v311, .server, "20 02 00 05", .connAck(ConnAck(reasonCode: .notAuthorized))),
        LookAlike("a DISCONNECT of 5 from the server", .v5, .server, "E0 00", .disconnect(Disconnect())),
    ]

    /// What may be left out at the end of a packet of MQTT 5.
    static let shortForms: [LookAlike] = [
        LookAlike("a PUBACK of two bytes", .v5, .client, "40 02 00 01", .pubAck(Acknowledgement(packetID: 1))),
        LookAlike("a PUBACK of three bytes", .v5, .client, "40 03 00 01 00", .pubAck(Acknowledgement(packetID: 1))),
        LookAlike("a PUBACK of four bytes", .v5, .client, "40 04 00 01 00 00", .pubAck(Acknowledgement(packetID: 1))),
        LookAlike(
            "a PUBREC with a code and no property length", .v5, .server, "50 03 00 01 10",
            .pubRec(Acknowledgement(packetID: 1, reasonCode: .noMatchingSubscribers))),
        LookAlike(
            "a PUBREL with properties", .v5, .server, "62 0B 00 01 92 07 26 00 01 6E 00 01 76",
            .pubRel(
                Acknowledgement(
                    packetID: 1, reasonCode: .packetIdentifierNotFound,
                    properties: [.userProperty(name: "n", value: "v")]))),
        LookAlike(
            "a PUBCOMP of three bytes", .v5, .client, "70 03 00 01 92",
            .pubComp(Acknowledgement(packetID: 1, reasonCode: .packetIdentifierNotFound))),
        LookAlike("a DISCONNECT without a body", .v5, .client, "E0 00", .disconnect(Disconnect())),
        LookAlike(
            "a DISCONNECT without a property length", .v5, .client, "E0 01 04",
            .disconnect(Disconnect(reasonCode: .disconnectWithWillMessage))),
        LookAlike(
            "a session expiry interval in a DISCONNECT of a client", .v5, .client, "E0 07 00 05 11 00 00 00 00",
            .disconnect(Disconnect(properties: [.sessionExpiryInterval(0)]))),
        LookAlike(
            "an AUTH of the server without a body, which means success (3.15.2.1)", .v5, .server, "F0 00",
            .auth(Auth(reasonCode: .success, properties: []))),
        LookAlike(
            "an AUTH with an empty method and empty data", .v5, .client, "F0 08 19 06 16 00 00 15 00 00",
            .auth(
                Auth(
                    reasonCode: .reauthenticate,
                    properties: [.authenticationData(SecretBytes([])), .authenticationMethod("")]))),
        LookAlike(
            "authentication data without a method in a refusal", .v5, .server, "20 07 00 8C 04 16 00 01 64",
            .connAck(
                ConnAck(reasonCode: .badAuthenticationMethod, properties: [.authenticationData(SecretBytes("d"))]))),
    ]

    private static func publish(_ topic: String, _ properties: PacketProperties = []) -> Packet {
        .publish(Publish(topic: topic, payload: [], properties: properties))
    }

    private static func subscribe(_ subscription: Subscription) -> Packet {
        .subscribe(Subscribe(packetID: 1, subscriptions: [subscription]))
    }
}
