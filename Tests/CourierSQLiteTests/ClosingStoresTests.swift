import Dispatch
import Foundation
import Testing

@testable import CourierSQLite

@Suite struct ClosingStoresTests {
    @Test func `opening a file waits for all stores that are closing the same file`() async {
        let path = "/\(UUID().uuidString)"
        #expect(ClosingStores.wait(for: path, atMost: .seconds(0)))
        ClosingStores.begin(path)
        ClosingStores.begin(path)
        ClosingStores.end(path)
        #expect(!ClosingStores.wait(for: path, atMost: .seconds(0)))
        let hasEnded = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            Thread.detachNewThread { done.resume(returning: ClosingStores.wait(for: path)) }
            ClosingStores.end(path)
        }
        #expect(hasEnded)
        #expect(ClosingStores.wait(for: path, atMost: .seconds(0)))
    }
}
