/// Handles the messages of a topic filter until the processor is stopped. Repeats failed attempts, and parks messages
/// that cannot be handled. ``CourierSession/process(_:from:qos:name:policy:handler:)`` starts a processor.
///
/// A processor runs until it is stopped or its client ends. It keeps its client alive.
public protocol MessageProcessor: Sendable {
    /// The name of the processor, unique in its client. A message store records the name with each message of the
    /// processor.
    var name: String { get }

    /// The numbers of messages that wait, run, were retried and are parked.
    var metrics: ProcessorMetrics { get }

    /// Waits until the broker has granted the subscription, or until the processor is stopped.
    ///
    /// - Throws: The errors of `connected()`, the broker's refusal, or `CancellationError` if the processor is stopped.
    func subscribed() async throws

    /// Stops the processor: starts no more handlers, and waits until the running handlers have returned. After the
    /// given time, the processor cancels the handlers, and the wait ends.
    ///
    /// With a message store, the next processor with this name handles the waiting messages, in this process or a later
    /// process. Without a store, the waiting messages are not acknowledged, and go to the next reader of the topic.
    ///
    /// If the processor is already being stopped, this call waits, too. If several calls have different times, the
    /// handlers are cancelled after the time that ends first. A handler cannot wait for its own return. If a handler of
    /// this processor, or a task that the handler has started, calls this method, the processor stops, and the method
    /// returns 0 at once.
    ///
    /// - Parameter time: How long handlers may continue; 30 s by default.
    /// - Returns: The number of handlers that had not returned in time. Such a handler was cancelled, and its message
    ///   is handled again. A processor with the same name can start when these handlers have returned.
    @discardableResult
    func stop(within time: Duration) async -> Int
}

extension MessageProcessor {
    /// Stops the processor, and gives its running handlers 30 s; see ``stop(within:)``.
    ///
    /// - Returns: The number of handlers that had not returned in time.
    @discardableResult
    public func stop() async -> Int { await stop(within: .seconds(30)) }
}

/// The numbers of messages of a ``MessageProcessor``, at one moment.
public struct ProcessorMetrics: Hashable, Sendable {
    /// The number of messages that wait for a handler or for the next attempt.
    public var waitingCount = 0

    /// The number of handlers that run.
    public var runningCount = 0

    /// The number of messages that were handled since the processor started.
    public var handledCount = 0

    /// The number of attempts that failed and were or will be repeated, since the processor started.
    public var retriedCount = 0

    /// The number of messages that are parked.
    public var parkedCount = 0

    /// The time since the oldest message that waits or runs was received; `nil` if there is none.
    public var oldestAge: Duration?

    /// The reason why the processor starts no handlers, as a sentence. `nil` if the processor is not paused.
    public var pauseReason: String?

    /// Creates numbers that are all 0. Apps need this initializer only in tests.
    public init() {}
}
