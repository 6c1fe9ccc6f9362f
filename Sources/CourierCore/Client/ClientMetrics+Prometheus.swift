extension ClientMetrics {
    /// The metrics in the text format of Prometheus, version 0.0.4.
    public var prometheusText: String { Self.prometheusText(of: [("", self)]) }

    /// Returns the metrics of several clients in the text format of Prometheus, version 0.0.4. Each line has the label
    /// `client` with the client's name.
    ///
    /// - Parameter clients: The metrics, by the names of the clients.
    /// - Returns: The text; empty if there are no clients.
    public static func prometheusText(of clients: [String: ClientMetrics]) -> String {
        prometheusText(of: clients.sorted { $0.key < $1.key }.map { (label($0.key), $0.value) })
    }

    /// One metric: its name, type, explanation, and value.
    private struct Family {
        let name: String
        let type: String
        let help: String
        let value: (ClientMetrics) -> Int
    }

    private static var families: [Family] {
        func counter(_ name: String, _ help: String, _ value: @escaping (ClientMetrics) -> Int) -> Family {
            Family(name: name + "_total", type: "counter", help: help, value: value)
        }
        func gauge(_ name: String, _ help: String, _ value: @escaping (ClientMetrics) -> Int) -> Family {
            Family(name: name, type: "gauge", help: help, value: value)
        }
        return [
            counter("accepted", "Messages accepted for delivery.") { $0.acceptedCount },
            counter("acknowledged", "Messages that the broker acknowledged.") { $0.acknowledgedCount },
            counter("failed", "Messages whose delivery failed.") { $0.failedCount },
            gauge("waiting", "Messages that wait to be sent.") { $0.waitingCount },
            gauge("waiting_bytes", "Bytes of waiting messages.") { $0.waitingByteCount },
            gauge("in_flight", "Messages that wait for the broker's acknowledgement.") { $0.inFlightCount },
            counter("received", "Messages received.") { $0.receivedCount },
            counter("dropped", "Messages of QoS 0 dropped because a reader was too slow.") { $0.droppedCount },
            counter("connections", "Connections that the broker accepted.") { $0.connectionCount },
            counter("reconnects", "Connections after the first one.") { $0.reconnectCount },
            counter("sent_bytes", "Bytes of all packets sent.") { $0.sentByteCount },
            counter("received_bytes", "Bytes of all packets received.") { $0.receivedByteCount },
        ]
    }

    /// Returns the metrics of several clients as text. The first element of each pair is the `client` label of the
    /// lines; an empty string means that the lines have no label.
    private static func prometheusText(of clients: [(label: String, metrics: ClientMetrics)]) -> String {
        if clients.isEmpty { return "" }
        var text = ""
        func begin(_ name: String, _ type: String, _ help: String) {
            text += "# HELP courier_client_\(name) \(help)\n# TYPE courier_client_\(name) \(type)\n"
        }
        func line(_ name: String, _ labels: [String], _ value: String) {
            let labels = labels.filter { !$0.isEmpty }
            text += "courier_client_\(name)\(labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") \(value)\n"
        }
        for family in families {
            begin(family.name, family.type, family.help)
            for client in clients { line(family.name, [client.label], "\(family.value(client.metrics))") }
        }
        let name = "acknowledgement_seconds"
        begin(name, "histogram", "Times from sending to the acknowledgement of a message.")
        for (label, metrics) in clients {
            let times = metrics.acknowledgementTimes
            var total: UInt64 = 0
            let bounds = DurationHistogram.upperBounds.map(\.decimalSeconds) + ["+Inf"]
            for (bound, count) in zip(bounds, times.counts) {
                total += count
                line("\(name)_bucket", [label, "le=\"\(bound)\""], "\(total)")
            }
            line("\(name)_sum", [label], times.sum.decimalSeconds)
            line("\(name)_count", [label], "\(total)")
        }
        return text
    }

    /// Returns the label of a client. The format requires an escape character before a backslash, a quotation mark or a
    /// line feed.
    private static func label(_ name: String) -> String {
        var escaped = ""
        for character in name.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return "client=\"\(escaped)\""
    }
}

extension Duration {
    /// This duration in seconds as a decimal number without trailing zeros, such as `0.0004`. The duration must not be
    /// negative.
    package var decimalSeconds: String {
        let (whole, attoseconds) = components
        let digits = String(attoseconds / 1_000_000_000)
        let fraction = String(repeating: "0", count: 9 - digits.count) + digits
        let end = fraction.lastIndex { $0 != "0" }
        return end.map { "\(whole).\(fraction[...$0])" } ?? "\(whole)"
    }
}
