/// Reads the fields of one packet, or of one property list, from received bytes.
///
/// Packet fields are read from network bytes only through this type. The type is memory-safe for two reasons:
/// - A reader is created inside a `withUnsafeBytes` closure and never leaves the closure, so `bytes` stays valid.
/// - `init` checks `offset <= end <= bytes.count`, and every read calls ``require(_:_:)`` first, which checks `offset +
///   count <= end`. No other code moves `offset` or `end` out of this range.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    let packet: PacketType
    /// The offset of the next field in `bytes`.
    private(set) var offset: Int
    /// The end offset of the packet or property list in `bytes`.
    let end: Int
    /// The offset of the packet's first byte in `bytes`. Offsets in errors are relative to this byte.
    let packetStart: Int

    /// Creates a reader of the body of `frame`, which must lie in `bytes`.
    @inline(__always)
    init(_ frame: PacketFrame, in bytes: UnsafeRawBufferPointer) {
        precondition(frame.end <= bytes.count, "the frame does not belong to these bytes")
        self.bytes = bytes
        packet = frame.type
        offset = frame.bodyStart
        end = frame.end
        packetStart = frame.start
    }

    /// Creates a reader of `range`, a part of the bytes that `outer` may read.
    init(_ range: Range<Int>, of outer: ByteReader) {
        precondition(range.lowerBound >= outer.packetStart && range.upperBound <= outer.end, "outside this packet")
        bytes = outer.bytes
        packet = outer.packet
        offset = range.lowerBound
        end = range.upperBound
        packetStart = outer.packetStart
    }

    /// The number of bytes that are not read yet.
    @inline(__always) var remaining: Int { end &- offset }

    /// Returns an error about `field`, at `position`. By default, the position is the current offset.
    func error(_ violation: Violation, _ field: PacketField, at position: Int? = nil) -> DecodeError {
        DecodeError(violation, in: packet, field, at: (position ?? offset) &- packetStart)
    }

    /// Throws an error if fewer than `count` bytes remain.
    @inline(__always)
    private func require(_ count: Int, _ field: PacketField) throws(DecodeError) {
        guard remaining >= count else { throw error(.truncated, field) }
    }

    @inline(__always)
    mutating func byte(_ field: PacketField) throws(DecodeError) -> UInt8 {
        try require(1, field)
        defer { offset &+= 1 }
        return bytes[offset]
    }

    @inline(__always)
    mutating func uint16(_ field: PacketField) throws(DecodeError) -> UInt16 {
        try require(2, field)
        defer { offset &+= 2 }
        return UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    mutating func uint32(_ field: PacketField) throws(DecodeError) -> UInt32 {
        try require(4, field)
        defer { offset &+= 4 }
        return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// Reads a variable byte integer, which must have its shortest form ([MQTT-1.5.5-1]).
    @inline(__always)
    mutating func variableByteInteger(_ field: PacketField) throws(DecodeError) -> UInt32 {
        switch VariableByteInteger.read(bytes, at: offset, end: end) {
        case .incomplete: throw error(.truncated, field)
        case .tooLong: throw error(.variableByteIntegerTooLong, field)
        case .value(let value, let byteCount):
            guard byteCount == VariableByteInteger.byteCount(Int(value)) else {
                throw error(.variableByteIntegerNotMinimal, field)
            }
            offset &+= byteCount
            return value
        }
    }

    /// Reads a two-byte length and returns the range of the bytes after the length.
    @inline(__always)
    mutating func binary(_ field: PacketField) throws(DecodeError) -> Range<Int> {
        let start = offset
        let count = Int(try uint16(field))
        guard remaining >= count else { throw error(.truncated, field, at: start) }
        defer { offset &+= count }
        return offset..<(offset &+ count)
    }

    /// Reads a UTF-8 string with its length, and checks it ([MQTT-1.5.4-1], [MQTT-1.5.4-2]).
    mutating func text(_ field: PacketField) throws(DecodeError) -> Range<Int> {
        let start = offset
        let range = try binary(field)
        if let violation = TextRules.violation(inText: view(range)) { throw error(violation, field, at: start) }
        return range
    }

    /// Reads a topic name and checks it. An empty name is an error.
    mutating func topicName(_ field: PacketField) throws(DecodeError) -> Range<Int> {
        let start = offset
        let range = try binary(field)
        if let violation = TextRules.violation(inTopicName: view(range)) { throw error(violation, field, at: start) }
        return range
    }

    /// Reads a topic filter and checks it. If `knowsSharing` is true, as in MQTT 5, `$share/group/filter` must be
    /// complete.
    mutating func topicFilter(knowsSharing: Bool) throws(DecodeError) -> Range<Int> {
        let start = offset
        let range = try binary(.topicFilter)
        if let violation = TextRules.violation(inTopicFilter: view(range), knowsSharing: knowsSharing) {
            throw error(violation, .topicFilter, at: start)
        }
        return range
    }

    /// Reads a packet id, which is never 0 ([MQTT-2.2.1-3]).
    @inline(__always)
    mutating func packetID() throws(DecodeError) -> PacketID {
        let number = try uint16(.packetID)
        guard let id = PacketID(rawValue: number) else { throw error(.packetIDZero, .packetID, at: offset &- 2) }
        return id
    }

    /// Reads a reason code of MQTT 5 that `sender` may put into this packet.
    @inline(__always)
    mutating func reasonCode(from sender: Endpoint) throws(DecodeError) -> PacketReasonCode {
        let byte = try byte(.reasonCode)
        guard let code = PacketReasonCode(rawValue: byte), code.isAllowed(in: packet, from: sender) else {
            throw error(.invalidReasonCode(byte), .reasonCode, at: offset &- 1)
        }
        return code
    }

    /// Skips `count` bytes and returns their range, so that a list can be read later. The caller has checked that this
    /// many bytes remain.
    @inline(__always)
    mutating func skip(_ count: Int) -> Range<Int> {
        precondition(count >= 0 && count <= remaining)
        defer { offset &+= count }
        return offset..<(offset &+ count)
    }

    /// Throws an error if bytes remain after the last field.
    @inline(__always)
    func finish() throws(DecodeError) {
        guard remaining == 0 else { throw error(.trailingBytes(remaining), .end) }
    }

    /// Returns the bytes of `range`, which another function of this reader returned.
    @inline(__always)
    func view(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }

    func string(_ range: Range<Int>) -> String { String(copying: range, of: bytes) }
    func array(_ range: Range<Int>) -> [UInt8] { Array(copying: range, of: bytes) }
}

extension String {
    /// Copies UTF-8 text that a ``ByteReader`` has already checked.
    init(copying range: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        self.init(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }
}

extension [UInt8] {
    init(copying range: Range<Int>, of bytes: UnsafeRawBufferPointer) {
        self.init(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
}
