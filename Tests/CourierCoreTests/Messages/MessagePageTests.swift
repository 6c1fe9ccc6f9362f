import CourierCore
import Foundation
import Testing

@Suite struct MessagePageTests {
    private static let properties = MessageProperties(contentType: "text/plain")

    /// Three messages of two topics, the last with properties.
    private static func page() -> MessagePage {
        func entry(_ start: Int, _ count: Int, topic: Int, _ properties: Int, _ qos: QoS) -> MessagePage.Entry {
            MessagePage.Entry(
                start: start, byteCount: count, propertyByteCount: properties, topic: topic,
                packetID: qos == .zero ? nil : 7, qos: qos, isRetained: qos == .one, isDuplicate: qos == .two)
        }
        return MessagePage(
            entries: [
                entry(0, 3, topic: 0, 0, .zero), entry(3, 0, topic: 1, 0, .one), entry(3, 2, topic: 1, 10, .two),
            ],
            bytes: Array("abcdetext/plain".utf8), topics: ["a", "b"],
            decode: { MessageProperties(contentType: String(decoding: $0, as: UTF8.self)) })
    }

    private static let expected = [
        Message(data: Data("abc".utf8), topic: "a", qos: .zero),
        Message(data: Data(), topic: "b", qos: .one, packetID: 7, isRetained: true),
        Message(data: Data("de".utf8), topic: "b", qos: .two, packetID: 7, isDuplicate: true, properties: properties),
    ]

    @Test func `messages that share one MessagePage equal messages that were created separately`() {
        let page = Self.page()
        let messages = (0..<3).map { Message(page, $0) }
        #expect(messages == Self.expected)
        #expect(Set(messages) == Set(Self.expected))
        #expect(messages.map(\.data) == Self.expected.map(\.data))
        #expect(messages.map(\.payloadString) == ["abc", "", "de"])
        #expect(messages.map(\.byteCount) == [3, 0, 2])
        #expect(messages.map(\.packetID) == [nil, 7, 7])
        #expect(
            messages.map { $0.withBytes { $0.withUnsafeBytes { [UInt8]($0) } } } == messages.map { [UInt8]($0.data) })
    }

    @Test(arguments: [[0], [1], [2], [0, 2], [1, 2], [0, 1, 2], []] as [[UInt32]])
    func `a page extracted from a larger page holds only the selected messages and their bytes`(_ indexes: [UInt32]) {
        let part = Self.page().extracting(indexes)
        #expect((0..<UInt32(indexes.count)).map { Message(part, $0) } == indexes.map { Self.expected[Int($0)] })
        let bytes = indexes.reduce(0) { $0 + [3, 0, 12][Int($1)] }
        #expect(part.messageByteCount == bytes + indexes.count * MemoryLayout<MessagePage.Entry>.stride)
    }

    @Test func `a detached message equals the original and does not retain its page`() {
        weak var page: MessagePage?
        let kept = {
            let whole = Self.page()
            page = whole
            return Message(whole, 2).detached()
        }()
        #expect(kept == Self.expected[2])
        #expect(page == nil)
    }

    @Test func `a large message returns its payload without a copy`() {
        func address(_ data: Data) -> UnsafeRawPointer? { data.withUnsafeBytes { $0.baseAddress } }
        let payload = Data(repeating: 1, count: MessagePage.singleByteCount)
        let message = Message(data: payload, topic: "t", qos: .zero)
        #expect(address(message.data) == address(payload))
        #expect(address(message.detached().data) == address(payload))
    }

    @Test func `messages that differ in payload, topic, QoS or properties are not equal`() {
        let page = Self.page()
        let one = Message(page, 0)
        for other in [
            Message(data: Data("abd".utf8), topic: "a", qos: .zero),
            Message(data: Data("ab".utf8), topic: "a", qos: .zero),
            Message(data: Data("abc".utf8), topic: "b", qos: .zero),
            Message(data: Data("abc".utf8), topic: "a", qos: .one),
            Message(data: Data("abc".utf8), topic: "a", qos: .zero, properties: Self.properties),
        ] { #expect(one != other) }
    }
}
