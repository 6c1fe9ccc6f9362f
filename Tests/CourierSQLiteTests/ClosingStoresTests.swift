import Dispatch
import Foundation
import Testing

@testable import CourierSQLite

@Suite struct ClosingStoresTests {
    @Test func `who opens a file waits for all of its stores that are closing`() async {
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
