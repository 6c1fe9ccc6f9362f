import CourierTesting
import MQTTCodec
import TestSupport
import Testing

struct PlantedViolationTests {
    /// A planted violation, and the problem that the test must find.
    struct Plant: Sendable, CustomTestStringConvertible {
        let probe: String
        let version: String
        let clause: String
        /// True if the test finds the problem only because nothing arrives, so that it must wait.
        let isSilent: Bool
        let alteration: AlteringBroker.Alteration

        init(
            _ probe: String, _ version: String, _ clause: String, isSilent: Bool = false,
            _ alteration: @escaping AlteringBroker.Alteration
        ) {
            self.probe = probe
            self.version = version
            self.clause = clause
            self.isSilent = isSilent
            self.alteration = alteration
        }

        var testDescription: String { "\(probe) \(version) \(clause)" }

        /// Plants a change of the broker's messages.
        static func message(
            _ probe: String, _ version: String, _ clause: String, isSilent: Bool = false,
            _ change: @escaping @Sendable (Publish) -> [Publish]
        ) -> Plant {
            Plant(probe, version, clause, isSilent: isSilent) { packet, sender in
                guard case .publish(let publish) = packet, sender == .server else { return [packet] }
                return change(publish).map { .publish($0) }
            }
        }

        static let all: [Plant] = [
            message("retainedMessages", "311", "[MQTT-3.3.1-6]", isSilent: true) { $0.isRetained ? [] : [$0] },
            message("retainedMessages", "5", "[MQTT-3.3.1-9]", isSilent: true) { $0.isRetained ? [] : [$0] },
            message("retainedMessages", "311", "[MQTT-3.3.1-8]") { publish in
                var publish = publish
                publish.isRetained = false
                return [publish]
            },
            message("qos2", "5", "[MQTT-4.3.3-10]", twice), message("qos2", "311", "[MQTT-4.3.3-2]", twice),
            message("qos1", "311", "[MQTT-4.5.0-1]", isSilent: true) { publish in
                let isLost = publish.payload == Array("7".utf8) && publish.topic.hasSuffix("/qos")
                return isLost && publish.delivery.qos == .atLeastOnce ? [] : [publish]
            },
            message("forwardedProperties", "5", "[MQTT-3.3.2-18]") { publish in
                var publish = publish
                publish.properties.list.reverse()
                return [publish]
            },
            message("subscriptionIdentifiers", "5", "[MQTT-3.3.4-3]") { publish in
                var publish = publish
                publish.properties.list.removeAll { $0.id == .subscriptionIdentifier }
                return [publish]
            },
            Plant("will", "311", "[MQTT-3.14.4-3]") { packet, _ in
                if case .disconnect = packet { nil } else { [packet] }
            },
            Plant("noLocal", "5", "[MQTT-3.8.3-3]") { packet, _ in
                guard case .subscribe(var subscribe) = packet else { return [packet] }
                for index in subscribe.subscriptions.indices { subscribe.subscriptions[index].isNoLocal = false }
                return [.subscribe(subscribe)]
            },
            Plant("messageExpiry", "5", "[MQTT-3.3.2-5]") { packet, sender in
                guard case .publish(var publish) = packet, sender == .client else { return [packet] }
                publish.properties.list.removeAll { $0.id == .messageExpiryInterval }
                return [.publish(publish)]
            },
            Plant("persistentSession", "5", "[MQTT-3.2.2-3]", isSilent: true) { packet, _ in
                guard case .connect(var connect) = packet else { return [packet] }
                connect.isCleanStart = true
                return [.connect(connect)]
            },
            Plant("flowControl", "5", "[MQTT-3.3.4-9]") { packet, _ in
                guard case .connect(var connect) = packet else { return [packet] }
                connect.properties.list.removeAll { $0.id == .receiveMaximum }
                return [.connect(connect)]
            },
            Plant("ping", "311", "[MQTT-3.12.4-1]", isSilent: true) { packet, _ in packet == .pingResp ? [] : [packet]
            },
        ]

        @Sendable private static func twice(_ publish: Publish) -> [Publish] {
            var copy = publish
            copy.delivery = .atMostOnce
            return publish.delivery.qos == .exactlyOnce ? [publish, copy] : [publish]
        }
    }

    @Test(arguments: Plant.all)
    func `courier test names the clause of the specification that a broker violates`(plant: Plant) async throws {
        let broker = try AlteringBroker(plant.alteration)
        let (report, code) = try await TestProgram.report(
            broker.place + ["-V", plant.version, "--max-payload", "1000"], timeLimit: plant.isSilent ? 6 : 60)
        let probe = report.versions.first?[plant.probe]
        #expect(code == 2 && probe?.state == "problem" && probe?.clause == plant.clause, "\(report)")
        #expect(!report.isConformant && report.isComplete)
        await broker.shutdown()
    }

    @Test func `courier test finds the maximum topic length of a broker that closes the connection for longer topics`()
        async throws
    {
        let broker = try AlteringBroker { packet, _ in
            if case .publish(let publish) = packet, publish.topic.utf8.count > 1_000 { return nil }
            return [packet]
        }
        let (report, code) = try await TestProgram.report(
            broker.place + ["-V", "311", "--max-payload", "1000"])
        let probe = report.versions.first?["longestTopic"]
        #expect(code == 0 && probe?.found == 1_000 && probe?.state == "notice", "\(report)")
        #expect(probe?.text.hasPrefix("1,000 bytes; with one more, the broker ") == true)
        await broker.shutdown()
    }
}
