import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct ClientIDSourceTests {
    /// Counts upwards, so that each draw is known.
    private struct Counter: RandomNumberGenerator {
        var value: UInt64
        mutating func next() -> UInt64 {
            value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return value
        }
    }

    private func source(_ seed: UInt64) -> ClientIDSource {
        var generator = Counter(value: seed)
        return ClientIDSource(using: &generator)
    }

    @Test func `each % in a client id becomes a random letter or digit that stays the same`() throws {
        let source = source(1)
        let id = try source.clientID(from: "myapp_%%%%", .portable)
        #expect(id.hasPrefix("myapp_"))
        #expect(id.utf8.count == 10)
        #expect(id.dropFirst(6).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        #expect(try source.clientID(from: "myapp_%%%%", .portable) == id)
        #expect(try source.clientID(from: "%a%", .portable).utf8.count == 3)
    }

    @Test func `different clients get different random characters from the whole alphabet`() throws {
        var ids = Set<String>()
        var letters = Set<Character>()
        for seed in 0..<500 {
            let id = try source(UInt64(seed)).clientID(from: "%%%%%%%%%%%%%%%%", .portable)
            ids.insert(id)
            letters.formUnion(id)
        }
        #expect(ids.count == 500)
        #expect(letters.count == 62)
        #expect(try source(7).clientID(from: "%%%%%%%%", .portable) == source(7).clientID(from: "%%%%%%%%", .portable))
    }

    @Test(arguments: ["", "phone-7", "{room}", "é👋"])
    func `a client id without % is used unchanged`(_ id: String) throws {
        #expect(try source(1).clientID(from: id, .portable) == id)
    }

    @Test func `topic placeholders such as %u in a client id throw an error, but %%u is allowed`() throws {
        for template in ["%u", "a-%c", "%%-%c", "%u%%"] {
            expectCourierError(.invalidConfiguration, "only in topics") {
                try source(1).clientID(from: template, .portable)
            }
        }
        #expect(try source(1).clientID(from: "myapp_%%%%client", .portable).hasSuffix("client"))
        #expect(try source(1).clientID(from: "%%u", .portable).utf8.count == 3)
        #expect(try source(1).clientID(from: "%x", .portable).utf8.count == 2)
    }

    @Test func `a % with a combining accent in a client id is replaced, too`() throws {
        let id = try source(1).clientID(from: "a%\u{301}", .portable)
        #expect(!id.utf8.contains(UInt8(ascii: "%")))
        #expect(id.unicodeScalars.last == "\u{301}")
    }

    @Test func `a client id with U+0000, too many % characters or too many bytes throws invalidConfiguration`() throws {
        let most = String(repeating: "%", count: ClientIDSource.randomCharacterLimit)
        #expect(try !source(1).clientID(from: most, .portable).contains("%"))
        expectCourierError(.invalidConfiguration, "65") { try source(1).clientID(from: most + "%", .portable) }
        expectCourierError(.invalidConfiguration, "U+0000") { try source(1).clientID(from: "a\u{0}", .portable) }
        expectCourierError(.invalidConfiguration, "65536 bytes") {
            try source(1).clientID(from: String(repeating: "x", count: 65_536), .portable)
        }
    }
}
