import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierSQLite

/// Simulates the files after a power cut at every moment of a recorded run: with the synced writes only, with some of
/// the other writes, and with all writes.
@Suite struct PowerCutTests {
    /// The unsynced writes that have reached the disk.
    private enum Luck: CaseIterable {
        case nothing
        case someSectors
        case everything
    }

    /// The synced contents of a disk, and the writes that are not synced yet.
    private struct Image {
        var synced: [String: [UInt8]] = [:]
        var unsynced: [String: [FaultyDisk.Step]] = [:]

        mutating func apply(_ step: FaultyDisk.Step) {
            switch step {
            case .write(let path, _, _), .truncate(let path, _): unsynced[path, default: []].append(step)
            case .sync(let path):
                for step in unsynced[path] ?? [] { Self.apply(step, to: &synced[path, default: []]) }
                unsynced[path] = nil
            case .delete(let path):
                synced[path] = nil
                unsynced[path] = nil
            case .note: break
            }
        }

        /// The files after a power cut.
        func files(_ luck: Luck, _ random: inout SeededGenerator) -> [String: [UInt8]] {
            var files = synced
            for (path, steps) in unsynced {
                for step in steps {
                    switch luck {
                    case .nothing: break
                    case .everything: Self.apply(step, to: &files[path, default: []])
                    case .someSectors:
                        for part in Self.sectors(of: step) where Bool.random(using: &random) {
                            Self.apply(part, to: &files[path, default: []])
                        }
                    }
                }
            }
            return files
        }

        private static func sectors(of step: FaultyDisk.Step) -> [FaultyDisk.Step] {
            guard case .write(let path, let offset, let bytes) = step else { return [step] }
            return stride(from: 0, to: bytes.count, by: 512).map { start in
                .write(path: path, offset: offset + start, bytes: Array(bytes[start..<min(start + 512, bytes.count)]))
            }
        }

        private static func apply(_ step: FaultyDisk.Step, to file: inout [UInt8]) {
            switch step {
            case .write(_, let offset, let bytes):
                let end = offset + bytes.count
                if file.count < end { file += [UInt8](repeating: 0, count: end - file.count) }
                file.replaceSubrange(offset..<end, with: bytes)
            case .truncate(_, let size):
                if size < file.count { file.removeSubrange(size...) }
            case .sync, .delete, .note: break
            }
        }
    }

    /// Many of these batches use pages and free them again, so that the log is moved more than once. Some batches only
    /// remove rows, and are repeatable.
    private static let batches: [[StoreChange]] = (1...36 as ClosedRange<UInt64>).map { number in
        if isRepeatable(number) {
            return [.removeOutgoing(id(number - 1)), .progress(id(number - 2), .sent(packetID: 7))]
        }
        var batch: [StoreChange] = [.enqueue(message(number, bytes: Int(number % 7) * 700)), .keep(message(number))]
        if number > 4 { batch.append(.removeOutgoing(id(number - 4))) }
        if number.isMultiple(of: 5) { batch.append(.rememberPacketID(UInt16(number))) }
        if number.isMultiple(of: 9) { batch.append(.removeAll) }
        return batch
    }

    private static func isRepeatable(_ number: UInt64) -> Bool { number % 6 == 4 }

    /// Commits all batches in groups of one to three. Records the disk calls and the completions in their order.
    private func record(in folder: TemporaryFolder) async throws -> [FaultyDisk.Step] {
        let disk = FaultyDisk()
        disk.record()
        let store = try SQLiteMessageStore(
            at: folder.file, durability: .full, limits: SQLiteMessageStore.Limits(logBytes: 40_000),
            system: disk.name)
        var next = 0
        while next < Self.batches.count {
            let group = next..<min(next + 1 + next % 3, Self.batches.count)
            await withCheckedContinuation { continuation in
                let waiting = Collector(count: group.count) { _ in continuation.resume() }
                for number in group {
                    if Self.isRepeatable(UInt64(number + 1)) {
                        store.commitRepeatable(Self.batches[number], in: .client) { waiting.add(number, $0) }
                    } else {
                        store.commit(Self.batches[number], in: .client) { result in
                            if case .success = result { disk.note(.note(number + 1)) }
                            waiting.add(number, result)
                        }
                    }
                }
            }
            next = group.upperBound
        }
        await store.close()
        return disk.steps
    }

    @Test func `after a power cut at any step, the store opens with all completed batches`() async throws {
        let recorded = try TemporaryFolder()
        let steps = try await record(in: recorded)
        var models = [StoreModel()]
        for batch in Self.batches {
            var model = models[models.count - 1]
            model.apply(batch)
            models.append(model)
        }
        var image = Image()
        var random = SeededGenerator(seed: 7)
        var (completed, cuts, moves) = (0, 0, 0)
        let mainFile = recorded.file.resolvingSymlinksInPath().path
        for step in steps {
            var isCut = false
            switch step {
            case .note(let number): completed = max(completed, number)
            case .sync(let path):
                isCut = true
                if path == mainFile { moves += 1 }
            case .delete, .truncate: isCut = true
            case .write: isCut = Int.random(in: 0..<8, using: &random) == 0
            }
            // The power is cut before the step. The writes since the last sync may be lost.
            if isCut {
                for luck in Luck.allCases {
                    cuts += 1
                    let files = image.files(luck, &random)
                    try await check(files, of: mainFile, completed, models, "\(luck) at cut \(cuts)")
                }
            }
            image.apply(step)
        }
        #expect(completed == Self.batches.count)
        #expect(moves > 3, "the log was moved \(moves) times only")
        #expect(cuts > 200)
    }

    @Test(arguments: SQLiteMessageStore.Durability.allCases)
    func `commitRepeatable() never syncs the file, and the next commit() syncs only with full durability`(
        durability: SQLiteMessageStore.Durability
    ) async throws {
        let folder = try TemporaryFolder()
        let disk = FaultyDisk()
        let store = try SQLiteMessageStore(at: folder.file, durability: durability, limits: .default, system: disk.name)
        try await store.commit(.enqueue(message(1)))
        try await store.commit(.enqueue(message(2)))
        disk.record()
        func syncs() -> Int { disk.steps.count { if case .sync = $0 { true } else { false } } }
        for number in 1...2 as ClosedRange<UInt64> {
            try await withCheckedThrowingContinuation { continuation in
                store.commitRepeatable([.removeOutgoing(id(number))], in: .client) { continuation.resume(with: $0) }
            }
        }
        #expect(disk.steps.count > 0)
        #expect(syncs() == 0)
        try await store.commit(.enqueue(message(3)))
        #expect(syncs() == (durability == .full ? 1 : 0))
        #expect(try await store.outgoingIDs() == [3])
        await store.close()
    }

    private func check(
        _ files: [String: [UInt8]], of mainFile: String, _ completed: Int, _ models: [StoreModel], _ place: String
    ) async throws {
        let folder = try TemporaryFolder()
        for (path, bytes) in files where path.hasPrefix(mainFile) && !path.hasSuffix(".lock") {
            try write(bytes, to: folder.file.path + path.dropFirst(mainFile.count))
        }
        let store = try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: .default, system: FaultyDisk.quick.name)
        #expect(store.recovery == nil, "\(place): damaged: \(String(describing: store.recovery?.error))")
        let found = try await store.contents()
        let prefix = models[completed...].firstIndex { $0.contents() == found }
        #expect(prefix != nil, "\(place): not a prefix of at least \(completed) batches")
        await store.close()
    }
}
