import CourierCore
import CourierMQTT
import Foundation
import TestSupport
import Testing

@Suite struct TextMessageAdapterTests {
    private let adapter = TextMessageAdapter()

    @Test func `text is encoded and decoded as UTF-8`() throws {
        for text in ["", "a", "Grüße 👋", "a\u{0}b", "\u{FEFF}bom", "e\u{301}"] {
            let bytes = try adapter.toMessage(data: text, topic: "t")
            #expect(Array(bytes) == Array(text.utf8))
            let back: String = try adapter.fromMessage(bytes, topic: "t")
            #expect(Array(back.utf8) == Array(text.utf8))
            #expect(try adapter.fromMessage(bytes, topic: "t") as Substring == text[...])
        }
        #expect(try adapter.toMessage(data: "abc".dropFirst(), topic: "t") == Data("bc".utf8))
        #expect(adapter.contentType == "text/plain;charset=utf-8")
    }

    @Test func `types with a lossless text form, such as Int, are encoded and decoded as text`() throws {
        #expect(try adapter.fromMessage(Data("21.5".utf8), topic: "t") as Double == 21.5)
        #expect(try adapter.fromMessage(Data("-7".utf8), topic: "t") as Int == -7)
        #expect(try adapter.fromMessage(Data("true".utf8), topic: "t") == true)
        #expect(try adapter.fromMessage(Data("é".utf8), topic: "t") == Character("é"))
        #expect(try adapter.toMessage(data: 21.5, topic: "t") == Data("21.5".utf8))
        #expect(try adapter.toMessage(data: UInt8.max, topic: "t") == Data("255".utf8))
    }

    @Test(
        arguments: [[0xFF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0x61, 0xF5, 0x80]] as [[UInt8]])
    func `decoding text from invalid UTF-8 throws decodingFailed`(_ bytes: [UInt8]) {
        expectCourierError(.decodingFailed, "UTF-8") { try adapter.fromMessage(Data(bytes), topic: "t") as String }
    }

    @Test func `decoding throws an error if the text does not match the type, and unsupported types also throw`() {
        for text in ["", " 5", "5\n", "five", "5.5"] {
            expectCourierError(.decodingFailed, "Int") { try adapter.fromMessage(Data(text.utf8), topic: "t") as Int }
        }
        expectCourierError(.decodingFailed, "Note") { try adapter.fromMessage(Data("a".utf8), topic: "t") as Note }
        expectCourierError(.decodingFailed) { try adapter.fromMessage(Data("a".utf8), topic: "t") as Data }
        expectCourierError(.encodingFailed, "Note") {
            try adapter.toMessage(data: Note(title: "", rank: 1), topic: "t")
        }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: Data([1]), topic: "t") }
    }

    @Test func `decoding a Character throws if the text has no or several characters`() throws {
        for text in ["", "ab", "éa", "👋👋"] {
            expectCourierError(.decodingFailed, "Character") {
                try adapter.fromMessage(Data(text.utf8), topic: "t") as Character
            }
        }
        #expect(try adapter.fromMessage(Data("\r\n".utf8), topic: "t") == Character("\r\n"))
        for text in ["", "ab"] {
            expectCourierError(.decodingFailed, "Scalar") {
                try adapter.fromMessage(Data(text.utf8), topic: "t") as Unicode.Scalar
            }
        }
    }
}
