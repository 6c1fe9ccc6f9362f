import CourierCore
import Foundation
import Testing

@testable import CourierAuthHTTP

@Suite struct ConnectOptionsMappingTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func grant(_ json: String, _ mapping: ConnectOptionsMapping) throws -> ConnectGrant {
        try mapping.grant(from: Data(json.utf8), clientID: "phone-7", requestedAt: Self.now)
    }

    private func message(_ json: String, _ mapping: ConnectOptionsMapping) -> String? {
        do {
            _ = try grant(json, mapping)
            return nil
        } catch let failure as ConnectOptionsMapping.Failure {
            return failure.message
        } catch {
            return "\(error)"
        }
    }

    @Test func `every connect option can be read from the JSON response`() throws {
        let mapping = ConnectOptionsMapping(
            host: "brokers.1.host", port: "brokers.1.port", keepAlive: "ka", clientId: "id", username: "user",
            password: .at(["dotted.name", "token"]), isCleanSession: "clean", userProperties: "props", alpn: "alpn",
            scheme: "scheme", webSocket: WebSocketOptions(path: "/ws"), alternatives: "brokers.1.others",
            authenticationMethod: "auth.method", authenticationData: "auth.data",
            expiry: .after("life"))
        let granted = try grant(
            """
            {"brokers": [{}, {"host": "b", "port": "8883", "others": [
               {"host": "c", "port": 1}, {"host": "d", "port": 2, "priority": 3, "weight": 4, "scheme": "wss"}]}], "ka": 30, "id": "c", "user": "u", "clean": true,
             "dotted.name": {"token": "t"}, "props": {"a": "1"}, "alpn": ["mqtt"], "scheme": "tls",
             "auth": {"method": "jwt", "data": "d"}, "life": 90.5}
            """, mapping)
        let expected = ConnectOptions(
            host: "b", port: 8883, keepAlive: 30, clientId: "c", username: "u", password: "t", isCleanSession: true,
            userProperties: ["a": "1"], alpn: ["mqtt"], scheme: "tls",
            webSocket: WebSocketOptions(path: "/ws"),
            extendedAuthentication: ExtendedAuthentication(method: "jwt", data: Data("d".utf8)),
            alternatives: [
                BrokerEndpoint(host: "c", port: 1),
                BrokerEndpoint(host: "d", port: 2, priority: 3, weight: 4, scheme: "wss"),
            ])
        #expect(granted == ConnectGrant(expected, expiresAt: Self.now.addingTimeInterval(90.5)))
    }

    @Test func `a mapping can set connect options to fixed values and defaults`() throws {
        let mapping = ConnectOptionsMapping(
            host: .fixed("b"), port: .at("port", default: 1883), username: .fixed("u"),
            password: .at("token", default: "p"), userProperties: .at("props", default: [:]),
            scheme: .at("scheme", default: "tcp"))
        let expected = ConnectOptions(
            host: "b", port: 1883, clientId: "phone-7", username: "u", password: "p", userProperties: [:],
            scheme: "tcp")
        #expect(try grant(#"{"token": null}"#, mapping) == ConnectGrant(expected))
    }

    @Test(arguments: [
        (#""2023-11-14T23:13:20Z""#, 1_700_003_600.0), (#""2023-11-14T23:13:20.250Z""#, 1_700_003_600.25),
        (#""2023-11-15T00:13:20+01:00""#, 1_700_003_600), ("1700003600", 1_700_003_600),
        (#""1700003600""#, 1_700_003_600), ("1700003600500", 1_700_003_600.5), ("-5", -5),
    ])
    func `an expiry date is read from ISO 8601 text, Unix seconds and Unix milliseconds`(json: String, seconds: Double)
        throws
    {
        var mapping = ConnectOptionsMapping.test
        mapping.expiry = .at("end")
        let granted = try grant(
            #"{"broker": {"host": "b", "port": 1}, "token": "t", "end": \#(json)}"#, mapping)
        #expect(granted.expiresAt == Date(timeIntervalSince1970: seconds))
    }

    @Test(arguments: [
        ("", "is not JSON"), ("{", "is not JSON"), ("<html>", "is not JSON"), ("{}", #"has no value at "broker.host""#),
        ("[]", #"has no value at "broker.host""#), ("7", #"has no value at "broker.host""#),
        (#"{"broker": {"host": 7}}"#, #"has a number at "broker.host", but a string is required"#),
        (#"{"broker": {"host": null}}"#, #"has no value at "broker.host""#),
        (
            #"{"broker": {"host": "b", "port": 65536}}"#,
            #"has a number at "broker.port", but a whole number from 0 to 65535 is required"#
        ),
        (
            #"{"broker": {"host": "b", "port": 1.5}}"#,
            #"has a number at "broker.port", but a whole number from 0 to 65535 is required"#
        ),
        (
            #"{"broker": {"host": "b", "port": 1}, "token": ["s3cret"]}"#,
            #"has a list at "token", but a string is required"#
        ),
        (#"{"broker": {"host": "b", "port": 1}, "token": "s3cret"}"#, #"has no value at "expires_in""#),
        (
            #"{"broker": {"host": "b", "port": 1}, "token": "s3cret", "expires_in": "soon"}"#,
            #"has a string at "expires_in", but a number is required"#
        ),
        (
            #"{"broker": {"host": "b", "port": 1}, "token": "s3cret", "expires_in": "nan"}"#,
            #"has a string at "expires_in", but a number is required"#
        ),
        (#"{"broker": {"host": "b", "port": 1}, "token": "s3cret", "expires_in": 1e999}"#, "is not JSON"),
    ])
    func `the error for a missing or wrong JSON value names the path and does not show the value`(
        json: String, expected: String
    ) {
        let message = message(json, .test)
        #expect(message == expected)
        #expect(message?.contains("s3cret") == false)
    }

    @Test func `JSON lists and objects with elements of a wrong type are refused`() {
        var mapping = ConnectOptionsMapping.test
        mapping.alpn = "alpn"
        let start = #"{"broker": {"host": "b", "port": 1}, "token": "t", "expires_in": 1"#
        #expect(
            message(start + #", "alpn": ["a", 1]}"#, mapping)
                == #"has a list at "alpn", but a list of strings is required"#)
        mapping.alpn = nil
        mapping.alternatives = "others"
        #expect(
            message(start + #", "others": [{"host": "b"}]}"#, mapping)
                == #"has a list at "others", but a list of objects with host and port is required"#)
        mapping.alternatives = nil
        mapping.userProperties = "props"
        #expect(
            message(start + #", "props": {"a": {}}}"#, mapping)
                == #"has an object at "props", but an object of strings is required"#)
    }

    @Test func `a JSON response with 100000 nested lists or objects throws an error`() {
        for opening in ["[", #"{"a":"#] {
            #expect(message(String(repeating: opening, count: 100_000), .test) == "is not JSON")
        }
    }

    @Test(arguments: ["1e308", "-1e308", "0", "-1"])
    func `a token lifetime that is huge, zero or negative causes no crash`(seconds: String) throws {
        let json = #"{"broker": {"host": "b", "port": 1}, "token": "t", "expires_in": \#(seconds)}"#
        let end = try grant(json, .test).expiresAt
        #expect(end != nil)
    }

    @Test func `the description of a mapping hides fixed values and default values`() {
        var mapping = ConnectOptionsMapping.test
        mapping.password = .fixed("s3cret")
        mapping.username = .at("user", default: "s3cret")
        var text = "\(mapping) " + String(reflecting: mapping)
        dump(mapping, to: &text)
        #expect(text.contains("broker.host"))
        #expect(!text.contains("s3cret"))
    }
}
