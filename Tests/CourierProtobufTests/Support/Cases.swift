import Foundation

/// The number of random messages and their seed. `COURIER_PROTOBUF_CASES` sets the number, 300 by default.
/// `COURIER_PROTOBUF_SEED` sets the seed, by default a new seed for each run.
enum Cases {
    static let count = ProcessInfo.processInfo.environment["COURIER_PROTOBUF_CASES"].flatMap(Int.init) ?? 300
    static let seed: UInt64 = {
        let seed =
            ProcessInfo.processInfo.environment["COURIER_PROTOBUF_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0..<1 << 32)
        print("protobuf: \(count) cases, COURIER_PROTOBUF_SEED=\(seed)")
        return seed
    }()
}

extension Data {
    var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
