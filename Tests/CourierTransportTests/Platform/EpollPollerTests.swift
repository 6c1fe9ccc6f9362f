import Glibc
import Testing

@testable import CourierTransport

@Suite struct EpollPollerTests {
    @Test func `creating an EpollPoller throws if its wake-up descriptor can not be registered`() {
        let error = #expect(throws: TransportError.self) {
            try EpollPoller { _, _, _, _ in
                errno = ENOSPC
                return -1
            }
        }
        #expect(error?.code == .systemFailure)
        #expect(error?.errno == ENOSPC)
    }
}
