/// A simple and slow implementation of the MQTT topic rules, as the reference for ``TopicFilter``.
enum NaiveTopicMatcher {
    private static let slash = UInt8(ascii: "/")

    static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return (1...65_535).contains(bytes.count) && !bytes.contains(0) && !bytes.contains(UInt8(ascii: "+"))
            && !bytes.contains(UInt8(ascii: "#"))
    }

    /// The levels to match, without the `$share` prefix and group; `nil` for an illegal filter.
    static func levels(ofFilter text: String) -> [[UInt8]]? {
        let bytes = Array(text.utf8)
        guard (1...65_535).contains(bytes.count), !bytes.contains(0) else { return nil }
        var levels = split(bytes)
        if levels[0] == Array("$share".utf8), levels.count > 1 {
            let group = levels[1]
            guard !group.isEmpty, !group.contains(UInt8(ascii: "+")), !group.contains(UInt8(ascii: "#")) else {
                return nil
            }
            levels.removeFirst(2)
            guard !levels.isEmpty, levels != [[]] else { return nil }
        }
        for (index, level) in levels.enumerated() {
            if level.contains(UInt8(ascii: "+")), level != [UInt8(ascii: "+")] { return nil }
            if level.contains(UInt8(ascii: "#")), level != [UInt8(ascii: "#")] || index != levels.count - 1 {
                return nil
            }
        }
        return levels
    }

    static func matches(_ filter: [[UInt8]], topic: String) -> Bool {
        let topic = split(Array(topic.utf8))
        let first = String(decoding: filter[0], as: UTF8.self)
        if topic[0].first == UInt8(ascii: "$"), first == "+" || first == "#" { return false }
        return matches(filter[...], topic[...])
    }

    private static func matches(_ filter: ArraySlice<[UInt8]>, _ topic: ArraySlice<[UInt8]>) -> Bool {
        guard let level = filter.first else { return topic.isEmpty }
        if level == [UInt8(ascii: "#")] { return true }
        guard let received = topic.first else { return false }
        return (level == [UInt8(ascii: "+")] || level == received) && matches(filter.dropFirst(), topic.dropFirst())
    }

    private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: slash, omittingEmptySubsequences: false).map(Array.init)
    }
}
