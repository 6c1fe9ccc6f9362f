import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The redirects that the client follows, and the credentials that it sends to the new server.
@Suite struct RedirectPolicyTests {
    private func opening(
        _ options: ConnectOptions = SupervisorHarness.options,
        _ change: (inout SupervisorConfiguration) -> Void = { _ in }
    ) -> SupervisorHarness {
        var world = SupervisorHarness {
            $0.redirects.allowedHosts = [:]
            $0.isTLSUpToOptions = true
            change(&$0)
        }
        world.handle(.connectRequested(source: "app"))
        world.grant(options)
        return world
    }

    private func options(
        port: UInt16 = 8883, scheme: String? = nil, alternatives: [BrokerEndpoint] = []
    ) -> ConnectOptions {
        ConnectOptions(
            host: "Broker.example", port: port, clientId: "c", username: "ada", password: "s3cret", scheme: scheme,
            alternatives: alternatives)
    }

    private func host(_ world: SupervisorHarness) -> String? { world.info.map { "\($0.host):\($0.port)" } }

    /// The error message of the last event that reports the end of an attempt or a connection.
    private func message(_ world: SupervisorHarness) -> String {
        world.events.reversed().compactMap(\.failure).first?.message ?? ""
    }

    // MARK: Hosts

    @Test(arguments: [PacketReasonCode.useAnotherServer, .serverMoved])
    func `a redirect to another host is not followed, and the error names the host and allowedHosts`(
        _ code: PacketReasonCode
    ) {
        for isConnected in [false, true] {
            var world = opening()
            if isConnected { world.accept() }
            let reference: PacketProperties = [.serverReference("evil.example:1884 worse.example")]
            if isConnected { world.disconnectedByServer(code, reference) } else { world.refuse(code, reference) }
            let text = message(world)
            #expect(
                text.contains("evil.example:1884") && text.contains("MQTTClientConfig.endpoints.redirects.allowedHosts")
            )
            for _ in 0..<10 {
                if world.fetch != nil {
                    #expect(world.fetchedServer == nil)
                    world.grant()
                } else if world.isOpen {
                    world.drop()
                } else {
                    world.fireTimer()
                }
                #expect(world.info?.host == "broker")
            }
            world.expectNoFaults()
        }
    }

    @Test func `a disallowed redirect does not shorten the pause before the next attempt`() {
        var world = opening()
        while world.attemptTimes.count < 6 {
            if world.isOpen {
                world.refuse(.useAnotherServer, [.serverReference("evil.example")])
            } else {
                world.fireTimer()
            }
        }
        #expect(world.attemptTimes == [0, 1, 3, 7, 15, 31])
    }

    @Test(arguments: ["broker.example:8884", "BROKER.EXAMPLE:8884", "evil.example broker.example:8884"])
    func `a redirect to another port of the same host is followed with the current credentials`(_ reference: String) {
        var world = opening(options())
        world.refuse(.useAnotherServer, [.serverReference(reference)])
        #expect(host(world)?.lowercased() == "broker.example:8884")
        #expect(world.info?.password == "s3cret" && world.isOpen)
        world.accept()
        world.expectNoFaults()
    }

    @Test(arguments: ["broker.example.evil.example", "xbroker.example", "roker.example", "sub.broker.example"])
    func `a host with a similar name counts as a different host`(_ reference: String) {
        var world = opening(options())
        world.refuse(.useAnotherServer, [.serverReference(reference)])
        #expect(!world.isOpen && message(world).contains("allowedHosts"))
        world.fireTimer()
        #expect(host(world) == "Broker.example:8883")
    }

    @Test func `a redirect to an allowed host is followed, but a redirect to a subdomain of the allowed host is not`()
        throws
    {
        var policy = RedirectPolicy()
        policy.allowedHosts = ["Node.Example": .reused]
        let checked = try policy.checked()
        var world = opening { $0.redirects = checked }
        world.refuse(.useAnotherServer, [.serverReference("sub.node.example node.EXAMPLE:1884")])
        #expect(host(world) == "node.EXAMPLE:1884" && world.info?.password == "s3cret")
        var other = opening { $0.redirects = checked }
        other.refuse(.useAnotherServer, [.serverReference("sub.node.example")])
        #expect(!other.isOpen)
    }

    @Test func `a redirect to an endpoint of the configured list is followed`() {
        let list = [BrokerEndpoint(host: "b.example", port: 8883)]
        var world = opening(options(alternatives: list))
        world.refuse(.useAnotherServer, [.serverReference("b.example:8883")])
        #expect(host(world) == "b.example:8883")
        var port = opening(options(alternatives: list))
        port.refuse(.useAnotherServer, [.serverReference("b.example:8884")])
        #expect(host(port) == "b.example:8884", "its host is the app's word, too")
    }

    @Test func `a redirect to the same host is not followed if followsSameHost is false`() {
        var world = opening { $0.redirects.followsSameHost = false }
        world.refuse(.useAnotherServer, [.serverReference("broker:1884")])
        #expect(!world.isOpen && message(world).contains("followsSameHost"))
    }

    @Test func `a client connected by a Unix socket does not follow redirects`() {
        let options = ConnectOptions(
            host: "/run/broker", port: 0, clientId: "c", username: "", password: "", scheme: "unix")
        var world = opening(options) { $0.redirects.allowedHosts = ["node": .reused] }
        world.refuse(.useAnotherServer, [.serverReference("node:1883")])
        #expect(!world.isOpen && message(world).contains("Unix socket"))
    }

    @Test(arguments: ["", "a b", "mqtt://host", "host:1883"])
    func `validation fails if allowedHosts contains a text that is not a host`(_ host: String) {
        var config = MQTTClientConfig(options: SupervisorHarness.options)
        config.endpoints.redirects.allowedHosts = [host: .reused]
        #expect(throws: CourierError.self) { try CourierClientFactory().validate(config) }
    }

    // MARK: TLS

    @Test(arguments: [nil, "tls", "mqtts"] as [String?])
    func `a redirect from a TLS broker to port 1883 still uses TLS`(_ scheme: String?) throws {
        var world = opening(options(scheme: scheme))
        world.refuse(.useAnotherServer, [.serverReference("broker.example:1883")])
        let info = try #require(world.info)
        #expect(info.port == 1883)
        #expect(try ConnectionScheme(info, hasTLSSettings: false) == .tls)
    }

    @Test func `a redirect from an endpoint with TLS to an endpoint without TLS is not followed`() {
        let list = [BrokerEndpoint(host: "b.example", port: 1883, priority: 1, scheme: "tcp")]
        var world = opening(options(scheme: "tls", alternatives: list))
        let before = world.attemptTimes.count
        world.refuse(.useAnotherServer, [.serverReference("b.example:1883")])
        #expect(message(world).contains("does not use TLS"))
        #expect(world.attemptTimes.count == before + 1, "the app's own list goes on as ever")
    }

    @Test func `credentials from the provider cannot disable TLS for a redirect`() throws {
        var world = opening(options()) { $0.redirects.allowedHosts = ["node": .fromProvider] }
        world.refuse(.useAnotherServer, [.serverReference("node:1883")])
        world.grant(
            ConnectOptions(host: "x", port: 1, clientId: "c", username: "node-user", password: "p", scheme: "tcp"))
        let info = try #require(world.info)
        #expect(host(world) == "node:1883" && info.username == "node-user")
        #expect(try ConnectionScheme(info, hasTLSSettings: false) == .tls)
    }

    // MARK: Credentials

    private let nodeOptions = ConnectOptions(
        host: "node", port: 1884, clientId: "c", username: "node-user", password: "node-password")

    private func asking(_ code: PacketReasonCode) -> SupervisorHarness {
        var world = opening { $0.redirects.allowedHosts = ["node": .fromProvider] }
        world.refuse(code, [.serverReference("node:1884")])
        return world
    }

    @Test(arguments: [PacketReasonCode.useAnotherServer, .serverMoved])
    func `with allowedHosts = fromProvider, credentials for a redirect's host are fetched before the connection opens`(
        _ code: PacketReasonCode
    ) {
        var world = asking(code)
        #expect(!world.isOpen && world.fetchedServer == BrokerEndpoint(host: "node", port: 1884))
        world.grant(nodeOptions)
        #expect(host(world) == "node:1884" && world.info?.password == "node-password")
        world.accept()
        world.wait(20)
        world.drop()
        world.fireTimer()
        // After useAnotherServer, the client is at the configured host with its own credentials. After serverMoved,
        // it is at the new server with that server's credentials.
        #expect(world.fetch == nil, "what the provider gave is still good")
        #expect(world.info?.password == (code == .useAnotherServer ? "s3cret" : "node-password"))
        world.expectNoFaults()
    }

    @Test func `without credentials for the redirect's host, the client connects to the configured host again`() {
        var world = asking(.serverMoved)
        world.deny(CourierError(noOptionsFor: BrokerEndpoint(host: "node", port: 1884)))
        #expect(message(world).contains("node:1884") && message(world).contains("MQTTClientConfig.endpoints.redirects"))
        #expect(!world.isOpen && world.deadline.map { $0 > world.time } == true)
        world.fireTimer()
        #expect(host(world) == "broker:1883" && world.info?.password == "s3cret")
        world.expectNoFaults()
    }

    @Test func `renewed credentials for a redirect's host do not change the configured host's credentials`() {
        var world = asking(.serverMoved)
        world.grant(nodeOptions, expiresIn: 600)
        world.accept()
        for _ in 0..<2 {
            world.fireTimer()
            #expect(world.fetchedServer == BrokerEndpoint(host: "node", port: 1884))
            #expect(world.grant(nodeOptions, expiresIn: 600) == [.emit(.authSucceeded(after: .zero))])
        }
        let renewed = ConnectOptions(host: "node", port: 1884, clientId: "c", username: "node-user", password: "new")
        world.fireTimer()
        #expect(world.grant(renewed).contains(.closeInOrder))
        world.closeEnds()
        #expect(host(world) == "node:1884" && world.info?.password == "new")
        // The new server cannot be reached any more. The client connects to the configured host with the credentials
        // of this host.
        world.drop()
        world.fireTimer()
        #expect(host(world) == "broker:1883" && world.info?.password == "s3cret")
        world.expectNoFaults()
    }

    @Test func `disconnect() while credentials for a redirect are fetched cancels the redirect`() {
        var world = asking(.useAnotherServer)
        world.handle(.disconnectRequested)
        #expect(world.fetch == nil)
        world.handle(.connectRequested(source: "app"))
        #expect(world.fetch != nil && world.fetchedServer == nil)
        world.grant()
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()
    }
}
