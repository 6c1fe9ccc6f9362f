import CProtobufC
import CourierCore

/// Checks the nesting depth and the validity of an encoded message without decoding it.
///
/// libprotobuf-c has no nesting limit, and reports only that a message is invalid. If a type can exceed the nesting
/// limit, this check runs before libprotobuf-c. If libprotobuf-c reports an invalid message, this check finds the
/// reason.
struct WireInspector {
    private let maximumDepth: Int

    init(_ limits: ProtobufLimits) { maximumDepth = limits.depth }

    /// - Throws: ``CourierCore/CourierError`` that describes the first error in the bytes.
    func check(_ bytes: UnsafeRawBufferPointer, _ schema: ProtobufSchema) throws {
        try check(bytes, 0..<bytes.count, schema.descriptor, depth: 1)
    }

    private func check(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ type: UnsafePointer<ProtobufCMessageDescriptor>,
        depth: Int
    ) throws {
        guard depth <= maximumDepth else {
            throw CourierError(
                .decodingFailed,
                "messages are nested more than \(maximumDepth) levels deep at byte \(range.lowerBound)")
        }
        var at = range.lowerBound
        while at < range.upperBound {
            let start = at
            guard let (tag, length) = Varint.read(bytes[at..<range.upperBound]), length <= 5, tag >= 8 else {
                throw broken(type, nil, start, "no field starts at this byte")
            }
            at += length
            let number = UInt32(truncatingIfNeeded: tag >> 3)
            let field = protobuf_c_message_descriptor_get_field(type, number)?.pointee
            let end = try end(of: WireType(rawValue: UInt8(tag & 7)), at: at, in: bytes, range, type, field, start)
            if let field, !field.accepts(UInt8(tag & 7)) {
                throw broken(type, field, start, "the wire type does not match the type of the field in the schema")
            }
            if let field, field.type == PROTOBUF_C_TYPE_MESSAGE, let child = field.descriptor {
                let content = Varint.read(bytes[at..<end])?.length ?? 0
                try check(
                    bytes, at + content..<end, child.assumingMemoryBound(to: ProtobufCMessageDescriptor.self),
                    depth: depth + 1)
            }
            at = end
        }
    }

    private enum WireType: UInt8 {
        case varint = 0
        case eightBytes = 1
        case lengthPrefixed = 2
        case fourBytes = 5
    }

    /// Returns the position after the content of the field.
    private func end(
        of wireType: WireType?, at: Int, in bytes: UnsafeRawBufferPointer, _ range: Range<Int>,
        _ type: UnsafePointer<ProtobufCMessageDescriptor>, _ field: ProtobufCFieldDescriptor?, _ start: Int
    ) throws -> Int {
        let rest = range.upperBound - at
        let size: Int
        switch wireType {
        case nil:
            throw broken(type, field, start, "the wire type is unknown, or is a group, which libprotobuf-c cannot read")
        case .varint:
            guard let (_, length) = Varint.read(bytes[at..<range.upperBound]) else {
                throw broken(type, field, start, "the number is incomplete")
            }
            size = length
        case .eightBytes: size = 8
        case .fourBytes: size = 4
        case .lengthPrefixed:
            guard let (count, length) = Varint.read(bytes[at..<range.upperBound]), length <= 5 else {
                throw broken(type, field, start, "the length is incomplete")
            }
            guard count <= UInt64(rest - length) else {
                throw broken(
                    type, field, start, "the field's length is \(count) bytes, but only \(rest - length) bytes remain")
            }
            size = length + Int(count)
        }
        guard size <= rest else {
            throw broken(type, field, start, "the field needs \(size) bytes, but only \(rest) bytes remain")
        }
        return at + size
    }

    private func broken(
        _ type: UnsafePointer<ProtobufCMessageDescriptor>, _ field: ProtobufCFieldDescriptor?, _ at: Int, _ why: String
    ) -> CourierError {
        let name = String(cString: type.pointee.name) + (field.map { "." + String(cString: $0.name) } ?? "")
        return CourierError(.decodingFailed, "\(name) is broken at byte \(at): \(why)")
    }
}

extension ProtobufCFieldDescriptor {
    /// True if libprotobuf-c accepts the field with this wire type.
    fileprivate func accepts(_ wireType: UInt8) -> Bool {
        switch type {
        case PROTOBUF_C_TYPE_BYTES, PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_MESSAGE: wireType == 2
        case _ where wireType == 2 && label == PROTOBUF_C_LABEL_REPEATED: true
        case PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32, PROTOBUF_C_TYPE_FLOAT: wireType == 5
        case PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_DOUBLE: wireType == 1
        case PROTOBUF_C_TYPE_BOOL: true
        default: wireType == 0
        }
    }
}
