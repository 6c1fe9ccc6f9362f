import CommandArguments
import CourierCore
import Foundation
import Testing

@testable import CourierCommands

struct PropertyArgumentsTests {
    private static func read(_ lists: [[String]]) throws -> PropertyArguments {
        var properties = PropertyArguments()
        for words in lists { try properties.add(words) }
        return properties
    }

    @Test func `the properties of a message are all there`() throws {
        let properties = try Self.read([
            ["publish", "payload-format-indicator", "1"], ["PUBLISH", "Message-Expiry-Interval", "30"],
            ["publish", "content-type", "text/plain"], ["publish", "response-topic", "r"],
            ["publish", "correlation-data", "c"], ["publish", "user-property", "a", "1"],
            ["publish", "user-property", "a", "2"],
        ])
        #expect(
            properties.publish
                == MessageProperties(
                    contentType: "text/plain", payloadFormat: .utf8, responseTopic: "r",
                    correlationData: Data("c".utf8), messageExpiry: .seconds(30),
                    userProperties: [.init("a", "1"), .init("a", "2")]))
    }

    @Test func `will and connection have properties of their own`() throws {
        let properties = try Self.read([
            ["will", "will-delay-interval", "5"], ["will", "content-type", "x"], ["connect", "receive-maximum", "10"],
            ["connect", "maximum-packet-size", "1000"], ["connect", "session-expiry-interval", "60"],
            ["connect", "user-property", "k", "v"], ["connect", "authentication-method", "SCRAM"],
        ])
        #expect(properties.willDelay == .seconds(5) && properties.will.contentType == "x")
        #expect(properties.connect.receiveMaximum == 10 && properties.connect.maximumPacketSize == 1_000)
        #expect(properties.connect.sessionExpiry == 60 && properties.connect.userProperties == ["k": "v"])
        #expect(properties.connect.authenticationMethod == "SCRAM")
    }

    @Test(arguments: [
        (["foo", "content-type", "x"], "Invalid command foo given in --property argument."),
        (["publish", "nosuch", "x"], "Invalid property name nosuch given in --property argument."),
        (["connect", "content-type", "x"], "content-type property not allowed for connect in --property argument."),
        (
            ["publish", "payload-format-indicator", "256"],
            "Property value (256) out of range for property payload-format-indicator."
        ),
        (
            ["publish", "message-expiry-interval", "-1"],
            "Property value (-1) out of range for property message-expiry-interval."
        ),
        (
            ["publish", "subscription-identifier", "1"],
            "subscription-identifier property not supported for publish in --property argument."
        ),
        (
            ["puback", "reason-string", "x"],
            "reason-string property not supported for puback in --property argument."
        ),
        (["publish", "topic-alias", "1"], "The property topic-alias is not supported for publish."),
    ])
    func `what can not be said is refused in the same words`(words: [String], message: String) {
        #expect {
            try Self.read([words])
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }
}
