import CourierMQTTChuck
import Foundation
import Synchronization
import Testing

@testable import CourierMQTTChuckWeb

@Suite(.timeLimit(.minutes(5))) struct ExportStreamTests {
    @Test(arguments: MQTTChuckExportFormat.allCases)
    func `a download has a file name and equals the logger's export`(_ format: MQTTChuckExportFormat) async throws {
        var limits = ServerLimits()
        limits.exportAhead = 10_000  // Much less than the export, so that the export pauses many times.
        let page = try PageFixture(limits: limits)
        try page.session()
        for number in 0..<5_000 { try page.receive("t/\(number)", String(repeating: "long ", count: 20).utf8) }
        let reply = try await page.request("export.\(format.fileExtension)")
        #expect(reply.isWhole)
        #expect(reply.headers["content-type"] == format.contentType)
        #expect(
            reply.headers["content-disposition"] == "attachment; filename=\"mqtt-session.\(format.fileExtension)\"")
        #expect(reply.body.count > 500_000)
        // Compared outside of `#expect`, which would search for the difference for hours.
        let isSame = reply.body == page.logger.exported(format)
        #expect(isSame)
        let few = try await page.request("export.\(format.fileExtension)?query=row:%3C4")
        #expect(few.body == page.logger.exported(format, matching: try MQTTChuckQuery("row:<4")))
        #expect(try await page.request("export.\(format.fileExtension)?query=dir:up").status == 400)
    }

    @Test func `an export ends when its HTTP client disconnects, and the next export can start`() async throws {
        var limits = ServerLimits()
        limits.exports = 1
        limits.exportAhead = 1_000
        limits.idleTimeout = 600  // The HTTP client that does not read must not be disconnected during the test.
        let page = try PageFixture(limits: limits)
        // More bytes than the system buffers for a client that does not read.
        for _ in 0..<500 { try page.receive("t", [UInt8](repeating: 0x61, count: 60_000)) }
        do {
            let reading = try await onThread { [port = page.server.port, head = page.head("export.jsonl")] in
                let connection = try RawHTTP(port: port)
                try connection.send(head + "\r\n")
                _ = try connection.read(until: "HTTP/1.1 200")
                return connection
            }
            #expect(try await page.request("export.txt").status == 503)
            _ = reading
        }
        // The connection is closed now. The server notices this at its next write.
        var reply = try await page.request("export.txt")
        while reply.status == 503 { reply = try await page.request("export.txt") }
        #expect(reply.status == 200)
        #expect(reply.isWhole)
    }

    @Test func `stopping the server ends an export whose HTTP client does not read`() async throws {
        let page = try PageFixture()
        for _ in 0..<500 { try page.receive("t", [UInt8](repeating: 0x61, count: 60_000)) }
        let reading = try await onThread { [port = page.server.port, head = page.head("export.jsonl")] in
            let connection = try RawHTTP(port: port)
            try connection.send(head + "\r\n")
            _ = try connection.read(until: "HTTP/1.1 200")
            return connection
        }
        page.server.stop()
        try await onThread { while try !reading.read().isEmpty {} }
    }
}
