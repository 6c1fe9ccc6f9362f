import CourierCore
import CourierMQTTChuck
import MQTTCodec

/// A packet as one line of the list: time, direction, type, and the beginning of the topic and payload.
struct PacketLine {
    /// The width of the column for the packet type, which fits the longest name, `UNSUBSCRIBE`.
    private static let typeWidth = 11
    /// In a line that is narrower than this width, the time has no fraction and the type column has no padding.
    private static let roomyWidth = 64
    /// The maximum width of the topic in cells, so that room remains for the payload preview.
    private static let topicWidth = 48

    let line: StyledLine

    init(_ row: MQTTChuckRow, width: Int) {
        let isRoomy = width >= Self.roomyWidth
        var line = StyledLine(Self.time(row.timeNanoseconds, hasFraction: isRoomy), .faint)
        let isOutgoing = row.direction == .outgoing
        line.append(isOutgoing ? " → " : " ← ", .coloured(isOutgoing ? .cyan : .green))
        let name = row.typeName
        let padding = String(repeating: " ", count: isRoomy ? max(0, Self.typeWidth - name.count) : 0)
        line.append(name + padding, row.isError ? TextStyle(colour: .red, isBold: true) : .bold)
        let marks = Self.marks(row)
        if !marks.isEmpty { line.append(" " + marks, .faint) }
        if let topic = row.topic {
            line.append(" ")
            // Only the part of the topic that can be visible is split into characters.
            let beginning = GlyphText(String(topic.prefix(Self.topicWidth + 1)))
            line.append(beginning.shortened(toWidth: Self.topicWidth), .coloured(.yellow))
        }
        for reason in row.reasons.prefix(width) where reason.isError || row.topic == nil {
            line.append(" \(reason)", reason.isError ? .coloured(.red) : .faint)
        }
        if let roundTrip = row.roundTrip, row.exchange != row.number {
            line.append(" after \(Examination.text(roundTrip))", .faint)
        }
        if let problem = row.problem { line.append(" \(problem)", .coloured(.red)) }
        if row.preview.kind != .empty {
            line.append(" " + Self.beginning(of: row.preview.text, count: width))
        }
        self.line = line
    }

    /// Returns the first `count` characters. Consecutive spaces and newlines become one space. The rest of the text is
    /// not processed, because it does not fit into the line.
    private static func beginning(of text: String, count: Int) -> String {
        var beginning = ""
        var left = count
        for character in text {
            let isSpace = character.isWhitespace
            if isSpace, beginning.last == " " { continue }
            beginning.append(isSpace ? " " : character)
            left -= 1
            if left <= 0 { break }
        }
        return beginning
    }

    /// Returns the QoS, packet id and flags in short form.
    private static func marks(_ row: MQTTChuckRow) -> String {
        var marks: [String] = []
        if let qos = row.qos { marks.append("q\(qos.rawValue)") }
        if let id = row.packetID { marks.append("#\(id)") }
        if row.isDuplicate { marks.append("dup") }
        if row.isRetained { marks.append("retain") }
        return marks.joined(separator: " ")
    }

    /// Formats a time as the local time of day, because the term `after:` of a query uses the local time too.
    static func time(_ nanoseconds: Int64, hasFraction: Bool) -> String {
        let (seconds, rest) = Nanoseconds.split(nanoseconds)
        let clock = WallTime(seconds: Int(seconds), nanoseconds: Int(rest)).text("%H:%M:%S")
        return hasFraction ? "\(clock).\(WallTime.padded(Int(rest / 1_000_000), to: 3))" : clock
    }
}
