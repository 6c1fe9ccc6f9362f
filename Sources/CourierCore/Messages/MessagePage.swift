package import Foundation

/// The messages of one read side by side in a few blocks of memory, so that a message costs no block of its own.
///
/// Immutable. A reference to one message keeps the whole page in memory. ``extracting(_:)`` copies some messages to a
/// smaller page.
package final class MessagePage: Sendable {
    /// What is known about one message.
    package struct Entry: Sendable {
        /// Where the payload is. The encoded properties follow it.
        package let start: UInt32
        /// The length of the payload.
        package let byteCount: UInt32
        /// The length of the encoded properties.
        package let propertyByteCount: UInt32
        /// Which of the page's topics.
        package let topic: UInt32
        /// Zero for QoS 0.
        package let packetID: UInt16
        package let qos: QoS
        package let isRetained: Bool
        package let isDuplicate: Bool
        /// Whether several readers received the message.
        package let isShared: Bool

        /// Makes an entry.
        package init(
            start: Int, byteCount: Int, propertyByteCount: Int = 0, topic: Int, packetID: UInt16?, qos: QoS,
            isRetained: Bool, isDuplicate: Bool, isShared: Bool = false
        ) {
            self.start = UInt32(truncatingIfNeeded: start)
            self.byteCount = UInt32(truncatingIfNeeded: byteCount)
            self.propertyByteCount = UInt32(truncatingIfNeeded: propertyByteCount)
            self.topic = UInt32(truncatingIfNeeded: topic)
            self.packetID = packetID ?? 0
            self.qos = qos
            self.isRetained = isRetained
            self.isDuplicate = isDuplicate
            self.isShared = isShared
        }

        fileprivate var range: Range<Int> { Int(start)..<Int(start) + Int(byteCount) }

        fileprivate var propertyRange: Range<Int> { range.upperBound..<range.upperBound + Int(propertyByteCount) }

        /// The same message where its bytes and its topic are elsewhere.
        fileprivate func moved(to start: Int, topic: Int) -> Entry {
            Entry(
                start: start, byteCount: Int(byteCount), propertyByteCount: Int(propertyByteCount), topic: topic,
                packetID: packetID, qos: qos, isRetained: isRetained, isDuplicate: isDuplicate, isShared: isShared)
        }
    }

    /// Decodes properties that were received.
    package typealias PropertyDecoder = @Sendable (UnsafeRawBufferPointer) -> MessageProperties

    /// A page is finished when its messages have this size.
    package static let sharedByteCount = 64 << 10

    /// A message whose payload and encoded properties have at least this size gets a page of its own.
    package static let singleByteCount = 4 << 10

    package let entries: [Entry]
    /// All payloads, each followed by its encoded properties. A page with a single message has only its properties here.
    private let bytes: [UInt8]
    /// The payload of the page's only message. ``data(of:)`` returns it without a copy.
    private let singlePayload: Data?
    private let topics: [String]
    /// The properties of a single message that has no encoded ones.
    private let decodedProperties: MessageProperties
    private let decode: PropertyDecoder
    /// The approximate memory that the page keeps allocated, in bytes.
    package let byteCount: Int

    /// Joins messages whose payloads and properties are in `bytes`; `decode` makes the latter on demand.
    package init(
        entries: [Entry], bytes: [UInt8], topics: [String], decode: @escaping PropertyDecoder = { _ in .empty }
    ) {
        self.entries = entries
        self.bytes = bytes
        singlePayload = nil
        self.topics = topics
        decodedProperties = .empty
        self.decode = decode
        byteCount = Self.byteCount(entries.capacity, topics, bytes.capacity)
    }

    /// A page of one message, whose properties `decode` makes of `encodedProperties` on demand.
    package init(
        _ payload: Data, topic: String, qos: QoS, packetID: UInt16?, isRetained: Bool, isDuplicate: Bool,
        isShared: Bool = false, encodedProperties: [UInt8], decode: @escaping PropertyDecoder
    ) {
        entries = [
            Entry(
                start: 0, byteCount: payload.count, propertyByteCount: encodedProperties.count, topic: 0,
                packetID: packetID, qos: qos, isRetained: isRetained, isDuplicate: isDuplicate, isShared: isShared)
        ]
        bytes = encodedProperties
        singlePayload = payload
        topics = [topic]
        decodedProperties = .empty
        self.decode = decode
        byteCount = Self.byteCount(1, topics, encodedProperties.count + Self.dataOverhead + payload.count)
    }

    /// A page with one message made by the app or read from the message store. Its properties are decoded already.
    package init(
        _ payload: Data, topic: String, qos: QoS, packetID: UInt16?, isRetained: Bool, isDuplicate: Bool,
        properties: MessageProperties
    ) {
        entries = [
            Entry(
                start: 0, byteCount: payload.count, topic: 0, packetID: packetID, qos: qos, isRetained: isRetained,
                isDuplicate: isDuplicate)
        ]
        bytes = []
        singlePayload = payload
        topics = [topic]
        decodedProperties = properties
        decode = { _ in .empty }
        byteCount = Self.byteCount(1, topics, Self.dataOverhead + payload.count + properties.heldByteCount)
    }

    /// A page without messages.
    package static let empty = MessagePage(entries: [], bytes: [], topics: [])

    /// What the page and its arrays take beside their elements.
    private static let overhead = 256
    /// What `Data` takes beside its bytes.
    private static let dataOverhead = 96

    private static func byteCount(_ entryCount: Int, _ topics: [String], _ byteCount: Int) -> Int {
        let topics = topics.reduce(topics.capacity * MemoryLayout<String>.stride) { $0 + $1.heldByteCount }
        return overhead + entryCount * MemoryLayout<Entry>.stride + topics + byteCount
    }

    /// The topic of a message.
    package func topic(of index: Int) -> String { topics[Int(entries[index].topic)] }

    /// The properties of a message, made each time.
    package func properties(of index: Int) -> MessageProperties {
        let entry = entries[index]
        if entry.propertyByteCount == 0 { return decodedProperties }
        return bytes.withUnsafeBytes { decode(UnsafeRawBufferPointer(rebasing: $0[propertyRange(of: entry)])) }
    }

    private func propertyRange(of entry: Entry) -> Range<Int> {
        singlePayload == nil ? entry.propertyRange : bytes.indices
    }

    /// How many bytes the entries, payloads and encoded properties take.
    package var messageByteCount: Int {
        entries.count * MemoryLayout<Entry>.stride + bytes.count + (singlePayload?.count ?? 0)
    }

    /// How much of the page's memory is that of one message, about.
    package func heldByteCount(of index: Int) -> Int {
        if entries.count == 1 { return byteCount }
        let entry = entries[index]
        return MemoryLayout<Entry>.stride + Int(entry.byteCount) + Int(entry.propertyByteCount)
            + topics[Int(entry.topic)].heldByteCount
    }

    /// The payload of a message: a copy, or the page's own `Data` if it has a single message.
    package func data(of index: Int) -> Data {
        if let singlePayload { return singlePayload }
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
        if let singlePayload { return try singlePayload.withUnsafeBytes(body) }
        let range = entries[index].range
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// A page of some of the messages, in their order, which keeps no more memory than they need.
    package func extracting(_ indexes: some Collection<UInt32>) -> MessagePage {
        if singlePayload != nil { return self }
        var entries: [Entry] = []
        entries.reserveCapacity(indexes.count)
        var kept: [UInt8] = []
        kept.reserveCapacity(
            indexes.reduce(0) { $0 + self.entries[Int($1)].range.count + self.entries[Int($1)].propertyRange.count })
        var topics: [String] = []
        var lastTopic: UInt32?
        for index in indexes {
            let entry = self.entries[Int(index)]
            if entry.topic != lastTopic {
                lastTopic = entry.topic
                topics.append(self.topics[Int(entry.topic)])
            }
            entries.append(entry.moved(to: kept.count, topic: topics.count - 1))
            kept += bytes[entry.range.lowerBound..<entry.propertyRange.upperBound]
        }
        return MessagePage(entries: entries, bytes: kept, topics: topics, decode: decode)
    }
}
