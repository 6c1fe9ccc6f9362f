/// Formats numbers and words for tables.
package enum TextColumn {
    /// Formats `value` with this number of decimals, rounded.
    package static func fixed(_ value: Double, decimals: Int) -> String {
        let digits = String(Int((value * (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }).rounded()))
        let filled = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return filled.dropLast(decimals) + (decimals > 0 ? "." : "") + filled.suffix(decimals)
    }

    /// Formats `value` with commas between thousands.
    package static func grouped(_ value: Int) -> String {
        let digits = Array(String(value))
        return digits.indices.map { index in
            let rest = digits.count - index
            return (index > 0 && rest % 3 == 0 ? "," : "") + String(digits[index])
        }.joined()
    }

    /// Formats a ratio, or a dash if it is `nil`.
    package static func times(_ ratio: Double?) -> String { ratio.map { fixed($0, decimals: 1) + "x" } ?? "-" }

    package static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    package static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    package static func centred(_ text: String, _ width: Int) -> String {
        padded(right(text, (width + text.count) / 2), width)
    }
}
