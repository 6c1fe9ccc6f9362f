/// Changes a copy of a correct file, as the bytes of an input say.
package enum Edits {
    /// Changes the file.
    ///
    /// - Parameters:
    ///   - input: Contains the changes, one after the other: a position of two bytes, a count, and new bytes. The count
    ///     255 cuts the file at the position.
    ///   - file: The correct file.
    /// - Returns: The changed file.
    package static func apply(_ input: InputReader, to file: [UInt8]) -> [UInt8] {
        var (input, file) = (input, file)
        while !input.isAtEnd, !file.isEmpty {
            let position = input.number() % file.count
            let count = input.byte()
            if count == 255 {
                file.removeSubrange(position...)
                continue
            }
            for (offset, byte) in input.bytes(Int(count) % 16 + 1).enumerated() where position + offset < file.count {
                file[position + offset] = byte
            }
        }
        return file
    }
}
