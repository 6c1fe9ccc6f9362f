/// The verdicts on all conversations, by broker and wire.
struct Matrix {
    /// One broker by one wire.
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

    /// Adds a broker with the verdicts by each of its wires, one for each row.
    mutating func add(_ broker: String, _ wires: [String], _ verdicts: [[Verdict]]) {
        columns += zip(wires, verdicts).map { wire, verdicts in
            Column(broker: broker, wire: wire, verdicts: verdicts, width: max(Self.narrowest, wire.count))
        }
        // The broker's name stands above all of its columns.
        let width = columns.suffix(wires.count).reduce(-Self.gap.count) { $0 + $1.width + Self.gap.count }
        if !wires.isEmpty { columns[columns.count - 1].width += max(0, broker.count - width) }
    }

    /// Adds a broker with which there were no conversations, which is a failure.
    mutating func add(missing broker: String, because reason: String) {
        missing.append("FAILED: \(broker): \(reason)")
    }

    /// What failed, in words.
    var failures: [String] {
        missing
            + columns.flatMap { column in
                zip(rows, column.verdicts).compactMap { row, verdict in
                    guard case .failed(let why) = verdict else { return nil }
                    return "FAILED: \(column.broker), \(column.wire), \(row): \(why)"
                }
            }
    }

    /// The conversations of which at least one has failed.
    var failedRows: Set<String> {
        Set(rows.indices.filter { row in columns.contains { $0.verdicts[row].hasFailed } }.map { rows[$0] })
    }

    /// The table, and below it the reasons of what is not applicable and of what failed.
    var text: String {
        let firstWidth = rows.map(\.count).max() ?? 0
        var brokers = "".padded(to: firstWidth)
        var wires = brokers
        for (index, column) in columns.enumerated() {
            let isFirst = index == 0 || columns[index - 1].broker != column.broker
            // A name longer than its first column reaches over the next ones.
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
