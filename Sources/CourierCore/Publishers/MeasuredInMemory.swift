import Foundation

/// A value whose size in memory counts toward the byte limit of a buffer.
package protocol MeasuredInMemory: Sendable {
    /// The approximate memory that the value keeps allocated, in bytes.
    var heldByteCount: Int { get }
}

/// Returns a function that measures values of `type`, or `nil` if `type` does not conform to ``MeasuredInMemory``.
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
