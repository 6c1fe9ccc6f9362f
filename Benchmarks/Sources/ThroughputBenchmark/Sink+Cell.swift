import BenchmarkHarness

extension Sink {
    /// Starts the sink for `count` messages of `contender`, in the direction of `cell`.
    init(for cell: Cell, _ contender: Contender, count: Int) throws {
        let workload = Workload(port: 0, qos: cell.qos, userPropertyCount: contender.userPropertyCount)
        try self.init(
            floods: cell.direction == .receive, qos: workload.qos, count: count, payloadSize: workload.payloadSize,
            userPropertyCount: workload.userPropertyCount, window: workload.window, topic: workload.topic)
    }
}
