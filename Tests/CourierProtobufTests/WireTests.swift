import Foundation
import Testing

@testable import CourierProtobuf

/// Internal parts that cannot be tested through messages.
struct WireTests {
    @Test func `an arena returns aligned memory until its memory limit is reached`() {
        MessageArena.with(.init(budget: 100_000), depth: 1) { arena in
            var taken = 0
            while let place = arena.pointee.allocate(1_001) {
                #expect(Int(bitPattern: place) % 8 == 0)
                place.initializeMemory(as: UInt8.self, repeating: 0xAA, count: 1_001)
                taken += 1_001
            }
            let isExhausted = arena.pointee.isExhausted
            let absurd = [arena.pointee.allocate(.max), arena.pointee.allocate(-9)]
            #expect(isExhausted)
            #expect(taken > 60_000 && taken <= 102_048)
            #expect(absurd == [nil, nil])
        }
    }

    @Test func `a nested memory arena uses only the memory that the outer arena has not used`() throws {
        try MessageArena.with(.init(budget: 100_000), depth: 1) { arena in
            arena.pointee.expect(50_000)
            let place = arena.pointee.allocate(10_000)
            let first = try #require(place)
            first.initializeMemory(as: UInt8.self, repeating: 0xAA, count: 10_000)
            MessageArena.with(arena.pointee.rest, depth: 1) { other in
                var taken = 0
                while let place = other.pointee.allocate(1_000) {
                    place.initializeMemory(as: UInt8.self, repeating: 0x55, count: 1_000)
                    taken += 1_000
                }
                #expect(taken > 80_000 && taken <= 90_000)
            }
            let kept = UnsafeRawBufferPointer(start: first, count: 10_000).allSatisfy { $0 == 0xAA }
            #expect(kept)
        }
    }

    @Test func `maximumDepth of a message type is nil only if the type is recursive`() {
        #expect(Note.protobufSchema.maximumDepth == 1)
        #expect(Courier_Legacy_Legacy.protobufSchema.maximumDepth == 2)
        #expect(Courier_Test_Everything.protobufSchema.maximumDepth == nil)
        #expect(Courier_Test_Right.protobufSchema.maximumDepth == nil)
    }

    @Test func `a Protobuf schema is prepared only once, even if many threads use the schema at the same time`() async {
        await withTaskGroup(of: UInt.self) { group in
            for _ in 0..<16 { group.addTask { UInt(bitPattern: Courier_Test_Batch.protobufSchema.descriptor) } }
            var addresses: Set<UInt> = []
            for await address in group { addresses.insert(address) }
            #expect(addresses.count == 1)
        }
    }

    @Test(arguments: [0, 1, 127, 128, 300, 1 << 35, .max] as [UInt64])
    func `reading a varint returns its value and length, or nil if the varint is truncated`(value: UInt64) {
        var bytes: [UInt8] = []
        Varint.append(value, to: &bytes)
        #expect(Varint.read(bytes)?.value == value)
        #expect(Varint.read(bytes)?.length == bytes.count)
        #expect(Varint.read(bytes.dropLast()) == nil)
    }
}
