import Foundation
import Synchronization

extension MQTTChuckLogger {
    /// Returns the packets of up to `limit` rows from a row number on, oldest first, to be written to a file.
    ///
    /// The call holds the logger's lock for some tens of microseconds at most.
    package func records(from first: UInt64, limit: Int = 256) -> [PacketRecord] {
        rawRows(from: first, limit: min(limit, Self.chunk)).map { PacketRecord($0) }
    }

    /// Calls `call` once, when the logger gets a row with this number or a later number, or is cleared. If such a row
    /// exists already, `call` runs at once. Each waiter number has at most one waiting closure: a new closure replaces
    /// the earlier one.
    ///
    /// `call` usually runs on the event loop of the client that recorded the packets, so it must be short.
    package func whenThereIs(row: UInt64, for waiter: UInt64, _ call: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            if state.recorder.nextRow > row { return true }
            state.wait(waiter, call)
            return false
        }
        if isThere { call() }
    }

    /// Returns a new waiter number for ``whenThereIs(row:for:_:)``.
    package func newWaiter() -> UInt64 { state.withLock { $0.newWaiterID() } }

    /// Removes a waiter, so that its closure is no longer called.
    package func removeWaiter(_ waiter: UInt64) { _ = state.withLock { $0.removeWaiter(waiter) } }
}

extension MQTTChuckConnection {
    /// The connection as one line of JSON, without secrets.
    package var line: String {
        let encoder = RecordedConnectionLine.encoder
        // Encoding strings and numbers cannot fail.
        return (try? encoder.encode(RecordedConnectionLine(self))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Parses a line of JSON into a connection, and gives the connection the id `id`. Returns `nil` if the line is not
    /// valid.
    package static func from(line: String, id: UInt64) -> MQTTChuckConnection? {
        RecordedConnectionLine.decoded(line)?.value?.withID(id)
    }

    /// Returns a copy of the connection with another id.
    func withID(_ id: UInt64) -> MQTTChuckConnection {
        MQTTChuckConnection(
            id: id, ordinal: ordinal, clientID: clientID, host: host, port: port, scheme: scheme, alpn: alpn,
            protocolVersion: protocolVersion, openedNanoseconds: openedNanoseconds)
    }
}
