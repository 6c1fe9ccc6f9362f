import CourierTransport
import Testing

struct HostAddressesTests {
    @Test func `lookUp() returns each address of a host once, and returns an IP address unchanged`() throws {
        #expect(HostAddresses.isAddress("127.0.0.1") && HostAddresses.isAddress("::1"))
        #expect(!HostAddresses.isAddress("localhost"))
        #expect(try HostAddresses.lookUp("127.0.0.1") == ["127.0.0.1"])
        #expect(try HostAddresses.lookUp("::1") == ["::1"])
        let local = try HostAddresses.lookUp("localhost")
        #expect(!local.isEmpty && Set(local).count == local.count && local.allSatisfy { !$0.contains("]") })
        #expect(throws: TransportError.self) { try HostAddresses.lookUp("nobody.invalid") }
    }
}
