import CourierMQTT

/// The address of the broker that the device and the viewer use.
struct Broker: Sendable {
    let host: String
    let port: UInt16

    /// Returns a client that is not connected yet.
    func client(id: String) -> any CourierClient {
        let options = ConnectOptions(
            host: host, port: port, keepAlive: 60, clientId: id, username: "", password: "", isCleanSession: true)
        var config = MQTTClientConfig(options: options)
        config.messageAdapters = [MotionAdapter(), TextMessageAdapter()]
        config.autoReconnectInterval = 1
        // The broker may run on this machine, so the client must connect even without a network.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        return CourierClientFactory().makeMQTTClient(config: config)
    }
}
