import FuzzSupport

@testable import CourierCore
@testable import CourierTesting
@testable import MQTTCodec

/// Feeds one input to the parts of FaultProxy that read packets, or to the parser of its rules.
///
/// Bytes in pieces must give the same packets as all bytes at once, and no byte may be lost. A rule that is written as a
/// sentence must be read as the same rule. An error names a column of the sentence.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    if choice & 0x80 != 0 { checkRule(input.text()) } else { checkPackets(Array(input.rest), choice) }
}

// MARK: Packets

/// A packet, or the beginning of a packet that is too large to be held.
private struct CutPacket: Equatable {
    var type: PacketType?
    var size = 0
    var bytes: [UInt8] = []
    var facts: PacketFacts?
}

private struct Outcome: Equatable {
    var packets: [CutPacket] = []
    var isMalformed = false
    /// The bytes of the last packet, if it is not complete.
    var rest: [UInt8] = []
}

private func checkPackets(_ bytes: [UInt8], _ choice: UInt8) {
    let sender: Endpoint = choice & 1 == 0 ? .client : .server
    let version = ProtocolVersion.allCases[Int(choice >> 1) % ProtocolVersion.allCases.count]
    let split = Int(choice) % (bytes.count + 1)
    let whole = outcome(of: [bytes], sender, version)
    let halves = outcome(
        of: [Array(bytes[..<split]), Array(bytes[split...].dropLast(Plant.isPlanted ? 1 : 0))], sender, version)
    let single = outcome(of: bytes.map { [$0] }, sender, version)
    demand(whole == halves, "two pieces give the same packets: \(whole) \(halves)")
    demand(whole == single, "single bytes give the same packets: \(whole) \(single)")
    let count = whole.packets.reduce(whole.rest.count) { $0 + $1.bytes.count }
    if !whole.isMalformed { demand(count == bytes.count, "no byte is lost: \(whole)") }
    for packet in whole.packets where packet.type == .connect { _ = PacketFactsReader.version(ofConnect: packet.bytes) }
}

private func outcome(of pieces: [[UInt8]], _ sender: Endpoint, _ version: ProtocolVersion) -> Outcome {
    var cutter = PacketCutter(heldSize: 64)
    var reader = PacketFactsReader(sender: sender)
    reader.version = version
    var outcome = Outcome()
    for piece in pieces {
        var waiting = outcome.rest + piece
        outcome.rest = []
        var offset = 0
        cutting: while true {
            switch cutter.next(in: waiting.span.bytes, at: offset) {
            case .needsMore: break cutting
            case .malformedLength:
                outcome.isMalformed = true
                return outcome
            case .piece(let piece):
                demand(piece.range.lowerBound == offset && piece.range.upperBound <= waiting.count, "a piece is next")
                let bytes = Array(waiting[piece.range])
                if piece.isFirst {
                    outcome.packets.append(CutPacket(type: piece.type, size: piece.packetSize))
                    outcome.packets[outcome.packets.count - 1].facts = reader.facts(
                        piece.type, bytes, isWhole: piece.isWhole)
                }
                outcome.packets[outcome.packets.count - 1].bytes += bytes
                offset = piece.range.upperBound
            }
        }
        waiting.removeFirst(offset)
        outcome.rest = waiting
    }
    return outcome
}

// MARK: Rules

private func checkRule(_ text: String) {
    do {
        let rule = try FaultRule(text)
        let again = try? FaultRule(rule.description)
        demand(again == rule, "a written rule is read as the same rule: \(rule) \(again.debugDescription)")
    } catch {
        demand((1...text.count + 1).contains(error.column), "an error names a column: \(error)")
        demand(!error.message.isEmpty, "an error has a sentence")
    }
}
