import CourierCore
import TestSupport
import Testing

/// Connect options that are created from a broker's URL.
@Suite struct ConnectOptionsURLTests {
    private func options(
        _ host: String, _ port: UInt16, _ scheme: String, id: String = "c", username: String = "",
        password: String = "",
        isClean: Bool = false, path: String? = nil
    ) -> ConnectOptions {
        ConnectOptions(
            host: host, port: port, clientId: id, username: username, password: password, isCleanSession: isClean,
            scheme: scheme, webSocket: path.map { WebSocketOptions(path: $0) })
    }

    @Test func `each URL scheme has its default port, and an explicit port replaces the default port`() throws {
        for (scheme, port) in [("mqtt", 1_883), ("mqtts", 8_883), ("ws", 80), ("wss", 443)] as [(String, UInt16)] {
            #expect(try ConnectOptions(url: "\(scheme)://h", clientId: "c") == options("h", port, scheme))
            #expect(try ConnectOptions(url: "\(scheme)://h:7", clientId: "c") == options("h", 7, scheme))
        }
        #expect(try ConnectOptions(url: "MQTT://h/", clientId: "c") == options("h", 1_883, "mqtt"))
    }

    @Test func `user name, password, path and client id of a URL are percent-decoded`() throws {
        #expect(
            try ConnectOptions(url: "mqtts://a%40b:s%3Ae%2Fc%25@broker.example.com:1?client_id=phone%207")
                == options("broker.example.com", 1, "mqtts", id: "phone 7", username: "a@b", password: "s:e/c%"))
        #expect(try ConnectOptions(url: "mqtt://ada@h", clientId: "c") == options("h", 1_883, "mqtt", username: "ada"))
        #expect(
            try ConnectOptions(url: "mqtt://ada:x:y@[::1]:1884", clientId: "c")
                == options("::1", 1_884, "mqtt", username: "ada", password: "x:y"))
        #expect(try ConnectOptions(url: "wss://h/a/b", clientId: "c") == options("h", 443, "wss", path: "/a/b"))
        #expect(
            try ConnectOptions(url: "unix:///run/my%20broker.sock", clientId: "c")
                == options("/run/my broker.sock", 0, "unix"))
        #expect(
            try ConnectOptions(url: "unix://ada:pw@/b.sock", clientId: "c")
                == options("/b.sock", 0, "unix", username: "ada", password: "pw"))
    }

    @Test func `a URL without a client id gets a random client id and a clean session`() throws {
        let random = try ConnectOptions(url: "mqtt://h")
        #expect(random == options("h", 1_883, "mqtt", id: "courier-%%%%%%%%", isClean: true))
        #expect(try ConnectOptions(url: "mqtt://h?client_id=c").isCleanSession == false)
        #expect(try ConnectOptions(url: "mqtt://h?client_id=c", isCleanSession: true).isCleanSession)
        #expect(try ConnectOptions(url: "mqtt://h", keepAlive: 7, isCleanSession: true).keepAlive == 7)
        expectCourierError(.invalidConfiguration, "A session that is not clean needs a client id") {
            _ = try ConnectOptions(url: "mqtt://h", isCleanSession: false)
        }
        expectCourierError(.invalidConfiguration, "use only one") {
            _ = try ConnectOptions(url: "mqtt://h?client_id=c", clientId: "d")
        }
    }

    @Test(arguments: [
        ("broker", "no scheme"), ("http://h", "an unknown scheme; use mqtt, mqtts, ws, wss, unix"),
        ("ada:secret@h://x", "an unknown scheme"), ("wss://ada:12/secret@h", "an @ in its path"),
        ("mqtt://", "no host"),
        ("mqtt://u:secret@", "no host"), ("mqtt://h:0", "port"), ("mqtt://h:65536", "port"), ("mqtt://h:", "port"),
        ("mqtt://h:+1", "port"), ("mqtt://h:٣", "port"), ("mqtt://::1", "brackets"), ("mqtt://[::1", "without a"),
        ("mqtt://[h]", "not an IPv6"), ("mqtt://[::1]x", "port"), ("mqtt://h/secret", "a path"),
        ("mqtt://h?clean=secret", "other than client_id"), ("mqtt://h?client_id=a&b=secret", "other than client_id"),
        ("mqtt://h?client_id", "other than client_id"), ("mqtt://u:1?client_id=secret@h", "other than client_id"),
        ("mqtt://h?client_id=", "empty client_id"),
        ("mqtt://h#secret", "fragment"), ("mqtt://u:secret%ZZ@h", "in its password"),
        ("mqtt://u%FF:p@h", "in its user name"),
        ("unix://", "no socket path"), ("unix:///", "no socket path"), ("unix://h/secret", "no socket path"),
    ])
    func `an invalid URL throws an error that names the mistake and hides secrets`(_ url: String, _ words: String) {
        expectCourierError(.invalidConfiguration, words) { _ = try ConnectOptions(url: url) }
        do throws(CourierError) {
            _ = try ConnectOptions(url: url)
        } catch {
            #expect(!error.message.contains("secret"), "\(error.message)")
        }
    }
}
