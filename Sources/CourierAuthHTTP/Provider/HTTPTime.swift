package import Foundation

/// The time that a provider lives in.
package struct HTTPTime: Sendable {
    package let now: @Sendable () -> Date
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The machine's.
    package static let system = HTTPTime(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
