import CSink
import Glibc

/// The server that all clients are measured against; see `sink.h`.
package struct Sink {
    private let sink: OpaquePointer

    /// Starts the server for `count` messages. If `floods` is true, it sends them to its subscriber; otherwise it
    /// receives and acknowledges them.
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

    /// The error that the server found in the client's packets; `nil` if it found no error.
    package var complaint: String? { sink_complaint(sink).map { String(cString: $0) } }

    /// Waits until the server has handled every message.
    package func waitForAll() throws {
        guard sink_wait(sink, 30) else {
            throw Failure("the sink counted \(sink_count(sink)) messages: \(complaint ?? "no more came")")
        }
    }

    package func stop() { sink_stop(sink) }
}
