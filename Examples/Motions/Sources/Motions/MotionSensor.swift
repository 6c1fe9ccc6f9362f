import Foundation

/// Simulates a motion sensor. It returns the attitude of a device that turns slowly, or the attitudes that the book
/// recorded.
struct MotionSensor {
    /// Two complete messages from the book, where they are printed as the output of `mosquitto_sub | hexdump`.
    private static let recorded = [
        Attitude(
            pitch: Double(bitPattern: 0x3fd5_056a_c437_5216), roll: Double(bitPattern: 0x3fd8_f7b5_34f6_19ea),
            yaw: Double(bitPattern: 0xbfd2_976f_1a65_86af)),
        Attitude(
            pitch: Double(bitPattern: 0x3faf_2378_9185_1c8d), roll: Double(bitPattern: 0xbfdf_b912_c478_641c),
            yaw: Double(bitPattern: 0x3fcb_3c50_fd05_265b)),
    ]

    let isRecorded: Bool
    private var position = 0

    init(isRecorded: Bool) { self.isRecorded = isRecorded }

    /// Returns the next attitude: one second after the previous one, or the next recorded message.
    mutating func next() -> Attitude {
        defer { position += 1 }
        guard !isRecorded else { return Self.recorded[position % Self.recorded.count] }
        let time = Double(position)
        return Attitude(pitch: sin(time / 3) * 0.6, roll: sin(time / 5 + 1) * 0.9, yaw: cos(time / 7) * 2)
    }
}
