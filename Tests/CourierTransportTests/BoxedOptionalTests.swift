import Testing

@testable import CourierTransport

@Suite struct BoxedOptionalTests {
    @Test func `a BoxedOptional can be set, changed, copied and cleared`() {
        struct Part { @BoxedOptional var list: [Int]? }
        var part = Part(list: nil)
        #expect(part.list == nil)
        part.list?.append(1)
        #expect(part.list == nil)
        part.list = [1]
        var copy = part
        copy.list?.append(2)
        #expect(part.list == [1])
        #expect(copy.list == [1, 2])
        copy.list = nil
        #expect(copy.list == nil)
        #expect(MemoryLayout<Part>.size == MemoryLayout<Int>.size)
    }
}
