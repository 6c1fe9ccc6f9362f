import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

/// Collects arrived messages, and makes a ``MessagePage`` of them. Used on the event loop only.
struct PageWriter {
    private var entries: [MessagePage.Entry] = []
    private var bytes: [UInt8] = []
    private var topics: [String] = []
    /// The numbers of messages and of bytes (`lastByteCount`) on the last page. The next page reserves memory for the
    /// same numbers.
    private var lastEntryCount = 0
    private var lastByteCount = 0

    init() {}

    var isEmpty: Bool { entries.isEmpty }

    /// Sets the topic of the following messages. A new page has no topic, so the caller must set one before the first
    /// message of each page.
    mutating func use(topic: String) { topics.append(topic) }

    /// Adds a message with the topic of the last call of `use(topic:)`. Returns the index of the message on the page.
    mutating func append(_ payload: RawSpan, _ marks: MessageMarks, _ properties: RawSpan) -> UInt32 {
        if entries.isEmpty {
            entries.reserveCapacity(lastEntryCount)
            bytes.reserveCapacity(lastByteCount)
        }
        entries.append(
            MessagePage.Entry(
                start: bytes.count, byteCount: payload.byteCount, propertyByteCount: properties.byteCount,
                topic: topics.count - 1, packetID: marks.packetID, qos: marks.qos, isRetained: marks.isRetained,
                isDuplicate: marks.isDuplicate, isShared: marks.isShared))
        payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
        if !properties.isEmpty { properties.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        return UInt32(truncatingIfNeeded: entries.count - 1)
    }

    /// Finishes and returns the page. The next message starts a new page.
    mutating func finish() -> MessagePage {
        (lastEntryCount, lastByteCount) = (entries.count, bytes.count)
        let page = MessagePage(
            entries: Self.fitted(&entries), bytes: Self.fitted(&bytes), topics: Self.fitted(&topics),
            decode: MessageProperties.decode)
        return page
    }

    /// Empties `array`, and returns its former contents. If they use less than three quarters of the capacity, returns
    /// a copy without unused capacity. The copy saves memory, because pages may stay in memory for a long time.
    private static func fitted<Element>(_ array: inout [Element]) -> [Element] {
        defer { array = [] }
        return array.count >= array.capacity / 4 * 3 ? array : Array(array[...])
    }
}

/// The fields of a message, except topic, payload and properties.
struct MessageMarks {
    let qos: QoS
    let packetID: UInt16?
    let isRetained: Bool
    let isDuplicate: Bool
    /// True if the message has several readers.
    let isShared: Bool

    init(_ message: IncomingMessage, isShared: Bool) {
        let delivery = message.view.delivery
        qos = QoS(delivery.qos)
        packetID = delivery.packetID?.rawValue
        isRetained = message.view.isRetained
        isDuplicate = delivery.isDuplicate
        self.isShared = isShared
    }
}
