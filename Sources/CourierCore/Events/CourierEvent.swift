/// An event of a client, with the options of its connection.
public struct CourierEvent: Sendable {
    /// The options of the connection when the event occurred; `nil` before the first options. Their description shows
    /// no secret.
    public let connectionInfo: ConnectOptions?

    /// What happened.
    public let type: CourierEventType

    /// Makes an event; apps need it in tests only.
    ///
    /// - Parameters:
    ///   - connectionInfo: The options of the connection.
    ///   - type: What happened.
    public init(connectionInfo: ConnectOptions?, type: CourierEventType) {
        self.connectionInfo = connectionInfo
        self.type = type
    }

    /// Makes an event, with the argument labels of Courier iOS.
    @available(*, deprecated, renamed: "init(connectionInfo:type:)")
    public init(connectionInfo: ConnectOptions?, event: CourierEventType) {
        self.init(connectionInfo: connectionInfo, type: event)
    }
}
