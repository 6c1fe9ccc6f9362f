import MQTTCodec
import TestSupport
import Testing

/// A packet that breaks the specification, and the error that the decoder must throw.
struct MalformedPacket: CustomTestStringConvertible, Sendable {
    /// What is wrong with the packet. Each row has another name.
    let name: String
    /// The version of the decoder.
    let version: ProtocolVersion
    /// The endpoint that sends the packet.
    let sender: Endpoint
    /// The bytes of the whole packet, or only its first bytes if they are enough to refuse the packet.
    let hex: String
    let violation: Violation
    let field: PacketField
    let offset: Int
    /// The MQTT 5 reason code that the receiver sends.
    let answer: PacketReasonCode
    /// The broken statement, or section without numbered statements, in the specification of ``version``.
    ///
    /// The specification of MQTT 3.1 has no numbered statements. Its rows name the same statement in 3.1.1.
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
    static let sixteenBytes = Self(maximumPacketSize: 16)
    static let twoFilters = Self(maximumFilters: 2)
    static let twoProperties = Self(maximumProperties: 2)
}

/// Packets that a peer must not send. All functions of the decoder throw the same error for a packet.
@Suite
struct MalformedPacketTests {
    @Test(arguments: table)
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

    @Test(arguments: table)
    func `decoding a malformed packet in place throws the same error as decoding to a value`(_ row: MalformedPacket) {
        let bytes = bytes(row.hex)
        #expect(refusal(of: row, in: bytes, inPlace: true) == refusal(of: row, in: bytes))
    }

    @Test(arguments: table)
    func `decoding a malformed packet after a valid packet throws the same error as without the valid packet`(
        _ row: MalformedPacket
    ) {
        let packet = bytes(row.hex)
        let stream = bytes(row.sender == .client ? "C0 00" : "D0 00") + packet
        #expect(refusal(of: row, in: stream, at: 2) == refusal(of: row, in: packet))
    }

    @Test(arguments: table)
    func `a truncated malformed packet is not accepted as a complete packet`(_ row: MalformedPacket) {
        let bytes = bytes(row.hex)
        for count in 0..<bytes.count {
            guard case .frame? = try? row.decoder.nextFrame(in: Array(bytes[..<count]).span.bytes) else { continue }
            Issue.record("the first \(count) bytes are a frame")
        }
    }

    @Test(arguments: fixedHeaders)
    func `a malformed first byte of a packet is refused before more bytes are received`(_ row: MalformedPacket) throws {
        let error = try #require(refusal(of: row, in: Array(bytes(row.hex).prefix(1))))
        #expect(error.violation == row.violation)
    }

    @Test(arguments: table.filter { $0.version == .v5 })
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
        #expect(Set(Self.table.map(\.name)).count == Self.table.count)
        #expect(Set(Self.table.map { "\($0.version) \($0.sender) \($0.hex) \($0.limits)" }).count == Self.table.count)
        #expect(Set(Self.table.map(\.version)) == Set(ProtocolVersion.allCases))
        let types = Set(Self.table.compactMap { PacketType(rawValue: (bytes($0.hex).first ?? 0) >> 4) })
        #expect(types == Set(PacketType.allCases))
    }

    @Test func `the tables of misplaced and repeated properties contain every property except user properties`() {
        let misplaced = Self.misplacedProperties.compactMap { row -> PropertyID? in
            if case .propertyNotAllowed(let id) = row.violation { id } else { nil }
        }
        let repeated = Self.repeatedProperties.compactMap { row -> PropertyID? in
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

extension MalformedPacketTests {
    static let table = [
        fixedHeaders, remainingLengths, truncatedFields, trailingBytes, illFormedText, topics, packetIDs,
        qualitiesOfService, connections, reasonCodes, emptyLists, misplacedProperties, repeatedProperties,
        propertyValues, propertyIdentifiers, propertyLengths, authentication,
    ].flatMap { $0 }
}
