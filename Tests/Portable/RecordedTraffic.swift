import MQTTCodec

/// Decodes the recorded packets of Tests/MQTTCodecTests/Captures, and encodes each packet again.
///
/// The script compiles the recordings into the program, as `RecordedTraffic.text`.
struct RecordedTraffic {
    private var name = ""
    private var version = ProtocolVersion.v5
    private var fromClient: [UInt8] = []
    private var fromServer: [UInt8] = []

    static func decode(into report: inout Report) {
        var traffic = RecordedTraffic()
        let text = Self.text.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            traffic.read(String(Substring(line)), into: &report)
        }
        traffic.decodeConnection(into: &report)
    }

    /// Reads one line of a recording: a name, a version, the start of a connection, or the bytes of one end.
    private mutating func read(_ line: String, into report: inout Report) {
        if line.hasPrefix("name: ") {
            decodeConnection(into: &report)
            name = String(line.dropFirst(6))
        } else if line.hasPrefix("version: ") {
            switch line.dropFirst(9) {
            case "3.1": version = .v31
            case "3.1.1": version = .v311
            case "5": version = .v5
            default: report.fail("\(name) has the unknown \(line)")
            }
        } else if line.hasPrefix("---") {
            decodeConnection(into: &report)
        } else if line.hasPrefix("C ") {
            fromClient += bytes(String(line.dropFirst(2)))
        } else {
            fromServer += bytes(String(line.dropFirst(2)))
        }
    }

    private mutating func decodeConnection(into report: inout Report) {
        decode(fromClient, from: .client, into: &report)
        decode(fromServer, from: .server, into: &report)
        fromClient = []
        fromServer = []
    }

    private func decode(_ bytes: [UInt8], from sender: Endpoint, into report: inout Report) {
        let decoder = PacketDecoder(version: version, sender: sender)
        let encoder = PacketEncoder(version: version, sender: sender)
        var buffer = PacketBuffer()
        do throws(DecodeError) {
            let (packets, consumed) = try decodeAll(bytes, decoder)
            report.check(consumed == bytes.count, "\(name): \(bytes.count - consumed) bytes remain")
            for packet in packets {
                report.decodedCount += 1
                do throws(EncodeError) {
                    try encoder.encode(packet, into: &buffer)
                    let written = buffer.take()
                    report.line("\(name): \(packet.type), \(written.count) bytes, checksum \(checksum(written))")
                } catch {
                    report.fail("\(name): \(packet.type): \(error)")
                }
            }
        } catch {
            report.fail("\(name): \(error)")
        }
    }

    /// The 64-bit FNV-1a checksum of `bytes`.
    private func checksum(_ bytes: [UInt8]) -> UInt64 {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return sum
    }
}
