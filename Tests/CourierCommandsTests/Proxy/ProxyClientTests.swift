import CourierCore
import CourierMQTT
import CourierTesting
import CourierTransport
import Dispatch
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

/// Clients that must keep the delivery contract when the proxy loses acknowledgements: Courier's own and paho-mqtt.
@Suite(.timeLimit(.minutes(5))) struct ProxyClientTests {
    private static func client(port: UInt16) -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(host: "127.0.0.1", port: port, clientId: "order", username: "", password: ""))
        config.autoReconnectInterval = 1
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.deliveryQueue = DispatchQueue(label: "proxy-test")
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    @Test func `if a PUBACK is lost and the connection is cut, the client sends the message again with DUP`()
        async throws
    {
        let broker = try ScriptedBroker.start(afterwards: [.accept(isSessionPresent: true)])
        let proxy = try FaultProxy.start(
            to: broker.endpoint,
            rules: [try FaultRule("drop the third PUBACK"), try FaultRule("cut after the third PUBACK")])
        let client = Self.client(port: proxy.port)
        client.connect()
        for number in 1...2 { try await client.publish("pizza \(number)", to: "orders/\(number)", qos: .one) }
        let third = Task { try await client.publish("pizza 3", to: "orders/3", qos: .one) }
        try await broker.received(.publish(to: "orders/3", isDuplicate: false), on: 1)
        try await broker.received(.publish(to: "orders/3", isDuplicate: true), on: 2)
        #expect(try await third.value.reasonCode == .success)
        #expect(proxy.counts.faults == 1 && proxy.counts.connections == 2)
        client.destroy()
        await proxy.shutdown()
        await broker.shutdown()
    }

    @Test func `a client reconnects each time courier proxy cuts its connection`() async throws {
        let broker = try ScriptedBroker.start()
        let proxy = try FaultProxy.start(to: broker.endpoint, rules: [try FaultRule("cut at the first 3 CONNACK")])
        let client = Self.client(port: proxy.port)
        client.connect()
        try await client.connected()
        #expect(proxy.counts.connections == 4 && proxy.counts.faults == 3)
        client.destroy()
        await proxy.shutdown()
        await broker.shutdown()
    }

    /// Publishes three messages of QoS 1 with paho-mqtt, and waits for their acknowledgements.
    private static let paho = """
        import sys, threading
        import paho.mqtt.client as mqtt

        port, version = int(sys.argv[1]), sys.argv[2]
        if version == "5":
            client = mqtt.Client("paho", protocol=mqtt.MQTTv5)
        else:
            client = mqtt.Client("paho", clean_session=False, protocol=mqtt.MQTTv311)
        acknowledged = threading.Semaphore(0)
        client.on_publish = lambda client, data, mid: acknowledged.release()
        client.username_pw_set("ada", "s3cret-lace")
        client.reconnect_delay_set(1, 1)
        client.connect("127.0.0.1", port)
        client.loop_start()
        for number in (1, 2, 3):
            client.publish("orders/%d" % number, "pizza", qos=1)
        for number in (1, 2, 3):
            assert acknowledged.acquire(timeout=60), "PUBACK %d is missing" % number
        client.disconnect()
        client.loop_stop()
        print("done")
        """

    @Test(arguments: ["3.1.1", "5"])
    func `paho-mqtt sends a message again with DUP if the proxy drops its PUBACK and cuts the connection`(
        version: String
    ) async throws {
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(
            to: broker.port,
            ["-d", "--fault", "drop the third PUBACK", "--fault", "cut after the third PUBACK"])
        let reader = try ProgramRun(
            RunningProxy.subscriber + [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "orders/#",
                "-q", "1", "-F", "got %t", "-C", "4",
            ])
        try await reader.wait { $0.text.contains("Subscribed") }
        let peer = try await ProgramRun(["/usr/bin/python3", "-c", Self.paho, "\(proxy.port)", version]).end()
        #expect(peer.code == 0 && peer.text == "done\n", "\(peer)")
        let got = await reader.end().text.split(separator: "\n").filter { $0.hasPrefix("got ") }
        #expect(got.sorted() == ["got orders/1", "got orders/2", "got orders/3", "got orders/3"])
        let outcome = try await proxy.end()
        #expect(outcome.text.contains("dropped PUBACK from the broker, id 3"), "\(outcome.text)")
        #expect(outcome.text.contains("PUBLISH from the client, orders/3, QoS 1, DUP, id 3"))
        #expect(outcome.text.contains("client id paho, MQTT \(version)") && !outcome.text.contains("s3cret-lace"))
        #expect(outcome.text.contains(" 1 fault."))
    }
}
