package import CourierCore
import MQTTCodec

/// Shows the packets of one connection to an observer, without the password of CONNECT.
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
        let isConnect = bytes.withUnsafeBytes { $0.first.map { $0 >> 4 } } == PacketType.connect.rawValue
        tell(.outgoing, isConnect ? Self.masked(bytes) : Self.copy(bytes), time)
    }

    /// Whole packets were read.
    func read(_ bytes: RawSpan, at time: ContinuousClock.Instant) { tell(.incoming, Self.copy(bytes), time) }

    private func tell(_ direction: PacketBatch.Direction, _ bytes: [UInt8], _ time: ContinuousClock.Instant) {
        guard !bytes.isEmpty else { return }
        observer.observed(PacketBatch(direction: direction, bytes: bytes, time: time, connection: connection))
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }

    /// The same packets with `*` in place of every byte of the password. What can not be read, which our own encoder does
    /// not write, is not shown at all.
    static func masked(_ bytes: RawSpan) -> [UInt8] {
        let decoder = PacketDecoder(version: .v31, sender: .client)  // CONNECT says its own version.
        guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes, at: 0),
            case .connect(var connect)? = try? decoder.packet(frame, in: bytes)
        else { return [] }
        connect.password = connect.password.map { password in
            SecretBytes([UInt8](repeating: UInt8(ascii: "*"), count: password.bytes.count))
        }
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: connect.version, sender: .client)
        guard (try? encoder.encode(.connect(connect), into: &buffer)) != nil else { return [] }
        return buffer.withBytes { copy($0) } + copy(bytes.extracting(droppingFirst: frame.end))
    }
}
