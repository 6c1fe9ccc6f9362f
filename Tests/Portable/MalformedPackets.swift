import MQTTCodec

/// Decodes the table of malformed packets of MQTTCodecTests, and compares each error with the expected error.
enum MalformedPackets {
    static func decode(into report: inout Report) {
        for row in MalformedPacket.table {
            let bytes = bytes(row.hex)
            do throws(DecodeError) {
                if case .frame(let frame) = try row.decoder.nextFrame(in: bytes.span.bytes) {
                    _ = try row.decoder.packet(frame, in: bytes.span.bytes)
                }
                report.fail("\(row.name): the packet is accepted")
            } catch {
                report.line("\(row.name): \(error), reason code \(error.reasonCode.rawValue)")
                if error.violation == row.violation, error.field == row.field, error.offset == row.offset,
                    error.reasonCode == row.answer
                {
                    report.refusedCount += 1
                } else {
                    report.fail("\(row.name): the error differs from the table")
                }
            }
        }
    }
}
