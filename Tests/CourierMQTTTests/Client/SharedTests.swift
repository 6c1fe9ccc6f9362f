import Testing

@testable import CourierMQTT

@Suite struct SharedTests {
    @Test func `equal keys share one object until its last reference is released`() {
        let memory = Shared<[Int]>.Memory()
        var first: Shared? = memory.share([1])
        weak let kept = first
        #expect(memory.share([1]) === first)
        let other = memory.share([2])
        #expect(other !== first)
        #expect(other.value == [2])
        #expect(first?.value == [1])
        first = nil
        #expect(kept == nil)
        #expect(memory.share([2]) === other)
    }
}
