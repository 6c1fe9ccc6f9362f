package import CourierCore
import MQTTCodec

/// Shows the packets of one connection to an observer. Hides the password and the authentication data.
///
/// Used on the connection's event loop only. Each batch of packets is copied once.
package final class PacketTap: Sendable {
    private let observer: any PacketObserver
    private let connection: ObservedConnection
    /// True if AUTH packets may appear anywhere on the connection, because a client with an authentication method can
    /// authenticate again (MQTT 5.0, 4.12.1). False if AUTH packets may appear only at the beginning.
    private let mayAuthenticateAgain: Bool

    /// Creates a tap that shows the packets of `connection` to `observer`.
    package init(_ observer: any PacketObserver, _ connection: ObservedConnection) {
        self.observer = observer
        self.connection = connection
        mayAuthenticateAgain =
            connection.protocolVersion == .v5 && connection.options.extendedAuthentication != nil
    }

    /// Shows packets that were written. All packets in `bytes` are complete. If `bytes` contains CONNECT, CONNECT is
    /// the first packet.
    func wrote(_ bytes: RawSpan, at time: ContinuousClock.Instant) { tell(.outgoing, shown(bytes, .client), time) }

    /// Shows packets that were read. All packets in `bytes` are complete. CONNACK, and an AUTH packet that arrives
    /// before CONNACK, can only be the first packet in `bytes`.
    func read(_ bytes: RawSpan, at time: ContinuousClock.Instant) { tell(.incoming, shown(bytes, .server), time) }

    private func tell(_ direction: PacketBatch.Direction, _ bytes: [UInt8], _ time: ContinuousClock.Instant) {
        guard !bytes.isEmpty else { return }
        observer.observed(PacketBatch(direction: direction, bytes: bytes, time: time, connection: connection))
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }

    /// Returns true if the packet that starts at `offset` may contain a secret.
    private static func hasSecret(_ bytes: RawSpan, at offset: Int = 0) -> Bool {
        guard offset < bytes.byteCount else { return false }
        return switch bytes.withUnsafeBytes({ PacketType(rawValue: $0[offset] >> 4) }) {
        case .connect, .connAck, .auth: true
        default: false
        }
    }

    private func shown(_ bytes: RawSpan, _ sender: Endpoint) -> [UInt8] {
        guard mayAuthenticateAgain || Self.hasSecret(bytes) else { return Self.copy(bytes) }
        let version: ProtocolVersion =
            switch connection.protocolVersion {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        return Self.masked(bytes, version, sender, everywhere: mayAuthenticateAgain)
    }

    /// Replaces every byte of passwords and authentication data with `*`. If `everywhere` is false, the check stops at
    /// the first packet that cannot contain a secret. If a checked packet cannot be decoded, the result ends before
    /// that packet.
    private static func masked(
        _ bytes: RawSpan, _ version: ProtocolVersion, _ sender: Endpoint, everywhere: Bool
    ) -> [UInt8] {
        let limits = PacketDecoder.Limits(maximumPacketSize: PacketEncoder.largestPacketSize)
        var shown: [UInt8] = []
        var version = version
        var shownEnd = 0
        var offset = 0
        while offset < bytes.byteCount, everywhere || hasSecret(bytes, at: offset) {
            let decoder = PacketDecoder(version: version, sender: sender, limits: limits)
            guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes, at: offset) else {
                return shown + copy(bytes.extracting(shownEnd..<offset))
            }
            if hasSecret(bytes, at: offset) {
                shown += copy(bytes.extracting(shownEnd..<offset))
                guard let packet = try? decoder.packet(frame, in: bytes) else { return shown }
                // Encode the masked CONNECT in the protocol version that it contains.
                if case .connect(let connect) = packet { version = connect.version }
                var buffer = PacketBuffer()
                let encoder = PacketEncoder(version: version, sender: sender)
                guard (try? encoder.encode(masked(packet), into: &buffer)) != nil else { return shown }
                shown += buffer.withBytes { copy($0) }
                shownEnd = frame.end
            }
            offset = frame.end
        }
        return shown + copy(bytes.extracting(shownEnd..<bytes.byteCount))
    }

    private static func masked(_ packet: Packet) -> Packet {
        switch packet {
        case .connect(var connect):
            connect.password = connect.password.map(masked)
            connect.properties = masked(connect.properties)
            return .connect(connect)
        case .connAck(var connAck):
            connAck.properties = masked(connAck.properties)
            return .connAck(connAck)
        case .auth(var auth):
            auth.properties = masked(auth.properties)
            return .auth(auth)
        default: return packet
        }
    }

    private static func masked(_ properties: PacketProperties) -> PacketProperties {
        PacketProperties(
            properties.list.map { property in
                if case .authenticationData(let secret) = property {
                    .authenticationData(masked(secret))
                } else {
                    property
                }
            })
    }

    private static func masked(_ secret: SecretBytes) -> SecretBytes {
        SecretBytes([UInt8](repeating: UInt8(ascii: "*"), count: secret.bytes.count))
    }
}
