import CourierCore
import CourierMQTTChuck
import Foundation

/// A tick: the row numbers and counts of the logger at one moment, as JSON. The web page computes rates from two ticks.
struct TickJSON: Encodable, Equatable, Sendable {
    /// The time of the tick, in milliseconds since 1970.
    let time: Double
    let firstRow: UInt64
    let nextRow: UInt64
    let rowCount: Int
    let byteCount: Int
    let droppedCount: UInt64
    let clearCount: UInt64
    let packetsOut: UInt64
    let packetsIn: UInt64
    let bytesOut: UInt64
    let bytesIn: UInt64
    let errors: UInt64
    let reconnects: UInt64
    let openConnections: Int
    let inFlight: Int
    /// The number of client messages that were acknowledged. `acknowledgedTime` is the sum of the times until their
    /// acknowledgements, in milliseconds.
    let acknowledged: UInt64
    let acknowledgedTime: Double

    init(_ metrics: MQTTChuckMetrics, at date: Date) {
        let summary = metrics.summary
        let (sent, received) = (metrics.total(.outgoing), metrics.total(.incoming))
        let publishes = metrics.latencies.filter { $0.kind == .publishQoS1 || $0.kind == .publishQoS2 }
        time = date.timeIntervalSince1970 * 1_000
        firstRow = summary.firstRow
        nextRow = summary.nextRow
        rowCount = summary.rowCount
        byteCount = summary.byteCount
        droppedCount = summary.droppedCount
        clearCount = summary.clearCount
        packetsOut = sent.packets
        packetsIn = received.packets
        bytesOut = sent.bytes
        bytesIn = received.bytes
        errors = metrics.refusals + metrics.malformed
        reconnects = metrics.reconnects
        openConnections = metrics.openConnections
        inFlight = metrics.inFlightOutgoing + metrics.inFlightIncoming
        acknowledged = publishes.reduce(0) { $0 + $1.count }
        acknowledgedTime = publishes.reduce(0) { $0 + $1.sum.milliseconds }
    }
}

extension Duration {
    /// The duration in milliseconds, as the page shows it.
    var milliseconds: Double { Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15 }
}
