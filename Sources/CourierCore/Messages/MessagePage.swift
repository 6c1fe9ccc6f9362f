package import Foundation

/// Stores messages that were received together in a few shared blocks of memory, so that no message needs its own
/// block.
///
/// A page is immutable. A reference to one message keeps the whole page in memory. ``extracting(_:)`` copies selected
/// messages to a smaller page.
package final class MessagePage: Sendable {
    /// The header fields of one message, and the location of its bytes in the page.
    package struct Entry: Sendable {
        /// The offset of the payload in the page's bytes. The encoded properties follow the payload.
        package let start: UInt32
        /// The length of the payload in bytes.
        package let byteCount: UInt32
        /// The length of the encoded properties in bytes.
        package let propertyByteCount: UInt32
        /// The index of the message's topic in the page's list of topics.
        package let topic: UInt32
        /// The packet id; 0 for QoS 0.
        package let packetID: UInt16
        package let qos: QoS
        package let isRetained: Bool
        package let isDuplicate: Bool
        /// True if the client passed the message to several readers.
        package let isShared: Bool

        /// Creates an entry.
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

        /// Returns a copy of this entry with a new byte offset and a new topic index.
        fileprivate func moved(to start: Int, topic: Int) -> Entry {
            Entry(
                start: start, byteCount: Int(byteCount), propertyByteCount: Int(propertyByteCount), topic: topic,
                packetID: packetID, qos: qos, isRetained: isRetained, isDuplicate: isDuplicate, isShared: isShared)
        }
    }

    /// A closure that decodes the properties of a received message.
    package typealias PropertyDecoder = @Sendable (UnsafeRawBufferPointer) -> MessageProperties

    /// When the messages of a page reach this size in bytes, the next message begins a new page.
    package static let sharedByteCount = 64 << 10

    /// A message gets a page of its own if its payload and encoded properties together have at least this many bytes.
    package static let singleByteCount = 4 << 10

    package let entries: [Entry]
    /// All payloads, each followed by its encoded properties. If `singlePayload` is set, it contains only the encoded
    /// properties of the page's only message.
    private let bytes: [UInt8]
    /// The payload of the page's only message; `nil` if the payloads are in `bytes`. ``data(of:)`` returns this `Data`
    /// without a copy.
    private let singlePayload: Data?
    private let topics: [String]
    /// The properties of the page's only message, if the page was created with decoded properties; empty otherwise.
    private let decodedProperties: MessageProperties
    private let decode: PropertyDecoder
    /// The approximate memory that the page keeps allocated, in bytes.
    package let byteCount: Int

    /// Creates a page of messages whose payloads and encoded properties are in `bytes`. `decode` decodes the properties
    /// on demand.
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

    /// Creates a page of one message. `decode` decodes its `encodedProperties` on demand.
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

    /// Creates a page of one message that the app created or the message store returned. Its properties are already
    /// decoded.
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

    /// The approximate memory of the page object and its arrays in bytes, without the elements of the arrays.
    private static let overhead = 256
    /// The approximate memory of a `Data` without its contents, in bytes.
    private static let dataOverhead = 96

    private static func byteCount(_ entryCount: Int, _ topics: [String], _ byteCount: Int) -> Int {
        let topics = topics.reduce(topics.capacity * MemoryLayout<String>.stride) { $0 + $1.heldByteCount }
        return overhead + entryCount * MemoryLayout<Entry>.stride + topics + byteCount
    }

    /// Returns the topic of a message.
    package func topic(of index: Int) -> String { topics[Int(entries[index].topic)] }

    /// Returns the properties of a message. Encoded properties are decoded at each call.
    package func properties(of index: Int) -> MessageProperties {
        let entry = entries[index]
        if entry.propertyByteCount == 0 { return decodedProperties }
        return bytes.withUnsafeBytes { decode(UnsafeRawBufferPointer(rebasing: $0[propertyRange(of: entry)])) }
    }

    private func propertyRange(of entry: Entry) -> Range<Int> {
        singlePayload == nil ? entry.propertyRange : bytes.indices
    }

    /// The number of bytes of all entries, payloads and encoded properties.
    package var messageByteCount: Int {
        entries.count * MemoryLayout<Entry>.stride + bytes.count + (singlePayload?.count ?? 0)
    }

    /// The approximate memory that one message uses in the page, in bytes.
    package func heldByteCount(of index: Int) -> Int {
        if entries.count == 1 { return byteCount }
        let entry = entries[index]
        return MemoryLayout<Entry>.stride + Int(entry.byteCount) + Int(entry.propertyByteCount)
            + topics[Int(entry.topic)].heldByteCount
    }

    /// Returns the payload of a message: a copy, or the page's own `Data` if the page was created for a single message.
    package func data(of index: Int) -> Data {
        if let singlePayload { return singlePayload }
        let range = entries[index].range
        return bytes.withUnsafeBytes { bytes in
            let payload = UnsafeRawBufferPointer(rebasing: bytes[range])
            guard let start = payload.baseAddress else { return Data() }
            return Data(bytes: start, count: payload.count)
        }
    }

    /// Calls `body` with the payload of a message, without a copy.
    package func withPayload<Result>(
        of index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        if let singlePayload { return try singlePayload.withUnsafeBytes(body) }
        let range = entries[index].range
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Returns a page with only the message at `index`. Does the same as ``extracting(_:)``, but faster.
    package func extracting(_ index: UInt32) -> MessagePage {
        if singlePayload != nil { return self }
        let entry = entries[Int(index)]
        return MessagePage(
            entries: [entry.moved(to: 0, topic: 0)],
            bytes: Array(bytes[entry.range.lowerBound..<entry.propertyRange.upperBound]),
            topics: [topics[Int(entry.topic)]], decode: decode)
    }

    /// Returns a page with only the messages at `indexes`, in the order of `indexes`. The new page uses only the memory
    /// that its messages need.
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
