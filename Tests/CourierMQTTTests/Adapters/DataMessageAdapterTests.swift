import CourierCore
import CourierMQTT
import Foundation
import TestSupport
import Testing

@Suite struct DataMessageAdapterTests {
    private let adapter = DataMessageAdapter()

    @Test func `bytes are encoded and decoded unchanged`() throws {
        for bytes in [[], [0], Array(0...255)] as [[UInt8]] {
            #expect(try adapter.toMessage(data: bytes, topic: "t") == Data(bytes))
            #expect(try adapter.toMessage(data: bytes as Any, topic: "t") == Data(bytes))
            #expect(try adapter.toMessage(data: Data(bytes), topic: "t") == Data(bytes))
            #expect(try adapter.fromMessage(Data(bytes), topic: "t") == bytes)
            #expect(try adapter.fromMessage(Data(bytes), topic: "t") == Data(bytes))
        }
        // A slice of Data has indices of its own.
        #expect(try adapter.fromMessage(Data([1, 2, 3]).dropFirst(), topic: "t") == [UInt8]([2, 3]))
        #expect(adapter.contentType == "application/octet-stream")
    }

    @Test func `optional bytes are encoded unchanged, even if they are empty`() throws {
        #expect(try adapter.toMessage(data: [UInt8]?.some([]), topic: "t") == Data())
        #expect(try adapter.toMessage(data: [UInt8]?.some([1]), topic: "t") == Data([1]))
    }

    @Test func `encoding or decoding a type other than bytes throws an error`() {
        expectCourierError(.encodingFailed, "String") { try adapter.toMessage(data: "text", topic: "t") }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: [1, 2], topic: "t") }
        expectCourierError(.encodingFailed, "Int") { try adapter.toMessage(data: [Int](), topic: "t") }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: [Int]() as Any, topic: "t") }
        expectCourierError(.decodingFailed, "String") { try adapter.fromMessage(Data(), topic: "t") as String }
        expectCourierError(.decodingFailed) { try adapter.fromMessage(Data(), topic: "t") as [Int] }
    }
}
