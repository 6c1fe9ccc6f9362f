import MQTTCodec

/// The payload of a walk's messages: the number, and padding.
enum WalkPayload {
    static func bytes(_ number: Int, count: Int) -> [UInt8] {
        let digits = withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
        return digits + Array(repeating: 0, count: max(0, count - digits.count))
    }

    static func number(of payload: [UInt8]) -> Int { payload.prefix(4).reduce(0) { $0 << 8 | Int($1) } }
}

extension Publish {
    /// The number of a walk's message.
    var walkNumber: Int { WalkPayload.number(of: payload) }

    /// The packet id, 0 for QoS 0.
    var walkPacketID: UInt16 { delivery.packetID?.rawValue ?? 0 }

    /// The DUP flag.
    var isWalkDuplicate: Bool {
        switch delivery {
        case .atMostOnce: false
        case .atLeastOnce(_, let isDuplicate), .exactlyOnce(_, let isDuplicate): isDuplicate
        }
    }
}
