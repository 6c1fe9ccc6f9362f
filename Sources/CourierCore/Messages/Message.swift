public import Foundation

/// A received message: its topic, payload, quality of service and properties.
///
/// Many small messages that arrive together share their memory until the last of them is released. To keep a single
/// message for a long time, keep its ``data``, or the message that ``detached()`` returns.
public struct Message: Hashable, Sendable {
    private let page: MessagePage
    private let index: UInt32

    /// Acknowledges the message for the reader that received it; `nil` if the reader need not acknowledge the message.
    private let acknowledgement: (any MessageAcknowledgement)?

    /// Creates a message. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - data: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - packetID: The packet id; `nil` by default.
    ///   - isRetained: Whether the broker sent it as a retained message; `false` by default.
    ///   - isDuplicate: Whether the broker marked the delivery as a repetition; `false` by default.
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

    /// Creates the message at `index` of `page`, without copying its bytes. `acknowledgement` acknowledges the message
    /// for one reader; `nil` if the reader need not acknowledge it.
    package init(_ page: MessagePage, _ index: UInt32, acknowledgement: (any MessageAcknowledgement)? = nil) {
        self.page = page
        self.index = index
        self.acknowledgement = acknowledgement
    }

    /// The approximate memory that this message uses in its page, in bytes. A page is memory that several messages
    /// share.
    package var heldByteCount: Int { page.heldByteCount(of: Int(index)) }

    private var entry: MessagePage.Entry { page.entries[Int(index)] }

    /// The payload. Each access may copy a payload that is shorter than 4 KiB, so read this property once.
    public var data: Data { page.data(of: Int(index)) }

    /// The size of the payload in bytes. Unlike ``data``, this property makes no copy.
    public var byteCount: Int { Int(entry.byteCount) }

    /// The topic name that the message was published to.
    public var topic: String { page.topic(of: Int(index)) }

    /// The quality of service of the delivery.
    public var qos: QoS { entry.qos }

    /// The packet id of the delivery; `nil` for QoS 0. The id is unique only until the message is acknowledged.
    public var packetID: UInt16? {
        let id = entry.packetID
        return id == 0 ? nil : id  // 0 is not a valid packet id [MQTT-2.2.1-3].
    }

    /// True for a retained message that the broker had stored for new subscribers. False for a newly published message.
    public var isRetained: Bool { entry.isRetained }

    /// Whether the broker marked the delivery as a repetition (the DUP flag). A first delivery never has the flag. A
    /// message with the flag may still be new to this client.
    public var isDuplicate: Bool { entry.isDuplicate }

    /// The properties of MQTT 5; all are empty with MQTT 3.1.1. Each access may decode them, so read this property
    /// once.
    public var properties: MessageProperties { page.properties(of: Int(index)) }

    /// Calls `body` with the bytes of the payload, without a copy.
    ///
    /// - Parameter body: A closure that receives the bytes. They are valid only during the call.
    /// - Returns: The result of `body`.
    /// - Throws: The error that `body` throws.
    public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try page.withPayload(of: Int(index)) { try body($0.bytes) }
    }

    /// Returns this message with its own memory, which it shares with no other message. Use the method to keep a few of
    /// many received messages for a long time.
    ///
    /// - Returns: The message. Acknowledging it has the same effect as acknowledging this message.
    public func detached() -> Message {
        page.entries.count == 1
            ? self : Message(page.extracting(index), 0, acknowledgement: acknowledgement)
    }

    /// Acknowledges the message for this reader now. Without this call, the message is acknowledged when the reader
    /// requests the next message.
    ///
    /// Only the first call has an effect, and only on a message that was read with
    /// ``AcknowledgementMode/afterProcessing``. Any thread may call this method; it does not block.
    public func acknowledge() { acknowledgement?.acknowledge() }

    /// Acknowledges the message for this reader, like ``acknowledge()``, and waits until the acknowledgement is
    /// durable.
    ///
    /// - QoS 2 with a message store: the method returns when the store has recorded that the message must not be
    ///   delivered again. If this call is the last step of your processing, the message is processed again only if the
    ///   process ends before the call returns.
    /// - QoS 1 or 2, if the message waited for a reader in the message store: the method returns when the store has
    ///   removed the message.
    /// - All other cases (QoS 1, or no message store): the method returns when the client has passed the
    ///   acknowledgement to the connection. After a crash, the message may arrive again.
    ///
    /// If the store fails, the client tries again every second. Cancelling the task does not end the wait. If other
    /// readers still process the message, the method returns at once. The message is then acknowledged when the last
    /// reader finishes it.
    ///
    /// - Throws: ``CourierError/Code-swift.struct/clientDestroyed`` if the client is destroyed or has ended before the
    ///   acknowledgement is stored. If the client has ended and the store failed, the error of the store.
    public func acknowledgeDurably() async throws {
        guard let acknowledgement else { return }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            acknowledgement.acknowledge { continuation.resume(with: $0.mapError { $0 }) }
        }
    }

    /// Rejects the message by an acknowledgement with a failure code. The broker forgets the message and does not send
    /// it again.
    ///
    /// ```swift
    /// for try await order in client.messages(Received<Order>.self, from: "orders/#", acknowledge: .afterProcessing) {
    ///     if order.value.items.isEmpty { order.message.reject(.payloadFormatInvalid) }
    /// }
    /// ```
    ///
    /// To get the message again, leave the loop instead, for example by throwing an error from its body. The message
    /// then goes to the next reader of its topic, or arrives again with the next connection.
    ///
    /// Only the first call has an effect, and only on a message that was read with
    /// ``AcknowledgementMode/afterProcessing``. If several readers get the message, it is acknowledged with the code of
    /// the first reader that rejects it. Any thread may call this method; it does not block.
    ///
    /// PUBACK or PUBREC carries the code. MQTT 3.1.1 has no such code, so the message is acknowledged as if the app had
    /// processed it. A message from the message store is only removed from the store, because the broker has already
    /// forgotten it.
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
    /// Returns whether all fields of the messages are equal. The comparison ignores which readers received the
    /// messages.
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

    /// Hashes the fields that `==` compares.
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

/// Acknowledges one message for one reader. Any thread may call the methods, and repeated calls are safe.
package protocol MessageAcknowledgement: AnyObject, Sendable {
    /// Reports that this reader has finished the message.
    func acknowledge()

    /// Reports that this reader rejects the message with this code.
    func reject(_ reason: NegativeAcknowledgement)

    /// Reports that this reader has finished the message. `settled` is called once: with success when the
    /// acknowledgement is durable, or with the error if the acknowledgement has failed.
    func acknowledge(settled: @escaping @Sendable (Result<Void, CourierError>) -> Void)
}

extension Message: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text with the topic, quality of service and size, but without the payload.
    public var description: String {
        let marks = (isRetained ? ", retained" : "") + (isDuplicate ? ", duplicate" : "")
        return "Message(\(topic.quoted()), qos: \(qos), \(byteCount) bytes\(marks))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same fields as ``description``, so that `dump` and debuggers show no payload either.
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
