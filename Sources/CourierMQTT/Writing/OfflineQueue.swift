import CourierCore
import MQTTEngine

/// The messages that wait for a connection, within the limits of an ``OfflinePolicy``.
///
/// A value without locks and clocks: what it gives up it returns, and the caller tells whoever waits for it.
struct OfflineQueue {
    typealias Instant = ContinuousClock.Instant

    /// What became of a message.
    enum Fate {
        case taken
        /// The policy gave it up; it is among those that ended.
        case givenUp
        /// There is no room: its caller has it back.
        case refused
    }

    /// What became of a message, and of others because of it.
    struct Verdict {
        /// Messages that ended, each with the reason.
        var ended: [(token: Token, code: CourierError.Code)] = []
        var fate = Fate.taken
        /// When the new message will have waited too long, if ever.
        var giveUpAt: Instant?
    }

    private struct Element {
        var message: OutgoingMessage
        /// Where it stands in the order in which messages were handed over, if a store is there and that counts.
        var stamp: UInt64
        /// Whether a newer message to its topic may take its place.
        var isLatestOnly: Bool
        /// Whether a message store has it, so that it is not given up for another one.
        var isStored: Bool
        /// When it has waited too long. The broker is told of the message's own expiry only.
        var giveUpAt: Instant?
    }

    /// From how many places of messages that are gone on the others close up.
    private static let goneLimit = 1_024

    private let shared: Shared<OfflinePolicy>
    private var elements: [Element?] = []
    /// How many of `elements` at the front are gone.
    private var start = 0
    /// At least so many of `elements` at the front are gone or stored.
    private var firstDroppable = 0
    private(set) var count = 0
    private(set) var byteCount = 0
    /// How much of that is stored, and does not go for another message.
    private var storedCount = 0
    private var storedByteCount = 0
    /// Where the waiting message of a latest-only topic stands, by the topic's bytes.
    private var latest: [[UInt8]: Int] = [:]

    init(_ policy: Shared<OfflinePolicy>) { shared = policy }

    private var policy: OfflinePolicy { shared.value }

    var isEmpty: Bool { count == 0 }

    /// How many places it keeps, with those of messages that are gone.
    var placeCount: Int { elements.count }

    /// Whether at most half of what may wait does: while messages go out, the moment to wake those who wait for room.
    var hasRoom: Bool { count <= policy.maximumCount / 2 && byteCount <= policy.maximumBytes / 2 }

    /// Whether one more message, of so many bytes, has room, also beside so many others that are about to come.
    func fits(_ size: Int, beside comingCount: Int = 0, _ comingByteCount: Int = 0) -> Bool {
        fits(size, beside: count + comingCount, byteCount + comingByteCount, without: nil)
    }

    /// Adds a message at the end, or in the place of an older one that it replaces, which stays if the new one is not
    /// taken. One for which others have to go is added at the end. So is one that is stored, in the order in which it was
    /// stored, and it is not given up when there is no room for a later one.
    ///
    /// What is stored may come later than a newer one that passed the store by, which the stamps tell: then it is the
    /// new one that is replaced, at once. A message waits until its own expiry, or until the policy or `giveUpAt` says,
    /// whichever is earlier.
    mutating func append(
        _ message: OutgoingMessage, isLatestOnly: Bool, isStored: Bool = false, stamp: UInt64 = 0,
        giveUpAt: Instant? = nil, _ overflow: OfflinePolicy.Overflow? = nil, now: Instant
    ) -> Verdict {
        let ends = [giveUpAt, message.expiry, policy.maximumAge.map { now.advanced(by: $0.bounded) }]
        let index = isLatestOnly ? latest[Array(message.topic.utf8)] : nil
        let old = index.flatMap { elements[$0] }
        let element = Element(
            message: message, stamp: stamp, isLatestOnly: isLatestOnly, isStored: isStored,
            giveUpAt: ends.compactMap { $0 }.min())
        var verdict = Verdict()
        if let old, stamp < old.stamp {
            verdict.ended.append((message.token, .messageReplaced))
            return verdict
        }
        let size = Self.size(message)
        let isInRoom = fits(size, replacing: old)
        if !isInRoom {
            switch overflow ?? policy.overflow {
            case .suspend, .fail:
                verdict.fate = .refused
                return verdict
            case .dropOldest where fits(size, besideStoredReplacing: old): break
            case .dropOldest, .dropNewest:
                verdict.fate = .givenUp
                verdict.ended.append((message.token, .queueFull))
                return verdict
            }
        }
        if let index, let old {
            verdict.ended.append((old.message.token, .messageReplaced))
            remove(at: index)
            if isInRoom, !isStored {
                put(element, at: index)
                verdict.giveUpAt = element.giveUpAt
                return verdict
            }
            compact()
        }
        while !fits(size, replacing: nil), let oldest = dropOldest() {
            verdict.ended.append((oldest.token, .queueFull))
        }
        put(element, at: elements.count)
        verdict.giveUpAt = element.giveUpAt
        return verdict
    }

    /// Whether there is room for a message of so many bytes, once `old` has gone.
    private func fits(_ size: Int, replacing old: Element?) -> Bool {
        fits(size, beside: count, byteCount, without: old)
    }

    /// Whether there would be if only that waited which is stored.
    private func fits(_ size: Int, besideStoredReplacing old: Element?) -> Bool {
        fits(size, beside: storedCount, storedByteCount, without: old.flatMap { $0.isStored ? $0 : nil })
    }

    private func fits(_ size: Int, beside count: Int, _ byteCount: Int, without old: Element?) -> Bool {
        let oldSize = old.map { Self.size($0.message) } ?? 0
        return count - (old == nil ? 0 : 1) < max(policy.maximumCount, 1)
            && byteCount - oldSize + size <= policy.maximumBytes
    }

    /// Puts a message in the place of one that is gone, or behind the last place.
    private mutating func put(_ element: Element, at index: Int) {
        if index < elements.count { elements[index] = element } else { elements.append(element) }
        if element.isLatestOnly { latest[Array(element.message.topic.utf8)] = index }
        let size = Self.size(element.message)
        count += 1
        byteCount += size
        if element.isStored {
            storedCount += 1
            storedByteCount += size
        } else {
            firstDroppable = min(firstDroppable, index)
        }
    }

    /// The message that has waited longest.
    var first: OutgoingMessage? { elements.dropFirst(start).lazy.compactMap { $0?.message }.first }

    /// Takes the message that has waited longest.
    @discardableResult
    mutating func popFirst() -> OutgoingMessage? {
        while start < elements.count {
            let message = remove(at: start)
            start += 1
            guard let message else { continue }
            compact()
            return message
        }
        return nil
    }

    /// Takes the message that has waited longest of those that no store has.
    private mutating func dropOldest() -> OutgoingMessage? {
        firstDroppable = max(firstDroppable, start)
        while firstDroppable < elements.count {
            if let element = elements[firstDroppable], !element.isStored {
                defer { compact() }
                return remove(at: firstDroppable)
            }
            firstDroppable += 1
        }
        return nil
    }

    /// The stamp of the message to a topic that a newer one may replace, if there is one.
    func latestStamp(to topic: String) -> UInt64? {
        guard !latest.isEmpty, let index = latest[Array(topic.utf8)] else { return nil }
        return elements[index]?.stamp
    }

    /// Takes out that message, and returns its token.
    mutating func removeLatest(to topic: String) -> Token? {
        guard let index = latest[Array(topic.utf8)] else { return nil }
        defer { compact() }
        return remove(at: index)?.token
    }

    /// Takes out what has expired, and returns the tokens.
    mutating func removeExpired(now: Instant) -> [Token] {
        var expired: [Token] = []
        for index in elements.indices.dropFirst(start) {
            guard let element = elements[index], let end = element.giveUpAt, end <= now else { continue }
            expired.append(element.message.token)
            remove(at: index)
        }
        compact()
        return expired
    }

    /// When the first message expires, if any will.
    var nextExpiry: Instant? { elements.dropFirst(start).lazy.compactMap { $0?.giveUpAt }.min() }

    /// Takes everything out, and returns the tokens in order.
    mutating func removeAll() -> [Token] {
        let tokens = elements.dropFirst(start).compactMap { $0?.message.token }
        self = OfflineQueue(shared)
        return tokens
    }

    /// Takes out the message at a place, which stays; ``compact()`` follows.
    @discardableResult
    private mutating func remove(at index: Int) -> OutgoingMessage? {
        guard let element = elements[index] else { return nil }
        elements[index] = nil
        if element.isLatestOnly { latest[Array(element.message.topic.utf8)] = nil }
        let size = Self.size(element.message)
        count -= 1
        byteCount -= size
        if element.isStored {
            storedCount -= 1
            storedByteCount -= size
        }
        return element.message
    }

    /// Gives up places of messages that are gone: all when none waits, and else many at a time.
    private mutating func compact() {
        while start < elements.count, elements[start] == nil { start += 1 }
        let goneCount = elements.count - count
        if count == 0 {
            elements.removeAll(keepingCapacity: true)
            latest.removeAll()
        } else if goneCount >= Self.goneLimit, goneCount * 2 >= elements.count {
            elements.removeAll { $0 == nil }
            for (index, element) in elements.enumerated() {
                if let element, element.isLatestOnly { latest[Array(element.message.topic.utf8)] = index }
            }
        } else {
            return
        }
        start = 0
        firstDroppable = 0
    }

    /// The size of a message without a payload to a topic of one byte.
    static let smallestSize = 1

    static func size(_ message: OutgoingMessage) -> Int { message.topic.utf8.count + message.payload.count }
}
