import Foundation

/// The scale of a chart axis that starts at zero.
struct AxisScale: Hashable, Sendable {
    /// The value at the end of the axis, which is also the last mark. It is not less than the largest value.
    let end: Double
    /// The values of all marks, including zero and ``end``.
    let marks: [Double]

    /// Chooses two to six marks. The step between two marks is 1, 2 or 5 times a power of ten.
    init(upTo largest: Double) {
        let largest = largest.isFinite && largest > 0 ? largest : 1
        let power = pow(10, floor(log10(largest / 5)))
        let step = [1.0, 2, 5, 10].map { $0 * power }.first { $0 * 5 >= largest * 0.999_999 } ?? largest
        let count = max(1, Int((largest / step - 0.000_001).rounded(.up)))
        marks = (0...count).map { Double($0) * step }
        end = Double(count) * step
    }
}
