import CourierCore
import Foundation

/// Writes all figures of a bench run as one JSON object.
///
/// - `version`: 1. It changes if the meaning of a member changes.
/// - `broker`, `date`: the address of the broker, and when the run ended.
/// - `options`: the options of the run. An option that is not set is `null`.
/// - `connections`: counts, `seconds` until the last connection was open, and `timesNanoseconds` of single connections.
/// - `messages`: counts of messages (`sent`, `acknowledged`, `refused`) and of their copies (`expected`, `arrived`,
///   `lost`); `null` without publishers.
/// - `subject`: the counted events: `arrival`, `acknowledgement`, `sending` or `connection`.
/// - `count`, `seconds`, `rate`: the number of these events, the time that they took, and the events per second.
/// - `timesNanoseconds`: the least and the greatest time of a single event, and percentiles; `null` without times.
/// - `histogram`: one entry for each range of times. `belowNanoseconds` is the end of the range and the start of the
///   next range. `count` is the number of times in the range.
/// - `timeline`: the number of events between two times of the run in seconds.
extension BenchReport {
    /// Returns the JSON text.
    ///
    /// - Parameters:
    ///   - settings: The options of the run.
    ///   - plan: The clients of the run.
    ///   - date: When the run ended.
    /// - Returns: The text, with a newline at its end.
    func json(_ settings: BenchArguments, _ plan: LoadPlan, date: Date) -> String {
        var bytes: [UInt8] = []
        JSONValue.object([
            .init("version", 1), .init("broker", settings.broker), .init("date", date.formatted(.iso8601)),
            .init("options", Self.options(settings, plan)), .init("connections", connectionFigures),
            .init("messages", subject == .connection ? .null : messageCounts),
            .init("subject", "\(subject)"), .init("count", count), .init("seconds", seconds), .init("rate", rate),
            .init("timesNanoseconds", Self.times(histogram)),
            .init(
                "histogram",
                .array(
                    histogram.bars(atMost: .max).map { bar in
                        .object([.init("belowNanoseconds", Int(clamping: bar.end)), .init("count", bar.count)])
                    })),
            .init(
                "timeline",
                .array(
                    timeline.points(until: duration).map { point in
                        .object([
                            .init("startSeconds", point.start), .init("endSeconds", point.end),
                            .init("count", point.count),
                        ])
                    })),
        ]).write(isPretty: true, into: &bytes)
        return String(decoding: bytes, as: UTF8.self) + "\n"
    }

    private static func options(_ settings: BenchArguments, _ plan: LoadPlan) -> JSONValue {
        let topic = settings.topic?.text ?? plan.topics.first
        return .object([
            .init("publishers", settings.publishers), .init("subscribers", settings.subscribers),
            .init("topic", topic), .init("filter", settings.filter?.text ?? topic ?? plan.filters.first?.string),
            .init("qos", settings.connection.qos),
            .init("count", settings.publishers > 0 ? settings.messageLimit : nil),
            .init("durationSeconds", settings.duration.map { $0 / .seconds(1) }),
            .init("rampUpSeconds", settings.rampUp / .seconds(1)), .init("rate", settings.rate),
            .init("window", settings.window), .init("payload", settings.payload.rawValue),
            .init("size", settings.size),
        ])
    }

    private var connectionFigures: JSONValue {
        .object([
            .init("wanted", connections.wantedCount), .init("opened", connections.openedCount),
            .init("failed", connections.failedCount), .init("lost", connections.lostCount),
            .init("seconds", connections.openingTime / .seconds(1)),
            .init("timesNanoseconds", Self.times(connections.times)),
            .init("firstProblem", connections.firstProblem?.text),
        ])
    }

    private var messageCounts: JSONValue {
        .object([
            .init("sent", messages.sent), .init("acknowledged", messages.acknowledged),
            .init("refused", messages.refused), .init("expected", messages.expected),
            .init("arrived", messages.arrived), .init("lost", messages.lost),
        ])
    }

    private static func times(_ histogram: LatencyHistogram) -> JSONValue {
        guard histogram.total > 0 else { return .null }
        let shares: KeyValuePairs<String, Double> = [
            "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999,
        ]
        return .object(
            [.init("minimum", Int(clamping: histogram.least))]
                + shares.map { .init($0.key, Int(clamping: histogram.percentile($0.value))) }
                + [.init("maximum", Int(clamping: histogram.most))])
    }
}

extension JSONValue.Member {
    fileprivate init(_ name: String, _ value: JSONValue) { self.init(key: Array(name.utf8), value: value) }

    fileprivate init(_ name: String, _ number: Int?) {
        self.init(name, number.map { .number(String($0)) } ?? .null)
    }

    fileprivate init(_ name: String, _ number: Double?) {
        self.init(name, number.map { .number(String(format: "%.6f", $0)) } ?? .null)
    }

    fileprivate init(_ name: String, _ text: String?) {
        self.init(name, text.map { .string(Array($0.utf8)) } ?? .null)
    }
}
