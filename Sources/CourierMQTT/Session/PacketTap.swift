package import CourierCore
import MQTTCodec

/// Shows the packets of one connection to an observer, without the password and the authentication data of its handshake.
///
/// On the connection's loop only, where each batch is copied once.
package final class PacketTap: Sendable {
    private let observer: any PacketObserver
    private let connection: ObservedConnection

    /// Shows `connection` to `observer`.
    package init(_ observer: any PacketObserver, _ connection: ObservedConnection) {
        self.observer = observer
        self.connection = connection
    }

    /// Whole packets were written. CONNECT is always the first of what it is written with.
    func wrote(_ bytes: RawSpan, at time: ContinuousClock.Instant) {
        tell(.outgoing, Self.hasSecret(bytes) ? masked(bytes, .client) : Self.copy(bytes), time)
    }

    /// Whole packets were read. CONNACK, and AUTH before it, are always the first of what they are read with.
    func read(_ bytes: RawSpan, at time: ContinuousClock.Instant) {
        tell(.incoming, Self.hasSecret(bytes) ? masked(bytes, .server) : Self.copy(bytes), time)
    }

    private func tell(_ direction: PacketBatch.Direction, _ bytes: [UInt8], _ time: ContinuousClock.Instant) {
        guard !bytes.isEmpty else { return }
        observer.observed(PacketBatch(direction: direction, bytes: bytes, time: time, connection: connection))
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }

    /// Whether the packets begin with one that may hold a secret.
    private static func hasSecret(_ bytes: RawSpan) -> Bool {
        switch bytes.withUnsafeBytes({ $0.first.flatMap { PacketType(rawValue: $0 >> 4) } }) {
        case .connect, .connAck, .auth: true
        default: false
        }
    }

    private func masked(_ bytes: RawSpan, _ sender: Endpoint) -> [UInt8] {
        let version: ProtocolVersion =
            switch connection.protocolVersion {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        return Self.masked(bytes, version, sender)
    }

    /// The same packets with `*` in place of every byte of the password and of authentication data. One of the handshake
    /// that can not be read, and what is behind it, is not shown at all.
    static func masked(_ bytes: RawSpan, _ version: ProtocolVersion, _ sender: Endpoint) -> [UInt8] {
        var buffer = PacketBuffer()
        var version = version
        var offset = 0
        while hasSecret(bytes.extracting(droppingFirst: offset)) {
            // CONNECT says its own version.
            let decoder = PacketDecoder(version: version, sender: sender)
            guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes, at: offset),
                let packet = try? decoder.packet(frame, in: bytes)
            else { return buffer.withBytes { copy($0) } }
            if case .connect(let connect) = packet { version = connect.version }
            let encoder = PacketEncoder(version: version, sender: sender)
            guard (try? encoder.encode(masked(packet), into: &buffer)) != nil else {
                return buffer.withBytes { copy($0) }
            }
            offset = frame.end
        }
        return buffer.withBytes { copy($0) } + copy(bytes.extracting(droppingFirst: offset))
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
