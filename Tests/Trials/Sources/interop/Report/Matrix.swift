/// The verdicts on all conversations, for each broker and wire.
struct Matrix {
    /// The verdicts of one broker over one wire.
    private struct Column {
        let broker: String
        let wire: String
        let verdicts: [Verdict]
        var width: Int
    }

    private static let gap = "  "
    private static let narrowest = "FAILED".count

    private let rows: [String]
    private var columns: [Column] = []
    private var missing: [String] = []

    init(rows: [String]) { self.rows = rows }

    /// Adds a broker with its wires, and one list of verdicts for each wire.
    mutating func add(_ broker: String, _ wires: [String], _ verdicts: [[Verdict]]) {
        columns += zip(wires, verdicts).map { wire, verdicts in
            Column(broker: broker, wire: wire, verdicts: verdicts, width: max(Self.narrowest, wire.count))
        }
        // The broker's name must fit above all of its columns.
        let width = columns.suffix(wires.count).reduce(-Self.gap.count) { $0 + $1.width + Self.gap.count }
        if !wires.isEmpty { columns[columns.count - 1].width += max(0, broker.count - width) }
    }

    /// Adds a broker that could not be tested, which counts as a failure.
    mutating func add(missing broker: String, because reason: String) {
        missing.append("FAILED: \(broker): \(reason)")
    }

    /// The failures, each as one line of text.
    var failures: [String] {
        missing
            + columns.flatMap { column in
                zip(rows, column.verdicts).compactMap { row, verdict in
                    guard case .failed(let why) = verdict else { return nil }
                    return "FAILED: \(column.broker), \(column.wire), \(row): \(why)"
                }
            }
    }

    /// The names of conversations that failed with at least one broker and wire.
    var failedRows: Set<String> {
        Set(rows.indices.filter { row in columns.contains { $0.verdicts[row].hasFailed } }.map { rows[$0] })
    }

    /// The table, followed by the reasons of failed and inapplicable conversations.
    var text: String {
        let firstWidth = rows.map(\.count).max() ?? 0
        var brokers = "".padded(to: firstWidth)
        var wires = brokers
        for (index, column) in columns.enumerated() {
            let isFirst = index == 0 || columns[index - 1].broker != column.broker
            // A broker's name that is longer than its first column extends over the next columns.
            if isFirst { brokers = brokers.padded(to: wires.count) + Self.gap + column.broker }
            wires += Self.gap + column.wire.padded(to: column.width)
        }
        var reasons: [String] = []
        let lines = rows.enumerated().map { number, row in
            columns.reduce(row.padded(to: firstWidth)) { line, column in
                line + Self.gap + Self.cell(column.verdicts[number], &reasons).padded(to: column.width)
            }
        }
        let notes = reasons.enumerated().map { "n/a \($0 + 1): \($1)" }
        return ([brokers, wires] + lines + [""] + notes + failures).map(\.withoutEndingSpaces).joined(separator: "\n")
    }

    private static func cell(_ verdict: Verdict, _ reasons: inout [String]) -> String {
        switch verdict {
        case .passed: return "ok"
        case .failed: return "FAILED"
        case .notApplicable(let why):
            if let number = reasons.firstIndex(of: why) { return "n/a \(number + 1)" }
            reasons.append(why)
            return "n/a \(reasons.count)"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }

    fileprivate var withoutEndingSpaces: String {
        String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
    }
}
