import Synchronization
import Testing

@testable import CourierMQTT

@Suite struct ListenersTests {
    private final class Owner: Sendable { let told = Mutex<[Int]>([]) }

    @Test func `each listener is called until removal, and a listener can remove itself during a call`() {
        let listeners = Listeners<Int>()
        let (first, second) = (Owner(), Owner())
        for owner in [first, second] {
            listeners.add(owner) { value in
                owner.told.withLock { $0.append(value) }
                if value == 2 { listeners.remove(owner) }
            }
        }
        listeners.tell(1)
        listeners.remove(second)
        for value in [2, 3] { listeners.tell(value) }
        #expect(first.told.withLock { $0 } == [1, 2])
        #expect(second.told.withLock { $0 } == [1])
    }
}
