import CourierCore
import CourierMQTT
import Dispatch
import Foundation
import TestSupport
import Testing

/// The trace context that Courier and paho-mqtt exchange through mosquitto.
@Suite(.timeLimit(.minutes(5))) struct TraceContextPeerTests {
    /// Sends a question in a trace, and prints the traceparent and tracestate of the answer.
    private static let paho = """
        import sys, threading
        import paho.mqtt.client as mqtt
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        answered = threading.Event()

        def received(client, data, message):
            print(sorted(message.properties.UserProperty))
            answered.set()

        client = mqtt.Client("paho", protocol=mqtt.MQTTv5)
        client.on_message = received
        client.on_connect = lambda client, *_: client.subscribe("answer", qos=1)
        properties = Properties(PacketTypes.PUBLISH)
        properties.UserProperty = [("traceparent", sys.argv[2]), ("tracestate", "paho=1")]
        client.on_subscribe = lambda client, *_: client.publish("question", "?", qos=1, properties=properties)
        client.connect("127.0.0.1", int(sys.argv[1]))
        client.loop_start()
        assert answered.wait(60), "there is no answer"
        client.disconnect()
        client.loop_stop()
        """

    @Test func `the response to a request of paho-mqtt carries the trace context of the request`() async throws {
        let broker = try await RealBroker()
        var config = MQTTClientConfig(
            options: ConnectOptions(host: "127.0.0.1", port: broker.port, clientId: "courier"))
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.deliveryQueue = DispatchQueue(label: "trace-test")
        config.environment.tracing = MessageTracing()
        let client = CourierClientFactory().makeMQTTClient(config: config)
        let sink = client.messagePublisher(topic: "question").sink { [client] (_: String) in
            try? client.publish(text: "!", to: "answer")
        }
        client.connect()
        try await client.subscribe(to: "question")
        let context = TraceContext()
        let peer = try await ProgramRun([
            "/usr/bin/python3", "-c", Self.paho, "\(broker.port)", context.traceparent,
        ]).end()
        #expect(peer.code == 0, "\(peer.errors)")
        #expect(peer.text == "[('traceparent', '\(context.traceparent)'), ('tracestate', 'paho=1')]\n")
        sink.cancel()
        client.destroy()
        await broker.remove()
    }
}
