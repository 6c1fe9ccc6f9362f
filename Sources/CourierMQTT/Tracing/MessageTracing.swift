public import CourierCore

/// Connects a client with a tracing system, through two closures.
///
/// Messages of MQTT 5 carry a ``CourierCore/TraceContext`` as user properties. By default, the client sends
/// `TraceContext.current` with each message. For each received message, it sets `TraceContext.current` to the received
/// context.
///
/// ```swift
/// config.environment.tracing = MessageTracing()
/// ```
public struct MessageTracing: Sendable {
    /// Returns the trace context for a message to this topic; `nil` if the message gets none.
    ///
    /// The client calls this closure for each message that the app publishes, in the caller's task or thread, where the
    /// caller's task-local values are available. If the app has set ``CourierCore/MessageProperties/traceContext``, the
    /// client does not call this closure.
    public var published: @Sendable (_ topic: String) -> TraceContext?

    /// Returns the context in which the app handles a message with this context from this topic.
    ///
    /// The client calls this closure before it calls a sink of its message publisher or a handler of `respond(to:)`.
    /// While the sink or handler runs, `TraceContext.current` is the result of this closure. A tracing system can begin
    /// a span here, and return the span's context.
    ///
    /// `for await` loops read the context from the properties of the message. Sinks behind operators that change the
    /// queue or the time do the same.
    public var received: @Sendable (_ context: TraceContext, _ topic: String) -> TraceContext?

    /// Makes the closures for a tracing system.
    ///
    /// - Parameters:
    ///   - published: Returns the context for a message; by default, `TraceContext.current`.
    ///   - received: Returns the context in which a message is handled; by default, the received context.
    public init(
        published: @escaping @Sendable (_ topic: String) -> TraceContext? = { _ in TraceContext.current },
        received: @escaping @Sendable (_ context: TraceContext, _ topic: String) -> TraceContext? = { context, _ in
            context
        }
    ) {
        self.published = published
        self.received = received
    }
}

extension MessageTracing {
    /// Returns the properties with the trace context for a message to `topic`. The properties are unchanged if
    /// `published` returns no context, or if the app has set a context. They are also unchanged if there is no room for
    /// two more user properties, `traceparent` and `tracestate`.
    func traced(_ properties: MessageProperties, to topic: String) -> MessageProperties {
        guard properties.userProperties.count + 2 <= MessageProperties.userPropertyLimit,
            !properties.userProperties.contains(where: { TraceContext.propertyNames.contains($0.name) }),
            let context = published(topic)
        else { return properties }
        var properties = properties
        properties.traceContext = context
        return properties
    }

    /// Returns the context in which the app handles a message; `nil` if the message has no trace context.
    func context(of message: ReceivedMessage) -> TraceContext? {
        message.properties.traceContext.flatMap { received($0, message.topic) }
    }

    /// Returns the context in which the app handles a message; `nil` if the message has no trace context.
    func context(of message: Message) -> TraceContext? {
        message.properties.traceContext.flatMap { received($0, message.topic) }
    }
}
