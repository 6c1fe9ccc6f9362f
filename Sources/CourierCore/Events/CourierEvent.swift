/// An event of a client, with the options of its connection.
public struct CourierEvent: Sendable {
    /// The connect options at the time of the event; `nil` if the client had no options yet. The description of the
    /// options shows no secret. Host and port are those of the endpoint that the client uses.
    public let connectionInfo: ConnectOptions?

    /// The kind of the event, with its data.
    public let type: CourierEventType

    /// Creates an event. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - connectionInfo: The connect options at the time of the event; `nil` if there were none.
    ///   - type: The kind of the event, with its data.
    public init(connectionInfo: ConnectOptions?, type: CourierEventType) {
        self.connectionInfo = connectionInfo
        self.type = type
    }

    /// Creates an event, with the argument labels of Courier iOS.
    @available(*, deprecated, renamed: "init(connectionInfo:type:)")
    public init(connectionInfo: ConnectOptions?, event: CourierEventType) {
        self.init(connectionInfo: connectionInfo, type: event)
    }
}
