import CourierCore
import Testing

@Suite struct LoopbackHostTests {
    @Test(arguments: ["localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "::1", "[::1]"])
    func `localhost and loopback addresses are loopback hosts`(_ host: String) {
        #expect(host.isLoopbackHost)
    }

    @Test(arguments: [
        "127.evil.example", "127.0.0.1.example", "127.0.0", "127.0.0.256", "128.0.0.1", "", "::2", "broker",
    ])
    func `other and malformed host names and addresses are not loopback hosts`(_ host: String) {
        #expect(!host.isLoopbackHost)
    }
}
