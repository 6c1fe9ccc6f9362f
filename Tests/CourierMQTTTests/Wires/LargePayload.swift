/// A mebibyte that repeats only after a long time, made once: tests that run at the same time share two processors.
enum LargePayload {
    static let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { space, count in
        for index in 0..<space.count { space[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
        count = space.count
    }
}
