/// One property where it stands in the bytes of a packet: its value is a number, or the place of one.
public struct PropertyView: Sendable {
    /// Which property it is.
    public let id: PropertyID
    /// The value of a property that is a number or a yes (1) or no (0); 0 for others.
    public let number: UInt32
    /// Where the text, the bytes, or the name of a user property stand; empty for numbers.
    public let range: Range<Int>
    /// Where the value of a user property stands; empty for others.
    public let secondRange: Range<Int>

    init(id: PropertyID, number: UInt32 = 0, range: Range<Int> = 0..<0, secondRange: Range<Int> = 0..<0) {
        self.id = id
        self.number = number
        self.range = range
        self.secondRange = secondRange
    }
}
