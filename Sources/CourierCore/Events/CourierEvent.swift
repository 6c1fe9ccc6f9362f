/// One step of a client, and the connection it belongs to.
public struct CourierEvent: Sendable {
    /// The options of the connection at that moment, `nil` when there were none yet; its description shows no secret.
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

    /// Makes an event, by the labels of Courier iOS.
    @available(*, deprecated, renamed: "init(connectionInfo:type:)")
    public init(connectionInfo: ConnectOptions?, event: CourierEventType) {
        self.init(connectionInfo: connectionInfo, type: event)
    }
}
