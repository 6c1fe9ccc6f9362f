import CourierCore
import MQTTEngine

/// The messages that wait for a connection, within the limits of an ``OfflinePolicy``.
///
/// A value without locks and clocks: what it gives up it returns, and the caller tells whoever waits for it.
struct OfflineQueue {
    typealias Instant = ContinuousClock.Instant

    /// What became of a message, and of others because of it.
    struct Verdict {
        /// Messages that ended, each with the reason.
        var ended: [(token: Token, code: CourierError.Code)] = []
        /// Whether the new message was taken or given up by the policy; otherwise its caller has it back.
        var isSettled = true
        /// When the new message will have waited too long, if ever.
        var expiry: Instant?
    }

    private struct Element {
        var message: OutgoingMessage
        /// Whether a newer message to its topic may take its place.
        var isLatestOnly: Bool
    }

    private let shared: Shared<OfflinePolicy>
    private var elements: [Element?] = []
    /// How many of `elements` at the front are gone.
    private var start = 0
    private(set) var count = 0
    private(set) var byteCount = 0
    /// Where the waiting message of a latest-only topic stands, by the topic's bytes.
    private var latest: [[UInt8]: Int] = [:]

    init(_ policy: Shared<OfflinePolicy>) { shared = policy }

    private var policy: OfflinePolicy { shared.value }

    var isEmpty: Bool { count == 0 }

    /// Whether at most half of what may wait does: the moment to wake those who wait for room.
    var hasRoom: Bool { count <= policy.maximumCount / 2 && byteCount <= policy.maximumBytes / 2 }

    /// Whether that holds, and a message of so many bytes fits.
    func hasRoom(for size: Int) -> Bool { hasRoom && byteCount + size <= policy.maximumBytes }

    /// Adds a message at the end, or in the place of an older one that it replaces.
    mutating func append(
        _ message: OutgoingMessage, isLatestOnly: Bool, _ overflow: OfflinePolicy.Overflow? = nil, now: Instant
    ) -> Verdict {
        var message = message
        if let age = policy.maximumAge {
            let end = now.advanced(by: age.bounded)
            message.expiry = message.expiry.map { min($0, end) } ?? end
        }
        var verdict = Verdict(expiry: message.expiry)
        if isLatestOnly, let index = latest[Array(message.topic.utf8)], let old = elements[index] {
            verdict.ended.append((old.message.token, .messageReplaced))
            byteCount += Self.size(message) - Self.size(old.message)
            elements[index] = Element(message: message, isLatestOnly: true)
            return verdict
        }
        let size = Self.size(message)
        while count >= max(policy.maximumCount, 1) || byteCount + size > policy.maximumBytes {
            switch overflow ?? policy.overflow {
            case .suspend, .fail:
                verdict.isSettled = false
                return verdict
            case .dropNewest:
                verdict.ended.append((message.token, .queueFull))
                return verdict
            case .dropOldest:
                guard let oldest = popFirst() else {  // It alone is larger than everything that may wait.
                    verdict.ended.append((message.token, .queueFull))
                    return verdict
                }
                verdict.ended.append((oldest.token, .queueFull))
            }
        }
        if isLatestOnly { latest[Array(message.topic.utf8)] = elements.count }
        elements.append(Element(message: message, isLatestOnly: isLatestOnly))
        count += 1
        byteCount += size
        return verdict
    }

    /// The message that has waited longest.
    var first: OutgoingMessage? { elements.dropFirst(start).lazy.compactMap { $0?.message }.first }

    /// Takes the message that has waited longest.
    @discardableResult
    mutating func popFirst() -> OutgoingMessage? {
        while start < elements.count {
            let element = elements[start]
            elements[start] = nil
            start += 1
            guard let element else { continue }
            if element.isLatestOnly { latest[Array(element.message.topic.utf8)] = nil }
            count -= 1
            byteCount -= Self.size(element.message)
            compact()
            return element.message
        }
        return nil
    }

    /// Takes out what has expired, and returns the tokens.
    mutating func removeExpired(now: Instant) -> [Token] {
        var expired: [Token] = []
        for index in elements.indices.dropFirst(start) {
            guard let element = elements[index], let expiry = element.message.expiry, expiry <= now else { continue }
            expired.append(element.message.token)
            elements[index] = nil
            if element.isLatestOnly { latest[Array(element.message.topic.utf8)] = nil }
            count -= 1
            byteCount -= Self.size(element.message)
        }
        return expired
    }

    /// When the first message expires, if any will.
    var nextExpiry: Instant? { elements.dropFirst(start).lazy.compactMap { $0?.message.expiry }.min() }

    /// Takes everything out, and returns the tokens in order.
    mutating func removeAll() -> [Token] {
        let tokens = elements.dropFirst(start).compactMap { $0?.message.token }
        self = OfflineQueue(shared)
        return tokens
    }

    private mutating func compact() {
        if start == elements.count {
            elements.removeAll(keepingCapacity: true)
            start = 0
            latest.removeAll()
        } else if start >= 1_024, start * 2 >= elements.count {
            elements.removeFirst(start)
            for topic in latest.keys { latest[topic]? -= start }
            start = 0
        }
    }

    static func size(_ message: OutgoingMessage) -> Int { message.topic.utf8.count + message.payload.count }
}
