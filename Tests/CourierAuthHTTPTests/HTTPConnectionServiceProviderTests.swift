import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierAuthHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct HTTPConnectionServiceProviderTests {
    // MARK: What is asked

    @Test func `connectOptions() sends a GET request and returns the options with the expiry date`() async throws {
        try await HTTPServer.run { _, _ in
            ServiceBench.answer("t1")
        } _: { server in
            let bench = try ServiceBench(server, "/token?device=7")
            let grant = try await bench.provider.connectOptions()
            #expect(
                grant.options
                    == ConnectOptions(
                        host: "b.example", port: 8883, clientId: "phone-7", username: "ada", password: "t1"))
            #expect(grant.expiresAt == bench.clock.now.addingTimeInterval(3_600))
            let request = try #require(server.requests.first)
            #expect(request.method == "GET")
            #expect(request.target == "/token?device=7")
            #expect(request.headers["authorization"] == "Bearer \(ServiceBench.secret)")
            #expect(request.headers["accept"] == "application/json")
            #expect(request.body.isEmpty)
        }
    }

    @Test
    func `connectOptions() sends a POST request with the body, and the preparation closure can change every request`()
        async throws
    {
        struct Device: Encodable { let device: String }
        try await HTTPServer.run { _, _ in
            ServiceBench.answer("t1", expiresIn: 0)
        } _: { server in
            let count = Mutex(0)
            let bench = try ServiceBench(
                server, method: .post, body: try .json(Device(device: "phone-7")),
                preparation: { request in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    request.setValue(
                        "signature \(number) of \(request.httpBody?.count ?? 0)", forHTTPHeaderField: "X-Sign")
                })
            for number in 1...2 {
                _ = try await bench.provider.connectOptions()
                let request = try #require(server.requests.last)
                #expect(request.method == "POST")
                #expect(request.body == #"{"device":"phone-7"}"#)
                #expect(request.headers["content-type"] == "application/json")
                #expect(request.headers["x-sign"] == "signature \(number) of 20")
            }
        }
    }

    @Test func `a form body of a token request is URL-encoded`() {
        let body = TokenRequestBody.form(["grant_type": "client credentials", "s": "a&b=c%\u{e9}\n"])
        #expect(String(decoding: body.data, as: UTF8.self) == "grant_type=client+credentials&s=a%26b%3Dc%25%C3%A9%0A")
    }

    @Test func `no request is sent if the preparation closure throws or sets a URL that is not allowed`() async throws {
        try await HTTPServer.run { _, _ in
            ServiceBench.answer("t1")
        } _: { server in
            let failing = try ServiceBench(server, preparation: { _ in throw CocoaError(.userCancelled) })
            #expect(await failing.failure() is CocoaError)
            let leaving = try ServiceBench(server, preparation: { $0.url = URL(string: "http://elsewhere.example/") })
            #expect((await leaving.failure() as? CourierError)?.code == .authenticationFailed)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the initializer throws invalidConfiguration for a request that cannot be sent`() throws {
        let cases: [(String, TokenRequest.Method, [String: String], TokenRequestBody?)] = [
            ("http://id.example/token", .get, [:], nil), ("ftp://id.example/token", .get, [:], nil),
            ("https://ada:pw@id.example/", .get, [:], nil), ("https://id.example/", .get, ["A": "b\r\nC: d"], nil),
            ("https://id.example/", .get, [:], .form(["a": "b"])),
        ]
        for (url, method, headers, body) in cases {
            let request = TokenRequest(
                url: try #require(URL(string: url)), method: method, headers: headers, body: body)
            expectCourierError(.invalidConfiguration) {
                try HTTPConnectionServiceProvider(clientID: "c", request: request, mapping: .test)
            }
        }
        var options = HTTPConnectionServiceOptions()
        options.allowsPlainHTTP = true
        let plain = TokenRequest(url: try #require(URL(string: "http://id.example/token")))
        _ = try HTTPConnectionServiceProvider(clientID: "c", request: plain, mapping: .test, options: options)
    }

    // MARK: Statuses

    @Test(arguments: [204, 300, 304, 400, 401, 403, 404, 407, 418, 429, 500, 502, 503, 599])
    func `an HTTP status other than 2xx is reported as httpError, and an empty 204 response as invalid JSON`(
        status: Int
    ) async throws {
        try await HTTPServer.run { _, _ in
            .reply(status, [:], status == 204 || status == 304 ? "" : "s3cret")
        } _: {
            server in
            let error = try await ServiceBench(server).failure()
            switch error {
            case AuthError.httpError(let code)?: #expect(code == status)
            case let error as CourierError: #expect(status == 204 && error.message.contains("is not JSON"))
            default: Issue.record("\(String(describing: error))")
            }
        }
    }

    @Test(arguments: [#"Basic realm="x""#, #"Digest realm="x", nonce="n""#, "Bearer", "Negotiate", "", "?"])
    func `a 401 with any authentication challenge is reported as httpError 401`(challenge: String) async throws {
        try await HTTPServer.run { _, number in
            number == 0
                ? .reply(401, ["WWW-Authenticate": challenge, "Connection": "close"], "no") : ServiceBench.answer("t1")
        } _: { server in
            let bench = try ServiceBench(server)
            guard case AuthError.httpError(401)? = await bench.failure() else {
                Issue.record("no 401")
                return
            }
            #expect(try await bench.provider.connectOptions().options.password == "t1")
            await server.waitForClosing()
        }
    }

    // MARK: Retry-After and retries

    @Test func `the next request waits for the time in Retry-After, up to the maximum`() async throws {
        try await HTTPServer.run { _, number in
            switch number {
            case 0: .reply(503, ["Retry-After": "30"])
            case 1: .reply(429, ["Retry-After": "86400"])
            case 2: .reply(503, ["Retry-After": "Tue, 14 Nov 2023 22:15:55 GMT"])
            default: ServiceBench.answer("t")
            }
        } _: { server in
            let bench = try ServiceBench(server)  // The time is 22:13:20.
            for status in [503, 429, 503] {
                guard case AuthError.httpError(status)? = await bench.failure() else {
                    Issue.record("no \(status)")
                    return
                }
            }
            _ = try await bench.provider.connectOptions()
            #expect(bench.clock.pauses == [.seconds(30), .seconds(120), .seconds(5)])
        }
    }

    @Test func `if the Retry-After time has already passed, the next request is sent without a pause`() async throws {
        try await HTTPServer.run { _, number in
            number == 0 ? .reply(503, ["Retry-After": "30"]) : ServiceBench.answer("t")
        } _: { server in
            let bench = try ServiceBench(server)
            _ = await bench.failure()
            bench.clock.advance(by: .seconds(31))
            _ = try await bench.provider.connectOptions()
            #expect(bench.clock.pauses.isEmpty)
        }
    }

    @Test func `a request is repeated after status 500 or 503 or a connection reset, but not after status 403`()
        async throws
    {
        try await HTTPServer.run { _, number in
            switch number {
            case 0: .reply(500)
            case 1: .reset
            case 2: .reply(503, ["Retry-After": "60"])
            case 3: .reply(403)
            default: ServiceBench.answer("t")
            }
        } _: { server in
            let bench = try ServiceBench(server, options: { $0.retryPolicy = HTTPRetryPolicy(maximumAttempts: 5) })
            guard case AuthError.httpError(403)? = await bench.failure() else {
                Issue.record("no 403")
                return
            }
            #expect(server.requests.count == 4)
            let pauses = bench.clock.pauses
            #expect(pauses.count == 4)
            // The pauses of the policy, and after the third pause the rest of the Retry-After time.
            for (pause, range) in zip(pauses, [0.5...1, 1...2, 2...4]) { #expect(range.contains(pause / .seconds(1))) }
            #expect(abs((pauses[2] + pauses[3]) / .seconds(1) - 60) < 0.001)
        }
    }

    @Test func `if there is no retry policy, a failing call sends one request, otherwise maximumAttempts requests`()
        async throws
    {
        try await HTTPServer.run { _, _ in
            .reply(500)
        } _: { server in
            _ = try await ServiceBench(server).failure()
            #expect(server.requests.count == 1)
            _ = try await ServiceBench(server, options: { $0.retryPolicy = HTTPRetryPolicy(maximumAttempts: 3) })
                .failure()
            #expect(server.requests.count == 4)
        }
    }

    // MARK: Redirects

    @Test func `a redirect to the same origin is followed, and a 307 keeps method and body, but a 303 does not`()
        async throws
    {
        try await HTTPServer.run { request, _ in
            switch request.target {
            case "/token": .reply(307, ["Location": "/moved"], "ignored")
            case "/moved": .reply(303, ["Location": "done?x=1"])
            default: ServiceBench.answer("t")
            }
        } _: { server in
            let bench = try ServiceBench(server, method: .post, body: .form(["a": "b"]))
            _ = try await bench.provider.connectOptions()
            #expect(server.requests.map(\.method) == ["POST", "POST", "GET"])
            #expect(server.requests.map(\.target) == ["/token", "/moved", "/done?x=1"])
            #expect(server.requests.map(\.body) == ["a=b", "a=b", ""])
            #expect(server.requests.allSatisfy { $0.headers["authorization"] != nil })
        }
    }

    @Test func `a redirect loop fails after 3 redirects`() async throws {
        try await HTTPServer.run { _, _ in
            .reply(302, ["Location": "/token"])
        } _: { server in
            let error = try await ServiceBench(server).failure() as? CourierError
            #expect(error?.message.contains("more than 3 times") == true)
            #expect(server.requests.count == 4)
        }
    }

    @Test func `a redirect to another origin is refused, and no request is sent to the other origin`() async throws {
        try await HTTPServer.run { _, _ in
            ServiceBench.answer("stolen")
        } _: { other in
            try await HTTPServer.run { [url = try other.url("/?\(ServiceBench.secret)").absoluteString] _, _ in
                .reply(307, ["Location": url])
            } _: { server in
                let error = try await ServiceBench(server).failure() as? CourierError
                #expect(error?.message.contains("http://127.0.0.1:\(other.port), which is another origin") == true)
                #expect(other.requests.isEmpty)
            }
        }
    }

    // MARK: Secrets

    @Test func `no description, error or log shows a secret`() async throws {
        let secret = ServiceBench.secret
        try await HTTPServer.run { _, number in
            switch number {
            case 0: ServiceBench.answer(secret)
            case 1: .json(secret)
            case 2: .json(#"{"broker": {"host": "b", "port": "\#(secret)"}}"#)
            case 3: .reply(500, [secret: secret], secret)
            case 4: .reply(307, ["Location": "http://\(secret):\(secret)@127.0.0.1/\(secret)?\(secret)"])
            case 5: .reset
            default: .bytes(secret)
            }
        } _: { server in
            let body = TokenRequestBody.form(["password": secret])
            let bench = try ServiceBench(server, "/\(secret)?\(secret)", method: .post, body: body)
            let request = TokenRequest(
                url: try server.url("/\(secret)"), headers: ["Authorization": secret], body: body)
            var texts: [String] = []
            func note(_ value: Any) {
                var text = "\(value) " + String(reflecting: value)
                dump(value, to: &text)
                texts.append(text)
            }
            note(try await bench.provider.connectOptions())
            for _ in 0..<7 {
                await bench.provider.clearCachedOptions()
                let error = try #require(await bench.failure())
                note(error)
                note(error as NSError)
                note(error.localizedDescription)
            }
            for value in [bench.provider, request, body, ConnectOptionsMapping.test] as [Any] { note(value) }
            texts += bench.log.texts
            #expect(texts.count > 20)
            #expect(texts.contains { $0.contains("answered with status 500") })
            for text in texts { #expect(!text.contains(secret)) }
        }
    }
}
