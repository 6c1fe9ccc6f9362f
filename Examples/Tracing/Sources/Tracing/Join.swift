import CourierMQTT
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation

/// Prints the messages of each trace, from the archives of all programs, in the order of time.
struct Join {
    let archives: [String]

    func run() throws {
        let logger = MQTTChuckLogger()
        for path in archives { try logger.importArchive(at: URL(filePath: path)) }
        var traces: [String: [MQTTChuckRow]] = [:]
        var next: UInt64 = 0
        let query = try MQTTChuckQuery("type:publish")
        while next < logger.summary.nextRow {
            let page = logger.rows(from: next, matching: query)
            for row in page.rows {
                if let context = row.traceContext { traces[context.traceID, default: []].append(row) }
            }
            next = page.next
        }
        for (trace, rows) in traces.sorted(by: { $0.value[0].time < $1.value[0].time }) {
            say("trace \(trace)")
            for row in inOrder(rows) {
                let time = row.time.formatted(.iso8601.time(includingFractionalSeconds: true))
                let direction = row.direction == .outgoing ? "sends" : "receives"
                say("  \(time) \(row.connection.clientID) \(direction) \(row.topic ?? "")")
            }
        }
    }

    /// Returns the rows of a trace in the order of their spans. The sender and the receiver of a message have the same
    /// span id, and the sender's row is first.
    private func inOrder(_ rows: [MQTTChuckRow]) -> [MQTTChuckRow] {
        let spans = Dictionary(grouping: rows) { $0.traceContext?.spanID }.values.map { rows in
            rows.sorted { $0.direction == .outgoing && $1.direction == .incoming }
        }
        return spans.sorted { $0[0].time < $1[0].time }.flatMap(\.self)
    }
}
