import CourierCore
import Dispatch

/// Detects that a client makes no further connection attempts, and reports the reason.
///
/// After a final error, the client may still continue with another server. Only the client's method `connected()` shows
/// whether the client has stopped.
///
/// Safe to share: mutable state is used only on the connection's queue.
final class ClientStop: @unchecked Sendable {
    private let connection: CommandConnection
    private let stopped: @Sendable (ConnectionProblem) -> Void
    /// The last final error since the client was last connected; `nil` if there is none.
    private var problem: ConnectionProblem?

    /// Watches the client of a connection. `stopped` is called once on the connection's queue, when the client has
    /// stopped.
    init(_ connection: CommandConnection, stopped: @escaping @Sendable (ConnectionProblem) -> Void) {
        self.connection = connection
        self.stopped = stopped
    }

    /// Records that a connection was opened.
    func connected() { problem = nil }

    /// Records a final error. The client continues if it has another server.
    func failed(_ problem: ConnectionProblem) {
        let isAwaited = self.problem != nil
        self.problem = problem
        guard !isAwaited else { return }
        Task { [self] in
            do {
                try await connection.client.connected()
            } catch {
                connection.queue.async { [self] in
                    if let problem = self.problem { stopped(problem) }
                }
            }
        }
    }
}
