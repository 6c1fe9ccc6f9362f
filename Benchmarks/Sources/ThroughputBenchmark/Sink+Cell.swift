import BenchmarkHarness

extension Sink {
    /// Starts it for `count` messages in the direction of `cell`.
    init(for cell: Cell, count: Int) throws {
        let workload = Workload(port: 0, qos: cell.qos)
        try self.init(
            floods: cell.direction == .receive, qos: workload.qos, count: count, payloadSize: workload.payloadSize,
            window: workload.window, topic: workload.topic)
    }
}
