public import Foundation

/// A received message as it came: topic, bytes, and what the broker said about it.
///
/// Many small messages that came together share their memory until the last of them is gone. To keep one for long,
/// keep its ``data``, or the message ``detached()``.
public struct Message: Hashable, Sendable {
    private let page: MessagePage
    private let index: UInt32

    /// How the reader that got it acknowledges it; `nil` when there is nothing to acknowledge.
    private let acknowledgement: (any MessageAcknowledgement)?

    /// Collects what is known about a message; apps need it in tests only.
    ///
    /// - Parameters:
    ///   - data: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - packetID: The packet id; `nil` by default.
    ///   - isRetained: Whether it was kept by the broker; `false` by default.
    ///   - isDuplicate: Whether it is marked as sent before; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    public init(
        data: Data,
        topic: String,
        qos: QoS,
        packetID: UInt16? = nil,
        isRetained: Bool = false,
        isDuplicate: Bool = false,
        properties: MessageProperties = MessageProperties()
    ) {
        page = MessagePage(
            data, topic: topic, qos: qos, packetID: packetID, isRetained: isRetained, isDuplicate: isDuplicate,
            properties: properties)
        index = 0
        acknowledgement = nil
    }

    /// One of a page, and how its reader acknowledges it.
    package init(_ page: MessagePage, _ index: UInt32, acknowledgement: (any MessageAcknowledgement)? = nil) {
        self.page = page
        self.index = index
        self.acknowledgement = acknowledgement
    }

    /// How much memory is the message's own, about.
    package var heldByteCount: Int { page.heldByteCount(of: Int(index)) }

    private var entry: MessagePage.Entry { page.entries[Int(index)] }

    /// The payload: made each time from the message's own memory when it is shorter than 4 KiB, so ask once.
    public var data: Data { page.data(of: Int(index)) }

    /// The payload's size in bytes, without making ``data``.
    public var byteCount: Int { Int(entry.byteCount) }

    /// The topic name it was published to.
    public var topic: String { page.topic(of: Int(index)) }

    /// The quality of service it was delivered with.
    public var qos: QoS { entry.qos }

    /// The packet id of its delivery; `nil` for QoS 0. Unique only until the message is acknowledged.
    public var packetID: UInt16? {
        let id = entry.packetID
        return id == 0 ? nil : id  // Zero is no packet id [MQTT-2.2.1-3].
    }

    /// Whether the broker had kept it for new subscribers and it is not fresh.
    public var isRetained: Bool { entry.isRetained }

    /// Whether the broker marked it as sent before; a fresh delivery never has the mark, a marked one may still be
    /// new here.
    public var isDuplicate: Bool { entry.isDuplicate }

    /// The properties of MQTT 5; all empty in 3.1.1. Made each time from the message's own memory, so ask once.
    public var properties: MessageProperties { page.properties(of: Int(index)) }

    /// Lends the payload where it is, without copying it.
    ///
    /// - Parameter body: Gets the bytes, which are there during the call only.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try page.withPayload(of: Int(index)) { try body($0.bytes) }
    }

    /// The same message in memory of its own: what to store when few of many messages are kept for long.
    ///
    /// - Returns: The message; it is acknowledged like this one.
    public func detached() -> Message {
        page.entries.count == 1
            ? self : Message(page.extracting(CollectionOfOne(index)), 0, acknowledgement: acknowledgement)
    }

    /// Says that this reader is done with the message, earlier than asking for the next one would say it.
    ///
    /// It has an effect on what was read with ``AcknowledgementMode/afterProcessing``, once; otherwise it does
    /// nothing. From any thread; it does not block.
    public func acknowledge() { acknowledgement?.acknowledge() }

    /// Says that this reader is done with the message, like ``acknowledge()``, and waits for what makes that last.
    ///
    /// - QoS 2 with a message store: it returns when it is stored that the message must not come again. A message whose
    ///   processing ends with this call is processed again only when the process dies before it returns.
    /// - QoS 1 or 2 from the message store, where the message waited for a reader: it returns when the store has removed it.
    /// - Otherwise, so at QoS 1 and without a store: it returns when the acknowledgement was handed to the session; the
    ///   message may come again after a crash.
    ///
    /// While the store fails it is tried every second; cancelling the task does not end the wait. While other readers are
    /// busy with the message, it returns at once: the last one decides.
    ///
    /// - Throws: ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed or has ended before it is
    ///   stored, or why the store failed for a client that has ended.
    public func acknowledgeDurably() async throws {
        guard let acknowledgement else { return }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            acknowledgement.acknowledge { continuation.resume(with: $0.mapError { $0 }) }
        }
    }

    /// Ends the message with a failure code. The broker forgets the message and does not send it again.
    ///
    /// ```swift
    /// for try await order in client.messages(Received<Order>.self, from: "orders/#", acknowledge: .afterProcessing) {
    ///     if order.value.items.isEmpty { order.message.reject(.payloadFormatInvalid) }
    /// }
    /// ```
    ///
    /// To get the message again, leave the loop instead, for example by throwing an error from its body. The message then goes
    /// to the next reader of its topic, or arrives again with the next connection.
    ///
    /// The method has an effect on a message that was read with ``AcknowledgementMode/afterProcessing``, once; otherwise it does
    /// nothing. If several readers get the message, it ends with the code of the first reader that rejects it. PUBACK or PUBREC
    /// carries the code. MQTT 3.1.1 has no code: the message is then acknowledged as if it was processed. So is a message from
    /// the message store, because the broker has forgotten it already. Any thread may call this method; it does not block.
    ///
    /// - Parameter reason: The code; ``NegativeAcknowledgement/implementationSpecificError`` by default.
    public func reject(_ reason: NegativeAcknowledgement = .implementationSpecificError) {
        acknowledgement?.reject(reason)
    }

    /// The payload; another name for ``data``.
    public var payload: Data { data }

    /// The payload as text, `nil` when it is not valid UTF-8.
    public var payloadString: String? {
        page.withPayload(of: Int(index)) { String(validating: $0, as: UTF8.self) }
    }
}

extension Message {
    /// Compares the fields of the messages, not their readers.
    public static func == (left: Message, right: Message) -> Bool {
        left.topic == right.topic && left.hasSameBytes(as: right) && left.qos == right.qos
            && left.packetID == right.packetID && left.isRetained == right.isRetained
            && left.isDuplicate == right.isDuplicate && left.properties == right.properties
    }

    private func hasSameBytes(as other: Message) -> Bool {
        page.withPayload(of: Int(index)) { bytes in
            other.page.withPayload(of: Int(other.index)) { bytes.elementsEqual($0) }
        }
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(topic)
        page.withPayload(of: Int(index)) { bytes in
            hasher.combine(bytes.count)
            hasher.combine(bytes: bytes)
        }
        hasher.combine(qos)
        hasher.combine(packetID)
        hasher.combine(isRetained)
        hasher.combine(isDuplicate)
        hasher.combine(properties)
    }
}

/// One reader's part in the acknowledgement of one message. Safe to call more than once and from any thread.
package protocol MessageAcknowledgement: AnyObject, Sendable {
    /// This reader is done with it.
    func acknowledge()

    /// This reader does not accept the message.
    func reject(_ reason: NegativeAcknowledgement)

    /// This reader is done with it; `settled` is called once when that cannot be lost any more.
    func acknowledge(settled: @escaping @Sendable (Result<Void, CourierError>) -> Void)
}

extension Message: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Topic, quality of service and size; never the payload.
    public var description: String {
        let marks = (isRetained ? ", retained" : "") + (isDuplicate ? ", duplicate" : "")
        return "Message(\(topic.quoted()), qos: \(qos), \(byteCount) bytes\(marks))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same facts as ``description``, so that `dump` and debuggers show no payload either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "topic": topic, "qos": qos, "payload": "\(byteCount) bytes", "isRetained": isRetained,
                "isDuplicate": isDuplicate,
            ],
            displayStyle: .struct)
    }
}
