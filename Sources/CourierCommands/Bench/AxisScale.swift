import Foundation

/// The marks of an axis that begins at zero.
struct AxisScale: Hashable, Sendable {
    /// Where the axis ends; a mark, and not below the largest value.
    let end: Double
    /// All marks, zero and ``end`` among them.
    let marks: [Double]

    /// Two to six marks at round numbers: 1, 2 or 5 times a power of ten apart.
    init(upTo largest: Double) {
        let largest = largest.isFinite && largest > 0 ? largest : 1
        let power = pow(10, floor(log10(largest / 5)))
        let step = [1.0, 2, 5, 10].map { $0 * power }.first { $0 * 5 >= largest * 0.999_999 } ?? largest
        let count = max(1, Int((largest / step - 0.000_001).rounded(.up)))
        marks = (0...count).map { Double($0) * step }
        end = Double(count) * step
    }
}
