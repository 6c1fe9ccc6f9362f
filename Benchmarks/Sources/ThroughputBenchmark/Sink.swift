import CSink
import Glibc

/// The server that the clients are measured against; see `sink.h`.
struct Sink {
    private let sink: OpaquePointer

    /// Starts it for `count` messages in the direction of `cell`.
    init(for cell: Cell, count: Int) throws {
        let workload = Workload(port: 0, qos: cell.qos)
        let started = workload.topic.withCString { topic in
            var plan = sink_plan()
            plan.floods = cell.direction == .receive
            plan.qos = Int32(workload.qos)
            plan.messages = UInt64(count)
            plan.payload_size = workload.payloadSize
            plan.window = workload.window
            plan.topic = topic
            return sink_start(&plan)
        }
        guard let started else { throw Failure("no sink: \(String(cString: strerror(errno)))") }
        sink = started
    }

    var port: UInt16 { sink_port(sink) }

    /// What it found wrong with what the client sent.
    var complaint: String? { sink_complaint(sink).map { String(cString: $0) } }

    /// Waits until every message is through.
    func waitForAll() throws {
        guard sink_wait(sink, 30) else {
            throw Failure("the sink counted \(sink_count(sink)) messages: \(complaint ?? "no more came")")
        }
    }

    func stop() { sink_stop(sink) }
}
