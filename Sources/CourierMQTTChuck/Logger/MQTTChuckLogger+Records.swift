import Foundation
import Synchronization

extension MQTTChuckLogger {
    /// The packets of up to `limit` rows from a number on, oldest first, for whoever writes them elsewhere.
    ///
    /// It takes the lock for some tens of microseconds at most.
    package func records(from first: UInt64, limit: Int = 256) -> [PacketRecord] {
        rawRows(from: first, limit: min(limit, Self.chunk)).map { PacketRecord($0) }
    }

    /// Calls `call` once when there is a row with this number or a later one, at once if there is, or when the logger is
    /// cleared; a later call by the same `waiter` takes the place of an earlier one that still waits.
    ///
    /// Usually on the loop of the client whose packets came, so it must be short.
    package func whenThereIs(row: UInt64, for waiter: UInt64, _ call: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            if state.recorder.nextRow > row { return true }
            state.wait(waiter, call)
            return false
        }
        if isThere { call() }
    }

    /// A number for ``whenThereIs(row:for:_:)``.
    package func newWaiter() -> UInt64 { state.withLock { $0.newWaiterID() } }

    /// The waiter is not called any more.
    package func removeWaiter(_ waiter: UInt64) { _ = state.withLock { $0.removeWaiter(waiter) } }
}

extension MQTTChuckConnection {
    /// The connection as a line of text, which has no secret.
    package var line: String {
        let encoder = RecordedConnectionLine.encoder
        // Strings and numbers: nothing can fail.
        return (try? encoder.encode(RecordedConnectionLine(self))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The connection of a line under another id; `nil` where the line makes no sense.
    package static func from(line: String, id: UInt64) -> MQTTChuckConnection? {
        RecordedConnectionLine.decoded(line)?.value?.withID(id)
    }

    /// The same with another id.
    func withID(_ id: UInt64) -> MQTTChuckConnection {
        MQTTChuckConnection(
            id: id, ordinal: ordinal, clientID: clientID, host: host, port: port, scheme: scheme, alpn: alpn,
            protocolVersion: protocolVersion, openedNanoseconds: openedNanoseconds)
    }
}
