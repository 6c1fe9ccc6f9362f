import FuzzSupport

@testable import CourierTransport

/// Feeds one input to the parser of DNS answers, or of netlink messages.
///
/// A cut answer is malformed or has fewer records. Records that are written as an answer must be read as the same
/// records. The messages of a cut datagram must be the first messages of the datagram.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    let bytes = Array(input.rest)
    if choice & 0x80 != 0 { checkNetlink(bytes, cut: Int(choice)) } else { checkAnswer(bytes, cut: Int(choice)) }
}

// MARK: DNS

private func checkAnswer(_ bytes: [UInt8], cut: Int) {
    guard let records = ServiceRecordAnswer.records(in: bytes.span.bytes) else { return }
    demand(records.count <= ServiceRecordAnswer.recordLimit, "the number of records is limited")
    for record in records {
        demand(record.target.utf8.count <= 253, "a name has at most 253 bytes: \(record)")
        demand(
            record.target.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) },
            "a name has only characters of host names: \(record)")
    }
    let shorter = bytes.dropLast(min(cut + 1, bytes.count))
    if let fewer = ServiceRecordAnswer.records(in: shorter.span.bytes) {
        var rest = records[...]
        for record in fewer {
            guard let index = rest.firstIndex(of: record) else {
                fatalError("a cut answer has another record: \(record)")
            }
            rest = rest[(index + 1)...]
        }
    }
    // A name whose pointers repeat labels may have an empty label when it is written, so such records are left out.
    let usable = records.filter { !$0.target.split(separator: ".", omittingEmptySubsequences: false).contains("") }
    let again = ServiceRecordAnswer.records(in: answer(usable).span.bytes)
    demand(again == usable, "a written answer has the same records: \(usable) \(String(describing: again))")
}

/// Writes an answer with one question and these records, without pointers.
private func answer(_ records: [ServiceRecord]) -> [UInt8] {
    func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }
    func number(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
    var bytes: [UInt8] = [0, 1, 0x80, 0] + number(1) + number(UInt16(records.count)) + [0, 0, 0, 0]
    bytes += name("_mqtt._tcp.example") + number(33) + number(1)
    for record in records {
        let target = name(record.target)
        bytes += [0] + number(33) + number(1) + [0, 0, 0, 60] + number(UInt16(6 + target.count))
        bytes += number(record.priority) + number(record.weight) + number(record.port) + target
    }
    return Plant.isPlanted ? bytes.dropLast() : bytes
}

// MARK: Netlink

private func messages(_ bytes: [UInt8], limit: Int = .max) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    NetlinkMessage.parse(bytes.span.bytes) { message in
        messages.append(message)
        return messages.count < limit
    }
    return messages
}

private func checkNetlink(_ bytes: [UInt8], cut: Int) {
    let all = messages(bytes)
    // A header has 16 bytes. A message may also be reported as interrupted.
    demand(all.count <= bytes.count / 16 * 2, "each message has a header: \(all.count) of \(bytes.count) bytes")
    let fewer = messages(bytes.dropLast(min(cut & 0x7F + 1, bytes.count)))
    demand(all.starts(with: fewer), "a cut datagram has the first messages: \(all) \(fewer)")
    for limit in 1..<max(2, min(all.count, 8)) {
        demand(messages(bytes, limit: limit) == Array(all.prefix(limit)), "the parser stops on request")
    }
}
