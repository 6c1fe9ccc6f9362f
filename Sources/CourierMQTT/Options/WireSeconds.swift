/// A time in the format of MQTT 5: whole seconds in four bytes.
struct WireSeconds: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Rounds a duration up to a whole second; `nil` if it is negative or more than 4,294,967,295 seconds.
    init?(_ duration: Duration) {
        guard duration >= .zero, duration <= .seconds(Int64(UInt32.max)) else { return nil }
        let (seconds, attoseconds) = duration.components
        guard let rounded = UInt32(exactly: attoseconds > 0 ? seconds + 1 : seconds) else { return nil }
        rawValue = rounded
    }
}
