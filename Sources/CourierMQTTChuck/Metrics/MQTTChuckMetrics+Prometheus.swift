import CourierCore
import MQTTCodec

extension MQTTChuckMetrics {
    /// The metrics in the text format of Prometheus, version 0.0.4. It contains no text from the network, only numbers.
    public var prometheusText: String {
        var text = ""
        func family(_ name: String, _ type: String, _ help: String, _ samples: [(suffix: String, value: String)]) {
            text += "# HELP courier_mqtt_\(name) \(help)\n# TYPE courier_mqtt_\(name) \(type)\n"
            for sample in samples { text += "courier_mqtt_\(name)\(sample.suffix) \(sample.value)\n" }
        }
        func single(_ name: String, _ type: String, _ help: String, _ value: some BinaryInteger) {
            family(name, type, help, [("", "\(value)")])
        }
        func labels(_ traffic: Traffic) -> String {
            let type = traffic.type.map { $0.description.lowercased() } ?? "unknown"
            return "{direction=\"\(traffic.direction == .outgoing ? "out" : "in")\",type=\"\(type)\"}"
        }
        family(
            "packets_total", "counter", "Packets by type and direction.",
            traffic.map { (labels($0), "\($0.packets)") })
        family(
            "packet_bytes_total", "counter", "Bytes of packets by type and direction.",
            traffic.map { (labels($0), "\($0.bytes)") })
        single("refusals_total", "counter", "Packets with a reason code that reports a failure.", refusals)
        single("malformed_total", "counter", "Byte sequences that are not a packet.", malformed)
        single("connects_total", "counter", "CONNECT packets sent.", connects)
        single("reconnects_total", "counter", "CONNECT packets that were not the first of their client.", reconnects)
        single("connects_accepted_total", "counter", "CONNACK packets that accept a connection.", accepted)
        single("connects_refused_total", "counter", "CONNACK packets that refuse a connection.", refused)
        single("open_connections", "gauge", "Open connections.", openConnections)
        family(
            "in_flight", "gauge", "Open exchanges, by the side that began the exchange.",
            [("{direction=\"out\"}", "\(inFlightOutgoing)"), ("{direction=\"in\"}", "\(inFlightIncoming)")])
        single("inspector_rows", "gauge", "Rows that the inspector keeps.", summary.rowCount)
        single("inspector_bytes", "gauge", "Bytes of memory that the rows use.", summary.byteCount)
        single("inspector_dropped_rows_total", "counter", "Rows dropped because of a limit.", summary.droppedCount)
        family("exchange_seconds", "histogram", "Durations of exchanges, by kind.", latencies.flatMap(Self.samples))
        return text
    }

    /// Returns the samples of the three series of a histogram: buckets, sum and count. `suffix` is the end of the
    /// metric's name together with the labels.
    private static func samples(_ latency: Latency) -> [(suffix: String, value: String)] {
        var total: UInt64 = 0
        let kind = "kind=\"\(latency.kind.rawValue)\""
        let bounds = latencyBounds.map(\.decimalSeconds) + ["+Inf"]
        let buckets = zip(bounds, latency.counts).map { bound, count in
            total += count
            return (suffix: "_bucket{\(kind),le=\"\(bound)\"}", value: "\(total)")
        }
        return buckets + [("_sum{\(kind)}", latency.sum.decimalSeconds), ("_count{\(kind)}", "\(total)")]
    }
}
