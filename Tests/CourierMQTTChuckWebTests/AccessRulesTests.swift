import Testing

@testable import CourierMQTTChuckWeb

struct AccessRulesTests {
    private let rules = AccessRules(token: "secret-token", port: 8_080)

    private func destination(
        _ path: String?, method: String = "GET", host: String = "127.0.0.1:8080", _ headers: (String, String)...
    ) throws(AccessRules.Refusal) -> String? {
        try rules.destination(
            of: HTTPRequest(
                method: method, path: path, headers: [("host", host)] + headers.map { (name: $0.0, value: $0.1) }))
    }

    @Test func `a request with the token is allowed with the loopback address or localhost as host`() throws {
        #expect(try destination("/secret-token/") == "")
        #expect(try destination("/secret-token/rows") == "rows")
        #expect(try destination("/secret-token/row/7/payload.bin", host: "localhost:8080") == "row/7/payload.bin")
        #expect(try destination("/secret-token") == nil)
    }

    @Test(arguments: [
        "/", "", "//", "secret-token/", "/secret-toke/", "/secret-token2/", "/Secret-token/", "/x/secret-token/",
        "http://127.0.0.1:8080/secret-token/", "//secret-token/", "/secret-tokenrows",
    ])
    func `a path that does not begin with the token is refused`(_ path: String) {
        #expect(throws: AccessRules.Refusal.noToken) { _ = try destination(path) }
    }

    @Test func `a request whose path cannot be decoded is refused`() {
        #expect(throws: AccessRules.Refusal.noToken) { _ = try destination(nil) }
    }

    @Test(arguments: [
        "evil.example:8080", "127.0.0.1", "127.0.0.1:80", "localhost", "localhost.:8080", "127.0.0.1:8080.evil.example",
        "", "[::1]:8080", "127.1:8080",
    ])
    func `a request with another Host header is refused, to prevent DNS rebinding`(_ host: String) {
        #expect(throws: AccessRules.Refusal.foreignHost) { _ = try destination("/secret-token/", host: host) }
    }

    @Test func `a request with no Host header or two Host headers is refused`() {
        let none = HTTPRequest(method: "GET", path: "/secret-token/")
        #expect(throws: AccessRules.Refusal.foreignHost) { _ = try rules.destination(of: none) }
        #expect(throws: AccessRules.Refusal.foreignHost) {
            _ = try destination("/secret-token/", ("host", "127.0.0.1:8080"))
        }
    }

    @Test(arguments: [
        "null", "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080", "",
    ])
    func `a request from another origin is refused, even if the origin is localhost`(_ origin: String) {
        #expect(throws: AccessRules.Refusal.foreignOrigin) { _ = try destination("/secret-token/", ("origin", origin)) }
    }

    @Test func `a request with the page's own origin is allowed`() throws {
        #expect(try destination("/secret-token/rows", ("origin", "http://127.0.0.1:8080")) == "rows")
    }

    @Test(arguments: ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "get"])
    func `reading rows with a method other than GET is refused`(_ method: String) {
        #expect(throws: AccessRules.Refusal.badMethod) { _ = try destination("/secret-token/rows", method: method) }
    }

    @Test func `a clear request is allowed only as POST with the inspector header`() throws {
        #expect(throws: AccessRules.Refusal.badMethod) { _ = try destination("/secret-token/clear") }
        #expect(throws: AccessRules.Refusal.noProof) { _ = try destination("/secret-token/clear", method: "POST") }
        #expect(throws: AccessRules.Refusal.noProof) {
            _ = try destination("/secret-token/clear", method: "POST", (AccessRules.proof.name, "no"))
        }
        let proof = (AccessRules.proof.name, AccessRules.proof.value)
        #expect(try destination("/secret-token/clear", method: "POST", proof) == "clear")
    }

    @Test(arguments: ["cross-site", "same-site"])
    func `another website may link to the page, but its scripts may not read rows`(_ site: String) throws {
        #expect(
            try destination("/secret-token/", ("sec-fetch-site", site), ("sec-fetch-mode", "navigate")) == "")
        for mode in ["cors", "no-cors", "websocket"] {
            #expect(throws: AccessRules.Refusal.foreignOrigin) {
                _ = try destination("/secret-token/rows", ("sec-fetch-site", site), ("sec-fetch-mode", mode))
            }
        }
    }
}
