package import CourierCore
import Foundation
import MQTTCodec
import Synchronization

/// Observes packets for facts that the client does not report: the broker's return codes and, for `-d`, a line about
/// every packet as the mosquitto clients print it.
package final class ConnectionWatch: PacketObserver {
    /// The state collected from packets.
    private struct State {
        var refusal: Refusal?
        var names: [UInt64: String] = [:]
        var lastPacketID: UInt16 = 0
    }

    /// A CONNACK with which the broker refused the connection.
    package struct Refusal: Hashable, Sendable {
        /// The byte on the wire: a return code of MQTT 3.1.1, or a reason code of MQTT 5.
        package let code: UInt8
        /// Whether the CONNACK is an MQTT 5 packet.
        package let isVersion5: Bool

        /// Describes a refusal with this code.
        init(code: UInt8, isVersion5: Bool) {
            self.code = code
            self.isVersion5 = isVersion5
        }

        /// Describes the refusal that an error reports; `nil` if the error has another cause.
        ///
        /// - Parameters:
        ///   - error: The error of a client that could not connect.
        ///   - isVersion5: Whether the client uses MQTT 5.
        init?(_ error: CourierError, isVersion5: Bool) {
            guard error.code == .connectionRefused || error.code == .notAuthorized, let reason = error.reasonCode
            else { return nil }
            let code = isVersion5 ? reason.rawValue : Self.returnCodes.first { $0.value == reason }?.key
            guard let code else { return nil }
            self.init(code: code, isVersion5: isVersion5)
        }

        /// The refusal as an MQTT 5 reason code. It is `nil` for a return code that MQTT 3.1.1 does not define.
        var reasonCode: ReasonCode? { isVersion5 ? ReasonCode(rawValue: code) : Self.returnCodes[code] }

        private static let returnCodes: [UInt8: ReasonCode] = [
            1: .unsupportedProtocolVersion, 2: .clientIdentifierNotValid, 3: .serverUnavailable,
            4: .badUserNameOrPassword, 5: .notAuthorized,
        ]
    }

    /// A message that the broker refused.
    package struct RefusedPublish: Hashable, Sendable {
        package let packetID: UInt16
        package let code: UInt8
        package let reason: String?
    }

    private let state = Mutex(State())
    private let print: (@Sendable (String) -> Void)?
    private let showsGrants: Bool
    private let refused: @Sendable (RefusedPublish) -> Void

    /// Creates an observer for the connections of one client.
    ///
    /// - Parameters:
    ///   - print: Receives a line for each packet, on the event loop; `nil` prints no lines.
    ///   - showsGrants: Whether the codes of SUBACK are printed on a separate line; `false` by default.
    ///   - refused: Receives messages that the broker refused, on the event loop.
    package init(
        print: (@Sendable (String) -> Void)? = nil, showsGrants: Bool = false,
        refused: @escaping @Sendable (RefusedPublish) -> Void = { _ in }
    ) {
        self.print = print
        self.showsGrants = showsGrants
        self.refused = refused
    }

    /// Returns the last refusal and clears it.
    package func takeRefusal() -> Refusal? { state.withLock { $0.refusal.take() } }

    /// Returns and clears the last refusal if it has this code; otherwise returns `nil`. A refusal with another code is
    /// not returned, because it belongs to a later connection attempt whose event has not arrived yet.
    func takeRefusal(_ code: ReasonCode?) -> Refusal? {
        state.withLock { state in state.refusal?.reasonCode == code ? state.refusal.take() : nil }
    }

    package func observed(_ batch: PacketBatch) {
        if batch.direction == .outgoing, print == nil { return }
        let version: ProtocolVersion =
            switch batch.connection.protocolVersion {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        let sender: Endpoint = batch.direction == .outgoing ? .client : .server
        let decoder = PacketDecoder(
            version: version, sender: sender, limits: .init(maximumPacketSize: PacketEncoder.largestPacketSize))
        batch.bytes.withBytes { bytes in
            var offset = 0
            while offset < bytes.byteCount, case .frame(let frame)? = try? decoder.nextFrame(in: bytes, at: offset) {
                note(frame, decoder, bytes, batch.bytes)
                if print != nil { show(frame, decoder, bytes, batch) }
                offset = frame.end
            }
        }
    }

    private func note(_ frame: PacketFrame, _ decoder: PacketDecoder, _ bytes: RawSpan, _ array: [UInt8]) {
        switch frame.type {
        case .connAck where decoder.sender == .server:
            let code = Self.secondByte(of: frame, in: array)  // In every version, the code follows the flags.
            let refusal = code == 0 ? nil : Refusal(code: code, isVersion5: decoder.version >= .v5)
            state.withLock { $0.refusal = refusal }
        case .pubAck, .pubRec:
            guard decoder.sender == .server, decoder.version >= .v5,
                let view = try? decoder.acknowledgement(frame, in: bytes), view.reasonCode.isFailure
            else { return }
            let properties = try? decoder.properties(of: frame, in: view.properties, of: bytes)
            refused(
                RefusedPublish(
                    packetID: view.packetID.rawValue, code: view.reasonCode.rawValue,
                    reason: properties?.reasonString))
        default: break
        }
    }

    private func show(_ frame: PacketFrame, _ decoder: PacketDecoder, _ bytes: RawSpan, _ batch: PacketBatch) {
        guard let print, let packet = try? decoder.packet(frame, in: bytes) else { return }
        let id = batch.connection.id
        let lines = state.withLock { state in
            let name = state.names[id] ?? Self.name(batch.connection.options.clientId)
            if case .connAck(let connAck) = packet, let assigned = connAck.properties.assignedClientIdentifier {
                state.names = [id: assigned]
            }
            return PacketLines(
                name: state.names[id] ?? name, isOutgoing: batch.direction == .outgoing, showsGrants: showsGrants
            ).lines(
                of: packet, code: Self.secondByte(of: frame, in: batch.bytes),
                lastPacketID: &state.lastPacketID)
        }
        for line in lines { print(line) }
    }

    /// Returns the second byte of a packet's body; 0 if there is none.
    private static func secondByte(of frame: PacketFrame, in bytes: [UInt8]) -> UInt8 {
        var place = frame.start + 1
        while place < frame.end, bytes[place] & 0x80 != 0 { place += 1 }  // Skips the remaining length.
        return place + 2 < frame.end ? bytes[place + 2] : 0
    }

    private static func name(_ clientID: String) -> String { clientID.isEmpty ? "(null)" : clientID }
}
