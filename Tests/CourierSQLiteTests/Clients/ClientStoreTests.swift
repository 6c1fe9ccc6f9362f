import CourierCore
import Foundation
import Synchronization
import Testing

@testable import CourierSQLite

/// Several clients of this process use the same file, one after the other.
@Suite(.timeLimit(.minutes(1))) struct ClientStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open() throws(CourierError) -> ClientStore {
        try ClientStore(at: folder.file, of: "ada") { _ in }
    }

    private func store(_ number: UInt64, in store: ClientStore) async throws {
        try await withCheckedThrowingContinuation { continuation in
            store.commit([.enqueue(message(number))], in: .client) { continuation.resume(with: $0) }
        }
    }

    private func expectInUse(sourceLocation: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: CourierError.self, sourceLocation: sourceLocation) { try open() }
        #expect(error?.code == .storeInUse, sourceLocation: sourceLocation)
        for word in ["\"ada\"", folder.file.path, "End that client"] {
            #expect(error?.message.contains(word) == true, sourceLocation: sourceLocation)
        }
    }

    @Test func `a second client gets storeInUse while the first client uses the file, even through a link`() throws {
        let first = try open()
        expectInUse()
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        #expect(throws: CourierError.self) {
            try ClientStore(at: link.appendingPathComponent(folder.file.lastPathComponent), of: "ada") { _ in }
        }
        withExtendedLifetime(first) {}
    }

    @Test func `a client gets storeInUse while the app's own store object has the file open`() async throws {
        let other = try SQLiteMessageStore(at: folder.file)
        expectInUse()
        await other.close()
        _ = try open()
    }

    @Test func `after release(), the next client opens the file at once but waits for the previous client's writes`()
        async throws
    {
        var first: ClientStore? = try open()
        try await store(1, in: #require(first))
        first?.release()
        let second = try open()
        expectInUse()
        let summary = Task { try await second.summary(of: .client) }
        try await store(2, in: #require(first))
        first = nil
        #expect(try await summary.value.outgoingCount == 2)
        expectInUse()
    }

    @Test func `changes by a new client are stored only after the last changes by the previous client`() async throws {
        var first: ClientStore? = try open()
        try await store(1, in: #require(first))
        first?.release()
        let second = try open()
        let ends = Mutex<[UInt64]>([])
        second.commit([.removeAll], in: .client) { _ in ends.withLock { $0.append(0) } }
        for number in 10...20 as ClosedRange<UInt64> {
            second.commit([.enqueue(message(number))], in: .client) { _ in ends.withLock { $0.append(number) } }
        }
        try await store(2, in: #require(first))
        #expect(ends.withLock { $0 }.isEmpty)
        first = nil
        try await store(21, in: second)
        #expect(ends.withLock { $0 } == [0] + Array(10...20))
        let rest = try await second.outgoing(in: .client, after: nil, limit: 100).map(\.message.id.rawValue)
        #expect(rest == Array(10...21))
    }

    @Test func `a client refused with storeInUse does not lock the file`() throws {
        let first = try open()
        for _ in 1...2 { expectInUse() }
        first.release()
        withExtendedLifetime(try open()) {}
    }

    @Test func `a new client waits briefly until the first client is released`() throws {
        let first = try open()
        Thread.detachNewThread { first.release() }
        withExtendedLifetime(try open()) {}
    }

    @Test func `a client that is deallocated without release() unlocks the file`() async throws {
        var first: ClientStore? = try open()
        try await store(1, in: #require(first))
        first = nil
        let second = try open()
        #expect(try await second.summary(of: .client).outgoingCount == 1)
    }

    @Test func `after finish(), a client can still store changes, and the next client does not wait`() async throws {
        let first = try open()
        try await store(1, in: first)
        first.finish()
        first.finish()
        let second = try open()
        #expect(try await second.summary(of: .client).outgoingCount == 1)
        expectInUse()
        try await store(2, in: first)
        #expect(try await second.summary(of: .client).outgoingCount == 2)
    }

    @Test func `SQLiteMessageStore can open the file after all clients are deallocated`() async throws {
        for number in 1...20 as ClosedRange<UInt64> {
            let client = try open()
            try await store(number, in: client)
        }
        let store = try SQLiteMessageStore(at: folder.file)
        #expect(try await store.summary(of: .client).outgoingCount == 20)
        await store.close()
    }

    @Test func `messages in an old store file are reported only if no client has the file open`() async throws {
        #expect(LeftBehind(folder.file) == nil)
        do {
            let client = try open()
            #expect(LeftBehind(folder.file) == nil)
            try await store(1, in: client)
            #expect(StoreLock.isHeld(folder.file.path + ".lock"))
            #expect(LeftBehind(folder.file) == nil)
        }
        let store = try SQLiteMessageStore(at: folder.file)
        await store.close()
        #expect(!StoreLock.isHeld(folder.file.path + ".lock"))
        let left = try #require(LeftBehind(folder.file))
        #expect(left.clientIDs == ["client"] && left.messageCount == 1)
        try write(Array("no store".utf8), to: folder.file.path)
        #expect(LeftBehind(folder.file) == nil)
    }

    @Test func `checking the lock of a store file never prevents a store from opening the file`() async throws {
        let store = try SQLiteMessageStore(at: folder.file)
        await store.close()
        for _ in 1...50 {
            let isHeld = Task.detached { [path = folder.file.path] in StoreLock.isHeld(path + ".lock") }
            let store = try SQLiteMessageStore(at: folder.file)
            _ = await isHeld.value
            await store.close()
        }
    }
}
