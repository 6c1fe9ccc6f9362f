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

    @Test func `-D publish sets the properties of the message`() throws {
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

    @Test func `-D will and -D connect set the properties of the will and of CONNECT`() throws {
        let properties = try Self.read([
            ["will", "will-delay-interval", "5"], ["will", "content-type", "x"], ["connect", "receive-maximum", "10"],
            ["connect", "maximum-packet-size", "1000"], ["connect", "session-expiry-interval", "60"],
            ["connect", "user-property", "k", "v"], ["connect", "authentication-method", "SCRAM"],
        ])
        #expect(properties.willDelay == .seconds(5) && properties.will.contentType == "x")
        #expect(properties.connect.receiveMaximum == 10 && properties.connect.maximumPacketSize == 1_000)
        #expect(properties.connect.sessionExpiry == 60 && properties.connect.userProperties == [.init("k", "v")])
        #expect(properties.connect.authenticationMethod == "SCRAM")
    }

    @Test func `-D sets the properties of CONNECT, SUBSCRIBE, UNSUBSCRIBE and DISCONNECT separately`() throws {
        let properties = try Self.read([
            ["connect", "topic-alias-maximum", "0"], ["connect", "request-problem-information", "0"],
            ["connect", "request-response-information", "1"], ["connect", "user-property", "k", "v"],
            ["connect", "user-property", "k", "w"], ["subscribe", "subscription-identifier", "268435455"],
            ["subscribe", "user-property", "s", "1"], ["unsubscribe", "user-property", "u", "1"],
            ["disconnect", "session-expiry-interval", "4294967295"], ["disconnect", "reason-string", "bye"],
            ["disconnect", "user-property", "d", "1"], ["publish", "topic-alias", "65535"],
        ])
        #expect(properties.problem == nil && properties.topicAlias == 65_535)
        #expect(properties.connect.topicAliasMaximum == 0 && properties.connect.requestsProblemInformation == false)
        #expect(properties.connect.requestsResponseInformation == true)
        #expect(properties.connect.userProperties == [.init("k", "v"), .init("k", "w")])
        #expect(properties.subscribe.identifier == 268_435_455)
        #expect(properties.subscribe.userProperties == [.init("s", "1")])
        #expect(properties.unsubscribe == [.init("u", "1")])
        #expect(properties.disconnect.sessionExpiry == .max && properties.disconnect.reasonString == "bye")
        #expect(properties.disconnect.userProperties == [.init("d", "1")])
    }

    @Test(arguments: [
        (
            [["connect", "receive-maximum", "1"], ["connect", "receive-maximum", "1"]], "CONNECT", "Duplicate property"
        ),
        ([["will", "content-type", "a"], ["will", "content-type", "b"]], "Will", "Duplicate property"),
        ([["publish", "topic-alias", "0"]], "PUBLISH", "protocol error"),
        ([["connect", "request-problem-information", "2"]], "CONNECT", "protocol error"),
    ])
    func `duplicate properties and invalid property values are reported with the packet type`(
        lists: [[String]], packet: String, words: String
    ) throws {
        let problem = try Self.read(lists).problem
        #expect(problem?.hasPrefix("Error in \(packet) properties: ") == true && problem?.contains(words) == true)
    }

    @Test(arguments: [
        (["foo", "content-type", "x"], "Invalid command given in --property argument."),
        (["publish", "nosuch", "x"], "Invalid property name given in --property argument."),
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
        (
            ["disconnect", "server-reference", "x"],
            "server-reference property not supported for disconnect in --property argument."
        ),
        (
            ["publish", "correlation-data", String(repeating: "x", count: 65_536)],
            "Property value too long for property correlation-data."
        ),
    ])
    func `an invalid -D argument is refused with a specific error message`(words: [String], message: String) {
        #expect {
            try Self.read([words])
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }
}
