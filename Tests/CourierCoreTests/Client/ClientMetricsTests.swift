import Testing

@testable import CourierCore

struct ClientMetricsTests {
    // MARK: The histogram

    @Test(
        arguments: [
            (-5, 0), (0, 0), (1, 0), (100_000, 0), (100_001, 1), (200_000, 1), (200_001, 2), (400_000, 2),
            (13_107_200_000, 17), (13_107_200_001, 18), (.max, 18),
        ] as [(Int64, Int)])
    func `a histogram counts a duration in the bucket with the next higher bound`(_ duration: Int64, _ bucket: Int) {
        var histogram = DurationHistogram()
        histogram.add(nanoseconds: duration)
        #expect(histogram.counts.count == DurationHistogram.upperBounds.count + 1)
        #expect(histogram.counts.indices.filter { histogram.counts[$0] > 0 } == [bucket])
        #expect(histogram.count == 1)
        #expect(histogram.sum == .nanoseconds(max(duration, 0)))
    }

    @Test func `the sum of very long durations does not overflow, and can be printed`() {
        var metrics = ClientMetrics()
        for _ in 0..<3 { metrics.acknowledgementTimes.add(nanoseconds: .max) }
        let seconds: Int64 = 27_670_116_110
        #expect(metrics.acknowledgementTimes.sum == .seconds(seconds) + .nanoseconds(564_327_421))
        #expect(metrics.prometheusText.contains("courier_client_acknowledgement_seconds_sum 27670116110.564327421\n"))
    }

    @Test func `each upper bound of a histogram bucket is twice the previous bound`() {
        let bounds = DurationHistogram.upperBounds
        #expect(bounds.first == .microseconds(100))
        for (bound, next) in zip(bounds, bounds.dropFirst()) { #expect(next == bound * 2) }
    }

    @Test func `a quantile equals the upper bound of the bucket that contains the quantile`() {
        var histogram = DurationHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for _ in 0..<90 { histogram.add(nanoseconds: 150_000) }
        for _ in 0..<10 { histogram.add(nanoseconds: 60_000_000_000) }
        #expect(histogram.quantile(0) == .microseconds(200))
        #expect(histogram.quantile(0.5) == .microseconds(200))
        #expect(histogram.quantile(0.9) == .microseconds(200))
        #expect(histogram.quantile(0.91) == DurationHistogram.upperBounds.last)
        #expect(histogram.quantile(2) == DurationHistogram.upperBounds.last)
    }

    // MARK: The text for Prometheus

    private static func metrics() -> ClientMetrics {
        var metrics = ClientMetrics()
        metrics.acceptedCount = 12
        metrics.connectionCount = 3
        metrics.acknowledgementTimes.add(nanoseconds: 150_000)
        metrics.acknowledgementTimes.add(nanoseconds: 20_000_000_000)
        return metrics
    }

    @Test func `the metrics text of a single client has no labels, and its histogram buckets are cumulative`() {
        let lines = Self.metrics().prometheusText.split(separator: "\n").map(String.init)
        #expect(lines.contains("# TYPE courier_client_accepted_total counter"))
        #expect(lines.contains("courier_client_accepted_total 12"))
        #expect(lines.contains("courier_client_reconnects_total 2"))
        #expect(lines.contains("courier_client_acknowledgement_seconds_bucket{le=\"0.0001\"} 0"))
        #expect(lines.contains("courier_client_acknowledgement_seconds_bucket{le=\"0.0002\"} 1"))
        #expect(lines.contains("courier_client_acknowledgement_seconds_bucket{le=\"13.1072\"} 1"))
        #expect(lines.contains("courier_client_acknowledgement_seconds_bucket{le=\"+Inf\"} 2"))
        #expect(lines.contains("courier_client_acknowledgement_seconds_sum 20.00015"))
        #expect(lines.contains("courier_client_acknowledgement_seconds_count 2"))
    }

    @Test func `in the metrics text of several clients, each metric has one type line, and each client has a label`() {
        let text = ClientMetrics.prometheusText(of: ["b": Self.metrics(), "a\"\\\n": ClientMetrics()])
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count { $0 == "# TYPE courier_client_accepted_total counter" } == 1)
        let first = lines.firstIndex(of: "courier_client_accepted_total{client=\"a\\\"\\\\\\n\"} 0")
        let second = lines.firstIndex(of: "courier_client_accepted_total{client=\"b\"} 12")
        #expect(first.map { $0 + 1 } == second && first != nil)
        #expect(lines.contains("courier_client_acknowledgement_seconds_bucket{client=\"b\",le=\"+Inf\"} 2"))
    }

    @Test func `the metrics text is empty if there are no clients`() {
        #expect(ClientMetrics.prometheusText(of: [:]).isEmpty)
    }
}
