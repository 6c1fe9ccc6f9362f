import CourierCore
import Testing

@Suite struct FixedArrayTests {
    private typealias Nine = FixedArray<UInt64, (Eight<UInt64>, UInt64)>

    @Test func `all elements of a new FixedArray are equal, and the array uses only the memory of its elements`() {
        let array = Nine(repeating: 7)
        #expect(Nine.count == 9 && array.indices == 0..<9)
        #expect(array.indices.allSatisfy { array[$0] == 7 })
        #expect(MemoryLayout<Nine>.size == 9 * MemoryLayout<UInt64>.size)
    }

    @Test(arguments: 0..<9)
    func `changing an element of a copied FixedArray does not change other elements or the original`(index: Int) {
        let before = Nine(repeating: 1)
        var after = before
        after[index] += 41
        #expect(after.indices.map { after[$0] } == after.indices.map { $0 == index ? 42 : 1 })
        #expect(before[index] == 1)
    }

    @Test func `a FixedArray of nested tuples counts the elements of all tuples`() {
        typealias Row = (Eight<UInt8>, UInt8, UInt8)
        var array = FixedArray<UInt8, Eight<Row>>(repeating: 0)
        #expect(FixedArray<UInt8, Eight<Row>>.count == 80)
        for index in array.indices { array[index] = UInt8(index) }
        #expect(array.indices.allSatisfy { array[$0] == UInt8($0) })
    }

    @Test(arguments: [-1, 9]) func `an index outside the array ends the process`(index: Int) async {
        await #expect(processExitsWith: .failure) { [index] in
            let array = Nine(repeating: 0)
            print(array[index])
        }
    }
}
