import CourierCore
import CourierMQTT
import CourierMQTTChuck
import CourierTesting
import Dispatch
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuckWeb

@Suite(.timeLimit(.minutes(5))) struct ServerSecurityTests {
    /// All paths of the server.
    private static let paths = [
        "", "page.css", "page.js", "icon.svg", "about", "check", "history", "rows", "row/1", "row/1/packet.bin",
        "row/3/payload.bin",
        "connections", "metrics", "export.txt", "export.jsonl", "export.pcapng",
    ]

    // MARK: Who is let in

    @Test func `every request without the right token gets status 403`() async throws {
        let page = try PageFixture()
        try page.session()
        for path in Self.paths + ["events", "clear"] {
            let nearly = page.token.dropLast() + "!"
            for target in ["/\(path)", "/wrong/\(path)", "/\(nearly)/\(path)", "//\(path)"] {
                let reply = try await page.request(target: target)
                #expect(reply.status == 403, "\(target)")
                #expect(!reply.text.contains("orders"))
            }
        }
        let cleared = try await page.request(
            "clear", method: "POST", token: "wrong", headers: ["X-Courier-Inspector: yes"])
        #expect(cleared.status == 403)
        #expect(page.logger.summary.rowCount == 6)
    }

    @Test func `every request with a foreign Host header gets status 403`() async throws {
        let page = try PageFixture()
        try page.session()
        for path in Self.paths + ["events"] {
            for host in ["evil.example", "evil.example:\(page.server.port)", "127.0.0.1:1"] {
                let reply = try await page.request(path, host: host)
                #expect(reply.status == 403)
                #expect(!reply.text.contains("orders"))
            }
        }
        #expect(try await page.request("rows", host: "localhost:\(page.server.port)").status == 200)
    }

    @Test func `requests from another origin get status 403 and cannot clear the rows`() async throws {
        let page = try PageFixture()
        try page.session()
        for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
            for path in Self.paths + ["events"] {
                let reply = try await page.request(path, headers: ["Origin: \(origin)"])
                #expect(reply.status == 403)
                #expect(!reply.headers.keys.contains { $0.hasPrefix("access-control") })
            }
            let cleared = try await page.request(
                "clear", method: "POST", headers: ["Origin: \(origin)", "X-Courier-Inspector: yes"])
            #expect(cleared.status == 403)
            // The preflight request of a browser is refused, so the browser does not send the real request.
            let asked = try await page.request(
                "clear", method: "OPTIONS",
                headers: [
                    "Origin: \(origin)", "Access-Control-Request-Method: POST",
                    "Access-Control-Request-Headers: x-courier-inspector",
                ])
            #expect(asked.status == 403)
            #expect(!asked.headers.keys.contains { $0.hasPrefix("access-control") })
        }
        // The request of a form on another site, without an Origin header.
        let form = try await page.request(
            "clear", method: "POST", headers: ["Content-Type: application/x-www-form-urlencoded"], body: "a=b")
        #expect(form.status == 403)
        #expect(page.logger.summary.rowCount == 6)
    }

    @Test func `every response has strict security headers, including refused requests`() async throws {
        let page = try PageFixture()
        try page.session()
        for path in Self.paths + ["nothing", "row/99", "rows?query=dir:up", "clear"] {
            for token in [page.token, "wrong"] {
                let headers = try await page.request(path, token: token).headers
                let policy = try #require(headers["content-security-policy"])
                #expect(policy.hasPrefix("default-src 'none';"))
                #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
                #expect(headers["x-content-type-options"] == "nosniff")
                #expect(headers["referrer-policy"] == "no-referrer")
                #expect(headers["x-frame-options"] == "DENY")
                #expect(headers["cache-control"] == "no-store")
                #expect(headers["cross-origin-resource-policy"] == "same-origin")
                #expect(!headers.keys.contains { $0.hasPrefix("access-control") })
            }
        }
    }

    @Test func `the server listens on one local address only, so the network cannot reach it`() throws {
        let page = try PageFixture()
        // A server on all addresses would answer on this one, too, which no other test uses. The kernel's list of listening
        // sockets proves nothing, because it may omit sockets while other sockets are opened and closed.
        _ = try RawHTTP(port: page.server.port)
        #expect(throws: RawHTTP.Failure.self) { try RawHTTP(address: "127.0.0.2", port: page.server.port) }
    }

    // MARK: What is shown

    @Test func `markup and scripts in a message are sent to the page as data, never as HTML`() async throws {
        let script = "<script>alert(1)</script><img src=x onerror=alert(2)>\u{2028}\u{0}</textarea>\"'`${1}"
        let page = try PageFixture(client: "<b>client</b>")
        try page.session()
        try page.receive("<script>topic</script>/\"'", script.utf8)
        for path in ["rows", "row/7", "connections"] {
            let reply = try await page.request(path)
            #expect(reply.headers["content-type"] == "application/json")
            let json = try JSONSerialization.jsonObject(with: reply.body)
            #expect(json is [Any] || json is [String: Any])
        }
        let details = try await page.request("row/7").object()
        let views = try #require(details["views"] as? [[String: Any]])
        #expect(views.last?["text"] as? String == script)
        let file = try await page.request("row/7/payload.bin")
        #expect(file.body == Data(script.utf8))
        #expect(file.headers["content-type"] == "application/octet-stream")
        #expect(file.headers["content-disposition"]?.hasPrefix("attachment") == true)
        // The page has no way to turn text into markup.
        let code = try await page.request("page.js").text
        for danger in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
            "createContextualFragment", "srcdoc",
        ] {
            #expect(!code.contains(danger))
        }
        let markup = try await page.request("").text
        #expect(markup.components(separatedBy: "<script").count == 2)
        #expect(!markup.contains(" style=") && !markup.lowercased().contains(" onclick="))
    }

    @Test func `a payload of 16 MiB is shown truncated, and its download has all recorded bytes`() async throws {
        var options = MQTTChuckOptions()
        options.packetMaxSize = 32 << 20
        options.logsMaxBytes = 64 << 20
        let page = try PageFixture(options)
        let payload = [UInt8](repeating: 0x3C, count: 16 << 20)
        try page.receive("big", payload)
        let rows = try await page.request("rows")
        #expect(rows.body.count < 8 * 1_024)
        let shown = try await page.request("row/1")
        #expect(shown.body.count < 256 * 1_024)
        let object = try shown.object()
        #expect((object["views"] as? [[String: Any]])?.allSatisfy { $0["isCut"] as? Bool == true } == true)
        #expect((object["row"] as? [String: Any])?["payloadSize"] as? Int == 16 << 20)
        let file = try await page.request("row/1/payload.bin")
        #expect(file.isWhole)
        #expect(file.body.count > 4 << 20)
        let details = try #require(page.logger.details(of: 1))
        // Compared outside of `#expect`, which would search for the difference for hours.
        let isSame = file.body == Data(details.bytes[details.payload])
        #expect(isSame)
    }

    @Test func `a payload of 16 MiB is truncated by the default limits, and requests still succeed`() async throws {
        let page = try PageFixture()
        try page.receive("big", [UInt8](repeating: 0x3C, count: 16 << 20))
        #expect(try await page.request("row/1").status == 200)
        #expect(try await page.request("row/1/payload.bin").body.count <= 64 * 1_024)
        #expect(try await page.request("rows?query=big").status == 200)
    }

    @Test func `no response contains the client's password or token`() async throws {
        let page = try PageFixture()
        try page.session()
        var all = Data()
        for path in Self.paths + (1...6).map({ "row/\($0)" }) { all += try await page.request(path).body }
        all += Data(
            try await onThread { [port = page.server.port, head = page.head("events")] in
                let connection = try RawHTTP(port: port)
                try connection.send(head + "\r\n")
                return try connection.read(until: "event: tick")
            }.utf8)
        let text = String(decoding: all, as: UTF8.self)
        #expect(text.contains("orders/1"))
        let encoded = Data(PageFixture.password.utf8).base64EncodedString().prefix(16)
        #expect(!text.contains(PageFixture.password))
        #expect(!text.contains(encoded))
    }

    // MARK: Who holds it up

    @Test func `200 slow HTTP clients do not delay the inspected MQTT client or the page`() async throws {
        let broker = try LoopbackBroker.start()
        var options = MQTTChuckOptions()
        options.logsMaxSize = 20_000
        let logger = MQTTChuckLogger(options: options)
        let server = try logger.serve(port: LocalPort.free())
        let token = server.url.path.replacingOccurrences(of: "/", with: "")
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: "watched", username: "ada", password: ""))
        config.deliveryQueue = DispatchQueue(label: "watched")
        config.packetObserver = logger
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        try await client.connected()
        for number in 0..<300 { try await client.publish("\(number)", to: "before", qos: .one) }

        // Some clients send nothing, some send half a request, and some request events or exports and never read.
        let host = "Host: 127.0.0.1:\(server.port)\r\n"
        let requests = [
            "", "GET /\(token)/rows HTTP/1.1\r\n" + host, "GET /\(token)/events HTTP/1.1\r\n\(host)\r\n",
            "GET /\(token)/export.jsonl HTTP/1.1\r\n\(host)\r\n",
            "POST /\(token)/clear HTTP/1.1\r\n\(host)X-Courier-Inspector: yes\r\nContent-Length: 1000\r\n\r\nx",
        ]
        let slow = try await onThread { [port = server.port] in
            try (0..<200).map { index in
                let connection = try RawHTTP(port: port)
                try connection.send(requests[index % requests.count])
                return connection
            }
        }
        for number in 0..<2_000 { try await client.publish("\(number)", to: "during", qos: .one) }
        let page = try await onThread { [port = server.port] in
            let connection = try RawHTTP(port: port)
            try connection.send(
                "GET /\(token)/rows?before=\(UInt64.max)&limit=1 HTTP/1.1\r\n\(host)Connection: close\r\n\r\n")
            var all: [UInt8] = []
            while case let part = try connection.read(), !part.isEmpty { all += part }
            return try HTTPReply(all)
        }
        #expect(page.status == 200)
        #expect(page.text.contains("PUBACK"))
        // CONNECT, CONNACK and two packets for each message: no row is missing, and no request has cleared the rows.
        #expect(logger.summary.rowCount == 2 + 2 * 2_300)
        #expect(slow.count == 200)
        client.destroy()
        await broker.shutdown()
        server.stop()
    }

    @Test func `malformed and oversized requests do not affect later requests`() async throws {
        let page = try PageFixture()
        try page.session()
        let long = String(repeating: "x", count: 200_000)
        for text in [
            "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", page.head(long) + "\r\n",
            page.head("rows") + "Y: \(long)\r\n\r\n", page.head("rows?query=%") + "\r\n",
            page.head("rows?query=%ff%fe") + "\r\n", page.head("rows?query=%00") + "\r\n",
            "POST /\(page.token)/clear HTTP/1.1\r\nHost: 127.0.0.1:\(page.server.port)\r\n"
                + "X-Courier-Inspector: yes\r\nContent-Length: 200000\r\n\r\n" + long,
        ] {
            // The server may close the connection before the whole request is sent.
            try await onThread { [port = page.server.port] in
                let connection = try RawHTTP(port: port)
                try? connection.send(text)
            }
        }
        #expect(try await page.request("rows").status == 200)
        #expect(page.logger.summary.rowCount == 6)
    }
}
