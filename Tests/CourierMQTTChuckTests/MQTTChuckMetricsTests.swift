import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite struct MQTTChuckMetricsTests {
    @Test func `packets and bytes are counted by type and direction, including dropped rows`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 1
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: .v311)
        try recording.send(Recording.message("a"), Recording.message("b"), .pingReq)
        try recording.receive(.pingResp, Recording.message("cc"))
        #expect(
            logger.metrics.traffic == [
                .init(type: .publish, direction: .outgoing, packets: 2, bytes: 12),
                .init(type: .pingReq, direction: .outgoing, packets: 1, bytes: 2),
                .init(type: .publish, direction: .incoming, packets: 1, bytes: 7),
                .init(type: .pingResp, direction: .incoming, packets: 1, bytes: 2),
            ])
        #expect(logger.metrics.total(.outgoing) == (3, 14))
    }

    @Test func `connects, reconnects, refusals, malformed packets and open exchanges are counted`() throws {
        let logger = MQTTChuckLogger.test()
        for id in UInt64(1)...3 {
            let recording = Recording(logger, id: id)
            try recording.send(.connect(Connect(version: .v5, clientID: "phone-7")))
            try recording.receive(.connAck(ConnAck(reasonCode: id == 2 ? .serverBusy : .success)))
            guard id == 3 else { continue }
            try recording.send(
                Recording.message("a", id: 1, qos: .atLeastOnce), Recording.message("a", id: 2, qos: .exactlyOnce),
                Recording.message("a", id: 3, qos: .exactlyOnce),
                .subscribe(Subscribe(packetID: 9, subscriptions: [Subscription("a", qos: .atMostOnce)])))
            try recording.receive(Recording.message("b", id: 1, qos: .atLeastOnce))
            try recording.receive(
                .pubRec(Acknowledgement(packetID: 2, reasonCode: .notAuthorized)),
                .pubRec(Acknowledgement(packetID: 3)),
                .subAck(
                    SubAck(packetID: 9, reasonCodes: [.grantedQoS1, .notAuthorized], properties: [.reasonString("no")]))
            )
            recording.observe(.incoming, bytes: [0x30, 0x90])
        }
        let metrics = logger.metrics
        #expect((metrics.connects, metrics.reconnects, metrics.accepted, metrics.refused) == (3, 2, 2, 1))
        #expect(metrics.refusals == 3)
        #expect(metrics.malformed == 1)
        #expect(metrics.inFlightOutgoing == 2)  // PUBLISH 1, and 3 until its PUBCOMP; 2 was refused.
        #expect(metrics.inFlightIncoming == 1)
        #expect(metrics.openConnections == 1)
    }

    @Test func `each measured latency is counted in the matching histogram bucket`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        for (index, milliseconds) in [0, 1, 2, 10, 11, 20_000].enumerated() {
            try recording.send(.pingReq, at: index * 100_000)
            try recording.receive(.pingResp, at: index * 100_000 + milliseconds)
        }
        let latency = try #require(logger.metrics.latencies.first)
        #expect(latency.kind == .ping)
        #expect(latency.count == 6)
        #expect(latency.sum == .milliseconds(20_024))
        #expect(latency.counts == [1, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(MQTTChuckMetrics.latencyBounds.count + 1 == latency.counts.count)
    }

    @Test func `the Prometheus text is well-formed and contains the counted values`() throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger).everything()
        let lines = logger.metrics.prometheusText.split(separator: "\n").map(String.init)
        #expect(lines.contains("courier_mqtt_packets_total{direction=\"out\",type=\"publish\"} 3"))
        #expect(lines.contains("courier_mqtt_connects_total 1"))
        #expect(lines.contains("courier_mqtt_in_flight{direction=\"out\"} 0"))
        #expect(lines.contains("courier_mqtt_exchange_seconds_bucket{kind=\"publish_qos1\",le=\"0.005\"} 0"))
        #expect(lines.contains("courier_mqtt_exchange_seconds_bucket{kind=\"publish_qos1\",le=\"0.01\"} 1"))
        #expect(lines.contains("courier_mqtt_exchange_seconds_bucket{kind=\"publish_qos1\",le=\"+Inf\"} 1"))
        #expect(lines.contains("courier_mqtt_exchange_seconds_sum{kind=\"publish_qos1\"} 0.01"))
        var declared = ""
        for line in lines {
            if line.hasPrefix("# TYPE ") { declared = String(line.split(separator: " ")[2]) }
            if line.hasPrefix("#") { continue }
            #expect(line.hasPrefix(declared))
            let value = try #require(line.split(separator: " ").last)
            #expect(Double(value) != nil, "\(line)")
        }
    }
}
