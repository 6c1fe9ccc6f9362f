import CourierMQTT

/// Where device and viewer meet.
struct Broker: Sendable {
    let host: String
    let port: UInt16

    /// A client that is not connected yet.
    func client(id: String) -> any CourierClient {
        let options = ConnectOptions(
            host: host, port: port, keepAlive: 60, clientId: id, username: "", password: "", isCleanSession: true)
        var config = MQTTClientConfig(options: options)
        config.messageAdapters = [MotionAdapter(), TextMessageAdapter()]
        config.autoReconnectInterval = 1
        // The broker may be on this machine: no network is needed.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        return CourierClientFactory().makeMQTTClient(config: config)
    }
}
