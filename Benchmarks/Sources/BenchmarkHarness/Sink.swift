import CSink
import Glibc

/// The server that the clients are measured against; see `sink.h`.
package struct Sink {
    private let sink: OpaquePointer

    /// Starts it for `count` messages: to send them to whoever subscribes, or to take and acknowledge them.
    package init(
        floods: Bool = false, qos: Int, count: Int, payloadSize: Int, userPropertyCount: Int = 0, window: UInt16,
        topic: String
    ) throws {
        let started = topic.withCString { topic in
            var plan = sink_plan()
            plan.floods = floods
            plan.qos = Int32(qos)
            plan.messages = UInt64(count)
            plan.payload_size = payloadSize
            plan.user_properties = Int32(userPropertyCount)
            plan.window = window
            plan.topic = topic
            return sink_start(&plan)
        }
        guard let started else { throw Failure("no sink: \(String(cString: strerror(errno)))") }
        sink = started
    }

    package var port: UInt16 { sink_port(sink) }

    /// What it found wrong with what the client sent.
    package var complaint: String? { sink_complaint(sink).map { String(cString: $0) } }

    /// Waits until every message is through.
    package func waitForAll() throws {
        guard sink_wait(sink, 30) else {
            throw Failure("the sink counted \(sink_count(sink)) messages: \(complaint ?? "no more came")")
        }
    }

    package func stop() { sink_stop(sink) }
}
