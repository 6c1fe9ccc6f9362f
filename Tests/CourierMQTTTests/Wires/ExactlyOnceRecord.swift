import CourierCore
import Foundation
import MQTTCodec
import Synchronization

@testable import CourierMQTT

/// Follows the QoS 2 exchanges of one session in its packets, to distinguish mistakes of the broker from mistakes of the
/// client.
///
/// mosquitto 2.0.11 violates [MQTT-4.3.3-6]: after lost connections, it sends some messages again, under the same packet
/// id after PUBREL or under a new packet id. A client cannot recognize such a repetition, so it must pass the message to
/// the app again. This record counts how often the packets require that a message is passed to the app.
final class ExactlyOnceRecord: PacketObserver {
    fileprivate struct State {
        /// The packet ids of received messages for which no PUBREL has arrived.
        var unreleased: Set<PacketID> = []
        /// The number of exchanges that the broker began, by payload.
        var exchanges: [[UInt8]: Int] = [:]
        /// The payload of the sent message that uses a packet id.
        var payloads: [PacketID: [UInt8]] = [:]
        /// The packet ids of sent messages for which PUBREC has arrived.
        var confirmed: Set<PacketID> = []
        /// The packet id under which a message was sent first, by payload.
        var firstIDs: [[UInt8]: PacketID] = [:]
        /// The violations of the client, as sentences.
        var violations: [String] = []
    }

    private let version: ProtocolVersion
    private let state = Mutex(State())

    init(_ version: ProtocolVersion) { self.version = version }

    /// The number of times that the app must receive a QoS 2 message, by payload.
    var exchanges: [[UInt8]: Int] { state.withLock { $0.exchanges } }

    /// The violations of the client while it sent QoS 2 messages, as sentences.
    var violations: [String] { state.withLock { $0.violations } }

    /// Returns a tap for the next connection of the session.
    func tap() -> PacketTap {
        let versions: [ProtocolVersion: ObservedConnection.ProtocolVersion] = [.v31: .v31, .v311: .v311, .v5: .v5]
        return PacketTap(
            self,
            ObservedConnection(
                id: 1, options: ConnectOptions(host: "h", port: 1, clientId: "c", username: "", password: ""),
                protocolVersion: versions[version] ?? .v311, openedAt: Date(), openedInstant: .now))
    }

    func observed(_ batch: PacketBatch) {
        let isSent = batch.direction == .outgoing
        let decoder = PacketDecoder(version: version, sender: isSent ? .client : .server)
        var offset = 0
        while case .frame(let frame)? = try? decoder.nextFrame(in: batch.bytes.span.bytes, at: offset),
            let packet = try? decoder.packet(frame, in: batch.bytes.span.bytes)
        {
            offset = frame.end
            state.withLock { isSent ? $0.sent(packet) : $0.received(packet) }
        }
    }
}

extension ExactlyOnceRecord.State {
    fileprivate mutating func sent(_ packet: Packet) {
        guard case .publish(let publish) = packet, case .exactlyOnce(let id, _) = publish.delivery else { return }
        if let first = firstIDs[publish.payload], first != id {
            violations.append("\(publish.payload) was sent under the packet ids \(first) and \(id)")
        }
        if payloads[id] == publish.payload, confirmed.contains(id) {
            violations.append("\(publish.payload) was sent again under the packet id \(id) after PUBREC")
        }
        firstIDs[publish.payload] = id
        payloads[id] = publish.payload
    }

    fileprivate mutating func received(_ packet: Packet) {
        switch packet {
        case .publish(let publish):
            guard case .exactlyOnce(let id, _) = publish.delivery, unreleased.insert(id).inserted else { return }
            exchanges[publish.payload, default: 0] += 1
        case .pubRel(let answer): unreleased.remove(answer.packetID)
        case .pubRec(let answer): confirmed.insert(answer.packetID)
        case .pubComp(let answer):
            payloads[answer.packetID] = nil
            confirmed.remove(answer.packetID)
        case .connAck(let connAck) where !connAck.isSessionPresent: (unreleased, payloads, confirmed) = ([], [:], [])
        default: break
        }
    }
}
