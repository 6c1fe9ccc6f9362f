import CourierCore
import MQTTCodec

/// Writes packets as a network capture, as if all clients had used plain MQTT over TCP.
///
/// The real transport may have been TLS, a WebSocket or a pair of pipes; the capture shows only the MQTT packets. Each
/// connection becomes its own TCP stream to port 1883, with handshake, acknowledgements, checksums and the recorded
/// times.
struct PcapngExport {
    private var streams: [UInt64: SynthesizedStream] = [:]

    /// Returns the section header block and the description block of the only network interface.
    func header() -> [UInt8] {
        var section = PcapngBlock(type: 0x0A0D_0D0A)
        section.append(0x1A2B_3C4D as UInt32)
        section.append(1 as UInt16)
        section.append(0 as UInt16)
        section.append(UInt64.max)  // The length of the section is unknown.
        section.appendOption(4, Array("Courier MQTTChuck".utf8))
        section.appendOption(0, [])
        var interface = PcapngBlock(type: 1)
        interface.append(1 as UInt16)  // LINKTYPE_ETHERNET
        interface.append(0 as UInt16)
        interface.append(0 as UInt32)  // Snapshot length 0: no packet is truncated.
        interface.appendOption(2, Array("mqtt".utf8))
        interface.appendOption(9, [9])  // Times are in nanoseconds.
        interface.appendOption(0, [])
        return section.finished() + interface.finished()
    }

    /// Returns blocks with the Ethernet frames of some rows. Rows whose bytes are not an MQTT packet are left out.
    mutating func blocks(_ rows: [RawRow]) -> [UInt8] {
        var blocks: [UInt8] = []
        for raw in rows where raw.isWhole || raw.isCut {
            var stream: SynthesizedStream
            if let known = streams[raw.connection.id] {
                stream = known
            } else {
                stream = SynthesizedStream(number: streams.count)
                stream.open(at: raw.time, into: &blocks)
                if raw.type != .connect { standIn(for: raw, &stream, &blocks) }
            }
            if raw.isCut {
                let comment = "row \(raw.number): the first \(raw.range.count) of \(raw.size) bytes were kept"
                let bytes = ShortenedPacket(raw.bytes)?.bytes ?? []
                stream.send(bytes, raw.direction, at: raw.time, comment: comment, into: &blocks)
            } else {
                stream.send(Array(raw.bytes), raw.direction, at: raw.time, into: &blocks)
            }
            streams[raw.connection.id] = stream
        }
        return blocks
    }

    /// Writes a placeholder CONNECT if the rows do not contain the real CONNECT. Programs such as Wireshark need it,
    /// because they read the MQTT version from CONNECT.
    private func standIn(for raw: RawRow, _ stream: inout SynthesizedStream, _ blocks: inout [UInt8]) {
        let connection = raw.connection
        let version = connection.codecVersion
        var buffer = PacketBuffer()
        let connect = Connect(version: version, clientID: connection.clientID.isEmpty ? "?" : connection.clientID)
        guard (try? PacketEncoder(version: version, sender: .client).encode(.connect(connect), into: &buffer)) != nil
        else { return }
        let bytes = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        stream.send(
            bytes, .outgoing, at: raw.time,
            comment: "placeholder: the export does not contain the real CONNECT of this connection",
            into: &blocks)
    }
}

/// A block of a pcapng file, with numbers in little-endian byte order.
struct PcapngBlock {
    private let type: UInt32
    private var body: [UInt8] = []

    init(type: UInt32) { self.type = type }

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { body += $0 }
    }

    mutating func append(_ bytes: [UInt8]) {
        body += bytes
        body += [UInt8](repeating: 0, count: -bytes.count & 3)
    }

    mutating func appendOption(_ code: UInt16, _ value: [UInt8]) {
        append(code)
        append(UInt16(clamping: value.count))
        append(Array(value.prefix(Int(UInt16.max))))
    }

    func finished() -> [UInt8] {
        var whole = PcapngBlock(type: type)
        let length = UInt32(body.count + 12)
        whole.append(type)
        whole.append(length)
        whole.body += body
        whole.append(length)
        return whole.body
    }
}
