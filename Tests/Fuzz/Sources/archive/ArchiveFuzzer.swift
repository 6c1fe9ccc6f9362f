import CourierCore
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation
import FuzzSupport

/// Opens a damaged archive of recorded packets, for reading and for writing.
///
/// The input says which bytes of a correct archive are changed. Reading returns rows or throws a `CourierError` for a
/// damaged or newer file, and leaves the file unchanged. Opening for writing replaces a damaged file. After that, new
/// rows can be written and read, unless the file was damaged after its rows were checked.
func check(_ input: InputReader) {
    let path = WorkFolder.emptied(for: "packets.archive")
    let bytes = Edits.apply(input, to: correctFile)
    WorkFolder.write(bytes, to: path)
    let url = URL(fileURLWithPath: path)
    let isCorrect = bytes == correctFile
    do {
        let logger = try MQTTChuckArchive.logger(of: url, options: options)
        demand(!isCorrect || logger.summary.rowCount == rowCount + (Plant.isPlanted ? 1 : 0), "each row is read")
        _ = logger.exported(.jsonLines)
        _ = logger.recordedSessions()
    } catch {
        demand(!isCorrect, "a correct file is read")
        demandSentence(error)
    }
    demand(WorkFolder.read(path) == bytes, "reading leaves the file unchanged")
    checkWriting(url)
}

private let rowCount = 12

/// An archive of some packets of two connections.
private let correctFile: [UInt8] = {
    let path = WorkFolder.emptied(for: "correct.archive")
    let logger = recorded()
    waiting {
        do {
            let archive = try MQTTChuckArchive(of: logger, at: URL(fileURLWithPath: path), retention: .init(age: nil))
            try await archive.flush()
            await archive.close()
        } catch {
            fatalError("the archive is written: \(error)")
        }
    }
    return WorkFolder.read(path)
}()

/// Options that keep old rows.
private let options: MQTTChuckOptions = {
    var options = MQTTChuckOptions()
    options.logsMaxAge = nil
    return options
}()

private func recorded() -> MQTTChuckLogger {
    let logger = MQTTChuckLogger(options: options)
    let start = ContinuousClock.now
    for (id, version) in [(UInt64(1), ObservedConnection.ProtocolVersion.v311), (2, .v5)] {
        let connection = ObservedConnection(
            id: id, options: ConnectOptions(host: "broker", port: 1_883, clientId: "c", username: "", password: ""),
            protocolVersion: version, openedAt: Date(timeIntervalSince1970: 1_700_000_000), openedInstant: start)
        let isNew = version == .v5
        // CONNECT, CONNACK, PUBLISH with packet id 7, PUBACK, PINGREQ, PINGRESP.
        let packets: [[UInt8]] = [
            [0x10, isNew ? 14 : 13, 0, 4, 0x4D, 0x51, 0x54, 0x54, isNew ? 5 : 4, 2, 0, 60] + (isNew ? [0] : []) + [
                0, 1, 0x63,
            ],
            isNew ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0],
            isNew ? [0x32, 9, 0, 1, 0x61, 0, 7, 3, 0x23, 0, 1] : [0x32, 7, 0, 1, 0x61, 0, 7, 0x68, 0x69],
            [0x40, 2, 0, 7], [0xC0, 0], [0xD0, 0],
        ]
        for (index, packet) in packets.enumerated() {
            logger.observed(
                PacketBatch(
                    direction: index.isMultiple(of: 2) ? .outgoing : .incoming, bytes: packet, time: start,
                    connection: connection))
        }
    }
    return logger
}

private func checkWriting(_ url: URL) {
    let written = waiting { () -> Bool in
        do {
            let archive = try MQTTChuckArchive(of: recorded(), at: url, retention: .init(age: nil))
            let flushed: Result<Void, any Error>
            do { flushed = .success(try await archive.flush()) } catch { flushed = .failure(error) }
            await archive.close()
            if let quarantined = archive.status.quarantinedFile {
                demand(quarantined.error.code == .storeDamaged, "only a damaged file is replaced: \(quarantined.error)")
            }
            try flushed.get()
            return true
        } catch {
            demandSentence(error)
            demand((error as? CourierError)?.code != .storeDamaged, "a damaged file is replaced: \(error)")
            return false
        }
    }
    guard written else { return }
    // Rows of an undamaged file may be unreadable, which reading reports.
    do {
        let logger = try MQTTChuckArchive.logger(of: url, options: options)
        demand(logger.summary.rowCount >= rowCount, "the new rows are read")
    } catch {
        demandSentence(error)
    }
}

private func demandSentence(_ error: any Error) {
    guard let error = error as? CourierError else { fatalError("another error: \(error)") }
    demand([.storeDamaged, .storeFailed, .storeFull].contains(error.code), "the code is that of a file: \(error)")
    demand(error.message.hasSuffix("."), "an error is a sentence: \(error.message)")
}
