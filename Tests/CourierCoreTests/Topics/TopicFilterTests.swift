import CourierCore
import TestSupport
import Testing

/// The clause numbers are from MQTT 5.0. MQTT 3.1.1 has the same rules, partly with other numbers.
@Suite struct TopicFilterTests {
    private func matches(_ filter: String, _ topic: String) throws -> Bool {
        try TopicFilter(filter).matches(TopicName(topic))
    }

    @Test(arguments: ["#", "/#", "a/#", "a/b/#", "+/#", "$SYS/#"])
    func `a multi-level wildcard may be the whole last level [MQTT-4.7.1-1]`(_ filter: String) throws {
        _ = try TopicFilter(filter)
    }

    /// [MQTT-4.7.1-1]
    @Test(arguments: ["#/a", "a#", "a/b#", "a/#/b", "##", "#a", "a/#b", "+#", "#+", "a/+#"])
    func `a filter with # before the last level or beside other characters is refused`(_ filter: String) {
        expectCourierError(.invalidTopicFilter) { try TopicFilter(filter) }
    }

    @Test(arguments: ["+", "/+", "+/", "+/+", "a/+/b", "+/a/#", "/+/"])
    func `a single-level wildcard may be any whole level [MQTT-4.7.1-2]`(_ filter: String) throws {
        _ = try TopicFilter(filter)
    }

    @Test(arguments: ["a+", "+a", "a/b+", "a/+b/c", "++", "a/++/b"])
    func `a single-level wildcard beside other characters is refused [MQTT-4.7.1-2]`(_ filter: String) {
        expectCourierError(.invalidTopicFilter) { try TopicFilter(filter) }
    }

    /// [MQTT-4.7.3-1] [MQTT-4.7.3-2] [MQTT-4.7.3-3]
    @Test func `a filter that is empty, contains U+0000 or has 65,536 bytes is refused`() {
        expectCourierError(.invalidTopicFilter) { try TopicFilter("") }
        expectCourierError(.invalidTopicFilter) { try TopicFilter("a\u{0}b") }
        expectCourierError(.invalidTopicFilter) { try TopicFilter(String(repeating: "é", count: 32_768)) }
        #expect(throws: Never.self) { try TopicFilter(String(repeating: "é", count: 32_767) + "a") }
    }

    @Test func `overlaps() returns true if and only if at least one topic matches both filters`() throws {
        func texts(_ levels: [String], upTo count: Int) -> [String] {
            var all: [[String]] = [[]]
            for _ in 0..<count { all += all.flatMap { text in levels.map { text + [$0] } } }
            return Set(all.map { $0.joined(separator: "/") }).sorted()
        }
        let filters = texts(["", "a", "$a", "+", "#"], upTo: 3).compactMap { try? TopicFilter($0) }
        // The empty text is not a legal topic, but it can be compared like a topic.
        let topics = texts(["", "a", "$a", "other"], upTo: 4).map { Array($0.utf8) }
        let matched = filters.map { filter in
            topics.map { TopicFilter.matches(filter.string.utf8Span.span, $0.span) ? UInt8(1) : 0 }
        }
        #expect(filters.count > 60)
        var wrong: [String] = []
        for (one, its) in zip(filters, matched) {
            for (two, others) in zip(filters, matched) {
                let hasCommon = topics.indices.contains { its[$0] & others[$0] == 1 }
                if one.overlaps(two) != hasCommon { wrong.append("\(one) and \(two)") }
            }
        }
        #expect(wrong.isEmpty)
        #expect(try TopicFilter("$share/g/a/+").overlaps(TopicFilter("+/b")))
    }

    /// [MQTT-4.8.2-1]
    @Test func `a $share filter is matched without the $share prefix, but the property string includes the prefix`()
        throws
    {
        let filter = try TopicFilter("$share/consumers/sport/+/score")
        #expect(filter.shareGroup == "consumers")
        #expect(filter.matchedString == "sport/+/score")
        #expect(filter.string == "$share/consumers/sport/+/score")
        #expect(filter.matches(try TopicName("sport/tennis/score")))
        #expect(!filter.matches(try TopicName(received: "$share/consumers/sport/tennis/score")))
        #expect(try TopicFilter("$share/g//").matchedString == "/")
        #expect(try !matches("$share/g/#", "$SYS/load"))
    }

    @Test func `a filter that is only $share or starts with $shared is an ordinary filter`() throws {
        #expect(try TopicFilter("$share").shareGroup == nil)
        #expect(try matches("$share", "$share"))
        #expect(try matches("$shared/x", "$shared/x"))
    }

    /// [MQTT-4.8.2-1] [MQTT-4.8.2-2]
    @Test(arguments: ["$share/", "$share//a", "$share/g", "$share/g/", "$share/g+/a", "$share/#/a", "$share/+/a"])
    func `a $share filter with an invalid group name or with no filter after the group name is refused`(
        _ filter: String
    ) {
        expectCourierError(.invalidTopicFilter) { try TopicFilter(filter) }
    }

    /// [MQTT-4.7.1-1]
    @Test func `the wildcard # matches its parent level and all levels below it`() throws {
        for topic in ["sport/tennis/player1", "sport/tennis/player1/ranking", "sport/tennis/player1/score/wimbledon"] {
            #expect(try matches("sport/tennis/player1/#", topic))
        }
        #expect(try matches("sport/#", "sport"))
        #expect(try matches("sport/#", "sport/"))
        #expect(try matches("#", "/"))
        #expect(try !matches("sport/#", "sports"))
    }

    /// [MQTT-4.7.1-2]
    @Test func `the wildcard + matches exactly one level, which may be empty`() throws {
        #expect(try matches("sport/tennis/+", "sport/tennis/player1"))
        #expect(try !matches("sport/tennis/+", "sport/tennis/player1/ranking"))
        #expect(try !matches("sport/+", "sport"))
        #expect(try matches("sport/+", "sport/"))
        #expect(try matches("+/+", "/finance"))
        #expect(try matches("/+", "/finance"))
        #expect(try !matches("+", "/finance"))
    }

    /// [MQTT-4.7.3-1]
    @Test func `an empty topic level counts as a level`() throws {
        #expect(try !matches("a/b", "a//b"))
        #expect(try matches("a//b", "a//b"))
        #expect(try matches("a/+/b", "a//b"))
        #expect(try !matches("a", "a/"))
        #expect(try !matches("a/", "a"))
        #expect(try !matches("/a", "a"))
        #expect(try matches("/", "/"))
    }

    @Test func `a wildcard in the first level does not match a topic that begins with $ [MQTT-4.7.2-1]`() throws {
        #expect(try !matches("#", "$SYS/broker/load"))
        #expect(try !matches("+/monitor/Clients", "$SYS/monitor/Clients"))
        #expect(try matches("$SYS/#", "$SYS/broker/load"))
        #expect(try matches("$SYS/monitor/+", "$SYS/monitor/Clients"))
        #expect(try matches("a/+", "a/$b"))
    }

    @Test func `composed and decomposed é are different topics [MQTT-4.7.3-4]`() throws {
        #expect("caf\u{E9}" == "cafe\u{301}")
        #expect(try !matches("caf\u{E9}", "cafe\u{301}"))
        #expect(try TopicFilter("caf\u{E9}") != TopicFilter("cafe\u{301}"))
        #expect(try Set([TopicName("caf\u{E9}"), TopicName("cafe\u{301}")]).count == 2)
    }

    @Test func `topic matching is case-sensitive, and a space is an ordinary character`() throws {
        #expect(try !matches("ACCOUNTS", "Accounts"))
        #expect(try matches("Accounts payable", "Accounts payable"))
    }

    @Test func `a filter with 32,767 levels is matched without stack overflow`() throws {
        let levels = 32_767
        let topic = Array(repeating: "a", count: levels).joined(separator: "/")
        #expect(try matches(Array(repeating: "+", count: levels).joined(separator: "/"), topic))
        #expect(try !matches(Array(repeating: "+", count: levels - 1).joined(separator: "/"), topic))
    }

    @Test func `the error for an invalid filter shows the filter, shortened if long, and explains the correct form`()
        throws
    {
        let error = try #require(expectCourierError(.invalidTopicFilter) { try TopicFilter("chat/room+/notes") })
        #expect(error.message.contains("\"chat/room+/notes\""))
        #expect(error.message.contains("use '+' as a whole level"))
        let long = expectCourierError(.invalidTopicFilter) { try TopicFilter(String(repeating: "x", count: 70_000)) }
        #expect((long?.message.count ?? 0) < 300)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `for random filters and topics, TopicFilter gives the same results as a simple reference`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var filters: [(TopicFilter, [[UInt8]])] = []
        var topics: [TopicName] = []
        while filters.count < 250 {
            let text = Self.text(of: ["a", "b", "/", "/", "+", "#", "$", "\u{E9}", "e\u{301}"], using: &generator)
            let levels = NaiveTopicMatcher.levels(ofFilter: text)
            let filter = try? TopicFilter(text)
            #expect((filter != nil) == (levels != nil), "seed \(seed): \(text.debugDescription)")
            if let filter, let levels { filters.append((filter, levels)) }
        }
        while topics.count < 250 {
            let text = Self.text(of: ["a", "b", "/", "/", "$", "\u{E9}", "e\u{301}", "+"], using: &generator)
            let topic = try? TopicName(received: text)
            #expect((topic != nil) == NaiveTopicMatcher.isName(text), "seed \(seed): \(text.debugDescription)")
            if let topic { topics.append(topic) }
        }
        for (filter, levels) in filters {
            for topic in topics {
                let expected = NaiveTopicMatcher.matches(levels, topic: topic.string)
                guard filter.matches(topic) != expected else { continue }
                Issue.record("seed \(seed): \(filter.string.debugDescription) and \(topic.string.debugDescription)")
            }
        }
    }

    private static func text(of pieces: [String], using generator: inout SeededGenerator) -> String {
        let length = Int.random(in: 0...7, using: &generator)
        let start = Int.random(in: 0..<12, using: &generator) == 0 ? "$share/" : ""
        return start + (0..<length).map { _ in pieces.randomElement(using: &generator) ?? "a" }.joined()
    }
}
