import CProtobufC

/// Merges the parts of a message that arrived in several parts. The merged message is then read as a whole, including
/// the check of its required fields.
///
/// For a singular field, the merged message has the value of the last part that has the field. Lists and unknown fields
/// of the parts are concatenated. The parts of a nested message are concatenated too, and are merged when the nested
/// message is read.
enum MessageParts {
    private enum List {
        case field(ProtobufCFieldDescriptor)
        case unknownFields

        var stride: Int {
            switch self {
            case .field(let field): field.stride
            case .unknownFields: MemoryLayout<ProtobufCMessageUnknownField>.stride
            }
        }

        func count(in record: UnsafeRawPointer) -> Int {
            switch self {
            case .field(let field): record.load(fromByteOffset: Int(field.quantifier_offset), as: Int.self)
            case .unknownFields: Int(record.load(fromByteOffset: ProtobufSlot.unknownCountOffset, as: UInt32.self))
            }
        }

        /// The offset of the address of the list's first element, in the record: the C struct of the message.
        var addressOffset: Int {
            switch self {
            case .field(let field): Int(field.offset)
            case .unknownFields: ProtobufSlot.unknownListOffset
            }
        }

        func set(count: Int, address: UnsafeMutableRawPointer, in record: UnsafeMutableRawPointer) {
            switch self {
            case .field(let field):
                record.storeBytes(of: count, toByteOffset: Int(field.quantifier_offset), as: Int.self)
            case .unknownFields:
                record.storeBytes(
                    of: UInt32(truncatingIfNeeded: count), toByteOffset: ProtobufSlot.unknownCountOffset,
                    as: UInt32.self)
            }
            record.storeBytes(of: address, toByteOffset: addressOffset, as: UnsafeMutableRawPointer.self)
        }
    }

    /// - Parameters:
    ///   - records: The addresses of the records (C structs) of the parts. All parts have the same message type.
    ///   - count: The number of parts, at least one.
    /// - Returns: The merged record, which the caller must deallocate. It points to data that still belongs to the
    ///   parts, such as strings and nested messages. It needs no more memory than the parts.
    static func whole(of records: UnsafeRawPointer, count: Int) -> UnsafeMutableRawPointer {
        let parts = UnsafeBufferPointer(start: records.assumingMemoryBound(to: UnsafeRawPointer.self), count: count)
        let type = parts[0].load(as: UnsafePointer<ProtobufCMessageDescriptor>.self)
        let fields = UnsafeBufferPointer(start: type.pointee.fields, count: Int(type.pointee.n_fields))
        var lists = fields.filter { $0.label == PROTOBUF_C_LABEL_REPEATED }.map(List.field)
        lists.append(.unknownFields)
        // All counted elements are already in memory, so the sums cannot overflow.
        let sizes = lists.map { list in parts.reduce(0) { $0 + list.count(in: $1) } * list.stride }

        let recordSize = type.pointee.sizeof_message
        let record = UnsafeMutableRawPointer.allocate(
            byteCount: sizes.reduce(recordSize) { $0 + rounded($1) }, alignment: 16)
        record.initializeMemory(as: UInt8.self, repeating: 0, count: recordSize)
        record.storeBytes(of: type, as: UnsafePointer<ProtobufCMessageDescriptor>.self)
        for field in fields where field.label != PROTOBUF_C_LABEL_REPEATED {
            let slot = Int(field.quantifier_offset)
            let last = parts.last { $0.load(fromByteOffset: slot, as: UInt32.self) != 0 }
            if let last { (record + slot).copyMemory(from: last + slot, byteCount: ProtobufSlot.size) }
        }
        var place = record + recordSize
        for (list, size) in zip(lists, sizes) where size > 0 {
            copy(list, of: parts, to: place)
            list.set(count: size / list.stride, address: place, in: record)
            place += rounded(size)
        }
        return record
    }

    private static func copy(
        _ list: List, of parts: UnsafeBufferPointer<UnsafeRawPointer>, to place: UnsafeMutableRawPointer
    ) {
        var place = place
        for part in parts {
            let size = list.count(in: part) * list.stride
            guard size > 0 else { continue }
            let elements = part.load(fromByteOffset: list.addressOffset, as: UnsafeRawPointer.self)
            place.copyMemory(from: elements, byteCount: size)
            place += size
        }
    }

    /// Rounds a size up to a multiple of 8, so that the next list is aligned.
    private static func rounded(_ size: Int) -> Int { (size + 7) & ~7 }
}

extension ProtobufCFieldDescriptor {
    /// The number of bytes that one element occupies in a list.
    fileprivate var stride: Int {
        switch type {
        case PROTOBUF_C_TYPE_BYTES: MemoryLayout<ProtobufCBinaryData>.stride
        case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_UINT64,
            PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_DOUBLE, PROTOBUF_C_TYPE_MESSAGE:
            8
        default: 4
        }
    }
}
