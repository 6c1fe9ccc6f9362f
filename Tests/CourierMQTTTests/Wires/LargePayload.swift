/// A payload of 1 MiB without short repetitions. It is created once, because creating it is slow when many tests run
/// at the same time.
enum LargePayload {
    static let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { space, count in
        for index in 0..<space.count { space[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
        count = space.count
    }
}
