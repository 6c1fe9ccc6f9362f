import Foundation
import FuzzSupport

@testable import CourierCore
@testable import CourierMQTTChuck
@testable import CourierTesting

/// Feeds one input to the reader of recordings, as a JSON Lines file or as the bytes of recorded packets.
///
/// An error names a line of the file, and the lines before it can be read. An exported recording must be read with the
/// same rows, and its export must have the same bytes. The memory of the rows must stay within its limit. A recording
/// contains no password.
func check(_ input: InputReader) {
    var input = input
    let choice = input.byte()
    if choice & 1 == 0 {
        checkFile(input.text())
    } else {
        checkPackets(Array(input.rest), choice)
    }
}

/// The limit of the memory for rows. The recordings of some inputs are larger, so that rows are dropped.
private let byteLimit = 4 << 10

private func logger(byteLimit: Int = byteLimit) -> MQTTChuckLogger {
    var options = MQTTChuckOptions()
    options.logsMaxAge = nil
    options.logsMaxBytes = byteLimit
    options.packetMaxSize = 256
    options.previewMaxSize = 64
    return MQTTChuckLogger(options: options) { 1_700_000_000_000_000_000 }
}

private func checkFile(_ text: String) {
    let (first, data) = (logger(), Data(text.utf8))
    let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    do {
        let count = try first.importJSONLines(data)
        demand(count <= Int(first.summary.recordedCount), "each packet of the file has a row")
    } catch {
        guard let problem = error as? MQTTChuckImportError else { fatalError("another error: \(error)") }
        demand((1...lines.count).contains(problem.line), "an error names a line: \(problem)")
        demand(!problem.message.isEmpty, "an error has a sentence")
        let second = logger()
        let count = try? second.importJSONLines(
            Data(lines[..<(problem.line - 1)].joined(separator: [UInt8(ascii: "\n")])))
        demand(count != nil, "the lines before the error can be read")
        demand(second.summary == first.summary, "the lines before the error give the same rows")
    }
    checkExport(of: first)
}

private func checkPackets(_ bytes: [UInt8], _ choice: UInt8) {
    let versions: [ObservedConnection.ProtocolVersion] = [.v31, .v311, .v5]
    let start = ContinuousClock.now
    let connection = ObservedConnection(
        id: 7, options: ConnectOptions(host: "broker", port: 1_883, clientId: "fuzz", username: "", password: ""),
        protocolVersion: versions[Int(choice >> 1) % 3], openedAt: Date(timeIntervalSince1970: 1_700_000_000),
        openedInstant: start)
    let logger = logger()
    logger.observed(
        PacketBatch(
            direction: choice & 0x80 == 0 ? .outgoing : .incoming, bytes: bytes, time: start, connection: connection))
    checkExport(of: logger)
}

private func checkExport(of first: MQTTChuckLogger) {
    demand(first.summary.byteCount <= 2 * byteLimit, "the memory of the rows is limited: \(first.summary.byteCount)")
    let exported = first.exported(.jsonLines)
    let second = logger(byteLimit: 1 << 20)
    do {
        let count = try second.importJSONLines(Plant.isPlanted ? exported.dropLast(2) : exported)
        demand(count == first.summary.rowCount, "each exported row is read")
    } catch {
        fatalError("broken property: an exported recording can be read: \(error)")
    }
    demand(second.exported(.jsonLines) == exported, "a recording that was read is exported as the same bytes")
    for format in [MQTTChuckExportFormat.text, .pcapng] { _ = first.exported(format) }
    for session in first.recordedSessions() {
        demand(
            session.steps(.outgoing).count + session.steps(.incoming).count == session.steps.count, "each step is kept")
        let traffic = RecordedTraffic(session.steps.map { ($0.direction, $0.delay, $0.bytes) })
        demand(traffic.steps.count <= session.steps.count, "a replay has no further steps")
        _ = session.replacingCredentials(username: "ada", password: Secret.text)
    }
    for row in first.rows().rows {
        guard let details = first.details(of: row.number) else { fatalError("row \(row.number) has no details") }
        demand(details.payload.upperBound <= details.bytes.count, "a payload is inside its packet")
    }
}
