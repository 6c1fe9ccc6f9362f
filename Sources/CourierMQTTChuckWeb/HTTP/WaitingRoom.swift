import CMicroHTTPD
import Synchronization

/// Where connections wait that have nothing to send, without a thread.
///
/// A waiting connection must be woken before the server stops, so once the room is closed nobody gets in.
final class WaitingRoom: Sendable {
    /// One connection of the server.
    ///
    /// Safe to send: the pointer is only given to functions that libmicrohttpd allows on any thread, and only while
    /// the connection is in the room, which it cannot leave by itself.
    struct Seat: Hashable, @unchecked Sendable {
        fileprivate let connection: OpaquePointer
        init(_ connection: OpaquePointer) { self.connection = connection }
    }

    private struct State {
        var taken: Set<Seat> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Lets a connection wait, unless what it waits for is there. Called on the server's thread.
    ///
    /// Suspending and resuming happen under the lock, so that nothing can come between looking and sitting down; they
    /// only take a lock of the library and call nobody.
    ///
    /// - Returns: Whether the connection waits now; not when the room is closed or `isReady` holds.
    func wait(_ seat: Seat, unless isReady: () -> Bool) -> Bool {
        state.withLock { state in
            if state.isClosed || isReady() { return false }
            if state.taken.insert(seat).inserted { MHD_suspend_connection(seat.connection) }
            return true
        }
    }

    /// Lets a connection continue, if it waits.
    func wake(_ seat: Seat) {
        state.withLock { state in
            if state.taken.remove(seat) != nil { MHD_resume_connection(seat.connection) }
        }
    }

    /// Lets all continue and nobody in any more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            for seat in state.taken { MHD_resume_connection(seat.connection) }
            state.taken = []
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
