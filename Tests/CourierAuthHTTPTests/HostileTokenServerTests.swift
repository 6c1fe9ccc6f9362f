import CourierCore
import CourierTransport
import Foundation
import TestSupport
import Testing

@testable import CourierAuthHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A token endpoint that is slow, broken or hostile.
@Suite(.timeLimit(.minutes(5))) struct HostileTokenServerTests {
    @Test func `a slow response causes a timeout error, and the connection is closed`() async throws {
        try await HTTPServer.run { _, _ in
            .silence
        } _: { server in
            let bench = try ServiceBench(server, options: { $0.timeout = .milliseconds(200) })
            try expectSystemError(
                await bench.failure(), NSURLErrorTimedOut, server.port, "did not answer in time")
            await server.waitForClosing()
        }
    }

    @Test func `the error for a reset, closed or refused connection shows only the origin of the URL`() async throws {
        try await HTTPServer.run { _, number in
            number == 0 ? .reset : number == 1 ? .close : .bytes("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{")
        } _: { server in
            let bench = try ServiceBench(server)
            for _ in 0..<3 {
                guard case AuthError.otherError(let error)? = await bench.failure() else {
                    Issue.record("no system error")
                    return
                }
                #expect(error.domain == NSURLErrorDomain)
                #expect(error.userInfo as? [String: URL] == [NSURLErrorFailingURLErrorKey: try server.url("")])
            }
            #expect(server.requests.count == 3)
        }
        let free = try LocalPort.free()
        let request = TokenRequest(url: try #require(URL(string: "http://127.0.0.1:\(free)/?s3cret")))
        let provider = try HTTPConnectionServiceProvider(clientID: "c", request: request, mapping: .test)
        do {
            _ = try await provider.connectOptions()
            Issue.record("nobody listens, and yet there are options")
        } catch {
            try expectSystemError(
                error, NSURLErrorCannotConnectToHost, free, "cannot be reached: the connection was refused")
        }
    }

    @Test(arguments: [
        "\0\u{1}\u{2}\r\n\r\n", "HTTP/1.1 banana\r\n\r\n", "SSH-2.0-x\r\n", "\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
    ])
    func `a response that is not HTTP throws an error`(text: String) async throws {
        try await HTTPServer.run { _, _ in
            .bytes(text)
        } _: { server in
            let bench = try ServiceBench(server)
            #expect(await bench.failure() != nil)
        }
    }

    @Test func `an untrusted certificate is refused before the request is sent`() async throws {
        let certificates = try await Certificates.shared
        let tls = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
        try await HTTPServer.run(tls: tls) { _, _ in
            ServiceBench.answer("t")
        } _: { server in
            let request = TokenRequest(url: try server.url(scheme: "https", host: "localhost"))
            let provider = try HTTPConnectionServiceProvider(clientID: "c", request: request, mapping: .test)
            let error = await #expect(throws: AuthError.self) { try await provider.connectOptions() }
            let origin = "https://localhost:\(server.port)"
            let words = "cannot be reached: TLS failed, because its certificate is not trusted"
            #expect(error?.description == "the credential service \(origin) \(words)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a response with a Content-Length above the maximum is refused`() async throws {
        try await HTTPServer.run { _, _ in
            .bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n{}")
        } _: { server in
            let error = try await ServiceBench(server).failure() as? CourierError
            #expect(error?.message.contains("longer than 262144 bytes (maximumResponseSize)") == true)
        }
    }

    @Test func `a response of maximumResponseSize is accepted, and a response one byte longer is refused`()
        async throws
    {
        let answer = #"{"broker": {"host": "b", "port": 1}, "token": "t", "expires_in": 0}"#
        try await HTTPServer.run { _, number in
            .json(answer + String(repeating: " ", count: 100_000 - answer.utf8.count + number))
        } _: { server in
            let bench = try ServiceBench(server, options: { $0.maximumResponseSize = 100_000 })
            _ = try await bench.provider.connectOptions()
            #expect((await bench.failure() as? CourierError)?.message.contains("100000 bytes") == true)
        }
    }

    @Test(arguments: [1, 100, 64 << 10])
    func `an endless response is refused at maximumResponseSize, and the connection is closed`(partSize: Int)
        async throws
    {
        try await HTTPServer.run { _, _ in
            .endless(status: 200, partSize: partSize)
        } _: { server in
            let bench = try ServiceBench(server, options: { $0.maximumResponseSize = 5_000 })
            #expect((await bench.failure() as? CourierError)?.message.contains("5000 bytes") == true)
            await server.waitForClosing()
        }
    }

    /// FoundationNetworking buffers such a body until its end or the timeout, and copies the whole body for each part.
    /// All sessions of the process share one queue for this, so an unlimited body would slow down all other tests.
    @Test func `a redirect response with an endless body causes a timeout error`() async throws {
        try await HTTPServer.run { _, _ in
            .endless(status: 302, partSize: 100, most: 64 << 10)
        } _: { server in
            let bench = try ServiceBench(server, options: { $0.timeout = .milliseconds(200) })
            try expectSystemError(
                await bench.failure(), NSURLErrorTimedOut, server.port, "did not answer in time")
        }
    }

    @Test func `if a call is cancelled at any moment, the call returns and the connection is closed`() async throws {
        try await HTTPServer.run { _, _ in
            ServiceBench.answer("t", expiresIn: 0)
        } _: { server in
            for round in 1...200 {
                let bench = try ServiceBench(server)
                let call = Task { try await bench.provider.connectOptions() }
                await server.wait(forRequests: round)
                if round % 2 == 0 { await Task.yield() }
                call.cancel()
                _ = await call.result
            }
            await server.waitForClosing()
        }
    }

    /// Expects an error of `URLSession` for the server on `port` that contains only the origin, and this description.
    private func expectSystemError(_ error: (any Error)?, _ code: Int, _ port: UInt16, _ words: String) throws {
        guard case AuthError.otherError(let system)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let origin = "http://127.0.0.1:\(port)"
        #expect(system.domain == NSURLErrorDomain)
        #expect(system.code == code)
        #expect(system.userInfo as? [String: URL] == [NSURLErrorFailingURLErrorKey: try #require(URL(string: origin))])
        #expect("\(AuthError.otherError(system))" == "the credential service \(origin) \(words)")
    }
}
