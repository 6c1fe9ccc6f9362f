import CourierMQTTChuck
import Foundation
import Testing

@testable import CourierMQTTChuckWeb

@Suite(.timeLimit(.minutes(5))) struct RowJSONTests {
    @Test func `a long text is cut to a number of Unicode scalars and ends with an ellipsis`() {
        #expect("".cut(2) == "" && "ab".cut(2) == "ab" && "€€".cut(2) == "€€")
        #expect("abc".cut(2) == "ab…")
        #expect("€€€".cut(2) == "€€…")
        let marks = String(repeating: "\u{301}", count: 32_767)
        #expect(marks.count == 1)
        #expect(marks.cut(200).unicodeScalars.count == 201)
        #expect("e\u{301}\u{301}".cut(2) == "e\u{301}…")
    }

    @Test func `responses stay small if a topic consists of 32000 combining marks`() async throws {
        let marks = String(repeating: "\u{301}", count: 32_000)
        var options = MQTTChuckOptions()
        options.dataStringParser = { _ in marks }
        options.previewMaxSize = 100_000
        let page = try PageFixture(options, client: marks)
        for _ in 0..<10 { try page.receive(marks, "x".utf8) }
        let rows = try await page.request("rows")
        #expect((try rows.object()["rows"] as? [Any])?.count == 10)
        #expect(rows.body.count < 25_000)
        let connections = try await page.request("connections")
        #expect(connections.body.count < 5_000)
        let details = try await page.request("row/1")
        // The details contain the cut topic once, and the packet's bytes.
        #expect(details.body.count < 200_000)
        let fields = try #require(try details.object()["fields"] as? [[String: String]])
        let limits = ServerLimits()
        #expect(
            fields.allSatisfy { ($0["value"] ?? "").unicodeScalars.count <= limits.shownCharacters + 1 })
        let views = try #require(try details.object()["views"] as? [[String: Any]])
        #expect(views.first?["name"] as? String == "Parsed")
        #expect((views.first?["text"] as? String)?.unicodeScalars.count == limits.shownBytes + 1)
        #expect(views.first?["isCut"] as? Bool == true)
    }

    @Test func `a text that is one character longer than the limit is cut and marked as cut`() async throws {
        var limits = ServerLimits()
        limits.shownBytes = 10
        var options = MQTTChuckOptions()
        options.dataStringParser = { _ in String(repeating: "€", count: 11) }
        let page = try PageFixture(options, limits: limits)
        try page.receive("t", "x".utf8)
        let views = try #require(try await page.request("row/1").object()["views"] as? [[String: Any]])
        #expect(views.first?["text"] as? String == String(repeating: "€", count: 10) + "…")
        #expect(views.first?["isCut"] as? Bool == true)
    }
}
