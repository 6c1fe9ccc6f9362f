import Glibc
import Testing

@testable import CourierTransport

@Suite struct SelectorTests {
    @Test func `creating a Selector throws if its wake-up descriptor can not be registered`() {
        let error = #expect(throws: TransportError.self) {
            try Selector { _, _, _, _ in
                errno = ENOSPC
                return -1
            }
        }
        #expect(error?.code == .systemFailure)
        #expect(error?.errno == ENOSPC)
    }
}
