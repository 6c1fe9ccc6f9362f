import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec
import TestSupport

/// A packet logger that contains the packets of a test.
struct RecordedPackets {
    let logger: MQTTChuckLogger
    private let connection: ObservedConnection

    /// A logger with a connection that was opened long ago.
    ///
    /// - Parameter packetMaxSize: The number of bytes that the logger keeps of a packet; the default of
    ///   ``MQTTChuckOptions`` if omitted.
    init(packetMaxSize: Int? = nil) {
        // The packets are older than the maximum age that a logger has by default.
        var options = MQTTChuckOptions()
        options.logsMaxAge = nil
        if let packetMaxSize { options.packetMaxSize = packetMaxSize }
        logger = MQTTChuckLogger(options: options)
        connection = ObservedConnection(
            id: 1,
            options: ConnectOptions(
                host: "broker.example", port: 1_883, clientId: "till", username: "ada", password: "lace"),
            protocolVersion: .v5, openedAt: Date(timeIntervalSince1970: 1_700_000_000), openedInstant: .now)
    }

    func observe(
        _ direction: PacketBatch.Direction, _ packet: Packet, at time: ContinuousClock.Instant = .now
    ) throws {
        let bytes = try TestSupport.encode(packet, .v5, from: direction == .outgoing ? .client : .server)
        logger.observed(PacketBatch(direction: direction, bytes: bytes, time: time, connection: connection))
    }

    /// A message of QoS 0 from the broker.
    func receive(_ topic: String, _ payload: String) throws {
        try observe(.incoming, .publish(Publish(topic: topic, payload: Array(payload.utf8))))
    }

    /// A message of QoS 1, and the broker's answer.
    func order(_ number: Int, _ reasonCode: PacketReasonCode = .success, took: Duration = .zero) throws {
        let time = ContinuousClock.now
        guard let id = PacketID(rawValue: UInt16(number)) else { return }
        try observe(
            .outgoing,
            .publish(
                Publish(
                    topic: "orders/\(number)", payload: Array("pizza".utf8),
                    delivery: .atLeastOnce(id, isDuplicate: false))), at: time)
        try observe(
            .incoming, .pubAck(Acknowledgement(packetID: id, reasonCode: reasonCode)), at: time.advanced(by: took))
    }
}
