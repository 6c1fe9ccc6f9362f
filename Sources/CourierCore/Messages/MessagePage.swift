package import Foundation

/// The messages of one read side by side in a few blocks of memory, so that a message costs no block of its own.
///
/// Nothing in it changes. Who keeps one message of a page keeps all of its memory, hence ``extracting(_:)``: a page of
/// less. Pages that the client makes are bounded: many small payloads up to ``sharedByteCount``, or one larger one.
package final class MessagePage: Sendable {
    /// What is known about one message.
    package struct Entry: Sendable {
        /// Where the payload is.
        package let start: UInt32
        /// Its length.
        package let byteCount: UInt32
        /// Which of the page's topics.
        package let topic: UInt32
        /// Which of the page's properties; ``noProperties`` for none.
        package let properties: UInt32
        /// Zero for QoS 0.
        package let packetID: UInt16
        package let qos: QoS
        package let isRetained: Bool
        package let isDuplicate: Bool
        /// Whether several readers were given it.
        package let isShared: Bool

        /// Joins what is known.
        package init(
            start: Int, byteCount: Int, topic: Int, properties: Int?, packetID: UInt16?, qos: QoS, isRetained: Bool,
            isDuplicate: Bool, isShared: Bool = false
        ) {
            self.start = UInt32(truncatingIfNeeded: start)
            self.byteCount = UInt32(truncatingIfNeeded: byteCount)
            self.topic = UInt32(truncatingIfNeeded: topic)
            self.properties = properties.map { UInt32(truncatingIfNeeded: $0) } ?? Entry.noProperties
            self.packetID = packetID ?? 0
            self.qos = qos
            self.isRetained = isRetained
            self.isDuplicate = isDuplicate
            self.isShared = isShared
        }

        package static let noProperties = UInt32.max

        fileprivate var range: Range<Int> { Int(start)..<Int(start) + Int(byteCount) }
    }

    /// How many bytes of payloads share a page at most.
    package static let sharedByteCount = 64 << 10

    /// From how many bytes on a payload gets a page of its own.
    package static let singleByteCount = 4 << 10

    package let entries: [Entry]
    /// The payloads of messages that share them.
    private let bytes: [UInt8]
    /// The payload of the only message: handed out as it is, as often as the app asks.
    private let single: Data?
    private let topics: [String]
    private let properties: [MessageProperties]

    /// Joins messages whose payloads are in `bytes`.
    package init(entries: [Entry], bytes: [UInt8], topics: [String], properties: [MessageProperties]) {
        self.entries = entries
        self.bytes = bytes
        single = nil
        self.topics = topics
        self.properties = properties
    }

    /// A page of one message.
    package init(
        _ payload: Data, topic: String, qos: QoS, packetID: UInt16?, isRetained: Bool, isDuplicate: Bool,
        isShared: Bool = false, properties: MessageProperties?
    ) {
        entries = [
            Entry(
                start: 0, byteCount: payload.count, topic: 0, properties: properties.map { _ in 0 }, packetID: packetID,
                qos: qos, isRetained: isRetained, isDuplicate: isDuplicate, isShared: isShared)
        ]
        bytes = []
        single = payload
        topics = [topic]
        self.properties = properties.map { [$0] } ?? []
    }

    /// How much memory it takes, but for topics and properties.
    package var byteCount: Int {
        entries.count * MemoryLayout<Entry>.stride + bytes.count + (single?.count ?? 0)
    }

    /// The topic of a message.
    package func topic(of index: Int) -> String { topics[Int(entries[index].topic)] }

    /// The properties of a message.
    package func properties(of index: Int) -> MessageProperties {
        let place = entries[index].properties
        return place == Entry.noProperties ? MessageProperties() : properties[Int(place)]
    }

    /// The payload of a message: a copy, or the memory that a single one shares with whoever has asked.
    package func data(of index: Int) -> Data {
        if let single { return single }
        let range = entries[index].range
        return bytes.withUnsafeBytes { bytes in
            let payload = UnsafeRawBufferPointer(rebasing: bytes[range])
            guard let start = payload.baseAddress else { return Data() }
            return Data(bytes: start, count: payload.count)
        }
    }

    /// Lends the payload of a message.
    package func withPayload<Result>(
        of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        if let single { return try single.withUnsafeBytes(body) }
        let range = entries[index].range
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// A page of some of the messages, in their order, which keeps no more memory than they need.
    package func extracting(_ indexes: some Sequence<UInt32>) -> MessagePage {
        if single != nil { return self }
        var entries: [Entry] = []
        var kept: [UInt8] = []
        var topics: [String] = []
        var properties: [MessageProperties] = []
        var lastTopic: UInt32?
        for index in indexes {
            let entry = self.entries[Int(index)]
            if entry.topic != lastTopic {
                lastTopic = entry.topic
                topics.append(self.topics[Int(entry.topic)])
            }
            let hasProperties = entry.properties != Entry.noProperties
            if hasProperties { properties.append(self.properties[Int(entry.properties)]) }
            entries.append(
                Entry(
                    start: kept.count, byteCount: Int(entry.byteCount), topic: topics.count - 1,
                    properties: hasProperties ? properties.count - 1 : nil, packetID: entry.packetID, qos: entry.qos,
                    isRetained: entry.isRetained, isDuplicate: entry.isDuplicate, isShared: entry.isShared))
            kept += bytes[entry.range]
        }
        return MessagePage(entries: entries, bytes: kept, topics: topics, properties: properties)
    }
}
