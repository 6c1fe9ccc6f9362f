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

    @Test func `connections with equal TLS settings share one TLS context`() throws {
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

    @Test func `a plain connection has no TLS context`() throws {
        #expect(try TLSContextCache().context(for: plan(scheme: "tcp")) == nil)
    }

    @Test func `a certificate file that cannot be read throws invalidConfiguration`() throws {
        let plan = try plan(trust: .authoritiesFile("/nonexistent/ca.pem"))
        expectCourierError(.invalidConfiguration, "/nonexistent/ca.pem") { try TLSContextCache().context(for: plan) }
    }

    @Test func `a lack of file descriptors throws connectionFailed instead of invalidConfiguration`() throws {
        let isShort = Box<Bool>()
        let cache = TLSContextCache { (tls: TLSClientConfiguration) throws(TransportError) -> TLSContext in
            if isShort.value == true { throw TransportError(.tooManyDescriptors, "too many open descriptors") }
            return try TLSContext(client: tls)
        }
        let plan = try plan()
        isShort.value = true
        let first = expectCourierError(.connectionFailed, "too many") { try cache.context(for: plan) }
        isShort.value = false
        _ = try cache.context(for: plan)
        cache.forget()
        isShort.value = true
        let second = expectCourierError(.connectionFailed, "too many") { try cache.context(for: plan) }
        #expect(second?.message == first?.message)
    }
}
