import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct Version31Tests {
    @Test func `with protocolVersion = version31, mosquitto delivers messages of every QoS`() async throws {
        let broker = try await RealBroker()
        let observer = VersionObserver()
        let test = try TestClient(.local(broker.port)) {
            $0.protocolVersion = .version31
            $0.packetObserver = observer
        }
        let received = Series<String>()
        let reading = test.client.messagePublisher().sink { received.append($0.payloadString ?? "") }
        try await test.connect()
        let granted = try await test.client.subscribe(to: "t/+", qos: .two)
        #expect(granted == .two)
        for (text, qos) in [("0", .zero), ("1", .one), ("2", .two)] as [(String, QoS)] {
            try await test.client.publish(text, to: "t/1", qos: qos)
        }
        try await test.wait(for: "messageReceive", count: 3)
        let deadline = ContinuousClock.now + .patience
        while received.values.count < 3, .now < deadline { await Task.yield() }
        #expect(received.values == ["0", "1", "2"])
        #expect(Set(observer.versions.values.map { "\($0)" }) == ["v31"])
        reading.cancel()
        try await test.end()
        await broker.stop()
    }

    @Test func `validate() throws if protocolVersion is version31 and the client id is empty`() {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "h", port: 1, clientId: "", username: "", password: "", isCleanSession: true))
        config.protocolVersion = .version31
        #expect(throws: CourierError.self) { try CourierClientFactory().validate(config) }
        config.protocolVersion = .version311
        #expect(throws: Never.self) { try CourierClientFactory().validate(config) }
    }

    private final class VersionObserver: PacketObserver {
        let versions = Series<ObservedConnection.ProtocolVersion>()

        func observed(_ batch: PacketBatch) { versions.append(batch.connection.protocolVersion) }
    }
}
