import CProtobufC
import CourierCore

/// Decodes messages: libprotobuf-c converts bytes to C structs within limits, and the message copies its values from
/// the structs.
enum MessageUnpacking {
    static func value<Message: GeneratedProtobufMessage>(
        _ type: Message.Type, from bytes: UnsafeRawBufferPointer, limits: ProtobufLimits
    ) throws -> Message {
        try with(
            bytes, schema: Message.protobufSchema, limits: limits, memory: .init(budget: limits.workingMemory)
        ) { fields, _ in
            var message = Message()
            try message.readProtobuf(fields)
            return message
        }
    }

    /// Decodes a message and runs `body` with its fields. `body` also receives the part of `memory` that the fields do
    /// not use, for decoding nested messages. The fields and this memory are valid only until `body` returns.
    static func with<Result>(
        _ bytes: UnsafeRawBufferPointer, schema: ProtobufSchema, limits: ProtobufLimits,
        memory: MessageArena.Rest, _ body: (_ fields: ProtobufReader, _ rest: MessageArena.Rest) throws -> Result
    ) throws -> Result {
        guard bytes.count <= limits.size else {
            throw CourierError(
                .decodingFailed, "a \(schema.name) of \(bytes.count) bytes exceeds the limit of \(limits.size)")
        }
        // libprotobuf-c has no nesting limit, so this check comes first. Only types that can exceed the limit need it.
        if schema.maximumDepth ?? .max > limits.depth { try WireInspector(limits).check(bytes, schema) }
        return try MessageArena.with(memory, depth: limits.depth) { arena in
            arena.pointee.expect(bytes.count * 6)
            var allocator = ProtobufCAllocator(arena)
            let message = withUnsafeMutablePointer(to: &allocator) {
                protobuf_c_message_unpack(
                    schema.descriptor, $0, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
            guard let message else {
                if arena.pointee.isExhausted { throw outOfMemory(schema, size: bytes.count, limits) }
                try WireInspector(limits).check(bytes, schema)
                throw CourierError(.decodingFailed, "the bytes are not a valid \(schema.name)")
            }
            let fields = ProtobufReader(record: message, maximumCount: limits.maximumCount)
            return try body(fields, arena.pointee.rest)
        }
    }

    private static func outOfMemory(_ schema: ProtobufSchema, size: Int, _ limits: ProtobufLimits) -> CourierError {
        CourierError(
            .decodingFailed,
            "reading a \(schema.name) of \(size) bytes needs more than the allowed \(limits.workingMemory) bytes of memory"
        )
    }
}
