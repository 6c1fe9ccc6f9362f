import CourierCore
import Testing

@Suite struct LoopbackHostTests {
    @Test(arguments: ["localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "::1", "[::1]"])
    func `this machine is known by its spelling`(_ host: String) {
        #expect(host.isLoopbackHost)
    }

    @Test(arguments: [
        "127.evil.example", "127.0.0.1.example", "127.0.0", "127.0.0.256", "128.0.0.1", "", "::2", "broker",
    ])
    func `nothing else is`(_ host: String) {
        #expect(!host.isLoopbackHost)
    }
}
