import Foundation
import TestSupport
import Testing

@testable import CourierTransport

@Suite struct WebSocketCaseTests {
    @Test(arguments: WebSocketCase.all)
    func `each WebSocket example has the expected result for every way of splitting the bytes`(_ test: WebSocketCase)
        throws
    {
        #expect(try test.outcome(in: [test.sent]) == test.expected, "in one piece")
        if test.sent.count < 5_000 {
            #expect(try test.outcome(in: test.sent.map { [$0] }) == test.expected, "byte by byte")
        }
        // Long cases run with only one seed, because they take much time and show little more.
        for seed in SeededGenerator.seeds.prefix(test.sent.count < 5_000 ? .max : 1) {
            var random = SeededGenerator(seed: seed)
            #expect(try test.outcome(in: random.pieces(of: test.sent)) == test.expected, "seed \(seed)")
        }
    }

    @Test func `all WebSocket examples have different names`() {
        #expect(Set(WebSocketCase.all.map(\.testDescription)).count == WebSocketCase.all.count)
    }

    /// With `COURIER_UPDATE_DOCS=1`, the test writes cases.md anew.
    @Test func `the WebSocket examples in the documentation page equal the table in the code`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = folder.appendingPathComponent("cases.md")
        if ProcessInfo.processInfo.environment["COURIER_UPDATE_DOCS"] == "1" {
            try Self.page.write(to: page, atomically: false, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == Self.page, "write it anew by COURIER_UPDATE_DOCS=1")
    }

    private static var page: String {
        var page = """
            # WebSocket: what a peer may send, and what comes of it

            The list of the cases in `Tests/CourierTransportTests/WebSocket/WebSocketCaseTable.swift`, which a test keeps
            equal to it. Each case is run with its bytes in one piece, byte by byte, and in random pieces, and always has
            to come to its verdict. A message may have \(WebSocketCase.messageLimit) bytes here.

            "Refused with" is the status of the Close frame that the peer gets, and the connection then fails;
            \(WebSocketCase.all.count) cases.

            """
        var section = ""
        for test in WebSocketCase.all {
            if test.section != section {
                section = test.section
                page += "\n## \(section)\n\n| the peer sends | verdict |\n|---|---|\n"
            }
            page += "| \(test.name) | \(test.verdict) |\n"
        }
        return page
    }
}

extension SeededGenerator {
    /// Splits `bytes` into pieces of random lengths.
    mutating func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        let longest = pick([3, 20, 200, 100_000])
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 + below(longest))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}
