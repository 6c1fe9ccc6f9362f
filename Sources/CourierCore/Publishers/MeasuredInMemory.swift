import Foundation

/// A value whose memory counts towards the byte limit of a buffer.
package protocol MeasuredInMemory: Sendable {
    /// How much memory goes with the value, about.
    var heldByteCount: Int { get }
}

/// Measures values of one type; `nil` if their type does not say how much memory they hold.
///
/// - Parameter type: The type of the values.
/// - Returns: What measures a value.
func memoryMeasure<Value>(of type: Value.Type) -> (@Sendable (Value) -> Int)? {
    guard let measured = type as? any MeasuredInMemory.Type else { return nil }
    return measure(measured) as? @Sendable (Value) -> Int
}

private func measure<Measured: MeasuredInMemory>(_: Measured.Type) -> Any {
    let measure: @Sendable (Measured) -> Int = { $0.heldByteCount }
    return measure
}

extension String: MeasuredInMemory {}

extension Data: MeasuredInMemory {
    package var heldByteCount: Int { count }
}

extension [UInt8]: MeasuredInMemory {
    package var heldByteCount: Int { count }
}

extension Message: MeasuredInMemory {}

extension DeadLetter: MeasuredInMemory {
    package var heldByteCount: Int { message.heldByteCount + CourierEventType.errorByteCount }
}

extension CourierEvent: MeasuredInMemory {
    package var heldByteCount: Int { type.heldByteCount }
}
