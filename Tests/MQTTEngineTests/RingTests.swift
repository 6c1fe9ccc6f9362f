import Testing

@testable import MQTTEngine

@Suite
struct RingTests {
    @Test func `a ring buffer returns its elements in the order of insertion, even after it wraps around`() {
        var ring = Ring<Int>()
        var put = 0
        var taken = 0
        for round in 1...40 {
            for _ in 0..<(round * 3) {
                ring.append(put)
                put += 1
            }
            for _ in 0..<(round * 2) {
                #expect(ring.popFirst() == taken)
                taken += 1
            }
        }
        #expect(ring.count == put - taken)
        for element in taken..<put { #expect(ring.popFirst() == element) }
        #expect(ring.popFirst() == nil && ring.count == 0)
    }
}
