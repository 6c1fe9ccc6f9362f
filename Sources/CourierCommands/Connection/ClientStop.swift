import CourierCore
import Dispatch

/// Learns that a client tries no more, and why.
///
/// After an error that is final a client that has another server to try continues all the same, and only it knows.
///
/// Safe to share: everything that changes is touched on the connection's queue only.
final class ClientStop: @unchecked Sendable {
    private let connection: CommandConnection
    private let stopped: @Sendable (ConnectionProblem) -> Void
    /// The last final one since there was a connection.
    private var problem: ConnectionProblem?

    /// Watches the client of a connection; `stopped` is called on its queue, once.
    init(_ connection: CommandConnection, stopped: @escaping @Sendable (ConnectionProblem) -> Void) {
        self.connection = connection
        self.stopped = stopped
    }

    /// There is a connection.
    func connected() { problem = nil }

    /// A connection ended by an error that is final, unless there is another server.
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
