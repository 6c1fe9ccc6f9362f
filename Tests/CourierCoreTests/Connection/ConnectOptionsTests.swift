import CourierCore
import Testing

@Suite struct ConnectOptionsTests {
    private let options = ConnectOptions(
        host: "broker.example.com", port: 8883, clientId: "phone-7", username: "ada", password: "hunter2",
        userProperties: ["token": "s3cret"], alpn: ["mqtt"], scheme: "tls",
        webSocket: WebSocketOptions(path: "/a?key=s3cret", headers: ["Authorization": "s3cret"]))

    @Test func `descriptions and dumps of ConnectOptions hide passwords, property values and header values`() {
        var dumped = ""
        dump(options, to: &dumped)
        var dumpedInside = ""
        dump(CourierEvent(connectionInfo: options, type: .connectionAttempt), to: &dumpedInside)
        let texts = [
            "\(options)", String(describing: options), String(reflecting: options), options.debugDescription, dumped,
            dumpedInside, "\([options])", "\(Optional(options) as Any)",
            "\(CourierEvent(connectionInfo: options, type: .reconnect))",
            Mirror(reflecting: options).children.map { "\($0.value)" }.joined(),
        ]
        for text in texts {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("s3cret"))
            #expect(text.contains("ada"))
        }
        #expect("\(options)".contains("\"token\": <hidden>"))
        #expect("\(options)".contains("\"Authorization\": <hidden>"))
        #expect("\(options)".contains("\"/a\""))
    }

    @Test func `ConnectOptions and timeout policies have the default values of the published API`() {
        let plain = ConnectOptions(host: "h", port: 1, clientId: "c", username: "", password: "")
        #expect(plain.keepAlive == 60)
        #expect(!plain.isCleanSession)
        #expect(plain.userProperties == nil)
        #expect(plain.alpn == nil)
        #expect(plain.scheme == nil)
        #expect(ConnectTimeoutPolicy() == ConnectTimeoutPolicy(isEnabled: false, timerInterval: 16, timeout: 10))
        let idle = IdleActivityTimeoutPolicy()
        #expect(!idle.isEnabled)
        #expect([idle.timerInterval, idle.inactivityTimeout, idle.readTimeout] == [12, 10, 40])
    }

    @Test func `changing a copy of ConnectOptions does not change the original`() {
        let original = ConnectOptions(host: "a", port: 1, clientId: "c", username: "u", password: "p")
        var copy = original
        copy.host = "a"
        #expect(copy == original)
        copy.host = "b"
        copy.port = 2
        copy.clientId = "d"
        copy.scheme = "tls"
        copy.alternatives = [BrokerEndpoint(host: "e", port: 3)]
        #expect(original == ConnectOptions(host: "a", port: 1, clientId: "c", username: "u", password: "p"))
        #expect(
            copy
                == ConnectOptions(
                    host: "b", port: 2, clientId: "d", username: "u", password: "p", scheme: "tls",
                    alternatives: [BrokerEndpoint(host: "e", port: 3)]))
        #expect(Set([original, copy, original]).count == 2)
    }

    @Test func `client ids are compared by their bytes`() {
        func options(_ clientID: String) -> ConnectOptions {
            ConnectOptions(host: "a", port: 1, clientId: clientID, username: "", password: "")
        }
        #expect(options("caf\u{E9}") == options("caf\u{E9}"))
        #expect(options("caf\u{E9}") != options("cafe\u{301}"))
    }

    @Test func `IConnectionServiceProvider requires only clientId and getConnectOptions()`() {
        final class Minimal: IConnectionServiceProvider {
            let clientId = "phone-7"
            func getConnectOptions(completion: @escaping (Result<ConnectOptions, AuthError>) -> Void) {
                completion(.failure(.httpError(statusCode: 401)))
            }
        }
        let provider = Minimal()
        provider.extraIdProvider = { "ignored" }
        #expect(provider.extraIdProvider?() == nil)
        #expect(provider.existingConnectOptions == nil)
        provider.clearCachedAuthResponse()
        var failed = false
        (provider as Minimal).getConnectOptions { if case .failure = $0 { failed = true } }
        #expect(failed)
    }
}
