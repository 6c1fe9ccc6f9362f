import MQTTCodec
import MQTTEngine

/// The readings that the sensor publishes: temperatures and states of an energy meter by turns.
///
/// A duplicate of a temperature does no harm, so temperatures are sent with QoS 1. A lost or duplicated state of the
/// meter would make the bill wrong, so states are sent with QoS 2.
struct Readings: ~Copyable {
    /// The number of readings that ``next()`` returned.
    private(set) var publishedCount = 0
    private var acknowledgedCount = 0
    private var remainingCount: Int
    /// The payload of the last reading. The array keeps its memory, so that later readings allocate no memory.
    private var payload: [UInt8] = []

    /// Makes `count` readings.
    init(count: Int) { remainingCount = count }

    /// Adds `count` readings.
    mutating func add(_ count: Int) { remainingCount = min(remainingCount + count, Command.largestCount) }

    /// Returns the message with the next reading, such as `20.74`, or `nil` if no reading remains.
    mutating func next() -> OutgoingMessage? {
        if remainingCount == 0 { return nil }
        let number = publishedCount
        remainingCount -= 1
        publishedCount += 1
        let isTemperature = number.isMultiple(of: 2)
        // A real sensor reads its hardware here. The value is in hundredths of a degree Celsius, or of a kilowatt
        // hour.
        let hundredths = isTemperature ? 2_000 + number * 37 % 500 : 10_000 + number * 3
        payload.removeAll(keepingCapacity: true)
        payload.append(decimal: hundredths / 100)
        payload.append(UInt8(ascii: "."))
        payload.append(digit: hundredths / 10)
        payload.append(digit: hundredths)
        return OutgoingMessage(
            topic: isTemperature ? "sensor/7/temperature" : "sensor/7/energy", payload: payload,
            qos: isTemperature ? .atLeastOnce : .exactlyOnce, token: Token(rawValue: UInt64(number)))
    }

    /// Notes that the server acknowledged a reading. Returns true if no reading remains, and all are acknowledged.
    mutating func acknowledged() -> Bool {
        acknowledgedCount += 1
        return remainingCount == 0 && acknowledgedCount == publishedCount
    }
}

extension [UInt8] {
    /// Appends a number in decimal digits, without a string.
    fileprivate mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(digit: number)
    }

    /// Appends the last decimal digit of a number.
    fileprivate mutating func append(digit number: Int) { append(UInt8(ascii: "0") + UInt8(number % 10)) }
}
