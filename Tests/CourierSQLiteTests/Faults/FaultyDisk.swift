import CSQLite
import Foundation
import Synchronization

/// An SQLite VFS that calls the usual VFS. It can let chosen calls fail, and record all changes of files.
///
/// It stays registered for the life of the process; each disk has a name of its own.
final class FaultyDisk: Sendable {
    /// A call that can fail.
    enum Call: Hashable, CaseIterable {
        case open
        case write
        case truncate
        case sync
        case delete
        case shareMemory
    }

    /// The calls that fail, and how they fail.
    struct Plan {
        /// The first call that fails, counted from 1.
        var first: Int
        /// The number of calls in a row that fail.
        var count = 1
        /// True if writes fail because the disk is full. Otherwise, they fail because the disk is broken.
        var isFull = false
        var calls = Set(Call.allCases)
    }

    /// One recorded change of the files.
    enum Step {
        case write(path: String, offset: Int, bytes: [UInt8])
        case truncate(path: String, size: Int)
        case sync(path: String)
        case delete(path: String)
        /// A number that the test recorded.
        case note(Int)
    }

    private struct State {
        var plan: Plan?
        var calls = 0
        var failures = 0
        var steps: [Step]?
    }

    let name = "faulty-\(UUID().uuidString)"
    private let state = Mutex(State())

    init() {
        guard let base = sqlite3_vfs_find(nil) else { return }
        FaultyVFS.register(self, name: name, base: base)
    }

    // MARK: Failing

    /// Sets the plan and resets the counts.
    func fail(_ plan: Plan?) { state.withLock { ($0.plan, $0.calls, $0.failures) = (plan, 0, 0) } }

    /// Lets all calls succeed from now on.
    func heal() { state.withLock { $0.plan = nil } }

    /// The number of calls that have failed since the plan was set.
    var failures: Int { state.withLock { $0.failures } }

    /// The error code of this call, or `nil` if the call must be made.
    func failure(of call: Call) -> Int32? {
        state.withLock { state in
            guard let plan = state.plan, plan.calls.contains(call) else { return nil }
            state.calls += 1
            guard state.calls >= plan.first, state.calls < plan.first + plan.count else { return nil }
            state.failures += 1
            // The header spells these codes as sums, which Swift does not import.
            return switch call {
            case .open: SQLITE_CANTOPEN
            case .write: plan.isFull ? SQLITE_FULL : SQLITE_IOERR | 3 << 8
            case .truncate: SQLITE_IOERR | 6 << 8
            case .sync: SQLITE_IOERR | 4 << 8
            case .delete: SQLITE_IOERR | 10 << 8
            case .shareMemory: SQLITE_IOERR | 19 << 8
            }
        }
    }

    // MARK: Recording

    func record() { state.withLock { $0.steps = [] } }
    func note(_ step: @autoclosure () -> Step) { state.withLock { if $0.steps != nil { $0.steps?.append(step()) } } }
    var steps: [Step] { state.withLock { $0.steps ?? [] } }
}
