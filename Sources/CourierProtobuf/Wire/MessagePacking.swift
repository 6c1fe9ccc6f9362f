import CProtobufC
import CourierCore
import Foundation

/// Encodes messages: the message is written to C structs, and libprotobuf-c converts the structs to bytes.
enum MessagePacking {
    /// The size limit in bytes for messages that are first written to the stack, and then copied into a `Data`. Such a
    /// message needs only one allocation.
    private static let smallSize = 512

    static func data(_ message: some GeneratedProtobufMessage, limits: ProtobufLimits) throws -> Data {
        // The app's own message is trusted, so its memory is not limited. Only its depth and the size of the result are
        // limited.
        try data(type(of: message).protobufSchema, limits: limits, budget: .max) { try message.writeProtobuf($0) }
    }

    /// Returns the bytes of the message that `body` writes, with at most `budget` bytes of memory from the heap.
    static func data(
        _ schema: ProtobufSchema, limits: ProtobufLimits, budget: Int, _ body: (ProtobufWriter) throws -> Void
    ) throws -> Data {
        try MessageArena.with(.init(budget: budget), depth: limits.depth) { arena in
            let fields: ProtobufWriter
            do {
                fields = try ProtobufWriter.begin(schema.descriptor, in: arena)
                try body(fields)
            } catch {
                guard arena.pointee.isExhausted else { throw error }
                throw CourierError(
                    .encodingFailed,
                    "writing a \(schema.name) needs more than the allowed \(limits.workingMemory) bytes of memory")
            }
            let message = fields.record.assumingMemoryBound(to: ProtobufCMessage.self)
            let size = protobuf_c_message_get_packed_size(message)
            guard size <= limits.size else {
                throw CourierError(
                    .encodingFailed, "a \(schema.name) of \(size) bytes exceeds the limit of \(limits.size)")
            }
            return size <= smallSize ? copied(message, size) : owned(message, size)
        }
    }

    private static func copied(_ message: UnsafePointer<ProtobufCMessage>, _ size: Int) -> Data {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(size, 1)) { bytes in
            let count = protobuf_c_message_pack(message, bytes.baseAddress)
            return Data(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(bytes)[..<count]))
        }
    }

    private static func owned(_ message: UnsafePointer<ProtobufCMessage>, _ size: Int) -> Data {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        let count = protobuf_c_message_pack(message, bytes)
        return Data(bytesNoCopy: bytes, count: count, deallocator: .custom { bytes, _ in bytes.deallocate() })
    }
}
