import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuckWeb

@Suite(.timeLimit(.minutes(5))) struct MQTTChuckServerTests {
    // MARK: The page

    @Test(arguments: [("", "text/html"), ("page.css", "text/css"), ("page.js", "text/javascript")])
    func `the page, its CSS and its script contain no external addresses`(_ path: String, _ type: String) async throws {
        let page = try PageFixture()
        let reply = try await page.request(path)
        #expect(reply.status == 200)
        #expect(reply.isWhole)
        #expect(reply.headers["content-type"] == "\(type); charset=utf-8")
        #expect(reply.body.count > 1_000)
        // The only allowed address is the XML namespace of SVG, which no browser loads.
        let addresses = reply.text.replacingOccurrences(of: "http://www.w3.org/2000/svg", with: "")
        #expect(!addresses.contains("http://") && !addresses.contains("https://") && !addresses.contains("url("))
    }

    @Test func `a request path without the slash after the token is redirected to the page`() async throws {
        let page = try PageFixture()
        let reply = try await page.request(target: "/\(page.token)")
        #expect(reply.status == 308)
        #expect(reply.headers["location"] == "/\(page.token)/")
    }

    // MARK: Rows

    @Test func `rows are returned in pages, forward and backward`() async throws {
        let page = try PageFixture()
        try page.session()
        let all = try await page.request("rows").object()
        let rows = try #require(all["rows"] as? [[String: Any]])
        #expect(
            rows.map { $0["type"] as? String } == ["CONNECT", "CONNACK", "PUBLISH", "PUBREC", "PUBREL", "PUBCOMP"])
        #expect(rows.map { $0["isOutgoing"] as? Bool } == [true, false, true, false, true, false])
        #expect(rows[2]["topic"] as? String == "orders/1")
        #expect(rows[2]["qos"] as? Int == 2)
        #expect(rows[2]["packetID"] as? Int == 3)
        #expect(rows[2]["client"] as? String == "phone-7")
        #expect(rows[2]["roundTrip"] as? Double != nil)
        #expect(rows[5]["exchange"] as? Int == 3)
        #expect(rows[2]["trace"] == nil)
        #expect(all["next"] as? Int == 7)

        let two = try await page.request("rows?from=3&limit=2").object()
        #expect((two["rows"] as? [[String: Any]])?.map { $0["number"] as? Int } == [3, 4])
        #expect(two["next"] as? Int == 5)
        let older = try await page.request("rows?before=4&limit=2").object()
        #expect((older["rows"] as? [[String: Any]])?.map { $0["number"] as? Int } == [2, 3])
        #expect(older["next"] as? Int == 2)
        let newest = try await page.request("rows?before=\(UInt64.max)&limit=1").object()
        #expect((newest["rows"] as? [[String: Any]])?.map { $0["number"] as? Int } == [6])
    }

    @Test func `a query filters the rows, and an invalid query returns the column of its error`() async throws {
        let page = try PageFixture()
        try page.session()
        let found = try await page.request("rows?query=type:publish%20topic:orders/%23").object()
        #expect((found["rows"] as? [[String: Any]])?.map { $0["number"] as? Int } == [3])
        let wrong = try await page.request("rows?query=qos:1+dir:up")
        #expect(wrong.status == 400)
        let error = try wrong.object()
        #expect(error["column"] as? Int == 11)
        #expect((error["message"] as? String)?.contains("dir:in") == true)
        #expect(error["help"] as? String == MQTTChuckQuery.help)
        let checked = try await page.request("check?query=qos:1+dir:up")
        #expect(checked.status == 200)
        #expect(((try checked.object())["error"] as? [String: Any])?["column"] as? Int == 11)
        #expect(try await page.request("check?query=qos:1").text == "{}")
        let long = try await page.request("rows?query=" + String(repeating: "x", count: 1_001))
        #expect(long.status == 400)
    }

    @Test func `a query that is not valid UTF-8 gets status 400`() async throws {
        let page = try PageFixture()
        try page.session()
        for path in ["rows", "export.txt", "export.jsonl", "export.pcapng"] {
            for query in ["query=%ff", "query=type:publish%c3", "query=type:publish&query=%ff"] {
                let reply = try await page.request("\(path)?\(query)")
                #expect(reply.status == 400, "\(path)?\(query)")
                let error = try reply.object()
                #expect(error["message"] as? String == "a query must be UTF-8")
            }
        }
        let checked = try await page.request("check?query=%ff").object()
        #expect((checked["error"] as? [String: Any])?["column"] as? Int == 1)
        #expect(try await page.request("rows?other=%ff").status == 200)
    }

    @Test
    func `after a response arrives, a query by round-trip time returns the first row that the page must reload`()
        async throws
    {
        let page = try PageFixture()
        let delivery = try #require(Delivery(qos: .atLeastOnce, packetID: 1, isDuplicate: false))
        try page.observe(.outgoing, .publish(Publish(topic: "t", payload: [1], delivery: delivery)))
        let query = "query=took:%3E0us"
        let first = try await page.request("rows?\(query)").object()
        #expect((first["rows"] as? [Any])?.isEmpty == true)
        #expect(first["next"] as? Int == 2)
        #expect(first["again"] as? Int == nil)
        try page.observe(.incoming, .pubAck(Acknowledgement(packetID: 1)))
        let second = try await page.request("rows?from=2&\(query)").object()
        #expect((second["rows"] as? [Any])?.count == 1)
        #expect(second["again"] as? Int == 1)
        let third = try await page.request("rows?from=1&\(query)").object()
        #expect((third["rows"] as? [Any])?.count == 2)
        #expect(third["again"] as? Int == nil)
        let all = try await page.request("rows?from=2").object()
        #expect(all["again"] as? Int == nil)
    }

    @Test func `each request for rows returns and searches only a limited number of rows`() async throws {
        var limits = ServerLimits()
        limits.rows = 10
        limits.scannedRows = 300
        let page = try PageFixture(limits: limits)
        for number in 0..<1_000 { try page.receive("t/\(number)", "x".utf8) }
        let many = try await page.request("rows?limit=100000").object()
        #expect((many["rows"] as? [Any])?.count == 10)
        let rare = try await page.request("rows?query=topic:t/999").object()
        #expect((rare["rows"] as? [Any])?.count == 0)
        #expect(rare["next"] as? Int == 301)
        for limit in ["-5", "0", "x", "99999999999999999999"] {
            let reply = try await page.request("rows?limit=\(limit)&from=\(limit)")
            #expect(reply.status == 200)
        }
    }

    // MARK: Details

    @Test func `details of a row contain its fields, payload views, bytes and exchange`() async throws {
        let page = try PageFixture()
        try page.session()
        let details = try await page.request("row/3").object()
        #expect((details["explanation"] as? String)?.isEmpty == false)
        let fields = try #require(details["fields"] as? [[String: String]])
        #expect(fields.contains(["name": "QoS", "value": "2"]))
        let views = try #require(details["views"] as? [[String: Any]])
        #expect(views.map { $0["name"] as? String } == ["JSON", "Text"])
        #expect((views[0]["text"] as? String)?.contains("\"a\" : [\n") == true)
        #expect(views[1]["text"] as? String == #"{"b":1,"a":[true]}"#)
        let bytes = try #require((details["bytes"] as? String).flatMap { Data(base64Encoded: $0) })
        #expect(Array(bytes) == page.logger.details(of: 3)?.bytes)
        let exchange = try #require(details["exchange"] as? [[String: Any]])
        #expect(exchange.map { $0["type"] as? String } == ["PUBLISH", "PUBREC", "PUBREL", "PUBCOMP"])
        #expect(exchange.dropFirst().allSatisfy { $0["elapsed"] is Double })
        let payload = try await page.request("row/3/payload.bin")
        #expect(payload.text == #"{"b":1,"a":[true]}"#)
        #expect(payload.headers["content-disposition"] == "attachment; filename=\"payload-3.bin\"")
        let packet = try await page.request("row/3/packet.bin")
        #expect(packet.body == bytes)
    }

    @Test func `a missing row gets status 410, and an unknown path gets status 404`() async throws {
        let page = try PageFixture()
        try page.session()
        #expect(try await page.request("row/99").status == 410)
        for path in [
            "row", "row/", "row/x", "row/1/", "row/1/other", "row/1/payload.bin/x", "nothing", "export", "export.zip",
            "..", "../..", "%2e%2e/%2e%2e/etc/passwd", "row/-1", "row/99999999999999999999999",
        ] {
            #expect(try await page.request(path).status == 404, "\(path)")
        }
    }

    // MARK: The rest

    @Test func `the server returns connections, metrics and the query help`() async throws {
        let page = try PageFixture()
        try page.session()
        let list = try await page.request("connections")
        let connections = try #require(try JSONSerialization.jsonObject(with: list.body) as? [[String: Any]])
        #expect(connections.count == 1)
        #expect(connections[0]["state"] as? String == "connected")
        #expect(connections[0]["host"] as? String == "broker.example.com")
        #expect(connections[0]["scheme"] as? String == "tls")
        let metrics = try await page.request("metrics")
        #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(metrics.text.contains("courier_mqtt_packets_total{direction=\"out\",type=\"publish\"} 1\n"))
        let about = try await page.request("about").object()
        #expect(about["help"] as? String == MQTTChuckQuery.help)
        #expect(about["exports"] as? [String] == ["txt", "jsonl", "pcapng"])
    }

    @Test func `a clear request removes the rows only as POST with the inspector header`() async throws {
        let page = try PageFixture()
        try page.session()
        #expect(try await page.request("clear").status == 405)
        #expect(try await page.request("clear", method: "POST").status == 403)
        #expect(page.logger.summary.rowCount == 6)
        let reply = try await page.request("clear", method: "POST", headers: ["X-Courier-Inspector: yes"])
        #expect(reply.status == 200)
        #expect(page.logger.summary.rowCount == 0)
    }

    @Test func `the metrics page contains the metrics of the app's clients, labeled with their names`() async throws {
        let page = try PageFixture(clientMetrics: {
            var metrics = ClientMetrics()
            metrics.waitingCount = 7
            return ["orders": metrics]
        })
        let text = try await page.request("metrics").text
        #expect(text.contains("courier_mqtt_packets_total"))
        #expect(text.contains("courier_client_waiting{client=\"orders\"} 7\n"))
    }

    // MARK: Starting and stopping

    @Test func `serve throws invalidConfiguration with the port number if the port is in use`() throws {
        let page = try PageFixture()
        let port = page.server.port
        expectCourierError(.invalidConfiguration, "\(port)") { _ = try page.logger.serve(port: port) }
    }

    @Test func `stop() closes open event streams and frees the port`() async throws {
        let page = try PageFixture()
        let port = page.server.port
        let token = page.token
        let events = try await onThread { [head = page.head("events")] in
            let connection = try RawHTTP(port: port)
            try connection.send(head + "\r\n")
            _ = try connection.read(until: "event: tick")
            return connection
        }
        page.server.stop()
        page.server.stop()
        try await onThread { while try !events.read().isEmpty {} }
        try await LocalPort.untilFree(port)
        #expect(throws: RawHTTP.Failure.self) { _ = try RawHTTP(port: port) }
        let again = try page.logger.serve(port: port)
        #expect(again.url.path != "/\(token)/")
        again.stop()
    }

    @Test func `the server stops when the server object is deallocated`() async throws {
        let logger = MQTTChuckLogger()
        let port = try LocalPort.free()
        let connection = try {
            let server = try logger.serve(port: port)
            #expect(server.port == port)
            return try RawHTTP(port: port)
        }()
        // The connection ends because the server has stopped: its idle timeout is longer than this read waits.
        #expect(try await onThread { try connection.read() } == [])
    }
}
