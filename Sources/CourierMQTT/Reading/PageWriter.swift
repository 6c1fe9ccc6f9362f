import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

/// Puts messages side by side on a ``MessagePage``. On the event loop only.
struct PageWriter {
    private var entries: [MessagePage.Entry] = []
    private var bytes: [UInt8] = []
    private var topics: [String] = []
    /// How much the last page held, which the next one is made ready for.
    private var lastEntryCount = 0
    private var lastByteCount = 0

    init() {}

    var isEmpty: Bool { entries.isEmpty }

    /// Names the topic of the messages that follow; every page begins without one.
    mutating func use(topic: String) { topics.append(topic) }

    /// Adds a message of the present topic.
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

    /// The page, which takes no more; the next message begins another one.
    mutating func finish() -> MessagePage {
        (lastEntryCount, lastByteCount) = (entries.count, bytes.count)
        let page = MessagePage(
            entries: Self.fitted(&entries), bytes: Self.fitted(&bytes), topics: Self.fitted(&topics),
            decode: MessageProperties.decode)
        return page
    }

    /// Takes an array out: itself if it is nearly full, and a copy that fits otherwise, because it may wait for long.
    private static func fitted<Element>(_ array: inout [Element]) -> [Element] {
        defer { array = [] }
        return array.count >= array.capacity / 4 * 3 ? array : Array(array[...])
    }
}

/// The fields of a message beside topic, payload and properties.
struct MessageMarks {
    let qos: QoS
    let packetID: UInt16?
    let isRetained: Bool
    let isDuplicate: Bool
    /// Whether several readers get it.
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
