/// Parses a DNS server's answer to a query for service records (RFC 1035, section 4; RFC 2782).
///
/// The answer is untrusted: no byte outside it is read, and names whose pointers form a loop are rejected.
enum ServiceRecordAnswer {
    /// The maximum number of records that are read from one answer.
    static let recordLimit = 64

    private static let headerSize = 12
    private static let classIN: UInt16 = 1
    private static let typeSRV: UInt16 = 33
    /// The maximum length of a name as text (RFC 1035, section 2.3.4).
    private static let nameLimit = 253

    /// Returns the records of an answer in their order; `nil` if the answer is malformed. Skips records of other types
    /// and records whose target is not a host name.
    static func records(in message: RawSpan) -> [ServiceRecord]? {
        guard let questionCount = message.bigEndian(at: 4), let answerCount = message.bigEndian(at: 6) else {
            return nil
        }
        var offset = headerSize
        for _ in 0..<questionCount {
            guard let end = endOfName(at: offset, in: message) else { return nil }
            offset = end + 4  // Skips the type and the class.
        }
        var records: [ServiceRecord] = []
        for _ in 0..<answerCount where records.count < recordLimit {
            guard let end = endOfName(at: offset, in: message), let type = message.bigEndian(at: end),
                let kind = message.bigEndian(at: end + 2), let length = message.bigEndian(at: end + 8).map(Int.init)
            else { return nil }
            let data = end + 10
            offset = data + length
            guard offset <= message.byteCount else { return nil }
            guard type == typeSRV, kind == classIN else { continue }
            guard length >= 7, let priority = message.bigEndian(at: data), let weight = message.bigEndian(at: data + 2),
                let port = message.bigEndian(at: data + 4), endOfName(at: data + 6, in: message) == offset
            else { return nil }
            guard let target = name(at: data + 6, in: message) else { continue }
            records.append(ServiceRecord(priority: priority, weight: weight, port: port, target: target))
        }
        return records
    }

    /// Returns the end of the name that begins at `start`: the offset after its last label, or after its pointer to the
    /// remaining labels.
    private static func endOfName(at start: Int, in message: RawSpan) -> Int? {
        var offset = start
        while let length = message.byte(at: offset) {
            switch length {
            case 0: return offset + 1
            case 1..<64: offset += 1 + Int(length)
            case 0xC0...: return message.byte(at: offset + 1) == nil ? nil : offset + 2
            default: return nil  // RFC 1035 reserves these lengths.
            }
        }
        return nil
    }

    /// Returns the host name that begins at `start`. Returns `nil` if the name is malformed, too long, or has
    /// characters that host names do not allow. For the DNS root, the name is empty.
    private static func name(at start: Int, in message: RawSpan) -> String? {
        var offset = start
        var text: [UInt8] = []
        while let length = message.byte(at: offset) {
            switch length {
            case 0: return String(decoding: text, as: UTF8.self)
            case 1..<64:
                guard text.count + Int(length) < nameLimit else { return nil }
                if !text.isEmpty { text.append(UInt8(ascii: ".")) }
                for index in offset + 1...offset + Int(length) {
                    guard let letter = message.byte(at: index), isOfHost(letter) else { return nil }
                    text.append(letter)
                }
                offset += 1 + Int(length)
            case 0xC0...:
                // A pointer may only lead to an earlier offset. Together with the length limit, this ends every loop.
                guard let pointer = message.bigEndian(at: offset), Int(pointer & 0x3FFF) < offset else { return nil }
                offset = Int(pointer & 0x3FFF)
            default: return nil
            }
        }
        return nil
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8? {
        guard offset >= 0, offset < byteCount else { return nil }
        // Safe: the offset is within bounds, the span checks this again, and every bit pattern is a valid number.
        return unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    fileprivate func bigEndian(at offset: Int) -> UInt16? {
        guard let high = byte(at: offset), let low = byte(at: offset + 1) else { return nil }
        return UInt16(high) << 8 | UInt16(low)
    }
}
