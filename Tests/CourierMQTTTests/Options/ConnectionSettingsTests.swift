import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct ConnectionSettingsTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout ConnectionSettings) -> Void
        init(_ part: String, _ make: @escaping @Sendable (inout ConnectionSettings) -> Void) {
            testDescription = part
            self.make = make
        }
    }

    @Test func `the defaults are right`() throws { try ConnectionSettings().check() }

    @Test(arguments: [
        Mistake("connect timeout") { $0.connectTimeout = .zero },
        Mistake("connect timeout") { $0.connectTimeout = .seconds(86_401) },
        Mistake("timeout of CONNACK") { $0.connAckTimeout = .seconds(-1) },
        Mistake("ping timeout") { $0.pingTimeout = .zero },
        Mistake("acknowledgement timeout") { $0.acknowledgementTimeout = .zero },
        Mistake("session expiry") { $0.sessionExpiry = .seconds(-1) },
        Mistake("session expiry") { $0.sessionExpiry = .seconds(4_294_967_296) },
        Mistake("receive maximum is 0") { $0.receiveMaximum = 0 },
        Mistake("maximum packet size is 255") { $0.maximumPacketSize = 255 },
        Mistake("maximum packet size") { $0.maximumPacketSize = 268_435_461 },
        Mistake("in flight is 0") { $0.maximumInFlight = 0 },
        Mistake("in flight is 65536") { $0.maximumInFlight = 65_536 },
        Mistake("queued messages is -1") { $0.maximumQueued = -1 },
        Mistake("reads per turn") { $0.channel.readsPerTurn = 0 },
        Mistake("low water mark") { $0.channel.lowWaterMark = $0.channel.highWaterMark + 1 },
        Mistake("high water mark") { ($0.channel.lowWaterMark, $0.channel.highWaterMark) = (0, 0) },
        Mistake("(ALPN)") { settings in
            settings.tls = TLSClientConfiguration()
            settings.tls?.applicationProtocols = [""]
        },
        Mistake("will message") { $0.will = WillMessage(topic: "a/#", text: "") },
        Mistake("will message") { $0.will = WillMessage(topic: "", text: "") },
        Mistake("65536 bytes") { $0.will = WillMessage(topic: "a", payload: Data(count: 65_536)) },
        Mistake("delay") { $0.will = WillMessage(topic: "a", text: "", delay: .seconds(-1)) },
        Mistake("delay") { $0.will = WillMessage(topic: "a", text: "", delay: .seconds(4_294_967_296)) },
        Mistake("will message has a property") {
            $0.will = WillMessage(topic: "a", text: "", properties: MessageProperties(responseTopic: "#"))
        },
    ])
    func `each value out of range is refused by name`(_ mistake: Mistake) {
        var settings = ConnectionSettings()
        mistake.make(&settings)
        expectCourierError(.invalidConfiguration, mistake.testDescription) { try settings.check() }
    }

    @Test func `the ends of the ranges are allowed`() throws {
        var settings = ConnectionSettings()
        settings.connectTimeout = ConnectionSettings.longestTimeout
        settings.acknowledgementTimeout = nil
        settings.sessionExpiry = .seconds(4_294_967_295)
        settings.receiveMaximum = 1
        settings.maximumPacketSize = 268_435_460
        settings.maximumInFlight = 65_535
        settings.maximumQueued = 0
        settings.will = WillMessage(topic: "a", payload: Data(count: 65_535), delay: .seconds(4_294_967_295))
        try settings.check()
    }

    @Test func `a will shows its payload to nobody`() {
        let will = WillMessage(topic: "a", text: "secret", qos: .one, isRetained: true)
        #expect("\(will) \(String(reflecting: will))".contains("secret") == false)
        #expect(will.description == "WillMessage(\"a\", qos: one, 6 bytes, retained)")
    }

    @Test(arguments: [
        (Duration.zero, UInt32?.some(0)), (.nanoseconds(1), 1), (.seconds(1), 1), (.milliseconds(1_001), 2),
        (.seconds(4_294_967_295), .max), (.seconds(4_294_967_296), nil), (.milliseconds(4_294_967_295_001), nil),
        (.nanoseconds(-1), nil), (.seconds(Int64.max), nil),
    ])
    func `seconds on the wire are rounded up, never wrapped`(_ duration: Duration, _ expected: UInt32?) {
        #expect(WireSeconds(duration)?.rawValue == expected)
    }
}
