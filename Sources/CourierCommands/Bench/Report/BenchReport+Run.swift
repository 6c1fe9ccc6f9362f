import Foundation

extension BenchReport.Subject {
    /// The subject of a run with messages.
    init(_ goal: LoadProgress.Goal) {
        self =
            switch goal {
            case .arrival: .arrival
            case .acknowledgement: .acknowledgement
            case .sending: .sending
            }
    }
}

extension BenchReport.MessageCounts {
    /// The counts of a run with messages.
    init(_ progress: LoadProgress) {
        sent = progress.sentCount
        acknowledged = progress.isAcknowledged ? progress.acknowledgedCount : nil
        refused = progress.refusedCount
        expected = progress.expectedCount
        arrived = progress.arrivedCount
    }
}

extension BenchArguments {
    /// A description of the broker and the load, in one line.
    func subtitle(at date: Date) -> String {
        let day = date.formatted(.iso8601.year().month().day())
        let number = BenchReport.grouped
        guard publishers > 0 else { return "\(broker); \(day)" }
        let pace = rate.map { "\(number($0)) messages/s requested" } ?? "sent as fast as possible"
        return "\(broker), QoS \(connection.qos), \(number(size)) bytes each, \(pace), "
            + "at most \(number(window)) messages in flight; \(day)"
    }
}
