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

    @Test func `the default connection settings are valid`() throws { try ConnectionSettings().check() }

    @Test(arguments: [
        Mistake("connectTimeout is 0.0 seconds") { $0.limits.connectTimeout = .zero },
        Mistake("connectTimeout is 86401.0 seconds") { $0.limits.connectTimeout = .seconds(86_401) },
        Mistake("connAckTimeout is -1.0 seconds") { $0.limits.connAckTimeout = .seconds(-1) },
        Mistake("pingTimeout is 0.0 seconds") { $0.limits.pingTimeout = .zero },
        Mistake("acknowledgementTimeout is 0.0 seconds") { $0.limits.acknowledgementTimeout = .zero },
        Mistake("session.expiry is -1.0 seconds") { $0.limits.sessionExpiry = .seconds(-1) },
        Mistake("session.expiry is 4294967296.0 seconds") { $0.limits.sessionExpiry = .seconds(4_294_967_296) },
        Mistake("receiveMaximum is 0") { $0.limits.receiveMaximum = 0 },
        Mistake("maximumPacketSize is 255") { $0.limits.maximumPacketSize = 255 },
        Mistake("maximumPacketSize is 268435461") { $0.limits.maximumPacketSize = 268_435_461 },
        Mistake("maximumInFlight is 0") { $0.limits.maximumInFlight = 0 },
        Mistake("maximumInFlight is 65536") { $0.limits.maximumInFlight = 65_536 },
        Mistake("channel.readsPerTurn is 0") { $0.limits.channel.readsPerTurn = 0 },
        Mistake("channel.lowWaterMark is") { $0.limits.channel.lowWaterMark = $0.limits.channel.highWaterMark + 1 },
        Mistake("channel.highWaterMark is 0") {
            ($0.limits.channel.lowWaterMark, $0.limits.channel.highWaterMark) = (0, 0)
        },
        Mistake("(ALPN)") { settings in
            settings.tls = TLSClientConfiguration()
            settings.tls?.applicationProtocols = [""]
        },
        Mistake("The will message: The topic name \"a/#\" contains '#'") {
            $0.will = WillMessage(topic: "a/#", text: "")
        },
        Mistake("The will message: The topic name \"\" is empty") { $0.will = WillMessage(topic: "", text: "") },
        Mistake("65536 bytes") { $0.will = WillMessage(topic: "a", payload: Data(count: 65_536)) },
        Mistake("delay") { $0.will = WillMessage(topic: "a", text: "", delay: .seconds(-1)) },
        Mistake("delay") { $0.will = WillMessage(topic: "a", text: "", delay: .seconds(4_294_967_296)) },
        Mistake("The will message: The message to \"a\" cannot be sent: the response topic \"#\"") {
            $0.will = WillMessage(topic: "a", text: "", properties: MessageProperties(responseTopic: "#"))
        },
    ])
    func `each connection setting out of range throws an error with its name`(_ mistake: Mistake) {
        var settings = ConnectionSettings()
        mistake.make(&settings)
        expectCourierError(.invalidConfiguration, mistake.testDescription) { try settings.check() }
    }

    @Test func `connection settings at the ends of their ranges are valid`() throws {
        var settings = ConnectionSettings()
        settings.limits.connectTimeout = ConnectionLimits.longestTimeout
        settings.limits.acknowledgementTimeout = nil
        settings.limits.sessionExpiry = .seconds(4_294_967_295)
        settings.limits.receiveMaximum = 1
        settings.limits.maximumPacketSize = 268_435_460
        settings.limits.maximumInFlight = 65_535
        settings.will = WillMessage(topic: "a", payload: Data(count: 65_535), delay: .seconds(4_294_967_295))
        try settings.check()
    }

    @Test func `the description of a will hides its payload`() {
        let will = WillMessage(topic: "a", text: "secret", qos: .one, isRetained: true)
        #expect("\(will) \(String(reflecting: will))".contains("secret") == false)
        #expect(will.description == "WillMessage(\"a\", qos: one, 6 bytes, retained)")
    }

    @Test(arguments: [
        (Duration.zero, UInt32?.some(0)), (.nanoseconds(1), 1), (.seconds(1), 1), (.milliseconds(1_001), 2),
        (.seconds(4_294_967_295), .max), (.seconds(4_294_967_296), nil), (.milliseconds(4_294_967_295_001), nil),
        (.nanoseconds(-1), nil), (.seconds(Int64.max), nil),
    ])
    func `a duration is rounded up to whole seconds, and a duration out of range becomes nil`(
        _ duration: Duration, _ expected: UInt32?
    ) {
        #expect(WireSeconds(duration)?.rawValue == expected)
    }
}
