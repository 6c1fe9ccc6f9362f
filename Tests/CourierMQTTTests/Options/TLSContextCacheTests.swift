import CourierCore
import CourierTransport
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct TLSContextCacheTests {
    private func plan(
        alpn: [String]? = nil, scheme: String = "tls", trust: TLSClientConfiguration.Trust = .systemRoots
    ) throws -> ConnectPlan {
        var settings = ConnectionSettings()
        if scheme == "tls" {
            settings.tls = TLSClientConfiguration()
            settings.tls?.trust = trust
        }
        return try ConnectPlan(
            ConnectOptions(
                host: "a", port: 1, clientId: "c", username: "", password: "", alpn: alpn, scheme: scheme), settings)
    }

    @Test func `connections share a context, so that they can resume a session`() throws {
        let cache = TLSContextCache()
        let first = try cache.context(for: plan())
        #expect(first != nil)
        #expect(try cache.context(for: plan()) === first)
        let other = try cache.context(for: plan(alpn: ["mqtt"]))
        #expect(other !== first)
        #expect(try cache.context(for: plan(alpn: ["mqtt"])) === other)
        cache.forget()
        #expect(try cache.context(for: plan(alpn: ["mqtt"])) !== other)
    }

    @Test func `a plain connection has none`() throws {
        #expect(try TLSContextCache().context(for: plan(scheme: "tcp")) == nil)
    }

    @Test func `a file that can not be read is a mistake of the configuration`() throws {
        let plan = try plan(trust: .authoritiesFile("/nonexistent/ca.pem"))
        expectCourierError(.invalidConfiguration, "/nonexistent/ca.pem") { try TLSContextCache().context(for: plan) }
    }
}
