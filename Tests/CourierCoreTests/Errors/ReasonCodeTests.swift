import CourierCore
import Testing

@Suite struct ReasonCodeTests {
    /// The bytes of MQTT 5.0 §2.4, table 2-6.
    private static let defined: [UInt8] =
        [0x00, 0x01, 0x02, 0x04, 0x10, 0x11, 0x18, 0x19] + Array(0x80...0xA2)

    @Test func `each defined reason code has a unique name, and all other codes are named Unknown reason`() {
        let named = (UInt8.min...UInt8.max).filter { ReasonCode(rawValue: $0).name != "Unknown reason" }
        #expect(named == Self.defined)
        #expect(Set(named.map { ReasonCode(rawValue: $0).name }).count == named.count)
    }

    @Test func `reason codes from 0x80 are errors, and lower codes are not`() {
        #expect(!ReasonCode.noMatchingSubscribers.isError)
        #expect(ReasonCode.unspecifiedError.isError)
        #expect(!ReasonCode(rawValue: 0x7F).isError)
    }

    @Test func `the description of a reason code shows its name and its byte`() {
        #expect("\(ReasonCode.notAuthorized)" == "Not authorized (0x87)")
        #expect("\(ReasonCode.success)" == "Success (0x00)")
        #expect("\(ReasonCode(rawValue: 0xF0))" == "Unknown reason (0xF0)")
        #expect(ReasonCode.normalDisconnection == .success)
    }
}
