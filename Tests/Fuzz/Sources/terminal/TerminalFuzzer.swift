import FuzzSupport

/// Feeds one input to the decoder of a terminal's keys.
///
/// Bytes in pieces must give the same keys as all bytes at once. A paste must be within its limit. No key is a control
/// character that a program would print.
func check(_ input: InputReader) {
    var input = input
    let split = Int(input.byte()) % (input.rest.count + 1)
    let bytes = Array(input.rest)
    let whole = keys(of: [bytes[...]])
    let halves = keys(of: [bytes[..<split], bytes[split...].dropLast(Plant.isPlanted ? 1 : 0)])
    let single = keys(of: bytes.indices.map { bytes[$0...$0] })
    demand(whole == halves, "two pieces give the same keys: \(whole) \(halves)")
    demand(whole == single, "single bytes give the same keys: \(whole) \(single)")
    demand(whole.count <= bytes.count + 1, "a key needs at least one byte")
    for case .character(let character) in whole {
        demand(
            !character.unicodeScalars.contains { $0.properties.generalCategory == .control },
            "a typed character is printable: \(character.debugDescription)")
    }
}

private func keys(of pieces: [ArraySlice<UInt8>]) -> [Key] {
    var decoder = KeyDecoder()
    var keys = pieces.flatMap { decoder.decode($0) }
    keys += decoder.silence()
    demand(decoder.silenceLimit == nil, "a silence ends each key")
    for case .pasted(let text) in keys { demand(text.utf8.count <= 3 * KeyDecoder.pasteLimit, "a paste is limited") }
    return keys
}
