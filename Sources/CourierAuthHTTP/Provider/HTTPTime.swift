package import Foundation

/// The clock and the sleep function of a provider.
package struct HTTPTime: Sendable {
    package let now: @Sendable () -> Date
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The clock and the sleep function of the system.
    package static let system = HTTPTime(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
