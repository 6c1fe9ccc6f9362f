import CourierCore
import Testing

@Suite struct ConnectOptionsTransportTests {
    @Test(arguments: [
        (ConnectOptions.Transport.tcp, "tcp", 1_883 as UInt16), (.tls, "tls", 8_883), (.webSocket, "ws", 80),
        (.secureWebSocket, "wss", 443), (.unixSocket, "unix", 0),
    ])
    func `each transport sets its scheme and its default port`(
        transport: ConnectOptions.Transport, scheme: String, port: UInt16
    ) {
        let options = ConnectOptions(host: "h", transport: transport, clientId: "c")
        #expect(options.scheme == scheme)
        #expect(options.port == port)
        #expect(transport.defaultPort == port)
    }

    @Test func `an explicit port replaces the transport's default port`() {
        #expect(ConnectOptions(host: "h", port: 1_884, transport: .tls, clientId: "c").port == 1_884)
    }

    @Test func `a WebSocket transport sets the WebSocket options, and a TLS transport sets no WebSocket options`() {
        let webSocket = WebSocketOptions(path: "/broker", headers: ["X-Token": "t"])
        for transport in [ConnectOptions.Transport.webSocket(webSocket), .secureWebSocket(webSocket)] {
            #expect(ConnectOptions(host: "h", transport: transport, clientId: "c").webSocket == webSocket)
        }
        #expect(ConnectOptions(host: "h", transport: .secureWebSocket, clientId: "c").webSocket == WebSocketOptions())
        #expect(ConnectOptions(host: "h", transport: .tls, clientId: "c").webSocket == nil)
    }

    @Test func `ConnectOptions created with a transport equal ConnectOptions created with its scheme as text`() {
        let properties = [UserProperty("site", "harbour"), UserProperty("site", "gate")]
        let authentication = ExtendedAuthentication(method: "M")
        let alternatives = [BrokerEndpoint(host: "b", port: 1)]
        let typed = ConnectOptions(
            host: "h", port: 1, transport: .tls, keepAlive: 7, clientId: "c", username: "u", password: "p",
            isCleanSession: true, alpn: ["mqtt"], extendedAuthentication: authentication, alternatives: alternatives,
            userProperties: properties)
        let text = ConnectOptions(
            host: "h", port: 1, keepAlive: 7, clientId: "c", username: "u", password: "p", isCleanSession: true,
            alpn: ["mqtt"], scheme: "tls", extendedAuthentication: authentication, alternatives: alternatives,
            userPropertyList: properties)
        #expect(typed == text)
    }
}
