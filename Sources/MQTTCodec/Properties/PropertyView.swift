/// One property that was read without copying: its value is a number, or a range of the packet's bytes.
public struct PropertyView: Sendable {
    /// The identifier of the property.
    public let id: PropertyID
    /// The value of a numeric or Boolean property (1 is true, 0 is false). The number is 0 for other properties.
    public let number: UInt32
    /// The byte range of a text value, a binary value or a user property's name. The range is empty for numbers.
    public let range: Range<Int>
    /// The byte range of a user property's value. The range is empty for other properties.
    public let secondRange: Range<Int>

    init(id: PropertyID, number: UInt32 = 0, range: Range<Int> = 0..<0, secondRange: Range<Int> = 0..<0) {
        self.id = id
        self.number = number
        self.range = range
        self.secondRange = secondRange
    }
}
