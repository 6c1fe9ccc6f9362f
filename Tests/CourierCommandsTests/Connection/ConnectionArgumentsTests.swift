import CommandArguments
import CourierCore
import CourierMQTT
import CourierTransport
import Testing

@testable import CourierCommands

/// The settings of the client's configuration that the options of a command line set.
struct ConnectionArgumentsTests {
    private static func read(_ line: String) throws -> ConnectionArguments {
        var settings = PublishArguments()
        try ArgumentReader(PublishArguments.groups).read(TypedLine(line).arguments, into: &settings)
        try settings.connection.checkStart()
        try settings.connection.check()
        return settings.connection
    }

    @Test func `properties given with -D are set in the client's configuration`() throws {
        let arguments = try Self.read(
            "pub -t a -D publish topic-alias 3 -D connect topic-alias-maximum 7 "
                + "-D connect request-problem-information 0 -D connect request-response-information 1 "
                + "-D connect user-property k v -D connect user-property k w "
                + "-D subscribe subscription-identifier 9 -D subscribe user-property s 1")
        let config = arguments.configuration()
        #expect(config.session.topicAliases == ["a": 3] && config.session.topicAliasMaximum == 7)
        #expect(!config.session.requestsProblemInformation && config.session.requestsResponseInformation)
        #expect(config.session.subscriptionOptions.identifier == 9)
        #expect(config.session.subscriptionOptions.userProperties == [.init("s", "1")])
        #expect(arguments.connectOptions.userPropertyList == [.init("k", "v"), .init("k", "w")])
        #expect(config.protocolVersion == .version5)
    }

    @Test func `properties given with -D disconnect are set in DisconnectOptions`() throws {
        let arguments = try Self.read(
            "pub -t a -D disconnect session-expiry-interval 5 -D disconnect reason-string bye "
                + "-D disconnect user-property d 1")
        #expect(
            arguments.disconnectOptions
                == DisconnectOptions(
                    sessionExpiry: .seconds(5), reasonString: "bye", userProperties: [.init("d", "1")]))
        #expect(try Self.read("pub -t a").disconnectOptions == DisconnectOptions())
    }

    @Test(arguments: [("4", ReasonCode.disconnectWithWillMessage), ("0x98", .administrativeAction), ("0", .success)])
    func `--disconnect-reason sets the reason code of DISCONNECT`(_ text: String, _ code: ReasonCode) throws {
        #expect(try Self.read("pub -t a --disconnect-reason \(text)").disconnectOptions.reasonCode == code)
    }

    @Test(arguments: ["x", "0x", "5", "0x87", "256", "-1"])
    func `--disconnect-reason refuses invalid codes and codes that a client must not send`(_ text: String) throws {
        let error = try #require(throws: ArgumentError.self) {
            try Self.read("pub -t a --disconnect-reason=\(text)")
        }
        #expect(error.message.contains("Invalid disconnect reason given: \(text).") && error.message.contains("0x98"))
    }

    @Test(arguments: ["31", "mqttv31"])
    func `with -V 31 and without -i, the generated client id has 23 bytes`(version: String) throws {
        let arguments = try Self.read("pub -t a -V \(version)")
        #expect(arguments.configuration().protocolVersion == .version31)
        #expect(arguments.sentClientID.utf8.count == 23)
        #expect(try Self.read("pub -t a -i me -V \(version)").sentClientID == "me")
    }

    @Test func `--ciphers and --tls-keylog set the TLS configuration and are refused without TLS`() throws {
        let options = "--ciphers ECDHE+AESGCM --tls-keylog /tmp/keys"
        let tls = try Self.read("pub -t a --tls-use-os-certs \(options)").configuration().tls
        #expect(tls?.ciphers == "ECDHE+AESGCM" && tls?.keyLogFile == "/tmp/keys")
        #expect(throws: ArgumentError.self) { try Self.read("pub -t a \(options)") }
    }

    @Test(arguments: [
        ("pub -t a -c -i ''", "Error: Invalid id."), ("pub -t a -P secret", "Error: Problem setting username and/or"),
        ("pub -t a --cafile /nowhere", "Error: Problem setting TLS options: File not found."),
        ("pub -t a -L mqtt://h:70000/t", "Unable to connect (Invalid function arguments provided.)."),
    ])
    func `pub reports invalid options with the same error message as mosquitto_pub`(line: String, words: String) {
        #expect {
            try Self.read(line)
        } throws: { error in
            (error as? StartFailure)?.lines.first?.hasPrefix(words) == true
        }
    }
}
