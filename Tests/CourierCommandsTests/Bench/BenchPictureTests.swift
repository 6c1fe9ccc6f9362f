import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import CourierCommands

struct BenchPictureTests {
    /// The elements of an SVG picture, read by an independent XML parser.
    private final class Reader: NSObject, XMLParserDelegate {
        struct Element {
            let name: String
            let attributes: [String: String]
            var text = ""
        }

        private(set) var elements: [Element] = []
        private var open: [Int] = []

        init(_ text: String) throws {
            super.init()
            let parser = XMLParser(data: Data(text.utf8))
            parser.delegate = self
            try #require(parser.parse(), "\(String(describing: parser.parserError))")
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(elements.count)
            elements.append(Element(name: name, attributes: attributes))
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) { open.removeLast() }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            if let last = open.last { elements[last].text += text }
        }

        func all(_ name: String, with attribute: String) -> [Element] {
            elements.filter { $0.name == name && $0.attributes[attribute] != nil }
        }

        var texts: [String] { elements.filter { $0.name == "text" }.map(\.text) }
    }

    private static func report(_ times: [UInt64], over duration: Duration) -> BenchReport {
        var histogram = LatencyHistogram()
        var timeline = RateTimeline()
        for (index, time) in times.enumerated() {
            histogram.add(time)
            timeline.add(after: duration * index / max(1, times.count))
        }
        let count = times.count + 3
        return BenchReport(
            messages: .init(sent: count, expected: count, arrived: times.count), histogram: histogram,
            timeline: timeline, duration: duration, size: 64)
    }

    @Test func `the bars, the curve and the percentiles of the SVG picture match the bench report`() throws {
        for seed in SeededGenerator.seeds {
            var chance = SeededGenerator(seed: seed)
            let times = (0..<3_000).map { _ in UInt64(1) << UInt64(chance.below(34)) + UInt64(chance.below(1_000)) }
            let report = Self.report(times, over: .milliseconds(2_345))
            let picture = try Reader(BenchPicture(report, subtitle: "here").text)
            let drawn = report.histogram.bars(atMost: BenchPicture.barLimit)
            #expect(drawn.reduce(0) { $0 + $1.count } == times.count)
            let bars = picture.all("rect", with: "data-count")
            #expect(
                bars.compactMap { $0.attributes["data-count"].flatMap { Int($0) } }
                    == drawn.map(\.count))
            #expect(
                bars.compactMap { $0.attributes["data-below"].flatMap { UInt64($0) } }
                    == drawn.map(\.end))
            // Each height is proportional to its count, within the rounding of written lengths.
            let heights = bars.compactMap { $0.attributes["height"].flatMap { Double($0) } }
            let tallest = try #require(heights.max())
            let most = try #require(drawn.map(\.count).max())
            for (bar, height) in zip(drawn, heights) {
                #expect(abs(height - tallest * Double(bar.count) / Double(most)) < 0.2, "seed \(seed)")
            }

            let curve = try #require(picture.all("path", with: "data-counts").first)
            let counts = try #require(curve.attributes["data-counts"]).split(separator: " ").compactMap { Int($0) }
            #expect(
                counts.reduce(0, +) == times.count
                    && counts.count == report.timeline.points(until: report.duration).count)

            let dots = picture.all("circle", with: "data-share")
            #expect(dots.count == 7)
            for dot in dots {
                let share = try #require(dot.attributes["data-share"].flatMap { Double($0) })
                #expect(dot.attributes["data-nanoseconds"] == "\(report.histogram.percentile(share))", "seed \(seed)")
            }
            let places = dots.compactMap { $0.attributes["cx"].flatMap { Double($0) } }
            #expect(places == places.sorted() && places.count == 7)
            #expect(picture.texts.contains("3,000") && picture.texts.contains("of 3,003 messages arrived"))
        }
    }

    @Test func `the SVG picture has no external references and supports light and dark mode`() throws {
        let text = BenchPicture(Self.report([1_000, 2_000], over: .seconds(1)), subtitle: "here").text
        let picture = try Reader(text)
        let style = try #require(picture.elements.first { $0.name == "style" }).text
        #expect(style.contains("@media (prefers-color-scheme: dark)"))
        for word in ["http://", "https://", "url(", "@import", "<image", "<script", "href"] {
            let count = text.components(separatedBy: word).count - 1
            #expect(count == (word == "http://" ? 1 : 0), "\(word)")  // The one occurrence is the XML namespace of SVG.
        }
        // All texts are inside the picture, and each class has a style.
        let classes = Set(picture.elements.flatMap { ($0.attributes["class"] ?? "").split(separator: " ") })
        for name in classes { #expect(style.contains(".\(name)"), "\(name)") }
        for element in picture.elements where element.name == "text" {
            let x = try #require(element.attributes["x"].flatMap { Double($0) })
            let y = try #require(element.attributes["y"].flatMap { Double($0) })
            #expect((0...880).contains(x) && (0...900).contains(y), "\(element)")
        }
    }

    @Test(arguments: [
        (BenchReport.Subject.connection, "Connections per second over time", 3),
        (.acknowledgement, "Latency from publish to acknowledgement", 3),
        (.sending, "Messages per second over time", 1),
    ])
    func `the SVG picture names the measured events and draws only charts with data`(
        subject: BenchReport.Subject, heading: String, headings: Int
    ) throws {
        var report = Self.report([1_000, 2_000], over: .seconds(1))
        report.subject = subject
        report.showsConnections = true
        report.connections.publisherCount = 20
        report.connections.subscriberCount = 30
        let picture = try Reader(BenchPicture(report, subtitle: "here").text)
        #expect(picture.texts.contains(heading))
        #expect(
            picture.texts.contains { $0.hasPrefix("20 publishing and 30 subscribing clients; 0 connections opened") })
        #expect(picture.all("text", with: "class").count { $0.attributes["class"] == "heading" } == headings)
    }

    @Test func `special characters in the subtitle are escaped in the SVG picture`() throws {
        let name = "<script>&\"'\u{1}\u{FFFF}\n]]>"
        let picture = try Reader(BenchPicture(Self.report([1], over: .seconds(1)), subtitle: name).text)
        #expect(picture.texts.contains("<script>&\"' ]]>"))
        #expect(!picture.elements.contains { $0.name == "script" })
    }

    @Test func `the axis labels show fractions and thousands separators`() throws {
        func marks(_ count: Int, over duration: Duration) throws -> (rates: [String], times: [String]) {
            let report = Self.report(Array(repeating: 1_000, count: count), over: duration)
            let labels = try Reader(BenchPicture(report, subtitle: "here").text).all("text", with: "x")
            let rates = labels.prefix { !$0.text.hasPrefix("0 s") }.filter { $0.attributes["text-anchor"] == "end" }
            return (rates.map(\.text), labels.map(\.text).filter { $0.hasSuffix(" s") })
        }
        let slow = try marks(100, over: .seconds(100))
        #expect(slow.rates == ["0", "0.5", "1", "1.5"])
        #expect(slow.times == ["0 s", "20 s", "40 s", "60 s", "80 s", "100 s"])
        let short = try marks(2, over: .microseconds(500))
        #expect(short.rates == ["0", "1,000", "2,000", "3,000", "4,000"])
        #expect(short.times == ["0 s", "0.0001 s", "0.0002 s", "0.0003 s", "0.0004 s", "0.0005 s"])
    }

    @Test func `the SVG picture has no bars if bench received no messages`() throws {
        let picture = try Reader(BenchPicture(Self.report([], over: .zero), subtitle: "here").text)
        #expect(picture.texts.contains("of 3 messages arrived") && picture.all("rect", with: "data-count").isEmpty)
    }

    @Test(arguments: [
        (0, "0"), (12, "12"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (-1_234, "-1,234"),
    ])
    func `grouped() adds thousands separators to large numbers`(number: Int, text: String) {
        #expect(BenchReport.grouped(number) == text)
    }
}
