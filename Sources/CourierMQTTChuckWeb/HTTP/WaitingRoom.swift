import CMicroHTTPD
import Synchronization

/// The connections to clients that are suspended because there is nothing to send. A waiting connection needs no
/// thread.
///
/// Every waiting connection must be resumed before the server stops. So after `close()`, no connection can start to
/// wait.
final class WaitingRoom: Sendable {
    /// A connection of the server that can wait in the room.
    ///
    /// Safe to send to another thread: the pointer is passed only to functions that libmicrohttpd allows on any thread,
    /// and only while the connection waits in the room. The connection stays in the room until it is resumed.
    struct Seat: Hashable, @unchecked Sendable {
        fileprivate let connection: OpaquePointer
        init(_ connection: OpaquePointer) { self.connection = connection }
    }

    private struct State {
        var taken: Set<Seat> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Suspends a connection, unless `isReady` returns true. Called on the server's thread.
    ///
    /// Suspending and resuming happen under the lock, so that no change is missed between the check and the suspension.
    /// The library functions for suspending and resuming only take a lock of the library, and call no other code.
    ///
    /// - Returns: True if the connection waits now; false if the room is closed or `isReady` returned true.
    func wait(_ seat: Seat, unless isReady: () -> Bool) -> Bool {
        state.withLock { state in
            if state.isClosed || isReady() { return false }
            if state.taken.insert(seat).inserted { MHD_suspend_connection(seat.connection) }
            return true
        }
    }

    /// Resumes a connection if it waits.
    func wake(_ seat: Seat) {
        state.withLock { state in
            if state.taken.remove(seat) != nil { MHD_resume_connection(seat.connection) }
        }
    }

    /// Resumes all waiting connections. After this call, no connection can start to wait.
    func close() {
        state.withLock { state in
            state.isClosed = true
            for seat in state.taken { MHD_resume_connection(seat.connection) }
            state.taken = []
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
