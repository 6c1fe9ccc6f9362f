import CProtobufC
import Synchronization

/// The name and the fields of one message type, as declared by generated code.
///
/// On first use, the schema creates a descriptor for libprotobuf-c. With the descriptor, libprotobuf-c reads and writes
/// messages as C structs. The schema alone defines the layout of the structs: a header, then one slot of
/// `ProtobufSlot.size` bytes for each field, in the order of the list of fields.
///
/// The schema is safe to share between threads, although the descriptor is memory behind pointers. The descriptor is
/// written once, under a lock, before `isReady` is set; later it is only read. The descriptor lives as long as this
/// object. The schemas that it points to live as long as their types, or as long as the descriptor set that they were
/// read from.
public final class ProtobufSchema: @unchecked Sendable {
    /// The full name of the message type, such as `courier.chat.Note`.
    public let name: String

    /// The fields in ascending order of their numbers.
    let fields: [Field]

    private let memory = DescriptorMemory()
    private let address: UnsafeMutablePointer<ProtobufCMessageDescriptor>
    private let isReady = Atomic(false)
    private let staticDepth = Atomic(0)

    private static let linking = Mutex(())

    /// Creates the declaration of a message type.
    ///
    /// - Parameters:
    ///   - name: The full name of the message type.
    ///   - fields: The fields of the type in strictly ascending order of their numbers.
    public init(_ name: String, _ fields: [Field]) {
        precondition(
            zip(fields, fields.dropFirst()).allSatisfy { $0.number < $1.number },
            "the fields are not in the order of their numbers")
        self.name = name
        self.fields = fields
        address = memory.allocate(ProtobufCMessageDescriptor.self, count: 1)
    }

    /// The descriptor for libprotobuf-c. The first access creates it, together with the descriptors of all message
    /// types that this type contains.
    var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        if !isReady.load(ordering: .acquiring) { link() }
        return UnsafePointer(address)
    }

    /// The number of message levels that this type can have; `nil` if types contain each other and the number is
    /// unlimited.
    var maximumDepth: Int? {
        if !isReady.load(ordering: .acquiring) { link() }
        let depth = staticDepth.load(ordering: .relaxed)
        return depth == .max ? nil : depth
    }

    // MARK: Linking

    private func link() {
        let nodes = SchemaGraph(from: self).nodes  // Calls generated code, so it must not hold the lock.
        Self.linking.withLock { _ in
            for node in nodes where !node.schema.isReady.load(ordering: .relaxed) {
                node.schema.fill(children: node.children)
                node.schema.staticDepth.store(node.depth ?? .max, ordering: .relaxed)
            }
            // The schemas are marked as ready only now, when all descriptors that they point to are complete.
            for node in nodes { node.schema.isReady.store(true, ordering: .releasing) }
        }
    }

    private func fill(children: [Int: ProtobufSchema]) {
        let text = memory.text(name)
        let list = memory.allocate(ProtobufCFieldDescriptor.self, count: max(fields.count, 1))
        for (index, field) in fields.enumerated() {
            list[index] = field.descriptor(
                at: index, name: memory.text(field.name), child: children[index].map { UnsafeRawPointer($0.address) })
        }
        let ranges = numberRanges
        let rangeList = memory.allocate(ProtobufCIntRange.self, count: ranges.count)
        for (index, range) in ranges.enumerated() { rangeList[index] = range }

        address.pointee.magic = UInt32(PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC)
        address.pointee.name = text
        address.pointee.short_name = text
        address.pointee.c_name = text
        address.pointee.package_name = text
        address.pointee.sizeof_message = ProtobufSlot.recordSize(fieldCount: fields.count)
        address.pointee.n_fields = UInt32(fields.count)
        address.pointee.fields = UnsafePointer(list)
        address.pointee.n_field_ranges = UInt32(ranges.count - 1)
        address.pointee.field_ranges = UnsafePointer(rangeList)
    }

    /// The ranges of consecutive field numbers, followed by an entry that marks the end of the last range.
    private var numberRanges: [ProtobufCIntRange] {
        var ranges: [ProtobufCIntRange] = []
        for (index, field) in fields.enumerated() where index == 0 || fields[index - 1].number + 1 != field.number {
            ranges.append(ProtobufCIntRange(start_value: Int32(field.number), orig_index: UInt32(index)))
        }
        ranges.append(ProtobufCIntRange(start_value: 0, orig_index: UInt32(fields.count)))
        return ranges
    }
}
