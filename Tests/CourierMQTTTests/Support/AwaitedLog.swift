import CourierCore

/// A log whose warnings can be awaited.
final class AwaitedLog: LogHandler {
    let minimumLevel = LogLevel.warning
    private let warnings: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (warnings, continuation) = AsyncStream.makeStream() }

    func log(_ record: LogRecord) { continuation.yield(record.message) }

    /// Waits for the first warning that contains these words.
    func warning(with words: String) async -> String? { await warnings.first { $0.contains(words) } }
}
