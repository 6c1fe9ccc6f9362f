import CProtobufC
import Synchronization

/// The fields of one message type, as generated code declares them.
///
/// On first use it becomes a descriptor of libprotobuf-c, which reads and writes messages as C structs by it. What the
/// structs look like is this type's business alone: behind the header, each field has a slot of `ProtobufSlot.size`
/// bytes at the place of the field in the list.
///
/// Safe to share, although the descriptor is memory behind pointers: it is written once, under a lock, before `isReady`
/// is set, and only read afterwards; it lives as long as this object, and the schemas it points to live as long as
/// their types or, where they come from a descriptor set, as long as that set.
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

    /// Declares a message type.
    ///
    /// - Parameters:
    ///   - name: The full name of the message type.
    ///   - fields: Its fields in strictly ascending order of their numbers.
    public init(_ name: String, _ fields: [Field]) {
        precondition(zip(fields, fields.dropFirst()).allSatisfy { $0.number < $1.number }, "fields out of order")
        self.name = name
        self.fields = fields
        address = memory.allocate(ProtobufCMessageDescriptor.self, count: 1)
    }

    /// The descriptor; the first call makes it, together with those of all messages inside.
    var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        if !isReady.load(ordering: .acquiring) { link() }
        return UnsafePointer(address)
    }

    /// How deeply messages of this type can stand in each other; `nil` when they can without an end.
    var maximumDepth: Int? {
        if !isReady.load(ordering: .acquiring) { link() }
        let depth = staticDepth.load(ordering: .relaxed)
        return depth == .max ? nil : depth
    }

    // MARK: Linking

    private func link() {
        let nodes = SchemaGraph(from: self).nodes  // Asks generated code for schemas, hence before the lock.
        Self.linking.withLock { _ in
            for node in nodes where !node.schema.isReady.load(ordering: .relaxed) {
                node.schema.fill(children: node.children)
                node.schema.staticDepth.store(node.depth ?? .max, ordering: .relaxed)
            }
            // Only now is everything that the descriptors point to in place.
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

    /// Runs of consecutive numbers, and a last entry that ends the last run.
    private var numberRanges: [ProtobufCIntRange] {
        var ranges: [ProtobufCIntRange] = []
        for (index, field) in fields.enumerated() where index == 0 || fields[index - 1].number + 1 != field.number {
            ranges.append(ProtobufCIntRange(start_value: Int32(field.number), orig_index: UInt32(index)))
        }
        ranges.append(ProtobufCIntRange(start_value: 0, orig_index: UInt32(fields.count)))
        return ranges
    }
}
