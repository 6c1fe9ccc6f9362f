import CourierMQTT
import Foundation

/// Encodes and decodes a motion: pitch, roll and yaw as 64-bit floats in big-endian byte order, 24 bytes in total.
///
/// The payload does not contain the device id. It is taken from the topic, which is passed to the adapter.
struct MotionAdapter: MessageAdapter {
    static let size = 3 * MemoryLayout<UInt64>.size

    var contentType: String { "application/x-motion" }

    func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        guard message.count == Self.size else {
            throw CourierError(.decodingFailed, "a motion has \(Self.size) bytes, not \(message.count)")
        }
        let angles = message.withUnsafeBytes { bytes in
            stride(from: 0, to: Self.size, by: MemoryLayout<UInt64>.size).map { offset in
                Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
        }
        let motion = Motion(
            deviceID: try Topics.deviceID(in: topic, of: Topics.motion),
            attitude: Attitude(pitch: angles[0], roll: angles[1], yaw: angles[2]))
        guard let value = motion as? T else { throw CourierError(.decodingFailed, "\(T.self) is no Motion") }
        return value
    }

    func toMessage<T>(data: T, topic: String) throws -> Data {
        guard let motion = data as? Motion else { throw CourierError(.encodingFailed, "\(T.self) is no Motion") }
        var payload = Data(capacity: Self.size)
        for angle in [motion.attitude.pitch, motion.attitude.roll, motion.attitude.yaw] {
            withUnsafeBytes(of: angle.bitPattern.bigEndian) { payload.append(contentsOf: $0) }
        }
        return payload
    }
}
