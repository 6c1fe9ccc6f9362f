import Synchronization

/// A table that any thread puts elements into, and any thread takes them out of again by their keys: each once, and
/// without a lock.
///
/// An element stands in a place. Its key is the number of the place and of the place's use, so that a key whose element
/// was taken finds nothing, also when the place holds another. Free places form a stack.
///
/// Safe to share, which the compiler can not see through the pointers, because the elements may cross threads and each is
/// touched by one thread at a time: whoever pops a place from the stack, or turns its `use` from taken to free, is alone with
/// its element until the place is pushed or `use` says that it is taken. The head of the stack counts its changes, so that
/// one that was changed and changed back is noticed. Safe with memory that it manages itself: a place never moves and is
/// never given back before the table.
struct PlaceTable<Element: ~Copyable & Sendable>: ~Copyable, @unchecked Sendable {
    /// What everybody may look at of a place.
    private struct Header: ~Copyable {
        /// How often it was used, and in the lowest two bits ``free``, ``taken`` or ``marked``.
        let use: Atomic<UInt32>
        /// The place below it in the stack of free ones, plus 1; 0 for none.
        let below: Atomic<UInt32>

        static var free: UInt32 { 0 }
        static var taken: UInt32 { 1 }
        static var marked: UInt32 { 3 }
        /// What tells one use from the next.
        static var nextUse: UInt32 { 4 }
        /// After this, uses are counted from 0 again: the highest bit of keys is kept for others.
        static var lastUse: UInt32 { 0x7FFF_FFFC }
        static func mark(of use: UInt32) -> UInt32 { use & 3 }
    }

    /// A header, and behind it room for an element, which is that of whoever has the place.
    private struct Place {
        let memory: UnsafeMutableRawPointer

        static var alignment: Int { max(MemoryLayout<Header>.alignment, MemoryLayout<Element>.alignment) }
        static var elementOffset: Int { roundedUp(MemoryLayout<Header>.size, MemoryLayout<Element>.alignment) }
        static var stride: Int { roundedUp(elementOffset + MemoryLayout<Element>.size, alignment) }
        private static func roundedUp(_ size: Int, _ step: Int) -> Int { (size + step - 1) / step * step }

        var header: UnsafeMutablePointer<Header> { memory.assumingMemoryBound(to: Header.self) }
        var element: UnsafeMutablePointer<Element> {
            (memory + Self.elementOffset).assumingMemoryBound(to: Element.self)
        }

        init(_ segment: UnsafeMutableRawPointer, _ offset: Int) { memory = segment + offset &* Self.stride }
    }

    /// Free places that become so for others together; ``PlaceTable/free(_:)``.
    struct Chain: ~Copyable {
        fileprivate var top: UInt32 = 0
        fileprivate var bottom: UInt32 = 0
    }

    /// The length of the first segment; each is twice as long as the one before it.
    private static var firstLength: Int { 2 }
    /// So many have more places than memory has.
    private static var segmentLimit: Int { 26 }

    private let segments: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>
    /// How many segments there are.
    private let segmentCount = Mutex(0)
    /// The top of the stack plus 1, or 0, and above it how often that has changed.
    private let head = Atomic<UInt64>(0)
    private let firstUse: UInt32

    /// Makes an empty table. Each place counts its uses from `firstUse`, a multiple of 4.
    init(firstUse: UInt32 = 0) {
        self.firstUse = firstUse
        segments = .allocate(capacity: Self.segmentLimit)
        for index in 0..<Self.segmentLimit { (segments + index).initialize(to: Atomic(nil)) }
    }

    deinit {
        for (index, length) in Self.lengths.enumerated() {
            guard let segment = segments[index].load(ordering: .acquiring) else { break }
            for offset in 0..<length {
                let place = Place(segment, offset)
                if Header.mark(of: place.header.pointee.use.load(ordering: .acquiring)) != Header.free {
                    place.element.deinitialize(count: 1)
                }
                place.header.deinitialize(count: 1)
            }
            segment.deallocate()
        }
        segments.deinitialize(count: Self.segmentLimit)
        segments.deallocate()
    }

    /// Puts an element in and returns its key, which is never below 2^32. One that is marked is counted by
    /// ``markedCount``.
    borrowing func insert(_ element: consuming Element, isMarked: Bool = false) -> UInt64 {
        let index = popFree() ?? grow()
        let place = place(at: index)
        place.element.initialize(to: element)
        let used = place.header.pointee.use.load(ordering: .relaxed)
        let use = used | (isMarked ? Header.marked : Header.taken)
        place.header.pointee.use.store(use, ordering: .releasing)
        return UInt64(use) << 32 | UInt64(index)
    }

    /// Takes an element out, if nobody has.
    borrowing func take(_ key: UInt64) -> Element? {
        var freed = Chain()
        let element = take(key, into: &freed)
        free(freed)
        return element
    }

    /// Takes an element out, if nobody has; ``free(_:)`` must follow for `freed`.
    @inline(__always)
    borrowing func take(_ key: UInt64, into freed: inout Chain) -> Element? {
        let index = UInt32(truncatingIfNeeded: key)
        let use = UInt32(truncatingIfNeeded: key >> 32)
        guard Header.mark(of: use) != Header.free, let place = existingPlace(at: index) else { return nil }
        let unused = use & ~3
        let next = unused == Header.lastUse ? 0 : unused &+ Header.nextUse
        let isMine = place.header.pointee.use.compareExchange(
            expected: use, desired: next, ordering: .acquiringAndReleasing
        ).exchanged
        guard isMine else { return nil }
        place.header.pointee.below.store(freed.top, ordering: .relaxed)
        if freed.top == 0 { freed.bottom = index &+ 1 }
        freed.top = index &+ 1
        return place.element.move()
    }

    /// Makes places free for other elements.
    borrowing func free(_ freed: consuming Chain) {
        guard freed.top != 0 else { return }
        let bottom = place(at: freed.bottom &- 1)
        var head = head.load(ordering: .relaxed)
        while true {
            bottom.header.pointee.below.store(UInt32(truncatingIfNeeded: head), ordering: .relaxed)
            let (isExchanged, original) = self.head.weakCompareExchange(
                expected: head, desired: Self.changed(head, freed.top), successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed)
            if isExchanged { return }
            head = original
        }
    }

    /// Takes everything out, in the order of the places.
    borrowing func takeAll(_ body: (consuming Element) -> Void) {
        forEachTaken { use, index in
            if let element = take(UInt64(use) << 32 | UInt64(index)) { body(element) }
        }
    }

    /// How many elements there are.
    var count: Int {
        var count = 0
        forEachTaken { _, _ in count += 1 }
        return count
    }

    /// How many of them were marked.
    var markedCount: Int {
        var count = 0
        forEachTaken { use, _ in if Header.mark(of: use) == Header.marked { count += 1 } }
        return count
    }
}

extension PlaceTable where Element: ~Copyable {
    /// How long the segments are.
    private static var lengths: some Sequence<Int> { (0..<segmentLimit).lazy.map { firstLength << $0 } }

    /// The head of the stack with another top.
    private static func changed(_ head: UInt64, _ top: UInt32) -> UInt64 { (head >> 32 &+ 1) << 32 | UInt64(top) }

    @inline(__always)
    private borrowing func existingPlace(at index: UInt32) -> Place? {
        // Counted from the length of the first segment, the highest bit of a number is that of its segment's length.
        let number = UInt64(index) &+ UInt64(Self.firstLength)
        let length = 63 &- number.leadingZeroBitCount
        let segment = length &- Self.firstLength.trailingZeroBitCount
        guard segment < Self.segmentLimit, let start = segments[segment].load(ordering: .acquiring) else { return nil }
        return Place(start, Int(number &- 1 << UInt64(length)))
    }

    @inline(__always)
    private borrowing func place(at index: UInt32) -> Place {
        // Only indices of the stack come here, which hold places that were made; those of keys are looked up above.
        guard let place = existingPlace(at: index) else { preconditionFailure("no place \(index)") }
        return place
    }

    @inline(__always)
    private borrowing func popFree() -> UInt32? {
        var head = head.load(ordering: .acquiring)
        while true {
            let top = UInt32(truncatingIfNeeded: head)
            if top == 0 { return nil }
            // Somebody else may have it by now, and then the head has changed.
            let below = place(at: top &- 1).header.pointee.below.load(ordering: .relaxed)
            let (isExchanged, original) = self.head.weakCompareExchange(
                expected: head, desired: Self.changed(head, below), successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            if isExchanged { return top &- 1 }
            head = original
        }
    }

    /// Makes another segment, unless somebody has, and returns one of the free places.
    @inline(never)
    private borrowing func grow() -> UInt32 {
        segmentCount.withLock { count in
            if let index = popFree() { return index }
            precondition(count < Self.segmentLimit, "no more places")
            let length = Self.firstLength << count
            let first = UInt32(length - Self.firstLength)
            let segment = UnsafeMutableRawPointer.allocate(
                byteCount: length * Place.stride, alignment: Place.alignment)
            for offset in 0..<length {
                let below = offset + 1 < length ? first + UInt32(offset) + 2 : 0
                Place(segment, offset).header.initialize(to: Header(use: Atomic(firstUse), below: Atomic(below)))
            }
            segments[count].store(segment, ordering: .releasing)
            count += 1
            var freed = Chain()
            freed.top = first + 2  // The first is the caller's.
            freed.bottom = first + UInt32(length)
            free(freed)
            return first
        }
    }

    private borrowing func forEachTaken(_ body: (_ use: UInt32, _ index: UInt32) -> Void) {
        var first: UInt32 = 0
        for (segment, length) in Self.lengths.enumerated() {
            guard let start = segments[segment].load(ordering: .acquiring) else { return }
            for offset in 0..<length {
                let use = Place(start, offset).header.pointee.use.load(ordering: .acquiring)
                if Header.mark(of: use) != Header.free { body(use, first + UInt32(offset)) }
            }
            first += UInt32(length)
        }
    }
}
