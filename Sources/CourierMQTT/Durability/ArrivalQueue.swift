import CourierCore

/// Messages on their way into the store, in their order, within the limits of an ``OfflinePolicy``. A message of any size
/// has room while less than the limit of bytes waits.
///
/// A value without locks and clocks: what it gives up it returns, and the caller tells whoever waits for it.
struct ArrivalQueue {
    typealias Arrival = DurableOutbox.Arrival

    /// What became of a message, and of others because of it.
    struct Admission {
        enum Fate {
            case taken
            /// The policy gives it up.
            case givenUp
            /// There is no room.
            case refused
        }

        let fate: Fate
        /// The older one that it replaces.
        var replaced: Arrival?
        /// The oldest ones, which made room for it.
        var dropped: [Arrival] = []
    }

    /// From how many places of messages that are gone on the others close up.
    private static let goneLimit = 1_024

    private let policy: OfflinePolicy
    /// With what stands for those that are gone, so that the array can be handed out as it is when none is.
    private var places: [Arrival] = []
    /// How many places at the front are gone.
    private var start = 0
    private(set) var count = 0
    private(set) var byteCount = 0
    /// Where the message to a topic stands that a newer one replaces, by the topic's bytes.
    private var latest: [[UInt8]: Int] = [:]

    init(_ policy: OfflinePolicy) { self.policy = policy }

    var hasRoom: Bool { hasRoom(without: nil) }

    /// How many places it keeps, with those of messages that are gone.
    var placeCount: Int { places.count }

    /// Adds a message at the end, if there is room or the policy makes some. An older one that it replaces goes first, and
    /// stays if the new one is not taken.
    mutating func append(_ arrival: Arrival) -> Admission {
        let key = arrival.shape.isLatestOnly ? Array(arrival.shape.topic.utf8) : nil
        let old = key.flatMap { latest[$0] }
        if !hasRoom(without: old.map { places[$0] }) {
            switch policy.overflow {
            case .suspend, .fail: return Admission(fate: .refused)
            case .dropNewest: return Admission(fate: .givenUp)
            case .dropOldest: break
            }
        }
        var admission = Admission(fate: .taken, replaced: old.flatMap { remove(at: $0) })
        while !hasRoom, let oldest = popFirst() { admission.dropped.append(oldest) }
        compact()
        if let key { latest[key] = places.count }
        places.append(arrival)
        count += 1
        byteCount += arrival.byteCount
        return admission
    }

    /// Takes everything out, in order.
    mutating func removeAll() -> [Arrival] {
        defer { self = ArrivalQueue(policy) }
        return count == places.count ? places : places.filter { !$0.isGone }
    }

    /// Takes out those of which `isOver` holds; the others keep their order.
    mutating func removeAll(where isOver: (Arrival) -> Bool) -> [Arrival] {
        var removed: [Arrival] = []
        for index in places.indices.dropFirst(start) where !places[index].isGone {
            if isOver(places[index]), let arrival = remove(at: index) { removed.append(arrival) }
        }
        compact()
        return removed
    }

    private func hasRoom(without old: Arrival?) -> Bool {
        count - (old == nil ? 0 : 1) < policy.maximumCount && byteCount - (old?.byteCount ?? 0) < policy.maximumBytes
    }

    private mutating func popFirst() -> Arrival? {
        while start < places.count {
            defer { start += 1 }
            if let oldest = remove(at: start) { return oldest }
        }
        return nil
    }

    /// Takes out the message at a place, which stays; ``compact()`` follows.
    private mutating func remove(at index: Int) -> Arrival? {
        let arrival = exchange(&places[index], with: .gone)
        guard !arrival.isGone else { return nil }
        count -= 1
        byteCount -= arrival.byteCount
        if arrival.shape.isLatestOnly { latest[Array(arrival.shape.topic.utf8)] = nil }
        return arrival
    }

    /// Gives up places of messages that are gone: many at a time.
    private mutating func compact() {
        let goneCount = places.count - count
        guard goneCount >= Self.goneLimit, goneCount * 2 >= places.count else { return }
        places.removeAll { $0.isGone }
        start = 0
        guard !latest.isEmpty else { return }
        for (index, arrival) in places.enumerated() {
            if arrival.shape.isLatestOnly { latest[Array(arrival.shape.topic.utf8)] = index }
        }
    }
}

extension DurableOutbox.Arrival {
    /// Stands for one that is gone. No message has an empty topic.
    fileprivate static let gone = DurableOutbox.Arrival(
        shape: Publishing.Shape(topic: "", qos: .zero), payload: [], recipient: .nobody, acceptance: nil)

    fileprivate var isGone: Bool { shape.topic.isEmpty }
}
