import CourierCore
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

@Suite struct CourierErrorDeliveryTests {
    private let message = RequestSubject.message(topic: "a/b")
    private let subscription = RequestSubject.subscription(filter: "a/#")
    private let end = RequestSubject.unsubscription(filter: "a/#")

    @Test(arguments: [
        (EngineAction.Failure.notConnected, CourierError.Code.connectionLost, "no connection"),
        (.connectionLost, .connectionLost, "before the answer came"),
        (.sessionLost, .connectionLost, "lost the session"),
        (.dropped, .connectionLost, "dropped"), (.expired, .messageExpired, "because the message expired"),
        (.quotaExceeded, .queueFull, "acknowledge other"),
        (.notSupportedByServer(.qosNotSupported), .publishRefused, "lower quality of service"),
        (.notSupportedByServer(.retainNotSupported), .publishRefused, "Do not retain"),
    ])
    func `the error of a failed publish names the topic and the cause`(
        _ failure: EngineAction.Failure, _ code: CourierError.Code, _ part: String
    ) {
        let error = CourierError(failure, of: message)
        #expect(error.code == code)
        #expect(error.message.contains("\"a/b\"") && error.message.contains(part), "\(error.message)")
    }

    private func encodeError(_ packet: (inout PacketEncoder) -> Packet) throws -> EncodeError {
        var encoder = PacketEncoder(version: .v5, sender: .client)
        let packet = packet(&encoder)
        var buffer = PacketBuffer()
        do throws(EncodeError) {
            try encoder.encode(packet, into: &buffer)
        } catch {
            return error
        }
        throw CourierError(.invalidMessage, "it was written")
    }

    @Test func `a packet that cannot be encoded is reported with a matching error code`() throws {
        let large = try encodeError { encoder in
            encoder.maximumPacketSize = 100
            return .publish(Publish(topic: "a/b", payload: Array(repeating: 0, count: 200)))
        }
        let tooLarge = CourierError(.notEncodable(large), of: message)
        #expect(tooLarge.code == .invalidMessage)
        #expect(tooLarge.message.contains("limit of 100") && tooLarge.message.contains("smaller"))
        #expect(tooLarge.cause is EncodeError)
        let name = try encodeError { _ in .publish(Publish(topic: "a/#", payload: [])) }
        #expect(CourierError(.notEncodable(name), of: message).code == .invalidTopicName)
        let null = try encodeError { _ in
            .publish(Publish(topic: "a", payload: [], properties: [.contentType("\u{0}")]))
        }
        #expect(CourierError(.notEncodable(null), of: message).code == .invalidMessage)
        #expect(CourierError(.notEncodable(null), of: subscription).code == .invalidTopicFilter)
    }

    @Test func `each failure reason code becomes an error, and other reason codes do not`() throws {
        for code in (UInt8.min...UInt8.max).compactMap(PacketReasonCode.init(rawValue:)) {
            for subject in [message, subscription, end] {
                let error = CourierError(code, of: subject)
                #expect((error != nil) == code.isFailure)
                guard let error else { continue }
                let isAboutCredentials = [.badUserNameOrPassword, .notAuthorized, .badAuthenticationMethod].contains(
                    code)
                let refusal: CourierError.Code = subject == message ? .publishRefused : .subscriptionRefused
                #expect(error.code == (isAboutCredentials ? .notAuthorized : refusal))
                #expect(error.message.contains(ReasonCode(rawValue: code.rawValue).description))
                #expect(error.reasonCode == ReasonCode(rawValue: code.rawValue))
                #expect(error.message.hasPrefix(subject.description) && error.message.hasSuffix("."))
                #expect(!error.message.contains("provider"), "the connection stays, and nobody is asked")
            }
        }
    }

    @Test func `the broker's reason string is quoted and shortened in the error message`() throws {
        let words = String(repeating: "x", count: 5_000) + "\u{1B}[31m"
        let error = try #require(CourierError(.quotaExceeded, [.reasonString(words)], of: subscription))
        #expect(error.message.count < 500)
        #expect(
            error.message.hasPrefix(
                "The subscription to \"a/#\" was refused by the broker: Quota exceeded (0x97), \"xxx"))
        let short = try #require(CourierError(.quotaExceeded, [.reasonString("\u{1B}[31m")], of: message))
        #expect(!short.message.contains("\u{1B}"))
    }

    @Test func `each reason code of a packet converts to a public ReasonCode`() {
        for code in (UInt8.min...UInt8.max).compactMap(PacketReasonCode.init(rawValue:)) {
            #expect(ReasonCode(code).rawValue == code.rawValue)
            #expect(ReasonCode(code).name != "Unknown reason")
            #expect(ReasonCode(code).isError == code.isFailure)
        }
        let receipt = PublishReceipt(.noMatchingSubscribers, [.reasonString("nobody")])
        #expect(receipt == PublishReceipt(reasonCode: .noMatchingSubscribers, reasonString: "nobody"))
        #expect(PublishReceipt(.success, []) == PublishReceipt())
    }
}
