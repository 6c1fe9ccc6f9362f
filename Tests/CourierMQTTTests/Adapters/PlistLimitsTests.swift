import CourierCore
import CourierMQTT
import Foundation
import TestSupport
import Testing

/// Property lists that are nested too deeply, expand too much or are damaged.
@Suite struct PlistLimitsTests {
    private struct Tree: Codable, Equatable {
        var name = "branch"
        var remark = "Grüße"
        var branches: [Tree] = []
    }

    /// A list of lists of lists.
    private struct Nest: Decodable {
        let nests: [Nest]

        init(from decoder: any Decoder) throws {
            nests = try decoder.singleValueContainer().decode([Nest].self)
        }
    }

    private let adapter = PlistMessageAdapter()

    /// A binary list of these objects; the first is the top.
    private func binaryList(_ objects: [[UInt8]]) -> Data {
        var list = [UInt8]("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(list.count >> 8), UInt8(list.count & 0xFF)]
            list += object
        }
        let table = list.count
        list += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [objects.count, 0, table] {
            list += withUnsafeBytes(of: UInt64(number).bigEndian) { [UInt8]($0) }
        }
        return Data(list)
    }

    private func expectNoNest(_ reason: String, _ list: Data) {
        expectCourierError(.decodingFailed, reason) { try adapter.fromMessage(list, topic: "t") as Nest }
    }

    @Test(arguments: [PlistMessageAdapter(), PlistMessageAdapter(format: .xml)])
    func `an ordinary property list with nested and repeated values is decoded`(_ adapter: PlistMessageAdapter) throws {
        var tree = Tree()
        for _ in 0..<100 { tree = Tree(branches: [tree, Tree(name: "leaf > \"<array>\"")]) }
        #expect(try adapter.fromMessage(adapter.toMessage(data: tree, topic: "t"), topic: "t") == tree)
        let words = [String](repeating: String(repeating: "word", count: 100), count: 2_000)
        #expect(try adapter.fromMessage(adapter.toMessage(data: words, topic: "t"), topic: "t") == words)
        let many = [[Int]](repeating: [1, 2, 3], count: 2_000)
        #expect(try adapter.fromMessage(adapter.toMessage(data: many, topic: "t"), topic: "t") == many)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func `the nesting limit of property lists is 512 levels in binary and in XML`(
        _ format: PropertyListSerialization.PropertyListFormat
    ) throws {
        func list(_ depth: Int) throws -> Data {
            var value: Any = "leaf"
            for _ in 0..<depth { value = [value] }
            return try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
        }
        expectNoNest("512", try list(513))
        // 512 levels are within the limit. Then the decoding fails, because the text inside is not a `Nest`.
        #expect(throws: DecodingError.self) { try adapter.fromMessage(list(512), topic: "t") as Nest }
    }

    @Test(arguments: ["integer", "real", "date", "data", "string"])
    func `a text list with invalid UTF-8 in a value is refused and does not end the process`(_ tag: String) {
        let list =
            Data("<plist><dict><key>nests</key><\(tag)>".utf8) + [0xFF, 0xFF, 0x30] + Data("</\(tag)></dict>".utf8)
        #expect(throws: DecodingError.self) { try adapter.fromMessage(list, topic: "t") as [String: Int] }
        #expect(throws: DecodingError.self) {
            try adapter.fromMessage(Data([0xFF, 0x30]), topic: "t") as [String: Int]
        }
    }

    @Test(arguments: ["<array>", "<array >", "<plist>", "<dict><key>a</key>", "<array </array>"])
    func `an XML property list that is nested too deeply throws decodingFailed`(_ opening: String) {
        expectNoNest("512", Data(String(repeating: opening, count: 100_000).utf8))
    }

    @Test(
        arguments: [
            "<!-- </array> -->", "<!--> </array> -->", "<?a </array> ?>", "<!-- <?a --> <?a --> </array> ?>",
            "<string><![CDATA[</array>]]></string>", "<array a=\"</array>\"></array>", "<string>></string>",
        ])
    func `text in XML that only looks like a closing tag does not reduce the nesting depth`(_ decoy: String) {
        expectNoNest("512", Data(String(repeating: "<array>" + decoy, count: 1_000).utf8))
    }

    @Test(arguments: [String.Encoding.utf16BigEndian, .utf16LittleEndian])
    func `the nesting limit also applies to XML in UTF-16`(_ encoding: String.Encoding) throws {
        // With a text whose bytes look like a closing tag.
        let list = String(repeating: "<array><string>\u{3C2F}\u{2F3C}\u{3E3E}</string>", count: 1_000)
        let mark: [UInt8] = encoding == .utf16BigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]
        let text = try #require(list.data(using: encoding))
        expectNoNest("512", Data(mark) + text)
    }

    @Test func `an XML processing instruction without a name throws DecodingError`() {
        #expect(throws: DecodingError.self) {
            try adapter.fromMessage(Data("<array><?><array/></array>".utf8), topic: "t") as Nest
        }
    }

    @Test func `an XML property list with a DOCTYPE, a comment and CDATA is decoded`() throws {
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><!-- <array> --><array>
            \(String(repeating: "<string><![CDATA[<array>]]></string><string/>", count: 1_000))
            </array></plist>
            """
        #expect(try (adapter.fromMessage(Data(list.utf8), topic: "t") as [String]).count == 2_000)
    }

    @Test func `a binary property list that contains itself throws decodingFailed`() {
        expectNoNest("512", binaryList([[0xA1, 0]]))
        expectNoNest("512", binaryList([[0xA2, 1, 1], [0xA1, 0]]))
        expectNoNest("512", binaryList([[0xD1, 1, 0], [0x51, 0x61]]))
    }

    @Test func `a binary property list whose references grow exponentially throws decodingFailed`() {
        let doubling = (1...40).map { [0xA2, UInt8($0), UInt8($0)] as [UInt8] }
        expectNoNest("repeats", binaryList(doubling + [[0xA0]]))
    }

    @Test func `a binary property list that repeats a long string too often throws decodingFailed`() {
        let text = [0x5F, 0x11, 0x40, 0x00] + [UInt8](repeating: 0x61, count: 0x4000)
        let list = [0xAF, 0x11, 0x40, 0x00] + [UInt8](repeating: 1, count: 0x4000)
        expectCourierError(.decodingFailed, "repeats") {
            try adapter.fromMessage(binaryList([list, text]), topic: "t") as [String]
        }
    }

    @Test(
        arguments: [
            [0xAF, 0x13, 0x80, 0, 0, 0, 0, 0, 0, 1], [0xDF, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 1], [0xAF, 0x13, 0],
            [0xAF, 0x50], [0xA2, 0], [0xA1, 9], [0x63, 0, 0x61, 0],
        ] as [[UInt8]])
    func `a binary property list with an object or reference beyond the end of the data throws DecodingError`(
        _ object: [UInt8]
    ) {
        #expect(throws: DecodingError.self) {
            try adapter.fromMessage(binaryList([[0xA1, 1], object]), topic: "t") as [String]
        }
    }

    @Test func `a truncated or changed binary property list does not crash the process`() throws {
        let tree = Tree(branches: [Tree(name: "a"), Tree(branches: [Tree()])])
        let list = try adapter.toMessage(data: tree, topic: "t")
        for count in 0..<list.count {
            #expect(throws: (any Error).self) { try adapter.fromMessage(list.prefix(count), topic: "t") as Tree }
        }
        for place in list.indices {
            for byte in [0, 0x0F, 0x6F, 0x7F, 0x80, 0xAF, 0xDF, 0xFF] as [UInt8] {
                var broken = list
                broken[place] = byte
                _ = try? adapter.fromMessage(broken, topic: "t") as Tree
            }
        }
    }
}
