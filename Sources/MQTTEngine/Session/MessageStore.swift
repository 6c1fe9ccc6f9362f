import MQTTCodec

/// The bytes of QoS 1 and 2 messages that wait for their turn or for their acknowledgement.
///
/// Messages are written behind each other into slabs of at most ``largestSlab`` bytes, a longer message into one of its own;
/// a slab is used again when the last message in it has been discarded. So keeping a message allocates nothing once the
/// slabs are there, and a message that stays long holds up one slab, not those behind it.
///
/// Safe because a slab's memory is owned by this store alone, which cannot be copied; `used <= capacity` always holds, a
/// place is handed out by ``keep(_:)`` only, within `used`, and each use of one checks that it still lies there.
struct MessageStore: ~Copyable {
    /// A message in the store.
    struct Place {
        let record: MessageRecord
        // Fewer than 2^32 slabs, each of less than 4 GiB.
        private let position: (slab: UInt32, offset: UInt32)

        fileprivate init(_ record: MessageRecord, slab: Int, offset: Int) {
            self.record = record
            position = (UInt32(slab), UInt32(offset))
        }

        @inline(__always) fileprivate var slab: Int { Int(position.slab) }
        @inline(__always) fileprivate var offset: Int { Int(position.offset) }
    }

    private struct Slab {
        let memory: UnsafeMutableRawPointer
        /// 0 once the memory was given back.
        let capacity: Int
        var used = 0
        /// How many messages in it have not been discarded.
        var live = 0
    }

    private static let smallestSlab = 128
    private static let largestSlab = 16 << 10
    /// How many slabs without messages are kept for the next ones.
    private static let spareLimit = 16

    private var slabs: [Slab] = []
    /// Those of ``slabs`` that hold no message and are not being filled.
    private var spare: [Int] = []
    /// The places in ``slabs`` whose memory was given back.
    private var vacant: [Int] = []
    /// The slab that is being filled.
    private var current = -1
    /// How many bytes all messages take.
    private(set) var byteCount = 0

    deinit { for slab in slabs where slab.capacity > 0 { slab.memory.deallocate() } }

    /// Copies `message`, until it is discarded.
    mutating func keep(_ message: MessageView) -> Place {
        let count = message.bytes.count
        if current < 0 || slabs[current].capacity &- slabs[current].used < count { replaceCurrent(count) }
        let offset = slabs[current].used
        if let source = message.bytes.baseAddress {
            (slabs[current].memory + offset).copyMemory(from: source, byteCount: count)
        }
        slabs[current].used &+= count
        slabs[current].live &+= 1
        byteCount &+= count
        return Place(message.record, slab: current, offset: offset)
    }

    /// The message at `place`, valid until the store changes.
    @inline(__always)
    func view(_ place: Place) -> MessageView {
        let slab = slabs[place.slab]
        let count = place.record.byteCount
        precondition(slab.live > 0 && place.offset &+ count <= slab.used, "discarded twice")
        return MessageView(place.record, in: UnsafeRawBufferPointer(start: slab.memory + place.offset, count: count))
    }

    /// Lets the message at `place` go; once for each.
    mutating func discard(_ place: Place) {
        precondition(slabs[place.slab].live > 0, "discarded twice")
        slabs[place.slab].live &-= 1
        byteCount &-= place.record.byteCount
        guard slabs[place.slab].live == 0 else { return }
        slabs[place.slab].used = 0
        if place.slab != current { retire(place.slab) }
    }

    /// Gives back all memory that holds no message.
    mutating func trim() {
        while let index = spare.popLast() { free(index) }
        if current >= 0, slabs[current].live == 0 {
            free(current)
            current = -1
        }
        if vacant.count == slabs.count {
            slabs = []
            vacant = []
            spare = []
        }
    }

    /// Begins another slab with room for at least `count` bytes.
    @inline(never)
    private mutating func replaceCurrent(_ count: Int) {
        let full = current
        current = -1
        if full >= 0, slabs[full].live == 0 { retire(full) }
        while current < 0, let index = spare.popLast() {
            if slabs[index].capacity >= count { current = index } else { free(index) }
        }
        if current >= 0 { return }
        let wanted = min(Self.largestSlab, max(Self.smallestSlab, byteCount &* 2))
        let capacity = max(count, wanted)
        let made = Slab(memory: .allocate(byteCount: capacity, alignment: 16), capacity: capacity)
        if let index = vacant.popLast() {
            slabs[index] = made
            current = index
        } else {
            current = slabs.count
            slabs.append(made)
        }
    }

    private mutating func retire(_ index: Int) {
        if slabs[index].capacity <= Self.largestSlab, spare.count < Self.spareLimit {
            spare.append(index)
        } else {
            free(index)
        }
    }

    private mutating func free(_ index: Int) {
        slabs[index].memory.deallocate()
        slabs[index] = Slab(memory: slabs[index].memory, capacity: 0)
        vacant.append(index)
    }
}
