import Glibc
import Testing

@testable import CourierTransport

@Suite struct SelectorTests {
    @Test func `a selector that could not be woken is not made`() {
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
